/* retry: the growth and spread of delays. */
#include "core/retry.h"

#include <assert.h>

#include "base/instant.h"
#include "core/limits.h"

struct retry_policy retry_default(void)
{
    return (struct retry_policy){
        .backoff = BACKOFF_EXPONENTIAL_JITTER,
        .delay_min_us = 100 * US_PER_MS,
        .delay_max_us = 30 * US_PER_SECOND,
        .multiplier_permille = 2000,
        .jitter_permille = 200,
        .attempts_max = 5,
    };
}

bool retry_may(const struct retry_policy *policy, enum error_level level, int attempts)
{
    assert(policy->attempts_max <= RETRY_ATTEMPTS_MAX);
    return level == ERROR_TRANSIENT && attempts < policy->attempts_max;
}

static int64_t grown(const struct retry_policy *policy, int attempt)
{
    __int128 delay_us = policy->delay_min_us;

    if (policy->backoff != BACKOFF_FIXED) {
        for (int i = 1; i < attempt && delay_us < policy->delay_max_us; i++)
            delay_us = delay_us * policy->multiplier_permille / 1000;
    }
    return delay_us < policy->delay_max_us ? (int64_t)delay_us : policy->delay_max_us;
}

/* A value between the two, in proportion to 64 random bits. */
static int64_t between(int64_t low, int64_t high, uint64_t random)
{
    return low + (int64_t)((unsigned __int128)(uint64_t)(high - low + 1) * random >> 64);
}

int64_t retry_delay_us(const struct retry_policy *policy, int attempt, uint64_t random,
                       int64_t retry_after_us)
{
    const int64_t delay_us = grown(policy, attempt);
    const int64_t spread_us = (int64_t)((__int128)delay_us * policy->jitter_permille / 1000);
    int64_t own_us = delay_us;

    assert(attempt >= 1);
    assert(policy->multiplier_permille >= 1000);
    assert(policy->jitter_permille >= 0 && policy->jitter_permille < 1000);
    if (policy->backoff == BACKOFF_EXPONENTIAL_JITTER) {
        const int64_t most_us = delay_us + spread_us;

        own_us = between(delay_us - spread_us,
                         most_us < policy->delay_max_us ? most_us : policy->delay_max_us, random);
    }
    return retry_after_us > own_us ? retry_after_us : own_us;
}
