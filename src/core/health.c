/* health: the circuit, and the shares measured over two spans. */
#include "core/health.h"

#include <assert.h>

#include "base/instant.h"

struct health_policy health_default(void)
{
    return (struct health_policy){
        .failures_max = 3,
        .open_us = US_PER_MINUTE,
        .throttled_permille = 50,
        .failed_permille = 50,
        .slow_us = 3 * US_PER_SECOND,
        .span_us = 5 * US_PER_MINUTE,
        .requests_min = 20,
    };
}

/* Starts a new span when the current one is over. */
static void turn_span(struct health *health, const struct health_policy *policy, int64_t now_us)
{
    const int64_t age_us = now_us - health->span_from_us;

    if (health->span_from_us != 0 && age_us >= 0 && age_us < policy->span_us)
        return;
    if (health->span_from_us != 0 && age_us >= 0 && age_us < 2 * policy->span_us)
        health->spans[1] = health->spans[0];
    else
        health->spans[1] = (struct health_span){ 0 };
    health->spans[0] = (struct health_span){ 0 };
    health->span_from_us = now_us;
}

void health_note(struct health *health, const struct health_policy *policy,
                 const struct health_sample *sample)
{
    struct health_span *span = &health->spans[0];

    assert(policy->failures_max > 0);
    turn_span(health, policy, sample->now_us);
    span->requests += sample->requests;
    span->throttled += sample->throttled;
    span->failed += sample->failed;
    if (!sample->is_failure) {
        span->pages++;
        span->latency_us += sample->latency_us;
        health->failures = 0;
        return;
    }
    if (health->failures < policy->failures_max)
        health->failures++;
    if (health->failures == policy->failures_max) /* and again with every further failure */
        health->open_until_us =
            sample->now_us + policy->open_us +
            (policy->open_us > 0 ? (int64_t)(sample->random % (uint64_t)policy->open_us) : 0);
}

bool health_is_open(const struct health *health, int64_t now_us)
{
    return now_us < health->open_until_us;
}

int64_t health_live_max(const struct health *health, const struct health_policy *policy,
                        int64_t live_max, int64_t now_us)
{
    const struct health_span *a = &health->spans[0], *b = &health->spans[1];
    const int64_t requests = a->requests + b->requests;
    const int64_t throttled = a->throttled + b->throttled;
    const int64_t failed = a->failed + b->failed;
    const int64_t pages = a->pages + b->pages;
    const int64_t latency_us = a->latency_us + b->latency_us;
    const bool is_old =
        health->span_from_us == 0 || now_us - health->span_from_us >= 2 * policy->span_us;
    const bool is_throttled = requests >= policy->requests_min &&
                              throttled * 1000 > requests * policy->throttled_permille;
    const bool is_failing =
        requests >= policy->requests_min && failed * 1000 > requests * policy->failed_permille;
    const bool is_slow = pages >= policy->requests_min && latency_us > pages * policy->slow_us;

    assert(live_max >= 1);
    if (health->failures >= policy->failures_max)
        return 1; /* the probe */
    if (is_old || (!is_throttled && !is_failing && !is_slow))
        return live_max;
    return live_max > 1 ? live_max / 2 : 1;
}
