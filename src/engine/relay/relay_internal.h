/* relay_internal: what the files of the relay share.
 *
 *      relay.c          opening, a round, waiting for the bus
 *      relay_lanes.c    who has which lanes
 *      relay_batch.c    events of the stream: read, sort out, save
 *      relay_send.c     events to the bus, wave by wave
 *      relay_parked.c   events of parked keys, again
 */
#ifndef PATRA_ENGINE_RELAY_RELAY_INTERNAL_H
#define PATRA_ENGINE_RELAY_RELAY_INTERNAL_H

#include "engine/relay/park.h"
#include "engine/relay/relay.h"

enum {
    RELAY_ACK_MAX = 128,       /* bytes of what a bus calls a message; longer ones are unknown */
    RELAY_BYTES_MAX = 1 << 30, /* of a round's memory: a batch as JSON, parsed and written */
    RELAY_CAREFUL = 100,       /* events that go one by one after crashes */
    RELAY_RETRY_KEYS = 64,     /* parked keys tried in a round */
    RELAY_RETRY_EVENTS = 64,   /* of each: a call to the bus each */
};

struct relay_lane {
    bool is_held;
    int64_t epoch;
    int64_t pos;
    int64_t last_pos; /* of the stream, when it was last asked */
    int64_t crashes;
    int64_t careful; /* so many events still go one by one */
    char ack_id[RELAY_ACK_MAX];
};

struct relay {
    struct relay_parts parts;
    struct relay_settings settings;
    struct offset_key key;
    struct arena arena; /* of a round */

    struct relay_target target;
    bool is_open; /* the bus */
    struct error bus_error;
    int bus_failures;     /* in a row; 0: it works */
    int64_t bus_retry_us; /* not before */

    struct relay_lane lanes[OUTBOX_LANES];
    int lane_count; /* held */
    int first_lane; /* of the next batch: each lane comes first in its turn */
    bool is_careful_turn;
    bool must_leave;   /* what the store says of its lanes is unknown */
    int64_t until_us;  /* of the leases */
    int64_t attend_us; /* when to attend again */
    struct park park;
    bool must_load; /* the park, again */

    int64_t now_us;   /* of the round, when the monotonic clock was */
    int64_t began_us; /* this */
};

static inline int64_t relay_now_us(const struct relay *r)
{
    return r->now_us + clock_monotonic_us(r->parts.clock) - r->began_us;
}

/* Holds nothing any more; before it claims again it gives back what the store says it has. */
void relay_forget(struct relay *relay);

/* The bus failed as a whole: until when it is left alone. */
void relay_bus_failed(struct relay *relay, const struct error *err);

/* ---- lanes ---- */

/* If it is time: says that it is alive, gives lanes back or claims some, renews the rest, and reads
 * the parked keys again. */
bool relay_attend(struct relay *relay, struct relay_round *round, struct error *err) MUST_CHECK;

/* Renews when a third of the lease is over. *held is false when a lane was taken over. */
bool relay_keep(struct relay *relay, bool *held, struct error *err) MUST_CHECK;

/* Renews now, within the transaction that is open: it is a fence. */
bool relay_fence(struct relay *relay, bool *held, struct error *err) MUST_CHECK;

/* The same for some lanes. */
bool relay_fence_lanes(struct relay *relay, const bool lanes[OUTBOX_LANES], bool *held,
                       struct error *err) MUST_CHECK;

/* ---- sending ---- */

enum item_state {
    ITEM_OPEN, /* not sent, or its fate is unknown */
    ITEM_DONE,
    ITEM_UNWANTED, /* the subscription does not take it */
    ITEM_PASSED,   /* its key is parked */
    ITEM_FAILED,
    ITEM_BEHIND, /* after one of its key that failed */
};

struct item {
    const struct stream_event *event;
    struct aggregate aggregate;
    enum item_state state;
    struct str reason;   /* of a failed one */
    bool is_refused;     /* it will never be taken; else it may be, later */
    struct parked *park; /* of a passed one; of one that is tried again */
};

struct delivery {
    struct item *items;
    size_t count;
    bool is_cut;  /* the bus failed */
    bool is_lost; /* a lane was taken over meanwhile */
};

/* Items for the events, with their keys; those that are not wanted are marked. */
bool relay_items(struct relay *relay, const struct stream_event_list *events,
                 struct delivery *delivery, struct error *err) MUST_CHECK;

/* Sends all items that are open. False: the store failed, or memory. */
bool relay_send(struct relay *relay, struct delivery *delivery, struct relay_round *round,
                struct error *err) MUST_CHECK;

/* ---- the two kinds of deliveries ---- */

bool relay_batch(struct relay *relay, struct relay_round *round, struct error *err) MUST_CHECK;
bool relay_parked(struct relay *relay, struct relay_round *round, struct error *err) MUST_CHECK;

/* When the first parked key is due that may be tried. INT64_MAX: none. */
int64_t relay_parked_due_us(const struct relay *relay);

void relay_log_key(const struct relay *relay, const char *what, const struct parked *parked);

#endif
