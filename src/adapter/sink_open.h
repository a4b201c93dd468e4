/* sink_open: a session on the database where a projection's tables are (port/store_sink.h).
 *
 * The store's own database needs none: its sessions are sinks. In another database, a SQLite file
 * or one of PostgreSQL, the few tables that a reader of events needs are made when it is opened the
 * first time (sql/STORE/sink/). A database that is a store already has them: it must be of this
 * program's version.
 */
#ifndef PATRA_ADAPTER_SINK_OPEN_H
#define PATRA_ADAPTER_SINK_OPEN_H

#include "port/secret.h"
#include "port/store.h"

/* `database` as in the spec, but not PROJECTION_OWN_DATABASE: env:NAME, file:PATH, or the path of a
 * SQLite file, which is made where it is missing. "projection.database" (L2) when it leads to
 * `store`, under whatever name: two sessions of one consumer would wait for each other. `store` may
 * be NULL: there is none. */
bool sink_open(struct store *store, struct str database, struct secret_source *secrets,
               int64_t now_us, struct store **sink, struct error *err) MUST_CHECK;

#endif
