/* Tests: digits are read, and nothing else is one. */
#include "base/hex.h"

#include "test.h"

TEST(hex_digit_knows_both_cases_and_no_other_byte)
{
    const struct str all = STR("0123456789abcdefABCDEF");

    for (int byte = -128; byte < 256; byte++) {
        const char c = (char)byte;
        const size_t at = str_find_char(all, c);
        const int value = at == all.len ? -1 : at < 16 ? (int)at : (int)at - 6;

        CHECK_EQ(hex_digit(c), value, "either case");
        CHECK_EQ(hex_is_digit(c), value >= 0, "either case");
        CHECK_EQ(hex_small_digit(c), at < 16 ? value : -1, "small letters");
    }
}

TEST(hex_number_reads_up_to_eight_digits)
{
    static const struct {
        const char *digits;
        uint32_t number;
    } cases[] = {
        { "", 0 },     { "0", 0 },       { "9", 9 },
        { "fF", 255 }, { "00e9", 0xE9 }, { "FFFFFFFF", UINT32_MAX },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_EQ(hex_number(str_of(cases[i].digits)), cases[i].number, cases[i].digits);
    (void)hex_number(STR("xyz")); /* some number */
}
