/* window: the few operations on one or two windows. */
#include "core/window.h"

bool window_is_valid(struct window window)
{
    return window.from_us < window.to_us;
}

int64_t window_length_us(struct window window)
{
    return window_is_valid(window) ? window.to_us - window.from_us : 0;
}

bool window_contains(struct window outer, struct window inner)
{
    if (!window_is_valid(inner))
        return true;
    return outer.from_us <= inner.from_us && inner.to_us <= outer.to_us;
}

struct window window_intersect(struct window a, struct window b)
{
    return (struct window){
        .from_us = a.from_us > b.from_us ? a.from_us : b.from_us,
        .to_us = a.to_us < b.to_us ? a.to_us : b.to_us,
    };
}
