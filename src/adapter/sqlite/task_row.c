#include "adapter/sqlite/task_row.h"

#include <assert.h>

/* In the order of TASK_COLUMNS. */
enum {
    COL_ID,
    COL_SCHEDULE_INSTANCE_ID,
    COL_PLAN_ID,
    COL_SLICE_ID,
    COL_SOURCE,
    COL_ENDPOINT,
    COL_OPERATION,
    COL_CREDENTIAL,
    COL_CURSOR_KEY,
    COL_SCOPE,
    COL_NAMESPACE_KEY,
    COL_WINDOW_FROM,
    COL_WINDOW_TO,
    COL_COVERED_FROM,
    COL_COVERED_TO,
    COL_PARAMS,
    COL_EXPR_HASH,
    COL_IDEMPOTENT_KEY,
    COL_STATUS,
    COL_PRIORITY,
    COL_SCHEDULED,
    COL_LEASE_OWNER,
    COL_LEASED_UNTIL,
    COL_LEASE_COUNT,
    COL_LEASE_EPOCH,
    COL_ATTEMPTS,
    COL_LAST_ERROR,
    COL_CREATED,
    COL_IS_RESET,
    COL_COUNT,
};
static_assert((int)COL_COUNT == (int)TASK_COLUMN_COUNT, "one for each of TASK_COLUMNS");

void sqlite_read_task(struct statement *st, struct arena *arena, struct task *task)
{
    task->id = column_i64(st, COL_ID);
    task->schedule_instance_id = column_i64(st, COL_SCHEDULE_INSTANCE_ID);
    task->plan_id = column_i64(st, COL_PLAN_ID);
    task->slice_id = column_i64(st, COL_SLICE_ID);
    task->source = column_text(st, COL_SOURCE, arena);
    task->endpoint = column_text(st, COL_ENDPOINT, arena);
    task->operation = (enum operation)column_code(st, COL_OPERATION, &OPERATION_CODES);
    task->credential = column_text(st, COL_CREDENTIAL, arena);
    task->cursor_key = column_text(st, COL_CURSOR_KEY, arena);
    task->scope = (enum namespace_scope)column_code(st, COL_SCOPE, &NAMESPACE_SCOPE_CODES);
    task->namespace_key = column_text(st, COL_NAMESPACE_KEY, arena);
    task->window = column_window(st, COL_WINDOW_FROM);
    task->covered = column_window(st, COL_COVERED_FROM);
    task->params = column_text(st, COL_PARAMS, arena);
    task->expr_hash = column_text(st, COL_EXPR_HASH, arena);
    task->idempotent_key = column_text(st, COL_IDEMPOTENT_KEY, arena);
    task->status = (enum task_status)column_code(st, COL_STATUS, &TASK_STATUS_CODES);
    task->priority = column_i64(st, COL_PRIORITY);
    task->scheduled_us = column_i64(st, COL_SCHEDULED);
    task->lease_owner = column_text(st, COL_LEASE_OWNER, arena);
    task->leased_until_us = column_i64(st, COL_LEASED_UNTIL);
    task->lease_count = column_i64(st, COL_LEASE_COUNT);
    task->lease_epoch = column_i64(st, COL_LEASE_EPOCH);
    task->attempts = column_i64(st, COL_ATTEMPTS);
    task->last_error = column_text(st, COL_LAST_ERROR, arena);
    task->created_us = column_i64(st, COL_CREATED);
    task->is_reset = column_i64(st, COL_IS_RESET) != 0;
}

bool sqlite_read_tasks(struct statement *st, struct arena *arena, struct task_list *list,
                       struct error *err)
{
    *list = (struct task_list){ 0 };
    while (statement_row(st)) {
        struct task *task = LIST_ADD(arena, list);

        if (task == NULL) {
            st->full = arena;
            break;
        }
        sqlite_read_task(st, arena, task);
    }
    return statement_finish(st, err);
}
