/* task_row: a task as a SELECT gives it, for all who read tasks. */
#ifndef PATRA_ADAPTER_POSTGRES_TASK_ROW_H
#define PATRA_ADAPTER_POSTGRES_TASK_ROW_H

#include "adapter/postgres/query.h"
#include "port/store_task.h"

#define TASK_COLUMNS                                                                             \
    "id, schedule_instance_id, plan_id, slice_id, provenance_code, endpoint_name,"               \
    " operation_code, credential_id, cursor_key, namespace_scope_code, namespace_key,"           \
    " window_from, window_to, covered_from, covered_to, params, expr_hash, idempotent_key,"      \
    " status_code, priority, scheduled_at, lease_owner, leased_until, lease_count, lease_epoch," \
    " attempt_count, last_error, created_at, reset_at IS NOT NULL"

enum { TASK_COLUMN_COUNT = 29 }; /* where a further column stands */

/* The current row of a statement that selects TASK_COLUMNS and nothing before them. */
void postgres_read_task(struct query *q, struct arena *arena, struct task *task);

/* All rows; runs and ends the statement. */
bool postgres_read_tasks(struct query *q, struct arena *arena, struct task_list *list,
                         struct error *err) MUST_CHECK;

#endif
