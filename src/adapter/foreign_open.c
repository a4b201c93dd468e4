/* The address of a foreign database, and the module that reads it. */
#include "adapter/foreign_open.h"

#include "adapter/postgres/postgres_module.h"
#include "adapter/store_open.h"
#include "base/instant.h"
#include "port/store_wake.h"

#define BUSY_TIMEOUT_US (10 * US_PER_SECOND)

static bool open_own(const struct postgres_module *postgres, const struct foreign_open *open,
                     struct foreign_outbox **foreign, struct error *err)
{
    if (!store_wake_is_pushed(open->store))
        return error_set(err, ERROR_FATAL, "foreign.schema",
                         "the store is a SQLite file: its own database has no foreign outbox");
    return postgres->open_foreign(
        &(struct postgres_foreign_options){ .spec = open->spec, .store = open->store }, foreign,
        err);
}

static bool open_other(const struct postgres_module *postgres, const struct foreign_open *open,
                       struct foreign_outbox **foreign, struct error *err)
{
    struct secret address;
    bool ok;

    if (!secret_get(open->secrets, open->spec->database, &address, err)) {
        err->code = "foreign.auth";
        return false;
    }
    if (address.len >= sizeof(address.bytes) ||
        store_dsn_kind(secret_str(&address)) != STORE_POSTGRES) {
        secret_wipe(&address);
        return error_set(err, ERROR_FATAL, "foreign.auth", "%.*s is not postgresql://...",
                         STR_ARG(open->spec->database));
    }
    address.bytes[address.len] = '\0';
    ok = postgres->open_foreign(
        &(struct postgres_foreign_options){
            .spec = open->spec,
            .database = { .dsn = address.bytes, .busy_timeout_us = BUSY_TIMEOUT_US } },
        foreign, err);
    secret_wipe(&address);
    return ok;
}

bool foreign_open(const struct foreign_open *open, struct foreign_outbox **foreign,
                  struct error *err)
{
    const struct postgres_module *postgres = module_load("postgres", err);

    *foreign = NULL;
    if (postgres == NULL)
        return false;
    return (str_eq(open->spec->database, IMPORT_OWN_DATABASE)
                ? open_own(postgres, open, foreign, err)
                : open_other(postgres, open, foreign, err)) ||
           error_wrap(err, "open the outbox %.*s", STR_ARG(open->spec->name));
}
