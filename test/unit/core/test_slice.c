/* Tests: slices tile a plan; queries, estimates, hash buckets. */
#include "core/slice.h"

#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "core/align.h"
#include "core/limits.h"
#include "random.h"
#include "test.h"

#define D US_PER_DAY
#define H US_PER_HOUR

static int64_t day(int year, int month, int d)
{
    return instant_from_civil((struct civil){ .year = year, .month = month, .day = d });
}

static struct slice_request time_request(struct window *pieces, size_t count, int64_t max_us,
                                         enum align_unit align)
{
    return (struct slice_request){
        .operation = OPERATION_HARVEST,
        .dimension = SLICE_TIME,
        .pieces = { pieces, count },
        .cut = { .max_us = max_us, .min_us = 1, .align = align },
    };
}

/* ---- TIME ---- */

TEST(days_of_a_leap_february_across_midnights)
{
    struct window piece = { day(2024, 2, 27) + 5 * H, day(2024, 3, 1) + 7 * H };
    const struct window wanted[] = {
        { piece.from_us, day(2024, 2, 28) },
        { day(2024, 2, 28), day(2024, 2, 29) },
        { day(2024, 2, 29), day(2024, 3, 1) },
        { day(2024, 3, 1), piece.to_us },
    };
    const struct slice_request request = time_request(&piece, 1, D, ALIGN_DAY);
    struct slice_iter iter;
    struct slice slice;

    slice_iter_init(&iter, &request);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        REQUIRE(slice_iter_next(&iter, &slice), "a slice");
        CHECK_EQ(slice.number, i, "numbered");
        CHECK_EQ(slice.window.from_us, wanted[i].from_us, "from");
        CHECK_EQ(slice.window.to_us, wanted[i].to_us, "to");
    }
    CHECK(!slice_iter_next(&iter, &slice), "no more");
    CHECK(!slice_iter_next(&iter, &slice), "still no more");
}

TEST(months_of_unequal_length_fit_a_maximum_of_31_days)
{
    struct window piece = { day(2023, 12, 1), day(2024, 4, 1) };
    const struct slice_request request = time_request(&piece, 1, 31 * D, ALIGN_MONTH);
    const int64_t starts[] = { day(2023, 12, 1), day(2024, 1, 1), day(2024, 2, 1),
                               day(2024, 3, 1) };
    struct slice_iter iter;
    struct slice slice;

    slice_iter_init(&iter, &request);
    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        REQUIRE(slice_iter_next(&iter, &slice), "a slice");
        CHECK_EQ(slice.window.from_us, starts[i], "begins with its month");
    }
    CHECK(!slice_iter_next(&iter, &slice), "four months");
}

TEST(backfill_goes_from_the_newest_to_the_oldest)
{
    struct window pieces[] = { { 0, 25 }, { 100, 112 } };
    const struct window wanted[] = { { 102, 112 }, { 100, 102 }, { 15, 25 }, { 5, 15 }, { 0, 5 } };
    struct slice_request request = time_request(pieces, 2, 10, ALIGN_NONE);
    struct slice_iter iter;
    struct slice slice;

    request.operation = OPERATION_BACKFILL;
    slice_iter_init(&iter, &request);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        REQUIRE(slice_iter_next(&iter, &slice), "a slice");
        CHECK_EQ(slice.window.from_us, wanted[i].from_us, "from");
        CHECK_EQ(slice.window.to_us, wanted[i].to_us, "to");
    }
    CHECK(!slice_iter_next(&iter, &slice), "no more");
}

/* True if a boundary is strictly between the two: found by walking all of them. */
static bool has_boundary_inside(struct window window, enum align_unit align)
{
    return align_next(window.from_us, align) < window.to_us;
}

TEST(slices_tile_their_pieces_exactly)
{
    struct random random = { 7 };

    for (int round = 0; round < 5000; round++) {
        struct window pieces[4];
        const size_t count = (size_t)random_between(&random, 1, 5);
        const int64_t max_us = random_between(&random, 1, 40 * 24) * H;
        const enum align_unit align = (enum align_unit)random_between(&random, 0, ALIGN_YEAR + 1);
        const bool is_backfill = random_chance(&random, 50);
        struct slice_request request = time_request(pieces, count, max_us, align);
        struct slice_iter iter;
        struct slice slice;
        int64_t at_us = day(2023, 11, 5);
        size_t piece;
        int64_t edge_us;

        for (size_t i = 0; i < count; i++) {
            pieces[i].from_us = at_us += random_between(&random, 1, 30 * D);
            pieces[i].to_us = at_us += random_between(&random, 1, 90 * D);
        }
        request.operation = is_backfill ? OPERATION_BACKFILL : OPERATION_HARVEST;
        slice_iter_init(&iter, &request);
        piece = is_backfill ? count - 1 : 0;
        edge_us = is_backfill ? pieces[piece].to_us : pieces[0].from_us;
        while (slice_iter_next(&iter, &slice)) {
            const struct window own = slice.window;
            const int64_t far_us = is_backfill ? own.from_us : own.to_us;
            const int64_t end_us = is_backfill ? pieces[piece].from_us : pieces[piece].to_us;

            REQUIRE(piece < count, "pieces left");
            REQUIRE(window_is_valid(own), "not empty");
            CHECK_EQ(is_backfill ? own.to_us : own.from_us, edge_us, "begins where the last ended");
            CHECK(window_length_us(own) <= max_us, "not longer than max");
            if (far_us != end_us) { /* a cut made by the slicer: on a boundary, or there was none */
                CHECK(align_floor(far_us, align) == far_us ||
                          (window_length_us(own) == max_us && !has_boundary_inside(own, align)),
                      "cuts fall on boundaries");
            }
            edge_us = far_us;
            if (far_us == end_us) {
                piece = is_backfill ? piece - 1 : piece + 1;
                if (piece < count)
                    edge_us = is_backfill ? pieces[piece].to_us : pieces[piece].from_us;
            }
        }
        CHECK_EQ(piece, is_backfill ? SIZE_MAX : count, "all pieces, to their ends");
    }
}

TEST(an_aligned_cut_is_the_farthest_boundary_within_the_maximum)
{
    struct window piece = { day(2026, 1, 1) + 5 * H, day(2026, 1, 20) };
    const struct slice_request request = time_request(&piece, 1, 3 * D, ALIGN_DAY);
    struct slice_iter iter;
    struct slice slice;

    slice_iter_init(&iter, &request);
    REQUIRE(slice_iter_next(&iter, &slice), "the first");
    CHECK_EQ(slice.window.to_us, day(2026, 1, 4), "not the first midnight, the third");
    REQUIRE(slice_iter_next(&iter, &slice), "the second");
    CHECK_EQ(slice.window.to_us, day(2026, 1, 7), "then whole days");
}

TEST(neighbours_do_not_request_the_same_day)
{
    struct window piece = { day(2026, 1, 1) + 5 * H, day(2026, 1, 9) };
    struct slice_request request = time_request(&piece, 1, 36 * H, ALIGN_NONE);
    struct slice_iter iter;
    struct slice slice;
    int64_t asked_us = day(2026, 1, 1);

    request.cut.granularity = GRANULARITY_DAY;
    slice_iter_init(&iter, &request);
    while (slice_iter_next(&iter, &slice)) {
        CHECK_EQ(slice.query.window.from_us, asked_us, "begins where the last query ended");
        asked_us = slice.query.window.to_us;
    }
    CHECK_EQ(asked_us, piece.to_us, "all days, each once");
    request.operation = OPERATION_BACKFILL;
    slice_iter_init(&iter, &request);
    while (slice_iter_next(&iter, &slice)) {
        CHECK_EQ(slice.query.window.to_us, asked_us, "and the same backwards");
        asked_us = slice.query.window.from_us;
    }
    CHECK_EQ(asked_us, day(2026, 1, 1), "to the first day");
}

TEST(no_pieces_give_no_slices)
{
    const struct slice_request request = time_request(NULL, 0, D, ALIGN_DAY);
    struct slice_iter iter;
    struct slice slice;

    slice_iter_init(&iter, &request);
    CHECK(!slice_iter_next(&iter, &slice), "none");
}

/* ---- queries ---- */

TEST(a_query_is_widened_while_the_own_window_stays)
{
    const int64_t at = day(2026, 3, 1);
    const struct {
        const char *label;
        struct slice_cut cut;
        struct window own, keep, query;
        bool needs_filter;
    } rows[] = {
        { "nothing to widen",
          { .granularity = GRANULARITY_MICROSECOND },
          { at + 1, at + 2 },
          { at + 1, at + 2 },
          { at + 1, at + 2 },
          false },
        { "overlap reaches back only",
          { .overlap_us = H },
          { at, at + D },
          { at - H, at + D },
          { at - H, at + D },
          false },
        { "whole days ask for nothing more",
          { .granularity = GRANULARITY_DAY },
          { at, at + D },
          { at, at + D },
          { at, at + D },
          false },
        { "a part of a day requests the day",
          { .granularity = GRANULARITY_DAY },
          { at + H, at + 2 * H },
          { at + H, at + 2 * H },
          { at, at + D },
          true },
        { "over midnight requests two",
          { .granularity = GRANULARITY_DAY },
          { at - H, at + H },
          { at - H, at + H },
          { at - D, at + D },
          true },
        { "overlap first, then granularity",
          { .overlap_us = H, .granularity = GRANULARITY_DAY },
          { at, at + D },
          { at - H, at + D },
          { at - D, at + D },
          true },
        { "seconds",
          { .granularity = GRANULARITY_SECOND },
          { at + 1, at + US_PER_SECOND + 1 },
          { at + 1, at + US_PER_SECOND + 1 },
          { at, at + 2 * US_PER_SECOND },
          true },
        { "before 1970",
          { .granularity = GRANULARITY_DAY },
          { -H, -1 },
          { -H, -1 },
          { -D, 0 },
          true },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct slice_query query = slice_query_of(&rows[i].cut, rows[i].own);

        CHECK_EQ(query.keep.from_us, rows[i].keep.from_us, rows[i].label);
        CHECK_EQ(query.keep.to_us, rows[i].keep.to_us, rows[i].label);
        CHECK_EQ(query.window.from_us, rows[i].query.from_us, rows[i].label);
        CHECK_EQ(query.window.to_us, rows[i].query.to_us, rows[i].label);
        CHECK_EQ(query.needs_filter, rows[i].needs_filter, rows[i].label);
    }
}

/* ---- caps and estimates ---- */

TEST(the_step_keeps_the_expected_total_below_the_cap)
{
    const struct slice_cut cut = { .max_us = 30 * D, .min_us = H, .granularity = GRANULARITY_HOUR };
    const struct {
        const char *label;
        struct slice_density density;
        int64_t cap, step_us;
    } rows[] = {
        { "no history", { 0, 0 }, 9999, 30 * D },
        { "no cap", { 1000000, D }, 0, 30 * D },
        { "nothing found so far", { 0, 90 * D }, 9999, 30 * D },
        { "4,000 a day, 8,000 allowed: three quarters of two days", { 4000, D }, 8000, 3 * D / 2 },
        { "few records: the maximum", { 10, D }, 9999, 30 * D },
        { "far too many: the minimum", { 1000000000, D }, 9999, H },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const int64_t step_us = slice_step_us(&cut, rows[i].density, rows[i].cap);

        CHECK_EQ(step_us, rows[i].step_us, rows[i].label);
        if (rows[i].cap > 0 && step_us > cut.min_us && rows[i].density.span_us > 0)
            CHECK(slice_expected_records(rows[i].density, step_us) <= rows[i].cap, rows[i].label);
    }
}

TEST(the_step_is_never_below_what_the_source_can_filter_by)
{
    const struct slice_cut cut = { .max_us = 30 * D, .min_us = H, .granularity = GRANULARITY_DAY };

    CHECK_EQ(slice_step_us(&cut, (struct slice_density){ 1000000, D }, 9999), D, "one day");
}

TEST(a_query_with_its_overlap_stays_below_the_cap)
{
    const struct slice_cut cut = { .max_us = 30 * D, .min_us = H, .overlap_us = D };
    const struct slice_density density = { 1000, D };
    const int64_t step_us = slice_step_us(&cut, density, 4000);
    const struct slice_query query = slice_query_of(&cut, (struct window){ 0, step_us });

    CHECK_EQ(step_us, 2 * D, "three days of records, one of them the overlap's");
    CHECK_EQ(slice_expected_records(density, window_length_us(query.window)), 3000, "of 4,000");
}

TEST(history_decides_the_length_of_slices)
{
    const struct slice_sample samples[] = {
        { { 0, D }, 3000 }, { { D, 3 * D }, 9000 }, { { 5, 5 }, 7 } /* no length: no evidence */
    };
    const struct slice_density density = slice_density_of(samples, 3);
    struct window piece = { 0, 10 * D };
    struct slice_request request = time_request(&piece, 1, 30 * D, ALIGN_DAY);
    struct slice_iter iter;
    struct slice slice;
    int64_t slices = 0;

    CHECK_EQ(density.records, 12000, "records");
    CHECK_EQ(density.span_us, 3 * D, "span");
    request.density = density;
    request.record_cap = 12000; /* 9,000 of them: two and a quarter days */
    request.cost = (struct slice_cost){ .page_size = 1000, .id_batch_size = 200 };
    slice_iter_init(&iter, &request);
    while (slice_iter_next(&iter, &slice)) {
        CHECK_EQ(window_length_us(slice.window), 2 * D, "two whole days");
        CHECK_EQ(slice.expected_records, 8000, "4,000 a day");
        CHECK_EQ(slice.expected_requests, 8 + 40, "pages and details");
        slices++;
    }
    CHECK_EQ(slices, 5, "ten days");
}

TEST(requests_are_at_least_one)
{
    const struct slice_cost one_phase = { .page_size = 100 };
    const struct slice_cost two_phase = { .page_size = 100, .id_batch_size = 10 };

    CHECK_EQ(slice_expected_requests(one_phase, 0), 1, "an empty slice takes a request");
    CHECK_EQ(slice_expected_requests(one_phase, 100), 1, "one full page");
    CHECK_EQ(slice_expected_requests(one_phase, 101), 2, "one more");
    CHECK_EQ(slice_expected_requests(two_phase, 101), 2 + 11, "and details");
    CHECK_EQ(slice_expected_requests(one_phase, SLICE_UNKNOWN), SLICE_UNKNOWN, "unknown");
    CHECK_EQ(slice_expected_records((struct slice_density){ 1, 3 }, 1), 1, "rounded up");
}

/* ---- PAGE and ID ---- */

TEST(pages_are_divided_in_the_numbering_of_the_source)
{
    const struct slice_request request = {
        .operation = OPERATION_HARVEST,
        .dimension = SLICE_PAGE,
        .window = { 5, 9 },
        .pages = { 1, 451 },
        .pages_per_slice = 200,
        .cost = { .page_size = 100 },
    };
    const struct page_range wanted[] = { { 1, 201 }, { 201, 401 }, { 401, 451 } };
    struct slice_iter iter;
    struct slice slice;

    slice_iter_init(&iter, &request);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        REQUIRE(slice_iter_next(&iter, &slice), "a slice");
        CHECK_EQ(slice.pages.from, wanted[i].from, "from");
        CHECK_EQ(slice.pages.to, wanted[i].to, "to");
        CHECK_EQ(slice.expected_requests, wanted[i].to - wanted[i].from, "a request a page");
        CHECK_EQ(slice.window.to_us, 9, "the plan's window");
    }
    CHECK(!slice_iter_next(&iter, &slice), "no more");
}

TEST(id_ranges_tile)
{
    const struct slice_request request = {
        .operation = OPERATION_UPDATE,
        .dimension = SLICE_ID,
        .ids = { .slicing = ID_SLICING_RANGE, .from = 1000, .to = 1025 },
        .ids_per_slice = 10,
    };
    struct slice_iter iter;
    struct slice slice;
    int64_t next = 1000;

    slice_iter_init(&iter, &request);
    while (slice_iter_next(&iter, &slice)) {
        CHECK_EQ(slice.ids.from, next, "no gap");
        CHECK(slice.ids.to - slice.ids.from <= 10, "not more than asked");
        next = slice.ids.to;
    }
    CHECK_EQ(next, 1025, "to the end");
}

TEST(every_bucket_becomes_one_slice)
{
    const struct slice_request request = {
        .operation = OPERATION_UPDATE,
        .dimension = SLICE_ID,
        .ids = { .slicing = ID_SLICING_HASH, .bucket_count = 128 },
        .ids_total = 12801,
    };
    struct slice_iter iter;
    struct slice slice;
    uint32_t buckets = 0;

    slice_iter_init(&iter, &request);
    while (slice_iter_next(&iter, &slice)) {
        CHECK_EQ(slice.ids.bucket, buckets, "in order");
        CHECK_EQ(slice.expected_records, 101, "an even share, rounded up");
        buckets++;
    }
    CHECK_EQ(buckets, 128, "all");
}

/* The vectors that the authors of FNV publish for FNV-1a, 64 bits. */
TEST(the_hash_is_fnv_1a)
{
    CHECK(slice_hash(STR("")) == UINT64_C(0xcbf29ce484222325), "empty");
    CHECK(slice_hash(STR("a")) == UINT64_C(0xaf63dc4c8601ec8c), "a");
    CHECK(slice_hash(STR("b")) == UINT64_C(0xaf63df4c8601f1a5), "b");
    CHECK(slice_hash(STR("foobar")) == UINT64_C(0x85944171f73967e8), "foobar");
    CHECK(slice_hash((struct str){ "a\0", 2 }) != slice_hash(STR("a")), "every byte counts");
}

/* Ids of real sources differ in their last characters only; steps leave out every other digit. */
TEST(turns_are_even_for_neighbouring_ids)
{
    static const struct {
        const char *before, *after;
    } kinds[] = { { "", "" }, { "r", "" }, { "10.1000/j.x.", "" }, { "W", "00" }, { "", "X" } };
    static const uint32_t counts[] = { 2, 3, 4, 7, 10, 30 };
    static const int steps[] = { 1, 2, 10 };
    enum { IDS = 6000, TURNS_MAX = 30 };

    for (size_t c = 0; c < ARRAY_LEN(kinds) * ARRAY_LEN(counts) * ARRAY_LEN(steps); c++) {
        const size_t kind = c % ARRAY_LEN(kinds);
        const uint32_t turns = counts[c / ARRAY_LEN(kinds) % ARRAY_LEN(counts)];
        const int step = steps[c / ARRAY_LEN(kinds) / ARRAY_LEN(counts)];
        const int fair = IDS / (int)turns;
        int sizes[TURNS_MAX] = { 0 };

        for (int i = 0; i < IDS; i++) {
            char id[32];
            const int len = snprintf(id, sizeof(id), "%s%d%s", kinds[kind].before,
                                     30000000 + i * step, kinds[kind].after);

            sizes[slice_turn((struct str){ id, (size_t)len }, turns)]++;
        }
        for (uint32_t t = 0; t < turns; t++)
            CHECK(sizes[t] > fair * 2 / 3 && sizes[t] < fair * 4 / 3, kinds[kind].before);
    }
}

TEST(buckets_are_even_enough)
{
    enum { BUCKETS = 128, IDS = 128000 };
    static int sizes[BUCKETS];

    memset(sizes, 0, sizeof(sizes));
    for (int i = 0; i < IDS; i++) {
        char id[32];
        const int len = snprintf(id, sizeof(id), "10.1000/j.x.%d", i);

        sizes[slice_bucket((struct str){ id, (size_t)len }, BUCKETS)]++;
    }
    for (int b = 0; b < BUCKETS; b++)
        CHECK(sizes[b] > 800 && sizes[b] < 1200, "1,000 each, give or take a fifth");
}
