/* give_up: what waits for a parked key will not be delivered: a person decides so.
 *
 * Each of these events becomes a dead letter, as it would have been published, in the transaction
 * that ends the key's parking: nothing vanishes. The key's next event is delivered again.
 */
#ifndef PATRA_ENGINE_LANES_GIVE_UP_H
#define PATRA_ENGINE_LANES_GIVE_UP_H

#include "base/attr.h"
#include "port/store_parked.h"

struct give_up {
    struct store *store;  /* has the parked keys */
    struct store *stream; /* has the events; may be the same */
    struct offset_key key;
    struct str aggregate_id;
    struct str reason;
    int64_t now_us;
};

struct given_up {
    int64_t keys; /* 0: none of this id is parked */
    int64_t events;
    int64_t from_version; /* of the last key */
    int64_t to_version;
};

/* L1 "parked.changed" when the key went on while it was given up: again. */
bool give_up(const struct give_up *request, struct given_up *given, struct error *err) MUST_CHECK;

/* One event becomes a dead letter, in the transaction that is open. */
struct burial {
    struct offset_key key;
    const struct parked *parked;
    const struct stream_event *event;
    struct str reason;
    int64_t now_us;
};
bool bury_event(struct store *store, struct arena *arena, const struct burial *burial,
                struct error *err) MUST_CHECK;

#endif
