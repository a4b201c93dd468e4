#include "sim/audit/rate_check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Sums of doubles are not exact; a thousandth of a request is nobody's fault. */
static const double TOLERANCE = 1e-3;

void pace_init(struct pace *pace, double per_us, double burst)
{
    assert(burst >= 1);
    *pace = (struct pace){ .per_us = per_us, .burst = burst };
}

void pace_release(struct pace *pace)
{
    free(pace->marks);
    *pace = (struct pace){ 0 };
}

void pace_clear(struct pace *pace)
{
    pace->count = 0;
    pace->dropped = 0;
}

/* Times are taken from the first one on, so that the products stay small. */
static double level(const struct pace *pace, int64_t index, int64_t at_us)
{
    return (double)index - pace->per_us * (double)(at_us - pace->origin_us);
}

static void drop_older_half(struct pace *pace)
{
    const size_t half = PACE_KEPT / 2;

    pace->dropped_low = pace->marks[half - 1].low;
    pace->dropped += (int64_t)half;
    pace->count -= half;
    memmove(pace->marks, pace->marks + half, pace->count * sizeof(pace->marks[0]));
}

static size_t insert(struct pace *pace, int64_t at_us, uint64_t ordinal)
{
    size_t at = pace->count;

    while (at > 0 && pace->marks[at - 1].at_us > at_us)
        at--;
    memmove(pace->marks + at + 1, pace->marks + at, (pace->count - at) * sizeof(pace->marks[0]));
    pace->marks[at] = (struct pace_mark){ .at_us = at_us, .ordinal = ordinal };
    pace->count++;
    return at;
}

/* The running minimum from `from` on. */
static void renew_lows(struct pace *pace, size_t from)
{
    for (size_t i = from; i < pace->count; i++) {
        struct pace_mark *mark = &pace->marks[i];
        const int64_t index = pace->dropped + (int64_t)i;

        mark->low =
            (struct pace_low){ level(pace, index, mark->at_us), index, mark->at_us, mark->ordinal };
        if (i > 0 && pace->marks[i - 1].low.value < mark->low.value)
            mark->low = pace->marks[i - 1].low;
        else if (i == 0 && pace->dropped > 0 && pace->dropped_low.value < mark->low.value)
            mark->low = pace->dropped_low;
    }
}

bool pace_note(struct pace *pace, int64_t at_us, uint64_t ordinal, struct pace_excess *excess)
{
    double worst = TOLERANCE;
    size_t at;
    bool found = false;

    if (pace->marks == NULL) {
        pace->marks = calloc(PACE_KEPT, sizeof(pace->marks[0]));
        if (pace->marks == NULL)
            return false;
    }
    if (pace->count == 0 && pace->dropped == 0)
        pace->origin_us = at_us;
    if (pace->count == PACE_KEPT)
        drop_older_half(pace);
    at = insert(pace, at_us, ordinal);
    renew_lows(pace, at);
    for (size_t j = at; j < pace->count; j++) {
        const struct pace_mark *mark = &pace->marks[j];
        const struct pace_low *low = &pace->marks[at].low; /* intervals that hold the new one */
        const int64_t index = pace->dropped + (int64_t)j;
        const double over = level(pace, index + 1, mark->at_us) - low->value - pace->burst;

        if (over <= worst)
            continue;
        worst = over;
        found = true;
        *excess = (struct pace_excess){
            .count = index - low->index + 1,
            .span_us = mark->at_us - low->at_us,
            .allowed = pace->per_us * (double)(mark->at_us - low->at_us) + pace->burst,
            .first = low->ordinal,
            .last = mark->ordinal,
        };
    }
    return found;
}

void pace_forget(struct pace *pace, uint64_t ordinal)
{
    for (size_t at = pace->count; at-- > 0;) {
        if (pace->marks[at].ordinal != ordinal)
            continue;
        pace->count--;
        memmove(pace->marks + at, pace->marks + at + 1,
                (pace->count - at) * sizeof(pace->marks[0]));
        renew_lows(pace, at);
        return;
    }
}
