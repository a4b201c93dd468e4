/* plan_cutter: slices become tasks, one by one, as far as the budget goes. They are either written
 * or shown.
 */
#ifndef PATRA_ENGINE_PLAN_CUTTER_H
#define PATRA_ENGINE_PLAN_CUTTER_H

#include "engine/plan/draft.h"
#include "engine/plan/writer.h"
#include "engine/update/candidates.h"

struct plan_cutter {
    struct update_taker taker; /* first */
    struct plan_draft *draft;
    struct plan_result *result;
    struct plan_writer *writer; /* NULL: they are shown */
    struct plan_viewer *viewer;
};

/* Takes a slice when the budget allows it; *taken is false when it does not, and from then on. The
 * cut's scheduled_us is filled in. */
bool plan_cutter_take(struct plan_cutter *cutter, struct plan_cut *cut, bool *taken,
                      struct error *err) MUST_CHECK;

/* All slices by time or by page. */
bool plan_cutter_run(struct plan_cutter *cutter, struct error *err) MUST_CHECK;

/* The one slice of a feed, where no task is under way. */
bool plan_cutter_run_feed(struct plan_cutter *cutter, struct error *err) MUST_CHECK;

/* A slice for each file, where none of them is under way. */
bool plan_cutter_run_files(struct plan_cutter *cutter, struct arena *arena,
                           struct error *err) MUST_CHECK;

/* All slices by id, of the records that need to be looked at again (engine/update). */
bool plan_cutter_run_ids(struct plan_cutter *cutter, struct store *store, struct arena *arena,
                         struct error *err) MUST_CHECK;

#endif
