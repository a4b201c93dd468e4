/* JSONPath, with the compliance suite of RFC 9535. */
#include "normal_path.h"
#include "test.h"

#include <string.h>

#include "base/buf.h"
#include "data/json_canonical.h"
#include "data/jsonpath.h"

static struct arena arena;
static struct error err;

static void begin(void)
{
    arena_release(&arena);
    arena_init(&arena, 64 << 20);
    err = (struct error){ 0 };
}

/* The results' canonical forms and, on request, normalized paths, with a space after each. */
static bool query(struct str path, struct str text, struct buf *values, struct buf *paths)
{
    const struct jsonpath *compiled;
    struct jsonpath_nodes nodes;
    struct json_doc doc;

    if (!jsonpath_compile(&arena, path, &compiled, NULL, &err) ||
        !json_parse(&doc, &arena, text, &err) ||
        !jsonpath_run(compiled, &arena, (struct jsonpath_target){ &doc, json_root(&doc), NULL },
                      &nodes, &err))
        return false;
    buf_init(values, &arena, 1 << 20);
    buf_init(paths, &arena, 1 << 20);
    for (size_t i = 0; i < nodes.count; i++) {
        struct str value, where;

        if (!json_canonical_node(&arena, &doc, nodes.items[i], &value, &err) ||
            !normal_path(&arena, &doc, json_root(&doc), nodes.items[i], &where, &err))
            return false;
        buf_add(values, value);
        buf_add_char(values, ' ');
        buf_add(paths, where);
        buf_add_char(paths, ' ');
    }
    if (jsonpath_is_singular(compiled)) {
        const struct json_node one = jsonpath_get(compiled, &doc, json_root(&doc));

        CHECK_EQ(nodes.count, json_exists(one) ? 1 : 0, "a singular query gives one or none");
        CHECK(nodes.count == 0 || one.at == nodes.items[0].at, "and the same by the short way");
    }
    return true;
}

static void check_query(const char *path, const char *text, const char *wanted)
{
    struct buf values, paths;

    begin();
    if (!query(str_of(path), str_of(text), &values, &paths))
        test_fail(__FILE__, __LINE__, "%s: %s", path, err.text);
    else
        CHECK_STR(buf_str(&values), str_of(wanted), path);
}

/* ---- the public suite ---- */

static struct json_doc suite;

/* The elements of a list of the suite, as query() writes them. */
static struct str expected(struct json_node list, bool paths)
{
    struct json_iter it;
    struct buf out;

    buf_init(&out, &arena, 1 << 20);
    for (it = json_each(&suite, list); json_next(&it);) {
        struct str value;

        if (paths)
            REQUIRE_OK(json_string(&suite, it.value, &arena, &value, &err), err);
        else
            REQUIRE_OK(json_canonical_node(&arena, &suite, it.value, &value, &err), err);
        buf_add(&out, value);
        buf_add_char(&out, ' ');
    }
    return buf_str(&out);
}

/* Equal to the one list, or to one of the alternatives. */
static bool is_expected(struct json_node test, const char *one, const char *many, struct str got,
                        bool paths)
{
    const struct json_node list = json_get(&suite, test, str_of(one));
    struct json_iter it;

    if (json_exists(list))
        return str_eq(got, expected(list, paths));
    for (it = json_each(&suite, json_get(&suite, test, str_of(many))); json_next(&it);) {
        if (str_eq(got, expected(it.value, paths)))
            return true;
    }
    return false;
}

static bool run_case(struct json_node test, struct str name)
{
    const struct str text = json_raw(&suite, json_get(&suite, test, STR("document")));
    const struct jsonpath *compiled;
    struct buf values, paths;
    struct str path;

    REQUIRE_OK(json_string(&suite, json_get(&suite, test, STR("selector")), &arena, &path, &err),
               err);
    if (json_exists(json_get(&suite, test, STR("invalid_selector")))) {
        size_t fault_at = SIZE_MAX;

        if (jsonpath_compile(&arena, path, &compiled, &fault_at, &err)) {
            test_fail(__FILE__, __LINE__, "%.*s: accepted", STR_ARG(name));
            return false;
        }
        CHECK(fault_at <= path.len, "the fault is in the path");
        CHECK_STR(str_of(err.code), STR("jsonpath.syntax"), "the code");
        return true;
    }
    if (!query(path, text, &values, &paths)) {
        test_fail(__FILE__, __LINE__, "%.*s: %s", STR_ARG(name), err.text);
        return false;
    }
    if (!is_expected(test, "result", "results", buf_str(&values), false) ||
        !is_expected(test, "result_paths", "results_paths", buf_str(&paths), true)) {
        test_fail(__FILE__, __LINE__, "%.*s: %.*s gave %.*s at %.*s", STR_ARG(name), STR_ARG(path),
                  STR_ARG(buf_str(&values)), STR_ARG(buf_str(&paths)));
        return false;
    }
    return true;
}

TEST(public_suite_of_rfc_9535)
{
    const char *path = test_shared("suites/jsonpath/cts.json");
    struct json_iter it;
    struct arena kept;
    int passed = 0, total = 0;

    if (path == NULL)
        TEST_SKIP("suites/jsonpath is not there");
    arena_init(&kept, 64 << 20);
    REQUIRE_OK(json_parse(&suite, &kept, test_read(path), &err), err);
    for (it = json_each(&suite, json_get(&suite, json_root(&suite), STR("tests")));
         json_next(&it);) {
        struct str name;

        begin();
        REQUIRE_OK(
            json_string(&suite, json_get(&suite, it.value, STR("name")), &arena, &name, &err), err);
        total++;
        passed += run_case(it.value, name);
    }
    arena_release(&kept);
    CHECK(total > 0, "cases were found");
    test_note("jsonpath-compliance-test-suite: %d of %d cases, results and normalized paths",
              passed, total);
}

/* ---- what the suite leaves open ---- */

TEST(paths_of_sources_read_their_records)
{
    static const char page[] =
        "{\"message\":{\"total-results\":2,\"items\":[{\"DOI\":\"10.1/a\",\"title\":[\"A\"],"
        "\"indexed\":{\"date-time\":\"2026-01-02\"}},{\"DOI\":\"10.1/b\",\"title\":[]}]}}";

    check_query("$.message.items[*].DOI", page, "\"10.1/a\" \"10.1/b\" ");
    check_query("$.message['total-results']", page, "2 ");
    check_query("$.message.items[-1].DOI", page, "\"10.1/b\" ");
    check_query("$.message.items[?@.indexed].title[0]", page, "\"A\" ");
    check_query("$.message.items[0].indexed['date-time']", page, "\"2026-01-02\" ");
    check_query("$.message.items[5]", page, "");
    check_query("$.message.items[-3]", page, "");
    check_query("$.message[0]", page, "");
    check_query("$.message.items.DOI", page, "");
}

TEST(the_root_is_the_node_that_was_given)
{
    const struct jsonpath *id, *others;
    struct jsonpath_nodes nodes;
    struct json_node record, found;
    struct json_doc doc;

    begin();
    REQUIRE_OK(
        json_parse(&doc, &arena, STR("{\"items\":[{\"id\":1,\"x\":[1,2]},{\"id\":2}]}"), &err),
        err);
    REQUIRE_OK(jsonpath_compile(&arena, STR("$.id"), &id, NULL, &err), err);
    REQUIRE_OK(jsonpath_compile(&arena, STR("$.x[?@ == $.id]"), &others, NULL, &err), err);
    record = json_at(&doc, json_get(&doc, json_root(&doc), STR("items")), 0);
    CHECK_STR(json_raw(&doc, jsonpath_get(id, &doc, record)), STR("1"), "an item's id");
    CHECK(!json_exists(jsonpath_get(id, &doc, json_root(&doc))), "the page has none");
    CHECK(!json_exists(jsonpath_get(id, &doc, JSON_NODE_NONE)), "nothing has nothing");
    REQUIRE_OK(
        jsonpath_run(others, &arena, (struct jsonpath_target){ &doc, record, NULL }, &nodes, &err),
        err);
    CHECK_EQ(nodes.count, 1, "$ inside a filter is the item too");
    REQUIRE_OK(jsonpath_first(others, &arena, (struct jsonpath_target){ &doc, record, NULL },
                              &found, &err),
               err);
    CHECK_STR(json_raw(&doc, found), STR("1"), "the first result");
    REQUIRE_OK(jsonpath_first(id, &arena, (struct jsonpath_target){ &doc, json_root(&doc), NULL },
                              &found, &err),
               err);
    CHECK(!json_exists(found), "no result");
}

TEST(getting_a_singular_query_needs_no_memory)
{
    const struct jsonpath *path;
    struct json_doc doc;
    size_t used;

    begin();
    REQUIRE_OK(json_parse(&doc, &arena, STR("{\"a\":{\"b\\n\":[1,{\"c\":[7,8]}]}}"), &err), err);
    REQUIRE_OK(jsonpath_compile(&arena, STR("$.a['b\\n'][1].c[-1]"), &path, NULL, &err), err);
    used = arena.used;
    CHECK_STR(json_raw(&doc, jsonpath_get(path, &doc, json_root(&doc))), STR("8"), "value");
    CHECK_EQ(arena.used, used, "bytes used");
}

TEST(singular_queries_are_known_by_their_form)
{
    static const struct {
        const char *path;
        bool singular;
    } cases[] = {
        { "$", true },       { "$.a.b", true },    { "$['a'][0][-1]", true },
        { "$.*", false },    { "$..a", false },    { "$['a','b']", false },
        { "$[0:1]", false }, { "$[?@.a]", false }, { "$ .a [0]", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct jsonpath *path;

        begin();
        REQUIRE_OK(jsonpath_compile(&arena, str_of(cases[i].path), &path, NULL, &err), err);
        CHECK_EQ(jsonpath_is_singular(path), cases[i].singular, cases[i].path);
    }
}

TEST(strings_compare_decoded_on_both_sides)
{
    check_query("$[?@.a == @.b]",
                "[{\"a\":\"\\u0041\\n\",\"b\":\"A\\u000a\"},{\"a\":\"\\n\",\"b\":\"n\"}]",
                "{\"a\":\"A\\n\",\"b\":\"A\\n\"} ");
    check_query("$[?@ < 'b']", "[\"a\\u0000\",\"b\",\"\\u0062\",\"\"]", "\"a\\u0000\" \"\" ");
    check_query("$[?@ == '\\ud83d\\ude00']", "[\"\\ud83d\\ude00\",\"x\"]", "\"\xF0\x9F\x98\x80\" ");
    check_query("$[?length(@) == 2]",
                "[\"\\ud83d\\ude00x\",\"\xC3\xA9\",[1,2],{\"a\":1,\"b\":2},12]",
                "\"\xF0\x9F\x98\x80x\" [1,2] {\"a\":1,\"b\":2} ");
    /* The left side's text must outlive the filter that gives the right side. */
    check_query(
        "$.l[?@ == value($.r[?@.k == '\\n'].v)]",
        "{\"l\":[\"x\\ty\",\"other\"],\"r\":[{\"k\":\"\\n\",\"v\":\"x\\ty\"},{\"k\":\"\\t\"}]}",
        "\"x\\ty\" ");
}

TEST(numbers_compare_by_value_and_large_integers_exactly)
{
    check_query("$[?@ == 1]", "[1,1.0,10e-1,\"1\",true]", "1 1 1 ");
    check_query("$[?@ == 9007199254740993]", "[9007199254740992,9007199254740993]",
                "9007199254740992 "); /* canonical form shows a double; one result is the point */
    check_query("$[?@ >= -0.5]", "[-1,-0.5,0,null]", "-0.5 0 ");
    check_query("$[?@ < 1e400]", "[1,1e999]", "1 ");
}

TEST(arrays_and_objects_compare_by_content)
{
    check_query("$[?@.a == @.b].k",
                "[{\"k\":1,\"a\":{\"x\":[1,{}],\"y\":2},\"b\":{\"y\":2.0,\"x\":[1,{}]}},"
                "{\"k\":2,\"a\":[1,2],\"b\":[2,1]},{\"k\":3,\"a\":{\"x\":1},\"b\":{\"y\":1}},"
                "{\"k\":4,\"a\":[],\"b\":{}},{\"k\":5,\"a\":[[[\"\\n\"]]],\"b\":[[[\"\\u000a\"]]]},"
                "{\"k\":6,\"a\":[1],\"b\":[1,2]},{\"k\":7,\"a\":{\"x\":{\"y\":1}},\"b\":{\"x\":{"
                "\"y\":2}}}]",
                "1 5 ");
}

/* ---- faults ---- */

static const struct {
    const char *path;
    size_t at;
    const char *hint;
} faults[] = {
    { "", 0, "starts with $" },
    { "message.items", 0, "starts with $" },
    { "$.content-type", 9, "['like-this']" },
    { "$.", 2, "expected a name" },
    { "$.a.", 4, "expected a name" },
    { "$[a]", 2, "needs quotes" },
    { "$['a'", 5, "expected , or ]" },
    { "$['a", 4, "expected the closing '" },
    { "$.a b", 3, "expected ., .., [ or the end" },
    { "$[01]", 2, "leading zeros" },
    { "$[-0]", 2, "leading zeros" },
    { "$[9007199254740992]", 2, "2^53" },
    { "$[?@.a = 1]", 7, "written ==" },
    { "$[?@.a == b]", 10, "strings need quotes" },
    { "$[?@.* == 1]", 3, "names and indexes only" },
    { "$[?@[ 'a' ] == 1]", 3, "without blanks" },
    { "$[?length(@.a)]", 3, "compare it" },
    { "$[?1]", 3, "compare it" },
    { "$[?count(1) == 1]", 9, "is a query" },
    { "$[?length(@.*) == 1]", 10, "one value" },
    { "$[?size(@.a) == 1]", 3, "unknown function" },
    { "$[?match(@.a)]", 12, "another argument" },
    { "$[?(@.a]", 7, "expected )" },
    { "$['\\x']", 3, "unknown escape" },
    { "$['\\ud800']", 3, "surrogate" },
    { "$[?@.a == 1.]", 12, "expected a digit" },
    { "@.a", 0, "starts with $" },
};

TEST(a_fault_has_its_place_and_a_hint)
{
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        const struct jsonpath *path;
        size_t fault_at = 0;

        begin();
        CHECK(!jsonpath_compile(&arena, str_of(faults[i].path), &path, &fault_at, &err),
              faults[i].path);
        CHECK_EQ(fault_at, faults[i].at, faults[i].path);
        if (strstr(err.text, faults[i].hint) == NULL)
            test_fail(__FILE__, __LINE__, "%s: is '%s', wanted '%s'", faults[i].path, err.text,
                      faults[i].hint);
    }
}

TEST(a_pattern_that_can_not_match_is_warned_of)
{
    const struct jsonpath *path;

    begin();
    REQUIRE_OK(jsonpath_compile(&arena, STR("$[?match(@, '\\\\d+')]"), &path, NULL, &err), err);
    CHECK(jsonpath_warning(path) != NULL && strstr(jsonpath_warning(path), "never matches") != NULL,
          "a warning");
    REQUIRE_OK(jsonpath_compile(&arena, STR("$[?match(@, '[0-9]+')]"), &path, NULL, &err), err);
    CHECK(jsonpath_warning(path) == NULL, "no warning");
    check_query("$[?match(@, '\\\\d+')]", "[\"1\",\"d\",\"\\\\d\"]", "");
}

/* ---- limits ---- */

static struct str repeat(const char *head, const char *piece, size_t count, const char *tail)
{
    struct buf text;

    buf_init(&text, &arena, 16 << 20);
    buf_add(&text, str_of(head));
    for (size_t i = 0; i < count; i++)
        buf_add(&text, str_of(piece));
    buf_add(&text, str_of(tail));
    return buf_str(&text);
}

static bool runs_within(const char *path, struct str text, uint64_t steps)
{
    const struct jsonpath *compiled;
    struct jsonpath_nodes nodes;
    struct json_doc doc;

    REQUIRE_OK(jsonpath_compile(&arena, str_of(path), &compiled, NULL, &err), err);
    REQUIRE_OK(json_parse(&doc, &arena, text, &err), err);
    return jsonpath_run(compiled, &arena, (struct jsonpath_target){ &doc, json_root(&doc), &steps },
                        &nodes, &err);
}

TEST(a_query_that_runs_away_is_stopped)
{
    static const char *const paths[] = {
        "$..*..*..*..*",
        "$..[?count($..[?count($..*) > 1]) > 1]",
        "$..[*,*,*,*,*][*,*,*,*,*]",
    };
    struct str deep;

    begin();
    deep = repeat("", "[[1],", 300, "1");
    deep = arena_copy(&arena, deep);
    deep = repeat(deep.data, "]", 300, "");
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        CHECK(!runs_within(paths[i], deep, 2000), paths[i]);
        CHECK_STR(str_of(err.code), STR("jsonpath.limit"), paths[i]);
    }
    CHECK(runs_within("$..*", deep, 200000), "a plain query is linear");
}

/* Long names and strings that a lookup must read cost as well. */
TEST(reading_long_strings_again_and_again_costs)
{
    struct str text;

    begin();
    text = repeat("{\"long\":\"", "x", 1 << 16, "\",\"c\":1,\"list\":[0");
    text = repeat(text.data, ",0", 1000, "]}");
    CHECK(!runs_within("$.list[?@ == $.c]", text, 500000), "a thousand times 64 KB");
    CHECK(runs_within("$.list[?@ == 0]", text, 500000), "but not the list itself");
}

TEST(a_plain_path_is_whole_where_every_element_leads_on)
{
    static const struct {
        const char *path;
        const char *text;
        bool is_whole;
    } cases[] = {
        { "$.a[*].b", "{\"a\":[{\"b\":1},{\"b\":[]}]}", true },
        { "$.a[*].b", "{\"a\":[{\"b\":1},{\"c\":1}]}", false },
        { "$.a[*].b", "{\"a\":[{\"b\":1},7]}", false },
        { "$.a[*].b", "{\"a\":[]}", true },
        { "$.a[*].b", "{\"a\":7}", false },
        { "$.a[*].b", "{}", false },
        { "$.a[*].b[*]", "{\"a\":[{\"b\":[1]},{\"b\":[]}]}", true },
        { "$.a[*].b[*]", "{\"a\":[{\"b\":[1]},{\"b\":null}]}", false },
        { "$.a[*].b.c", "{\"a\":{\"x\":{\"b\":{\"c\":1}},\"y\":{\"b\":{}}}}", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct jsonpath *path;
        struct json_doc doc;
        bool is_whole;

        begin();
        REQUIRE_OK(jsonpath_compile(&arena, str_of(cases[i].path), &path, NULL, &err), err);
        REQUIRE_OK(json_parse(&doc, &arena, str_of(cases[i].text), &err), err);
        REQUIRE_OK(jsonpath_is_whole(path, &arena,
                                     (struct jsonpath_target){ &doc, json_root(&doc), NULL },
                                     &is_whole, &err),
                   err);
        CHECK_EQ(is_whole, cases[i].is_whole, cases[i].text);
        CHECK(!jsonpath_is_deep(path), cases[i].path);
    }
}

TEST(nesting_in_the_path_is_limited)
{
    const struct jsonpath *path;
    struct str text;

    begin();
    text = repeat("$[?", "(", JSONPATH_NEST_MAX + 1, "@");
    text = arena_copy(&arena, text);
    text = repeat(text.data, ")", JSONPATH_NEST_MAX + 1, "]");
    CHECK(!jsonpath_compile(&arena, text, &path, NULL, &err), "too deep");
    CHECK(strstr(err.text, "nested too deep") != NULL, err.text);
    text = repeat("$[?@.a", " && @.a", 5000, "]");
    REQUIRE_OK(jsonpath_compile(&arena, text, &path, NULL, &err), err);
    text = repeat("$", "[?@", 15, "");
    text = arena_copy(&arena, text);
    text = repeat(text.data, "]", 15, "");
    REQUIRE_OK(jsonpath_compile(&arena, text, &path, NULL, &err), err);
    CHECK(runs_within(text.data, STR("[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]"), 100000),
          "filters in filters");
}

TEST(failing_allocations_are_ordinary_errors)
{
    bool done = false;

    for (size_t n = 1; !done; n++) {
        struct buf values, paths;

        begin();
        arena.fail_at = n;
        done = query(STR("$..[?@.a == @.b && match(@.c, 'x\\\\.y*') && count(@.*) > 1]"),
                     STR("[{\"a\":[\"\\n\"],\"b\":[\"\\n\"],\"c\":\"x.yy\"}]"), &values, &paths);
        if (!done)
            CHECK_STR(str_of(err.code), STR("memory.limit"), "the code");
        REQUIRE(n < 300, "it ends");
    }
    arena_release(&arena);
}
