/* bucket: refill, waiting line, demotion and recovery of the rate. */
#include "core/bucket.h"

#include <assert.h>

#include "base/instant.h"

/* ---- tokens ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t ceiling_of(const struct bucket *bucket, const struct bucket_config *config)
{
    if (bucket->provider_rate == 0)
        return config->rate_max;
    return least(config->rate_max, bucket->provider_rate);
}

static void assert_config(const struct bucket_config *config)
{
    assert(config->rate_min > 0);
    assert(config->rate_max >= config->rate_min);
    assert(config->burst > 0);
    assert(config->demote_permille >= 1000);
}

struct bucket bucket_start(const struct bucket_config *config, int64_t now_us)
{
    assert_config(config);
    return (struct bucket){
        .tokens = config->burst,
        .refilled_at_us = now_us,
        .rate = config->warmup_us > 0 ? most(config->rate_max / 10, config->rate_min)
                                      : config->rate_max,
        .raised_at_us = now_us,
        .demoted_at_us = INT64_MIN,
        .started_at_us = now_us,
    };
}

/* Adds the tokens since the last refill. The remainder of the division is carried: at a tenth of a
 * permit per second, a refill every microsecond would otherwise never add anything. */
static void refill(struct bucket *bucket, const struct bucket_config *config, int64_t now_us)
{
    const int64_t rate = least(bucket->rate, ceiling_of(bucket, config));
    __int128 flow;

    if (now_us <= bucket->refilled_at_us)
        return;
    flow = (__int128)rate * (now_us - bucket->refilled_at_us) + bucket->carry;
    bucket->refilled_at_us = now_us;
    if (flow / US_PER_SECOND >= config->burst - bucket->tokens) {
        bucket->tokens = config->burst;
        bucket->carry = 0;
    } else {
        bucket->tokens += (int64_t)(flow / US_PER_SECOND);
        bucket->carry = (int64_t)(flow % US_PER_SECOND);
    }
}

/* The time it takes to add `amount`. */
static int64_t time_for(const struct bucket *bucket, const struct bucket_config *config,
                        int64_t amount)
{
    const int64_t rate = least(bucket->rate, ceiling_of(bucket, config));
    const __int128 flow = (__int128)amount * US_PER_SECOND - bucket->carry;

    return amount > 0 ? (int64_t)((flow + rate - 1) / rate) : 0;
}

/* ---- before a request ---- */

/* When a request that cannot be sent now should try again. */
static int64_t place_in_line(const struct bucket *bucket, const struct bucket_config *config,
                             const struct bucket_ask *ask)
{
    const int64_t need_us = time_for(bucket, config, ask->cost - bucket->tokens);
    const int64_t step_us = time_for(bucket, config, ask->cost);
    const int64_t open_us = most(ask->now_us, bucket->cooldown_until_us);

    /* A waiter that wakes slightly early waits the rest and keeps its place. */
    if (ask->is_waking && open_us == ask->now_us && need_us < step_us)
        return ask->now_us + need_us;
    if (bucket->line_until_us > ask->now_us)
        return most(bucket->line_until_us, open_us) + step_us;
    return most(ask->now_us + need_us, open_us);
}

struct bucket_answer bucket_acquire(struct bucket *bucket, const struct bucket_config *config,
                                    const struct bucket_ask *ask)
{
    const bool is_overtaking = !ask->is_waking && bucket->line_until_us > ask->now_us;
    int64_t at_us;

    assert_config(config);
    assert(ask->cost > 0);
    if (ask->cost > config->burst)
        return (struct bucket_answer){ .decision = RATE_REJECT, .refusal = BUCKET_REFUSED_COST };
    refill(bucket, config, ask->now_us);
    if (bucket->tokens >= ask->cost && !is_overtaking && ask->now_us >= bucket->cooldown_until_us) {
        bucket->tokens -= ask->cost;
        return (struct bucket_answer){ .decision = RATE_ALLOW, .at_us = ask->now_us };
    }
    at_us = place_in_line(bucket, config, ask);
    if (at_us > ask->deadline_us)
        return (struct bucket_answer){ .decision = RATE_REJECT,
                                       .at_us = at_us,
                                       .refusal = BUCKET_REFUSED_DEADLINE };
    bucket->line_until_us = most(bucket->line_until_us, at_us);
    return (struct bucket_answer){ .decision = RATE_WAIT, .at_us = at_us };
}

/* ---- after a request ---- */

/* 5 to 15 % of a length, at most five seconds. */
static int64_t jitter_us(int64_t length_us, uint64_t random)
{
    const int64_t permille = 50 + (int64_t)(random % 101);

    return least((int64_t)((__int128)length_us * permille / 1000), 5 * US_PER_SECOND);
}

static void cool_down(struct bucket *bucket, int64_t now_us, int64_t until_us, uint64_t random)
{
    if (until_us <= now_us)
        return;
    until_us = least(until_us, INSTANT_MAX - 5 * US_PER_SECOND);
    until_us += jitter_us(until_us - now_us, random);
    bucket->cooldown_until_us = most(bucket->cooldown_until_us, until_us);
}

/* A 429 says that the rate is too high, and may lower it to rate_min. A 5xx may have any cause, and
 * many in a row would reduce a healthy rate to nothing: it counts once per cool_down and leaves at
 * least 30 %. */
static void demote(struct bucket *bucket, const struct bucket_config *config,
                   const struct bucket_signal *signal)
{
    const bool is_failing = signal->outcome == BUCKET_FAILING;
    const bool has_demoted = bucket->demoted_at_us != INT64_MIN;
    const int64_t floor =
        is_failing ? most(config->rate_min, config->rate_max / 10 * 3) : config->rate_min;
    int64_t rate;

    /* Responses to requests sent before the last demotion say nothing about the new rate. */
    if (has_demoted && signal->sent_at_us <= bucket->demoted_at_us)
        return;
    if (has_demoted && is_failing && signal->now_us - bucket->demoted_at_us < config->cool_down_us)
        return;
    bucket->tokens = least(bucket->tokens, 0);
    bucket->carry = 0;
    if (!config->is_adaptive)
        return;
    rate = (int64_t)((__int128)bucket->rate * 1000 / config->demote_permille);
    bucket->rate = most(rate, least(bucket->rate, floor));
    bucket->demoted_at_us = signal->now_us;
    bucket->raised_at_us = signal->now_us;
}

static void promote(struct bucket *bucket, const struct bucket_config *config, int64_t now_us)
{
    const int64_t age_us = now_us - bucket->started_at_us;
    int64_t rate = bucket->rate;

    if (bucket->demoted_at_us == INT64_MIN && config->warmup_us > 0) {
        rate = age_us >= config->warmup_us
                   ? config->rate_max
                   : most(rate, (int64_t)((__int128)config->rate_max * most(age_us, 0) /
                                          config->warmup_us));
    } else if (config->is_adaptive && now_us - bucket->raised_at_us >= config->cool_down_us) {
        rate += config->increase;
    }
    rate = least(rate, ceiling_of(bucket, config));
    if (rate > bucket->rate) {
        bucket->rate = rate;
        bucket->raised_at_us = now_us;
    }
}

void bucket_feedback(struct bucket *bucket, const struct bucket_config *config,
                     const struct bucket_signal *signal)
{
    assert_config(config);
    refill(bucket, config, signal->now_us); /* at the old rate, up to now */
    if (signal->provider_rate > 0)
        bucket->provider_rate = signal->provider_rate;
    if (signal->outcome == BUCKET_OK)
        promote(bucket, config, signal->now_us);
    else
        demote(bucket, config, signal);
    if (signal->retry_after_us > 0)
        cool_down(bucket, signal->now_us,
                  signal->now_us + least(signal->retry_after_us, INSTANT_MAX - signal->now_us),
                  signal->random);
    if (signal->has_remaining) {
        /* Only ever less: a large remainder does not raise the configured rate. */
        if (signal->remaining < bucket->tokens / MICRO)
            bucket->tokens = most(signal->remaining, 0) * MICRO;
        if (signal->remaining <= 0 && signal->reset_at_us > 0)
            cool_down(bucket, signal->now_us, signal->reset_at_us, signal->random);
    }
}

/* ---- between times ---- */

void bucket_fit(struct bucket *bucket, const struct bucket_config *config)
{
    if (!config->is_adaptive || (bucket->demoted_at_us == INT64_MIN && config->warmup_us == 0))
        bucket->rate = config->rate_max;
    bucket->rate = most(bucket->rate, config->rate_min);
    bucket->tokens = least(bucket->tokens, config->burst);
}

/* How long the rate takes to rise to its maximum. */
static int64_t rise_us(const struct bucket *bucket, const struct bucket_config *config,
                       int64_t now_us)
{
    const int64_t left = ceiling_of(bucket, config) - bucket->rate;

    if (left <= 0)
        return 0;
    if (bucket->demoted_at_us == INT64_MIN && config->warmup_us > 0)
        return most(bucket->started_at_us + config->warmup_us - now_us, 0);
    if (!config->is_adaptive || config->increase <= 0)
        return INSTANT_MAX - now_us;
    return (int64_t)((__int128)((left - 1) / config->increase + 1) * config->cool_down_us);
}

struct bucket_outlook bucket_outlook(const struct bucket *bucket,
                                     const struct bucket_config *config, int64_t now_us)
{
    const int64_t ceiling = ceiling_of(bucket, config);
    const int64_t rate = least(bucket->rate, ceiling);
    struct bucket_outlook outlook = { .open_us = most(now_us, bucket->cooldown_until_us),
                                      .steady_rate = ceiling };
    struct bucket copy = *bucket;
    int64_t length_us;

    refill(&copy, config, outlook.open_us);
    length_us = least(rise_us(bucket, config, outlook.open_us), INSTANT_MAX - outlook.open_us);
    outlook.tokens = most(copy.tokens, 0);
    outlook.rate = length_us < INSTANT_MAX - outlook.open_us ? rate + (ceiling - rate) / 2 : rate;
    outlook.steady_us = outlook.open_us + length_us;
    return outlook;
}

static __int128 flow_of(int64_t rate, int64_t from_us, int64_t to_us)
{
    return to_us > from_us ? (__int128)rate * (to_us - from_us) / US_PER_SECOND : 0;
}

int64_t bucket_estimate(const struct bucket_outlook *outlook, int64_t horizon_us)
{
    const __int128 flow =
        outlook->tokens +
        flow_of(outlook->rate, outlook->open_us, least(horizon_us, outlook->steady_us)) +
        flow_of(outlook->steady_rate, outlook->steady_us, horizon_us);

    if (horizon_us <= outlook->open_us)
        return 0;
    return flow / MICRO < INT64_MAX ? (int64_t)(flow / MICRO) : INT64_MAX;
}
