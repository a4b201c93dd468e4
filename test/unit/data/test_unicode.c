/* Categories of code points. */
#include "test.h"

#include "data/unicode.h"

/* Facts of the Unicode standard that do not change between its versions. */
static const struct {
    uint32_t point;
    enum unicode_category category;
} cases[] = {
    { 'a', UNICODE_LL },      { 'Z', UNICODE_LU },      { '0', UNICODE_ND },
    { ' ', UNICODE_ZS },      { '\n', UNICODE_CC },     { '$', UNICODE_SC },
    { '+', UNICODE_SM },      { '^', UNICODE_SK },      { '_', UNICODE_PC },
    { '-', UNICODE_PD },      { '(', UNICODE_PS },      { ')', UNICODE_PE },
    { '!', UNICODE_PO },      { 0xAB, UNICODE_PI },     { 0xBB, UNICODE_PF },
    { 0xA9, UNICODE_SO },     { 0xB2, UNICODE_NO },     { 0xAD, UNICODE_CF },
    { 0x100, UNICODE_LU },    { 0x101, UNICODE_LL },    { 0x139, UNICODE_LU },
    { 0x13A, UNICODE_LL },    { 0x1C5, UNICODE_LT },    { 0x2B0, UNICODE_LM },
    { 0x300, UNICODE_MN },    { 0x488, UNICODE_ME },    { 0x5D0, UNICODE_LO },
    { 0x903, UNICODE_MC },    { 0x2028, UNICODE_ZL },   { 0x2029, UNICODE_ZP },
    { 0x2160, UNICODE_NL },   { 0x4E00, UNICODE_LO },   { 0xD800, UNICODE_CS },
    { 0xDFFF, UNICODE_CS },   { 0xE000, UNICODE_CO },   { 0xFFFF, UNICODE_CN },
    { 0x1F600, UNICODE_SO },  { 0x10FFFD, UNICODE_CO }, { 0x10FFFF, UNICODE_CN },
    { 0x110000, UNICODE_CN },
};

TEST(code_points_have_their_category)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (unicode_category(cases[i].point) != cases[i].category)
            test_fail(__FILE__, __LINE__, "U+%04X is %d, wanted %d", cases[i].point,
                      unicode_category(cases[i].point), cases[i].category);
    }
}

/* Unicode promises these counts: 66 noncharacters and the rest unassigned, 2048 surrogates, 137468
 * for private use, 65 controls. */
TEST(categories_that_never_change_are_complete)
{
    size_t surrogates = 0, private_use = 0, controls = 0;

    for (uint32_t point = 0; point <= 0x10FFFF; point++) {
        const enum unicode_category category = unicode_category(point);

        surrogates += category == UNICODE_CS;
        private_use += category == UNICODE_CO;
        controls += category == UNICODE_CC;
    }
    CHECK_EQ(surrogates, 2048, "surrogates");
    CHECK_EQ(private_use, 137468, "private use");
    CHECK_EQ(controls, 65, "controls");
}

TEST(names_stand_for_sets)
{
    uint32_t set;

    CHECK(unicode_categories(STR("Lu"), &set) && set == UINT32_C(1) << UNICODE_LU, "Lu");
    CHECK(unicode_categories(STR("Z"), &set) &&
              set == (UINT32_C(1) << UNICODE_ZL | UINT32_C(1) << UNICODE_ZP |
                      UINT32_C(1) << UNICODE_ZS),
          "Z");
    CHECK(!unicode_categories(STR(""), &set), "no name");
    CHECK(!unicode_categories(STR("Lx"), &set), "no such");
    CHECK(!unicode_categories(STR("lu"), &set), "case matters");
    CHECK(!unicode_categories(STR("Lul"), &set), "too long");
}
