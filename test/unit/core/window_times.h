/* window_times: the instants that tests of window decisions use. */
#ifndef PATRA_TEST_UNIT_CORE_WINDOW_TIMES_H
#define PATRA_TEST_UNIT_CORE_WINDOW_TIMES_H

#include "base/instant.h"

#define H US_PER_HOUR
#define D US_PER_DAY

/* Tuesday, 2026-03-10T12:00:00Z, spelled out so that the rows below can be constants. */
#define NOW INT64_C(1773144000000000)
#define SAFE (NOW - LAG)
#define LAG (10 * US_PER_MINUTE)
#define SIZE (7 * D)
#define LOOKBACK (6 * H)

#define AT(us)     \
    {              \
        true, (us) \
    }
#define ABSENT   \
    {            \
        false, 0 \
    }

#endif
