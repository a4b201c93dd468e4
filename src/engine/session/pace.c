/* Waits of loops. */
#include "engine/session/pace.h"

int64_t pace_longer_us(int64_t wait_us, int64_t most_us)
{
    const int64_t twice_us = wait_us > 0 ? 2 * wait_us : PACE_MIN_US;

    return twice_us < most_us ? twice_us : most_us;
}

int64_t pace_with_chance_us(struct random_source *random, int64_t wait_us)
{
    const int64_t range_us = wait_us * 2 / 5;

    return range_us == 0
               ? wait_us
               : wait_us - range_us / 2 + (int64_t)(random_source_u64(random) % (uint64_t)range_us);
}
