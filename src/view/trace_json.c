/* A trace as JSON. */
#include <string.h>

#include "base/mask.h"
#include "view/members.h"
#include "view/trace.h"

static void write_times(struct json_writer *w, const struct run *run)
{
    json_write_member_instant(w, STR("startedAt"), run->started_us);
    if (run->finished_us > 0)
        json_write_member_instant(w, STR("finishedAt"), run->finished_us);
}

static void write_batch(struct json_writer *w, const struct view_trace *view,
                        const struct view_trace_batch *row)
{
    const struct view_trace_point *point = &view->failing;

    json_write_object(w);
    json_write_member_i64(w, STR("number"), row->batch.number);
    json_write_member_str(w, STR("status"), code_of(&BATCH_STATUS_CODES, (int)row->batch.status));
    json_write_member_str(w, STR("mark"), batch_mark_name(row->mark));
    json_write_member_bool(w, STR("isFailingPoint"),
                           point->is_set && point->kind == TRACE_BATCH &&
                               point->run_id == row->batch.run_id &&
                               point->batch_no == row->batch.number);
    json_write_member_instant(w, STR("at"), row->batch.created_us);
    json_write_member_i64(w, STR("httpStatus"), row->numbers.status);
    json_write_member_i64(w, STR("items"), row->numbers.items);
    json_write_member_i64(w, STR("quarantined"), row->numbers.quarantined);
    json_write_member_i64(w, STR("retries"), row->numbers.retries);
    if (row->numbers.level.len > 0) {
        json_write_member_str(w, STR("level"), row->numbers.level);
        json_write_member_str(w, STR("code"), row->numbers.code);
        json_write_member_str(w, STR("error"), row->numbers.text);
    }
    json_write_end(w);
}

static void write_error(struct json_writer *w, const char *name, struct str text)
{
    char masked[ERROR_TEXT_MAX];
    size_t len = text.len < sizeof(masked) ? text.len : sizeof(masked);

    if (len == 0)
        return;
    memcpy(masked, text.data, len);
    len = mask_personal(masked, len);
    json_write_member_str(w, str_of(name), (struct str){ masked, len });
}

static void write_run(struct json_writer *w, const struct view_trace *view,
                      const struct view_trace_run *run)
{
    json_write_object(w);
    json_write_member_i64(w, STR("id"), run->run.id);
    json_write_member_i64(w, STR("attempt"), run->run.attempt);
    json_write_member_str(w, STR("status"), code_of(&RUN_STATUS_CODES, (int)run->run.status));
    write_times(w, &run->run);
    json_write_member_str(w, STR("worker"), run->run.lease_owner);
    write_error(w, "error", run->run.error);
    json_write_member_i64(w, STR("batchCount"), run->seen);
    json_write_member_bool(w, STR("hasMore"), run->has_more);
    if (run->archived.len > 0)
        json_write_member_str(w, STR("archivedIn"), run->archived);
    json_write_member_i64(w, STR("marked"), run->marked);
    json_write_name(w, STR("batches"));
    json_write_array(w);
    for (size_t i = 0; i < run->batch_count; i++)
        write_batch(w, view, &run->batches[i]);
    json_write_end(w);
    json_write_end(w);
}

static void write_task(struct json_writer *w, const struct view_trace *view,
                       const struct view_trace_task *row)
{
    const struct task *task = &row->task;

    json_write_object(w);
    json_write_member_i64(w, STR("id"), task->id);
    json_write_member_str(w, STR("status"), code_of(&TASK_STATUS_CODES, (int)task->status));
    json_write_name(w, STR("slice"));
    json_write_object(w);
    json_write_member_i64(w, STR("id"), row->slice.id);
    json_write_member_i64(w, STR("number"), row->slice.number);
    json_write_member_str(w, STR("status"), code_of(&SLICE_STATUS_CODES, (int)row->slice.status));
    json_write_end(w);
    view_write_member_window(w, STR("window"), task->window);
    view_write_member_ids(w, task->ids);
    if (task->status == TASK_QUEUED)
        json_write_member_instant(w, STR("scheduledAt"), task->scheduled_us);
    write_error(w, "lastError", task->last_error);
    json_write_name(w, STR("runs"));
    json_write_array(w);
    for (size_t i = 0; i < row->run_count; i++)
        write_run(w, view, &row->runs[i]);
    json_write_end(w);
    json_write_end(w);
}

static void write_progress(struct json_writer *w, const struct plan_progress *progress)
{
    json_write_name(w, STR("tasksByStatus"));
    json_write_object(w);
    for (size_t i = 0; i < TASK_STATUS_CODES.count; i++) {
        if (progress->tasks[i] > 0)
            json_write_member_i64(w, code_of(&TASK_STATUS_CODES, (int)i), progress->tasks[i]);
    }
    json_write_end(w);
}

static void write_plan(struct json_writer *w, const struct view_trace *view)
{
    const struct plan *plan = &view->plan;

    json_write_name(w, STR("plan"));
    json_write_object(w);
    json_write_member_i64(w, STR("id"), plan->id);
    json_write_member_str(w, STR("source"), plan->source);
    json_write_member_str(w, STR("endpoint"), plan->endpoint);
    json_write_member_str(w, STR("operation"), code_of(&OPERATION_CODES, (int)plan->operation));
    json_write_member_str(w, STR("status"), code_of(&PLAN_STATUS_CODES, (int)plan->status));
    view_write_member_window(w, STR("window"), plan->window);
    json_write_member_instant(w, STR("createdAt"), plan->created_us);
    json_write_member_i64(w, STR("slices"), view->progress.slices);
    write_progress(w, &view->progress);
    json_write_end(w);
}

static void write_failing(struct json_writer *w, const struct view_trace_point *point)
{
    json_write_name(w, STR("failingPoint"));
    if (!point->is_set) {
        json_write_null(w);
        return;
    }
    json_write_object(w);
    json_write_member_str(w, STR("kind"), code_of(&TRACE_KIND_CODES, (int)point->kind));
    if (point->task_id > 0)
        json_write_member_i64(w, STR("task"), point->task_id);
    if (point->run_id > 0)
        json_write_member_i64(w, STR("run"), point->run_id);
    if (point->batch_no > 0)
        json_write_member_i64(w, STR("batch"), point->batch_no);
    json_write_member_str(w, STR("reason"), point->reason);
    json_write_end(w);
}

void view_trace_write(struct json_writer *w, const struct view_trace *view)
{
    json_write_object(w);
    json_write_member_str(w, STR("of"), code_of(&TRACE_KIND_CODES, (int)view->kind));
    write_plan(w, view);
    json_write_name(w, STR("tasks"));
    json_write_array(w);
    for (size_t i = 0; i < view->task_count; i++)
        write_task(w, view, &view->tasks[i]);
    json_write_end(w);
    json_write_member_bool(w, STR("hasMoreTasks"), view->has_more_tasks);
    write_failing(w, &view->failing);
    json_write_name(w, STR("nextSteps"));
    json_write_array(w);
    for (size_t i = 0; i < view->step_count; i++)
        json_write_str(w, view->steps[i]);
    json_write_end(w);
    json_write_end(w);
}
