/* align: rounding instants to calendar boundaries. */
#include "core/align.h"

#include <assert.h>

#include "base/instant.h"

static int64_t floor_to(int64_t at_us, int64_t length_us)
{
    const int64_t rest_us = at_us % length_us;

    return at_us - (rest_us < 0 ? rest_us + length_us : rest_us);
}

static int64_t clamped(int64_t at_us)
{
    if (at_us < INSTANT_MIN)
        return INSTANT_MIN;
    return at_us > INSTANT_MAX ? INSTANT_MAX : at_us;
}

/* The first instant of a month; `month` may be a few months outside 1..12. */
static int64_t month_start(int year, int month)
{
    if (month > 12) {
        year++;
        month -= 12;
    }
    if (year > 9999)
        return INSTANT_MAX;
    return instant_from_civil((struct civil){ .year = year, .month = month, .day = 1 });
}

/* The months in a unit of variable length; 0 for units of fixed length. */
static int months_of(enum align_unit unit)
{
    switch (unit) {
    case ALIGN_MONTH:
        return 1;
    case ALIGN_QUARTER:
        return 3;
    case ALIGN_YEAR:
        return 12;
    default:
        return 0;
    }
}

int64_t align_length_min_us(enum align_unit unit)
{
    switch (unit) {
    case ALIGN_NONE:
        return 1;
    case ALIGN_MINUTE:
        return US_PER_MINUTE;
    case ALIGN_HOUR:
        return US_PER_HOUR;
    case ALIGN_DAY:
        return US_PER_DAY;
    case ALIGN_WEEK:
        return 7 * US_PER_DAY;
    case ALIGN_MONTH:
        return 28 * US_PER_DAY;
    case ALIGN_QUARTER:
        return 90 * US_PER_DAY;
    case ALIGN_YEAR:
        return 365 * US_PER_DAY;
    }
    assert(!"a unit of the enum");
    return 1;
}

int64_t align_floor(int64_t at_us, enum align_unit unit)
{
    const int months = months_of(unit);

    assert(at_us >= INSTANT_MIN);
    assert(at_us <= INSTANT_MAX);
    if (months > 0) {
        const struct civil civil = instant_to_civil(at_us);

        return month_start(civil.year, (civil.month - 1) / months * months + 1);
    }
    if (unit == ALIGN_WEEK)
        return clamped(floor_to(at_us, US_PER_DAY) - instant_weekday(at_us) * US_PER_DAY);
    return floor_to(at_us, align_length_min_us(unit));
}

int64_t align_next(int64_t at_us, enum align_unit unit)
{
    const int months = months_of(unit);

    assert(at_us >= INSTANT_MIN);
    assert(at_us <= INSTANT_MAX);
    if (months > 0) {
        const struct civil civil = instant_to_civil(at_us);

        return month_start(civil.year, (civil.month - 1) / months * months + 1 + months);
    }
    if (unit == ALIGN_WEEK)
        return clamped(floor_to(at_us, US_PER_DAY) + (7 - instant_weekday(at_us)) * US_PER_DAY);
    return clamped(floor_to(at_us, align_length_min_us(unit)) + align_length_min_us(unit));
}

int64_t align_ceil(int64_t at_us, enum align_unit unit)
{
    return align_floor(at_us, unit) == at_us ? at_us : align_next(at_us, unit);
}
