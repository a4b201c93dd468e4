/* Rate headers of responses. */
#include "data/rate_hints.h"

#include "base/instant.h"
#include "test.h"

#define NOW_US INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */

static struct rate_hints hints_of(int status, bool is_refused, struct http_header *headers,
                                  size_t count)
{
    const struct http_response reply = { .status = status, .headers = { headers, count } };

    return rate_hints_of(&reply, is_refused, NOW_US);
}

TEST(a_wait_is_obeyed_where_it_is_one)
{
    static const struct {
        const char *label;
        int status;
        bool is_refused;
        const char *value;
        int64_t wait_us;
    } cases[] = {
        { "429", 429, false, "120", 120 * US_PER_SECOND },
        { "503, as a date", 503, false, "Thu, 01 Jan 2026 00:01:00 GMT", 60 * US_PER_SECOND },
        { "200, as some send it always", 200, false, "120", 0 },
        { "200 that a rule calls a refusal", 200, true, "120", 120 * US_PER_SECOND },
        { "past", 429, false, "Wed, 31 Dec 2025 23:59:00 GMT", 0 },
        { "zero", 429, false, "0", 0 },
        { "no number", 429, false, "soon", 0 },
        { "a day", 429, false, "86400", US_PER_DAY },
        { "an instant in seconds", 429, false, "1767225660", US_PER_DAY },
        { "milliseconds", 429, false, "3600000", US_PER_DAY },
        { "the year 2083", 503, false, "Fri, 01 Jan 2083 00:00:00 GMT", US_PER_DAY },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_header header = { STR("Retry-After"), str_of(cases[i].value) };
        const struct rate_hints hints = hints_of(cases[i].status, cases[i].is_refused, &header, 1);

        CHECK_EQ(hints.retry_after_us, cases[i].wait_us, cases[i].label);
        CHECK_EQ(hints.has_retry_after, cases[i].wait_us > 0, cases[i].label);
    }
}

/* The rate in millionths of a request per second. */
TEST(a_rate_is_a_limit_and_its_interval)
{
    static const struct {
        const char *limit;
        const char *interval;
        int64_t told_limit;
        int64_t rate;
    } cases[] = {
        { "50", "1s", 50, 50000000 },
        { "3", "2s", 3, 1500000 },
        { " 50, 50;w=1", "1s", 50, 50000000 },
        { "100000", "1d", 100000, 1157407 },
        { "50", "a while", 50, 0 },
        { "50", "0s", 50, 0 },
        { "-1", "1s", 0, 0 },
        { "many", "1s", 0, 0 },
        { "9223372036854775807", "1ms", INT64_MAX, 0 },
        { "1", "1h", 1, 277 },
        { "1", "11d", 1, 0 },
        { "1", "11000d", 1, 0 },
        { "100", "30d", 100, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_header headers[] = {
            { STR("x-rate-limit-limit"), str_of(cases[i].limit) },
            { STR("X-Rate-Limit-Interval"), str_of(cases[i].interval) },
        };
        struct rate_hints hints = hints_of(200, false, headers, 2);

        CHECK_EQ(hints.limit, cases[i].told_limit, cases[i].limit);
        CHECK_EQ(hints.provider_rate, cases[i].rate, cases[i].limit);
        hints = hints_of(200, false, headers, 1);
        CHECK_EQ(hints.provider_rate, 0, "without an interval a limit is no rate");
    }
}

TEST(a_reset_is_a_span_or_an_instant)
{
    static const struct {
        const char *reset;
        int64_t at_us;
    } cases[] = {
        { "57", NOW_US + 57 * US_PER_SECOND },
        { "1767225660", NOW_US + 60 * US_PER_SECOND },
        { "0", 0 },
        { "-5", 0 },
        { "9223372036854775807", 0 },
        { "tomorrow", 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_header headers[] = {
            { STR("RateLimit-Reset"), str_of(cases[i].reset) },
            { STR("X-RateLimit-Remaining"), STR("3") },
        };
        const struct rate_hints hints = hints_of(200, false, headers, 2);

        CHECK_EQ(hints.reset_at_us, cases[i].at_us, cases[i].reset);
        CHECK(hints.has_remaining && hints.remaining == 3, "another spelling beside it");
    }
}

/* ---- lies ---- */

/* A success that says something silly about the next request. */
TEST(no_header_of_a_success_is_a_wait_of_more_than_a_day)
{
    static const struct {
        const char *label;
        struct http_header headers[3];
        int64_t retry_us;
        bool has_remaining;
        int64_t remaining;
        int64_t reset_us; /* from now; 0: unknown */
    } cases[] = {
#define H(name, value) { STR_INIT(name), STR_INIT(value) }
        { "nothing left for 31 years",
          { H("X-RateLimit-Remaining", "0"), H("X-RateLimit-Reset", "999999999") },
          0,
          true,
          0,
          US_PER_DAY },
        { "the same as an instant",
          { H("X-RateLimit-Remaining", "0"), H("X-RateLimit-Reset", "2745705600") },
          0,
          true,
          0,
          US_PER_DAY },
        { "in milliseconds",
          { H("X-RateLimit-Remaining", "0"), H("X-RateLimit-Reset", "1767225660000") },
          0,
          true,
          0,
          0 },
        { "by a Date of another year",
          { H("X-RateLimit-Remaining", "0"), H("X-RateLimit-Reset", "1767225660"),
            H("Date", "Mon, 01 Jan 1990 00:00:00 GMT") },
          0,
          true,
          0,
          US_PER_DAY },
        { "a reset that is over",
          { H("RateLimit-Remaining", "0"), H("RateLimit-Reset", "1000000001") },
          0,
          true,
          0,
          INT64_C(1000000001) * US_PER_SECOND - NOW_US },
        { "fewer than none",
          { H("X-RateLimit-Remaining", "-1"), H("X-RateLimit-Reset", "-999999999") },
          0,
          false,
          0,
          0 },
        { "more than there are numbers",
          { H("X-RateLimit-Remaining", "99999999999999999999"),
            H("X-RateLimit-Reset", "99999999999999999999") },
          0,
          false,
          0,
          0 },
        { "no numbers",
          { H("X-RateLimit-Remaining", "NaN"), H("X-RateLimit-Reset", "1e99") },
          0,
          false,
          0,
          0 },
        { "twice, and they differ",
          { H("X-RateLimit-Remaining", "5"), H("X-RateLimit-Remaining", "0"),
            H("X-RateLimit-Reset", "60") },
          0,
          true,
          5,
          60 * US_PER_SECOND },
        { "an instant to wait for", { H("Retry-After", "4102444800") }, 0, false, 0, 0 },
        { "milliseconds to wait for", { H("Retry-After", "3600000") }, 0, false, 0, 0 },
#undef H
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_header headers[3];
        struct rate_hints hints;
        size_t count = 0;

        for (; count < 3 && cases[i].headers[count].name.data != NULL; count++)
            headers[count] = cases[i].headers[count];
        hints = hints_of(200, false, headers, count);
        CHECK_EQ(hints.retry_after_us, cases[i].retry_us, cases[i].label);
        CHECK_EQ(hints.has_remaining, cases[i].has_remaining, cases[i].label);
        CHECK_EQ(hints.remaining, cases[i].remaining, cases[i].label);
        CHECK_EQ(hints.reset_at_us, cases[i].reset_us != 0 ? NOW_US + cases[i].reset_us : 0,
                 cases[i].label);
        hints = hints_of(200, true, headers, count);
        CHECK(hints.retry_after_us <= US_PER_DAY, "nor where a rule calls it a refusal");
    }
}

TEST(of_several_waits_the_longest_is_obeyed)
{
    static const struct {
        const char *first, *second;
        int64_t wait_us;
    } cases[] = { { "1", "3600", US_PER_HOUR },        { "3600", "1", US_PER_HOUR },
                  { "0", "30", 30 * US_PER_SECOND },   { "soon", "30", 30 * US_PER_SECOND },
                  { "30", "-30", 30 * US_PER_SECOND }, { "0", "soon", 0 } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_header headers[] = { { STR("Retry-After"), str_of(cases[i].first) },
                                         { STR("retry-after"), str_of(cases[i].second) } };
        const struct rate_hints hints = hints_of(429, false, headers, 2);

        CHECK_EQ(hints.retry_after_us, cases[i].wait_us, cases[i].second);
        CHECK_EQ(hints.has_retry_after, cases[i].wait_us > 0, cases[i].second);
    }
}

/* ---- clocks ---- */

/* The server's clock: Sun, 16 Nov 2025 08:49:37 GMT. */
#define SERVER_US (INT64_C(1763282977) * US_PER_SECOND)

static struct rate_hints hints_at(int64_t skew_us, int status, const char *date, const char *name,
                                  const char *value)
{
    struct http_header headers[2] = { { str_of(name), str_of(value) },
                                      { STR("Date"), str_of(date) } };
    const struct http_response reply = { .status = status,
                                         .headers = { headers, date != NULL ? 2 : 1 } };

    return rate_hints_of(&reply, false, SERVER_US + skew_us);
}

/* Thirty seconds are thirty seconds by any clock of ours. */
TEST(instants_are_by_the_servers_clock)
{
    static const int64_t skews_us[] = { 0, US_PER_HOUR, -US_PER_HOUR, 400 * US_PER_DAY,
                                        -400 * US_PER_DAY };
    static const char now[] = "Sun, 16 Nov 2025 08:49:37 GMT";

    for (size_t i = 0; i < ARRAY_LEN(skews_us); i++) {
        const int64_t here_us = SERVER_US + skews_us[i];
        struct rate_hints hints =
            hints_at(skews_us[i], 429, now, "Retry-After", "Sun, 16 Nov 2025 08:50:07 GMT");

        CHECK(hints.has_retry_after, "a date");
        CHECK_EQ(hints.retry_after_us, 30 * US_PER_SECOND, "is thirty seconds ahead");
        hints = hints_at(skews_us[i], 200, now, "X-RateLimit-Reset", "1763283007");
        CHECK_EQ(hints.reset_at_us, here_us + 30 * US_PER_SECOND, "an instant as well");
        hints = hints_at(skews_us[i], 429, now, "Retry-After", "30");
        CHECK_EQ(hints.retry_after_us, 30 * US_PER_SECOND, "a number needs no clock");
    }
}

TEST(without_a_date_our_own_clock_is_used)
{
    const struct rate_hints hints =
        hints_at(10 * US_PER_SECOND, 503, NULL, "Retry-After", "Sun, 16 Nov 2025 08:50:07 GMT");

    CHECK_EQ(hints.retry_after_us, 20 * US_PER_SECOND, "by ours");
    CHECK_EQ(hints_at(0, 503, "yesterday", "Retry-After", "Sun, 16 Nov 2025 08:50:07 GMT")
                 .retry_after_us,
             30 * US_PER_SECOND, "a Date that is none tells nothing");
}

TEST(a_wait_is_obeyed_where_a_server_fails)
{
    static const int statuses[] = { 429, 500, 502, 503, 504 };

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        CHECK(hints_at(0, statuses[i], NULL, "Retry-After", "30").has_retry_after, "obeyed");
    CHECK(!hints_at(0, 200, NULL, "Retry-After", "30").has_retry_after, "Zenodo's habit");
    CHECK(!hints_at(0, 422, NULL, "Retry-After", "30").has_retry_after, "likewise");
    CHECK(!hints_at(0, 429, NULL, "Retry-After", "0").has_retry_after, "0 says nothing");
}
