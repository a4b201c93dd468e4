/* retaining: the thread that takes old history out of the store, once a day (engine/retain). */
#ifndef PATRA_WORKER_RETAINING_H
#define PATRA_WORKER_RETAINING_H

#include "base/log.h"
#include "cli/session.h"
#include "engine/retain/retain.h"
#include "worker/stop.h"

#define RETAINING_OPTION                                                              \
    {                                                                                 \
        "retention", "DIR",                                                           \
            "Once a day, archive history older than 90 days into DIR and remove it. " \
            "(Not without this.)"                                                     \
    }

/* Now, in this thread. The folder is made where it is missing. Ends early when `stop_fd` can be
 * read. */
bool retaining_once(struct store *store, struct clock *clock, int stop_fd, const char *folder,
                    int64_t keep_us, struct retained_count *count, struct error *err) MUST_CHECK;

struct retaining_parts { /* all must outlive it */
    struct session *session;
    struct log *log;
    struct stop *stop;
    const char *folder;
};

struct retaining;

bool retaining_start(struct retaining **retaining, const struct retaining_parts *parts,
                     struct error *err) MUST_CHECK;
void retaining_join(struct retaining *retaining); /* accepts NULL */

#endif
