/* Tests: how far the watermark moves, and what holds it back. */
#include "core/watermark.h"

#include "random.h"
#include "test.h"

TEST(watermark_stops_at_the_first_gap)
{
    static const struct {
        const char *label;
        struct window covered[4];
        size_t count;
        int64_t low_us;
    } cases[] = {
        /* the cursor is at 100 */
        { "nothing covered", { { 0 } }, 0, 100 },
        { "all four", { { 100, 110 }, { 110, 120 }, { 120, 130 }, { 130, 140 } }, 4, 140 },
        { "the third failed", { { 100, 110 }, { 110, 120 }, { 130, 140 } }, 3, 120 },
        { "one inside another", { { 90, 130 }, { 100, 110 }, { 130, 140 } }, 3, 140 },
        { "a gap of one", { { 101, 150 } }, 1, 100 },
        { "only before the cursor", { { 10, 60 }, { 60, 100 } }, 2, 100 },
        { "wholly before the cursor", { { 10, 20 } }, 1, 100 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const int64_t low_us = watermark_low(100, cases[i].covered, cases[i].count);
        CHECK_EQ(low_us, cases[i].low_us, cases[i].label);
    }
}

TEST(watermark_is_the_first_uncovered_instant_of_a_bitmap)
{
    enum { INSTANTS = 64 };
    struct random random = { 2 };

    for (int round = 0; round < 20000; round++) {
        struct window covered[8];
        bool is_covered[INSTANTS] = { false };
        const size_t count = (size_t)random_between(&random, 0, 9);
        const int64_t cursor = random_between(&random, 0, INSTANTS);
        int64_t low = cursor;
        int64_t from = 0;

        for (size_t i = 0; i < count; i++) {
            from = random_between(&random, from, INSTANTS);
            covered[i].from_us = from;
            covered[i].to_us = random_between(&random, from + 1, INSTANTS + 1);
            for (int64_t t = covered[i].from_us; t < covered[i].to_us; t++)
                is_covered[t] = true;
        }
        while (low < INSTANTS && is_covered[low])
            low++;
        CHECK_EQ(watermark_low(cursor, covered, count), low, "as the bitmap says");
    }
}

TEST(what_is_owed_a_second_look_holds_the_watermark_back)
{
    static const struct {
        const char *label;
        int64_t late_us;
        struct window owed[2];
        size_t count;
        int64_t low_us;
    } cases[] = {
        /* the cursor at 100, covered up to 150 */
        { "nothing is owed", 20, { { 0 } }, 0, 150 },
        { "no lookback", 0, { { 100, 110 } }, 1, 150 },
        { "all that a trigger looks back for", 20, { { 80, 100 } }, 1, 100 },
        { "the last of it", 20, { { 95, 100 } }, 1, 115 },
        { "what was covered last", 20, { { 130, 150 } }, 1, 150 },
        { "beyond the cursor, read long ago", 20, { { 110, 120 }, { 130, 150 } }, 2, 130 },
        { "begins before the reach", 20, { { 70, 85 } }, 1, 100 },
        { "ends before the reach", 20, { { 60, 80 }, { 90, 95 } }, 2, 110 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct window owed[2] = { cases[i].owed[0], cases[i].owed[1] };
        const struct window_list list = { owed, cases[i].count };

        CHECK_EQ(watermark_held(100, cases[i].late_us, list, 150), cases[i].low_us, cases[i].label);
    }
}
