/* What an item must be to become a record. */
#include "fetch_rig.h"
#include "test.h"

static const struct http_header JSON = { STR_INIT("Content-Type"), STR_INIT("application/json") };

/* A walk of one page with this body. */
static void run(struct rig *rig, const char *operation, const char *body)
{
    rig_init(rig, "test/data/fetch/records.yaml", operation, NULL);
    scripted_http_reply(&rig->http, &(struct scripted_reply){ .status = 200,
                                                              .headers = &JSON,
                                                              .header_count = 1,
                                                              .body = str_of(body),
                                                              .times = -1 });
    rig_run(rig);
}

/* ---- dates ---- */

/* The window is the first of January 2026, and the clock is in August. */
TEST(a_date_from_the_future_is_no_reason_to_drop_a_record)
{
    struct rig rig;

    run(&rig, "plain",
        "{\"items\":[{\"id\":\"in\",\"at\":\"2026-01-01T08:00:00Z\"},"
        "{\"id\":\"out\",\"at\":\"2026-03-01T08:00:00Z\"},"
        "{\"id\":\"tomorrow\",\"at\":\"2026-08-30T00:00:00Z\"},"
        "{\"id\":\"never\",\"at\":\"9999-12-31T00:00:00Z\"}]}");
    CHECK(!rig.failed, rig.err.text);
    REQUIRE(rig.ids.count == 2, "records");
    CHECK_STR(rig.ids.items[0], STR("in"), "of the window");
    CHECK_STR(rig.ids.items[1], STR("never"), "of no window: its date is not believed");
    CHECK_EQ(rig.dates.items[1], INT64_MIN, "it has none");
    CHECK_EQ(rig.bad.count, 0, "and is not bad");
    rig_release(&rig);
}

/* ---- ids ---- */

#define DATE ",\"at\":\"2026-01-01T08:00:00Z\""

TEST(a_lone_surrogate_is_not_an_id)
{
    struct rig rig;

    run(&rig, "pages",
        "{\"items\":[{\"id\":\"a\\ud800\"" DATE "},{\"id\":\"a\\ud801\"" DATE "},"
        "{\"id\":\"a\\udc00\\ud800\"" DATE "},{\"id\":\"\\ud83d\\ude00\"" DATE "},"
        "{\"id\":\"a\\ufffd\"" DATE "},{\"id\":\"v\",\"v\":\"\\udfff\"" DATE "},"
        "{\"id\":\"m\",\"merged\":\"\\ud800\"" DATE "}]}");
    CHECK(!rig.failed, rig.err.text);
    REQUIRE(rig.ids.count == 2, "records");
    CHECK_STR(rig.ids.items[0], STR("\xf0\x9f\x98\x80"), "a whole pair");
    CHECK_STR(rig.ids.items[1], STR("a\xef\xbf\xbd"), "the replacement character itself");
    REQUIRE(rig.bad.count == 5, "the others");
    CHECK_STR(rig.bad.items[0], STR(" id.invalid"), "refused, and known by no id");
    CHECK_STR(rig.bad.items[1], STR(" id.invalid"), "another");
    CHECK_STR(rig.bad.items[2], STR(" id.invalid"), "in the wrong order");
    CHECK_STR(rig.bad.items[3], STR("v version.invalid"), "versions");
    CHECK_STR(rig.bad.items[4], STR("m id.invalid"), "ids of other records");
    rig_release(&rig);
}

TEST(the_parts_of_an_id_do_not_run_into_each_other)
{
    static const char *const wanted[] = { "x\\:y:z", "x:y\\:z", "x\\\\:y", "x:\\\\y", "1:2" };
    struct rig rig;
    const struct str *url;

    run(&rig, "parts",
        "{\"total\":5,\"items\":[{\"a\":\"x:y\",\"b\":\"z\"" DATE "},"
        "{\"a\":\"x\",\"b\":\"y:z\"" DATE "},{\"a\":\"x\\\\\",\"b\":\"y\"" DATE "},"
        "{\"a\":\"x\",\"b\":\"\\\\y\"" DATE "},{\"a\":1,\"b\":\"2\"" DATE "}]}");
    CHECK(!rig.failed, rig.err.text);
    REQUIRE(rig.ids.count == ARRAY_LEN(wanted), "all of them");
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        CHECK_STR(rig.ids.items[i], str_of(wanted[i]), wanted[i]);
    REQUIRE(rig.http.sent.count == 2, "the list, and the records");
    url = &rig.http.sent.items[1].url;
    CHECK(str_find(*url, STR("ids=x%3Ay%3Az%7Cx%3Ay%3Az%7Cx%5C%3Ay%7Cx%3A%5Cy%7C1%3A2")) < url->len,
          url->data);
    rig_release(&rig);
}

TEST(a_number_and_a_text_that_look_alike_are_not_one_record)
{
    struct rig rig;

    run(&rig, "pages",
        "{\"items\":[{\"id\":1,\"n\":1" DATE "},{\"id\":\"1\",\"n\":2" DATE "},"
        "{\"id\":\"2\"" DATE "},{\"id\":2" DATE "},{\"id\":\"x\"" DATE "},{\"id\":7" DATE "}]}");
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.ids.count, 4, "1, 2, x and 7");
    CHECK_STR(rig.payloads.items[0], STR("{\"id\":1,\"n\":1" DATE "}"), "the first one stays");
    REQUIRE(rig.bad.count == 2, "one of each pair");
    CHECK_STR(rig.bad.items[0], STR(" id.ambiguous"), "the later one");
    CHECK_STR(rig.bad.items[1], STR(" id.ambiguous"), "the later one");
    rig_release(&rig);
}

TEST(a_number_and_a_text_are_told_apart_over_pages)
{
    static const char *const pages[] = {
        "{\"items\":[{\"id\":1" DATE "},{\"id\":2" DATE "}],\"next\":\"b\"}",
        "{\"items\":[{\"id\":\"1\"" DATE "},{\"id\":\"3\"" DATE "}],\"next\":\"c\"}",
        "{\"items\":[{\"id\":3" DATE "},{\"id\":4" DATE "}]}",
    };
    static const char *const tokens[] = { "/pages", "token=b", "token=c" };
    struct rig rig;

    rig_init(&rig, "test/data/fetch/records.yaml", "pages", NULL);
    for (size_t i = ARRAY_LEN(pages); i-- > 0;)
        scripted_http_reply(&rig.http, &(struct scripted_reply){ .url_part = str_of(tokens[i]),
                                                                 .status = 200,
                                                                 .headers = &JSON,
                                                                 .header_count = 1,
                                                                 .body = str_of(pages[i]),
                                                                 .times = -1 });
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.ids.count, 4, "1, 2, 3 and 4");
    CHECK_EQ(rig.bad.count, 2 * rig.last.verdict.sweeps, "\"1\" and 3, in each sweep");
    CHECK_STR(rig.bad.items[0], STR(" id.ambiguous"), "of another page");
    rig_release(&rig);
}

/* ---- fields ---- */

TEST(a_field_with_a_value_that_is_not_listed_is_bad)
{
    struct rig rig;

    run(&rig, "typed",
        "{\"items\":[{\"id\":\"1\",\"type\":\"book\"" DATE "},"
        "{\"id\":\"2\",\"type\":\"Book\"" DATE "},{\"id\":\"3\"" DATE "},"
        "{\"id\":\"4\",\"type\":null" DATE "},{\"id\":\"5\",\"type\":{}" DATE "},"
        "{\"id\":\"6\",\"type\":\"article\",\"flags\":[\"a\",1,true]" DATE "},"
        "{\"id\":\"7\",\"type\":\"article\",\"flags\":[\"a\",\"c\"]" DATE "},"
        "{\"id\":\"8\",\"type\":\"article\",\"flags\":[],\"tags\":[\"x\",null]" DATE "},"
        "{\"id\":\"9\",\"type\":\"article\",\"tags\":[\"x\",[\"x\"]]" DATE "}]}");
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.ids.count, 3, "1, 6 and 8");
    CHECK(rig_has(&rig.ids, STR("6")) && rig_has(&rig.ids, STR("8")), "the lists");
    REQUIRE(rig.bad.count == 6, "the others");
    CHECK_STR(rig.bad.items[0], STR("2 field.value"), "another letter");
    CHECK_STR(rig.bad.items[1], STR("3 field.missing"), "none");
    CHECK_STR(rig.bad.items[2], STR("4 field.missing"), "null is none");
    CHECK_STR(rig.bad.items[3], STR("5 field.value"), "not a text");
    CHECK_STR(rig.bad.items[4], STR("7 field.value"), "one of several");
    CHECK_STR(rig.bad.items[5], STR("9 field.value"), "a list in a list");
    rig_release(&rig);
}

TEST(the_first_date_that_is_there_counts_and_none_may_be)
{
    struct rig rig;

    run(&rig, "typed",
        "{\"items\":[{\"id\":\"1\",\"type\":\"book\",\"at\":\"2026-01-01T01:00:00Z\","
        "\"dates\":{\"changed\":\"2026-01-01T02:00:00Z\"}},"
        "{\"id\":\"2\",\"type\":\"book\",\"dates\":{\"changed\":\"2026-01-01T02:00:00Z\","
        "\"made\":\"2026-01-01T03:00:00Z\"}},"
        "{\"id\":\"3\",\"type\":\"book\",\"at\":null,\"dates\":{\"changed\":\"\","
        "\"made\":\"2026-01-01T03:00:00Z\"}},"
        "{\"id\":\"4\",\"type\":\"book\",\"at\":\"soon\","
        "\"dates\":{\"changed\":\"2026-01-01T02:00:00Z\"}},"
        "{\"id\":\"5\",\"type\":\"book\"}]}");
    CHECK(!rig.failed, rig.err.text);
    REQUIRE(rig.ids.count == 4, "records");
    for (int i = 0; i < 3; i++)
        CHECK_EQ(rig.dates.items[i], INT64_C(1767225600000000) + (i + 1) * US_PER_HOUR,
                 "the first that is there");
    CHECK_STR(rig.ids.items[3], STR("5"), "without any");
    CHECK_EQ(rig.dates.items[3], INT64_MIN, "it has none");
    REQUIRE(rig.bad.count == 1, "one is bad");
    CHECK_STR(rig.bad.items[0], STR("4 date.syntax"), "one that cannot be read is not passed over");
    rig_release(&rig);
}

/* ---- tokens ---- */

TEST(a_lone_surrogate_is_not_a_token)
{
    struct rig rig;

    run(&rig, "pages", "{\"items\":[{\"id\":\"a\"" DATE "}],\"next\":\"b\\ud800\"}");
    CHECK(rig.failed, "the page cannot be followed");
    CHECK_STR(str_of(rig.err.code), STR("page.next"), rig.err.text);
    CHECK_EQ(rig.ids.count, 0, "and counts for nothing");
    rig_release(&rig);
}
