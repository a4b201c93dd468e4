/* watermark: the end of the covered run, held back by second looks. */
#include "core/watermark.h"

#include <assert.h>

int64_t watermark_low(int64_t cursor_us, const struct window *covered, size_t count)
{
    int64_t low_us = cursor_us;

    for (size_t i = 0; i < count; i++) {
        assert(window_is_valid(covered[i]));
        assert(i == 0 || covered[i - 1].from_us <= covered[i].from_us);
        if (covered[i].from_us > low_us)
            break; /* the first gap; everything after it must wait */
        if (covered[i].to_us > low_us)
            low_us = covered[i].to_us;
    }
    assert(low_us >= cursor_us);
    return low_us;
}

int64_t watermark_held(int64_t cursor_us, int64_t late_us, struct window_list owed, int64_t low_us)
{
    const int64_t reach_us = cursor_us - late_us;

    assert(late_us >= 0);
    assert(low_us >= cursor_us);
    for (size_t i = 0; late_us > 0 && i < owed.count; i++) {
        const int64_t from_us = owed.items[i].from_us > reach_us ? owed.items[i].from_us : reach_us;

        if (owed.items[i].to_us <= reach_us)
            continue; /* the cursor had passed it before: the lookback was extended later */
        return from_us + late_us < low_us ? from_us + late_us : low_us;
    }
    return low_us;
}
