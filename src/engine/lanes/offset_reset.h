/* offset_reset: a person moves a subscription, forth or back.
 *
 *      offset_reset_plan()   what it would mean: events again, events left out, keys forgotten
 *      offset_reset_run()    does it
 *
 * Its readers are overtaken; from the new positions on, each lane is delivered as the stream has
 * it, and its parked keys are forgotten. A row per lane says who moved it, from where, and why
 * (ing_offset_reset). Lanes that would stay where they are, without parked keys, are left alone.
 *
 * Where a sink has the offsets, its own are moved first and the store's copy after them, under the
 * lock that retention and readers take (store_offset_tell): what the new positions begin with is
 * there.
 */
#ifndef PATRA_ENGINE_LANES_OFFSET_RESET_H
#define PATRA_ENGINE_LANES_OFFSET_RESET_H

#include "base/attr.h"
#include "port/store_parked.h"

enum reset_kind {
    RESET_EARLIEST, /* the oldest event of the stream */
    RESET_LATEST,   /* events to come */
    RESET_TIME,     /* the first event that came at an instant or later */
    RESET_POSITION, /* of one lane: the event at this position is next */
    RESET_EVENT,    /* of its lane: this event is next */
};

enum { RESET_ALL_LANES = -1 };

struct offset_reset {
    struct store *store;  /* has the offsets */
    struct store *stream; /* has the events; may be the same */
    struct offset_key key;
    enum reset_kind kind;
    int64_t at_us;
    int64_t pos;
    struct str event_id;
    int64_t lane; /* or RESET_ALL_LANES */
    struct str reason;
    struct str by;
    int64_t now_us;
};

struct reset_lane {
    int64_t lane;
    int64_t from; /* as far as the stream's database knows */
    int64_t to;
};

struct reset_plan {
    struct reset_lane lanes[OUTBOX_LANES];
    size_t count;
    int64_t again;    /* events that are delivered again */
    int64_t left_out; /* events that are not delivered */
    int64_t parked;   /* keys that are forgotten */
};

/* "offset.event" (L2) when the stream does not have the event, or not any more. */
bool offset_reset_plan(const struct offset_reset *reset, struct arena *arena,
                       struct reset_plan *plan, struct error *err) MUST_CHECK;

/* *plan is what was done. */
bool offset_reset_run(const struct offset_reset *reset, struct arena *arena,
                      struct reset_plan *plan, struct error *err) MUST_CHECK;

#endif
