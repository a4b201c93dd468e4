/* waves: a batch cut into parts in which each key is there at most once.
 *
 *      batch    a1 b1 a2 c1 a3 b2
 *      waves    a1 b1 c1 | a2 b2 | a3
 *
 * The first of each key, then the second of each, and so on; so the messages of a wave can be sent
 * all at once, and a later wave when the one before is acknowledged. The order of a key is kept,
 * and items of one wave are in the order of the batch.
 */
#ifndef PATRA_CORE_WAVES_H
#define PATRA_CORE_WAVES_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/str.h"

struct waves {
    size_t *order; /* items, wave by wave */
    size_t *ends;  /* by wave: where it ends in `order` */
    size_t count;
    size_t *keys; /* by item: the number of its key, from 0 */
    size_t key_count;
};

/* It lives in the arena. */
bool waves_cut(struct arena *arena, const struct str *keys, size_t count, struct waves *waves,
               struct error *err) MUST_CHECK;

#endif
