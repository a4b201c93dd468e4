/* Gathers the way of a piece of work, and finds where it failed. */
#include "view/trace.h"

#include <inttypes.h>

#include "base/list.h"
#include "base/mask.h"
#include "port/store_prune.h"
#include "view/plan.h"

enum { PAGE_BATCHES = 500, ARCHIVED_BYTES_MAX = 128 << 10 };

static const struct code_item KINDS[] = {
    [TRACE_PLAN] = CODE_ITEM("PLAN", "a plan"),
    [TRACE_TASK] = CODE_ITEM("TASK", "a task"),
    [TRACE_RUN] = CODE_ITEM("RUN", "a run of a task"),
    [TRACE_BATCH] = CODE_ITEM("BATCH", "a batch of a run"),
};
const struct code_table TRACE_KIND_CODES =
    CODE_TABLE("ing_trace_kind", "what a trace begins with", KINDS);

struct tracing {
    const struct view_reader *reader;
    const struct view_trace_key *key;
    struct view_trace *view;
    struct error *err;
    enum batch_mark worst;
};

static bool no_memory(const struct tracing *t)
{
    return arena_error(t->reader->arena, t->err);
}

/* ---- batches ---- */

struct batch_rows {
    struct view_trace_batch *items;
    size_t count;
};

/* Keeps the marked ones, up to a number, and in any case the one that was asked for. */
static bool take_batch(struct tracing *t, struct view_trace_run *run, const struct batch *batch,
                       struct batch_rows *rows)
{
    const bool is_asked = t->key->kind == TRACE_BATCH && batch->number == t->key->number;
    struct view_trace_batch row = { .batch = *batch };
    struct view_trace_batch *slot;

    if (!view_batch_numbers(t->reader->arena, batch, &row.numbers, t->err))
        return false;
    row.mark = view_batch_mark(batch, &row.numbers);
    run->seen++;
    run->marked += row.mark != BATCH_MARK_NONE;
    if (!is_asked && (row.mark == BATCH_MARK_NONE || rows->count >= TRACE_BATCHES_MAX))
        return true;
    slot = LIST_ADD(t->reader->arena, rows);
    if (slot == NULL)
        return no_memory(t);
    *slot = row;
    return true;
}

static bool has_number(const struct batch_rows *rows, int64_t number)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->items[i].batch.number == number)
            return true;
    }
    return false;
}

/* Where the run is so long that the failure was not reached: it is found by its state. */
static bool add_last_failed(struct tracing *t, struct view_trace_run *run, struct batch_rows *rows)
{
    struct batch_list failed;

    if (!run->has_more)
        return true;
    if (!store_batch_failed(t->reader->store, t->reader->arena, run->run.id, 1, &failed, t->err))
        return false;
    return failed.count == 0 || has_number(rows, failed.items[0].number) ||
           take_batch(t, run, &failed.items[0], rows);
}

/* One without marks shows its last batch. */
static bool add_last(struct tracing *t, const struct batch *last, struct batch_rows *rows)
{
    struct view_trace_batch *slot;

    if (rows->count > 0 || last->id == 0)
        return true;
    slot = LIST_ADD(t->reader->arena, rows);
    if (slot == NULL)
        return no_memory(t);
    *slot = (struct view_trace_batch){ .batch = *last };
    return view_batch_numbers(t->reader->arena, last, &slot->numbers, t->err);
}

/* Where batches of the run are that retention has taken out. */
static bool find_archive(struct tracing *t, struct view_trace_run *run)
{
    struct retained_file_list files;
    struct buf paths;

    if (!store_prune_files_of(t->reader->store, t->reader->arena, run->run.id, &files, t->err))
        return false;
    buf_init(&paths, t->reader->arena, ARCHIVED_BYTES_MAX);
    for (size_t i = 0; i < files.count; i++)
        buf_printf(&paths, "%s%.*s", i > 0 ? ", " : "", STR_ARG(files.items[i].path));
    run->archived = buf_str(&paths);
    return buf_ok(&paths, t->err);
}

static bool gather_batches(struct tracing *t, struct view_trace_run *run)
{
    struct store_page page = { .limit = PAGE_BATCHES };
    struct batch_rows rows = { 0 };
    struct batch last = { 0 };
    struct batch_list list;

    do {
        if (!store_batch_list(t->reader->store, t->reader->arena, run->run.id, page, &list, t->err))
            return false;
        for (size_t i = 0; i < list.count; i++) {
            if (!take_batch(t, run, &list.items[i], &rows))
                return false;
        }
        if (list.count > 0) {
            last = list.items[list.count - 1];
            page.after = last.number;
        }
        run->has_more = list.count == PAGE_BATCHES;
    } while (run->has_more && run->seen < TRACE_LOOKED_THROUGH);
    if (!add_last_failed(t, run, &rows) || !add_last(t, &last, &rows) || !find_archive(t, run))
        return false;
    run->batches = rows.items;
    run->batch_count = rows.count;
    return true;
}

/* ---- the failing point ---- */

static void point_at(struct tracing *t, enum batch_mark mark, struct view_trace_point point)
{
    if (mark == BATCH_MARK_NONE || mark < t->worst)
        return;
    t->worst = mark;
    point.is_set = true;
    t->view->failing = point;
}

static struct str reason_of(const struct tracing *t, const struct view_trace_batch *row)
{
    struct arena *arena = t->reader->arena;

    switch (row->mark) {
    case BATCH_MARK_FAILED:
        return row->numbers.text;
    case BATCH_MARK_QUARANTINED:
        return arena_printf(arena, "%" PRId64 " of %" PRId64 " items could not be judged (L3)",
                            row->numbers.quarantined, row->numbers.items);
    case BATCH_MARK_RETRIED:
        return arena_printf(arena,
                            "received after %" PRId64 " request%s that failed or was in doubt (L1)",
                            row->numbers.retries, row->numbers.retries == 1 ? "" : "s");
    case BATCH_MARK_NONE:
        break;
    }
    return STR("");
}

/* A run that failed without a batch that did is itself the point. */
static void judge_run(struct tracing *t, const struct view_trace_run *run)
{
    const bool failed = run->run.error.len > 0 && run->run.status != RUN_SUCCEEDED;
    bool has_failed_batch = false;

    for (size_t i = 0; i < run->batch_count; i++) {
        const struct view_trace_batch *row = &run->batches[i];

        has_failed_batch |= row->mark == BATCH_MARK_FAILED;
        point_at(t, row->mark,
                 (struct view_trace_point){ .kind = TRACE_BATCH,
                                            .task_id = run->run.task_id,
                                            .run_id = run->run.id,
                                            .batch_no = row->batch.number,
                                            .reason = reason_of(t, row) });
    }
    if (failed && !has_failed_batch)
        point_at(t, BATCH_MARK_FAILED,
                 (struct view_trace_point){
                     .kind = TRACE_RUN,
                     .task_id = run->run.task_id,
                     .run_id = run->run.id,
                     .reason = mask_personal_copy(t->reader->arena, run->run.error) });
}

/* ---- runs and tasks ---- */

static bool is_wanted(const struct tracing *t, const struct run_list *runs, size_t i)
{
    if (t->key->kind == TRACE_RUN || t->key->kind == TRACE_BATCH)
        return runs->items[i].id == t->key->id;
    return t->key->kind == TRACE_TASK || i + 1 == runs->count ||
           (i + 2 == runs->count && runs->items[i + 1].status == RUN_SUCCEEDED);
}

static bool gather_runs(struct tracing *t, struct view_trace_task *task)
{
    struct run_list runs;

    if (!store_run_list(t->reader->store, t->reader->arena, task->task.id, &runs, t->err))
        return false;
    task->runs = ARENA_ARRAY(t->reader->arena, struct view_trace_run, runs.count + 1);
    if (task->runs == NULL)
        return no_memory(t);
    for (size_t i = 0; i < runs.count; i++) {
        struct view_trace_run *run = &task->runs[task->run_count];

        if (!is_wanted(t, &runs, i))
            continue;
        task->run_count++;
        *run = (struct view_trace_run){ .run = runs.items[i] };
        if (!gather_batches(t, run))
            return false;
        judge_run(t, run);
    }
    return true;
}

static bool add_task(struct tracing *t, const struct task *row)
{
    struct {
        struct view_trace_task *items;
        size_t count;
    } list = { t->view->tasks, t->view->task_count };
    struct view_trace_task *task = LIST_ADD(t->reader->arena, &list);
    bool found;

    if (task == NULL)
        return no_memory(t);
    t->view->tasks = list.items;
    t->view->task_count = list.count;
    *task = (struct view_trace_task){ .task = *row };
    return store_slice_get(t->reader->store, t->reader->arena, row->slice_id, &task->slice, &found,
                           t->err) &&
           gather_runs(t, task);
}

/* Those in a state, up to the bound of the whole. */
static bool add_tasks_in(struct tracing *t, enum task_status status, bool only_troubled)
{
    const struct task_filter filter = {
        .plan_id = t->key->id, .has_status = true, .status = status, .limit = TRACE_TASKS_MAX + 1
    };
    struct task_list tasks;

    if (!store_task_list(t->reader->store, t->reader->arena, &filter, &tasks, t->err))
        return false;
    for (size_t i = 0; i < tasks.count; i++) {
        if (only_troubled && tasks.items[i].last_error.len == 0 && tasks.items[i].attempts < 2)
            continue;
        if (t->view->task_count == TRACE_TASKS_MAX) {
            t->view->has_more_tasks = true;
            return true;
        }
        if (!add_task(t, &tasks.items[i]))
            return false;
    }
    return true;
}

static bool add_tasks(struct tracing *t)
{
    return add_tasks_in(t, TASK_FAILED, false) && add_tasks_in(t, TASK_PARTIAL, false) &&
           add_tasks_in(t, TASK_EXECUTING, false) && add_tasks_in(t, TASK_QUEUED, true) &&
           add_tasks_in(t, TASK_CANCELLED, true) &&
           add_tasks_in(t, TASK_SUCCEEDED, t->view->task_count > 0);
}

/* ---- the whole ---- */

static bool find_task(struct tracing *t, int64_t id)
{
    struct task task;
    bool found;

    if (!store_task_get(t->reader->store, t->reader->arena, id, &task, &found, t->err))
        return false;
    if (!found)
        return error_set(t->err, ERROR_REQUEST, "task.unknown", "there is no task %" PRId64, id);
    return view_plan_find(t->reader, task.plan_id, &t->view->plan, t->err) && add_task(t, &task);
}

static bool find_run(struct tracing *t)
{
    struct batch batch;
    struct run run;
    bool found;

    if (!store_run_get(t->reader->store, t->reader->arena, t->key->id, &run, &found, t->err))
        return false;
    if (!found)
        return error_set(t->err, ERROR_REQUEST, "run.unknown", "there is no run %" PRId64,
                         t->key->id);
    if (t->key->kind == TRACE_BATCH &&
        !store_batch_get(t->reader->store, t->reader->arena, t->key->id, t->key->number, &batch,
                         &found, t->err))
        return false;
    if (!found)
        return view_batch_missing(t->reader, &(struct view_batch_key){ t->key->id, t->key->number },
                                  t->err);
    return find_task(t, run.task_id);
}

static bool gather(struct tracing *t)
{
    switch (t->key->kind) {
    case TRACE_PLAN:
        return view_plan_find(t->reader, t->key->id, &t->view->plan, t->err) && add_tasks(t);
    case TRACE_TASK:
        return find_task(t, t->key->id);
    case TRACE_RUN:
    case TRACE_BATCH:
        break;
    }
    return find_run(t);
}

static void judge_plan(struct tracing *t)
{
    if (t->view->plan.status == PLAN_FAILED && !t->view->failing.is_set)
        t->view->failing =
            (struct view_trace_point){ .is_set = true,
                                       .kind = TRACE_PLAN,
                                       .reason = STR("the plan failed: patra plan show says why") };
}

/* ---- what to do next ---- */

static void add_step(struct tracing *t, struct str command)
{
    if (t->view->step_count < ARRAY_LEN(t->view->steps))
        t->view->steps[t->view->step_count++] = command;
}

/* What a person can do about an error of this level. */
static void advise_level(struct tracing *t, const struct view_trace_batch *row)
{
    struct arena *arena = t->reader->arena;
    const struct str source = t->view->plan.source;

    if (str_eq(row->numbers.level, STR("L4")))
        add_step(t, arena_printf(arena, "patra resume %.*s", STR_ARG(source)));
    else if (row->mark == BATCH_MARK_QUARANTINED)
        add_step(t, arena_printf(arena, "patra quarantine list %.*s", STR_ARG(source)));
    else if (str_eq(row->numbers.level, STR("L2")))
        add_step(t, arena_printf(arena, "patra source test %.*s --live", STR_ARG(source)));
}

static const struct view_trace_batch *failing_batch(const struct view_trace *view)
{
    for (size_t i = 0; i < view->task_count; i++) {
        for (size_t k = 0; k < view->tasks[i].run_count; k++) {
            const struct view_trace_run *run = &view->tasks[i].runs[k];

            for (size_t b = 0; b < run->batch_count; b++) {
                if (run->run.id == view->failing.run_id &&
                    run->batches[b].batch.number == view->failing.batch_no)
                    return &run->batches[b];
            }
        }
    }
    return NULL;
}

static void advise(struct tracing *t)
{
    const struct view_trace_point *point = &t->view->failing;
    const struct view_trace_batch *row = failing_batch(t->view);
    struct arena *arena = t->reader->arena;

    if (!point->is_set)
        return;
    if (point->kind == TRACE_PLAN)
        add_step(t, arena_printf(arena, "patra plan show %" PRId64, t->view->plan.id));
    else if (row == NULL)
        add_step(t, arena_printf(arena, "patra task show %" PRId64 " --run %" PRId64,
                                 point->task_id, point->run_id));
    else {
        add_step(t, arena_printf(arena, "patra batch show %" PRId64 "/%" PRId64, point->run_id,
                                 point->batch_no));
        add_step(t, arena_printf(arena, "patra batch replay %" PRId64 "/%" PRId64, point->run_id,
                                 point->batch_no));
        advise_level(t, row);
    }
}

bool view_trace(const struct view_reader *reader, const struct view_trace_key *key,
                struct view_trace *view, struct error *err)
{
    struct tracing t = { .reader = reader, .key = key, .view = view, .err = err };

    *view = (struct view_trace){ .kind = key->kind };
    if (!gather(&t) || !store_plan_progress(reader->store, view->plan.id, &view->progress, err))
        return false;
    judge_plan(&t);
    advise(&t);
    return !reader->arena->failed || arena_error(reader->arena, err);
}
