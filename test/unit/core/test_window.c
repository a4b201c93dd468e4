/* Tests: operations on one or two windows. */
#include "core/window.h"

#include "test.h"

TEST(a_window_without_an_instant_is_not_valid)
{
    CHECK(window_is_valid((struct window){ 10, 11 }), "one instant");
    CHECK(!window_is_valid((struct window){ 10, 10 }), "from = to");
    CHECK(!window_is_valid((struct window){ 11, 10 }), "inverted");
    CHECK_EQ(window_length_us((struct window){ 11, 10 }), 0, "inverted has no length");
    CHECK_EQ(window_length_us((struct window){ -5, 10 }), 15, "across the epoch");
}

TEST(intersection_is_what_both_hold)
{
    const struct {
        const char *label;
        struct window a, b;
        bool meet;
        struct window common;
    } cases[] = {
        { "overlap", { 0, 10 }, { 5, 15 }, true, { 5, 10 } },
        { "inside", { 0, 10 }, { 3, 4 }, true, { 3, 4 } },
        { "touching share nothing", { 0, 10 }, { 10, 20 }, false, { 0, 0 } },
        { "apart", { 0, 10 }, { 12, 20 }, false, { 0, 0 } },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct window ab = window_intersect(cases[i].a, cases[i].b);
        const struct window ba = window_intersect(cases[i].b, cases[i].a);

        CHECK_EQ(window_is_valid(ab), cases[i].meet, cases[i].label);
        CHECK(ab.from_us == ba.from_us && ab.to_us == ba.to_us, cases[i].label);
        if (cases[i].meet) {
            CHECK_EQ(ab.from_us, cases[i].common.from_us, cases[i].label);
            CHECK_EQ(ab.to_us, cases[i].common.to_us, cases[i].label);
        }
    }
}

TEST(containment)
{
    CHECK(window_contains((struct window){ 0, 10 }, (struct window){ 0, 10 }), "itself");
    CHECK(!window_contains((struct window){ 0, 10 }, (struct window){ 0, 11 }), "one more");
    CHECK(window_contains((struct window){ 0, 10 }, (struct window){ 50, 50 }), "nothing");
}
