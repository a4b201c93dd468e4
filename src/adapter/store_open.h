/* store_open: opens a store by its address. The only file that knows all of its adapters.
 *
 *      patra.db, ./data/patra.db, sqlite:PATH      a SQLite file
 *      postgresql://..., postgres://...            a PostgreSQL database, as libpq reads it
 *      host=... dbname=... user=... password=...   the same
 *
 * An address that cannot be read is refused without being repeated: it may hold a password.
 */
#ifndef PATRA_ADAPTER_STORE_OPEN_H
#define PATRA_ADAPTER_STORE_OPEN_H

#include "port/store.h"

enum store_kind { STORE_SQLITE, STORE_POSTGRES };

struct store_options {
    bool create;             /* SQLite: create the file if it does not exist */
    bool is_sink;            /* for projections: see adapter/sink_open.h */
    int64_t busy_timeout_us; /* how long to wait for another writer; 0 = 10 s */
};

/* Connects. Neither applies migrations (store_migrate) nor checks the schema (store_schema_check).
 * `options` may be NULL. */
bool store_open(struct str dsn, const struct store_options *options, struct store **store,
                struct error *err) MUST_CHECK;

enum store_kind store_dsn_kind(struct str dsn);

/* The address as it may be printed: without a password. In the arena; data is NULL when it is full.
 */
struct str store_dsn_redact(struct arena *arena, struct str dsn);

#endif
