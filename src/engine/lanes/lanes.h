/* lanes: how one reader of a subscription has its part of the stream, and what it did with it.
 *
 *      attend ── next ── (the caller delivers) ── settle
 *      lanes     events after the offsets,        offsets, parked keys and what the caller
 *      shared    with the state of each:          adds: one transaction under the epochs
 *      by lease  open, unwanted, passed over      of the lanes
 *
 *                due ──── (the caller delivers) ── tried
 *                events of parked keys             likewise
 *
 * A relay (engine/relay/relay.h) delivers between the two calls; a consumer (engine/consume/
 * consumer.h) within the transaction.
 *
 * Nothing is lost. The offset of a lane moves over an event when it was delivered, when the
 * subscription does not want it, or when its key is parked, and that is written in the same
 * transaction. Whatever happens in between, the events are read again.
 *
 * Order of a key. While an event of a key is not delivered, none of its later ones is.
 *
 * A crash is not a failure. A lease that ran out counts at its position; from LANES_CRASHES on, the
 * lane goes event by event, and the event at which it happens again is parked.
 *
 * Any number of readers share the lanes of a subscription. Which of them has a lane is decided by
 * the store that has the offsets. The stream may be in another one.
 */
#ifndef PATRA_ENGINE_LANES_LANES_H
#define PATRA_ENGINE_LANES_LANES_H

#include "base/attr.h"
#include "base/instant.h"
#include "base/log.h"
#include "core/retry.h"
#include "engine/lanes/park.h"
#include "port/clock.h"
#include "port/random.h"
#include "port/store_subscription.h"

enum {
    LANES_BATCH = 1000,        /* events read at once */
    LANES_PARKED_MAX = 10000,  /* keys; beyond, it is not the events that are at fault */
    LANES_CRASHES = 3,         /* leases that ran out at a position; then event by event */
    LANES_TRIES_LOST_MAX = 3,  /* tries of a parked key that never ended; then a person must ask */
    LANES_ACK_MAX = 128,       /* bytes of what a bus calls a message; longer ones are unknown */
    LANES_BYTES_MAX = 1 << 30, /* of a round's memory: a batch as JSON, parsed and written */
    LANES_RETRY_KEYS = 64,     /* parked keys tried at once */
};

#define LANES_LEASE_US (15 * US_PER_SECOND)
#define LANES_BYTES (INT64_C(8) << 20)

/* ---- what is seen from outside ---- */

enum lanes_event_kind {
    LANES_TRIED,   /* a call to the bus, or a transaction of rows, has ended */
    LANES_SAVED,   /* offsets; with err: they were not */
    LANES_PUT_OFF, /* a key, or the bus as a whole, is tried again after delay_us */
};

struct lanes_event { /* views, valid during the call; what does not apply is 0 or NULL */
    enum lanes_event_kind kind;
    const struct subscription *subscription;
    struct str owner;
    int64_t now_us;
    int64_t took_us;
    int64_t count;                    /* TRIED: events; SAVED: lanes */
    int64_t failed;                   /* TRIED: of these, not taken; they are tried again */
    int64_t lag_us;                   /* SAVED: how long the last event was in the stream */
    int64_t delay_us;                 /* PUT_OFF */
    const struct stream_event *first; /* TRIED, SAVED: one of them */
    const struct error *err;          /* TRIED: nothing could be tried; SAVED: why not */
};

struct lanes_watch { /* called in the reader's thread; embed it first */
    void (*see)(struct lanes_watch *watch, const struct lanes_event *event);
};

struct lanes_parts {      /* all must outlive them */
    struct store *store;  /* has offsets, leases and parked keys */
    struct store *stream; /* has the events; may be the same */
    struct clock *clock;
    struct random_source *random;
    struct log *log;           /* NULL: none */
    struct lanes_watch *watch; /* NULL: none */
};

struct lanes_settings {
    const struct subscription *subscription; /* must outlive them */
    struct str owner;                        /* no other reader has it */
    int64_t lease_us;                        /* 0: LANES_LEASE_US */
    int64_t batch_max;                       /* events; 0: LANES_BATCH */
    int64_t bytes_max;                       /* of their bodies; 0: LANES_BYTES */
    size_t parked_max;                       /* 0: LANES_PARKED_MAX */
    int64_t attempts_max;                    /* then an event is a dead letter; 0: it waits */
    struct retry_policy retry;               /* of a parked key; without attempts: a second to
                                                five minutes */
};

struct held_lane {
    bool is_held;
    int64_t epoch;
    int64_t pos;
    int64_t last_pos; /* of the stream, when it was last asked */
    int64_t crashes;
    int64_t careful; /* so many events still go one by one */
    char ack_id[LANES_ACK_MAX];
};

struct lanes {
    struct lanes_parts parts;
    struct lanes_settings settings;
    struct offset_key key;
    struct arena arena; /* of a round */
    struct str error;   /* why nothing can be delivered at present; others see it */

    struct held_lane items[OUTBOX_LANES];
    int count; /* held */
    int first; /* of the next batch: each lane comes first in its turn */
    bool is_careful_turn;
    bool must_leave;   /* what the store says of its lanes is unknown */
    int64_t until_us;  /* of the leases */
    int64_t attend_us; /* when to attend again */
    struct park park;
    bool must_load;      /* the park, again */
    struct lanes_ahead { /* the read that was begun */
        struct stream_place places[OUTBOX_LANES];
        size_t count; /* 0: none */
    } ahead;

    struct lanes_logged { /* about keys, since then */
        int64_t until_us;
        int count;
        int64_t left_out;
    } logged;

    int64_t now_us;   /* of the round, when the monotonic clock was */
    int64_t began_us; /* this */
};

struct lanes_round {
    int lanes;         /* held */
    int64_t delivered; /* events */
    int64_t passed;    /* not wanted, or of a parked key */
    int64_t parked;    /* keys that were parked */
    int64_t returned;  /* keys that are not parked any more */
    int64_t dead;      /* events that were given up after so many attempts */
    bool has_more;     /* events or due keys are left that can be tried now */
    bool is_stopped;   /* the subscription is, by its policy */
    bool was_overtaken;
    int64_t next_us; /* when there is something to do, whatever comes: a lease, a retry */
    const struct error *trouble; /* why nothing can be delivered at present; NULL: it can */
};

void lanes_init(struct lanes *lanes, const struct lanes_parts *parts,
                const struct lanes_settings *settings);
void lanes_release(struct lanes *lanes); /* of memory; does not give the lanes back */

/* A round begins, at this instant of the clock that all processes share. */
void lanes_begin(struct lanes *lanes, int64_t now_us);

static inline int64_t lanes_now_us(const struct lanes *lanes)
{
    return lanes->now_us + clock_monotonic_us(lanes->parts.clock) - lanes->began_us;
}

/* Tells the watch, if there is one: who and when are added. */
void lanes_report(const struct lanes *lanes, struct lanes_event event);

/* A person must look at it: an event is not in the stream any more, or too many keys are parked.
 * Nothing was forgotten; waiting is all that can be done. */
bool lanes_error_is_halt(const struct error *err);

/* Holds nothing any more; before it claims again it gives back what the store says it has. */
void lanes_forget(struct lanes *lanes);

/* Gives them back, for good. */
bool lanes_leave(struct lanes *lanes, struct error *err) MUST_CHECK;

/* If it is time: says that it is alive, gives lanes back or claims some, renews the rest, and reads
 * the parked keys again. */
bool lanes_attend(struct lanes *lanes, struct lanes_round *round, struct error *err) MUST_CHECK;

/* Before something is handed on: are all lanes still its own? Renews when a third of the lease is
 * over. *held is false when a lane was taken over or moved. */
bool lanes_keep(struct lanes *lanes, bool *held, struct error *err) MUST_CHECK;

/* Renews now; within a transaction it is a fence. */
bool lanes_fence(struct lanes *lanes, bool *held, struct error *err) MUST_CHECK;

/* A lane was taken over: nothing is held any more, and the round says so. */
void lanes_lost(struct lanes *lanes, struct lanes_round *round);

/* Where the lanes are that are held and have no parked key: what is before is not needed any more.
 * How many these are; none while it is not known what is parked. */
size_t lanes_places(const struct lanes *lanes, struct stream_place places[OUTBOX_LANES]);

/* ---- events ---- */

/* The key that the event's order is kept by. A record's type is its source and endpoint. */
struct aggregate {
    struct str type;
    struct str id;
};
struct aggregate lanes_aggregate(struct arena *arena, const struct stream_event *event);

struct lanes_filter {
    bool (*takes)(void *context, const struct stream_event *event); /* NULL: all */
    void *context;
};

enum item_state {
    ITEM_OPEN, /* not delivered, or its fate is unknown */
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
    struct str reason; /* of a failed one */
    bool is_refused;   /* it will never be taken; else it may be, later */
};

struct delivery {
    struct item *items;
    size_t count;
    bool is_cut;  /* not everything was tried */
    bool is_lost; /* a lane was taken over meanwhile: nothing is saved */
};

static inline void item_fail(struct item *item, struct str reason, bool is_refused)
{
    item->state = ITEM_FAILED;
    item->reason = reason.len > 0 ? reason : STR("refused without a reason");
    item->is_refused = is_refused;
}

/* What the caller writes in the transaction of a settlement, after the fence. */
struct lanes_within {
    bool (*write)(void *context, struct error *err);
    void *context;
};

/* ---- the stream ---- */

/* Events after the offsets: a batch, or none. Those of parked keys are ITEM_PASSED. */
bool lanes_next(struct lanes *lanes, const struct lanes_filter *filter, struct delivery *delivery,
                struct error *err) MUST_CHECK;

/* Begins to read what comes after these events, so that the store works while they are delivered.
 * lanes_next() has it if each of its lanes is then just where these events end; what was parked is
 * judged there. To be called between lanes_next() and lanes_settle(), or not at all. */
bool lanes_read_ahead(struct lanes *lanes, const struct delivery *delivery,
                      struct error *err) MUST_CHECK;

/* Marks those whose key was parked since. */
void lanes_mark_parked(struct lanes *lanes, struct delivery *delivery);

/* Saves what became of the items; of each lane up to the first that is open. `within` may be NULL.
 * *saved is false when nothing was: a lane was taken over, or a parked key is not parked any more.
 * A failure of `within` leaves nothing behind. */
bool lanes_settle(struct lanes *lanes, const struct delivery *delivery,
                  const struct lanes_within *within, struct lanes_round *round, bool *saved,
                  struct error *err) MUST_CHECK;

/* Events are left in the lanes that are held. */
bool lanes_has_more(const struct lanes *lanes);

/* ---- parked keys ---- */

struct trying {
    struct parked *keys[LANES_RETRY_KEYS];
    size_t count;
    bool lanes[OUTBOX_LANES];        /* theirs */
    struct stream_event_list events; /* of all keys, one after the other */
    size_t ends[LANES_RETRY_KEYS];
    bool is_whole[LANES_RETRY_KEYS]; /* nothing waits behind these events */
    struct delivery delivery;        /* of the events */
};

/* Up to keys_max keys that are due, and what waits for them; writes down that a try begins. None is
 * due: count is 0. */
bool lanes_due(struct lanes *lanes, const struct lanes_filter *filter, size_t keys_max,
               struct trying *trying, struct lanes_round *round, struct error *err) MUST_CHECK;

/* Writes down how far each key came. `within` may be NULL. *saved is false when nothing was. */
bool lanes_tried(struct lanes *lanes, struct trying *trying, const struct lanes_within *within,
                 struct lanes_round *round, bool *saved, struct error *err) MUST_CHECK;

/* When the first parked key is due that may be tried. INT64_MAX: none. */
int64_t lanes_due_us(const struct lanes *lanes);

#endif
