/* trace: the way of one piece of work, from its plan down to the requests, with the point at which
 * it failed:
 *
 *      plan ── slice ── task ── run ── batch
 *
 * Of a plan, the tasks that ended badly or had an error are shown; of a task, all of its runs; of a
 * run, the batches that are marked (view/batch.h), or else its last one. The failing point is the
 * worst of what is shown, and of equals the latest. Lists are bounded: what is left out is counted.
 */
#ifndef PATRA_VIEW_TRACE_H
#define PATRA_VIEW_TRACE_H

#include "port/store_plan.h"
#include "view/batch.h"
#include "view/run.h"

enum { TRACE_TASKS_MAX = 20, TRACE_BATCHES_MAX = 20, TRACE_LOOKED_THROUGH = 2000 };

enum trace_kind { TRACE_PLAN, TRACE_TASK, TRACE_RUN, TRACE_BATCH };
extern const struct code_table TRACE_KIND_CODES; /* PLAN ... BATCH */

struct view_trace_batch {
    struct batch batch;
    struct batch_numbers numbers;
    enum batch_mark mark;
};

struct view_trace_run {
    struct run run;
    struct view_trace_batch *batches; /* by number */
    size_t batch_count;
    int64_t seen;        /* batches that were looked at */
    bool has_more;       /* after these */
    int64_t marked;      /* of those seen */
    struct str archived; /* the files that have batches of such runs; '': none */
};

struct view_trace_task {
    struct task task;
    struct plan_slice slice;
    struct view_trace_run *runs; /* by attempt */
    size_t run_count;
};

struct view_trace_point {
    bool is_set;
    enum trace_kind kind;
    int64_t task_id; /* these as far as its kind goes */
    int64_t run_id;
    int64_t batch_no;
    struct str reason; /* for people; masked */
};

struct view_trace {
    enum trace_kind kind; /* of what was asked for */
    struct plan plan;
    struct plan_progress progress;
    struct view_trace_task *tasks; /* by id */
    size_t task_count;
    bool has_more_tasks;
    struct view_trace_point failing;
    struct str steps[4]; /* commands for the next steps, in order */
    size_t step_count;
};

struct view_trace_key {
    enum trace_kind kind;
    int64_t id;     /* of the plan, task or run; of a batch: its run */
    int64_t number; /* of a batch, in its run */
};

/* "plan.id", "task.unknown", "run.unknown", "batch.unknown" (L2). */
bool view_trace(const struct view_reader *reader, const struct view_trace_key *key,
                struct view_trace *view, struct error *err) MUST_CHECK;
void view_trace_write(struct json_writer *w, const struct view_trace *view);

#endif
