/* gaps: numbers that were given out and have not been seen.
 *
 * Numbers are drawn one by one, and what has them appears in any order, or never. A reader goes
 * from number to number and keeps what it passed over:
 *
 *      seen     1 2 3 . . 6 . 8        cursor 8, gaps 4-5 and 7
 *                     ^ horizon 3      all up to it is settled: seen, or dead
 *
 *      gaps_see(8)      a number beyond the cursor: what lies between becomes a gap
 *      gaps_fill(5)     one that was passed over appears: its gap shrinks or falls into two
 *      gaps_settle(4)   up to it nothing more will appear: gaps up to it are dead
 *
 * Nothing here knows when a gap is dead: that is the caller's to prove.
 */
#ifndef PATRA_CORE_GAPS_H
#define PATRA_CORE_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gap {
    int64_t first;
    int64_t last; /* inclusive */
};

struct gaps {
    struct gap *items; /* in order, none touches another; the caller's memory */
    size_t count;
    size_t room;
    int64_t cursor; /* the highest number seen or passed over */
};

/* No gaps, everything up to the cursor settled. */
void gaps_init(struct gaps *gaps, struct gap *items, size_t room, int64_t cursor);

/* The cursor moves on to `number`, which is not below it; what it passes over is a gap. False, with
 * nothing changed, when there is no room for it. */
bool gaps_pass(struct gaps *gaps, int64_t number);

/* `number` is beyond the cursor. False, with nothing changed, when there is no room for the gap. */
bool gaps_see(struct gaps *gaps, int64_t number);

/* `number` is not beyond the cursor. False, with nothing changed, when it would divide a gap and
 * there is no room. One that is in no gap changes nothing. */
bool gaps_fill(struct gaps *gaps, int64_t number);

bool gaps_has(const struct gaps *gaps, int64_t number);
void gaps_settle(struct gaps *gaps, int64_t up_to);

/* Everything up to it is settled. */
int64_t gaps_horizon(const struct gaps *gaps);

#endif
