/* Regular expressions of RFC 9485, compared with glibc where the two agree. */
#include "test.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "data/iregexp.h"

static struct arena arena;
static struct error err;

static bool compile(struct str pattern, const struct iregexp **re)
{
    arena_release(&arena);
    arena_init(&arena, 8 << 20);
    return iregexp_compile(&arena, pattern, re, &err);
}

static bool run(const struct iregexp *re, struct str text, bool search)
{
    uint64_t steps = 10000000;
    bool found = false;

    REQUIRE_OK(iregexp_run(re, &arena, (struct iregexp_text){ text, search, &steps }, &found, &err),
               err);
    return found;
}

static const struct {
    const char *pattern;
    const char *text;
    bool match, search;
} cases[] = {
    { "", "", true, true },
    { "", "a", false, true },
    { "abc", "abc", true, true },
    { "b", "abc", false, true },
    { "a|bc|", "bc", true, true },
    { "a|bc", "abc", false, true },
    { "(a|b)*c", "ababc", true, true },
    { "(a|b)*c", "abab", false, false },
    { "a?b+c*", "bb", true, true },
    { "a{3}", "aaa", true, true },
    { "a{3}", "aa", false, false },
    { "a{2,}", "aaaaa", true, true },
    { "a{0,2}b", "aaab", false, true },
    { "a{0}b", "b", true, true },
    { "(ab){1,2}", "ababab", false, true },
    { "(){5}x", "x", true, true },
    { ".", "\n", false, false },
    { ".", "\r", false, false },
    { ".", "\xE2\x80\xA8", true, true },
    { ".", "\xF0\x9F\x98\x80", true, true },
    { "[a-c]+", "abcabc", true, true },
    { "[^a-c]", "d", true, true },
    { "[^a-c]", "b", false, false },
    { "[-a]", "-", true, true },
    { "[a-]", "-", true, true },
    { "[a\\-z]", "b", false, false },
    { "[\\]\\[]", "[", true, true },
    { "[\xC3\xA0-\xC3\xBF]", "\xC3\xA9", true, true },
    { "\\p{Lu}\\p{Ll}*", "\xC3\x89t\xC3\xA9", true, true },
    { "\\P{L}", "1", true, true },
    { "[\\p{Nd}x]+", "1x2", true, true },
    { "[^\\P{L}]", "z", true, true },
    { "\\.\\*\\n", ".*\n", true, true },
    { "^a$", "a", true, true },
    { "^a", "ba", false, false },
    { "a$", "ab", false, false },
    { "(^|x)a", "bxa", false, true },
    { "b|^a|c$", "xa", false, false },
    { "b|^a|c$", "xc", false, true },
    { "^*a$+", "a", true, true },
    { "x^a", "x^a", false, false },
    { "\\^a[$]", "^a$", true, true },
    { "(a*)*b", "aaaa", false, false },
    { "(a|a)*(a|a)*", "aaaa", true, true },
    { "a,b-c", "a,b-c", true, true },
};

TEST(expressions_match_as_rfc_9485_says)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct iregexp *re;

        REQUIRE_OK(compile(str_of(cases[i].pattern), &re), err);
        CHECK_EQ(run(re, str_of(cases[i].text), false), cases[i].match, cases[i].pattern);
        CHECK_EQ(run(re, str_of(cases[i].text), true), cases[i].search, cases[i].pattern);
    }
}

static const char *const faults[] = {
    "(",       ")",     "a)",      "(a",   "[",   "[]",  "[^]",   "[a",    "[b-a]",   "[a-b-c]",
    "[a[b]",   "[--a]", "*",       "a**",  "+a",  "?",   "{2}",   "a{",    "a{,2}",   "a{2",
    "a{2,1}",  "a{x}",  "]",       "}",    "\\",  "\\d", "\\w",   "\\1",   "\\p",     "\\p{",
    "\\p{Xx}", "\\p{}", "\\p{Cs}", "\\pL", "a|*", "\\$", "\\x41", "(?:a)", "\\u0041",
};

TEST(what_is_no_i_regexp_is_refused)
{
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        const struct iregexp *re;

        CHECK(!compile(str_of(faults[i]), &re), faults[i]);
        CHECK_STR(str_of(err.code), STR("iregexp.syntax"), faults[i]);
    }
}

TEST(size_and_nesting_are_limited)
{
    const struct iregexp *re;
    char deep[2 * IREGEXP_NEST_MAX + 4];

    CHECK(!compile(STR("(((a{99}){99}){99}){99}"), &re), "unrolls to too much");
    CHECK_STR(str_of(err.code), STR("iregexp.limit"), "the code");
    CHECK(!compile(STR("a{99999999999999999999}"), &re), "a count beyond all");
    CHECK(compile(STR("((((((((((a+)+)+)+)+)+)+)+)+)+)+"), &re), "plus in plus stays small");
    memset(deep, '(', IREGEXP_NEST_MAX + 1);
    memset(deep + IREGEXP_NEST_MAX + 1, ')', IREGEXP_NEST_MAX + 1);
    CHECK(!compile((struct str){ deep, 2 * IREGEXP_NEST_MAX + 2 }, &re), "too deep");
    CHECK(compile((struct str){ deep + 1, 2 * IREGEXP_NEST_MAX }, &re), "as deep as allowed");
}

/* (a*)*b and a?^n a^n take exponential time where alternatives are tried one after another. */
TEST(time_is_bounded_by_text_times_states)
{
    static char text[3000];
    const struct iregexp *re;
    uint64_t steps = 3000 * 40;
    bool found;

    memset(text, 'a', sizeof(text));
    REQUIRE_OK(compile(STR("((a*)*)*((a|a)*)*b"), &re), err);
    REQUIRE_OK(iregexp_run(re, &arena,
                           (struct iregexp_text){ { text, sizeof(text) }, false, &steps }, &found,
                           &err),
               err);
    CHECK(!found, "no match");
    REQUIRE_OK(compile(STR("(a?){500}a{500}"), &re), err);
    CHECK(run(re, (struct str){ text, 500 }, false), "five hundred");
    steps = 1000;
    CHECK(!iregexp_run(re, &arena, (struct iregexp_text){ { text, 500 }, false, &steps }, &found,
                       &err),
          "more than the caller allows");
    CHECK_STR(str_of(err.code), STR("iregexp.limit"), "the code");
}

/* The C library's extended expressions are the second opinion, on the part both share. Anchors
 * are outside only: glibc gets them wrong inside groups that repeat. */
static uint32_t random_state = 3;

static uint32_t roll(uint32_t sides)
{
    random_state = random_state * 1664525U + 1013904223U;
    return (random_state >> 8) % sides;
}

static void write_expression(char *out, size_t size, int depth)
{
    static const char *const atoms[] = { "a", "b", "c", ".", "[ab]", "[^a]", "[b-c]" };
    static const char *const repeats[] = { "",  "",    "",      "*",     "+",
                                           "?", "{2}", "{1,2}", "{0,3}", "{1,}" };

    out[0] = '\0';
    for (uint32_t pieces = 1 + roll(3); pieces > 0; pieces--) {
        char inner[200] = "", piece[260];

        if (depth < 3 && roll(3) == 0) {
            write_expression(inner, 80, depth + 1);
            (void)snprintf(piece, sizeof(piece), "(%s%s)%s", inner, roll(3) == 0 ? "|b" : "",
                           repeats[roll(ARRAY_LEN(repeats))]);
        } else {
            (void)snprintf(piece, sizeof(piece), "%s%s", atoms[roll(ARRAY_LEN(atoms))],
                           repeats[roll(ARRAY_LEN(repeats))]);
        }
        if (strlen(out) + strlen(piece) + 1 < size)
            strcat(out, piece);
    }
    if (out[0] == '\0')
        strcpy(out, "a");
}

TEST(random_expressions_agree_with_the_c_library)
{
    int compared = 0;

    for (int round = 0; round < 3000; round++) {
        char inner[200], pattern[220], anchored[240];
        const struct iregexp *re;
        regex_t part, whole;

        write_expression(inner, sizeof(inner), 0);
        (void)snprintf(pattern, sizeof(pattern), "%s(%s)%s", roll(4) == 0 ? "^" : "", inner,
                       roll(4) == 0 ? "$" : "");
        (void)snprintf(anchored, sizeof(anchored), "^(%s)$", pattern);
        if (regcomp(&part, pattern, REG_EXTENDED | REG_NOSUB) != 0)
            continue;
        REQUIRE(regcomp(&whole, anchored, REG_EXTENDED | REG_NOSUB) == 0, anchored);
        REQUIRE_OK(compile(str_of(pattern), &re), err);
        for (int i = 0; i < 8; i++) {
            char text[12] = "";
            const size_t len = roll(9);

            for (size_t k = 0; k < len; k++)
                text[k] = "abc"[roll(3)];
            compared++;
            if (run(re, str_of(text), false) != (regexec(&whole, text, 0, NULL, 0) == 0) ||
                run(re, str_of(text), true) != (regexec(&part, text, 0, NULL, 0) == 0))
                test_fail(__FILE__, __LINE__, "'%s' on '%s'", pattern, text);
        }
        regfree(&part);
        regfree(&whole);
    }
    CHECK(compared > 10000, "enough was compared");
    arena_release(&arena);
}
