/* The canonical form of RFC 8785. */
#include "test.h"

#include <string.h>

#include "base/buf.h"
#include "data/json_canonical.h"

static struct arena arena;
static struct error err;

static bool canonical(struct str text, struct str *out)
{
    arena_release(&arena);
    arena_init(&arena, 16 << 20);
    err = (struct error){ 0 };
    return json_canonical_text(&arena, text, out, &err);
}

static const struct {
    const char *label;
    const char *text;
    const char *wanted;
} cases[] = {
    /* RFC 8785, 3.2.2 and 3.2.3 */
    { "the RFC's example",
      "{\n  \"numbers\": [333333333.33333329, 1E30, 4.50,\n 2e-3, 0.000000000000000000000000001],\n"
      "  \"string\": \"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\",\n"
      "  \"literals\": [null, true, false]\n}",
      "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
      "\"string\":\"\xE2\x82\xAC$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}" },
    { "the RFC's order of names",
      "{\"\\u20ac\":\"Euro Sign\",\"\\r\":\"Carriage Return\",\"\\ufb33\":\"Hebrew Letter Dalet "
      "With "
      "Dagesh\",\"1\":\"One\",\"\\ud83d\\ude00\":\"Emoji: Grinning Face\",\"\\u0080\":\"Control\","
      "\"\\u00f6\":\"Latin Small Letter O With Diaeresis\"}",
      "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xC2\x80\":\"Control\",\"\xC3\xB6\":\"Latin "
      "Small Letter O With Diaeresis\",\"\xE2\x82\xAC\":\"Euro "
      "Sign\",\"\xF0\x9F\x98\x80\":\"Emoji: "
      "Grinning Face\",\"\xEF\xAC\xB3\":\"Hebrew Letter Dalet With Dagesh\"}" },
    /* cyberphone/json-canonicalization, testdata */
    { "nested names",
      "{\"1\": {\"f\": {\"f\": \"hi\",\"F\": 5} ,\"\\n\": 56.0},\n\"10\": { },\n \"\": \"empty\",\n"
      " \"a\": { },\n \"111\": [ {} ],\n \"A\": { }\n}",
      "{\"\":\"empty\",\"1\":{\"\\n\":56,\"f\":{\"F\":5,\"f\":\"hi\"}},\"10\":{},\"111\":[{}],"
      "\"A\":{},\"a\":{}}" },
    { "arrays keep their order", "[56,{\"d\":true,\"10\":null,\"1\":[]}]",
      "[56,{\"1\":[],\"10\":null,\"d\":true}]" },
    { "only an empty object", " { } ", "{}" },
    { "a scalar", " -0.0 ", "0" },
    { "a string", "\"\\u0041\\/\\u007f\"", "\"A/\x7F\"" },
};

TEST(published_examples_come_out_byte_for_byte)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str out;

        REQUIRE_OK(canonical(str_of(cases[i].text), &out), err);
        CHECK_STR(out, str_of(cases[i].wanted), cases[i].label);
    }
}

TEST(what_has_no_canonical_form_is_refused)
{
    static const char *const texts[] = {
        "{\"a\":1,\"b\":2,\"\\u0061\":3}",
        "[\"\\ud800\"]",
        "[\"\\udc00\\ud800\"]",
        "{\"\\ud83d\":1}",
        "[1,{\"x\":-1e999}]",
        "\"\\ud83d\\ud83d\\ude00\"",
        "\"\\ud83d\\u0041\"",
        "\"\\ud83dxxxxxxx\"",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct str out;

        CHECK(!canonical(str_of(texts[i]), &out), texts[i]);
        CHECK_EQ(err.level, ERROR_DATA, texts[i]);
        CHECK_STR(str_of(err.code), STR("json.canonical"), texts[i]);
        CHECK(json_error_is_canonical(&err), texts[i]);
    }
}

TEST(escaped_backslashes_are_no_surrogates)
{
    struct str out;

    REQUIRE_OK(canonical(STR("\"\\\\ud800 \\ud83d\\ude00 \\ufffd\""), &out), err);
    CHECK_STR(out, STR("\"\\\\ud800 \xF0\x9F\x98\x80 \xEF\xBF\xBD\""), "accepted");
}

/* Sorting again by the definition: spell both strings in UTF-16 and compare unit by unit. */
static size_t to_utf16(uint32_t point, uint16_t units[2])
{
    if (point < 0x10000) {
        units[0] = (uint16_t)point;
        return 1;
    }
    units[0] = (uint16_t)(0xD800 + ((point - 0x10000) >> 10));
    units[1] = (uint16_t)(0xDC00 + ((point - 0x10000) & 0x3FF));
    return 2;
}

static size_t to_utf8(uint32_t point, char *out)
{
    const size_t len = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

    if (len == 1) {
        out[0] = (char)point;
        return 1;
    }
    for (size_t i = len - 1; i > 0; i--, point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3F));
    out[0] = (char)((0xF00 >> len & 0xFF) | point);
    return len;
}

TEST(names_sort_by_utf16_units)
{
    static const uint32_t points[] = { 0,      0x41,   0x7F,   0x80,    0x7FF,   0x800,
                                       0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF };

    for (size_t i = 0; i < ARRAY_LEN(points); i++) {
        for (size_t k = 0; k < ARRAY_LEN(points); k++) {
            char a[8] = "x", b[8] = "x";
            uint16_t ua[2] = { 0 }, ub[2] = { 0 };
            const struct str sa = { a, 1 + to_utf8(points[i], a + 1) };
            const struct str sb = { b, 1 + to_utf8(points[k], b + 1) };
            int wanted;

            (void)to_utf16(points[i], ua);
            (void)to_utf16(points[k], ub);
            wanted = ua[0] != ub[0] ? (ua[0] > ub[0]) - (ua[0] < ub[0])
                                    : (ua[1] > ub[1]) - (ua[1] < ub[1]);
            CHECK_EQ(json_utf16_cmp(sa, sb), wanted, "order");
        }
    }
    CHECK(json_utf16_cmp(STR("a"), STR("ab")) < 0, "a prefix sorts first");
    CHECK(json_utf16_cmp(STR(""), STR("")) == 0, "empty");
}

TEST(canonical_form_is_its_own_canonical_form_on_real_records)
{
    static const char *const files[] = {
        "fixtures/crossref/works-cursor-1.json",
        "fixtures/crossref/works-index-date-window.json",
        "fixtures/biorxiv/biorxiv-details-30.json",
        "fixtures/clinicaltrials/study-c.json",
    };
    int done = 0;

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        const char *path = test_shared(files[i]);
        struct str once, twice;
        struct arena kept;

        if (path == NULL)
            continue;
        REQUIRE_OK(canonical(test_read(path), &once), err);
        arena_init(&kept, 16 << 20);
        once = arena_copy(&kept, once);
        REQUIRE_OK(canonical(once, &twice), err);
        CHECK_STR(twice, once, files[i]);
        arena_release(&kept);
        done++;
    }
    if (done == 0)
        TEST_SKIP("fixtures are not there");
}

TEST(deep_and_wide_documents_keep_their_members_apart)
{
    struct str out;

    REQUIRE_OK(canonical(STR("{\"c\":{\"z\":1,\"y\":[{\"b\":1,\"a\":{\"d\":[],\"c\":{}}}],\"x\":2},"
                             "\"b\":[[[{\"k\":1,\"j\":2}]]],\"a\":{\"m\":{\"o\":3,\"n\":4}}}"),
                         &out),
               err);
    CHECK_STR(out,
              STR("{\"a\":{\"m\":{\"n\":4,\"o\":3}},\"b\":[[[{\"j\":2,\"k\":1}]]],"
                  "\"c\":{\"x\":2,\"y\":[{\"a\":{\"c\":{},\"d\":[]},\"b\":1}],\"z\":1}}"),
              "sorted at every level");
}

TEST(failing_allocations_are_ordinary_errors)
{
    bool done = false;

    for (size_t n = 1; !done; n++) {
        struct str out;

        arena_release(&arena);
        arena_init(&arena, 1 << 20);
        arena.fail_at = n;
        done = json_canonical_text(&arena, STR("{\"b\":[\"\\n\"],\"a\":{\"\\t\":1}}"), &out, &err);
        if (!done)
            CHECK_STR(str_of(err.code), STR("memory.limit"), "the code");
        REQUIRE(n < 100, "it ends");
    }
    arena_release(&arena);
}
