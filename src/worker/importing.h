/* importing: the importers of this process (engine/import/importer.h), a thread with sessions of
 * its own for each foreign outbox that was applied. What is applied, changed or removed meanwhile
 * takes effect after some seconds. */
#ifndef PATRA_WORKER_IMPORTING_H
#define PATRA_WORKER_IMPORTING_H

#include "base/log.h"
#include "cli/session.h"
#include "worker/stop.h"

enum { IMPORTS_MAX = 64 };

struct importing;

/* They end when `stop` is requested. Session, log and stop must outlive them. */
bool importing_start(struct importing **importing, struct session *session, struct log *log,
                     struct stop *stop, struct error *err) MUST_CHECK;

/* After `stop` was requested. Waits for their end and frees them. Accepts NULL. */
void importing_join(struct importing *importing);

/* Imports what is there, one outbox after the other, with the session itself. *imported counts. The
 * first failure is returned when all were tried. */
bool importing_drain(struct session *session, struct log *log, struct stop *stop, int64_t *imported,
                     struct error *err) MUST_CHECK;

#endif
