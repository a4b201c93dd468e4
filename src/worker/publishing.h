/* publishing: the publisher of this process, in a thread of its own with a session of its own. */
#ifndef PATRA_WORKER_PUBLISHING_H
#define PATRA_WORKER_PUBLISHING_H

#include "base/log.h"
#include "cli/session.h"
#include "worker/stop.h"

struct publishing;

struct publishing_parts { /* all must outlive it */
    struct session *session;
    struct log *log;
    struct stop *stop;
    int64_t keep_us; /* of events; 0: for ever */
};

/* It ends when `stop` is requested; a failure that waiting does not help requests it. */
bool publishing_start(struct publishing **publishing, const struct publishing_parts *parts,
                      struct error *err) MUST_CHECK;

/* Waits for its end and frees it. Accepts NULL. */
bool publishing_join(struct publishing *publishing, struct error *err) MUST_CHECK;

#endif
