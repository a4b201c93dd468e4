#include "adapter/sql/read.h"

void read_task(struct rows *rows, struct arena *arena, struct task *task)
{
    task->id = rows_i64(rows);
    task->schedule_instance_id = rows_i64(rows);
    task->plan_id = rows_i64(rows);
    task->slice_id = rows_i64(rows);
    task->source = rows_text(rows, arena);
    task->endpoint = rows_text(rows, arena);
    task->operation = (enum operation)rows_code(rows, &OPERATION_CODES);
    task->credential = rows_text(rows, arena);
    task->cursor_key = rows_text(rows, arena);
    task->scope = (enum namespace_scope)rows_code(rows, &NAMESPACE_SCOPE_CODES);
    task->namespace_key = rows_text(rows, arena);
    task->window = rows_window(rows);
    task->covered = rows_window(rows);
    task->params = rows_text(rows, arena);
    task->expr_hash = rows_text(rows, arena);
    task->idempotent_key = rows_text(rows, arena);
    task->status = (enum task_status)rows_code(rows, &TASK_STATUS_CODES);
    task->priority = rows_i64(rows);
    task->scheduled_us = rows_i64(rows);
    task->lease_owner = rows_text(rows, arena);
    task->leased_until_us = rows_i64(rows);
    task->lease_count = rows_i64(rows);
    task->lease_epoch = rows_i64(rows);
    task->attempts = rows_i64(rows);
    task->last_error = rows_text(rows, arena);
    task->created_us = rows_i64(rows);
    task->is_reset = rows_bool(rows);
    task->ids = rows_id_range(rows);
}

bool read_tasks(struct rows *rows, struct arena *arena, struct task_list *list, struct error *err)
{
    struct task *task;

    *list = (struct task_list){ 0 };
    while ((task = ROWS_NEXT(rows, arena, list)) != NULL)
        read_task(rows, arena, task);
    return rows_finish(rows, err);
}

bool read_coverage(struct rows *rows, struct arena *arena, const struct coverage_namespace *of,
                   int64_t after_us, struct coverage_list *list, struct error *err)
{
    *list = (struct coverage_list){ 0 };
    while (rows_next(rows)) {
        struct task task = { .status = (enum task_status)rows_code(rows, &TASK_STATUS_CODES) };

        task.window = rows_window(rows);
        task.covered = rows_window(rows);
        task.is_reset = rows_bool(rows);
        task.ids = rows_id_range(rows);
        task.horizon_us = rows_i64(rows);
        if (!coverage_list_add(arena, &task, of->late_us, after_us, list))
            rows->full = arena;
    }
    return rows_finish(rows, err);
}

bool read_partitions(struct rows *rows, struct arena *arena, struct partition_list *list,
                     struct error *err)
{
    struct partition_state *state;

    *list = (struct partition_list){ 0 };
    while ((state = ROWS_NEXT(rows, arena, list)) != NULL) {
        state->partition.source = rows_text(rows, arena);
        state->partition.endpoint = rows_text(rows, arena);
        state->partition.operation = (enum operation)rows_code(rows, &OPERATION_CODES);
        state->has_due = !rows_is_null(rows);
        state->priority = rows_i64(rows);
        state->scheduled_us = rows_i64(rows);
        state->live = rows_i64(rows);
    }
    return rows_finish(rows, err);
}
