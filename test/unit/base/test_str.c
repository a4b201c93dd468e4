/* Tests: views of bytes, numbers and UTF-8. */
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static const struct str NOTHING = { NULL, 0 };

TEST(str_slices_are_clamped)
{
    const struct str s = STR("abcdef");

    CHECK_STR(str_slice(s, 1, 3), STR("bc"), "inside");
    CHECK_STR(str_slice(s, 0, 6), s, "all");
    CHECK_STR(str_slice(s, 4, 99), STR("ef"), "beyond the end");
    CHECK_STR(str_slice(s, 99, 100), STR(""), "past the end");
    CHECK_STR(str_slice(s, 3, 1), STR(""), "the wrong way round");
    CHECK_STR(str_slice(NOTHING, 0, 5), STR(""), "of nothing");
    CHECK_EQ(str_of(NULL).len, 0, "no string");
    CHECK_STR(str_of("ab"), STR("ab"), "a C string");
}

TEST(str_comparisons_are_bytewise)
{
    static const struct {
        struct str a, b;
        int order; /* its sign */
    } cases[] = {
        { STR_INIT(""), STR_INIT(""), 0 },          { STR_INIT("a"), STR_INIT("a"), 0 },
        { STR_INIT("a"), STR_INIT("b"), -1 },       { STR_INIT("a"), STR_INIT("ab"), -1 },
        { STR_INIT(""), STR_INIT("a"), -1 },        { STR_INIT("Z"), STR_INIT("a"), -1 },
        { STR_INIT("a\0b"), STR_INIT("a\0c"), -1 }, { STR_INIT("\x7F"), STR_INIT("\x80"), -1 },
        { { NULL, 0 }, STR_INIT(""), 0 },           { { NULL, 0 }, STR_INIT("a"), -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const int order = str_cmp(cases[i].a, cases[i].b);
        const int mirrored = str_cmp(cases[i].b, cases[i].a);

        CHECK_EQ((order > 0) - (order < 0), cases[i].order, "order");
        CHECK_EQ((mirrored > 0) - (mirrored < 0), -cases[i].order, "mirrored");
        CHECK_EQ(str_eq(cases[i].a, cases[i].b), cases[i].order == 0, "equal");
    }
    CHECK(str_eq_nocase(STR("AbZ@["), STR("aBz@[")), "letters in either case");
    CHECK(!str_eq_nocase(STR("@"), STR("`")), "only letters");
    CHECK(!str_eq_nocase(STR("\xC3\x89"), STR("\xC3\xA9")), "only ASCII");
    CHECK(!str_eq_nocase(STR("ab"), STR("abc")), "length");
}

TEST(str_prefixes_and_suffixes)
{
    CHECK(str_starts(STR("abc"), STR("ab")) && str_starts(STR("abc"), STR("")), "starts");
    CHECK(str_starts(NOTHING, NOTHING) && !str_starts(STR("ab"), STR("abc")), "starts not");
    CHECK(str_ends(STR("abc"), STR("bc")) && str_ends(STR("abc"), STR("")), "ends");
    CHECK(!str_ends(STR("bc"), STR("abc")) && !str_ends(STR("abc"), STR("ab")), "ends not");
    CHECK_STR(str_trim(STR(" \t\n\v\f\ra b \r\n")), STR("a b"), "both ends");
    CHECK_STR(str_trim(STR(" \n ")), STR(""), "nothing left");
    CHECK_STR(str_trim(STR("\xC2\xA0")), STR("\xC2\xA0"), "only ASCII white space");
    CHECK_STR(str_trim(NOTHING), STR(""), "nothing");
}

TEST(str_find_gives_the_first_place_or_the_length)
{
    CHECK_EQ(str_find(STR("abcabc"), STR("ca")), 2, "inside");
    CHECK_EQ(str_find(STR("abcabc"), STR("abc")), 0, "the first");
    CHECK_EQ(str_find(STR("abc"), STR("abcd")), 3, "too long");
    CHECK_EQ(str_find(STR("abc"), STR("x")), 3, "absent");
    CHECK_EQ(str_find(STR("abc"), STR("")), 0, "the empty one is everywhere");
    CHECK_EQ(str_find(STR("a\0b"), STR("\0b")), 1, "over a NUL");
    CHECK_EQ(str_find(NOTHING, STR("a")), 0, "in nothing");
    CHECK_EQ(str_find_char(STR("abcb"), 'b'), 1, "the first");
    CHECK_EQ(str_find_char(STR("abc"), 'x'), 3, "absent");
    CHECK_EQ(str_find_char(NOTHING, 'x'), 0, "in nothing");
}

TEST(str_cut_takes_one_piece_after_the_other)
{
    struct str rest = STR("a,,b,");

    CHECK_STR(str_cut(&rest, ','), STR("a"), "first");
    CHECK_STR(str_cut(&rest, ','), STR(""), "empty");
    CHECK_STR(str_cut(&rest, ','), STR("b"), "third");
    CHECK_STR(rest, STR(""), "nothing after the last separator");
    CHECK_STR(str_cut(&rest, ','), STR(""), "of nothing");
    rest = STR("abc");
    CHECK_STR(str_cut(&rest, ','), STR("abc"), "no separator");
    CHECK_EQ(rest.len, 0, "all is taken");
}

TEST(str_numbers_are_whole_and_in_range)
{
    static const struct {
        const char *text;
        bool is_number;
        int64_t value;
    } cases[] = {
        { "0", true, 0 },
        { "-0", true, 0 },
        { "+7", true, 7 },
        { "007", true, 7 },
        { "9223372036854775807", true, INT64_MAX },
        { "-9223372036854775808", true, INT64_MIN },
        { "9223372036854775808", false, 0 },
        { "-9223372036854775809", false, 0 },
        { "99999999999999999999999", false, 0 },
        { "", false, 0 },
        { "-", false, 0 },
        { "+", false, 0 },
        { "--1", false, 0 },
        { " 1", false, 0 },
        { "1 ", false, 0 },
        { "1.0", false, 0 },
        { "1e3", false, 0 },
        { "0x10", false, 0 },
        { "1/", false, 0 },
        { "1:", false, 0 },
    };
    uint64_t state = 3;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t value = 0;

        CHECK_EQ(str_to_i64(str_of(cases[i].text), &value), cases[i].is_number, cases[i].text);
        CHECK_EQ(value, cases[i].value, cases[i].text);
    }
    for (int i = 0; i < 100000; i++) { /* against the C library, around and beyond the range */
        char text[32];
        int64_t value;
        long long wanted;

        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        (void)snprintf(text, sizeof(text), "%s%llu", i % 2 == 0 ? "-" : "",
                       (unsigned long long)(state >> (i % 60)));
        errno = 0;
        wanted = strtoll(text, NULL, 10);
        REQUIRE(str_to_i64(str_of(text), &value) == (errno == 0), text);
        REQUIRE(errno != 0 || value == wanted, text);
    }
}

/* ---- UTF-8, against an encoder written from the table of RFC 3629 ---- */

static size_t encode(uint32_t point, unsigned char out[4])
{
    if (point < 0x80) {
        out[0] = (unsigned char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (unsigned char)(0xC0 + point / 64);
        out[1] = (unsigned char)(0x80 + point % 64);
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (unsigned char)(0xE0 + point / 4096);
        out[1] = (unsigned char)(0x80 + point / 64 % 64);
        out[2] = (unsigned char)(0x80 + point % 64);
        return 3;
    }
    out[0] = (unsigned char)(0xF0 + point / 262144);
    out[1] = (unsigned char)(0x80 + point / 4096 % 64);
    out[2] = (unsigned char)(0x80 + point / 64 % 64);
    out[3] = (unsigned char)(0x80 + point % 64);
    return 4;
}

static bool is_utf8(const unsigned char *bytes, size_t len)
{
    return str_is_utf8((struct str){ (const char *)bytes, len });
}

TEST(str_utf8_accepts_every_character_and_no_part_of_one)
{
    for (uint32_t point = 0; point <= 0x10FFFF; point++) {
        unsigned char bytes[4];
        const size_t len = encode(point, bytes);
        const bool is_surrogate = point >= 0xD800 && point <= 0xDFFF;

        REQUIRE(is_utf8(bytes, len) == !is_surrogate, "the character");
        for (size_t cut = 1; cut < len; cut++)
            REQUIRE(!is_utf8(bytes, cut), "its beginning");
        REQUIRE(len == 1 || !is_utf8(bytes + 1, len - 1), "its end");
    }
}

/* How many sequences of this length are one or more characters: every one of them is tried, and the
 * count is what the number of characters makes it. */
TEST(str_utf8_accepts_nothing_else)
{
    const long one = 128, two = 0x800 - 0x80, three = 0x10000 - 0x800 - 0x800;
    long count = 0;

    for (int a = 0; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            const unsigned char bytes[] = { (unsigned char)a, (unsigned char)b };

            count += is_utf8(bytes, 2);
        }
    }
    CHECK_EQ(count, one * one + two, "two bytes");
    count = 0;
    for (uint32_t i = 0; i < 1 << 24; i++) {
        const unsigned char bytes[] = { (unsigned char)(i >> 16), (unsigned char)(i >> 8),
                                        (unsigned char)i };

        count += is_utf8(bytes, 3);
    }
    CHECK_EQ(count, one * one * one + 2 * one * two + three, "three bytes");
    count = 0;
    for (uint32_t i = 0; i < 1 << 20; i++) { /* leads of four, and what follows by its edges */
        static const unsigned char edges[] = { 0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                               0xC0, 0xFF, 0x81, 0xBE, 0x41, 0xE0, 0xF0, 0xF4 };
        const unsigned char bytes[] = { (unsigned char)(0xF0 | (i >> 16 & 0x0F)),
                                        (unsigned char)(i >> 8), edges[i & 0x0F],
                                        edges[i >> 4 & 0x0F] };

        count += is_utf8(bytes, 4);
    }
    /* Second bytes: F0 90..BF, F1 to F3 80..BF, F4 80..8F; of the edges eight are continuations. */
    CHECK_EQ(count, (48 + 3 * 64 + 16) * 8 * 8, "four bytes");
    CHECK(str_is_utf8(NOTHING), "nothing");
}
