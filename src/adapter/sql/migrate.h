/* migrate: brings a database up to date, each migration in a transaction of its own.
 *
 * The list of migrations that were applied is read again before every step, under a lock that every
 * migrating process takes: another one may have applied the step in the meantime.
 */
#ifndef PATRA_ADAPTER_SQL_MIGRATE_H
#define PATRA_ADAPTER_SQL_MIGRATE_H

#include "port/store.h"

bool sql_migrate(struct store *store, int64_t now_us, int64_t *taken, struct error *err);
bool sql_schema(struct store *store, struct store_schema *schema, struct error *err);
bool sql_lanes(struct store *store, int64_t *lanes, struct error *err);
bool sql_place(struct store *store, struct arena *arena, struct str *place, struct error *err);

#endif
