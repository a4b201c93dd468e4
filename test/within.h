/* within: whether an instant is in a window; for models that check the interval code. */
#ifndef PATRA_TEST_WITHIN_H
#define PATRA_TEST_WITHIN_H

#include "core/window.h"

static inline bool is_within(struct window window, int64_t at_us)
{
    return window.from_us <= at_us && at_us < window.to_us;
}

#endif
