/* Rows that more than one repository reads. */
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
    task->is_cancelled = rows_bool(rows);
    task->cancel_reason = rows_text(rows, arena);
    task->crashes = rows_i64(rows);
}

bool read_tasks(struct rows *rows, struct arena *arena, struct task_list *list, struct error *err)
{
    struct task *task;

    *list = (struct task_list){ 0 };
    while ((task = ROWS_NEXT(rows, arena, list)) != NULL)
        read_task(rows, arena, task);
    return rows_finish(rows, err);
}

bool read_ended_tasks(struct rows *rows, struct arena *arena, struct ended_task_list *list,
                      struct error *err)
{
    struct ended_task *ended;

    *list = (struct ended_task_list){ 0 };
    while ((ended = ROWS_NEXT(rows, arena, list)) != NULL) {
        read_task(rows, arena, &ended->task);
        ended->reason =
            (enum partial_reason)rows_code_opt(rows, &PARTIAL_REASON_CODES, &ended->has_reason);
        ended->is_resliced = rows_bool(rows);
        ended->ended_us = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

void read_gate(struct rows *rows, struct rate_gate *gate)
{
    gate->bucket.tokens = rows_i64(rows);
    gate->bucket.carry = rows_i64(rows);
    gate->bucket.refilled_at_us = rows_i64(rows);
    gate->bucket.rate = rows_i64(rows);
    gate->bucket.provider_rate = rows_i64(rows);
    gate->bucket.raised_at_us = rows_i64(rows);
    gate->bucket.demoted_at_us = rows_i64(rows);
    gate->bucket.cooldown_until_us = rows_i64(rows);
    gate->bucket.line_until_us = rows_i64(rows);
    gate->bucket.started_at_us = rows_i64(rows);
    gate->parked_until_us = rows_i64(rows);
    gate->has_credential = rows_bool(rows);
    gate->refused_us = rows_i64(rows);
    gate->refused_status = rows_i64(rows);
    gate->version = rows_i64(rows);
}
