/* read: how the stores' rows become structs, in one place for every database.
 *
 * A kind of row has a list of columns, which its SELECT (or RETURNING) names, and a reader that
 * takes them in that order. What a reader of one row leaves unread, further columns of a SELECT,
 * its caller reads. Readers of a list run and end the statement.
 */
#ifndef PATRA_ADAPTER_SQL_READ_H
#define PATRA_ADAPTER_SQL_READ_H

#include "adapter/sql/rows.h"
#include "core/migration.h"
#include "port/store_cursor.h"
#include "port/store_lease.h"
#include "port/store_pause.h"
#include "port/store_plan.h"
#include "port/store_quarantine.h"
#include "port/store_rate.h"
#include "port/store_record.h"
#include "port/store_registry.h"
#include "port/store_run.h"
#include "port/store_schedule.h"
#include "port/store_signal.h"
#include "port/store_status.h"
#include "port/store_task.h"

/* ---- read_plan.c: from the trigger to the slices ---- */

#define SCHEDULE_COLUMNS                                                                \
    "id, scheduler_code, scheduler_job_id, scheduler_log_id, trigger_type_code,"        \
    " provenance_code, endpoint_name, operation_code, trigger_params, expr_proto_hash," \
    " record_remarks, triggered_at"
void read_schedule(struct rows *rows, struct arena *arena, struct schedule_instance *instance);

#define PLAN_COLUMNS                                                                        \
    "id, schedule_instance_id, provenance_code, endpoint_name, operation_code, cursor_key," \
    " namespace_scope_code, namespace_key, window_from, window_to, expr_proto_hash,"        \
    " spec_fingerprint, status_code, record_remarks, created_at, updated_at"
/* Without its snapshot, which lists leave out. */
void read_plan(struct rows *rows, struct arena *arena, struct plan *plan);
bool read_plans(struct rows *rows, struct arena *arena, struct plan_list *list,
                struct error *err) MUST_CHECK;

/* status_code, count: adds the tasks to what the plan has. */
bool read_progress(struct rows *rows, struct plan_progress *progress, struct error *err) MUST_CHECK;

#define SLICE_COLUMNS                                                                       \
    "id, plan_id, parent_slice_id, provenance_code, slice_no, dimension_code, window_from," \
    " window_to, slice_spec, slice_signature_hash, expr_hash, expr_snapshot, status_code,"  \
    " created_at"
void read_slice(struct rows *rows, struct arena *arena, struct plan_slice *slice);
bool read_slices(struct rows *rows, struct arena *arena, struct plan_slice_list *list,
                 struct error *err) MUST_CHECK;

/* ---- read_signal.c: what people and executors ask of the planner ---- */

#define PAUSE_COLUMNS "provenance_code, endpoint_name, kind_code, reason, created_by, created_at"
bool read_pauses(struct rows *rows, struct arena *arena, struct pause_list *list,
                 struct error *err) MUST_CHECK;

#define SIGNAL_COLUMNS                                                                            \
    "id, provenance_code, endpoint_name, provider_id, reason, created_by, created_at,"            \
    " (SELECT count(*) FROM ing_signal AS t WHERE t.provenance_code = ing_signal.provenance_code" \
    "     AND t.endpoint_name = ing_signal.endpoint_name AND t.provider_id = "                    \
    "ing_signal.provider_id"                                                                      \
    "     AND t.plan_id IS NOT NULL)"
bool read_signals(struct rows *rows, struct arena *arena, struct signal_list *list,
                  struct error *err) MUST_CHECK;

#define TICKET_COLUMNS \
    "id, task_id, slice_id, reason_code, remaining_from, remaining_to, detail, created_at"
bool read_tickets(struct rows *rows, struct arena *arena, struct reslice_ticket_list *list,
                  struct error *err) MUST_CHECK;

/* ---- read_quarantine.c ---- */

#define QUARANTINE_COLUMNS                                                                  \
    "id, provenance_code, endpoint_name, provider_id, reason_code, detail, batch_position," \
    " schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id, created_at,"      \
    " resolution_code, resolved_at, resolved_by, resolved_note, length(payload)"
/* Without its payload, which lists leave out. */
void read_quarantined(struct rows *rows, struct arena *arena, struct quarantined *record);
bool read_quarantine(struct rows *rows, struct arena *arena, struct quarantined_list *list,
                     struct error *err) MUST_CHECK;

/* provenance_code, endpoint_name, reason_code, how many, the first and last created_at */
bool read_quarantine_sums(struct rows *rows, struct arena *arena, struct quarantine_sum_list *list,
                          struct error *err) MUST_CHECK;

/* ---- read_task.c ---- */

#define TASK_COLUMNS                                                                             \
    "id, schedule_instance_id, plan_id, slice_id, provenance_code, endpoint_name,"               \
    " operation_code, credential_id, cursor_key, namespace_scope_code, namespace_key,"           \
    " window_from, window_to, covered_from, covered_to, params, expr_hash, idempotent_key,"      \
    " status_code, priority, scheduled_at, lease_owner, leased_until, lease_count, lease_epoch," \
    " attempt_count, last_error, created_at, reset_at IS NOT NULL, ids_from, ids_to"
void read_task(struct rows *rows, struct arena *arena, struct task *task);
bool read_tasks(struct rows *rows, struct arena *arena, struct task_list *list,
                struct error *err) MUST_CHECK;

#define COVERAGE_COLUMNS                                                                   \
    "status_code, window_from, window_to, covered_from, covered_to, reset_at IS NOT NULL," \
    " ids_from, ids_to,"                                                                   \
    " (SELECT ing_plan.window_to FROM ing_plan WHERE ing_plan.id = ing_task.plan_id)"
bool read_coverage(struct rows *rows, struct arena *arena, const struct coverage_namespace *of,
                   int64_t after_us, struct coverage_list *list, struct error *err) MUST_CHECK;

/* provenance_code, endpoint_name, operation_code; of the first task that is due, if there is one,
 * priority, scheduled_at; how many are under way. */
bool read_partitions(struct rows *rows, struct arena *arena, struct partition_list *list,
                     struct error *err) MUST_CHECK;

/* ---- read_run.c ---- */

#define RUN_COLUMNS                                                                        \
    "id, task_id, attempt_no, provenance_code, operation_code, lease_owner, lease_epoch,"  \
    " status_code, partial_reason_code, window_from, window_to, checkpoint, stats, error," \
    " started_at, finished_at"
bool read_runs(struct rows *rows, struct arena *arena, struct run_list *list,
               struct error *err) MUST_CHECK;

#define BATCH_COLUMNS                                                                        \
    "id, run_id, task_id, slice_id, plan_id, batch_no, page_no, page_size, before_token,"    \
    " after_token, expr_hash, idempotent_key, status_code, request_digest, response_digest," \
    " stats, has_next, created_at"
void read_batch(struct rows *rows, struct arena *arena, struct batch *batch);
bool read_batches(struct rows *rows, struct arena *arena, struct batch_list *list,
                  struct error *err) MUST_CHECK;

/* provider_id */
bool read_listed(struct rows *rows, struct arena *arena, struct listed_list *list,
                 struct error *err) MUST_CHECK;

/* ---- read_cursor.c ---- */

#define CURSOR_COLUMNS                                                                         \
    "id, provenance_code, operation_code, cursor_key, namespace_scope_code, namespace_key,"    \
    " cursor_type_code, cursor_value, normalized_instant, observed_max_value,"                 \
    " schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id, expr_hash, version," \
    " updated_at"
void read_cursor(struct rows *rows, struct arena *arena, struct cursor *cursor);
bool read_cursors(struct rows *rows, struct arena *arena, struct cursor_list *list,
                  struct error *err) MUST_CHECK;

/* provenance_code, operation_code, cursor_key, namespace_scope_code, namespace_key */
bool read_cursor_names(struct rows *rows, struct arena *arena, struct cursor_name_list *list,
                       struct error *err) MUST_CHECK;

#define CURSOR_EVENT_COLUMNS                                                                \
    "id, provenance_code, operation_code, cursor_key, namespace_scope_code, namespace_key," \
    " cursor_type_code, direction_code, reason_code, prev_value, prev_instant, new_value,"  \
    " new_instant, window_from, window_to, observed_max_value, idempotent_key,"             \
    " schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id, expr_hash,"       \
    " record_remarks, created_at"
bool read_cursor_events(struct rows *rows, struct arena *arena, struct cursor_event_list *list,
                        struct error *err) MUST_CHECK;

/* ---- read_status.c ---- */

/* endpoint_name, operation_code, status_code, count, first scheduled_at */
bool read_partition_counts(struct rows *rows, struct arena *arena, struct str source,
                           struct partition_count_list *list, struct error *err) MUST_CHECK;

/* TASK_COLUMNS, partial_reason_code, whether it was cut again, finished_at */
bool read_ended_tasks(struct rows *rows, struct arena *arena, struct ended_task_list *list,
                      struct error *err) MUST_CHECK;

/* quarantined, signals, tickets: how many are open */
bool read_open(struct rows *rows, struct open_count *count, struct error *err) MUST_CHECK;

#define GATE_COLUMNS                                                          \
    "tokens, carry, refilled_at, rate, provider_rate, raised_at, demoted_at," \
    " cooldown_until, line_until, started_at, parked_until, version"
void read_gate(struct rows *rows, struct rate_gate *gate);
/* rate_key, GATE_COLUMNS */
bool read_gates(struct rows *rows, struct arena *arena, struct gate_row_list *list,
                struct error *err) MUST_CHECK;

/* class_code, used, booked */
bool read_quota(struct rows *rows, struct quota_count *count, struct error *err) MUST_CHECK;

/* ---- read_record.c: records and their events ---- */

#define RECORD_STATE_COLUMNS \
    "id, version, updated_at, provider_version, deleted, content_hash, expr_hash, checked_at"
void read_record_state(struct rows *rows, struct arena *arena, struct record_state *state);

#define RECORD_COLUMNS                                                                          \
    "id, provenance_code, endpoint_name, provider_id, updated_at, provider_version, version,"   \
    " deleted, content_hash, expr_hash, checked_at, created_at, schedule_instance_id, plan_id," \
    " slice_id, task_id, run_id, batch_id, payload"
void read_record(struct rows *rows, struct arena *arena, struct stored_record *record);

/* id, provider_id, checked_at, expr_hash */
bool read_candidates(struct rows *rows, struct arena *arena, struct candidate_list *list,
                     struct error *err) MUST_CHECK;

#define EVENT_COLUMNS                                                                    \
    "event_id, aggregate_type, aggregate_id, event_type, version, schema_version, lane," \
    " occurred_at, payload"
bool read_events(struct rows *rows, struct arena *arena, struct outbox_event_list *list,
                 struct error *err) MUST_CHECK;

/* ---- read_registry.c: configuration, migrations ---- */

/* The first columns of every reg_* table; its own follow (core/registry.h). */
#define REGISTRY_COLUMNS "id, endpoint_name, row_key, position, version, effective_from"

struct registry_row_list {
    struct registry_row *items;
    size_t count;
};
/* Adds to the list. */
bool read_registry_rows(struct rows *rows, struct arena *arena, enum registry_table_id id,
                        struct registry_row_list *list, struct error *err) MUST_CHECK;

/* code, version, when it changed last */
bool read_registry_entries(struct rows *rows, struct arena *arena, struct registry_entry_list *list,
                           struct error *err) MUST_CHECK;

#define MIGRATION_COLUMNS "number, name, sha256"
bool read_migrations(struct rows *rows, struct arena *arena, struct migration_record_list *list,
                     struct error *err) MUST_CHECK;

#endif
