/* bits: a bit set that counts its bits, and finds the n-th one.
 *
 * A Fenwick tree counts the bits of blocks; flipping, ranking and selecting are O(log n).
 */
#ifndef PATRA_SIM_WORLD_BITS_H
#define PATRA_SIM_WORLD_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bits {
    uint32_t count;
    uint64_t *words;
    uint32_t *tree; /* tree[i] (from 1) holds the bits of the (i & -i) blocks up to block i-1 */
};

bool bits_open(struct bits *bits, uint32_t count); /* all clear; false: no memory */
void bits_close(struct bits *bits);

/* The bit must have the other value before. */
void bits_flip(struct bits *bits, uint32_t place, bool on);

/* To set many at once: clear all, set some, then recount. */
void bits_clear(struct bits *bits);
void bits_set_uncounted(struct bits *bits, uint32_t place);
void bits_recount(struct bits *bits);

size_t bits_rank(const struct bits *bits, uint32_t place); /* how many are set before it */

/* The place of the set bit with that rank; there must be one. */
uint32_t bits_select(const struct bits *bits, size_t rank);

/* The next set bit at or after `place`, or `end`. */
uint32_t bits_next(const struct bits *bits, uint32_t place, uint32_t end);

#endif
