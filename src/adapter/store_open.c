#include "adapter/store_open.h"

#include <stdio.h>

#include "adapter/sqlite/sqlite.h"
#include "base/instant.h"

#define BUSY_TIMEOUT_US (10 * US_PER_SECOND)

enum { PATH_BYTES_MAX = 4096 };

enum store_kind store_dsn_kind(struct str dsn)
{
    if (str_starts(dsn, STR("postgresql://")) || str_starts(dsn, STR("postgres://")))
        return STORE_POSTGRES;
    if (str_eq(dsn, STR("memory:")))
        return STORE_MEMORY;
    return STORE_SQLITE;
}

static bool open_sqlite(struct str path, const struct store_options *options, int64_t timeout_us,
                        struct store **store, struct error *err)
{
    char text[PATH_BYTES_MAX];

    if (path.len == 0 || path.len >= sizeof(text) || str_find_char(path, '\0') < path.len)
        return error_set(err, ERROR_REQUEST, "store.value",
                         "'%.*s' is not the path of a database file", STR_ARG(path));
    (void)snprintf(text, sizeof(text), "%.*s", STR_ARG(path));
    return sqlite_store_open(
        &(struct sqlite_options){
            .path = text,
            .create = options != NULL && options->create,
            .busy_timeout_us = timeout_us,
        },
        store, err);
}

bool store_open(struct str dsn, const struct store_options *options, struct store **store,
                struct error *err)
{
    const int64_t timeout_us = options != NULL && options->busy_timeout_us > 0
                                   ? options->busy_timeout_us
                                   : BUSY_TIMEOUT_US;

    switch (store_dsn_kind(dsn)) {
    case STORE_SQLITE:
        if (str_starts(dsn, STR("sqlite:")))
            dsn = str_slice(dsn, sizeof("sqlite:") - 1, dsn.len);
        return open_sqlite(dsn, options, timeout_us, store, err);
    case STORE_POSTGRES:
    case STORE_MEMORY:
        break;
    }
    return error_set(err, ERROR_REQUEST, "store.value", "no adapter for this address");
}

/* postgresql://user:password@host/db?password=x becomes postgresql://user:***@host/db?***. */
struct str store_dsn_redact(struct arena *arena, struct str dsn)
{
    const size_t start = str_find(dsn, STR("://")) + 3;
    const size_t query = str_find_char(dsn, '?');
    struct str head, user = { 0 }, place;
    size_t at;

    if (store_dsn_kind(dsn) != STORE_POSTGRES)
        return arena_copy(arena, dsn);
    head = str_slice(dsn, start, query);
    place = head;
    for (at = head.len; at > 0; at--) {
        if (head.data[at - 1] != '@')
            continue;
        user = str_slice(head, 0, at - 1); /* up to the last @: a password may hold others */
        place = str_slice(head, at - 1, head.len);
        break;
    }
    at = str_find_char(user, ':');
    return arena_printf(arena, "%.*s%.*s%s%.*s%s", STR_ARG(str_slice(dsn, 0, start)),
                        STR_ARG(str_slice(user, 0, at)), at < user.len ? ":***" : "",
                        STR_ARG(place), query < dsn.len ? "?***" : "");
}
