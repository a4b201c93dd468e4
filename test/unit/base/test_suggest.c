/* Tests: which name is suggested for a typing error. */
#include "base/suggest.h"

#include "test.h"

static const char *const names[] = { "apply", "diff", "export", "lint", "list", "show" };

static const struct {
    const char *typed;
    const char *meant; /* NULL: none */
} cases[] = {
    { "lnit", "lint" },      /* two neighbours swapped */
    { "aply", "apply" },     /* one letter forgotten */
    { "exportt", "export" }, /* one too many */
    { "shaw", "show" },      /* one wrong */
    { "liszt", "list" },     { "harvest", NULL }, { "", NULL }, { "x", NULL },
};

TEST(suggest_finds_what_was_meant_and_nothing_else)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = suggest(str_of(cases[i].typed), names, ARRAY_LEN(names));

        CHECK_STR(str_of(got), str_of(cases[i].meant), cases[i].typed);
    }
}

TEST(suggest_ignores_names_too_long_to_be_typed)
{
    char endless[200];

    for (size_t i = 0; i < sizeof(endless); i++)
        endless[i] = 'a';
    CHECK(suggest((struct str){ endless, sizeof(endless) }, names, ARRAY_LEN(names)) == NULL,
          "200 letters");
}
