/* Slices against the budget. */
#include "engine/plan/cutter.h"

#include <assert.h>

#include "core/limits.h"
#include "engine/coverage/coverage.h"
#include "spec/file_names.h"

static void show(struct plan_cutter *cutter, const struct plan_cut *cut, bool is_now)
{
    const struct plan_shown shown = { .slice = cut->slice,
                                      .ids = (int64_t)cut->id_count,
                                      .is_now = is_now,
                                      .scheduled_us = cut->scheduled_us };

    cutter->viewer->show(cutter->viewer, &shown);
}

static void add_extent(struct plan_result *result, const struct slice *slice)
{
    if (slice->dimension != SLICE_TIME)
        return;
    result->span_us += window_length_us(slice->window);
    result->records += slice->expected_records == SLICE_UNKNOWN ? 0 : slice->expected_records;
}

bool plan_cutter_take(struct plan_cutter *cutter, struct plan_cut *cut, bool *taken,
                      struct error *err)
{
    struct plan_result *result = cutter->result;
    const int64_t requests = cut->slice->expected_requests;

    if (result->stop == BUDGET_GO)
        result->stop = budget_take(&cutter->draft->budget, cut->slice);
    *taken = result->stop == BUDGET_GO;
    if (*taken) {
        /* A microsecond apart, so that tasks due at once keep their order. */
        cut->scheduled_us = spread_next(&cutter->draft->spread, requests) + result->slices++;
        result->ids += (int64_t)cut->id_count;
        result->requests += requests == SLICE_UNKNOWN ? 1 : requests;
        add_extent(result, cut->slice);
    } else {
        result->slices_left++;
    }
    if (cutter->writer == NULL)
        show(cutter, cut, *taken);
    return cutter->writer == NULL || !*taken || plan_writer_add(cutter->writer, cut, err);
}

/* Counts before anything is written: a million rows take minutes, in which nobody else can write to
 * a SQLite file. Only the slices that the budget allows are written. */
static bool check_count(const struct plan_cutter *cutter, const struct slice_request *request,
                        struct error *err)
{
    struct budget budget = cutter->draft->budget;
    struct slice_iter iter;
    struct slice slice;

    slice_iter_init(&iter, request);
    while (slice_iter_next(&iter, &slice)) {
        if (slice.number == PLAN_SLICES_MAX)
            return error_set(err, ERROR_REQUEST, "plan.request",
                             "the window has more than %d slices; bound it with --from and --to, "
                             "or raise window.max",
                             PLAN_SLICES_MAX);
        if (cutter->writer != NULL && budget_take(&budget, &slice) != BUDGET_GO)
            break;
    }
    return true;
}

bool plan_cutter_run(struct plan_cutter *cutter, struct error *err)
{
    const struct slice_request request = draft_slices(cutter->draft);
    const bool is_time = request.dimension == SLICE_TIME;
    struct slice_iter iter;
    struct slice slice;
    bool taken = true;

    assert(request.dimension != SLICE_ID);
    if (!check_count(cutter, &request, err))
        return false;
    slice_iter_init(&iter, &request);
    while ((taken || cutter->writer == NULL) && slice_iter_next(&iter, &slice)) {
        struct plan_cut cut = { .slice = &slice };

        cut.generation = is_time ? coverage_generation(cutter->draft->ended, slice.window)
                                 : cutter->draft->plan.id;
        if (!plan_cutter_take(cutter, &cut, &taken, err))
            return false;
    }
    return true;
}

bool plan_cutter_run_feed(struct plan_cutter *cutter, struct error *err)
{
    const struct plan_feed *feed = &cutter->draft->feed;
    const struct slice slice = { .dimension = SLICE_FEED,
                                 .feed = feed->slice,
                                 .expected_records = SLICE_UNKNOWN,
                                 .expected_requests = SLICE_UNKNOWN };
    struct plan_cut cut = { .slice = &slice,
                            .generation = cutter->draft->plan.id,
                            .cursor_version = feed->version };
    bool taken;

    return feed->live_task_id != 0 || plan_cutter_take(cutter, &cut, &taken, err);
}

bool plan_cutter_run_files(struct plan_cutter *cutter, struct arena *arena, struct error *err)
{
    const struct spec_endpoint *endpoint = &cutter->draft->spec->endpoint;
    struct file_names names = { .items = endpoint->files, .count = endpoint->file_count };
    struct slice slice = { .dimension = SLICE_FILE,
                           .expected_records = SLICE_UNKNOWN,
                           .expected_requests = 1 };
    bool taken = true;

    if (cutter->draft->files.live_task_id != 0)
        return true;
    for (; taken && file_names_next(&names, arena, &slice.file); slice.number++) {
        struct plan_cut cut = { .slice = &slice, .generation = cutter->draft->plan.id };

        if (!plan_cutter_take(cutter, &cut, &taken, err))
            return false;
    }
    return !arena->failed || arena_error(arena, err);
}

static bool take_ids(struct update_taker *taker, const struct update_slice *slice, bool *taken,
                     struct error *err)
{
    struct plan_cutter *cutter = (struct plan_cutter *)taker;
    struct plan_cut cut = { .slice = slice->slice,
                            .ids = slice->ids,
                            .id_count = slice->id_count,
                            .generation = cutter->draft->plan.id };

    return plan_cutter_take(cutter, &cut, taken, err);
}

bool plan_cutter_run_ids(struct plan_cutter *cutter, struct store *store, struct arena *arena,
                         struct error *err)
{
    const struct plan_draft *draft = cutter->draft;
    const struct update_request request = { .source = &draft->source,
                                            .spec = draft->spec,
                                            .plan = &draft->plan,
                                            .base = draft->base,
                                            .target = draft->target,
                                            .now_us = draft->request->now_us,
                                            .stale_us = draft->request->stale_us,
                                            .ids = draft->request->ids,
                                            .is_preview = cutter->writer == NULL,
                                            .taker = &cutter->taker };

    cutter->taker.take = take_ids;
    return update_candidates_cut(store, arena, &request, err);
}
