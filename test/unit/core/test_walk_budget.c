/* How many requests the pages of a slice justify. */
#include "core/walk_budget.h"

#include "base/instant.h"
#include "test.h"

TEST(a_budget_grows_with_the_pages_that_are_known)
{
    const struct {
        const char *label;
        struct walk_budget budget;
        int64_t limit;
    } rows[] = {
        { "nothing known", { 0 }, 32 },
        { "one page", { .needed = 1 }, 36 },
        { "a hundred, by the first walk", { .needed = 100 }, 432 },
        { "more, by pieces that were done", { .needed = 100, .done = 150 }, 632 },
        { "more pages than can be", { .needed = INT64_MAX }, INT64_MAX },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_EQ(walk_budget_limit(rows[i].budget), rows[i].limit, rows[i].label);
    CHECK(!walk_budget_is_used_up((struct walk_budget){ .requests = 35, .needed = 1 }), "within");
    CHECK(walk_budget_is_used_up((struct walk_budget){ .requests = 36, .needed = 1 }), "used up");
}

TEST(a_total_counts_only_so_far)
{
    CHECK_EQ(walk_budget_pages(95, 10), 10, "rounded up");
    CHECK_EQ(walk_budget_pages(100, 10), 10, "exactly");
    CHECK_EQ(walk_budget_pages(95, 0), 0, "pages of unknown size");
    CHECK_EQ(walk_budget_pages(-1, 10), 0, "no total");
    CHECK_EQ(walk_budget_pages(INT64_MAX, 1), WALK_BUDGET_TOTAL_MAX, "a total may be wrong");
}

TEST(a_list_of_which_nothing_is_known_has_a_bound)
{
    CHECK_EQ(walk_budget_pages_max(0, 100), WALK_BUDGET_BLIND_MAX, "nothing known");
    CHECK_EQ(walk_budget_pages_max(-1, 100), WALK_BUDGET_BLIND_MAX, "no history");
    CHECK_EQ(walk_budget_pages_max(1000000, 0), WALK_BUDGET_BLIND_MAX, "pages of unknown size");
    CHECK_EQ(walk_budget_pages_max(1000, 100), WALK_BUDGET_BLIND_MAX, "a short list may grow");
    CHECK_EQ(walk_budget_pages_max(10000000, 100), 400000, "a long one, four times");
    CHECK_EQ(walk_budget_pages_max(INT64_MAX, 1), INT64_MAX, "more than can be");
}

TEST(a_list_far_beyond_its_total_is_endless)
{
    CHECK(!walk_budget_is_endless(95, 95, 10), "as many as it says");
    CHECK(!walk_budget_is_endless(1500, 1000, 10), "a total that is wrong");
    CHECK(!walk_budget_is_endless(300, 0, 10), "a few pages");
    CHECK(walk_budget_is_endless(704, 95, 10), "four times as many, and 32 pages");
    CHECK(!walk_budget_is_endless(1000000, 1000000, 10), "a large list");
    CHECK(!walk_budget_is_endless(INT64_MAX, INT64_MAX / 2, 10), "a very large one");
}

TEST(a_window_left_to_a_person_is_tried_again_ever_more_rarely)
{
    CHECK_EQ(walk_budget_wait_us(1), US_PER_HOUR, "an hour");
    CHECK_EQ(walk_budget_wait_us(2), 4 * US_PER_HOUR, "four");
    CHECK_EQ(walk_budget_wait_us(4), 64 * US_PER_HOUR, "days");
    CHECK_EQ(walk_budget_wait_us(5), 7 * US_PER_DAY, "a week");
    CHECK_EQ(walk_budget_wait_us(INT64_MAX), 7 * US_PER_DAY, "and no longer");
}
