/* stream_rig: records to be written, and a sequencer that publishes their events. */
#ifndef PATRA_TEST_CONTRACT_STREAM_RIG_H
#define PATRA_TEST_CONTRACT_STREAM_RIG_H

#include "engine/publish/sequencer.h"
#include "port/store.h"

/* Writes so many new records in the transaction that is open. */
void stream_rig_add(struct store *store, const char *prefix, int count);

/* The same in one of its own; returns the id of the last event. */
int64_t stream_rig_write(struct store *store, const char *prefix, int count);

/* Changes a record of the prefix in the transaction that is open. */
void stream_rig_change(struct store *store, const char *prefix, int number);

struct sequencer *stream_rig_sequencer(struct store *store, const char *owner);
struct sequencer_round stream_rig_round(struct sequencer *sequencer, int64_t now_us);

#endif
