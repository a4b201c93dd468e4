/* store_prune: removes events that everybody has read, from the outbox and the stream.
 *
 *      lane   1 2 3 4 5 6 7 8 9 ...
 *             ─────────│───────│────▶
 *              removed  held    younger than :before
 *
 * An event is removed when it
 *   - entered the stream before an instant,
 *   - is below the horizon: a new sequencer reads from the stream what is above,
 *   - was passed by every subscription, whatever its state: one that is paused reads on some day,
 *   - does not wait for a parked key: neither it nor a later one of its lane,
 *   - and all events before it in its lane go, too: a lane's positions have no gaps, whatever it
 * begins with.
 *
 * Records are not touched: whoever begins later, or again, reads them. What had an event that is
 * gone is unknown from then on; store_prune_last() says up to which one that may be.
 */
#ifndef PATRA_PORT_STORE_PRUNE_H
#define PATRA_PORT_STORE_PRUNE_H

#include "port/store.h"

/* A transaction of this size takes some 20 ms; nobody waits for it longer. */
enum { PRUNE_EVENTS_MAX = 5000 };

/* Who makes or moves an offset holds this lock, so that what it begins with is not removed
 * meanwhile. */
#define STORE_PRUNE_LOCK STR("stream.prune")

/* What older events wait for. */
struct prune_held {
    int64_t events;          /* that entered the stream before the instant, and are still there */
    struct str subscription; /* the one that is furthest behind; '': none */
    int64_t behind;          /* its events */
    int64_t parked;          /* keys, of all subscriptions */
};

struct store_prune_ops {
    bool (*run)(struct store *store, struct arena *arena, int64_t before_us, int64_t *events,
                struct error *err);
    bool (*count)(struct store *store, int64_t before_us, int64_t *events, struct error *err);
    bool (*held)(struct store *store, struct arena *arena, int64_t before_us,
                 struct prune_held *held, struct error *err);
    bool (*last)(struct store *store, int64_t *id, struct error *err);
};

/* Removes about PRUNE_EVENTS_MAX events, the oldest, in a transaction of its own. *events counts
 * them; 0: there are no more. */
static inline bool MUST_CHECK store_prune_run(struct store *store, struct arena *arena,
                                              int64_t before_us, int64_t *events, struct error *err)
{
    assert(store->state == STORE_IDLE);
    return store->prune->run(store, arena, before_us, events, err);
}

/* How many events could be removed now. */
static inline bool MUST_CHECK store_prune_count(struct store *store, int64_t before_us,
                                                int64_t *events, struct error *err)
{
    return store->prune->count(store, before_us, events, err);
}

static inline bool MUST_CHECK store_prune_held(struct store *store, struct arena *arena,
                                               int64_t before_us, struct prune_held *held,
                                               struct error *err)
{
    return store->prune->held(store, arena, before_us, held, err);
}

/* The highest id of the events that were removed; 0: none was. Those above it are all there. */
static inline bool MUST_CHECK store_prune_last(struct store *store, int64_t *id, struct error *err)
{
    return store->prune->last(store, id, err);
}

#endif
