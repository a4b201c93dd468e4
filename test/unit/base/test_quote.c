/* Tests: quoting bytes for error texts. */
#include "base/quote.h"

#include <string.h>

#include "test.h"

static const struct {
    const char *label;
    struct str in;
    const char *out;
} cases[] = {
    { "empty", { NULL, 0 }, "\"\"" },
    { "plain", STR_INIT("2001 Sep"), "\"2001 Sep\"" },
    { "controls", STR_INIT("a\r\n\t\x01z"), "\"a\\r\\n\\t\\x01z\"" },
    { "a NUL inside", STR_INIT("a\0b"), "\"a\\x00b\"" },
    { "quote and backslash", STR_INIT("\"\\"), "\"\\\"\\\\\"" },
    { "UTF-8 as it is", STR_INIT("\xC3\xA9\xE0\xA7\xAA\xF0\x9F\x98\x80"),
      "\"\xC3\xA9\xE0\xA7\xAA\xF0\x9F\x98\x80\"" },
    { "not UTF-8", STR_INIT("\xFFx\xC3"), "\"\\xffx\\xc3\"" },
};

TEST(quote_shows_foreign_bytes_safely)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_STR(str_of(QUOTE(cases[i].in)), str_of(cases[i].out), cases[i].label);
}

TEST(quote_shortens_long_values_and_shows_their_length)
{
    char bytes[1000];
    struct str text;

    memset(bytes, 'x', sizeof(bytes));
    text = (struct str){ bytes, QUOTE_BYTES_MAX };
    CHECK_EQ(strlen(QUOTE(text)), QUOTE_BYTES_MAX + 2, "just fits");
    text.len = sizeof(bytes);
    CHECK(str_ends(str_of(QUOTE(text)), STR("x... (1000 bytes)")), "cut");
    memset(bytes, 1, sizeof(bytes));
    CHECK(str_ends(str_of(QUOTE(text)), STR("\\x01... (1000 bytes)")), "longest form");
    /* A character is never cut in two. */
    for (size_t i = 0; i + 3 <= sizeof(bytes); i += 3)
        memcpy(bytes + i, "\xE2\x82\xAC", 3);
    for (size_t from = 0; from < 3; from++) {
        const struct str shifted = { bytes + from, sizeof(bytes) - from };

        CHECK(str_is_utf8(str_of(QUOTE(shifted))), "whole characters");
    }
}
