/* notifying: the notifier of this process (engine/wake/notifier.h), in a thread of its own with
 * a session of its own. For every command that writes events for longer than a moment, or waits for
 * them; others send once when their session is closed. */
#ifndef PATRA_WORKER_NOTIFYING_H
#define PATRA_WORKER_NOTIFYING_H

#include "cli/session.h"
#include "worker/stop.h"

struct notifying;

/* It ends when `stop` is requested; both must outlive it. *notifying is NULL where the store sends
 * no notes. */
bool notifying_start(struct notifying **notifying, struct session *session, struct stop *stop,
                     struct error *err) MUST_CHECK;

/* After `stop` was requested. Waits for its end and frees it. Accepts NULL. */
void notifying_join(struct notifying *notifying);

#endif
