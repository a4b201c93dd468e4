/* read: rows that more than one repository reads. Each kind of row has a list of columns for the
 * SELECT or RETURNING, and a reader that reads them in that order. */
#ifndef PATRA_ADAPTER_SQL_READ_H
#define PATRA_ADAPTER_SQL_READ_H

#include "adapter/sql/rows.h"
#include "port/store_rate.h"
#include "port/store_status.h"
#include "port/store_task.h"

#define TASK_COLUMNS                                                                             \
    "id, schedule_instance_id, plan_id, slice_id, provenance_code, endpoint_name,"               \
    " operation_code, credential_id, cursor_key, namespace_scope_code, namespace_key,"           \
    " window_from, window_to, covered_from, covered_to, params, expr_hash, idempotent_key,"      \
    " status_code, priority, scheduled_at, lease_owner, leased_until, lease_count, lease_epoch," \
    " attempt_count, last_error, created_at, reset_at IS NOT NULL, ids_from, ids_to,"            \
    " cancel_reason IS NOT NULL, cancel_reason, crash_count"
void read_task(struct rows *rows, struct arena *arena, struct task *task);
/* Runs and ends the statement. */
bool read_tasks(struct rows *rows, struct arena *arena, struct task_list *list,
                struct error *err) MUST_CHECK;

/* TASK_COLUMNS, the reason of its last run, whether it was re-sliced, when it ended. Runs and ends
 * the statement. */
bool read_ended_tasks(struct rows *rows, struct arena *arena, struct ended_task_list *list,
                      struct error *err) MUST_CHECK;

#define GATE_COLUMNS                                                                     \
    "tokens, carry, refilled_at, rate, provider_rate, raised_at, demoted_at,"            \
    " cooldown_until, line_until, started_at, parked_until, has_credential, refused_at," \
    " refused_status, version"
void read_gate(struct rows *rows, struct rate_gate *gate);

#endif
