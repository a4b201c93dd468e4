/* retry: whether to retry, and after how long.
 *
 * Delays grow from `delay_min` by `multiplier` up to `delay_max`, and are spread by `jitter` so
 * that workers that failed together do not retry together. Random bits are a parameter.
 *
 *      attempt that failed   1        2        3        4     ...   from the ninth on
 *      delay, +-20 %         100 ms   200 ms   400 ms   800 ms      25.6 s, then 24 to 30 s
 *
 * What the server says takes precedence: a Retry-After is never shortened. A Retry-After of zero,
 * or in the past, is ignored, and the computed delay applies.
 */
#ifndef PATRA_CORE_RETRY_H
#define PATRA_CORE_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "core/source_codes.h"

struct retry_policy {
    enum backoff backoff;
    int64_t delay_min_us;
    int64_t delay_max_us;
    int multiplier_permille; /* 2000 doubles; at least 1000 */
    int jitter_permille;     /* 200: up to a fifth more or less; below 1000 */
    int attempts_max;        /* the first one included; at most RETRY_ATTEMPTS_MAX */
};

/* Exponential with jitter, 100 ms, 30 s, 2.0, 20 %, five attempts. */
struct retry_policy retry_default(void);

/* True if another attempt may be made after `attempts` failures, the last one at `level`. */
bool retry_may(const struct retry_policy *policy, enum error_level level, int attempts);

/* The wait before the next attempt. `attempt` counts those that failed, from 1; `random` is any 64
 * random bits; `retry_after_us` is the server's Retry-After, 0 if there is none. */
int64_t retry_delay_us(const struct retry_policy *policy, int attempt, uint64_t random,
                       int64_t retry_after_us);

#endif
