/* Parsing and walking JSON, with the public test suite and random documents. */
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "data/json.h"

enum { MEMORY_MAX = 64 << 20 };

static struct arena arena;
static struct json_doc doc;
static struct error err;

static bool parse(struct str text)
{
    arena_release(&arena);
    arena_init(&arena, MEMORY_MAX);
    err = (struct error){ 0 };
    return json_parse(&doc, &arena, text, &err);
}

static struct json_node root_of(struct str text)
{
    REQUIRE_OK(parse(text), err);
    return json_root(&doc);
}

/* Every node of the document, through every function that walks. */
static size_t walk(struct json_node root)
{
    struct json_iter stack[JSON_DEPTH_MAX + 1];
    size_t depth = 0, nodes = 1;

    stack[depth++] = json_each(&doc, root);
    while (depth > 0) {
        struct json_iter *it = &stack[depth - 1];
        struct str value;

        if (!json_next(it)) {
            depth--;
            continue;
        }
        nodes++;
        CHECK(json_raw(&doc, it->value).len > 0, "a node has bytes");
        if (json_exists(it->name)) {
            CHECK(json_string(&doc, it->name, &arena, &value, &err), "a name decodes");
            CHECK(str_is_utf8(value), "a decoded name is UTF-8");
            CHECK(json_exists(json_get(&doc, json_root(&doc), value)) || depth > 1,
                  "a name of the root is found by its decoded form");
        }
        if (json_type(&doc, it->value) == JSON_STRING) {
            CHECK(json_string(&doc, it->value, &arena, &value, &err), "a string decodes");
            CHECK(str_is_utf8(value), "a decoded string is UTF-8");
            CHECK(json_string_is(&doc, it->value, value), "a string is what it decodes to");
        }
        stack[depth++] = json_each(&doc, it->value);
    }
    return nodes;
}

/* ---- the public suite ---- */

struct suite_counts {
    int accepted, refused, wrong;
};

static void run_suite_file(const char *folder, const char *name, struct suite_counts *counts)
{
    char path[600];
    struct str text;
    bool ok;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    text = test_read(path);
    REQUIRE(text.data != NULL, path);
    ok = parse(text);
    CHECK_EQ(json_is_valid(text), ok, name);
    if (ok)
        walk(json_root(&doc));
    else
        CHECK(err.level == ERROR_REQUEST && err.text[0] != '\0', name);
    *(ok ? &counts->accepted : &counts->refused) += 1;
    if ((name[0] == 'y' && !ok) || (name[0] == 'n' && ok && name[1] == '_')) {
        counts->wrong++;
        test_fail(__FILE__, __LINE__, "%s: %s", name, ok ? "accepted" : err.text);
    }
}

static struct suite_counts run_suite(const char *folder, char kind)
{
    struct suite_counts counts = { 0 };
    struct dirent *entry;
    DIR *dir = opendir(folder);

    REQUIRE(dir != NULL, folder);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.' && (kind == '*' || entry->d_name[0] == kind))
            run_suite_file(folder, entry->d_name, &counts);
    }
    (void)closedir(dir);
    return counts;
}

TEST(public_suite_y_is_accepted_and_n_is_refused)
{
    const char *shared = test_shared("suites/json/test_parsing");
    struct suite_counts y, n, i;
    char folder[500];

    if (shared == NULL)
        TEST_SKIP("suites/json is not there");
    (void)snprintf(folder, sizeof(folder), "%s", shared);
    y = run_suite(folder, 'y');
    n = run_suite(folder, 'n');
    i = run_suite(folder, 'i');
    CHECK(y.accepted > 0 && n.refused > 0 && i.accepted + i.refused > 0, "files were found");
    CHECK_EQ(y.refused + n.accepted, 0, "wrong");
    test_note(
        "JSONTestSuite: %d of %d y_ accepted, %d of %d n_ refused, %d i_ accepted, %d refused",
        y.accepted, y.accepted + y.refused, n.refused, n.accepted + n.refused, i.accepted,
        i.refused);
}

TEST(public_suite_transforms_have_defined_values)
{
    const char *shared = test_shared("suites/json/test_transform");
    struct suite_counts counts;
    char folder[500];

    if (shared == NULL)
        TEST_SKIP("suites/json is not there");
    (void)snprintf(folder, sizeof(folder), "%s", shared);
    counts = run_suite(folder, '*');
    test_note("JSONTestSuite: %d transforms accepted, %d refused (not UTF-8)", counts.accepted,
              counts.refused);
}

/* ---- errors ---- */

static const struct {
    const char *text;
    const char *wanted; /* part of the error */
} faults[] = {
    { "", "offset 0 (line 1, column 1): expected a value, found the end" },
    { "  ", "offset 2 (line 1, column 3): expected a value" },
    { "{\"a\" 1}", "offset 5 (line 1, column 6): expected : after the name, found '1'" },
    { "{\n  \"a\": 1,\n  }", "offset 14 (line 3, column 3): expected a name" },
    { "[1,]", "offset 3 (line 1, column 4): expected a value: one of" },
    { "[1", "expected , or ]" },
    { "{\"a\":1", "expected , or }" },
    { "[1}", "offset 2 (line 1, column 3): expected , or ], found '}'" },
    { "\"abc", "expected the closing \"" },
    { "\"a\tb\"", "a control character must be escaped" },
    { "\"\\x\"", "unknown escape" },
    { "\"\\u12G4\"", "four hexadecimal digits" },
    { "\"\\", "expected the rest of an escape" },
    { "\"\xC3(\"", "offset 1 (line 1, column 2): not well-formed UTF-8, found byte 0xC3" },
    { "01", "no leading zeros" },
    { "-", "expected a digit, found the end" },
    { "1.", "expected a digit" },
    { "1e+", "expected a digit" },
    { "nul", "expected a value" },
    { "{} {}", "offset 3 (line 1, column 4): expected nothing after" },
    { "{'a':1}", "expected a name in double quotes, found '''" },
};

TEST(an_error_has_the_place_and_what_was_expected)
{
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        CHECK(!parse(str_of(faults[i].text)), faults[i].text);
        CHECK_STR(str_of(err.code != NULL ? err.code : ""), STR("json.syntax"), faults[i].text);
        if (strstr(err.text, faults[i].wanted) == NULL)
            test_fail(__FILE__, __LINE__, "'%s': is '%s', wanted '%s'", faults[i].text, err.text,
                      faults[i].wanted);
    }
}

static struct str nested(int depth)
{
    static char text[2 * 200000];

    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    return (struct str){ text, (size_t)(2 * depth) };
}

TEST(depth_is_limited_and_the_limit_is_the_callers)
{
    CHECK(parse(nested(JSON_DEPTH_MAX)), "as deep as allowed");
    CHECK_EQ(walk(json_root(&doc)), JSON_DEPTH_MAX, "every level is there");
    CHECK(!parse(nested(JSON_DEPTH_MAX + 1)), "one deeper");
    CHECK_STR(str_of(err.code), STR("json.limit"), "the code of a limit");
    CHECK(json_error_is_limit(&err), "and its kind");
    CHECK(!parse(nested(200000)), "very deep");
    CHECK(!json_is_valid(nested(JSON_DEPTH_MAX + 1)), "one deeper, validated only");
    CHECK(json_parse_depth(&doc, &arena, STR("[[1]]"), 2, &err), "depth 2 of 2");
    CHECK(!json_parse_depth(&doc, &arena, STR("[[[]]]"), 2, &err), "depth 3 of 2");
    CHECK(json_parse_depth(&doc, &arena, STR("[[],[[]]]"), 3, &err), "closing gives depth back");
}

TEST(a_full_arena_is_an_ordinary_error)
{
    struct arena small;

    arena_init(&small, 3000);
    CHECK(json_parse(&doc, &small, nested(100), &err), "grows within the limit");
    CHECK(!json_parse(&doc, &small, nested(400), &err), "more than the limit");
    CHECK_STR(str_of(err.code), STR("memory.limit"), "the code of the arena");
    CHECK(arena_error_is_limit(&err) && !json_error_is_limit(&err), "and its kind");
    arena_release(&small);
}

TEST(failing_allocations_are_ordinary_errors)
{
    struct arena failing = { 0 };
    bool done = false;

    for (size_t n = 1; !done; n++) {
        struct str value;

        arena_init(&failing, MEMORY_MAX);
        failing.fail_at = n;
        done = json_parse(&doc, &failing, nested(100), &err) &&
               json_parse_again(&doc, STR("\"\\n\""), &err) &&
               json_string(&doc, json_root(&doc), &failing, &value, &err);
        if (!done)
            CHECK_STR(str_of(err.code), STR("memory.limit"), "the code");
        REQUIRE(n < 20, "it ends");
        arena_release(&failing);
    }
}

/* ---- walking ---- */

TEST(a_page_is_walked_as_its_readers_do)
{
    const struct str page = STR(" {\"status\": \"ok\",\n \"message\": {\"total\": 2, \"items\": [\n"
                                "  {\"DOI\": \"10.1/a\", \"title\": [\"A \\\"b\\\"\"]},\n"
                                "  {\"DOI\":\"10.1\\/c\",\"title\":[]} ],\n"
                                " \"next-cursor\": null}} ");
    const struct json_node root = root_of(page);
    const struct json_node message = json_get(&doc, root, STR("message"));
    const struct json_node items = json_get(&doc, message, STR("items"));
    const struct json_node first = json_at(&doc, items, 0), second = json_at(&doc, items, 1);
    struct str title;

    CHECK_EQ(json_type(&doc, root), JSON_OBJECT, "root");
    CHECK_EQ(json_count(&doc, root), 2, "members of the root");
    CHECK_EQ(json_count(&doc, items), 2, "items");
    CHECK_STR(json_raw(&doc, second), STR("{\"DOI\":\"10.1\\/c\",\"title\":[]}"), "a raw record");
    CHECK_STR(json_raw(&doc, json_get(&doc, first, STR("DOI"))), STR("\"10.1/a\""), "a raw string");
    CHECK(json_string_is(&doc, json_get(&doc, second, STR("DOI")), STR("10.1/c")), "decoded");
    REQUIRE_OK(json_string(&doc, json_at(&doc, json_get(&doc, first, STR("title")), 0), &arena,
                           &title, &err),
               err);
    CHECK_STR(title, STR("A \"b\""), "title");
    CHECK(!json_exists(json_at(&doc, items, 2)), "no third item");
    CHECK_EQ(json_type(&doc, json_get(&doc, message, STR("next-cursor"))), JSON_NULL, "null is");
    CHECK_EQ(json_type(&doc, json_get(&doc, message, STR("next"))), JSON_NONE, "absent is not");
    CHECK(!json_exists(json_get(&doc, json_get(&doc, root, STR("x")), STR("y"))), "chains end");
    CHECK_EQ(json_raw(&doc, JSON_NODE_NONE).len, 0, "nothing has no bytes");
    CHECK(!json_exists(json_get(&doc, items, STR("DOI"))), "an array has no names");
    CHECK(!json_exists(json_at(&doc, root, 0)), "an object has no places");
}

TEST(iteration_gives_names_values_and_places_in_order)
{
    const struct json_node root =
        root_of(STR("{\"a\":[],\"b\":[[1],{}],\"c\":{\"d\":2},\"e\":\"\"}"));
    static const char *const names[] = { "a", "b", "c", "e" };
    static const char *const values[] = { "[]", "[[1],{}]", "{\"d\":2}", "\"\"" };
    struct json_iter it = json_each(&doc, root);
    size_t count = 0;

    while (json_next(&it)) {
        REQUIRE(count < 4, "four members");
        CHECK_EQ(it.index, count, "place");
        CHECK_STR(json_string_raw(&doc, it.name), str_of(names[count]), "name");
        CHECK_STR(json_raw(&doc, it.value), str_of(values[count]), "value");
        count++;
    }
    CHECK_EQ(count, 4, "members");
    CHECK(!json_next(&it), "the end stays the end");
    it = json_each(&doc, json_get(&doc, root, STR("e")));
    CHECK(!json_next(&it), "a scalar has nothing to iterate");
}

TEST(the_first_of_equal_names_is_taken)
{
    const struct json_node root = root_of(STR("{\"a\":1,\"b\":2,\"\\u0061\":3}"));
    int64_t value;

    CHECK(json_i64(&doc, json_get(&doc, root, STR("a")), &value), "found");
    CHECK_EQ(value, 1, "the first");
    CHECK_EQ(json_count(&doc, root), 3, "all are shown");
}

TEST(names_are_compared_decoded)
{
    const struct json_node root = root_of(
        STR("{\"a\\\"b\":1,\"\\u00e9\":2,\"\\ud83d\\ude00\":3,\"\":4,\"a\\\\\":5,\"aa\":6}"));
    static const struct {
        struct str name;
        int64_t value;
    } wanted[] = {
        { STR_INIT("a\"b"), 1 }, { STR_INIT("\xC3\xA9"), 2 }, { STR_INIT("\xF0\x9F\x98\x80"), 3 },
        { STR_INIT(""), 4 },     { STR_INIT("a\\"), 5 },      { STR_INIT("aa"), 6 },
    };

    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        int64_t value = 0;

        (void)json_i64(&doc, json_get(&doc, root, wanted[i].name), &value);
        CHECK_EQ(value, wanted[i].value, wanted[i].name.data);
    }
    CHECK(!json_exists(json_get(&doc, root, STR("a\\\"b"))), "the raw form is not the name");
    CHECK(!json_exists(json_get(&doc, root, STR("a"))), "a prefix is not the name");
}

TEST(strings_decode_as_rfc_8259_says)
{
    static const struct {
        const char *json;
        struct str value;
    } cases[] = {
        { "\"\"", STR_INIT("") },
        { "\"\\b\\f\\n\\r\\t\\/\\\\\\\"\"", STR_INIT("\b\f\n\r\t/\\\"") },
        { "\"\\u0000x\"", STR_INIT("\0x") },
        { "\"\\u00E9\\u20ac\"", STR_INIT("\xC3\xA9\xE2\x82\xAC") },
        { "\"\\uD834\\uDD1E\"", STR_INIT("\xF0\x9D\x84\x9E") },
        { "\"\\uD834\"", STR_INIT("\xEF\xBF\xBD") },
        { "\"\\uDD1Ex\"", STR_INIT("\xEF\xBF\xBDx") },
        { "\"\\uD834\\uD834\\uDD1E\"", STR_INIT("\xEF\xBF\xBD\xF0\x9D\x84\x9E") },
        { "\"\\uD834\\n\"", STR_INIT("\xEF\xBF\xBD\n") },
        { "\"\\uD834\\u0041\"", STR_INIT("\xEF\xBF\xBD"
                                         "A") },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct json_node root = root_of(str_of(cases[i].json));
        struct str value;

        REQUIRE_OK(json_string(&doc, root, &arena, &value, &err), err);
        CHECK_STR(value, cases[i].value, cases[i].json);
        CHECK(json_string_is(&doc, root, cases[i].value), cases[i].json);
    }
}

TEST(a_string_without_escapes_is_not_copied)
{
    const struct str text = STR("[\"plain\",\"esc\\n\"]");
    const struct json_node root = root_of(text);
    struct str plain, escaped;

    REQUIRE_OK(json_string(&doc, json_at(&doc, root, 0), &arena, &plain, &err), err);
    REQUIRE_OK(json_string(&doc, json_at(&doc, root, 1), &arena, &escaped, &err), err);
    CHECK(plain.data == text.data + 2, "a view of the text");
    CHECK(escaped.data < text.data || escaped.data >= text.data + text.len, "a copy");
}

TEST(scalars_have_their_types_and_values)
{
    const struct json_node root = root_of(STR("[true,false,null,-12,2.5,\"7\",1e999]"));
    int64_t integer;
    double number;
    bool truth = false;

    CHECK(json_bool(&doc, json_at(&doc, root, 0), &truth) && truth, "true");
    CHECK(json_bool(&doc, json_at(&doc, root, 1), &truth) && !truth, "false");
    CHECK(!json_bool(&doc, json_at(&doc, root, 2), &truth), "null is not a boolean");
    CHECK_EQ(json_type(&doc, json_at(&doc, root, 2)), JSON_NULL, "null");
    CHECK(json_i64(&doc, json_at(&doc, root, 3), &integer) && integer == -12, "-12");
    CHECK(!json_i64(&doc, json_at(&doc, root, 4), &integer), "2.5 is not an integer");
    CHECK(json_double(&doc, json_at(&doc, root, 4), &number) && number == 2.5, "2.5");
    CHECK(!json_i64(&doc, json_at(&doc, root, 5), &integer), "a string is not a number");
    CHECK(json_double(&doc, json_at(&doc, root, 6), &number) && number > 1e308, "infinity");
    CHECK(!json_double(&doc, JSON_NODE_NONE, &number), "nothing is not a number");
}

TEST(a_byte_order_mark_is_passed_over)
{
    const struct json_node root = root_of(STR("\xEF\xBB\xBF {\"a\":1}"));

    CHECK_STR(json_raw(&doc, root), STR("{\"a\":1}"), "root");
    CHECK(!parse(STR("{}\xEF\xBB\xBF")), "but only in front");
}

TEST(parsing_again_uses_the_memory_of_before)
{
    size_t used;

    REQUIRE_OK(parse(nested(500)), err);
    used = arena.used;
    for (int i = 0; i < 10; i++)
        REQUIRE_OK(json_parse_again(&doc, nested(500 - i), &err), err);
    CHECK_EQ(arena.used, used, "bytes of the arena");
    CHECK_EQ(walk(json_root(&doc)), 491, "nodes of the last text");
    CHECK(!json_parse_again(&doc, STR("[1,,]"), &err), "a fault in between");
    REQUIRE_OK(json_parse_again(&doc, STR("[1,2]"), &err), err);
    CHECK_EQ(json_count(&doc, json_root(&doc)), 2, "and on it goes");
}

/* ---- random documents, whose truth the test knows because it wrote them ---- */

struct model {
    uint32_t random;
    struct buf text;
    size_t nodes;
};

static uint32_t roll(struct model *m, uint32_t sides)
{
    m->random = m->random * 1664525U + 1013904223U;
    return (m->random >> 8) % sides;
}

static void write_space(struct model *m)
{
    static const char *const spaces[] = { "", "", "", " ", "\n  ", "\r\n\t\t                  " };

    buf_add(&m->text, str_of(spaces[roll(m, 6)]));
}

static void write_string(struct model *m)
{
    static const char *const pieces[] = { "a",
                                          "key",
                                          "\\n",
                                          "\\u00e9",
                                          "\xC3\xA9",
                                          "\\\"",
                                          "\\\\",
                                          "\\ud83d\\ude00",
                                          "\xF0\x9F\x98\x80",
                                          "{[,:]}",
                                          "a long run of plain text, more than sixteen bytes" };

    buf_add_char(&m->text, '"');
    for (uint32_t i = roll(m, 4); i > 0; i--)
        buf_add(&m->text, str_of(pieces[roll(m, ARRAY_LEN(pieces))]));
    buf_add_char(&m->text, '"');
}

static void write_value(struct model *m, int depth)
{
    static const char *const words[] = { "true", "false", "null", "0", "-1.5e+3", "1E5", "42" };
    const uint32_t kind = roll(m, depth > 6 ? 2 : 5);
    const bool object = kind == 3;

    m->nodes++;
    if (kind == 0) {
        buf_add(&m->text, str_of(words[roll(m, ARRAY_LEN(words))]));
        return;
    }
    if (kind <= 1) {
        write_string(m);
        return;
    }
    buf_add_char(&m->text, object ? '{' : '[');
    for (uint32_t i = 0, count = roll(m, 6); i < count; i++) {
        if (i > 0)
            buf_add_char(&m->text, ',');
        write_space(m);
        if (object) {
            write_string(m);
            write_space(m);
            buf_add_char(&m->text, ':');
            write_space(m);
        }
        write_value(m, depth + 1);
        write_space(m);
    }
    buf_add_char(&m->text, object ? '}' : ']');
}

TEST(random_documents_give_back_all_their_nodes)
{
    struct model m = { .random = 7 };
    struct arena texts;

    arena_init(&texts, MEMORY_MAX);
    for (int round = 0; round < 2000; round++) {
        struct str text;

        arena_reset(&texts);
        buf_init(&m.text, &texts, 1 << 20);
        m.nodes = 0;
        write_value(&m, 0);
        text = arena_copy(&texts, buf_str(&m.text));
        REQUIRE_OK(parse(text), err);
        CHECK_EQ(walk(json_root(&doc)), m.nodes, "nodes");
        CHECK_STR(json_raw(&doc, json_root(&doc)), text, "the root is the text");
        /* A container without its last bytes is never a document. */
        if (text.data[0] == '{' || text.data[0] == '[') {
            const size_t cut = roll(&m, (uint32_t)text.len);

            CHECK(!parse(str_slice(text, 0, cut)), "cut short");
            CHECK(!json_is_valid(str_slice(text, 0, cut)), "cut short");
        }
    }
    arena_release(&texts);
}

/* A byte at the very end of a page must not make us read past it: the copy has no byte more. */
TEST(nothing_after_the_text_is_read)
{
    static const char *const texts[] = {
        "1", "-",      "true", "\"abc", "\"\\u12",           "[1,2", "{\"a\":", "\"\xF0\x9F",
        " ", "123.5e", "nul",  "[]",    "\"sixteen bytes..."
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const size_t len = strlen(texts[i]);
        char *exact = malloc(len);

        REQUIRE(exact != NULL, "memory");
        memcpy(exact, texts[i], len);
        if (parse((struct str){ exact, len }))
            (void)walk(json_root(&doc));
        free(exact);
    }
    arena_release(&arena);
}
