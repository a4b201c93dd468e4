/* retry_policy: what a source's settings say about retries, as core/retry.h wants it. */
#ifndef PATRA_ENGINE_SOURCE_RETRY_POLICY_H
#define PATRA_ENGINE_SOURCE_RETRY_POLICY_H

#include "core/retry.h"
#include "spec/spec.h"

static inline struct retry_policy retry_policy_of(const struct spec_retry *retry)
{
    return (struct retry_policy){
        .backoff = retry->backoff,
        .delay_min_us = retry->min_delay_us,
        .delay_max_us = retry->max_delay_us,
        .multiplier_permille = (int)(retry->multiplier * 1000 + 0.5),
        .jitter_permille = retry->jitter < 0.999 ? (int)(retry->jitter * 1000 + 0.5) : 999,
        .attempts_max = retry->max_attempts,
    };
}

#endif
