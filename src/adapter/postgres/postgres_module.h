/* postgres_module: the PostgreSQL store as patra-postgres.so, for those who must not link libpq. */
#ifndef PATRA_ADAPTER_POSTGRES_POSTGRES_MODULE_H
#define PATRA_ADAPTER_POSTGRES_POSTGRES_MODULE_H

#include "base/module.h"
#include "port/store.h"

struct postgres_options {
    const char *dsn;
    int64_t busy_timeout_us; /* waiting for locks */
};

struct postgres_module {
    struct module_head head;
    bool (*open)(const struct postgres_options *options, struct store **store, struct error *err);
};

#endif
