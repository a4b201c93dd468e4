/* Choosing a store by its address, and printing the address without its password. */
#include "adapter/store_open.h"

#include <string.h>

#include "adapter/pack/pack.h"
#include "adapter/postgres/postgres_module.h"
#include "adapter/sqlite/sqlite.h"
#include "base/buf.h"
#include "base/instant.h"

#define BUSY_TIMEOUT_US (10 * US_PER_SECOND)

enum { ADDRESS_BYTES_MAX = 4096 };

/* ---- which store ---- */

static bool is_postgres_url(struct str dsn)
{
    return str_starts(dsn, STR("postgresql://")) || str_starts(dsn, STR("postgres://"));
}

static bool is_one_of(struct str word, const struct str *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq_nocase(word, words[i]))
            return true;
    }
    return false;
}

/* "host=db dbname=patra": what libpq calls key words. A file whose name begins like this is
 * ./host=... */
static bool is_pairs(struct str dsn)
{
    static const struct str words[] = {
        STR_INIT("host"),
        STR_INIT("hostaddr"),
        STR_INIT("port"),
        STR_INIT("dbname"),
        STR_INIT("user"),
        STR_INIT("password"),
        STR_INIT("passfile"),
        STR_INIT("service"),
        STR_INIT("sslmode"),
        STR_INIT("options"),
        STR_INIT("sslcert"),
        STR_INIT("application_name"),
        STR_INIT("sslkey"),
        STR_INIT("sslrootcert"),
        STR_INIT("connect_timeout"),
        STR_INIT("target_session_attrs"),
    };
    const size_t equals = str_find_char(dsn, '=');

    return equals < dsn.len &&
           is_one_of(str_trim(str_slice(dsn, 0, equals)), words, ARRAY_LEN(words));
}

enum store_kind store_dsn_kind(struct str dsn)
{
    return is_postgres_url(dsn) || is_pairs(dsn) ? STORE_POSTGRES : STORE_SQLITE;
}

/* In postgresql://user:pass/word@host/db libpq takes "user" for the host and "pass" for its port: a
 * piece of the password is in every message about that. */
static bool is_ambiguous(struct str dsn)
{
    struct str rest = str_slice(dsn, str_find(dsn, STR("://")) + 3, dsn.len);
    size_t slash;

    if (!is_postgres_url(dsn))
        return false;
    rest = str_slice(rest, 0, str_find_char(rest, '?'));
    slash = str_find_char(rest, '/');
    return slash < rest.len &&
           str_find_char(str_slice(rest, slash, rest.len), '@') < rest.len - slash;
}

/* Nobody calls a file so: it is an address with a mistake before its password. */
static bool has_password(struct str path)
{
    return str_find(path, STR("password=")) < path.len ||
           str_find(path, STR("password =")) < path.len;
}

static bool refuse(struct error *err)
{
    return error_set(err, ERROR_REQUEST, "store.value",
                     "the address of the store cannot be read (it is not repeated here, because it "
                     "may hold a password): give the path of a SQLite file, "
                     "postgresql://user:password@host/db with %%2F for / and %%40 for @ in the "
                     "password, or \"host=... dbname=... user=... password=...\"");
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

static bool open_by_kind(struct str dsn, const struct store_options *options, struct store **store,
                         struct error *err)
{
    const int64_t timeout_us = options != NULL && options->busy_timeout_us > 0
                                   ? options->busy_timeout_us
                                   : BUSY_TIMEOUT_US;

    switch (store_dsn_kind(dsn)) {
    case STORE_SQLITE:
        if (has_password(dsn))
            return refuse(err);
        if (str_find(dsn, STR("://")) < dsn.len)
            return error_set(err, ERROR_REQUEST, "store.value",
                             "'%.*s://...' is not the address of a store: give the path of a "
                             "SQLite file (patra.db) or postgresql://user@host/db",
                             STR_ARG(str_slice(dsn, 0, str_find(dsn, STR("://")))));
        if (str_starts(dsn, STR("sqlite:")))
            dsn = str_slice(dsn, sizeof("sqlite:") - 1, dsn.len);
        return open_sqlite(dsn, options, timeout_us, store, err);
    case STORE_POSTGRES:
        if (is_ambiguous(dsn))
            return refuse(err);
        return open_postgres(dsn, options, timeout_us, store, err);
    }
    return error_set(err, ERROR_REQUEST, "store.value", "not the address of a database");
}

bool store_open(struct str dsn, const struct store_options *options, struct store **store,
                struct error *err)
{
    if (!open_by_kind(dsn, options, store, err))
        return false;
    (*store)->packer_open = body_packer_open;
    return true;
}

/* ---- printing ---- */

/* "host=db user=u password=p" becomes "host=db user=u ***". What is quoted or has blanks around its
 * signs is not taken apart. */
static struct str redact_pairs(struct arena *arena, struct str dsn)
{
    static const struct str shown[] = { STR_INIT("host"), STR_INIT("hostaddr"), STR_INIT("port"),
                                        STR_INIT("dbname"), STR_INIT("user") };
    struct buf out;
    bool is_whole = true;
    struct error ignored;

    buf_init(&out, arena, ADDRESS_BYTES_MAX);
    if (str_find_char(dsn, '\'') < dsn.len || str_find_char(dsn, '\\') < dsn.len)
        return STR("***");
    while (dsn.len > 0) {
        const struct str pair = str_cut(&dsn, ' ');
        const size_t equals = str_find_char(pair, '=');

        if (pair.len == 0)
            continue;
        if (equals == 0 || equals + 1 >= pair.len)
            return STR("***");
        if (is_one_of(str_slice(pair, 0, equals), shown, ARRAY_LEN(shown)))
            buf_printf(&out, "%s%.*s", out.len > 0 ? " " : "", STR_ARG(pair));
        else
            is_whole = false;
    }
    if (!is_whole)
        buf_printf(&out, "%s***", out.len > 0 ? " " : "");
    return buf_ok(&out, &ignored) ? buf_str(&out) : STR("***");
}

/* postgresql://user:password@host/db?password=x becomes postgresql://user:***@host/db?***. A
 * question mark before the last @ may belong to the password or begin the query: then nothing after
 * the scheme is shown. */
struct str store_dsn_redact(struct arena *arena, struct str dsn)
{
    const size_t start = str_find(dsn, STR("://")) + 3;
    struct str user, place;
    size_t at, query, colon;

    if (!is_postgres_url(dsn) && is_pairs(dsn))
        return redact_pairs(arena, dsn);
    if (!is_postgres_url(dsn))
        return has_password(dsn) ? STR("***") : arena_copy(arena, dsn);
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
