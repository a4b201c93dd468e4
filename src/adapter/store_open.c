/* Choosing a store by its address, and printing the address without its password. */
#include "adapter/store_open.h"

#include <string.h>

#include "adapter/postgres/postgres_module.h"
#include "adapter/sqlite/sqlite.h"
#include "base/instant.h"

#define BUSY_TIMEOUT_US (10 * US_PER_SECOND)

enum { ADDRESS_BYTES_MAX = 4096 };

enum store_kind store_dsn_kind(struct str dsn)
{
    if (str_starts(dsn, STR("postgresql://")) || str_starts(dsn, STR("postgres://")))
        return STORE_POSTGRES;
    return STORE_SQLITE;
}

/* The libraries need addresses that end with NUL. */
static bool copy_address(struct str address, char text[ADDRESS_BYTES_MAX], struct error *err)
{
    if (address.len == 0 || address.len >= ADDRESS_BYTES_MAX ||
        str_find_char(address, '\0') < address.len)
        return error_set(
            err, ERROR_REQUEST, "store.value",
            "the address of the store is empty, contains NUL or has more than %d bytes",
            ADDRESS_BYTES_MAX - 1);
    memcpy(text, address.data, address.len);
    text[address.len] = '\0';
    return true;
}

static bool open_postgres(struct str dsn, const struct store_options *options, int64_t timeout_us,
                          struct store **store, struct error *err)
{
    const struct postgres_module *postgres;
    char text[ADDRESS_BYTES_MAX];

    if (!copy_address(dsn, text, err))
        return false;
    postgres = module_load("postgres", err);
    return postgres != NULL && postgres->open(
                                   &(struct postgres_options){
                                       .dsn = text,
                                       .busy_timeout_us = timeout_us,
                                       .is_sink = options != NULL && options->is_sink,
                                   },
                                   store, err);
}

static bool open_sqlite(struct str path, const struct store_options *options, int64_t timeout_us,
                        struct store **store, struct error *err)
{
    char text[ADDRESS_BYTES_MAX];

    return copy_address(path, text, err) && sqlite_store_open(
                                                &(struct sqlite_options){
                                                    .path = text,
                                                    .create = options != NULL && options->create,
                                                    .is_sink = options != NULL && options->is_sink,
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
        if (str_find(dsn, STR("://")) < dsn.len)
            return error_set(err, ERROR_REQUEST, "store.value",
                             "'%.*s://...' is not the address of a store: give the path of a "
                             "SQLite file (patra.db) or postgresql://user@host/db",
                             STR_ARG(str_slice(dsn, 0, str_find(dsn, STR("://")))));
        if (str_starts(dsn, STR("sqlite:")))
            dsn = str_slice(dsn, sizeof("sqlite:") - 1, dsn.len);
        return open_sqlite(dsn, options, timeout_us, store, err);
    case STORE_POSTGRES:
        return open_postgres(dsn, options, timeout_us, store, err);
    }
    return error_set(err, ERROR_REQUEST, "store.value", "not the address of a database");
}

/* postgresql://user:password@host/db?password=x becomes postgresql://user:***@host/db?***. A
 * question mark before the last @ may belong to the password or begin the query: then nothing after
 * the scheme is shown. */
struct str store_dsn_redact(struct arena *arena, struct str dsn)
{
    const size_t start = str_find(dsn, STR("://")) + 3;
    struct str user, place;
    size_t at, query, colon;

    if (store_dsn_kind(dsn) != STORE_POSTGRES)
        return arena_copy(arena, dsn);
    for (at = dsn.len; at > start; at--) {
        if (dsn.data[at - 1] == '@')
            break; /* the last one: a password may hold others */
    }
    user = str_slice(dsn, start, at > start ? at - 1 : start);
    if (str_find_char(user, '?') < user.len)
        return arena_printf(arena, "%.*s***", STR_ARG(str_slice(dsn, 0, start)));
    place = str_slice(dsn, start + user.len, dsn.len);
    query = str_find_char(place, '?');
    colon = str_find_char(user, ':');
    return arena_printf(arena, "%.*s%.*s%s%.*s%s", STR_ARG(str_slice(dsn, 0, start)),
                        STR_ARG(str_slice(user, 0, colon)), colon < user.len ? ":***" : "",
                        STR_ARG(str_slice(place, 0, query)), query < place.len ? "?***" : "");
}
