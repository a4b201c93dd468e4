/* The address of another database for projections, and its few tables. */
#include "adapter/sink_open.h"

#include "adapter/store_open.h"

static bool open_at(struct str dsn, int64_t now_us, struct store **sink, struct error *err)
{
    int64_t taken;

    *sink = NULL;
    if (!store_open(dsn, &(struct store_options){ .create = true, .is_sink = true }, sink, err))
        return false;
    if (store_migrate(*sink, now_us, &taken, err))
        return true;
    store_close(*sink);
    *sink = NULL;
    return false;
}

bool sink_open(struct str database, struct secret_source *secrets, int64_t now_us,
               struct store **sink, struct error *err)
{
    struct secret address;
    bool ok;

    if (!str_starts(database, STR("env:")) && !str_starts(database, STR("file:")))
        return open_at(database, now_us, sink, err) ||
               error_wrap(err, "open the database of projections");
    *sink = NULL;
    if (!secret_get(secrets, database, &address, err))
        return error_wrap(err, "open the database of projections");
    ok = open_at(secret_str(&address), now_us, sink, err);
    secret_wipe(&address);
    return ok || error_wrap(err, "open the database %.*s", STR_ARG(database));
}
