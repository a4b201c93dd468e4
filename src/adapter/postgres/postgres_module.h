/* postgres_module: the PostgreSQL store as the module patra-postgres.so, so that patra itself is
 * not linked with libpq. */
#ifndef PATRA_ADAPTER_POSTGRES_POSTGRES_MODULE_H
#define PATRA_ADAPTER_POSTGRES_POSTGRES_MODULE_H

#include "base/module.h"
#include "core/import_spec.h"
#include "port/foreign_outbox.h"
#include "port/store.h"

struct postgres_options {
    const char *dsn;
    int64_t busy_timeout_us; /* how long to wait for a lock */
    bool is_sink;            /* sql_session.is_sink */
};

/* The table is looked at when the handle is used first, not here. */
struct postgres_foreign_options {
    const struct import_spec *spec;
    struct store *store; /* whose session it shares, if it is of this module; or NULL, */
    struct postgres_options database; /* and an own one is opened */
};

struct postgres_module {
    struct module_head head;
    bool (*open)(const struct postgres_options *options, struct store **store, struct error *err);
    bool (*open_foreign)(const struct postgres_foreign_options *options,
                         struct foreign_outbox **foreign, struct error *err);
};

#endif
