/* publisher: runs the sequencer, round after round, until it is stopped or nothing is left.
 *
 * While there is something to do, rounds follow on each other. Otherwise it waits to be woken
 * (engine/wake/wake.h), and always looks again after 5 ms, and each time nothing is there twice
 * as late, up to a second; while gaps exist always after 5 ms, because somebody is about to commit.
 * A fifth of each pause is chance. What it appends wakes the readers of the stream. Any number of
 * publishers may run on one store: one of them holds the lease, the others wait for it.
 *
 * Who has the lease also removes old events (retention.h); one that is draining does not.
 *
 * A store that is out of reach is waited for.
 */
#ifndef PATRA_ENGINE_PUBLISH_PUBLISHER_H
#define PATRA_ENGINE_PUBLISH_PUBLISHER_H

#include "base/log.h"
#include "engine/publish/retention.h"
#include "engine/publish/sequencer.h"
#include "engine/wake/wake.h"
#include "port/clock.h"
#include "port/random.h"

struct publisher_parts { /* all must outlive it */
    struct store *store;
    struct clock *clock;
    struct random_source *random;
    struct log *log;   /* NULL: none */
    struct wake *wake; /* NULL: none; it is not woken by this process, and wakes nobody in it */
    int wake_fd;       /* readable: end */
};

struct publisher_settings {
    struct sequencer_settings sequencer;
    bool is_draining; /* ends when nothing is left */
    int64_t keep_us;  /* how long events are kept (retention.h); 0: for ever */
};

/* Gives the lease back when it ends. *appended (may be NULL) counts events. A draining one fails
 * with L1 "publish.held" when another publisher has the lease. */
bool publisher_run(const struct publisher_parts *parts, const struct publisher_settings *settings,
                   int64_t *appended, struct error *err) MUST_CHECK;

#endif
