/* publishing: the publisher of this process, in a thread of its own with a session of its own. */
#ifndef PATRA_WORKER_PUBLISHING_H
#define PATRA_WORKER_PUBLISHING_H

#include "base/log.h"
#include "cli/session.h"
#include "worker/stop.h"

struct publishing;

/* It ends when `stop` is requested; a failure that waiting does not help requests it. Session, log
 * and stop must outlive it. */
bool publishing_start(struct publishing **publishing, struct session *session, struct log *log,
                      struct stop *stop, struct error *err) MUST_CHECK;

/* Waits for its end and frees it. Accepts NULL. */
bool publishing_join(struct publishing *publishing, struct error *err) MUST_CHECK;

#endif
