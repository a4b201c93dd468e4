/* Tests: calendar boundaries, by tables and against the calendar fields. */
#include "core/align.h"

#include "base/instant.h"
#include "random.h"
#include "test.h"

static int64_t at(int year, int month, int day, int hour, int minute, int second)
{
    return instant_from_civil((struct civil){ year, month, day, hour, minute, second, 0 });
}

static int64_t day(int year, int month, int d)
{
    return at(year, month, d, 0, 0, 0);
}

TEST(floor_and_next_by_hand)
{
    const struct {
        const char *label;
        enum align_unit unit;
        int64_t at_us, floor_us, next_us;
    } cases[] = {
        { "none", ALIGN_NONE, 17, 17, 18 },
        { "minute", ALIGN_MINUTE, at(2026, 3, 4, 5, 6, 7), at(2026, 3, 4, 5, 6, 0),
          at(2026, 3, 4, 5, 7, 0) },
        { "hour", ALIGN_HOUR, at(2026, 3, 4, 5, 6, 7), at(2026, 3, 4, 5, 0, 0),
          at(2026, 3, 4, 6, 0, 0) },
        { "day into a leap day", ALIGN_DAY, at(2024, 2, 28, 23, 59, 59), day(2024, 2, 28),
          day(2024, 2, 29) },
        { "day out of a leap day", ALIGN_DAY, at(2024, 2, 29, 1, 0, 0), day(2024, 2, 29),
          day(2024, 3, 1) },
        { "no leap day in 2100", ALIGN_DAY, day(2100, 2, 28), day(2100, 2, 28), day(2100, 3, 1) },
        { "a Monday begins its week", ALIGN_WEEK, day(2026, 8, 3), day(2026, 8, 3),
          day(2026, 8, 10) },
        { "a Sunday ends its week", ALIGN_WEEK, at(2026, 8, 9, 23, 59, 59), day(2026, 8, 3),
          day(2026, 8, 10) },
        { "an ISO week over the year's end", ALIGN_WEEK, day(2026, 1, 1), day(2025, 12, 29),
          day(2026, 1, 5) },
        { "week before 1970", ALIGN_WEEK, day(1969, 12, 31), day(1969, 12, 29), day(1970, 1, 5) },
        { "month of 29 days", ALIGN_MONTH, day(2024, 2, 29), day(2024, 2, 1), day(2024, 3, 1) },
        { "December", ALIGN_MONTH, at(2025, 12, 31, 23, 59, 59), day(2025, 12, 1),
          day(2026, 1, 1) },
        { "quarter", ALIGN_QUARTER, day(2025, 12, 31), day(2025, 10, 1), day(2026, 1, 1) },
        { "first quarter", ALIGN_QUARTER, day(2024, 2, 29), day(2024, 1, 1), day(2024, 4, 1) },
        { "year", ALIGN_YEAR, day(2024, 2, 29), day(2024, 1, 1), day(2025, 1, 1) },
        { "one microsecond before midnight", ALIGN_DAY, day(2026, 1, 2) - 1, day(2026, 1, 1),
          day(2026, 1, 2) },
        { "one microsecond before the epoch", ALIGN_HOUR, -1, -US_PER_HOUR, 0 },
        { "the end of the range", ALIGN_YEAR, INSTANT_MAX, day(9999, 1, 1), INSTANT_MAX },
        { "the start of the range", ALIGN_WEEK, INSTANT_MIN, INSTANT_MIN, day(0, 1, 3) },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(align_floor(cases[i].at_us, cases[i].unit), cases[i].floor_us, cases[i].label);
        CHECK_EQ(align_next(cases[i].at_us, cases[i].unit), cases[i].next_us, cases[i].label);
    }
}

/* The calendar fields show whether an instant is a boundary. */
static bool is_boundary(int64_t at_us, enum align_unit unit)
{
    const struct civil c = instant_to_civil(at_us);
    const bool midnight = c.hour == 0 && c.minute == 0 && c.second == 0 && c.microsecond == 0;

    switch (unit) {
    case ALIGN_NONE:
        return true;
    case ALIGN_MINUTE:
        return c.second == 0 && c.microsecond == 0;
    case ALIGN_HOUR:
        return c.minute == 0 && c.second == 0 && c.microsecond == 0;
    case ALIGN_DAY:
        return midnight;
    case ALIGN_WEEK:
        return midnight && instant_weekday(at_us) == 0;
    case ALIGN_MONTH:
        return midnight && c.day == 1;
    case ALIGN_QUARTER:
        return midnight && c.day == 1 && c.month % 3 == 1;
    case ALIGN_YEAR:
        return midnight && c.day == 1 && c.month == 1;
    }
    return false;
}

TEST(floor_is_the_last_boundary_and_next_the_first_after)
{
    struct random random = { 1 };

    for (int i = 0; i < 20000; i++) {
        const int64_t at_us = random_between(&random, day(1600, 1, 1), day(2500, 1, 1));
        const enum align_unit unit = (enum align_unit)random_between(&random, 0, ALIGN_YEAR + 1);
        const int64_t floor_us = align_floor(at_us, unit);
        const int64_t next_us = align_next(at_us, unit);

        CHECK(floor_us <= at_us && at_us < next_us, "floor <= at < next");
        CHECK(is_boundary(floor_us, unit), "floor is a boundary");
        CHECK(is_boundary(next_us, unit), "next is a boundary");
        CHECK_EQ(align_floor(next_us - 1, unit), floor_us, "nothing between the two");
        CHECK(next_us - floor_us >= align_length_min_us(unit), "the shortest length");
        CHECK_EQ(align_ceil(at_us, unit), at_us == floor_us ? at_us : next_us, "ceil");
        CHECK_EQ(align_ceil(floor_us, unit), floor_us, "ceil of a boundary");
    }
}
