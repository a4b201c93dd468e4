/* consumer: applies the events of the stream to a projection, for one subscription.
 *
 *      attend ── next ── make ── offsets, rows, parked keys ── next ...
 *                        rows    one transaction under the epochs of the lanes
 *
 * The lanes, their events and the parked keys are those of engine/lanes/lanes.h, with its promises.
 * Offsets and rows are in one database (the sink) and in one transaction, so each event takes
 * effect once; nothing has to be acknowledged afterwards. The stream may be in another database:
 * then that one is told how far the sink is, for retention and for people.
 *
 * An event at fault. A batch that the sink refuses is halved until the event at fault stands alone;
 * what is before it is committed on the way. Its key is parked by the subscription's policy, and
 * after settings.lanes.attempts_max tries the event is a dead letter and the key goes on. What is
 * at fault is decided by the error's level: L2 and L3 are the event's, L1 is waited for with a new
 * session, L4 is a person's: the consumer waits, keeps its lanes and says so (ing_reader.error).
 *
 * Memory: a batch, up to the settings' events and bytes, and what is made of it.
 */
#ifndef PATRA_ENGINE_CONSUME_CONSUMER_H
#define PATRA_ENGINE_CONSUME_CONSUMER_H

#include "engine/consume/target.h"
#include "engine/lanes/lanes.h"
#include "engine/lanes/lanes_run.h"

struct consumer_parts {   /* all must outlive it */
    struct store *sink;   /* has the rows, offsets, leases and parked keys */
    struct store *stream; /* may be the same */
    struct clock *clock;
    struct random_source *random;
    struct log *log;           /* NULL: none */
    struct lanes_watch *watch; /* NULL: none */
    struct wake *wake;         /* NULL: none; this process does not wake it */
    int wake_fd;               /* readable: end; CLOCK_NO_WAKE: none */
    struct consume_target target;
};

struct consumer;

bool consumer_open(struct consumer **consumer, const struct consumer_parts *parts,
                   const struct lanes_settings *settings, struct error *err) MUST_CHECK;
void consumer_close(struct consumer *consumer); /* accepts NULL; does not give the lanes back */

/* One round at this instant of the clock that all processes share. A failure is a session's: after
 * it the consumer holds nothing, and the next round begins with a claim. */
bool consumer_round(struct consumer *consumer, int64_t now_us, struct lanes_round *round,
                    struct error *err) MUST_CHECK;

/* Gives its lanes back. */
bool consumer_release(struct consumer *consumer, struct error *err) MUST_CHECK;

/* Round after round, until it is stopped or, when it is draining, nothing is left. Gives the lanes
 * back when it ends; *total may be NULL. */
struct consumer_run {
    struct lanes_settings lanes;
    bool is_draining;
};
bool consumer_run(const struct consumer_parts *parts, const struct consumer_run *run,
                  struct lanes_total *total, struct error *err) MUST_CHECK;

#endif
