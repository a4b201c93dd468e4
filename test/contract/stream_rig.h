/* stream_rig: records to be written, a sequencer that publishes their events, and who reads them.
 */
#ifndef PATRA_TEST_CONTRACT_STREAM_RIG_H
#define PATRA_TEST_CONTRACT_STREAM_RIG_H

#include "engine/publish/sequencer.h"
#include "port/store.h"
#include "port/store_subscription.h"

/* Writes so many new records in the transaction that is open. */
void stream_rig_add(struct store *store, const char *prefix, int count);

/* The same in one of its own; returns the id of the last event. */
int64_t stream_rig_write(struct store *store, const char *prefix, int count);

/* Changes a record of the prefix in the transaction that is open. */
void stream_rig_change(struct store *store, const char *prefix, int number);
/* The same so many times, each in a transaction of its own. */
void stream_rig_change_often(struct store *store, const char *prefix, int number, int times);

struct sequencer *stream_rig_sequencer(struct store *store, const char *owner);
struct sequencer_round stream_rig_round(struct sequencer *sequencer, int64_t now_us);

/* Puts all events into the stream, by a sequencer that is there for this only. */
void stream_rig_publish(struct store *store, int64_t now_us);

/* Applies it with an empty spec, and reads it back. */
struct subscription stream_rig_subscribe(struct store *store, struct str name,
                                         enum subscription_kind kind,
                                         enum subscription_policy policy);

#endif
