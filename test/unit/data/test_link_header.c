/* Link headers: which target is found, and which values are errors. */
#include "data/link_header.h"

#include "test.h"

static const struct {
    const char *label;
    const char *value;
    const char *next; /* NULL: there is none */
} cases[] = {
    { "one", "<https://h/p?page=2>; rel=\"next\"", "https://h/p?page=2" },
    { "a token", "<https://h/p?page=2>;rel=next", "https://h/p?page=2" },
    { "the second", "<https://h/1>; rel=\"prev\", <https://h/3>; rel=\"next\"", "https://h/3" },
    { "several relations", "<https://h/2>; rel=\"last next\"", "https://h/2" },
    { "in any case", "<https://h/2>; REL=\"Next\"", "https://h/2" },
    { "commas and semicolons in the target", "<https://h/a,b;c>; rel=next", "https://h/a,b;c" },
    { "in a quoted title", "<https://h/2>; title=\"a, <b>; \\\"rel=next\\\"\"; rel=\"next\"",
      "https://h/2" },
    { "a title that looks like a relation", "<https://h/2>; title=\"rel=next\"", NULL },
    { "the first rel counts", "<https://h/2>; rel=prev; rel=next", NULL },
    { "the first link counts", "<https://h/2>; rel=next, <https://h/3>; rel=next", "https://h/2" },
    { "a relation that only begins so", "<https://h/2>; rel=\"nextish\"", NULL },
    { "a part of a relation", "<https://h/2>; rel=\"nex\"", NULL },
    { "escaped letters", "<https://h/2>; rel=\"n\\ext\"", "https://h/2" },
    { "an anchor", "<https://h/2>; rel=next; anchor=\"#foo\"", NULL },
    { "relative", "</works?page=2>; rel=next", "/works?page=2" },
    { "an empty target", "<>; rel=next", "" },
    { "odd white space", " < /2 > ;\trel =\t\"next\" ,", " /2 " },
    { "empty members and parameters", ",, </2>;; rel=next;,", "/2" },
    { "no parameters", "</2>", NULL },
    { "a flag", "</2>; crossorigin; rel=next", "/2" },
    { "extended parameters", "</2>; title*=UTF-8'de'n%c3%a4chstes; rel=next", "/2" },
    { "a relation that is a URL", "</2>; rel=http://example.net/foo", NULL },
    { "nothing", "", NULL },
};

TEST(link_header_finds_the_next_link)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str target = STR("unset");
        struct error err;

        REQUIRE_OK(link_header_find(str_of(cases[i].value), STR("next"), &target, &err), err);
        CHECK_EQ(target.data == NULL, cases[i].next == NULL, cases[i].label);
        CHECK_STR(target, str_of(cases[i].next), cases[i].label);
    }
}

TEST(link_header_that_is_not_well_formed_is_never_the_end_of_a_walk)
{
    static const char *const refused[] = {
        "https://h/2; rel=next", "<https://h/2; rel=next", "</2>; rel=\"next", "</2>; rel=",
        "</2>; =next",           "</2>; rel=next <",       "</2> rel=next",    "</1>; rel=next, /2",
        "</2>; rel=next\"",
    };

    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct str target;
        struct error err = { 0 };

        CHECK(!link_header_find(str_of(refused[i]), STR("next"), &target, &err), refused[i]);
        CHECK_EQ(err.level, ERROR_REQUEST, refused[i]);
        CHECK_STR(str_of(err.code), STR("link.syntax"), refused[i]);
    }
}
