/* park: the parked keys of a subscription, in memory.
 *
 * A copy of what the store has (port/store_parked.h), so that each event can be looked up at no
 * cost. It is read again when lanes are attended to: people change rows too. Where the copy is
 * wrong, a pass over fails and tells.
 */
#ifndef PATRA_ENGINE_LANES_PARK_H
#define PATRA_ENGINE_LANES_PARK_H

#include "port/store_parked.h"

struct park {
    struct arena arena;
    struct parked_list list; /* of all lanes */
    size_t *slots;           /* open addressing: 1 + index in the list; 0: free */
    size_t size;             /* a power of two */
    size_t room;             /* how many keys fit */
};

void park_init(struct park *park);
void park_release(struct park *park);

/* Up to `most` keys, with room for `more`. L1 "lanes.parked" when there are more than that. */
struct park_limits {
    size_t most;
    size_t more;
};
bool park_load(struct park *park, struct store *store, const struct offset_key *key,
               const struct park_limits *limits, struct error *err) MUST_CHECK;

/* NULL: it is not parked. Valid until the next park_load() or park_add(). */
struct parked *park_find(struct park *park, struct str type, struct str id);

/* Copies it. False when there is no room: load again. */
bool park_add(struct park *park, const struct parked *parked) MUST_CHECK;

/* It is not parked any more. */
void park_forget(struct park *park, struct parked *parked);
static inline bool park_is_forgotten(const struct parked *parked)
{
    return parked->head_version == 0;
}

#endif
