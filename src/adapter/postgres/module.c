/* The symbol that patra reads when it loads patra-postgres.so. */
#include "adapter/postgres/postgres.h"
#include "adapter/postgres/postgres_module.h"

extern const struct postgres_module patra_module;

MODULE_EXPORT const struct postgres_module patra_module = {
    .head = { .version = PATRA_VERSION },
    .open = postgres_store_open,
    .open_foreign = postgres_foreign_open,
};
