/* window: a half-open period of time, [from, to), in UTC microseconds.
 *
 * A record dated exactly `to` belongs to the next window, one dated exactly `from` to this one; so
 * adjacent windows neither overlap nor leave a gap.
 */
#ifndef PATRA_CORE_WINDOW_H
#define PATRA_CORE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window {
    int64_t from_us; /* the first instant inside */
    int64_t to_us;   /* the first instant after it */
};

/* A borrowed list; each use documents its order. */
struct window_list {
    struct window *items;
    size_t count;
};

/* True for a window that holds at least one instant. */
bool window_is_valid(struct window window);

int64_t window_length_us(struct window window); /* 0 if it is not valid */

/* True if `inner` is completely inside; an empty inner window always is. */
bool window_contains(struct window outer, struct window inner);

/* The common part. Without a common instant the result is not valid. */
struct window window_intersect(struct window a, struct window b);

#endif
