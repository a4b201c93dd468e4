#include "core/watermark.h"

#include <assert.h>

int64_t watermark_low(int64_t cursor_us, const struct window *covered, size_t count)
{
    int64_t low_us = cursor_us;

    for (size_t i = 0; i < count; i++) {
        assert(window_is_valid(covered[i]));
        assert(i == 0 || covered[i - 1].from_us <= covered[i].from_us);
        if (covered[i].from_us > low_us)
            break; /* the first gap; whatever lies behind it must wait */
        if (covered[i].to_us > low_us)
            low_us = covered[i].to_us;
    }
    assert(low_us >= cursor_us);
    return low_us;
}
