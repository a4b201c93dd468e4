/* track: which messages of one partition were delivered and are not settled, and how far all before
 * is settled. Pure.
 *
 *      offset   10    11    12    14
 *               ack   ack   held  ack       committed up to: 12
 *
 * Offsets are delivered in rising order, with gaps (markers of transactions). After a step back
 * those that were acknowledged are remembered, so that they are not delivered twice.
 */
#ifndef PATRA_ADAPTER_KAFKA_TRACK_H
#define PATRA_ADAPTER_KAFKA_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct track_entry {
    int64_t offset;
    size_t bytes;
    bool is_acked;
    bool is_out; /* delivered and not settled; false after a nack until it is delivered again */
};

struct track {
    struct track_entry *entries; /* sorted by offset, from the first that is not acknowledged */
    size_t count;
    size_t capacity;
    size_t out_count; /* entries with is_out */
    size_t out_bytes;
    int64_t next; /* all below was settled; -1: nothing was delivered yet */
};

void track_init(struct track *track);
void track_release(struct track *track); /* accepts the zero value */
void track_reset(struct track *track);   /* forgets everything */

/* Whether the message is to be delivered: false if it was acknowledged before. */
bool track_wants(const struct track *track, int64_t offset);
/* Notes a delivery. False: no memory. */
bool track_deliver(struct track *track, int64_t offset, size_t bytes) MUST_CHECK;

/* False if the offset is not being waited for: a delivery of before a rebalance. */
bool track_ack(struct track *track, int64_t offset);
bool track_nack(struct track *track, int64_t offset);

/* Drops acknowledged entries from the front. True if `next` has grown. */
bool track_advance(struct track *track);

/* The lowest offset that was nacked and is to be read again; -1: none. */
int64_t track_back(const struct track *track);

/* The end of the partition was met at this offset: what lies between are markers. */
void track_end(struct track *track, int64_t offset);

#endif
