/* The running minimum that rate_check.h describes, over the requests still kept. */
#include "sim/audit/rate_check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Sums of doubles are not exact: ignore a thousandth of a request. */
static const double TOLERANCE = 1e-3;

void rate_check_init(struct rate_check *rate_check, double per_us, double burst)
{
    assert(burst >= 1);
    *rate_check = (struct rate_check){ .per_us = per_us, .burst = burst };
}

void rate_check_release(struct rate_check *rate_check)
{
    free(rate_check->marks);
    *rate_check = (struct rate_check){ 0 };
}

void rate_check_clear(struct rate_check *rate_check)
{
    rate_check->count = 0;
    rate_check->dropped = 0;
}

/* Times count from the first request, so that the products stay small. */
static double level(const struct rate_check *rate_check, int64_t index, int64_t at_us)
{
    return (double)index - rate_check->per_us * (double)(at_us - rate_check->origin_us);
}

static void drop_older_half(struct rate_check *rate_check)
{
    const size_t half = RATE_CHECK_KEPT / 2;

    rate_check->dropped_low = rate_check->marks[half - 1].low;
    rate_check->dropped += (int64_t)half;
    rate_check->count -= half;
    memmove(rate_check->marks, rate_check->marks + half,
            rate_check->count * sizeof(rate_check->marks[0]));
}

static size_t insert(struct rate_check *rate_check, int64_t at_us, uint64_t ordinal)
{
    size_t at = rate_check->count;

    while (at > 0 && rate_check->marks[at - 1].at_us > at_us)
        at--;
    memmove(rate_check->marks + at + 1, rate_check->marks + at,
            (rate_check->count - at) * sizeof(rate_check->marks[0]));
    rate_check->marks[at] = (struct rate_check_mark){ .at_us = at_us, .ordinal = ordinal };
    rate_check->count++;
    return at;
}

/* The running minimum from `from` on. */
static void renew_lows(struct rate_check *rate_check, size_t from)
{
    for (size_t i = from; i < rate_check->count; i++) {
        struct rate_check_mark *mark = &rate_check->marks[i];
        const int64_t index = rate_check->dropped + (int64_t)i;

        mark->low = (struct rate_check_low){ level(rate_check, index, mark->at_us), index,
                                             mark->at_us, mark->ordinal };
        if (i > 0 && rate_check->marks[i - 1].low.value < mark->low.value)
            mark->low = rate_check->marks[i - 1].low;
        else if (i == 0 && rate_check->dropped > 0 &&
                 rate_check->dropped_low.value < mark->low.value)
            mark->low = rate_check->dropped_low;
    }
}

bool rate_check_add(struct rate_check *rate_check, int64_t at_us, uint64_t ordinal,
                    struct rate_check_excess *excess)
{
    double worst = TOLERANCE;
    size_t at;
    bool found = false;

    if (rate_check->marks == NULL) {
        rate_check->marks = calloc(RATE_CHECK_KEPT, sizeof(rate_check->marks[0]));
        if (rate_check->marks == NULL)
            return false;
    }
    if (rate_check->count == 0 && rate_check->dropped == 0)
        rate_check->origin_us = at_us;
    if (rate_check->count == RATE_CHECK_KEPT)
        drop_older_half(rate_check);
    at = insert(rate_check, at_us, ordinal);
    renew_lows(rate_check, at);
    for (size_t j = at; j < rate_check->count; j++) {
        const struct rate_check_mark *mark = &rate_check->marks[j];
        const struct rate_check_low *low =
            &rate_check->marks[at].low; /* intervals that contain the new request */
        const int64_t index = rate_check->dropped + (int64_t)j;
        const double over =
            level(rate_check, index + 1, mark->at_us) - low->value - rate_check->burst;

        if (over <= worst)
            continue;
        worst = over;
        found = true;
        *excess = (struct rate_check_excess){
            .count = index - low->index + 1,
            .span_us = mark->at_us - low->at_us,
            .allowed = rate_check->per_us * (double)(mark->at_us - low->at_us) + rate_check->burst,
            .first = low->ordinal,
            .last = mark->ordinal,
        };
    }
    return found;
}

void rate_check_remove(struct rate_check *rate_check, uint64_t ordinal)
{
    for (size_t at = rate_check->count; at-- > 0;) {
        if (rate_check->marks[at].ordinal != ordinal)
            continue;
        rate_check->count--;
        memmove(rate_check->marks + at, rate_check->marks + at + 1,
                (rate_check->count - at) * sizeof(rate_check->marks[0]));
        renew_lows(rate_check, at);
        return;
    }
}
