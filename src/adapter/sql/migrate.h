/* migrate: a database brought up to date, one migration a transaction.
 *
 * What was taken is read again before every step, under a lock of all who migrate: another process
 * may have taken the step meanwhile.
 */
#ifndef PATRA_ADAPTER_SQL_MIGRATE_H
#define PATRA_ADAPTER_SQL_MIGRATE_H

#include "core/migration.h"
#include "port/store.h"

struct migrator { /* what a database does in its own way */
    const struct migration_set *set;
    /* Makes the table of what was taken, where there is none. */
    bool (*prepare)(struct store *store, struct error *err);
    /* Empty, where there is no such table yet. */
    bool (*taken)(struct store *store, struct arena *arena, struct migration_record_list *taken,
                  struct error *err);
    /* Runs the step and writes it down. */
    bool (*take)(struct store *store, const struct migration *step, int64_t now_us,
                 struct error *err);
};

/* All that is left to take; *count says how many were. */
bool migrate_all(const struct migrator *migrator, struct store *store, int64_t now_us,
                 int64_t *count, struct error *err) MUST_CHECK;

/* Which migration the database stands at. */
bool migrate_schema(const struct migrator *migrator, struct store *store,
                    struct store_schema *schema, struct error *err) MUST_CHECK;

#endif
