/* tally: a bounded table from a 64-bit hash to a few numbers.
 *
 * Used to remember pages served and attempts made. It grows up to its limit; then new keys are
 * refused, and the caller counts them.
 */
#ifndef PATRA_SIM_UTIL_TALLY_H
#define PATRA_SIM_UTIL_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally_entry {
    uint64_t key;
    uint64_t count;   /* 0 marks a free entry: the caller sets it to at least 1 */
    uint64_t ordinal; /* the caller's */
    int64_t at_us;    /* the caller's */
};

struct tally {
    struct tally_entry *entries;
    size_t capacity; /* a power of two, or 0 */
    size_t used;
    size_t limit;
};

void tally_init(struct tally *tally, size_t limit);
void tally_release(struct tally *tally);
void tally_clear(struct tally *tally);

/* The key's entry, with count 0 when it is new; NULL when the table is full. Valid until the next
 * call. */
struct tally_entry *tally_at(struct tally *tally, uint64_t key);

#endif
