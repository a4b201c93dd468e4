/* postgres: a real PostgreSQL for a test program, in a folder of its own under /tmp, reached by a
 * unix socket only, run by an unprivileged user (postgres or nobody when the test runs as root).
 *
 * It is started by the first call and stopped, and its folder removed, when the program ends,
 * however it ends: a watchdog process waits for that. Where PATRA_TEST_POSTGRES names a running
 * server (postgresql://.../?host=... without a database), that one is used instead.
 */
#ifndef PATRA_TEST_SUPPORT_POSTGRES_H
#define PATRA_TEST_SUPPORT_POSTGRES_H

#include "base/error.h"

/* The address of a new, empty database, living until the program ends. NULL: PostgreSQL is not
 * installed (the caller skips), or could not be started (err->level is then not ERROR_NONE). */
const char *postgres_new_database(struct error *err);

/* Before the first call: the server shall have its own defaults (each commit is flushed), for
 * measurements. Without it, it is as fast as a test may have it. */
void postgres_in_earnest(void);

/* Stops the server as a power cut would, and starts it again on the same data. */
bool postgres_stop(struct error *err);
bool postgres_start(struct error *err);

/* The server as a hot standby, which only reads; and the primary again. */
bool postgres_demote(struct error *err);
bool postgres_promote(struct error *err);

/* All its processes stand still: connections stay open, new ones are taken, nobody answers. */
void postgres_freeze(void);
void postgres_thaw(void);

#endif
