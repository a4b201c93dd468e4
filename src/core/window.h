/* window: a half-open stretch of time, [from, to), in UTC microseconds.
 *
 * A record dated exactly `to` belongs to the next window, one dated exactly `from` to this one; so
 * windows laid end to end share nothing and leave nothing out.
 */
#ifndef PATRA_CORE_WINDOW_H
#define PATRA_CORE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window {
    int64_t from_us; /* the first instant inside */
    int64_t to_us;   /* the first instant behind */
};

/* A list somebody else owns; its order is told where it is used. */
struct window_list {
    struct window *items;
    size_t count;
};

/* True for a window that holds at least one instant. */
bool window_is_valid(struct window window);

int64_t window_length_us(struct window window); /* 0 when it is not valid */

/* True when `inner` lies wholly inside; an inner window without an instant always does. */
bool window_contains(struct window outer, struct window inner);

/* What both hold. Without a common instant the result is not valid. */
struct window window_intersect(struct window a, struct window b);

#endif
