/* Tests: instants compared with a calendar that counts days one by one. */
#include "base/instant.h"

#include <stdio.h>
#include <time.h>

#include "test.h"

/* A calendar that only counts days one by one. */
struct almanac {
    int year, month, day;
};

static bool is_leap(int year)
{
    if (year % 400 == 0)
        return true;
    if (year % 100 == 0)
        return false;
    return year % 4 == 0;
}

static int month_length(int year, int month)
{
    if (month == 2)
        return is_leap(year) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

static void next_day(struct almanac *a)
{
    if (++a->day <= month_length(a->year, a->month))
        return;
    a->day = 1;
    if (++a->month <= 12)
        return;
    a->month = 1;
    a->year++;
}

/* Each day of ten thousand years. 0000-01-01 was a Saturday, as 2000-01-01: the calendar repeats
 * after 400 years, which are whole weeks. */
TEST(instant_agrees_with_an_almanac_day_by_day)
{
    struct almanac a = { 0, 1, 1 };
    int64_t at_us = INSTANT_MIN, number = INSTANT_MIN / US_PER_DAY;
    int weekday = 5;

    for (; a.year <= 9999; next_day(&a)) {
        const struct civil civil = instant_to_civil(at_us);
        const struct civil noon = { a.year, a.month, a.day, 12, 0, 0, 0 };

        REQUIRE(civil.year == a.year && civil.month == a.month && civil.day == a.day, "the day");
        REQUIRE(civil.hour + civil.minute + civil.second + civil.microsecond == 0, "midnight");
        REQUIRE(instant_from_civil(noon) == at_us + 12 * US_PER_HOUR, "and back");
        REQUIRE(instant_weekday(at_us) == weekday, "weekday");
        REQUIRE(instant_day_number(at_us + US_PER_DAY - 1) == number, "day number");
        at_us += US_PER_DAY;
        number++;
        weekday = (weekday + 1) % 7;
    }
    CHECK_EQ(at_us, INSTANT_MAX + 1, "the last day is the last of 9999");
    CHECK_EQ(number, INT64_C(2932897), "3,652,425 days, of which 719,528 before 1970");
}

TEST(instant_agrees_with_the_c_library)
{
    uint64_t state = 1;

    for (int i = 0; i < 300000; i++) {
        const int64_t span = (INSTANT_MAX - INSTANT_MIN) / US_PER_SECOND;
        time_t seconds;
        struct tm tm;
        struct civil civil;

        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        seconds = (time_t)(INSTANT_MIN / US_PER_SECOND + (int64_t)((state >> 11) % (uint64_t)span));
        REQUIRE(gmtime_r(&seconds, &tm) != NULL, "a date");
        civil = instant_to_civil((int64_t)seconds * US_PER_SECOND + (int64_t)(state % 1000000));
        REQUIRE(civil.year == tm.tm_year + 1900 && civil.month == tm.tm_mon + 1 &&
                    civil.day == tm.tm_mday && civil.hour == tm.tm_hour &&
                    civil.minute == tm.tm_min && civil.second == tm.tm_sec,
                "gmtime");
        REQUIRE(civil.microsecond == (int)(state % 1000000), "microseconds");
        REQUIRE(instant_from_civil(civil) ==
                    (int64_t)timegm(&tm) * US_PER_SECOND + civil.microsecond,
                "timegm");
        REQUIRE(instant_weekday((int64_t)seconds * US_PER_SECOND) == (tm.tm_wday + 6) % 7,
                "weekday");
    }
}

TEST(instant_before_1970_rounds_towards_the_past)
{
    const struct civil civil = instant_to_civil(-1);

    CHECK(civil.year == 1969 && civil.month == 12 && civil.day == 31, "the day before");
    CHECK(civil.hour == 23 && civil.second == 59 && civil.microsecond == 999999, "its last moment");
    CHECK_EQ(instant_day_number(-1), -1, "day");
    CHECK_EQ(instant_day_number(0), 0, "day");
    CHECK_EQ(instant_weekday(-1), 2, "a Wednesday");
    CHECK_EQ(instant_weekday(0), 3, "a Thursday");
}

TEST(instant_fields_are_judged)
{
    static const struct {
        struct civil civil;
        bool is_valid;
        const char *label;
    } cases[] = {
        { { 2000, 2, 29, 23, 59, 59, 999999 }, true, "the end of a leap day" },
        { { 1900, 2, 29, 0, 0, 0, 0 }, false, "no leap year" },
        { { 2001, 2, 29, 0, 0, 0, 0 }, false, "no leap year" },
        { { 0, 2, 29, 0, 0, 0, 0 }, true, "year 0 is a leap year" },
        { { 9999, 12, 31, 0, 0, 0, 0 }, true, "the last" },
        { { 10000, 1, 1, 0, 0, 0, 0 }, false, "year" },
        { { -1, 1, 1, 0, 0, 0, 0 }, false, "year" },
        { { 2000, 0, 1, 0, 0, 0, 0 }, false, "month" },
        { { 2000, 13, 1, 0, 0, 0, 0 }, false, "month" },
        { { 2000, 1, 0, 0, 0, 0, 0 }, false, "day" },
        { { 2000, 4, 31, 0, 0, 0, 0 }, false, "day" },
        { { 2000, 1, 1, 24, 0, 0, 0 }, false, "hour" },
        { { 2000, 1, 1, 0, 60, 0, 0 }, false, "minute" },
        { { 2000, 1, 1, 0, 0, 60, 0 }, false, "second" },
        { { 2000, 1, 1, 0, 0, 0, 1000000 }, false, "microsecond" },
        { { 2000, 1, 1, -1, 0, 0, 0 }, false, "hour" },
        { { 2000, 1, 1, 0, 0, 0, -1 }, false, "microsecond" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_EQ(civil_is_valid(cases[i].civil), cases[i].is_valid, cases[i].label);
}

TEST(instant_text_has_a_fraction_only_where_there_is_one)
{
    static const struct {
        int64_t at_us;
        const char *text;
    } cases[] = {
        { 0, "1970-01-01T00:00:00Z" },
        { 1, "1970-01-01T00:00:00.000001Z" },
        { -1, "1969-12-31T23:59:59.999999Z" },
        { 951782400000000, "2000-02-29T00:00:00Z" },
        { 1000542606250000, "2001-09-15T08:30:06.250000Z" },
        { INSTANT_MIN, "0000-01-01T00:00:00Z" },
        { INSTANT_MAX, "9999-12-31T23:59:59.999999Z" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[INSTANT_TEXT_MAX];
        const size_t len = instant_format(cases[i].at_us, text);

        CHECK_STR(((struct str){ text, len }), str_of(cases[i].text), cases[i].text);
        CHECK_EQ(text[len], '\0', "terminated");
    }
}
