/* lanes_internal: what the files of the room share.
 *
 *      lanes.c          who has which lanes
 *      lanes_batch.c    events of the stream: which, and in what state
 *      lanes_settle.c   what became of them, saved
 *      lanes_parked.c   events of parked keys, again
 */
#ifndef PATRA_ENGINE_LANES_LANES_INTERNAL_H
#define PATRA_ENGINE_LANES_LANES_INTERNAL_H

#include "engine/lanes/lanes.h"

/* lanes_fence() for some lanes. */
bool lanes_fence_some(struct lanes *lanes, const bool only[OUTBOX_LANES], bool *held,
                      struct error *err) MUST_CHECK;

/* Items for the events, with their keys; those that are not wanted are marked. */
bool lanes_items(struct lanes *lanes, const struct lanes_filter *filter,
                 const struct stream_event_list *events, struct delivery *delivery,
                 struct error *err) MUST_CHECK;

/* Of many, the first ones; and how many there were more. */
void lanes_log_key(struct lanes *lanes, const char *what, const struct parked *parked);
void lanes_log_rest(struct lanes *lanes);

#endif
