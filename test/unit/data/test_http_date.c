/* Dates of HTTP headers: the three formats, and the lenient reading. */
#include "data/http_date.h"

#include <stdio.h>

#include "base/instant.h"
#include "base/quote.h"
#include "suite.h"
#include "test.h"

/* {"test": "...", "expected": "Mon, 10 Dec 2007 17:02:24 GMT" or null} */
static void run_suite(const char *file)
{
    const char *path = test_shared(file);
    struct suite suite;
    struct suite_token token;
    struct str text = { NULL, 0 };
    int count = 0, unreadable = 0;

    if (path == NULL)
        TEST_SKIP("%s is not here", file);
    suite = suite_of(test_read(path));
    while (suite_next(&suite, &token)) {
        if (suite_is_key(&token, "test")) {
            REQUIRE(suite_next(&suite, &token), "a text");
            text = token.text;
        } else if (suite_is_key(&token, "expected")) {
            char shown[HTTP_DATE_TEXT_MAX] = "null";
            int64_t at_us;

            REQUIRE(suite_next(&suite, &token), "a normal form");
            if (http_date_parse_lenient(text, &at_us))
                (void)http_date_format(at_us, shown);
            CHECK_STR(str_of(shown), token.text, QUOTE(text));
            count++;
            unreadable += suite_is_word(&token, "null");
        }
    }
    CHECK(count > 10, "cases were found");
    test_note("%s: %d cases, %d of them unreadable", file, count, unreadable);
}

TEST(http_date_lenient_keeps_the_http_state_suite)
{
    run_suite("suites/dates/http-state-examples.json");
}

TEST(http_date_lenient_keeps_the_other_http_state_suite)
{
    run_suite("suites/dates/http-state-bsd-examples.json");
}

/* 1994-11-06T08:49:37Z is the standard's own example in all three forms. */
TEST(http_date_reads_the_three_forms_of_the_standard)
{
    static const int64_t wanted_us = INT64_C(784111777000000);
    static const char *const forms[] = {
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    };
    static const char *const refused[] = {
        "",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994",
        "1994-11-06T08:49:37Z",
    };
    int64_t at_us;

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        CHECK(http_date_parse(str_of(forms[i]), wanted_us, &at_us), forms[i]);
        CHECK_EQ(at_us, wanted_us, forms[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        CHECK(!http_date_parse(str_of(refused[i]), wanted_us, &at_us), refused[i]);
}

TEST(http_date_of_two_digits_is_at_most_fifty_years_ahead)
{
    static const struct {
        int now, two_digits, year;
    } cases[] = {
        { 1994, 94, 1994 }, { 2026, 76, 2076 }, { 2026, 77, 1977 }, { 2026, 26, 2026 },
        { 2026, 25, 2025 }, { 2026, 0, 2000 },  { 2099, 49, 2049 }, { 1970, 20, 1920 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct civil now = { .year = cases[i].now, .month = 6, .day = 1 };
        char text[64];
        int64_t at_us;

        (void)snprintf(text, sizeof(text), "Sunday, 06-Nov-%02d 08:49:37 GMT", cases[i].two_digits);
        REQUIRE(http_date_parse(str_of(text), instant_from_civil(now), &at_us), text);
        CHECK_EQ(instant_to_civil(at_us).year, cases[i].year, text);
    }
}

TEST(http_date_lenient_knows_no_year_before_1601)
{
    int64_t at_us;

    CHECK(!http_date_parse_lenient(STR("31 Dec 1600 23:59:59"), &at_us), "1600");
    CHECK(!http_date_parse_lenient(STR("31 Dec 100 23:59:59"), &at_us), "100");
    CHECK(http_date_parse_lenient(STR("1 Jan 1601 00:00:00"), &at_us), "1601");
}

TEST(http_date_that_is_written_is_read_back)
{
    char text[HTTP_DATE_TEXT_MAX];
    int64_t at_us;

    CHECK_EQ(http_date_format(INT64_C(784111777000000), text), 29, "length");
    CHECK_STR(str_of(text), STR("Sun, 06 Nov 1994 08:49:37 GMT"), "the standard's example");
    for (int64_t day = 0; day < 3652425; day += 997) {
        const int64_t wanted_us = INSTANT_MIN + day * US_PER_DAY + day * US_PER_SECOND;

        (void)http_date_format(wanted_us, text);
        REQUIRE(http_date_parse(str_of(text), 0, &at_us) && at_us == wanted_us, text);
    }
}
