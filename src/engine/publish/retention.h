/* retention: removes old events between the rounds of a publisher, little by little.
 *
 * It looks once a minute; while it finds as much as one transaction removes, ten times a second, so
 * that it keeps up with 50,000 events per second and leaves most of the time to the sequencer. What
 * may go is said in port/store_prune.h.
 */
#ifndef PATRA_ENGINE_PUBLISH_RETENTION_H
#define PATRA_ENGINE_PUBLISH_RETENTION_H

#include "base/attr.h"
#include "base/instant.h"
#include "port/store_prune.h"

/* How long events are kept by default: a subscription that is made after a mistake, or moved back,
 * finds the last week. */
#define RETENTION_KEEP_US (7 * US_PER_DAY)
#define RETENTION_KEEP_MIN_US US_PER_MINUTE
#define RETENTION_AGAIN_US (US_PER_SECOND / 10) /* while there is more */

struct retention {
    int64_t keep_us; /* 0: for ever */
    int64_t next_us; /* monotonic: of the next look */
};

/* At this instant of the clock that all processes share; mono_us never goes back. *events counts
 * what was removed. */
bool retention_turn(struct retention *retention, struct store *store, int64_t now_us,
                    int64_t mono_us, int64_t *events, struct error *err) MUST_CHECK;

#endif
