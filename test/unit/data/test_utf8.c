/* UTF-8: what is well-formed, and how the rest is read. */
#include "test.h"

#include <string.h>

#include "data/utf8.h"

/* The truth is Unicode's definition: encode every scalar value, and nothing else is well-formed. */
TEST(every_code_point_survives_the_round_trip)
{
    char bytes[UTF8_BYTES_MAX];

    for (uint32_t point = 0; point <= UTF8_POINT_MAX; point++) {
        const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
        const size_t len = utf8_encode(point, bytes);
        const char *at = bytes;

        if (utf8_next(&at, bytes + len) != (surrogate ? UTF8_REPLACEMENT : point) ||
            at != bytes + len)
            CHECK_EQ(point, -1, "code point lost");
    }
}

/* Sequences by hand, from table 3-7 of the Unicode standard. */
static const struct {
    const char *label;
    const char *bytes;
    size_t len;
} cases[] = {
    { "A", "A", 1 },
    { "U+0080", "\xC2\x80", 2 },
    { "U+07FF", "\xDF\xBF", 2 },
    { "U+0800", "\xE0\xA0\x80", 3 },
    { "U+D7FF", "\xED\x9F\xBF", 3 },
    { "U+E000", "\xEE\x80\x80", 3 },
    { "U+10000", "\xF0\x90\x80\x80", 4 },
    { "U+10FFFF", "\xF4\x8F\xBF\xBF", 4 },
    { "a tail by itself", "\x80", 0 },
    { "overlong /", "\xC0\xAF", 0 },
    { "overlong U+007F", "\xC1\xBF", 0 },
    { "overlong U+07FF", "\xE0\x9F\xBF", 0 },
    { "overlong U+FFFF", "\xF0\x8F\xBF\xBF", 0 },
    { "a surrogate", "\xED\xA0\x80", 0 },
    { "the last surrogate", "\xED\xBF\xBF", 0 },
    { "beyond U+10FFFF", "\xF4\x90\x80\x80", 0 },
    { "0xF5", "\xF5\x80\x80\x80", 0 },
    { "0xFF", "\xFF", 0 },
    { "cut after one", "\xE2", 0 },
    { "cut after two", "\xE2\x82", 0 },
    { "cut after three", "\xF0\x9F\x98", 0 },
    { "a tail missing in the middle",
      "\xF0\x9F"
      "a\x80",
      0 },
};

TEST(only_well_formed_sequences_are_accepted)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *end = cases[i].bytes + strlen(cases[i].bytes);
        const char *at = cases[i].bytes;

        CHECK_EQ(utf8_sequence(at, end), cases[i].len, cases[i].label);
        if (cases[i].len == 0) {
            CHECK_EQ(utf8_next(&at, end), UTF8_REPLACEMENT, cases[i].label);
            CHECK_EQ(at - cases[i].bytes, 1, cases[i].label);
        }
    }
}
