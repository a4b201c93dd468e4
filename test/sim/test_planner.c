/* The planner over random histories, against a model that knows every instant.
 *
 * A history is a clock, one HARVEST and one BACKFILL campaign, and a few dozen steps of chance:
 * time passes, somebody triggers (with or without bounds, with room for all slices or for a few),
 * slices succeed, fail, crash, are cancelled, or need to be re-sliced, and cursors advance now
 * or later. What decides is the code of src/core; what remembers is below, and it is all there is:
 *
 *      slices    LIVE until they are DONE (covered) or LOST (failed, cancelled, cut)
 *      cursor    moved by watermark_low() over the windows of DONE slices, event first
 *      model     per instant: is it covered, how often was it fetched, how often may it have been
 *
 * The promises, checked after every step: no instant before the cursor is uncovered; none is
 * fetched twice unless a window reached back before the cursor for it; a trigger that has
 * room for everything leaves no instant of its window unplanned; replaying the events gives the
 * cursor. In the end, when all that is live has succeeded, the cursor is at now - lag.
 */
#include <string.h>

#include "base/instant.h"
#include "core/coverage.h"
#include "core/cursor.h"
#include "core/reslice.h"
#include "core/slice.h"
#include "core/watermark.h"
#include "core/window_decision.h"
#include "random.h"
#include "test.h"
#include "within.h"

enum {
    HISTORIES = 10000,
    CELLS = 900,
    FIRST = 400, /* no request reaches earlier; lookback and weeks may */
    SLICES_MAX = 4000,
    STEPS_MAX = 60,
};

enum fate { LIVE, DONE, LOST };

struct planned {
    struct window window;
    enum fate fate;
};

/* What one operation in one namespace has done. */
struct track {
    enum operation operation;
    bool has_cursor;
    int64_t cursor_us;
    int64_t origin_us;                /* where the cursor began */
    struct maybe_instant campaign_to; /* BACKFILL: the end of its first window */
    bool is_anchored;                 /* BACKFILL: there was a forward watermark when it began */
    struct cursor_fold fold;
    struct planned slices[SLICES_MAX];
    size_t count;
    bool is_covered[CELLS];
    int fetched[CELLS];
    int allowed[CELLS]; /* fetches beyond the first that lookback asked for */
};

struct world {
    struct random random;
    struct arena arena;
    int64_t base_us; /* the instant of cell 0 */
    int64_t cell_us;
    int64_t now_us;
    int64_t lag_us, lookback_us, size_us;
    enum window_mode mode;
    struct slice_cut cut;
    struct track harvest, backfill;
    const char *broken; /* the promise that was not kept */
};

/* ---- cells ---- */

static int64_t cell_of(const struct world *w, int64_t at_us)
{
    return (at_us - w->base_us) / w->cell_us;
}

static int64_t cells(struct world *w, int64_t from, int64_t to)
{
    return random_between(&w->random, from, to) * w->cell_us;
}

static void expect(struct world *w, bool holds, const char *promise)
{
    if (!holds && w->broken == NULL)
        w->broken = promise;
}

/* ---- what is remembered ---- */

static struct window_list list_of(struct world *w, const struct track *track, enum fate fate)
{
    struct window_list list = { ARENA_ARRAY(&w->arena, struct window, track->count + 1), 0 };

    REQUIRE(list.items != NULL, "memory for the model");
    for (size_t i = 0; i < track->count; i++) {
        if (track->slices[i].fate == fate)
            list.items[list.count++] = track->slices[i].window;
    }
    return list;
}

static void add_slice(struct world *w, struct track *track, struct window window, enum fate fate)
{
    REQUIRE(track->count < SLICES_MAX, "room for slices");
    REQUIRE(window.from_us % w->cell_us == w->base_us % w->cell_us, "cuts fall between cells");
    track->slices[track->count++] = (struct planned){ window, fate };
}

static void fetch(struct world *w, struct track *track, struct window window)
{
    REQUIRE(window.from_us >= w->base_us && cell_of(w, window.to_us) <= CELLS, "within the model");
    for (int64_t c = cell_of(w, window.from_us); c < cell_of(w, window.to_us); c++) {
        track->is_covered[c] = true;
        track->fetched[c]++;
    }
}

/* ---- cursors ---- */

static void record(struct track *track, int64_t to_us)
{
    const struct cursor_value prev = { .type = CURSOR_TIME, .instant_us = track->cursor_us };
    const struct cursor_value next = { .type = CURSOR_TIME, .instant_us = to_us };
    const bool is_forward = cursor_is_forward(track->has_cursor ? &prev : NULL, &next);

    cursor_fold_add(&track->fold, track->has_cursor ? &prev : NULL, &next);
    if (is_forward) {
        track->cursor_us = to_us;
        track->has_cursor = true;
    }
}

static void advance(struct world *w, struct track *track)
{
    struct window_list covered;
    struct error err;

    if (!track->has_cursor)
        return;
    REQUIRE_OK(coverage_of(&w->arena, list_of(w, track, DONE), &covered, &err), err);
    record(track, watermark_low(track->cursor_us, covered.items, covered.count));
}

/* ---- the planner, as an engine would call it ---- */

static struct window_request window_request_of(const struct world *w, const struct track *track)
{
    return (struct window_request){
        .operation = track->operation,
        .now_us = w->now_us,
        .cursor = { track->has_cursor, track->cursor_us },
        .forward = { w->harvest.has_cursor, w->harvest.cursor_us },
        .user_to = track->campaign_to,
        .lag_us = w->lag_us,
        .lookback_us = w->lookback_us,
        .size_us = w->size_us,
        .mode = w->mode,
        .align = w->cut.align,
    };
}

/* The cells that this trigger may fetch though they are covered. */
static void allow(struct world *w, struct track *track, struct window wanted, int64_t cursor_us)
{
    for (int64_t c = cell_of(w, wanted.from_us); c < cell_of(w, wanted.to_us); c++)
        track->allowed[c] += c < cell_of(w, cursor_us);
}

static void check_planned(struct world *w, const struct track *track, struct window own,
                          int64_t cursor_us)
{
    for (size_t i = 0; i < track->count; i++) {
        if (track->slices[i].fate == LIVE)
            expect(w, !window_is_valid(window_intersect(track->slices[i].window, own)),
                   "a slice is planned while another for the same time is live");
    }
    for (int64_t c = cell_of(w, own.from_us); c < cell_of(w, own.to_us); c++)
        expect(w, !track->is_covered[c] || c < cell_of(w, cursor_us),
               "an instant after the cursor is planned though it is covered");
}

/* After a trigger with room for everything, and after a slice was re-sliced. */
static void check_no_gap(struct world *w, const struct track *track, struct window wanted)
{
    for (int64_t c = cell_of(w, wanted.from_us); c < cell_of(w, wanted.to_us); c++) {
        const int64_t at_us = w->base_us + c * w->cell_us;
        bool is_live = false;

        for (size_t i = 0; i < track->count && !is_live; i++)
            is_live = track->slices[i].fate == LIVE && is_within(track->slices[i].window, at_us);
        expect(w, is_live || track->is_covered[c], "an instant of the window is not planned");
    }
}

static void plan(struct world *w, struct track *track, const struct window_decision *decision,
                 int64_t slices_max)
{
    const int64_t cursor_us =
        track->operation == OPERATION_HARVEST ? track->cursor_us : decision->window.from_us;
    const struct coverage_request coverage = { .wanted = decision->window,
                                               .cursor_us = cursor_us,
                                               .covered = list_of(w, track, DONE),
                                               .live = list_of(w, track, LIVE) };
    struct slice_request request = { .operation = track->operation,
                                     .dimension = SLICE_TIME,
                                     .cut = w->cut };
    struct slice_iter iter;
    struct slice slice;
    struct error err;
    int64_t made = 0;

    REQUIRE_OK(coverage_plan(&w->arena, &coverage, &request.pieces, &err), err);
    allow(w, track, decision->window, cursor_us);
    slice_iter_init(&iter, &request);
    while (made < slices_max && slice_iter_next(&iter, &slice)) {
        expect(w, window_contains(slice.query.keep, slice.window), "a query misses its own slice");
        check_planned(w, track, slice.window, cursor_us);
        add_slice(w, track, slice.window, LIVE);
        made++;
    }
    if (made < slices_max)
        check_no_gap(w, track, decision->window);
}

static void trigger(struct world *w, struct track *track, const struct window_request *request,
                    int64_t slices_max)
{
    const struct window_decision decision = window_decide(request);

    REQUIRE(decision.from.at_us >= w->base_us, "the window lies within the model");
    if (decision.empty != WINDOW_EMPTY_NOT)
        return;
    if (decision.starts_cursor) {
        record(track, decision.window.from_us);
        track->origin_us = decision.window.from_us;
        if (track->operation == OPERATION_BACKFILL)
            track->campaign_to = (struct maybe_instant){ true, decision.window.to_us };
        track->is_anchored = w->harvest.has_cursor;
    }
    plan(w, track, &decision, slices_max);
}

/* ---- the steps of chance ---- */

static void trigger_somehow(struct world *w, struct track *track)
{
    struct window_request request = window_request_of(w, track);
    const int64_t slices_max =
        random_chance(&w->random, 30) ? random_between(&w->random, 0, 4) : SLICES_MAX;

    if (track->operation == OPERATION_BACKFILL && !track->has_cursor) {
        request.user_from =
            (struct maybe_instant){ true, w->base_us + cells(w, FIRST, FIRST + 80) };
    } else if (random_chance(&w->random, 25)) {
        request.user_from = (struct maybe_instant){ true, w->base_us + cells(w, FIRST, CELLS) };
    }
    if (track->operation == OPERATION_HARVEST && random_chance(&w->random, 25))
        request.user_to = (struct maybe_instant){ true, w->base_us + cells(w, FIRST, CELLS) };
    trigger(w, track, &request, slices_max);
}

static void reslice(struct world *w, struct track *track, struct planned *parent)
{
    const int64_t length = window_length_us(parent->window) / w->cell_us;
    const int64_t done_us = random_chance(&w->random, 50) ? cells(w, 0, length) : 0;
    struct reslice_request request = {
        .window = parent->window,
        .cut = w->cut,
        .record_cap = 10,
    };
    struct reslice out;

    request.reason = (enum reslice_reason)random_between(&w->random, 0, RESLICE_SLOW + 1);
    request.total = random_between(&w->random, 0, 100);
    if (done_us > 0 && random_chance(&w->random, 50))
        request.finished =
            (struct window){ parent->window.from_us, parent->window.from_us + done_us };
    else if (done_us > 0)
        request.finished = (struct window){ parent->window.to_us - done_us, parent->window.to_us };
    reslice_time(&request, &out);
    if (out.count == 0)
        return; /* it cannot be sliced, and stays as it is */
    parent->fate = LOST;
    if (done_us > 0) {
        fetch(w, track, request.finished);
        add_slice(w, track, request.finished, DONE);
    }
    for (size_t i = 0; i < out.count; i++) {
        check_planned(w, track, out.children[i], parent->window.to_us);
        add_slice(w, track, out.children[i], LIVE);
    }
    check_no_gap(w, track, parent->window);
}

static void finish_one(struct world *w, struct track *track)
{
    const size_t start =
        track->count > 0 ? (size_t)random_between(&w->random, 0, (int64_t)track->count) : 0;
    struct planned *slice = NULL;
    int64_t chance;

    for (size_t i = 0; i < track->count && slice == NULL; i++) {
        if (track->slices[(start + i) % track->count].fate == LIVE)
            slice = &track->slices[(start + i) % track->count];
    }
    if (slice == NULL)
        return;
    chance = random_between(&w->random, 0, 100);
    if (chance < 55) { /* succeeds */
        slice->fate = DONE;
        fetch(w, track, slice->window);
    } else if (chance < 70) { /* fails, or is cancelled */
        slice->fate = LOST;
    } else if (chance < 80) { /* crashes: the lease runs out, and it waits again */
        return;
    } else {
        reslice(w, track, slice);
    }
    if (random_chance(&w->random, 80)) /* or the process dies before the cursor moves */
        advance(w, track);
}

static void step(struct world *w)
{
    struct track *track = random_chance(&w->random, 70) ? &w->harvest : &w->backfill;
    const int64_t chance = random_between(&w->random, 0, 100);

    arena_reset(&w->arena);
    if (chance < 15) {
        const int64_t end_us = w->base_us + (CELLS - 1) * w->cell_us;

        w->now_us += cells(w, 0, 30);
        if (w->now_us > end_us)
            w->now_us = end_us;
    } else if (chance < 40) {
        trigger_somehow(w, track);
    } else {
        finish_one(w, track);
    }
}

/* ---- the promises ---- */

static void check_track(struct world *w, const struct track *track)
{
    const struct cursor_value current = { .type = CURSOR_TIME, .instant_us = track->cursor_us };

    if (track->has_cursor) {
        for (int64_t c = cell_of(w, track->origin_us); c < cell_of(w, track->cursor_us); c++)
            expect(w, track->is_covered[c], "the cursor has passed an uncovered instant");
    }
    for (int64_t c = 0; c < CELLS; c++)
        expect(w, track->fetched[c] <= 1 + track->allowed[c],
               "an instant was fetched twice without cause");
    expect(w, cursor_fold_agrees(&track->fold, track->has_cursor ? &current : NULL),
           "replaying the events does not give the cursor");
    expect(w, track->fold.gap_count == 0, "the events have a gap");
}

static void check(struct world *w)
{
    check_track(w, &w->harvest);
    check_track(w, &w->backfill);
    if (w->backfill.has_cursor && w->backfill.is_anchored)
        expect(w, w->backfill.cursor_us <= w->harvest.cursor_us,
               "the backfill has passed the forward watermark");
}

/* Lets everything succeed, and looks where the cursor comes to rest. */
static void drain(struct world *w, struct track *track)
{
    for (int round = 0; round < 3; round++) {
        const struct window_request request = window_request_of(w, track);

        arena_reset(&w->arena);
        trigger(w, track, &request, SLICES_MAX);
        for (size_t i = 0; i < track->count; i++) {
            if (track->slices[i].fate != LIVE)
                continue;
            track->slices[i].fate = DONE;
            fetch(w, track, track->slices[i].window);
        }
        advance(w, track);
    }
}

static void check_end(struct world *w)
{
    struct window_decision decision;
    struct window_request request;

    drain(w, &w->harvest);
    request = window_request_of(w, &w->harvest);
    request.lookback_us = 0;
    decision = window_decide(&request);
    expect(w, decision.empty != WINDOW_EMPTY_NOT, "all has succeeded, and there is still work");
    if (w->harvest.has_cursor)
        expect(w, w->harvest.cursor_us >= decision.to.at_us,
               "all has succeeded, and the cursor is not at now - lag");
    if (!w->backfill.has_cursor)
        return;
    drain(w, &w->backfill);
    expect(w, w->backfill.cursor_us >= w->backfill.campaign_to.at_us,
           "all has succeeded, and the campaign is not at its end");
}

/* ---- histories ---- */

static void begin(struct world *w, uint64_t seed)
{
    const bool by_hour = seed % 2 == 0;

    memset(w, 0, sizeof(*w));
    w->random = (struct random){ seed };
    arena_init(&w->arena, 16 << 20);
    /* Either bare numbers, or hours of a calendar that begins on a Monday before a leap day. */
    w->base_us = by_hour ? instant_from_civil((struct civil){ 2024, 2, 19, 0, 0, 0, 0 }) : 0;
    w->cell_us = by_hour ? US_PER_HOUR : 1;
    w->now_us = w->base_us + cells(w, FIRST + 100, FIRST + 250);
    w->lag_us = cells(w, 0, 5);
    w->lookback_us = random_chance(&w->random, 50) ? cells(w, 0, 30) : 0;
    w->size_us = cells(w, 1, 60);
    w->cut.min_us = cells(w, 1, 4);
    w->cut.max_us = w->cut.min_us + cells(w, 0, 40);
    w->cut.overlap_us = cells(w, 0, 4);
    w->cut.granularity = by_hour ? GRANULARITY_HOUR : GRANULARITY_MICROSECOND;
    if (by_hour) {
        w->cut.align = (enum align_unit)random_between(&w->random, ALIGN_HOUR, ALIGN_WEEK + 1);
        w->mode = random_chance(&w->random, 50) ? WINDOW_CALENDAR : WINDOW_SLIDING;
    }
    w->harvest.operation = OPERATION_HARVEST;
    w->backfill.operation = OPERATION_BACKFILL;
    cursor_fold_init(&w->harvest.fold, CURSOR_TIME);
    cursor_fold_init(&w->backfill.fold, CURSOR_TIME);
}

struct tally {
    int64_t slices, cells_fetched;
    int cursors, campaigns;
};

/* NULL, or the promise that the history of this seed broke. */
static const char *run_history(uint64_t seed, struct tally *tally)
{
    static struct world world;
    struct world *w = &world;

    begin(w, seed);
    for (int64_t i = 0, n = random_between(&w->random, 10, STEPS_MAX); i < n; i++) {
        step(w);
        check(w);
        if (w->broken != NULL)
            break;
    }
    if (w->broken == NULL) {
        check_end(w);
        check(w);
    }
    arena_release(&w->arena);
    tally->slices += (int64_t)(w->harvest.count + w->backfill.count);
    tally->cursors += w->harvest.has_cursor;
    tally->campaigns += w->backfill.has_cursor;
    for (int c = 0; c < CELLS; c++)
        tally->cells_fetched += w->harvest.fetched[c] + w->backfill.fetched[c];
    return w->broken;
}

TEST(ten_thousand_histories_keep_the_promises)
{
    const struct random_seeds seeds = random_seeds(HISTORIES);
    struct tally tally = { 0 };

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        const char *broken = run_history(seed, &tally);

        if (broken != NULL) {
            test_fail(__FILE__, __LINE__, "%s (PATRA_SEED=%" PRIu64 " runs it again)", broken,
                      seed);
            return;
        }
    }
    test_note("%d histories, %" PRId64 " slices, %" PRId64 " instants fetched, %d harvests, %d "
              "backfills",
              HISTORIES, tally.slices, tally.cells_fetched, tally.cursors, tally.campaigns);
}
