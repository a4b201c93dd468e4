/* The address of another database for projections, and its few tables. */
#include "adapter/sink_open.h"

#include <stdio.h>
#include <sys/stat.h>

#include "adapter/store_open.h"

enum { PLACE_BYTES_MAX = 64 << 10, PATH_BYTES_MAX = 4096 };

/* ---- whether it is the store ---- */

static bool is_file(struct str place)
{
    return place.len > 0 && place.data[0] == '/';
}

/* Asked before it is opened: under another name a file would have another log beside it. */
static bool leads_to_file(struct str dsn, struct str place)
{
    struct stat one, other;
    char path[PATH_BYTES_MAX];

    if (!is_file(place) || store_dsn_kind(dsn) != STORE_SQLITE)
        return false;
    if (str_starts(dsn, STR("sqlite:")))
        dsn = str_slice(dsn, sizeof("sqlite:") - 1, dsn.len);
    (void)snprintf(path, sizeof(path), "%.*s", STR_ARG(dsn));
    return stat(path, &one) == 0 && stat(place.data, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static bool is_at(struct store *sink, struct arena *arena, struct str place, bool *is_same,
                  struct error *err)
{
    struct str own;

    *is_same = false;
    if (!store_place(sink, arena, &own, err))
        return false;
    *is_same = place.len > 0 && str_eq(own, place);
    return true;
}

static bool refuse(struct error *err)
{
    return error_set(err, ERROR_REQUEST, "projection.database",
                     "this database is the store's own: write database: store");
}

/* ---- opening ---- */

static bool open_beside(struct store *store, struct arena *arena, struct str dsn,
                        struct store **sink, struct error *err)
{
    const struct store_options options = { .create = true, .is_sink = true };
    struct str place = { 0 };
    bool is_same;

    if (store != NULL && !store_place(store, arena, &place, err))
        return false;
    if (leads_to_file(dsn, place))
        return refuse(err);
    return store_open(dsn, &options, sink, err) && is_at(*sink, arena, place, &is_same, err) &&
           (!is_same || refuse(err));
}

static bool open_at(struct store *store, struct str dsn, int64_t now_us, struct store **sink,
                    struct error *err)
{
    struct arena arena;
    int64_t taken;
    bool ok;

    *sink = NULL;
    arena_init(&arena, PLACE_BYTES_MAX);
    ok = open_beside(store, &arena, dsn, sink, err) && store_migrate(*sink, now_us, &taken, err);
    arena_release(&arena);
    if (ok)
        return true;
    store_close(*sink);
    *sink = NULL;
    return false;
}

bool sink_open(struct store *store, struct str database, struct secret_source *secrets,
               int64_t now_us, struct store **sink, struct error *err)
{
    struct secret address;
    bool ok;

    if (!str_starts(database, STR("env:")) && !str_starts(database, STR("file:")))
        return open_at(store, database, now_us, sink, err) ||
               error_wrap(err, "open the database of projections");
    *sink = NULL;
    if (!secret_get(secrets, database, &address, err))
        return error_wrap(err, "open the database of projections");
    ok = open_at(store, secret_str(&address), now_us, sink, err);
    secret_wipe(&address);
    return ok || error_wrap(err, "open the database %.*s", STR_ARG(database));
}
