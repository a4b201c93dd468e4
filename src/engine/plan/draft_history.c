/* What earlier runs found: how many records to expect of a slice.
 *
 * The executor writes the number of records of a run into its stats ("retCount"). The newest of
 * these make one density (core/slice.h), so that slices of a source with a cap stay below it, and
 * pace and quota count requests, not slices.
 */
#include <assert.h>
#include <inttypes.h>

#include "core/limits.h"
#include "data/json.h"
#include "engine/plan/draft.h"
#include "engine/slice/slicing.h"
#include "port/store_run.h"

/* More than any run can have. The store is outside of the program, and its numbers are added up. */
#define RUN_RECORDS_MAX INT64_C(1000000000000)
static_assert(WINDOW_SPAN_MAX_US < INT64_MAX / HISTORY_RUNS_MAX, "and so is how long they are");

/* The records of a run, and the window of its query, which is what was counted. A run that did not
 * count is not a sample. */
static bool sample_of(struct arena *arena, const struct slice_cut *cut, const struct run *run,
                      struct slice_sample *sample, bool *is_one, struct error *err)
{
    struct json_doc doc;
    int64_t records = -1;

    if (!json_parse(&doc, arena, run->stats, err))
        return error_wrap(err, "stats of a run of task %" PRId64, run->task_id);
    *is_one = json_i64(&doc, json_get(&doc, json_root(&doc), STR("retCount")), &records) &&
              records >= 0 && records <= RUN_RECORDS_MAX &&
              window_length_us(run->window) <= WINDOW_SPAN_MAX_US / 2;
    if (*is_one)
        *sample = (struct slice_sample){ slice_query_of(cut, run->window).window, records };
    return true;
}

bool draft_recall(struct store *store, struct arena *arena, struct plan_draft *draft,
                  struct error *err)
{
    const struct task_partition of = { draft->plan.source, draft->plan.endpoint,
                                       draft->plan.operation };
    const struct slice_cut cut = slicing_cut(draft->spec);
    struct slice_sample samples[HISTORY_RUNS_MAX];
    struct run_list runs;
    size_t count = 0;

    draft->density = (struct slice_density){ 0 };
    if (draft->spec->operation.slice_by != SLICE_TIME)
        return true;
    if (!store_run_recent(store, arena, &of, HISTORY_RUNS_MAX, &runs, err))
        return false;
    for (size_t i = 0; i < runs.count; i++) {
        bool is_one;

        if (!sample_of(arena, &cut, &runs.items[i], &samples[count], &is_one, err))
            return false;
        count += is_one;
    }
    draft->density = slice_density_of(samples, count);
    return true;
}
