/* Names of views, of their columns and of what these are read from. */
#include "core/record_view.h"

#include <string.h>

#include "test.h"

static struct arena arena;

static struct str name_of(const char *source, const char *endpoint, int number)
{
    return view_name(
        &arena, &(struct record_view){ .source = str_of(source), .endpoint = str_of(endpoint) },
        number);
}

TEST(names_need_no_quotes)
{
    arena_init(&arena, 1 << 16);
    CHECK_STR(name_of("crossref", "works", 1), STR("patra_crossref_works"), "plain");
    CHECK_STR(name_of("Europe-PMC", "full_Text", 1), STR("patra_europe_pmc_full_text"), "others");
    CHECK_STR(name_of("crossref", "works", 2), STR("patra_crossref_works_2"), "taken");
    CHECK_STR(view_column_name(&arena, STR("citedBy")), STR("citedby"), "a column");
    arena_release(&arena);
}

TEST(names_are_short_enough_for_any_database)
{
    char longest[65] = { 0 };

    arena_init(&arena, 1 << 16);
    memset(longest, 'a', 64);
    CHECK_EQ(name_of(longest, longest, 1).len, SQL_NAME_MAX, "cut");
    CHECK(name_of(longest, longest, 1000).len <= SQL_NAME_MAX, "with its number");
    CHECK(!str_eq(name_of(longest, "a", 2), name_of(longest, "a", 3)), "numbers tell them apart");
    arena_release(&arena);
}

TEST(a_field_with_the_name_of_a_fixed_column_gets_another)
{
    static const char *const fixed[] = { "id",      "version",    "updated_at",
                                         "Deleted", "created_at", "CHECKED_AT" };

    arena_init(&arena, 1 << 16);
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        CHECK(str_starts(view_column_name(&arena, str_of(fixed[i])), STR("field_")), fixed[i]);
    CHECK_STR(view_column_name(&arena, STR("idx")), STR("idx"), "all others stay");
    arena_release(&arena);
}

TEST(a_key_says_the_type)
{
    arena_init(&arena, 1 << 16);
    CHECK_STR(view_key(&arena, STR("n"), FIELD_INTEGER, false), STR("INTEGER:n"), "one");
    CHECK_STR(view_key(&arena, STR("n"), FIELD_DATE, true), STR("DATE[]:n"), "a list");
    arena_release(&arena);
}
