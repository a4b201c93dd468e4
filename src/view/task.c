/* Tasks: gathered, one with its runs and batches, and written as JSON. */
#include "view/task.h"

#include <inttypes.h>

#include "view/members.h"
#include "view/plan.h"

/* An empty list may mean that its plan or its source is misspelled. */
static bool check_names(const struct view_reader *reader, const struct task_filter *filter,
                        struct error *err)
{
    struct plan plan;

    return (filter->plan_id == 0 || view_plan_find(reader, filter->plan_id, &plan, err)) &&
           view_source_check(reader, filter->source, err);
}

bool view_task_list(const struct view_reader *reader, const struct task_filter *filter,
                    struct view_task_list *list, struct error *err)
{
    struct task_list tasks;

    *list = (struct view_task_list){ 0 };
    if (!store_task_list(reader->store, reader->arena, filter, &tasks, err) ||
        (tasks.count == 0 && !check_names(reader, filter, err)))
        return false;
    *list = (struct view_task_list){ .items = tasks.items,
                                     .count = tasks.count,
                                     .is_full = (int64_t)tasks.count == filter->limit };
    return true;
}

/* The run of the task whose batches are shown; NULL: there is none. */
static const struct run *find_run(const struct view_run_list *runs, int64_t id)
{
    for (size_t i = runs->count; i > 0; i--) {
        if (id == 0 || runs->items[i - 1].run.id == id)
            return &runs->items[i - 1].run;
    }
    return NULL;
}

static bool gather_batches(const struct view_reader *reader, const struct view_task_filter *filter,
                           struct view_task *view, struct error *err)
{
    const struct run *run = find_run(&view->runs, filter->run_id);

    if (run == NULL && filter->run_id > 0)
        return error_set(err, ERROR_REQUEST, "run.unknown", "task %" PRId64 " has no run %" PRId64,
                         filter->id, filter->run_id);
    if (run == NULL || filter->batches_max == 0)
        return true;
    return view_batch_list(
        reader, &(struct view_batch_filter){ .run_id = run->id, .limit = filter->batches_max },
        &view->batches, err);
}

bool view_task(const struct view_reader *reader, const struct view_task_filter *filter,
               struct view_task *view, struct error *err)
{
    bool found;

    *view = (struct view_task){ 0 };
    if (!store_task_get(reader->store, reader->arena, filter->id, &view->task, &found, err))
        return false;
    if (!found)
        return error_set(err, ERROR_REQUEST, "task.unknown", "there is no task %" PRId64,
                         filter->id);
    return view_run_list(reader, filter->id, &view->runs, err) &&
           gather_batches(reader, filter, view, err);
}

/* ---- JSON ---- */

static void write_task(struct json_writer *w, const struct task *task)
{
    json_write_member_i64(w, STR("id"), task->id);
    json_write_member_i64(w, STR("planId"), task->plan_id);
    json_write_member_i64(w, STR("sliceId"), task->slice_id);
    json_write_member_str(w, STR("source"), task->source);
    json_write_member_str(w, STR("endpoint"), task->endpoint);
    json_write_member_str(w, STR("operation"), code_of(&OPERATION_CODES, (int)task->operation));
    json_write_member_str(w, STR("status"), code_of(&TASK_STATUS_CODES, (int)task->status));
    view_write_member_window(w, STR("window"), task->window);
    view_write_member_ids(w, task->ids);
    json_write_member_i64(w, STR("priority"), task->priority);
    json_write_member_i64(w, STR("runCount"), task->attempts);
    json_write_member_instant(w, STR("scheduledAt"), task->scheduled_us);
    json_write_member_instant(w, STR("createdAt"), task->created_us);
    if (task->lease_owner.len > 0) {
        json_write_member_str(w, STR("leaseOwner"), task->lease_owner);
        json_write_member_instant(w, STR("leasedUntil"), task->leased_until_us);
    }
    if (task->is_cancelled)
        json_write_member_str(w, STR("cancelReason"), task->cancel_reason);
    if (task->last_error.len > 0)
        json_write_member_str(w, STR("lastError"), task->last_error);
}

void view_task_list_write(struct json_writer *w, const struct view_task_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        json_write_object(w);
        write_task(w, &list->items[i]);
        json_write_end(w);
    }
    json_write_end(w);
}

void view_task_write(struct json_writer *w, const struct view_task *view)
{
    json_write_object(w);
    write_task(w, &view->task);
    json_write_name(w, STR("runs"));
    view_run_list_write(w, &view->runs);
    json_write_name(w, STR("batches"));
    view_batch_list_write(w, &view->batches);
    json_write_end(w);
}
