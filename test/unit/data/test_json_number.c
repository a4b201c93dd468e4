/* Numbers to text and back, with published sequences. */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/hash.h"
#include "data/json_number.h"

static double from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static struct str format(double value, char text[JSON_NUMBER_TEXT_MAX])
{
    return (struct str){ text, json_number_format(value, text) };
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

TEST(integers_are_exact)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {
        { "0", true, 0 },
        { "-0", true, 0 },
        { "-0.0e5", true, 0 },
        { "0e999999999999999999999", true, 0 },
        { "42", true, 42 },
        { "-42", true, -42 },
        { "10.0", true, 10 },
        { "1e1", true, 10 },
        { "1200e-2", true, 12 },
        { "1.25e2", true, 125 },
        { "1.25e1", false, 0 },
        { "0.5", false, 0 },
        { "9223372036854775807", true, INT64_MAX },
        { "9223372036854775807.000", true, INT64_MAX },
        { "9223372036854775808", false, 0 },
        { "-9223372036854775808", true, INT64_MIN },
        { "-9223372036854775809", false, 0 },
        { "9007199254740993", true, 9007199254740993 },
        { "1e18", true, 1000000000000000000 },
        { "1e19", false, 0 },
        { "1e999999999999", false, 0 },
        { "1e-999999999999", false, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t value = 0;

        CHECK_EQ(json_number_i64(str_of(cases[i].text), &value), cases[i].ok, cases[i].text);
        if (cases[i].ok)
            CHECK_EQ(value, cases[i].value, cases[i].text);
    }
}

/* strtod of the C library is the independent truth for short texts. */
TEST(doubles_are_the_nearest_ones)
{
    const int rounds = test_rounds(100000);
    uint64_t random = 88172645463325252;
    char text[64];

    for (int round = 0; round < rounds; round++) {
        const uint64_t a = next_random(&random), b = next_random(&random);
        double value, wanted;

        if (round % 2 == 0)
            (void)snprintf(text, sizeof(text), "%s%llu.%llue%d", a % 2 == 0 ? "-" : "",
                           (unsigned long long)(a >> (a % 64)), (unsigned long long)(b >> (b % 64)),
                           (int)(b % 640) - 320);
        else
            (void)snprintf(text, sizeof(text), "%llu.%llu", (unsigned long long)(a % 100000),
                           (unsigned long long)(b % 100000));
        value = json_number_double(str_of(text));
        wanted = strtod(text, NULL);
        if (memcmp(&value, &wanted, sizeof(value)) != 0)
            test_fail(__FILE__, __LINE__, "%s is %.17g, wanted %.17g", text, value, wanted);
    }
}

/* Midpoints between doubles, known from arithmetic: 1 + 2^-53 is between 1 and 1 + 2^-52. */
TEST(very_long_numbers_round_rightly)
{
    static const char half[] = "1.00000000000000011102230246251565404236316680908203125";
    static char text[3000];
    const size_t len = sizeof(half) - 1;

    memcpy(text, half, len);
    memset(text + len, '0', 2000);
    CHECK(json_number_double((struct str){ text, len + 2000 }) == 1.0, "a tie goes to even");
    text[len + 1999] = '1';
    CHECK(json_number_double((struct str){ text, len + 2000 }) == 1.0 + 0x1p-52, "a hair above");
    memset(text, '0', 2500);
    memcpy(text, "0.", 2);
    memcpy(text + 2500, "123e2499", 8);
    CHECK(json_number_double((struct str){ text, 2508 }) == 1.23, "zeros in front");
    memset(text, '9', 2500);
    CHECK(isinf(json_number_double((struct str){ text, 2500 })), "too large");
    memcpy(text + 2500, "e-2499", 6);
    CHECK(json_number_double((struct str){ text, 2506 }) == 10.0, "digits and exponent cancel");
    CHECK(json_number_double(STR("1e-999")) == 0.0, "too small");
    CHECK(signbit(json_number_double(STR("-0"))), "-0 keeps its sign");
}

/* RFC 8785, appendix B. */
static const struct {
    uint64_t bits;
    const char *text;
} appendix_b[] = {
    { 0x0000000000000000, "0" },
    { 0x8000000000000000, "0" },
    { 0x0000000000000001, "5e-324" },
    { 0x8000000000000001, "-5e-324" },
    { 0x7fefffffffffffff, "1.7976931348623157e+308" },
    { 0xffefffffffffffff, "-1.7976931348623157e+308" },
    { 0x4340000000000000, "9007199254740992" },
    { 0xc340000000000000, "-9007199254740992" },
    { 0x4430000000000000, "295147905179352830000" },
    { 0x44b52d02c7e14af5, "9.999999999999997e+22" },
    { 0x44b52d02c7e14af6, "1e+23" },
    { 0x44b52d02c7e14af7, "1.0000000000000001e+23" },
    { 0x444b1ae4d6e2ef4e, "999999999999999700000" },
    { 0x444b1ae4d6e2ef4f, "999999999999999900000" },
    { 0x444b1ae4d6e2ef50, "1e+21" },
    { 0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7" },
    { 0x3eb0c6f7a0b5ed8d, "0.000001" },
    { 0x41b3de4355555553, "333333333.3333332" },
    { 0x41b3de4355555554, "333333333.33333325" },
    { 0x41b3de4355555555, "333333333.3333333" },
    { 0x41b3de4355555556, "333333333.3333334" },
    { 0x41b3de4355555557, "333333333.33333343" },
    { 0xbecbf647612f3696, "-0.0000033333333333333333" },
    { 0x43143ff3c1cb0959, "1424953923781206.2" },
    { 0x3d30000000000000, "5.684341886080802e-14" }, /* 2^-44: the nearer one reads back to less */
};

TEST(samples_of_rfc_8785_come_out_as_printed_there)
{
    char text[JSON_NUMBER_TEXT_MAX];

    for (size_t i = 0; i < ARRAY_LEN(appendix_b); i++)
        CHECK_STR(format(from_bits(appendix_b[i].bits), text), str_of(appendix_b[i].text),
                  appendix_b[i].text);
}

/* The sequence of numbers that goes with RFC 8785 (cyberphone/json-canonicalization, testdata),
 * and the SHA-256 published for its first lines "hex,text\n". One wrong digit anywhere and the
 * sums differ. The sequence: these values, 2000 consecutive doubles from the least normal one, then
 * the bytes of SHA-256 applied to 32 zero bytes again and again. */
static const uint64_t thirds[] = {
    /* each also with its sign; -x comes first */
    0x446696695dbd1cc3, 0x443211ede4974a35, 0x43fce97ca0f21056, 0x43c7213080c1a6ac,
    0x439280f39a348556, 0x435d9b1f5d20d557, 0x4327af4c4a80aaac, 0x42f2f2a36ecd5556,
    0x42be51057e155558, 0x428840d131aaaaac, 0x4253670dc1555557, 0x421f0b4935555557,
    0x41e8d5d42aaaaaac, 0x41b3de4355555556, 0x417fca0555555556, 0x41496e6aaaaaaaab,
    0x4114585555555555, 0x40e046aaaaaaaaab, 0x40aa0aaaaaaaaaaa, 0x4074d55555555555,
    0x4040aaaaaaaaaaab, 0x400aaaaaaaaaaaab, 0x3fd5555555555555, 0x3fa1111111111111,
    0x3f6b4e81b4e81b4f, 0x3f35d867c3ece2a5, 0x3f0179ec9cbd821e, 0x3ecbf647612f3696,
    0x3e965e9f80f29212, 0x3e61e54c672874db, 0x3e2ca213d840baf8, 0x3df6e80fe033c8c6,
    0x3dc2533fe68fd3d2, 0x3d8d51ffd74c861c, 0x3d5774ccac3d3817, 0x3d22c3d6f030f9ac,
    0x3cee0624b3818f79, 0x3cb804ea293472c7, 0x3c833721ba905bd3, 0x3c4ebe9c5db3c61e,
    0x3c18987d17c304e5, 0x3be3ad30dfcf371d, 0x3baf7b816618582f, 0x3b792f9ab81379bf,
    0x3b442615600f9499, 0x3b101e77800c76e1, 0x3ad9ca58cce0be35, 0x3aa4a1e0a3e6fe90,
    0x3a708180831f320d, 0x3a3a68cd9e985016,
};

static const uint64_t others[] = {
    0x4024000000000000, 0x4014000000000000, 0x3fe0000000000000, 0x3fa999999999999a,
    0x3f747ae147ae147b, 0x3f40624dd2f1a9fc, 0x3f0a36e2eb1c432d, 0x3ed4f8b588e368f1,
    0x3ea0c6f7a0b5ed8d, 0x3e6ad7f29abcaf48, 0x3e35798ee2308c3a, 0x3ed539223589fa95,
    0x3ed4ff26cd5a7781, 0x3ed4f95a762283ff, 0x3ed4f8c60703520c, 0x3ed4f8b72f19cd0d,
    0x3ed4f8b5b31c0c8d, 0x3ed4f8b58d1c461a, 0x3ed4f8b5894f7f0e, 0x3ed4f8b588ee37f3,
    0x3ed4f8b588e47da4, 0x3ed4f8b588e3849c, 0x3ed4f8b588e36bb5, 0x3ed4f8b588e36937,
    0x3ed4f8b588e368f8, 0x3ed4f8b588e368f1, 0x3ff0000000000000, 0xbff0000000000000,
    0xbfeffffffffffffa, 0xbfeffffffffffffb, 0x3feffffffffffffa, 0x3feffffffffffffb,
    0x3feffffffffffffc, 0x3feffffffffffffe, 0xbfefffffffffffff, 0xbfefffffffffffff,
    0x3fefffffffffffff, 0x3fefffffffffffff, 0x3fd3333333333332, 0x3fd3333333333333,
    0x3fd3333333333334, 0x0010000000000000, 0x000ffffffffffffd, 0x000fffffffffffff,
    0x7fefffffffffffff, 0xffefffffffffffff, 0x4340000000000000, 0xc340000000000000,
    0x4430000000000000, 0x44b52d02c7e14af5, 0x44b52d02c7e14af6, 0x44b52d02c7e14af7,
    0x444b1ae4d6e2ef4e, 0x444b1ae4d6e2ef4f, 0x444b1ae4d6e2ef50, 0x3eb0c6f7a0b5ed8c,
    0x3eb0c6f7a0b5ed8d, 0x41b3de4355555553, 0x41b3de4355555554, 0x41b3de4355555555,
    0x41b3de4355555556, 0x41b3de4355555557, 0xbecbf647612f3696, 0x43143ff3c1cb0959,
};

struct sequence {
    size_t index;
    uint64_t words[4];
    size_t left; /* words not given yet */
};

static bool sequence_hash(struct sequence *s)
{
    struct hash_sum sum;
    struct error err;

    if (!hash_of((struct str){ (const char *)s->words, sizeof(s->words) }, &sum, &err))
        return false;
    memcpy(s->words, sum.bytes, sizeof(s->words)); /* little-endian, as published */
    s->left = 4;
    return true;
}

static double sequence_next(struct sequence *s)
{
    static const uint64_t first[] = { 0, 0x8000000000000000, 1, 0x8000000000000001 };
    const uint64_t sign = 0x8000000000000000;
    size_t i = s->index++;
    double value = 0.0;

    if (i < ARRAY_LEN(first))
        return from_bits(first[i]);
    i -= ARRAY_LEN(first);
    if (i < 2 * ARRAY_LEN(thirds))
        return from_bits(thirds[i % ARRAY_LEN(thirds)] | (i < ARRAY_LEN(thirds) ? sign : 0));
    i -= 2 * ARRAY_LEN(thirds);
    if (i < ARRAY_LEN(others))
        return from_bits(others[i]);
    i -= ARRAY_LEN(others);
    if (i < 2000)
        return from_bits(0x0010000000000000 + i);
    while (value == 0.0 || !isfinite(value)) {
        if (s->left == 0)
            REQUIRE(sequence_hash(s), "SHA-256");
        value = from_bits(s->words[4 - s->left--]);
    }
    return value;
}

static struct hash_sum sequence_sum(size_t lines)
{
    struct sequence s = { 0 };
    struct hash_sum sum;
    struct error err;
    struct hash hash;

    hash_init(&hash);
    for (size_t i = 0; i < lines; i++) {
        char number[JSON_NUMBER_TEXT_MAX], line[80];
        const double value = sequence_next(&s);
        const struct str text = format(value, number);
        uint64_t bits;

        memcpy(&bits, &value, sizeof(bits));
        (void)snprintf(line, sizeof(line), "%llx,%.*s\n", (unsigned long long)bits, STR_ARG(text));
        hash_add(&hash, str_of(line));
    }
    REQUIRE_OK(hash_end(&hash, &sum, &err), err);
    return sum;
}

TEST(published_sums_of_the_number_sequence_are_met)
{
    static const struct {
        size_t lines;
        const char *sum;
    } published[] = {
        { 1000, "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687" },
        { 10000, "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892" },
        { 100000, "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7" },
    };
    const size_t lines_max = (size_t)test_rounds(100000);
    size_t lines = 0;

    for (size_t i = 0; i < ARRAY_LEN(published) && published[i].lines <= lines_max; i++) {
        const struct hash_sum sum = sequence_sum(published[i].lines);
        char hex[HASH_HEX_MAX];

        hash_hex(&sum, hex);
        CHECK_STR(str_of(hex), str_of(published[i].sum), "sum");
        lines = published[i].lines;
    }
    REQUIRE(lines > 0, "at least the shortest is compared");
    test_note("RFC 8785 number sequence: the published sums of its first lines, up to %zu, are met",
              lines);
}

/* No text with fewer digits may read back to the same double: try both neighbours of every shorter
 * length, found by printf, read by strtod. */
static bool has_shorter(double value, int digits)
{
    for (int count = 1; count < digits; count++) {
        char down[40], text[60];
        long long scaled;
        int exponent;

        (void)snprintf(down, sizeof(down), "%.*e", count - 1, value);
        exponent = atoi(strchr(down, 'e') + 1);
        if (strtod(down, NULL) == value)
            return true;
        if (count > 1)
            memmove(down + 1, down + 2, (size_t)count - 1);
        down[count] = '\0';
        scaled = atoll(down);
        for (int step = -1; step <= 1; step += 2) {
            (void)snprintf(text, sizeof(text), "%llde%d", scaled + step, exponent - count + 1);
            if (strtod(text, NULL) == value)
                return true;
        }
    }
    return false;
}

static int digits_of(struct str text)
{
    int digits = 0, zeros = 0;

    for (size_t i = 0; i < text.len && text.data[i] != 'e'; i++) {
        if (text.data[i] == '0')
            zeros++;
        if (text.data[i] >= '1' && text.data[i] <= '9') {
            digits += 1 + (digits > 0 ? zeros : 0);
            zeros = 0;
        }
    }
    return digits;
}

TEST(random_doubles_read_back_and_none_has_a_shorter_text)
{
    const int rounds = test_rounds(20000);
    uint64_t random = 42;

    for (int round = 0; round < rounds; round++) {
        char text[JSON_NUMBER_TEXT_MAX + 1];
        uint64_t bits = next_random(&random) & INT64_MAX;
        double value;
        struct str s;

        if (round % 4 == 1)
            bits &= ~UINT64_C(0xFFFFFFFFFFFFF); /* powers of two, where the neighbours are uneven */
        if (round % 4 == 2)
            bits &= UINT64_C(0xFFFFFFFFFFFFF) >> (round % 52); /* below the normal ones */
        value = from_bits(bits);
        if (!isfinite(value) || value == 0.0)
            continue;
        s = format(value, text);
        text[s.len] = '\0';
        if (strtod(text, NULL) != value || json_number_double(s) != value)
            test_fail(__FILE__, __LINE__, "%s does not read back to %.17g", text, value);
        if (has_shorter(value, digits_of(s)))
            test_fail(__FILE__, __LINE__, "%s is not the shortest text of %.17g", text, value);
    }
}
