/* Tests: re-slicing by time, pages and ids loses nothing and ends. */
#include "core/reslice.h"

#include <stdlib.h>

#include "base/instant.h"
#include "core/align.h"
#include "random.h"
#include "test.h"

#define D US_PER_DAY
#define H US_PER_HOUR

static struct reslice_request halve(struct window window, int64_t min_us)
{
    return (struct reslice_request){
        .window = window,
        .cut = { .max_us = 400 * D, .min_us = min_us },
        .reason = RESLICE_TOO_DEEP,
    };
}

static void check_children(const struct reslice *got, const struct window *wanted, size_t count,
                           const char *label)
{
    CHECK_EQ(got->count, count, label);
    for (size_t i = 0; i < got->count && i < count; i++) {
        CHECK_EQ(got->children[i].from_us, wanted[i].from_us, label);
        CHECK_EQ(got->children[i].to_us, wanted[i].to_us, label);
    }
}

TEST(a_slice_is_halved_and_keeps_what_it_finished)
{
    const struct {
        const char *label;
        struct window window, finished;
        int64_t min_us;
        size_t count;
        struct window children[2];
    } rows[] = {
        { "nothing finished", { 0, 100 }, { 0, 0 }, 1, 2, { { 0, 50 }, { 50, 100 } } },
        { "the start finished", { 0, 100 }, { 0, 40 }, 1, 2, { { 40, 70 }, { 70, 100 } } },
        { "the end finished", { 0, 100 }, { 60, 100 }, 1, 2, { { 0, 30 }, { 30, 60 } } },
        { "an odd length", { 0, 5 }, { 0, 0 }, 1, 2, { { 0, 2 }, { 2, 5 } } },
        { "just twice the minimum", { 0, 20 }, { 0, 0 }, 10, 2, { { 0, 10 }, { 10, 20 } } },
        { "below twice the minimum: no way", { 0, 19 }, { 0, 0 }, 10, 0, { { 0, 0 } } },
        { "below it, with a part finished: the rest is one child",
          { 0, 40 },
          { 0, 25 },
          10,
          1,
          { { 25, 40 } } },
        { "one instant cannot be divided", { 7, 8 }, { 0, 0 }, 1, 0, { { 0, 0 } } },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct reslice_request request = halve(rows[i].window, rows[i].min_us);
        struct reslice out;

        request.finished = rows[i].finished;
        reslice_time(&request, &out);
        check_children(&out, rows[i].children, rows[i].count, rows[i].label);
    }
}

TEST(cuts_fall_on_midnight_where_they_can)
{
    struct reslice_request request = halve((struct window){ 0, 3 * D }, H);
    struct reslice out;

    request.cut.align = ALIGN_DAY;
    reslice_time(&request, &out);
    check_children(&out, (struct window[]){ { 0, D }, { D, 3 * D } }, 2, "three days");
    request.window = (struct window){ 0, D };
    reslice_time(&request, &out);
    check_children(&out, (struct window[]){ { 0, 12 * H }, { 12 * H, D } }, 2, "one day");
}

TEST(a_source_that_filters_by_day_is_not_cut_below_a_day)
{
    struct reslice_request request = halve((struct window){ 0, 2 * D }, 1);
    struct reslice out;

    request.cut.granularity = GRANULARITY_DAY;
    reslice_time(&request, &out);
    check_children(&out, (struct window[]){ { 0, D }, { D, 2 * D } }, 2, "two days");
    request.window = (struct window){ 0, D };
    reslice_time(&request, &out);
    CHECK_EQ(out.count, 0, "one day");
}

TEST(without_a_calendar_cuts_fall_on_the_sources_steps)
{
    struct reslice_request request = halve((struct window){ 0, 3 * D }, 1);
    struct reslice out;

    request.cut.granularity = GRANULARITY_DAY;
    reslice_time(&request, &out);
    check_children(&out, (struct window[]){ { 0, D }, { D, 3 * D } }, 2, "not at noon");
}

TEST(a_known_total_is_brought_below_the_cap_at_once)
{
    struct reslice_request request = halve((struct window){ 0, 64 * D }, H);
    struct reslice out;

    request.reason = RESLICE_OVER_CAP;
    request.record_cap = 9999;
    request.total = 12000;
    reslice_time(&request, &out);
    CHECK_EQ(out.count, 2, "a little above: two halves of 6,000");
    request.total = 100000;
    reslice_time(&request, &out);
    CHECK_EQ(out.count, 16, "6,250 in each of sixteen; eight would have 12,500");
    request.total = 100000000;
    reslice_time(&request, &out);
    CHECK_EQ(out.count, RESLICE_CHILDREN_MAX, "there is a limit");
    request.reason = RESLICE_SLOW;
    reslice_time(&request, &out);
    CHECK_EQ(out.count, 2, "other reasons only halve");
}

TEST(children_and_finished_part_tile_the_slice)
{
    const int rounds = test_rounds(20000);
    struct random random = { 8 };

    for (int round = 0; round < rounds; round++) {
        const int64_t from = random_between(&random, -40 * D, 40 * D);
        const bool is_long = random_chance(&random, 50);
        const int64_t length = random_between(&random, 1, is_long ? 90 * D : 99);
        const int64_t done = random_chance(&random, 50) ? random_between(&random, 0, length) : 0;
        const bool at_start = random_chance(&random, 50);
        struct reslice_request request =
            halve((struct window){ from, from + length },
                  random_chance(&random, 50) ? random_between(&random, 1, 2 * D) : 1);
        struct reslice out;
        struct window rest = request.window;
        int64_t next;

        request.cut.align = (enum align_unit)random_between(&random, 0, ALIGN_MONTH + 1);
        request.cut.granularity = (enum granularity)random_between(&random, 0, GRANULARITY_DAY + 1);
        request.reason = (enum reslice_reason)random_between(&random, 0, RESLICE_SLOW + 1);
        request.total = random_between(&random, 0, 1000000);
        request.record_cap = random_between(&random, 0, 10000);
        if (done > 0 && at_start) {
            request.finished = (struct window){ from, from + done };
            rest.from_us = from + done;
        } else if (done > 0) {
            request.finished = (struct window){ from + length - done, from + length };
            rest.to_us = from + length - done;
        }
        reslice_time(&request, &out);
        next = rest.from_us;
        for (size_t i = 0; i < out.count; i++) {
            const int64_t child_us = window_length_us(out.children[i]);

            CHECK_EQ(out.children[i].from_us, next, "no gap, no overlap");
            CHECK(child_us > 0, "not empty");
            CHECK(out.count == 1 || (child_us >= request.cut.min_us &&
                                     child_us >= granularity_us(request.cut.granularity)),
                  "not below the minimum");
            next = out.children[i].to_us;
        }
        if (out.count > 0)
            CHECK_EQ(next, rest.to_us, "to the end");
        else
            CHECK_EQ(done, 0, "who has finished a part has a child for the rest");
        CHECK(out.count != 1 || done > 0, "one child is no cut unless a part is finished");
    }
}

/* Repeated re-slicing must end, and lose nothing. */
TEST(halving_ends_at_the_minimum)
{
    struct window window = { 0, 90 * D };
    int rounds = 0;

    for (;;) {
        struct reslice_request request = halve(window, H);
        struct reslice out;

        reslice_time(&request, &out);
        if (out.count == 0)
            break;
        REQUIRE(++rounds < 20, "it ends");
        window = out.children[out.count - 1];
    }
    CHECK(window_length_us(window) < 2 * H, "as small as may be");
    CHECK(window_length_us(window) >= H, "and not smaller");
}

TEST(pages_are_halved)
{
    struct page_range children[2];

    REQUIRE(reslice_pages((struct page_range){ 1, 201 }, 51, children), "150 are left");
    CHECK_EQ(children[0].from, 51, "from the first unfinished");
    CHECK_EQ(children[0].to, 126, "half");
    CHECK_EQ(children[1].from, 126, "no gap");
    CHECK_EQ(children[1].to, 201, "to the end");
    CHECK(!reslice_pages((struct page_range){ 1, 201 }, 200, children), "one page is left");
}

/* ---- ids ---- */

static void check_tiles(const struct reslice_ids_request *request, const struct reslice_ids *out)
{
    const struct id_range all = { ID_LOWEST, ID_HIGHEST };
    const struct id_range own = id_range_is_valid(request->ids) ? request->ids : all;

    REQUIRE(out->count >= 2 && out->count <= RESLICE_CHILDREN_MAX, "two at least");
    CHECK_EQ(out->children[0].from, own.from, "from the slice's own begin");
    CHECK_EQ(out->children[out->count - 1].to, own.to, "to its end");
    for (size_t i = 0; i < out->count; i++) {
        CHECK(id_range_is_valid(out->children[i]), "none is empty");
        if (i > 0)
            CHECK_EQ(out->children[i].from, out->children[i - 1].to, "no gap, nothing twice");
    }
}

TEST(a_day_is_divided_by_ids_and_its_ends_stay_open)
{
    const struct reslice_ids_request request = { .id_min = 1,
                                                 .id_max = 99999999,
                                                 .reason = RESLICE_OVER_CAP,
                                                 .total = 50000,
                                                 .record_cap = 9999 };
    struct reslice_ids out;

    reslice_ids(&request, &out);
    check_tiles(&request, &out);
    CHECK_EQ(out.count, 8, "50,000 in eight are 6,250, which is below three quarters of the cap");
    CHECK_EQ(out.children[0].from, ID_LOWEST, "everything below");
    CHECK_EQ(out.children[0].to, 12500000, "an eighth of the ids");
    CHECK_EQ(out.children[7].to, ID_HIGHEST, "and everything above");
}

TEST(one_id_cannot_be_divided)
{
    struct reslice_ids_request request = { .ids = { 7, 8 }, .id_max = 100 };
    struct reslice_ids out;

    reslice_ids(&request, &out);
    CHECK_EQ(out.count, 0, "one is left");
    request.ids = (struct id_range){ 100, ID_HIGHEST };
    reslice_ids(&request, &out);
    CHECK_EQ(out.count, 0, "open, but the source has one id there");
    request.ids = (struct id_range){ 99, ID_HIGHEST };
    reslice_ids(&request, &out);
    check_tiles(&request, &out);
    CHECK_EQ(out.children[0].to, 100, "two are");
    request.ids = (struct id_range){ 200, 300 };
    reslice_ids(&request, &out);
    CHECK_EQ(out.count, 0, "beyond what the source can have");
}

/* A source of these ids, divided the way executors and planner do it. */
enum { IDS_MOST = 4096 };
struct cutting {
    const int64_t *ids; /* sorted */
    size_t id_count;
    struct reslice_ids_request how;
    bool is_found[IDS_MOST];
    int64_t requests;
    int depth_most;
};

static void cut_all(struct cutting *c, struct id_range range, int depth)
{
    struct reslice_ids_request request = c->how;
    struct reslice_ids out;
    int64_t held = 0;

    c->requests++;
    c->depth_most = depth > c->depth_most ? depth : c->depth_most;
    for (size_t i = 0; i < c->id_count; i++)
        held += id_range_has(range, c->ids[i]);
    if (held <= c->how.record_cap) {
        for (size_t i = 0; i < c->id_count; i++) {
            if (!id_range_has(range, c->ids[i]))
                continue;
            CHECK(!c->is_found[i], "an id is in one part");
            c->is_found[i] = true;
        }
        return;
    }
    request.ids = range;
    request.total = held;
    reslice_ids(&request, &out);
    check_tiles(&request, &out);
    for (size_t i = 0; i < out.count; i++)
        cut_all(c, out.children[i], depth + 1);
}

static int compare_ids(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Spread out, or in consecutive clusters; sorted and distinct. */
static size_t make_ids(struct random *random, int64_t id_max, int64_t *ids, size_t count)
{
    const int64_t step = random_between(random, 0, 3);
    int64_t centre = 0;
    size_t distinct = 0;

    for (size_t i = 0; i < count; i++) {
        if (i % 500 == 0)
            centre = random_between(random, 0, id_max);
        if (step == 0)
            ids[i] = random_between(random, 0, id_max);
        else
            ids[i] = (centre + (int64_t)(i % 500) * step) % (id_max + 1);
    }
    qsort(ids, count, sizeof(*ids), compare_ids);
    for (size_t i = 0; i < count; i++) {
        if (distinct == 0 || ids[distinct - 1] != ids[i])
            ids[distinct++] = ids[i];
    }
    return distinct;
}

TEST(however_ids_are_clustered_each_is_in_one_part_and_division_ends)
{
    static int64_t ids[IDS_MOST];
    static struct cutting c;
    struct random random = { 20261116 };
    int64_t most = 0;

    for (int round = 0; round < 200; round++) {
        const int bits = (int)random_between(&random, 13, 53);
        const int64_t id_max = (INT64_C(1) << bits) - 1;
        int64_t over;

        c = (struct cutting){ .ids = ids,
                              .how = { .id_max = id_max,
                                       .reason = RESLICE_OVER_CAP,
                                       .record_cap = random_between(&random, 1, 500) } };
        c.id_count = make_ids(&random, id_max, ids, (size_t)random_between(&random, 600, IDS_MOST));
        cut_all(&c, (struct id_range){ ID_LOWEST, ID_HIGHEST }, 0);
        for (size_t i = 0; i < c.id_count; i++)
            CHECK(c.is_found[i], "an id is left out");
        CHECK(c.depth_most <= bits, "no more cuts in a row than an id has digits");
        /* At any depth, no more parts are above the cap than there are ids for. */
        over = (int64_t)c.id_count / (c.how.record_cap + 1) * bits;
        CHECK(c.requests <= 1 + over * RESLICE_CHILDREN_MAX, "requests are bounded");
        most = c.requests > most ? c.requests : most;
    }
    test_note("200 sets of ids, up to 4096 each: at most %lld requests", (long long)most);
}
