/* Tests: which partition is served next. */
#include "core/turn.h"

#include "test.h"

TEST(the_most_urgent_goes_first_and_equals_take_turns)
{
    const struct {
        const char *label;
        struct turn turns[3];
        size_t count;
        size_t wanted;
    } rows[] = {
        { "no partition", { { 0 } }, 0, 0 },
        { "smaller priority first", { { true, 50, 0, 4, 0 }, { true, 10, 0, 4, 9 } }, 2, 1 },
        { "longest without a turn", { { true, 10, 0, 4, 7 }, { true, 10, 0, 4, 3 } }, 2, 1 },
        { "never had one", { { true, 10, 0, 4, 1 }, { true, 10, 0, 4, 0 } }, 2, 1 },
        { "full is passed over", { { true, 10, 4, 4, 0 }, { true, 90, 0, 4, 9 } }, 2, 1 },
        { "rests", { { false, 10, 0, 4, 0 }, { true, 90, 0, 4, 9 } }, 2, 1 },
        { "all rest", { { false, 10, 0, 4, 0 }, { true, 90, 1, 1, 9 } }, 2, 2 },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_EQ(turn_choose(rows[i].turns, rows[i].count), rows[i].wanted, rows[i].label);
}

TEST(a_source_with_a_million_tasks_and_one_with_few_are_served_alike)
{
    struct turn turns[3] = { { true, 10, 0, 9, 0 }, { true, 10, 0, 9, 0 }, { true, 10, 0, 9, 0 } };
    int served[3] = { 0 };

    for (int64_t i = 1; i <= 300; i++) {
        const size_t chosen = turn_choose(turns, 3);

        REQUIRE(chosen < 3, "somebody's turn");
        turns[chosen].last = i;
        served[chosen]++;
    }
    for (size_t i = 0; i < 3; i++)
        CHECK_EQ(served[i], 100, "a third each");
}
