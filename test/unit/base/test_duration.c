/* Tests: durations: a public suite, tables of both notations, calendar arithmetic. */
#include "base/duration.h"

#include "base/instant.h"
#include "base/quote.h"
#include "suite.h"
#include "test.h"

TEST(duration_reads_the_iso_cases_of_the_json_schema_suite)
{
    const char *path = test_shared("suites/dates/jsonschema-duration.json");
    struct suite suite;
    struct suite_token token;
    struct str text = { NULL, 0 };
    int count = 0, too_long = 0;
    bool is_text = false;

    if (path == NULL)
        TEST_SKIP("the suite jsonschema-duration is missing");
    suite = suite_of(test_read(path));
    while (suite_next(&suite, &token)) {
        if (suite_is_key(&token, "data")) {
            REQUIRE(suite_next(&suite, &token), "a value");
            is_text = token.type == SUITE_STRING;
            text = token.text;
        } else if (suite_is_key(&token, "valid") && is_text) {
            struct duration duration;
            struct error err;
            bool is_read, is_too_long;

            REQUIRE(suite_next(&suite, &token), "a verdict");
            is_read = duration_parse(text, &duration, &err);
            is_too_long = !is_read && str_eq(str_of(err.code), STR("duration.range"));
            CHECK_EQ(is_read || is_too_long, suite_is_word(&token, "true"), QUOTE(text));
            count++;
            too_long += is_too_long;
        }
    }
    CHECK(count > 20, "cases were found");
    test_note("jsonschema-duration: %d cases, %d of them well-formed and refused as too long",
              count, too_long);
}

static const struct {
    const char *text;
    int64_t months;
    int64_t us;
    const char *back;
} valid[] = {
    { "0", 0, 0, "0s" },
    { "0s", 0, 0, "0s" },
    { "1us", 0, 1, "1us" },
    { "500ms", 0, 500000, "500ms" },
    { "1500ms", 0, 1500000, "1s500ms" },
    { "10s", 0, 10000000, "10s" },
    { "15m", 0, 900000000, "15m" },
    { "90m", 0, INT64_C(5400000000), "1h30m" },
    { "1h30m", 0, INT64_C(5400000000), "1h30m" },
    { "24h", 0, INT64_C(86400000000), "1d" },
    { "10d", 0, INT64_C(864000000000), "10d" },
    { "14d", 0, INT64_C(1209600000000), "2w" },
    { "2w", 0, INT64_C(1209600000000), "2w" },
    { "1w1s", 0, INT64_C(604801000000), "7d1s" },
    { "3mo", 3, 0, "3mo" },
    { "14mo", 14, 0, "1y2mo" },
    { "1y2mo1d", 14, INT64_C(86400000000), "1y2mo1d" },
    { "PT10M", 0, 600000000, "10m" },
    { "P1D", 0, INT64_C(86400000000), "1d" },
    { "P1W", 0, INT64_C(604800000000), "1w" },
    { "P1Y2M", 14, 0, "1y2mo" },
    { "P4DT12H30M5S", 0, INT64_C(390605000000), "4d12h30m5s" },
    { "10000y", 120000, 0, "10000y" },
};

TEST(duration_has_a_shortest_form_that_is_read_back)
{
    for (size_t i = 0; i < ARRAY_LEN(valid); i++) {
        struct duration duration, again;
        char text[DURATION_TEXT_MAX];
        struct error err;

        REQUIRE_OK(duration_parse(str_of(valid[i].text), &duration, &err), err);
        CHECK_EQ(duration.months, valid[i].months, valid[i].text);
        CHECK_EQ(duration.us, valid[i].us, valid[i].text);
        (void)duration_format(duration, text);
        CHECK_STR(str_of(text), str_of(valid[i].back), valid[i].text);
        REQUIRE_OK(duration_parse(str_of(text), &again, &err), err);
        CHECK(again.months == duration.months && again.us == duration.us, valid[i].text);
    }
}

TEST(duration_of_any_length_survives_format_and_parse)
{
    uint64_t state = 7;

    for (int i = 0; i < 20000; i++) {
        struct duration duration, again;
        char text[DURATION_TEXT_MAX];
        struct error err;

        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        duration.months = (int64_t)(state >> 33) % (i % 2 == 0 ? 1 : DURATION_MONTHS_MAX + 1);
        duration.us = (int64_t)((state >> 1) % (UINT64_C(1) << (1 + i % 58)));
        if (i % 3 == 0)
            duration.us -= duration.us % US_PER_SECOND;
        if (duration.us > DURATION_US_MAX)
            continue;
        (void)duration_format(duration, text);
        REQUIRE_OK(duration_parse(str_of(text), &again, &err), err);
        REQUIRE(again.months == duration.months && again.us == duration.us, text);
    }
}

TEST(duration_refuses_with_the_value_and_a_hint)
{
    static const struct {
        const char *text;
        const char *hint;
    } cases[] = {
        { "", "number" },           { "10", "needs a unit" },    { "m", "number" },
        { "10 m", "needs a unit" }, { "10min", "needs a unit" }, { "5m1h", "larger units" },
        { "1h1h", "larger units" }, { "-5m", "number" },         { "1.5s", "needs a unit" },
        { "10M", "needs a unit" },  { "1h30", "needs a unit" },  { "P1", "ISO" },
        { "P1H", "ISO" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct str text = str_of(cases[i].text);
        struct duration duration;
        struct error err = { 0 };

        CHECK(!duration_parse(text, &duration, &err), cases[i].text);
        CHECK_EQ(err.level, ERROR_REQUEST, cases[i].text);
        CHECK_STR(str_of(err.code), STR("duration.syntax"), cases[i].text);
        CHECK(str_find(str_of(err.text), text) < ERROR_TEXT_MAX, err.text);
        CHECK(str_find(str_of(err.text), str_of(cases[i].hint)) < str_of(err.text).len, err.text);
    }
}

TEST(duration_beyond_ten_thousand_years_is_out_of_range)
{
    static const char *const cases[] = { "10001y", "99999999999999999999s", "3652426d", "P120001M",
                                         "9999999999999999999999y1s" };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct duration duration;
        struct error err = { 0 };

        CHECK(!duration_parse(str_of(cases[i]), &duration, &err), cases[i]);
        CHECK_STR(str_of(err.code), STR("duration.range"), cases[i]);
    }
}

TEST(duration_of_months_is_no_fixed_length)
{
    struct error err;
    int64_t us;

    CHECK(!duration_parse_us(STR("1mo"), &us, &err), "months");
    CHECK(str_find(str_of(err.text), STR("months and years")) < str_of(err.text).len, err.text);
    CHECK(!duration_parse_us(STR("P1Y"), &us, &err), "years");
    REQUIRE_OK(duration_parse_us(STR("1d"), &us, &err), err);
    CHECK_EQ(us, US_PER_DAY, "a day");
}

static int64_t day(int year, int month, int day_of_month)
{
    return instant_from_civil(
        (struct civil){ .year = year, .month = month, .day = day_of_month, .hour = 12 });
}

TEST(duration_months_stay_inside_the_month_they_reach)
{
    static const struct duration month = { 1, 0 }, year = { 12, 0 }, month_day = { 1, US_PER_DAY };
    int64_t at_us;

    CHECK(duration_add(day(2023, 1, 31), month, &at_us) && at_us == day(2023, 2, 28), "January 31");
    CHECK(duration_add(day(2024, 1, 31), month, &at_us) && at_us == day(2024, 2, 29), "leap year");
    CHECK(duration_add(day(2024, 2, 29), year, &at_us) && at_us == day(2025, 2, 28), "leap day");
    CHECK(duration_add(day(2023, 1, 31), month_day, &at_us) && at_us == day(2023, 3, 1), "then");
    CHECK(duration_subtract(day(2024, 3, 31), month, &at_us) && at_us == day(2024, 2, 29), "back");
    CHECK(duration_subtract(day(2024, 1, 1), month, &at_us) && at_us == day(2023, 12, 1), "turn");
    CHECK(!duration_add(day(9999, 12, 15), month, &at_us), "past the year 9999");
    CHECK(!duration_subtract(day(0, 1, 1), (struct duration){ 0, US_PER_DAY }, &at_us),
          "before the year 0");
}
