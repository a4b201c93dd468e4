/* Date formats: examples, borders, random dates, and dates of recorded responses. */
#include "data/date.h"

#include <stdio.h>

#include "base/instant.h"
#include "base/quote.h"
#include "suite.h"
#include "test.h"

/* Runs the cases of a JSON Schema format file through `accepts`. Values that are not strings say
 * nothing about a format, and are left out. */
static void run_suite(const char *name, bool (*accepts)(struct str text))
{
    char file[128];
    const char *path;
    struct suite suite;
    struct suite_token token;
    struct str text = { NULL, 0 };
    int count = 0;
    bool is_text = false;

    (void)snprintf(file, sizeof(file), "suites/dates/%s.json", name);
    path = test_shared(file);
    if (path == NULL)
        TEST_SKIP("the suite %s is not here", name);
    suite = suite_of(test_read(path));
    while (suite_next(&suite, &token)) {
        if (suite_is_key(&token, "data")) {
            REQUIRE(suite_next(&suite, &token), "a value");
            is_text = token.type == SUITE_STRING;
            text = token.text;
        } else if (suite_is_key(&token, "valid") && is_text) {
            REQUIRE(suite_next(&suite, &token), "a verdict");
            CHECK_EQ(accepts(text), suite_is_word(&token, "true"), QUOTE(text));
            count++;
        }
    }
    CHECK(count > 20, "cases were found");
    test_note("%s: %d cases", name, count);
}

static bool read_as(const char *format, struct str text, struct date *date)
{
    const struct date_format *found = date_format_find(str_of(format));
    struct error err;

    REQUIRE(found != NULL, format);
    return date_parse(found, text, date, &err);
}

static bool accepts_date_time(struct str text)
{
    struct date date;

    return read_as("rfc3339", text, &date);
}

static bool accepts_date(struct str text)
{
    struct date date;

    return read_as("date", text, &date);
}

TEST(date_rfc3339_keeps_the_json_schema_suite)
{
    run_suite("jsonschema-date-time", accepts_date_time);
}

TEST(date_day_keeps_the_json_schema_suite)
{
    run_suite("jsonschema-date", accepts_date);
}

/* raw: ["@0"] ... expected: [{"__type": "date", "value": 0}, []] or must_fail: true */
TEST(date_structured_keeps_the_structured_fields_suite)
{
    const char *path = test_shared("suites/dates/structured-fields-date.json");
    struct suite suite;
    struct suite_token token;
    struct str raw = { NULL, 0 };
    int count = 0, may_fail = 0;
    bool can_fail = false;

    if (path == NULL)
        TEST_SKIP("the suite structured-fields-date is not here");
    suite = suite_of(test_read(path));
    while (suite_next(&suite, &token)) {
        struct date date;
        int64_t seconds;

        if (suite_is_key(&token, "raw")) {
            REQUIRE(suite_next(&suite, &token) && suite_next(&suite, &token), "a raw value");
            raw = token.text;
            can_fail = false;
        } else if (suite_is_key(&token, "can_fail")) {
            can_fail = true;
        } else if (suite_is_key(&token, "must_fail")) {
            CHECK(!read_as("structured", raw, &date), QUOTE(raw));
            count++;
        } else if (suite_is_key(&token, "value")) {
            REQUIRE(suite_next(&suite, &token) && str_to_i64(token.text, &seconds), "a number");
            if (read_as("structured", raw, &date))
                CHECK_EQ(date.at_us, seconds * US_PER_SECOND, QUOTE(raw));
            else
                CHECK(can_fail, QUOTE(raw));
            count++;
            may_fail += can_fail;
        }
    }
    CHECK(count > 10, "cases were found");
    test_note("structured-fields-date: %d cases, %d of them may fail", count, may_fail);
}

/* The instants were worked out with an independent tool (GNU date -u -d ... +%s). */
static const struct {
    const char *format;
    const char *text;
    int64_t at_us;
    enum date_precision precision;
} cases[] = {
    { "rfc3339", "2001-09-15T08:30:06Z", 1000542606000000, DATE_SECOND },
    { "rfc3339", "2001-09-15T08:30:06.25+02:00", 1000535406250000, DATE_MICROSECOND },
    { "rfc3339", "2001-09-15T08:30:06.123456789Z", 1000542606123456, DATE_MICROSECOND },
    { "rfc3339", "1969-12-31T23:59:59.999999Z", -1, DATE_MICROSECOND },
    { "rfc3339", "1998-12-31T23:59:60Z", 915148799999999, DATE_SECOND },
    { "rfc3339", "1998-12-31T15:59:60.5-08:00", 915148799999999, DATE_MICROSECOND },
    { "datetime", "2001-09-15T08:30:06Z", 1000542606000000, DATE_SECOND },
    { "datetime", "2001-09-15T08:30:06.123456", 1000542606123456, DATE_MICROSECOND },
    { "datetime", "2001-09-15 08:30", 1000542600000000, DATE_MINUTE },
    { "datetime", "2001-09-15T10:30:06+0200", 1000542606000000, DATE_SECOND },
    { "datetime", "2001-09-15T10:30:06+02", 1000542606000000, DATE_SECOND },
    { "date", "2001-09-15", 1000512000000000, DATE_DAY },
    { "month", "2001-09", 999302400000000, DATE_MONTH },
    { "year", "2001", 978307200000000, DATE_YEAR },
    { "partial", "2001", 978307200000000, DATE_YEAR },
    { "partial", "2001-09", 999302400000000, DATE_MONTH },
    { "partial", "2001-09-15", 1000512000000000, DATE_DAY },
    { "ncbi", "2001", 978307200000000, DATE_YEAR },
    { "ncbi", "2001/09", 999302400000000, DATE_MONTH },
    { "ncbi", "2001/09/15", 1000512000000000, DATE_DAY },
    { "ncbi", "2001/09/15 08:30", 1000542600000000, DATE_MINUTE },
    { "medline", "2001", 978307200000000, DATE_YEAR },
    { "medline", "2001 Sep", 999302400000000, DATE_MONTH },
    { "medline", "2001 September", 999302400000000, DATE_MONTH },
    { "medline", "2001 Sep 5", 999648000000000, DATE_DAY },
    { "medline", "2001 Sep 15", 1000512000000000, DATE_DAY },
    { "medline", "2001 Sep-Oct", 999302400000000, DATE_MONTH },
    { "medline", "2001 Sep - Oct", 999302400000000, DATE_MONTH },
    { "medline", "2001 Sep 15-20", 1000512000000000, DATE_DAY },
    { "medline", "2001 Sep 15-Oct 2", 1000512000000000, DATE_DAY },
    { "medline", "2001 Dec-2002 Jan", 1007164800000000, DATE_MONTH },
    { "medline", "2001-2002", 978307200000000, DATE_YEAR },
    { "medline", "2001 Winter", 978307200000000, DATE_QUARTER },
    { "medline", "2001 Spring", 983404800000000, DATE_QUARTER },
    { "medline", "2001 Summer", 991353600000000, DATE_QUARTER },
    { "medline", "2001 Fall", 999302400000000, DATE_QUARTER },
    { "medline", "2001 Autumn", 999302400000000, DATE_QUARTER },
    { "medline", "2001 Spring-Summer", 983404800000000, DATE_QUARTER },
    { "rfc822", "Sat, 15 Sep 2001 08:30:06 GMT", 1000542606000000, DATE_SECOND },
    { "rfc822", "5 Sep 2001 08:30 +0200", 999671400000000, DATE_MINUTE },
    { "rfc822", "Sat, 15 Sep 01 08:30:06 EST", 1000560606000000, DATE_SECOND },
    { "rfc822", "Fri, 15 Sep 95 08:30:06 -0000", 811153806000000, DATE_SECOND },
    { "compact", "20010915", 1000512000000000, DATE_DAY },
    { "compact", "200109150830", 1000542600000000, DATE_MINUTE },
    { "compact", "20010915083006", 1000542606000000, DATE_SECOND },
    { "compact", "20010915T083006Z", 1000542606000000, DATE_SECOND },
    { "epoch_s", "1000542606", 1000542606000000, DATE_SECOND },
    { "epoch_s", "1000542606.25", 1000542606250000, DATE_MICROSECOND },
    { "epoch_s", "-0.5", -500000, DATE_MICROSECOND },
    { "epoch_s", "0", 0, DATE_SECOND },
    { "epoch_ms", "1000542606250", 1000542606250000, DATE_MICROSECOND },
    { "epoch_ms", "-1", -1000, DATE_MICROSECOND },
    { "structured", "@1000542606", 1000542606000000, DATE_SECOND },
    { "auto", "2001-09-15T08:30:06.25+02:00", 1000535406250000, DATE_MICROSECOND },
    { "auto", "2001-09-15T08:30:06.123456", 1000542606123456, DATE_MICROSECOND },
    { "auto", "2001-09-15", 1000512000000000, DATE_DAY },
    { "auto", "2001", 978307200000000, DATE_YEAR },
    { "auto", "2001/09/15 08:30", 1000542600000000, DATE_MINUTE },
    { "auto", "2001 Sep-Oct", 999302400000000, DATE_MONTH },
    { "auto", "Sat, 15 Sep 2001 08:30:06 GMT", 1000542606000000, DATE_SECOND },
};

TEST(date_forms_give_the_instant_and_how_much_of_it_was_said)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct date date = { 0 };

        CHECK(read_as(cases[i].format, str_of(cases[i].text), &date), cases[i].text);
        CHECK_EQ(date.at_us, cases[i].at_us, cases[i].text);
        CHECK_EQ(date.precision, cases[i].precision, cases[i].text);
    }
}

static const struct {
    const char *format;
    const char *text;
} refused[] = {
    { "rfc3339", "2001-09-15T08:30Z" },
    { "rfc3339", "2001-09-15 08:30:06Z" },
    { "rfc3339", "2001-09-15T08:30:06" },
    { "rfc3339", "2001-09-15T08:30:06.Z" },
    { "rfc3339", "2001-06-15T23:59:60Z" },
    { "rfc3339", "0000-01-01T00:00:00+00:01" },
    { "rfc3339", "9999-12-31T23:59:59-00:01" },
    { "datetime", "2001-09-15" },
    { "datetime", "2001-09-15T" },
    { "datetime", "2001-09-15T25:00" },
    { "datetime", "2001-09-15 10:30:06 " },
    { "datetime", "2001-09-15T08:30:06+2" },
    { "datetime", "2001-09-15T08:30:06 PST" },
    { "month", "2001-13" },
    { "month", "2001-9" },
    { "year", "20010" },
    { "year", "201" },
    { "ncbi", "2001/9/15" },
    { "ncbi", "2001/02/30" },
    { "ncbi", "2001-09-15" },
    { "ncbi", "2001/09-15" },
    { "medline", "Sep 2001" },
    { "medline", "2001 Sept" },
    { "medline", "2001 Sep 31" },
    { "medline", "2001 Oct-Sep" },
    { "medline", "2001 Sep-" },
    { "medline", "2001 Sep -Oct" },
    { "medline", "2001 Sep - " },
    { "medline", "2001 Sep 15-10" },
    { "medline", "2002-2001" },
    { "medline", "2001 Spring 3" },
    { "medline", "2001 " },
    { "medline", "2001  Sep" },
    { "rfc822", "Sat 15 Sep 2001 08:30:06 GMT" },
    { "rfc822", "Sat, 15 Sep 2001 08:30:06" },
    { "rfc822", "Sat, 15 Sep 2001 08:30:06 XYZ" },
    { "rfc822", "Sat, 32 Sep 2001 08:30:06 GMT" },
    { "rfc822", "Sat, 15 Sep 201 08:30:06 GMT" },
    { "compact", "2001091508" },
    { "compact", "20010915T" },
    { "compact", "20011315" },
    { "epoch_s", "" },
    { "epoch_s", "1e9" },
    { "epoch_s", "1." },
    { "epoch_s", ".5" },
    { "epoch_s", "+1" },
    { "epoch_s", "253402300800" },
    { "epoch_s", "99999999999999999999" },
    { "epoch_ms", "1.5" },
    { "epoch_ms", "-62167219200001" },
    { "structured", "@1000000000000000" },
    { "auto", "1000542606" },
    { "auto", "20010915" },
    { "auto", "15/09/2001" },
    { "auto", "unknown" },
    { "auto", "2010/2012" },
    { "auto", "" },
};

TEST(date_refuses_what_is_not_exactly_of_its_form)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct date date;
        char label[128];

        (void)snprintf(label, sizeof(label), "%s: %s", refused[i].format, refused[i].text);
        CHECK(!read_as(refused[i].format, str_of(refused[i].text), &date), label);
    }
}

TEST(date_errors_quote_the_value_and_concern_one_record)
{
    struct date date;
    struct error err;

    CHECK(!date_parse(date_format_find(STR("date")), STR("2001 Sep\n"), &date, &err), "refused");
    CHECK_EQ(err.level, ERROR_DATA, "level");
    CHECK_STR(str_of(err.code), STR("date.syntax"), "code");
    CHECK(str_find(str_of(err.text), STR("\"2001 Sep\\n\"")) < str_of(err.text).len, err.text);
}

TEST(date_formats_are_named_once_and_read_their_own_example)
{
    for (size_t i = 0; i < date_formats_count; i++) {
        const struct date_format *format = &date_formats[i];
        struct date date;

        CHECK(date_format_find(str_of(format->name)) == format, format->name);
        CHECK(str_ends(str_of(format->help), STR(".")), format->help);
        CHECK(format->read(str_of(format->example), &date), format->example);
    }
    CHECK(date_format_find(STR("iso")) == NULL, "unknown");
}

TEST(date_parts_make_a_date_of_one_to_three_numbers)
{
    static const struct {
        int64_t parts[4];
        size_t count;
        int64_t at_us;
        enum date_precision precision;
    } valid[] = {
        { { 2001 }, 1, 978307200000000, DATE_YEAR },
        { { 2001, 9 }, 2, 999302400000000, DATE_MONTH },
        { { 2001, 9, 15 }, 3, 1000512000000000, DATE_DAY },
    };
    static const struct {
        int64_t parts[4];
        size_t count;
    } invalid[] = {
        { { 0 }, 0 },
        { { 2001, 9, 15, 8 }, 4 },
        { { 2001, 13 }, 2 },
        { { 2001, 2, 29 }, 3 },
        { { -1 }, 1 },
        { { 10000 }, 1 },
        { { 2001, 0 }, 2 },
        { { INT64_MAX, 1, 1 }, 3 },
        { { 2001, 1, INT64_C(1) << 32 | 1 }, 3 },
    };
    struct date date;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(valid); i++) {
        REQUIRE_OK(date_from_parts(valid[i].parts, valid[i].count, &date, &err), err);
        CHECK_EQ(date.at_us, valid[i].at_us, "instant");
        CHECK_EQ(date.precision, valid[i].precision, "precision");
    }
    for (size_t i = 0; i < ARRAY_LEN(invalid); i++) {
        err = (struct error){ 0 };
        CHECK(!date_from_parts(invalid[i].parts, invalid[i].count, &date, &err), "refused");
        CHECK_STR(str_of(err.code), STR("date.syntax"), "code");
    }
}

/* The next text between `open` and `close` in rest, which moves past it; NULL data: no more.
 */
static struct str next_between(struct str *rest, struct str open, struct str close)
{
    const size_t from = str_find(*rest, open);
    struct str found;

    if (from == rest->len)
        return (struct str){ NULL, 0 };
    *rest = str_slice(*rest, from + open.len, rest->len);
    found = str_slice(*rest, 0, str_find(*rest, close));
    *rest = str_slice(*rest, found.len, rest->len);
    return found;
}

TEST(date_forms_read_what_providers_sent)
{
    static const struct {
        const char *file;
        const char *open;
        const char *close;
        const char *format;
    } fields[] = {
        { "pubmed/pubmedsample_2019.xml", "<MedlineDate>", "<", "medline" },
        { "pubmed/einfo2.xml", "<LastUpdate>", "<", "ncbi" },
        { "arxiv/oai-listrecords-2014.xml", "<datestamp>", "<", "date" },
        { "arxiv/oai-arxivraw.xml", "<date>", "<", "rfc822" },
        { "arxiv/query-0-100.xml", "<updated>", "<", "rfc3339" },
        { "oai/noaa-datestamp-no-z.xml", "<datestamp>", "<", "datetime" },
        { "oai/zenodo-listrecords.xml", "<datestamp>", "<", "rfc3339" },
        { "openalex/works-cursor-1.json", "\"updated_date\":\"", "\"", "datetime" },
        { "datacite/dois-list.json", "\"updated\":\"", "\"", "rfc3339" },
    };

    if (test_shared("fixtures") == NULL)
        TEST_SKIP("the fixtures are not here");
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        char path[128];
        struct str rest, text;
        int count = 0;

        (void)snprintf(path, sizeof(path), "fixtures/%s", fields[i].file);
        if (test_shared(path) == NULL) {
            CHECK(false, path);
            continue;
        }
        rest = test_read(test_shared(path));
        while ((text = next_between(&rest, str_of(fields[i].open), str_of(fields[i].close))).data !=
               NULL) {
            struct date date, same;

            CHECK(read_as(fields[i].format, text, &date), QUOTE(text));
            CHECK(read_as("auto", text, &same) && same.at_us == date.at_us, QUOTE(text));
            count++;
        }
        CHECK(count > 0, path);
        test_note("%s: %d dates read as %s", fields[i].file, count, fields[i].format);
    }
}

/* Crossref writes each instant twice: "date-time":"2024-05-12T05:26:45Z","timestamp":1715491605xxx.
 */
TEST(date_forms_agree_where_a_provider_says_it_twice)
{
    const char *path = test_shared("fixtures/crossref/works-rows100-big.json");
    struct str rest, text;
    int count = 0;

    if (path == NULL)
        TEST_SKIP("the fixtures are not here");
    rest = test_read(path);
    while ((text = next_between(&rest, STR("\"date-time\":\""), STR("\""))).data != NULL) {
        const struct str stamp = next_between(&rest, STR("\"timestamp\":"), STR("}"));
        struct date date, twin;

        REQUIRE(read_as("rfc3339", text, &date), QUOTE(text));
        REQUIRE(read_as("epoch_ms", str_slice(stamp, 0, 13), &twin), QUOTE(stamp));
        CHECK_EQ(date.at_us, twin.at_us - twin.at_us % US_PER_SECOND, QUOTE(text));
        count++;
    }
    CHECK(count > 100, "pairs were found");
    test_note("crossref: %d moments given twice agree", count);
}
