/* postgres_module: the PostgreSQL store as the module patra-postgres.so, so that patra itself is
 * not linked with libpq. */
#ifndef PATRA_ADAPTER_POSTGRES_POSTGRES_MODULE_H
#define PATRA_ADAPTER_POSTGRES_POSTGRES_MODULE_H

#include "base/module.h"
#include "port/store.h"

struct postgres_options {
    const char *dsn;
    int64_t busy_timeout_us; /* how long to wait for a lock */
};

struct postgres_module {
    struct module_head head;
    bool (*open)(const struct postgres_options *options, struct store **store, struct error *err);
};

#endif
