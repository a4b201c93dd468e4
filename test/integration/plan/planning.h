/* planning: a store with a source in it, and triggers, for tests of the planner. Built on the
 * fixtures of test/contract, so that the same cases run over every adapter.
 */
#ifndef PATRA_TEST_SUPPORT_PLANNING_H
#define PATRA_TEST_SUPPORT_PLANNING_H

#include "contract.h"
#include "engine/plan/plan.h"
#include "engine/reslice/reslice.h"
#include "port/store_plan.h"
#include "port/store_task.h"

/* A source "demo" that can be asked for windows ("works"), for records by id ("work") and for
 * numbers by id ("counts"). Each text is put in where it belongs; NULL: nothing. */
struct planning_source {
    const char *window;     /* after the key, e.g. "align: day, max: 1d" */
    const char *page;       /* e.g. "cap: 1000" */
    const char *query;      /* lines of further parameters of works */
    const char *top;        /* lines at the top of the file */
    const char *endpoints;  /* lines of further endpoints */
    const char *operations; /* lines of operations; NULL: harvest, backfill, update, metrics */
};

/* Puts it into force an hour before NOW_US; a second call changes it. */
void planning_apply(struct store *store, const struct planning_source *source);

/* "2026-01-02" or "2026-01-02T03:04:05Z". */
int64_t at(const char *text);
struct maybe_instant maybe(const char *text); /* NULL: not set */

/* A trigger by hand at NOW_US, which must succeed. */
struct plan_request planning_request(const char *operation);
struct plan_result planning_trigger(struct store *store, const struct plan_request *request);

/* All tasks of the source, by slice; all slices of a plan, by number. */
struct task_list planning_tasks(struct store *store);
struct plan_slice_list planning_slices(struct store *store, int64_t plan_id);

/* Ends a task that is live. `covered` is for PARTIAL; NULL: nothing. */
void planning_end(struct store *store, int64_t task_id, enum task_status status,
                  const struct window *covered);
void planning_end_all(struct store *store, enum task_status status); /* that are live */

/* The value at a path of names ("budget.stop") in a JSON text, unchanged; "" for none. */
struct str planning_value(struct str json, const char *path);

#endif
