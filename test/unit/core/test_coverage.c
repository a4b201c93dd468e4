/* Tests: set operations on windows, against an array of booleans. */
#include "core/coverage.h"

#include <string.h>

#include "random.h"
#include "test.h"
#include "within.h"

/* ---- the model: time is 0..47, a set is an array of booleans ---- */

enum { INSTANTS = 48, WINDOWS_MAX = 10 };

struct model {
    bool has[INSTANTS];
};

static struct model model_of(struct window_list list)
{
    struct model model = { { false } };

    for (size_t i = 0; i < list.count; i++) {
        for (int64_t t = list.items[i].from_us; t < list.items[i].to_us; t++)
            model.has[t] = true;
    }
    return model;
}

static bool model_eq(const struct model *a, const struct model *b)
{
    return memcmp(a->has, b->has, sizeof(a->has)) == 0;
}

/* Windows in any order, some without an instant, some inverted. */
static struct window_list random_list(struct random *random, struct window *items)
{
    struct window_list list = { items, (size_t)random_between(random, 0, WINDOWS_MAX + 1) };

    for (size_t i = 0; i < list.count; i++) {
        items[i].from_us = random_between(random, 0, INSTANTS);
        items[i].to_us = random_chance(random, 15)
                             ? random_between(random, 0, items[i].from_us + 1)
                             : random_between(random, items[i].from_us, INSTANTS + 1);
        if (random_chance(random, 60) && items[i].to_us > items[i].from_us + 6)
            items[i].to_us = items[i].from_us + 6;
    }
    return list;
}

struct fixture {
    struct arena arena;
    struct random random;
    struct window a_items[WINDOWS_MAX], b_items[WINDOWS_MAX];
    struct window_list a, b; /* in normal form */
    struct model ma, mb;
    struct error err;
};

static void next_round(struct fixture *f)
{
    arena_reset(&f->arena);
    f->a = random_list(&f->random, f->a_items);
    f->b = random_list(&f->random, f->b_items);
    f->ma = model_of(f->a);
    f->mb = model_of(f->b);
    coverage_normalise(&f->a);
    coverage_normalise(&f->b);
}

static struct fixture start(uint64_t seed)
{
    struct fixture f = { .random = { seed } };

    arena_init(&f.arena, 1 << 20);
    return f;
}

TEST(the_normal_form_holds_the_same_instants)
{
    struct fixture f = start(3);

    for (int i = 0; i < 20000; i++) {
        struct model model;

        next_round(&f);
        model = model_of(f.a);
        CHECK(coverage_is_normal(f.a), "normal");
        CHECK(model_eq(&model, &f.ma), "the same instants");
    }
    arena_release(&f.arena);
}

TEST(algebra_agrees_with_the_bitmap)
{
    struct fixture f = start(4);

    for (int i = 0; i < 20000; i++) {
        struct window_list sum, rest;
        struct model msum, mrest;

        next_round(&f);
        REQUIRE_OK(coverage_union(&f.arena, f.a, f.b, &sum, &f.err), f.err);
        REQUIRE_OK(coverage_subtract(&f.arena, f.a, f.b, &rest, &f.err), f.err);
        msum = model_of(sum);
        mrest = model_of(rest);
        for (int t = 0; t < INSTANTS; t++) {
            CHECK_EQ(msum.has[t], f.ma.has[t] || f.mb.has[t], "union");
            CHECK_EQ(mrest.has[t], f.ma.has[t] && !f.mb.has[t], "subtract");
        }
        CHECK(coverage_is_normal(sum) && coverage_is_normal(rest), "results are in normal form");
    }
    arena_release(&f.arena);
}

TEST(gaps_and_containment_agree_with_the_bitmap)
{
    struct fixture f = start(5);

    for (int i = 0; i < 20000; i++) {
        const int64_t from = random_between(&f.random, 0, INSTANTS);
        const struct window within = { from, random_between(&f.random, from, INSTANTS + 1) };
        struct window_list gaps;
        struct model mgaps;
        bool all = true;

        next_round(&f);
        REQUIRE_OK(coverage_gaps(&f.arena, f.a, within, &gaps, &f.err), f.err);
        mgaps = model_of(gaps);
        for (int t = 0; t < INSTANTS; t++) {
            const bool inside = is_within(within, t);

            CHECK_EQ(mgaps.has[t], inside && !f.ma.has[t], "gaps");
            all = all && (!inside || f.ma.has[t]);
        }
        CHECK_EQ(coverage_contains(f.a, within), all, "contains");
    }
    arena_release(&f.arena);
}

TEST(a_plan_is_wanted_less_covered_after_the_cursor_less_live)
{
    struct fixture f = start(6);

    for (int i = 0; i < 20000; i++) {
        const int64_t from = random_between(&f.random, 0, INSTANTS);
        const int64_t cursor = random_between(&f.random, 0, INSTANTS);
        struct window_list plan;
        struct model mplan;
        struct coverage_request request = {
            .wanted = { from, random_between(&f.random, from, INSTANTS + 1) },
            .cursor_us = cursor,
        };

        arena_reset(&f.arena);
        request.covered = random_list(&f.random, f.a_items);
        request.live = random_list(&f.random, f.b_items);
        f.ma = model_of(request.covered);
        f.mb = model_of(request.live);
        REQUIRE_OK(coverage_plan(&f.arena, &request, &plan, &f.err), f.err);
        mplan = model_of(plan);
        for (int t = 0; t < INSTANTS; t++) {
            const bool spared = f.mb.has[t] || (f.ma.has[t] && t >= cursor);

            CHECK_EQ(mplan.has[t], is_within(request.wanted, t) && !spared, "plan");
        }
        CHECK(coverage_is_normal(plan), "normal");
    }
    arena_release(&f.arena);
}

TEST(windows_that_touch_become_one)
{
    struct window items[] = { { 20, 30 }, { 0, 10 }, { 10, 20 }, { 5, 5 } };
    struct window_list list = { items, 4 };

    coverage_normalise(&list);
    REQUIRE(list.count == 1, "one window");
    CHECK_EQ(list.items[0].from_us, 0, "from");
    CHECK_EQ(list.items[0].to_us, 30, "to");
}

TEST(a_hundred_thousand_windows_in_reverse_are_sorted)
{
    enum { MANY = 100000 };
    struct arena arena;
    struct window_list list = { NULL, MANY };

    arena_init(&arena, 64 << 20);
    list.items = ARENA_ARRAY(&arena, struct window, MANY);
    REQUIRE(list.items != NULL, "memory");
    for (int64_t i = 0; i < MANY; i++)
        list.items[i] = (struct window){ (MANY - i) * 3, (MANY - i) * 3 + 2 };
    coverage_normalise(&list);
    CHECK_EQ(list.count, MANY, "all kept");
    CHECK(coverage_is_normal(list), "sorted");
    arena_release(&arena);
}

TEST(the_limit_of_the_arena_is_an_ordinary_error)
{
    struct window items[] = { { 0, 10 } };
    const struct window_list set = { items, 1 };
    struct window_list out;
    struct arena arena;
    struct error err;

    arena_init(&arena, 8);
    CHECK(!coverage_union(&arena, set, set, &out, &err), "refused");
    CHECK_STR(str_of(err.code), STR("memory.limit"), "its code");
    arena_release(&arena);
}
