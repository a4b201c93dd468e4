/* Tests: gaps, against a table with a mark for every number. */
#include "core/gaps.h"

#include <string.h>

#include "random.h"
#include "test.h"

enum { NUMBERS = 200, ROOM = 12, STEPS = 400, HISTORIES = 300 };

struct model {
    enum { UNKNOWN, MISSING, SETTLED } state[NUMBERS + 1]; /* of each number up to the cursor */
    int64_t cursor;
};

static size_t ranges_of(const struct model *model)
{
    size_t count = 0;

    for (int64_t i = 1; i <= model->cursor; i++)
        count += model->state[i] == MISSING && (i == 1 || model->state[i - 1] != MISSING);
    return count;
}

static void check_same(const struct gaps *gaps, const struct model *model)
{
    int64_t horizon = model->cursor;

    for (int64_t i = model->cursor; i >= 1; i--) {
        CHECK_EQ(gaps_has(gaps, i), model->state[i] == MISSING, "a number in a gap");
        if (model->state[i] == MISSING)
            horizon = i - 1;
    }
    CHECK_EQ(gaps_horizon(gaps), horizon, "the horizon");
    CHECK_EQ(gaps->cursor, model->cursor, "the cursor");
    CHECK_EQ(gaps->count, ranges_of(model), "as few ranges as possible");
}

static void see(struct gaps *gaps, struct model *model, int64_t number)
{
    const bool fits = number == model->cursor + 1 || gaps->count < ROOM;

    CHECK_EQ(gaps_see(gaps, number), fits, "seen, if there is room");
    if (!fits)
        return;
    for (int64_t i = model->cursor + 1; i < number; i++)
        model->state[i] = MISSING;
    model->state[number] = SETTLED;
    model->cursor = number;
}

static void fill(struct gaps *gaps, struct model *model, int64_t number)
{
    struct model filled = *model;
    bool fits;

    filled.state[number] = SETTLED;
    fits = ranges_of(&filled) <= ROOM;
    CHECK_EQ(gaps_fill(gaps, number), fits, "filled, if there is room");
    if (fits)
        *model = filled;
}

static void settle(struct gaps *gaps, struct model *model, int64_t up_to)
{
    gaps_settle(gaps, up_to);
    for (int64_t i = 1; i <= up_to && i <= model->cursor; i++)
        model->state[i] = SETTLED;
}

TEST(after_any_steps_the_gaps_are_what_is_missing)
{
    const struct random_seeds seeds = random_seeds(HISTORIES);

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        struct random random = { seed };
        struct model model = { .cursor = 0 };
        struct gap items[ROOM];
        struct gaps gaps;

        gaps_init(&gaps, items, ROOM, 0);
        for (int step = 0; step < STEPS && model.cursor < NUMBERS; step++) {
            const int64_t what = random_between(&random, 0, 10);
            const int64_t most = NUMBERS - model.cursor < 4 ? NUMBERS - model.cursor : 4;

            if (what < 4)
                see(&gaps, &model, model.cursor + random_between(&random, 1, most + 1));
            else if (what < 9 && model.cursor > 0)
                fill(&gaps, &model, random_between(&random, 1, model.cursor + 1));
            else
                settle(&gaps, &model, random_between(&random, 0, model.cursor / 2 + 2));
            check_same(&gaps, &model);
        }
    }
}

/* A new reader sees again what its predecessor saw, and needs no more room for it. */
TEST(what_was_seen_before_makes_the_same_gaps)
{
    struct gap items[2];
    struct gaps gaps;

    gaps_init(&gaps, items, 2, 4);
    CHECK(gaps_see(&gaps, 5) && gaps_see(&gaps, 7), "what is there");
    CHECK(gaps_pass(&gaps, 9) && gaps_pass(&gaps, 10), "up to the cursor");
    CHECK_EQ(gaps.count, 2, "6, and 8 to 10");
    CHECK(gaps_see(&gaps, 12), "a gap that goes on needs no room");
    CHECK_EQ(gaps.count, 2, "6, and 8 to 11");
    CHECK_EQ(gaps_horizon(&gaps), 5, "up to the first that is missing");
    gaps_settle(&gaps, 8);
    CHECK_EQ(gaps_horizon(&gaps), 8, "9 is missing");
    gaps_settle(&gaps, 100);
    CHECK_EQ(gaps_horizon(&gaps), 12, "never beyond the cursor");
}
