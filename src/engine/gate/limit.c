/* From rate settings to the limits of the gate: rate and burst, hour and day. */
#include "engine/gate/limit.h"

#include "base/instant.h"
#include "core/align.h"

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
        .has_credential = has_credential,
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

/* ---- quota: by windows, classes and shares ---- */

int64_t quota_limit_of(const struct spec_rate *rate, enum quota_window window)
{
    return window == QUOTA_HOUR ? rate->quota_hour : rate->quota_day;
}

static enum align_unit unit_of(enum quota_window window)
{
    return window == QUOTA_HOUR ? ALIGN_HOUR : ALIGN_DAY;
}

struct quota_key quota_key_at(struct str rate_key, enum quota_window window, int64_t now_us)
{
    return (struct quota_key){ .rate_key = rate_key,
                               .window = window,
                               .from_us = align_floor(now_us, unit_of(window)) };
}

int64_t quota_end_us(enum quota_window window, int64_t now_us)
{
    return align_next(now_us, unit_of(window));
}

/* Source files give shares to operations, in per cent; quotas are counted by class, in
 * thousandths. Without any share in the file the built-in ones hold; with some, the other classes
 * have none. */
static void read_shares(const int per_cent[], int permille[QUOTA_CLASSES])
{
    static const int BUILT_IN[QUOTA_CLASSES] = QUOTA_SHARES_DEFAULT;
    bool is_said = false;

    for (int rank = 0; rank < QUOTA_CLASSES; rank++)
        permille[rank] = 0;
    for (int i = 0; i <= OPERATION_REPLAY; i++) {
        if (per_cent[i] == 100)
            continue;
        is_said = true;
        permille[quota_class_of((enum operation)i)] += per_cent[i] * 10;
    }
    for (int rank = 0; rank < QUOTA_CLASSES && !is_said; rank++)
        permille[rank] = BUILT_IN[rank];
}

static struct quota quota_of(const struct spec_rate *rate, enum quota_window window,
                             const struct quota_count *count)
{
    struct quota quota = { .limit = quota_limit_of(rate, window),
                           .margin_permille = (int)(rate->quota_margin * 1000) };

    read_shares(rate->quota_shares, quota.shares_permille);
    for (int i = 0; i < QUOTA_CLASSES; i++) {
        quota.used[i] = count->used[i];
        quota.booked[i] = count->booked[i];
    }
    return quota;
}

int64_t quota_left(const struct spec_rate *rate, enum operation operation, enum quota_window window,
                   const struct quota_count *count)
{
    const struct quota quota = quota_of(rate, window, count);
    const enum quota_class rank = quota_class_of(operation);
    const int64_t of_class = quota_available(&quota, rank);
    int64_t own =
        quota.limit * rate->quota_shares[operation] / 100 - count->used[rank] - count->booked[rank];

    if (own < 0)
        own = 0;
    return own < of_class ? own : of_class;
}

int64_t quota_unused(const struct spec_rate *rate, enum quota_window window,
                     const struct quota_count *count)
{
    struct quota quota = quota_of(rate, window, count);

    for (int i = 0; i < QUOTA_CLASSES; i++)
        quota.booked[i] = 0;
    return quota_available(&quota, QUOTA_HARVEST);
}
