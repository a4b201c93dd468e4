/* Retry-After in all its forms, with the responses of curl's tests. */
#include "data/retry_after.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/instant.h"
#include "data/http_date.h"
#include "test.h"

/* 1999-12-31T23:59:50Z */
#define NOW_US INT64_C(946684790000000)

static const struct {
    const char *value;
    int kind;
    int64_t wait_us;
    bool is_past;
} cases[] = {
    { NULL, RETRY_AFTER_NONE, 0, false },
    { "120", RETRY_AFTER_WAIT, 120000000, false },
    { " 120 ", RETRY_AFTER_WAIT, 120000000, false },
    { "0", RETRY_AFTER_WAIT, 0, true },
    { "0.0", RETRY_AFTER_WAIT, 0, true },
    { "0.2", RETRY_AFTER_WAIT, 1000000, false },
    { "1.5", RETRY_AFTER_WAIT, 2000000, false },
    { "86400", RETRY_AFTER_WAIT, US_PER_DAY, false },
    { "9999999999", RETRY_AFTER_WAIT, RETRY_AFTER_US_MAX, false },
    { "99999999999999999999999999", RETRY_AFTER_WAIT, RETRY_AFTER_US_MAX, false },
    { "Fri, 31 Dec 1999 23:59:59 GMT", RETRY_AFTER_WAIT, 9000000, false },
    { "Friday, 31-Dec-99 23:59:59 GMT", RETRY_AFTER_WAIT, 9000000, false },
    { "Fri Dec 31 23:59:59 1999", RETRY_AFTER_WAIT, 9000000, false },
    { "31 Dec 1999 23:59:59", RETRY_AFTER_WAIT, 9000000, false },
    { "Fri, 31 Dec 1999 23:59:50 GMT", RETRY_AFTER_WAIT, 0, true },
    { "Fri, 31 Dec 1999 23:59:49 GMT", RETRY_AFTER_WAIT, 0, true },
    { "Fri, 31 Dec 9999 23:59:49 GMT", RETRY_AFTER_WAIT, RETRY_AFTER_US_MAX, false },
    { "", RETRY_AFTER_INVALID, 0, false },
    { "soon", RETRY_AFTER_INVALID, 0, false },
    { "-1", RETRY_AFTER_INVALID, 0, false },
    { "+1", RETRY_AFTER_INVALID, 0, false },
    { "1.", RETRY_AFTER_INVALID, 0, false },
    { ".5", RETRY_AFTER_INVALID, 0, false },
    { "1e3", RETRY_AFTER_INVALID, 0, false },
    { "120, 130", RETRY_AFTER_INVALID, 0, false },
    { "120s", RETRY_AFTER_INVALID, 0, false },
    { "Fri, 32 Dec 1999 23:59:59 GMT", RETRY_AFTER_INVALID, 0, false },
};

TEST(retry_after_is_seconds_or_a_date)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *label = cases[i].value != NULL ? cases[i].value : "absent";
        const struct retry_after got = retry_after_parse(str_of(cases[i].value), NOW_US);

        CHECK_EQ(got.kind, cases[i].kind, label);
        CHECK_EQ(got.wait_us, cases[i].wait_us, label);
        CHECK_EQ(got.is_past, cases[i].is_past, label);
    }
}

TEST(retry_after_is_obeyed_only_where_it_says_leave_me_alone)
{
    static const int obeyed[] = { 429, 500, 502, 503, 504 };
    static const int others[] = { 200, 301, 302, 400, 403, 404, 422 };

    for (size_t i = 0; i < ARRAY_LEN(obeyed); i++)
        CHECK(retry_after_is_obeyed(obeyed[i]), "throttled, or in trouble");
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        CHECK(!retry_after_is_obeyed(others[i]), "any other");
}

/* The value of a header in a response of curl's tests, or NULL data. */
static struct str header_of(struct str reply, struct str name)
{
    while (reply.len > 0) {
        struct str line = str_trim(str_cut(&reply, '\n'));
        const struct str found = str_cut(&line, ':');

        if (str_eq_nocase(found, name))
            return str_trim(line);
    }
    return (struct str){ NULL, 0 };
}

/* What curl expects of each of its responses: the seconds, -1 for none. The response's own Date is
 * the clock; where it has none, any will do. */
TEST(retry_after_reads_the_replies_of_curls_tests)
{
    static const struct {
        const char *file;
        int64_t seconds;
        bool is_obeyed;
    } replies[] = {
        { "curl-test1594-data.http", 22, true },   { "curl-test1595-data.http", -1, true },
        { "curl-test1596-data.http", 0, true },    { "curl-test1633-data.http", -1, false },
        { "curl-test1633-data2.http", 1, true },   { "curl-test3010-data.http", 2, false },
        { "curl-test3010-data2.http", -1, false }, { "curl-test366-data.http", 200, true },
    };

    if (test_shared("suites/retry-after") == NULL)
        TEST_SKIP("the suite retry-after is not here");
    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        char file[128];
        struct str reply, date;
        struct retry_after got;
        int64_t now_us = 0;

        (void)snprintf(file, sizeof(file), "suites/retry-after/%s", replies[i].file);
        REQUIRE(test_shared(file) != NULL, file);
        reply = test_read(test_shared(file));
        date = header_of(reply, STR("Date"));
        REQUIRE(date.data == NULL || http_date_parse(date, 0, &now_us), file);
        got = retry_after_parse(header_of(reply, STR("Retry-After")), now_us);
        CHECK_EQ(got.kind, replies[i].seconds < 0 ? RETRY_AFTER_NONE : RETRY_AFTER_WAIT, file);
        if (replies[i].seconds >= 0)
            CHECK_EQ(got.wait_us, replies[i].seconds * US_PER_SECOND, file);
        CHECK_EQ(got.is_past, replies[i].seconds == 0, file);
        CHECK_EQ(retry_after_is_obeyed(atoi(reply.data + sizeof("HTTP/1.1 ") - 1)),
                 replies[i].is_obeyed, file);
    }
    test_note("curl's Retry-After responses: %zu", ARRAY_LEN(replies));
}

/* status, retry_after, date_header, host, source; tab separated, one line of names first. */
TEST(retry_after_reads_every_value_that_was_observed)
{
    const char *path = test_shared("suites/retry-after/observed.tsv");
    struct str rest;
    int count = 0, obeyed = 0;

    if (path == NULL)
        TEST_SKIP("observed.tsv is not here");
    rest = test_read(path);
    (void)str_cut(&rest, '\n');
    while (rest.len > 0) {
        struct str line = str_cut(&rest, '\n');
        int64_t status, seconds, now_us;
        struct retry_after got;
        struct str value;

        REQUIRE(str_to_i64(str_cut(&line, '\t'), &status), "a status");
        value = str_cut(&line, '\t');
        REQUIRE(str_to_i64(value, &seconds), "all that were observed are seconds");
        REQUIRE(http_date_parse(str_cut(&line, '\t'), 0, &now_us), "a Date header");
        got = retry_after_parse(value, now_us);
        CHECK(got.kind == RETRY_AFTER_WAIT && got.wait_us == seconds * US_PER_SECOND, value.data);
        /* Zenodo sends it with each 200 and 422; only arXiv's 503 is to be obeyed. */
        CHECK_EQ(retry_after_is_obeyed((int)status), status == 503, "obeyed");
        obeyed += retry_after_is_obeyed((int)status);
        count++;
    }
    CHECK(count > 10 && obeyed > 0, "lines were found");
    test_note("observed Retry-After headers: %d, to be obeyed: %d", count, obeyed);
}
