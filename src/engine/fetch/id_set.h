/* id_set: which ids were seen, in bounded memory.
 *
 * It holds 64-bit hashes, not ids. Among a million ids two share a hash with a chance of one in
 * forty million; one record then counts as a duplicate, which is checked, not lost. At ID_SET_MAX
 * ids the set is full: every further id counts as new, and with is_full counts prove nothing.
 */
#ifndef PATRA_ENGINE_FETCH_ID_SET_H
#define PATRA_ENGINE_FETCH_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/str.h"

/* At most 16 MiB of table. In practice slices with more records are re-sliced first: all known
 * sources have a cap or a window far below. */
#define ID_SET_MAX (UINT32_C(1) << 20)

struct id_set {
    struct arena *arena;
    uint64_t *slots; /* 0: free */
    size_t capacity; /* a power of two, or 0 */
    size_t count;
    bool is_full;
};

void id_set_init(struct id_set *set, struct arena *arena);
void id_set_clear(struct id_set *set); /* keeps the memory */

uint64_t id_set_hash(struct str id); /* never 0 */

/* *is_new: it was not in the set. False when the arena is full. */
bool id_set_add(struct id_set *set, uint64_t hash, bool *is_new, struct error *err) MUST_CHECK;
bool id_set_has(const struct id_set *set, uint64_t hash);

#endif
