/* From rate settings to the limits of the gate. */
#include "engine/gate/limit.h"

#include "base/instant.h"

/* More than this is never needed: a worker that is half a second late has other problems. */
#define RESERVE_MAX_US (US_PER_SECOND / 2)
/* Of the burst, what is left unused at most; and of the rate. */
enum { RESERVE_PER_CENT = 40, RATE_PERMILLE = 980 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t micro(double value)
{
    return (int64_t)(value * (double)MICRO + 0.5);
}

static struct spec_rate_limit limit_that_counts(const struct spec_rate *rate, bool has_credential)
{
    struct spec_rate_limit limit = rate->limit;

    if (!has_credential)
        return limit;
    if (rate->with_credential.per_second > 0)
        limit.per_second = rate->with_credential.per_second;
    if (rate->with_credential.burst > 0)
        limit.burst = rate->with_credential.burst;
    if (rate->with_credential.concurrency > 0)
        limit.concurrency = rate->with_credential.concurrency;
    return limit;
}

/* How long `amount` takes to flow in. */
static int64_t time_of(int64_t amount, int64_t rate)
{
    return (int64_t)((__int128)amount * US_PER_SECOND / rate);
}

/* Leaves a part unused, and computes how late a permit may be in return. */
static void make_room(struct gate_limit *limit)
{
    struct bucket_config *config = &limit->config;
    const int64_t rate = config->rate_max;
    int64_t reserve = least(config->burst * RESERVE_PER_CENT / 100, config->burst - limit->cost);
    int64_t room_us;

    reserve = least(reserve, (int64_t)((__int128)rate * RESERVE_MAX_US / US_PER_SECOND));
    room_us = time_of(reserve, rate);
    config->burst -= reserve;
    if (config->burst == limit->cost) {
        config->rate_max = most((int64_t)((__int128)rate * RATE_PERMILLE / 1000), 1);
        room_us += time_of(limit->cost, config->rate_max) - time_of(limit->cost, rate) - 1;
    }
    limit->late_us = most(least(room_us, RESERVE_MAX_US) * 3 / 4, 1);
}

struct gate_limit gate_limit_of(const struct spec_rate *rate, bool has_credential)
{
    const struct spec_rate_limit counts = limit_that_counts(rate, has_credential);
    struct gate_limit limit = {
        .cost = most(rate->cost, 1) * MICRO,
        .quantum = most(rate->quantum, 1),
        .concurrency = counts.concurrency,
    };

    limit.config = (struct bucket_config){
        .rate_max = most(counts.per_second > 0 ? micro(counts.per_second) : MICRO, 1),
        .burst = most(most(counts.burst, 1) * MICRO, limit.cost),
        .is_adaptive = rate->adaptive,
        .increase = micro(rate->increase),
        .cool_down_us = rate->cool_down_us,
        .demote_permille = rate->demote > 1 ? (int)(rate->demote * 1000 + 0.5) : 1000,
        .warmup_us = rate->warmup_us,
    };
    /* A step that is right for three requests a second would take a day to win back a thousand. */
    limit.config.increase = most(limit.config.increase, limit.config.rate_max / 20);
    make_room(&limit);
    limit.config.rate_min = least(most(micro(rate->min), 1), limit.config.rate_max);
    return limit;
}
