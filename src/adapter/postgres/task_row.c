#include "adapter/postgres/task_row.h"

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
    COL_WINDOW,                   /* two columns */
    COL_COVERED = COL_WINDOW + 2, /* two columns */
    COL_PARAMS = COL_COVERED + 2,
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

void postgres_read_task(struct query *q, struct arena *arena, struct task *task)
{
    task->id = get_i64(q, COL_ID);
    task->schedule_instance_id = get_i64(q, COL_SCHEDULE_INSTANCE_ID);
    task->plan_id = get_i64(q, COL_PLAN_ID);
    task->slice_id = get_i64(q, COL_SLICE_ID);
    task->source = get_text(q, COL_SOURCE, arena);
    task->endpoint = get_text(q, COL_ENDPOINT, arena);
    task->operation = (enum operation)get_code(q, COL_OPERATION, &OPERATION_CODES);
    task->credential = get_text(q, COL_CREDENTIAL, arena);
    task->cursor_key = get_text(q, COL_CURSOR_KEY, arena);
    task->scope = (enum namespace_scope)get_code(q, COL_SCOPE, &NAMESPACE_SCOPE_CODES);
    task->namespace_key = get_text(q, COL_NAMESPACE_KEY, arena);
    task->window = get_window(q, COL_WINDOW);
    task->covered = get_window(q, COL_COVERED);
    task->params = get_text(q, COL_PARAMS, arena);
    task->expr_hash = get_text(q, COL_EXPR_HASH, arena);
    task->idempotent_key = get_text(q, COL_IDEMPOTENT_KEY, arena);
    task->status = (enum task_status)get_code(q, COL_STATUS, &TASK_STATUS_CODES);
    task->priority = get_i64(q, COL_PRIORITY);
    task->scheduled_us = get_i64(q, COL_SCHEDULED);
    task->lease_owner = get_text(q, COL_LEASE_OWNER, arena);
    task->leased_until_us = get_i64(q, COL_LEASED_UNTIL);
    task->lease_count = get_i64(q, COL_LEASE_COUNT);
    task->lease_epoch = get_i64(q, COL_LEASE_EPOCH);
    task->attempts = get_i64(q, COL_ATTEMPTS);
    task->last_error = get_text(q, COL_LAST_ERROR, arena);
    task->created_us = get_i64(q, COL_CREATED);
    task->is_reset = get_i64(q, COL_IS_RESET) != 0;
}

bool postgres_read_tasks(struct query *q, struct arena *arena, struct task_list *list,
                         struct error *err)
{
    *list = (struct task_list){ 0 };
    while (query_row(q)) {
        struct task *task = LIST_ADD(arena, list);

        if (task == NULL) {
            q->full = arena;
            break;
        }
        postgres_read_task(q, arena, task);
    }
    return query_finish(q, err);
}
