/* Parsing request heads, times and HTTP dates. */
#include "sim/http/request.h"

#include "sim/http/http_date.h"
#include "sim/util/time_option.h"
#include "test.h"

static struct arena arena;

static bool parse(const char *head, struct http_call *call, struct request_traits *traits)
{
    struct error err;

    arena_release(&arena);
    arena_init(&arena, 1 << 20);
    *call = (struct http_call){ .arena = &arena };
    return request_parse_head(call, traits, str_of(head), &err);
}

TEST(heads_are_parsed)
{
    struct http_call call;
    struct request_traits traits;

    REQUIRE(parse("POST /a%20b/c?x=1&y=%C3%A9+z&flag HTTP/1.1\r\nHost: h:1\r\nA:  b \r\n"
                  "Accept-Encoding: br, gzip;q=0.1\r\nContent-Length: 12\r\n\r\n",
                  &call, &traits),
            "well-formed");
    CHECK_STR(call.method, STR("POST"), "method");
    CHECK_STR(call.path, STR("/a b/c"), "path");
    CHECK_STR(call.raw_path, STR("/a%20b/c"), "raw path");
    CHECK_STR(call.query, STR("x=1&y=%C3%A9+z&flag"), "query");
    CHECK_STR(call_param(&call, STR("y")), STR("\xC3\xA9 z"), "parameter");
    CHECK(call_has_param(&call, STR("flag")), "parameter without a value");
    CHECK_STR(call_header(&call, STR("a")), STR("b"), "header");
    CHECK_STR(call.host, STR("h:1"), "host");
    CHECK(traits.accepts_gzip && traits.keep_alive && !traits.chunked, "traits");
    CHECK_EQ(traits.content_length, 12, "length");
    REQUIRE(parse("GET http://h/p?q HTTP/1.0\r\n\r\n", &call, &traits), "absolute form");
    CHECK_STR(call.path, STR("/p"), "path of the absolute form");
    CHECK(!traits.keep_alive, "1.0 closes");
    arena_release(&arena);
}

TEST(what_makes_two_requests_the_same)
{
    static const struct {
        const char *label, *a, *b;
        bool same;
    } cases[] = {
        { "order", "GET /p?a=1&b=2 HTTP/1.1\r\n\r\n", "GET /p?b=2&a=1 HTTP/1.1\r\n\r\n", true },
        { "escapes", "GET /p?a=%31 HTTP/1.1\r\n\r\n", "GET /p?a=1 HTTP/1.1\r\n\r\n", true },
        { "headers", "GET /p HTTP/1.1\r\nA: b\r\n\r\n", "GET /p HTTP/1.1\r\n\r\n", true },
        { "token", "GET /p HTTP/1.1\r\nX-Token: 1\r\n\r\n", "GET /p HTTP/1.1\r\nX-Token: 2\r\n\r\n",
          false },
        { "value", "GET /p?a=1 HTTP/1.1\r\n\r\n", "GET /p?a=2 HTTP/1.1\r\n\r\n", false },
        { "swapped", "GET /p?a=1&b=2 HTTP/1.1\r\n\r\n", "GET /p?a=2&b=1 HTTP/1.1\r\n\r\n", false },
        { "twice", "GET /p?a=1&a=1 HTTP/1.1\r\n\r\n", "GET /p?a=1 HTTP/1.1\r\n\r\n", false },
        { "method", "GET /p HTTP/1.1\r\n\r\n", "HEAD /p HTTP/1.1\r\n\r\n", false },
        { "path", "GET /p HTTP/1.1\r\n\r\n", "GET /q HTTP/1.1\r\n\r\n", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_call call;
        struct request_traits traits;
        uint64_t first;

        REQUIRE(parse(cases[i].a, &call, &traits), cases[i].label);
        first = request_identity(&call);
        REQUIRE(parse(cases[i].b, &call, &traits), cases[i].label);
        CHECK_EQ(first == request_identity(&call), cases[i].same, cases[i].label);
    }
    arena_release(&arena);
}

TEST(times_and_durations_are_parsed)
{
    static const struct {
        const char *text;
        int64_t us; /* INT64_MIN: refused */
    } times[] = {
        { "2026-04-01", 1775001600000000 },
        { "2026-04-01T00:00:01.5Z", 1775001601500000 },
        { "1775001600000000", 1775001600000000 },
        { "2026-04-01T02:00:00+02:00", 1775001600000000 },
        { "0", INT64_MIN },
        { "soon", INT64_MIN },
        { "99999999999999999999", INT64_MIN },
        { "9223372036854775807", INT64_MIN },
        { "", INT64_MIN },
    };
    static const struct {
        const char *text;
        int64_t us;
    } durations[] = {
        { "30", 30000000 },    { "-30", -30000000 },
        { "500ms", 500000 },   { "-2d", -172800000000 },
        { "+1h", 3600000000 }, { "1x", INT64_MIN },
        { "", INT64_MIN },     { "99999999999999", INT64_MIN },
    };
    char text[HTTP_DATE_TEXT_MAX];
    int64_t us;

    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        if (!time_option_parse(str_of(times[i].text), &us))
            us = INT64_MIN;
        CHECK_EQ(us, times[i].us, times[i].text);
    }
    for (size_t i = 0; i < ARRAY_LEN(durations); i++) {
        if (!duration_option_parse(str_of(durations[i].text), &us))
            us = INT64_MIN;
        CHECK_EQ(us, durations[i].us, durations[i].text);
    }
    CHECK_STR(sim_http_date_write(1775001605000000, text), STR("Wed, 01 Apr 2026 00:00:05 GMT"),
              "HTTP");
    CHECK(sim_http_date_parse(STR("Wed, 01 Apr 2026 00:00:05 GMT"), &us), "read back");
    CHECK_EQ(us, 1775001605000000, "the same");
    CHECK(!sim_http_date_parse(STR("Wed, 31 Feb 2026 00:00:05 GMT"), &us), "no such day");
    CHECK(!sim_http_date_parse(STR("2026-04-01"), &us), "another form");
}
