/* readers: those who read the stream in this process, of one kind, a thread and a session for each.
 *
 * A thread looks every two seconds which subscriptions of the kind are ACTIVE: it starts a reader
 * for each, ends it when the subscription is paused, stopped or removed, and starts it again when
 * it was changed. A reader that fails for good is logged and started again later; it ends neither
 * the others nor the process.
 */
#ifndef PATRA_WORKER_READERS_H
#define PATRA_WORKER_READERS_H

#include "base/log.h"
#include "base/meter.h"
#include "base/span.h"
#include "cli/session.h"
#include "engine/lanes/lanes_run.h"
#include "worker/stop.h"

struct reading { /* one of them; everything is its thread's own */
    const struct subscription *subscription;
    struct str owner;
    struct store *store;
    struct clock *clock;
    struct random_source *random;
    struct log *log;
    struct lanes_watch *watch;
    struct wake *wake;
    int wake_fd;
    bool is_draining; /* ends when nothing is left */
};

struct reader_kind {
    enum subscription_kind subscription;
    const char *what; /* "relay": in log lines, and in the names of owners */
    const char *noun; /* of the subscription: "there is no active relay x" */
    /* Until it is stopped or nothing is left; *total may be NULL. */
    bool (*run)(void *context, const struct reading *reader, struct lanes_total *total,
                struct error *err);
};

struct readers_settings { /* all must outlive them */
    const struct reader_kind *kind;
    struct log *log;
    struct meters *meters; /* what they do is counted; NULL: it is not */
    struct tracer *tracer; /* ... and becomes spans; NULL: it does not */
    struct stop *stop;
    const char *only; /* the name of one subscription; NULL: all */
    void *context;    /* of kind->run(); used by several threads */
};

struct readers;

/* They end when settings.stop is requested. */
bool readers_start(struct readers **readers, struct session *session,
                   const struct readers_settings *settings, struct error *err) MUST_CHECK;
void readers_join(struct readers *readers); /* accepts NULL */

/* In this thread, one after the other: until nothing is left for any of them. What one of them
 * fails for is told when all had their turn. L2 "subscription.missing" when `only` names none. */
bool readers_drain(struct session *session, const struct readers_settings *settings,
                   struct lanes_total *total, struct error *err) MUST_CHECK;

#endif
