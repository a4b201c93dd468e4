/* Quota by windows, classes and shares. */
#include "engine/gate/quota_left.h"

#include "core/align.h"

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
