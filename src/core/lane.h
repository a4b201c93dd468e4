/* lane: the part of the outbox that a key is published through.
 *
 * Keys hash to OUTBOX_LANES lanes. The lane of a key never changes and is the same on every
 * machine: if the events of a key were in two lanes, they could be published out of order.
 */
#ifndef PATRA_CORE_LANE_H
#define PATRA_CORE_LANE_H

#include <stdint.h>

#include "base/str.h"

/* 0 .. OUTBOX_LANES - 1 */
int64_t lane_of(struct str aggregate_type, struct str aggregate_id);

#endif
