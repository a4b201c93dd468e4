/* lane_watch: what the readers of the stream do, counted for Prometheus, logged (002 sections 6 and
 * 6.6), and made into spans: "publish NAME" of a relay, "consume NAME" of a projection.
 *
 *      debug  offsets saved       whose, the last event, how long it was in the stream, by whom
 *      debug  events delivered    how many, the first of them, how long it took; or: not delivered
 *      warn   offsets not saved   why
 *
 * Lines name an event by eventId, orderingKey and position, as the message on a bus does.
 */
#ifndef PATRA_WORKER_LANE_WATCH_H
#define PATRA_WORKER_LANE_WATCH_H

#include "base/log.h"
#include "base/meter.h"
#include "base/span.h"
#include "engine/lanes/lanes.h"

struct lane_watch_parts { /* each may be NULL, but for random where there is a tracer */
    struct meters *meters;
    struct log *log;
    struct tracer *tracer;
    struct random_source *random;
};

struct lane_watch {           /* one per reader */
    struct lanes_watch watch; /* first */
    struct lane_watch_parts parts;
};

/* Returns its watch. */
struct lanes_watch *lane_watch_init(struct lane_watch *watch, const struct lane_watch_parts *parts);

#endif
