/* Targets of requests, and routes that match them. */
#include "serve/params.h"
#include "test.h"

static const struct {
    const char *label;
    const char *text;
    size_t segments; /* 0: refused */
    const char *last;
} cases[] = {
    { "a path", "/v1/tasks", 2, "tasks" },
    { "an escaped slash", "/v1/records/x/10.1%2F2", 4, "10.1/2" },
    { "plus is plus in a path", "/a+b", 1, "a+b" },
    { "no slash", "v1", 0, "" },
    { "an empty segment", "/v1//tasks", 0, "" },
    { "a slash at the end", "/v1/", 0, "" },
    { "half an escape", "/v1/%2", 0, "" },
    { "no escape", "/v1/%zz", 0, "" },
    { "a NUL", "/v1/%00", 0, "" },
    { "not UTF-8", "/v1/%ff", 0, "" },
    { "too deep", "/1/2/3/4/5/6/7/8/9", 0, "" },
    { "a parameter without a name", "/v1?=3", 0, "" },
    { "a query that is not UTF-8", "/v1?a=%c3", 0, "" },
};

TEST(targets_are_decoded_or_refused)
{
    struct target target;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error err = { 0 };
        const bool ok = target_parse(&arena, str_of(cases[i].text), &target, &err);

        CHECK_EQ(ok, cases[i].segments > 0, cases[i].label);
        if (!ok) {
            CHECK_STR(str_of(err.code), STR("request.target"), cases[i].label);
            continue;
        }
        CHECK_EQ(target.segment_count, cases[i].segments, cases[i].label);
        CHECK_STR(target.segments[target.segment_count - 1], str_of(cases[i].last), cases[i].label);
    }
    arena_release(&arena);
}

TEST(queries_are_pairs_in_order)
{
    struct target target;
    struct error err = { 0 };
    struct arena arena;

    arena_init(&arena, 1 << 20);
    REQUIRE_OK(target_parse(&arena, STR("/v1?a=1+2&b=%26&c"), &target, &err), err);
    CHECK_EQ(target.pair_count, 3, "pairs");
    CHECK_STR(target.pairs[0].value, STR("1 2"), "plus is a space");
    CHECK_STR(target.pairs[1].value, STR("&"), "decoded after it was split");
    CHECK_STR(target.pairs[2].value, STR(""), "without a value");
    CHECK_STR(target.path, STR("/v1"), "the path as received");
    arena_release(&arena);
}

/* ---- parameters ---- */

static const struct route ROUTE = {
    .method = "POST",
    .path = "/v1/things/{thing}",
    .params = { { .name = "thing", .place = IN_PATH, .kind = PARAM_NUMBER, .least = 1, .most = 9 },
                { .name = "limit",
                  .place = IN_QUERY,
                  .kind = PARAM_NUMBER,
                  .least = 1,
                  .most = 100,
                  .otherwise = 7 },
                { .name = "status",
                  .place = IN_QUERY,
                  .kind = PARAM_CODE,
                  .codes = &TASK_STATUS_CODES },
                { .name = "note", .place = IN_BODY, .kind = PARAM_TEXT, .most = 5 },
                { .name = "ids", .place = IN_BODY, .kind = PARAM_ROWS, .most = 3 },
                { .name = "set", .place = IN_BODY, .kind = PARAM_PAIRS },
                { .name = "dry", .place = IN_BODY, .kind = PARAM_FLAG },
                { .name = "from", .place = IN_BODY, .kind = PARAM_INSTANT } },
};

static const struct {
    const char *label;
    const char *target;
    const char *body;
    const char *refusal; /* a part of it; NULL: accepted */
} params[] = {
    { "all of them", "/v1/things/3?limit=5&status=queued",
      "{\"note\":\"x\",\"ids\":[1,2],\"set\":{\"a\":\"b\"},\"dry\":true,\"from\":\"7d\"}", NULL },
    { "none", "/v1/things/3", "", NULL },
    { "a path out of range", "/v1/things/10", "", "thing: not a whole number from 1 to 9" },
    { "a query that is not known", "/v1/things/3?x=1", "", "x: no parameter in the query" },
    { "of the body in the query", "/v1/things/3?note=1", "", "note: no parameter in the query" },
    { "of the query in the body", "/v1/things/3", "{\"limit\":1}",
      "limit: no parameter in the body" },
    { "twice in the query", "/v1/things/3?limit=1&limit=2", "", "limit: given twice" },
    { "twice in the body", "/v1/things/3", "{\"dry\":true,\"dry\":false}", "dry: given twice" },
    { "a number that is none", "/v1/things/3?limit=1.5", "", "limit: not a whole number" },
    { "a word that is none", "/v1/things/3?status=lost", "", "status: not one of" },
    { "too long", "/v1/things/3", "{\"note\":\"123456\"}", "note: longer than 5 bytes" },
    { "too many", "/v1/things/3", "{\"ids\":[1,2,3,4]}", "ids: too many items" },
    { "a row below 1", "/v1/things/3", "{\"ids\":[0]}", "ids: not only whole numbers from 1" },
    { "an array of anything", "/v1/things/3", "{\"ids\":[\"1\"]}", "ids: not only whole numbers" },
    { "pairs of anything", "/v1/things/3", "{\"set\":{\"a\":1}}", "set: not only texts" },
    { "a flag as a text", "/v1/things/3", "{\"dry\":\"true\"}", "dry: neither true nor false" },
    { "a date that is none", "/v1/things/3", "{\"from\":\"soon\"}", "from: neither a date" },
    { "a NUL in a text", "/v1/things/3", "{\"note\":\"a\\u0000\"}", "note: has a NUL" },
    { "no object", "/v1/things/3", "[1]", "not a JSON object" },
    { "no JSON", "/v1/things/3", "{", "not JSON" },
    { "too deep", "/v1/things/3", "{\"ids\":[[[[[[[[1]]]]]]]]}", "not JSON" },
};

TEST(parameters_are_read_as_the_table_says_or_refused_by_name)
{
    struct param_value values[PARAMS_MAX];
    struct target target;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(params); i++) {
        struct params_input input = { .target = &target,
                                      .body = str_of(params[i].body),
                                      .now_us = INT64_C(1767225600000000) };
        struct error err = { 0 };
        bool ok;

        REQUIRE_OK(target_parse(&arena, str_of(params[i].target), &target, &err), err);
        CHECK(route_matches(&ROUTE, &target), params[i].label);
        ok = params_read(&arena, &ROUTE, &input, values, &err);
        CHECK_EQ(ok, params[i].refusal == NULL, params[i].label);
        if (!ok && params[i].refusal != NULL &&
            str_find(str_of(err.text), str_of(params[i].refusal)) == str_of(err.text).len)
            test_fail(__FILE__, __LINE__, "%s: '%s' is not in '%s'", params[i].label,
                      params[i].refusal, err.text);
        if (i == 0) {
            CHECK_EQ(values[1].number, 5, "limit");
            CHECK_EQ(values[2].number, TASK_QUEUED, "a word in any case");
            CHECK_EQ(values[4].rows[1], 2, "rows");
            CHECK_STR(values[5].names[0], STR("a"), "the name of a pair");
            CHECK_STR(values[5].texts[0], STR("b"), "its value");
            CHECK_EQ(values[7].number, input.now_us - 7 * INT64_C(86400000000), "seven days ago");
        }
        if (i == 1)
            CHECK_EQ(values[1].number, 7, "the default");
    }
    arena_release(&arena);
}
