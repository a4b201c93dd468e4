/* Tasks, and which time they cover. */
#include <inttypes.h>

#include "adapter/sql/orphans.h"
#include "adapter/sql/read.h"
#include "adapter/sql/session.h"
#include "port/store_task.h"

struct coverage_bounds {
    int64_t after_us;
    int64_t late_us;
};

static bool read_coverage(struct rows *rows, struct arena *arena, struct coverage_bounds bounds,
                          struct coverage_list *list, struct error *err)
{
    *list = (struct coverage_list){ 0 };
    while (rows_next(rows)) {
        struct task task = { .status = (enum task_status)rows_code(rows, &TASK_STATUS_CODES) };

        task.window = rows_window(rows);
        task.covered = rows_window(rows);
        task.is_reset = rows_bool(rows);
        task.ids = rows_id_range(rows);
        task.horizon_us = rows_i64(rows);
        if (!coverage_list_add(arena, &task, bounds.late_us, bounds.after_us, list))
            rows->full = arena;
    }
    return rows_finish(rows, err);
}

/* The values that the tasks of one plan have in common are sent once. */
static const char ADD[] =
    "INSERT INTO ing_task (schedule_instance_id, plan_id, provenance_code, endpoint_name,"
    " operation_code, credential_id, cursor_key, namespace_scope_code, namespace_key, priority,"
    " created_at, updated_at, status_code, slice_id, window_from, window_to, ids_from, ids_to,"
    " params, expr_hash, idempotent_key, scheduled_at)"
    " {insert by idempotent_key:"
    "   :schedule_instance, :plan, :source, :endpoint, :operation, :credential, :cursor_key,"
    "   :scope, :namespace_key, :priority, :created, :created, 'QUEUED', @slice, @window_from,"
    "   @window_to, @ids_from, @ids_to, @params, @expr_hash, @idempotent_key, @scheduled}"
    " ON CONFLICT (idempotent_key) DO NOTHING";

static bool is_alike(const struct task *a, const struct task *b)
{
    return a->schedule_instance_id == b->schedule_instance_id && a->plan_id == b->plan_id &&
           str_eq(a->source, b->source) && str_eq(a->endpoint, b->endpoint) &&
           a->operation == b->operation && str_eq(a->credential, b->credential) &&
           str_eq(a->cursor_key, b->cursor_key) && a->scope == b->scope &&
           str_eq(a->namespace_key, b->namespace_key) && a->priority == b->priority &&
           a->created_us == b->created_us;
}

static void bind_common(struct statement *st, const struct task *task)
{
    bind_i64(st, ":schedule_instance", task->schedule_instance_id);
    bind_i64(st, ":plan", task->plan_id);
    bind_text(st, ":source", task->source);
    bind_text(st, ":endpoint", task->endpoint);
    bind_code(st, ":operation", &OPERATION_CODES, (int)task->operation);
    bind_text(st, ":credential", task->credential);
    bind_text(st, ":cursor_key", task->cursor_key);
    bind_code(st, ":scope", &NAMESPACE_SCOPE_CODES, (int)task->scope);
    bind_text(st, ":namespace_key", task->namespace_key);
    bind_i64(st, ":priority", task->priority);
    bind_instant(st, ":created", task->created_us);
}

static void add_cells(struct statement *st, const struct task *task)
{
    cell_i64(st, "@slice", task->slice_id);
    cell_window(st, "@window_from", "@window_to", task->window);
    cell_id_range(st, "@ids_from", "@ids_to", task->ids);
    cell_text(st, "@params", task->params);
    cell_text(st, "@expr_hash", task->expr_hash);
    cell_text(st, "@idempotent_key", task->idempotent_key);
    cell_instant(st, "@scheduled", task->scheduled_us);
}

/* All of them are alike (is_alike). */
static bool add_tasks(struct store *store, const struct task *tasks, size_t count, int64_t *added,
                      struct error *err)
{
    struct statement *st = statement_of(store, ADD);
    int64_t changes;

    bind_common(st, &tasks[0]);
    for (size_t i = 0; i < count; i++)
        add_cells(st, &tasks[i]);
    if (!statement_run(st, &changes, err))
        return error_wrap(err, "add %zu tasks", count);
    *added += changes;
    return true;
}

/* One statement for each sequence of tasks that are alike; all in one transaction. */
static bool task_add(struct store *store, const struct task *tasks, size_t count, int64_t *added,
                     struct error *err)
{
    bool owns_transaction, ok = true;

    *added = 0;
    if (!store_begin_if_idle(store, &owns_transaction, err))
        return false;
    for (size_t i = 0, n; i < count && ok; i += n) {
        for (n = 1; i + n < count && is_alike(&tasks[i], &tasks[i + n]);)
            n++;
        ok = add_tasks(store, &tasks[i], n, added, err);
    }
    return store_end_if_owned(store, owns_transaction, ok, err);
}

static const char GET[] = "SELECT " TASK_COLUMNS " FROM ing_task WHERE id = :id";

static bool task_get(struct store *store, struct arena *arena, int64_t id, struct task *task,
                     bool *found, struct error *err)
{
    struct statement *st = statement_of(store, GET);

    bind_i64(st, ":id", id);
    *found = rows_next(&st->rows);
    if (*found)
        read_task(&st->rows, arena, task);
    return rows_finish(&st->rows, err);
}

static const char LIST[] = "SELECT " TASK_COLUMNS " FROM ing_task"
                           " WHERE id > :after"
                           "   AND (:plan = 0 OR plan_id = :plan)"
                           "   AND (:source = '' OR provenance_code = :source)"
                           "   AND (:status IS NULL OR status_code = :status)"
                           " ORDER BY id LIMIT :limit";

static bool task_list(struct store *store, struct arena *arena, const struct task_filter *filter,
                      struct task_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LIST);

    bind_i64(st, ":after", filter->after_id);
    bind_i64(st, ":plan", filter->plan_id);
    bind_text(st, ":source", filter->source);
    bind_code_opt(st, ":status", filter->has_status, &TASK_STATUS_CODES, (int)filter->status);
    bind_i64(st, ":limit", filter->limit);
    return read_tasks(&st->rows, arena, list, err) || error_wrap(err, "list tasks");
}

static const char CANCEL[] =
    "UPDATE ing_task SET cancel_reason = :reason, updated_at = :now,"
    " finished_at = CASE status_code WHEN 'QUEUED' THEN :now ELSE finished_at END,"
    " last_error = CASE status_code WHEN 'QUEUED' THEN :reason ELSE last_error END,"
    " status_code = CASE status_code WHEN 'QUEUED' THEN 'CANCELLED' ELSE status_code END"
    " WHERE id = :id AND status_code IN ('QUEUED', 'DISPATCHED', 'EXECUTING')";

static const char CANCEL_RUNS[] = ORPHANS_END("t.id = :id");

static bool end_orphans(struct store *store, const struct task_cancel *cancel, struct error *err)
{
    struct statement *st = statement_of(store, CANCEL_RUNS);

    bind_i64(st, ":id", cancel->id);
    bind_instant(st, ":now", cancel->now_us);
    return statement_run(st, NULL, err);
}

static bool task_cancel(struct store *store, const struct task_cancel *cancel, bool *changed,
                        struct error *err)
{
    struct statement *st = statement_of(store, CANCEL);

    bind_i64(st, ":id", cancel->id);
    bind_text(st, ":reason", cancel->reason);
    bind_instant(st, ":now", cancel->now_us);
    return (statement_changed(st, changed, err) && end_orphans(store, cancel, err)) ||
           error_wrap(err, "cancel task %" PRId64, cancel->id);
}

static const char QUEUED[] =
    "SELECT count(*) FROM ing_task WHERE status_code = 'QUEUED' AND provenance_code = :source"
    "   AND endpoint_name = :endpoint AND operation_code = :operation";

static bool task_queued(struct store *store, const struct task_partition *partition, int64_t *count,
                        struct error *err)
{
    struct statement *st = statement_of(store, QUEUED);

    bind_text(st, ":source", partition->source);
    bind_text(st, ":endpoint", partition->endpoint);
    bind_code(st, ":operation", &OPERATION_CODES, (int)partition->operation);
    return rows_only_i64(&st->rows, count, err);
}

/* In two parts: each has an index that holds only live tasks. */
#define OF_PARTITION                                               \
    " AND provenance_code = :source AND endpoint_name = :endpoint" \
    " AND operation_code = :operation AND id > :after"
static const char LIVE[] =
    "SELECT " TASK_COLUMNS " FROM ing_task WHERE status_code = 'QUEUED'" OF_PARTITION " UNION ALL "
    "SELECT " TASK_COLUMNS " FROM ing_task"
    " WHERE status_code IN ('DISPATCHED', 'EXECUTING')" OF_PARTITION " ORDER BY id LIMIT :limit";

static const char PUT_OFF[] =
    "SELECT " TASK_COLUMNS " FROM ing_task WHERE status_code = 'QUEUED'"
    " AND provenance_code = :source AND endpoint_name = :endpoint AND operation_code = :operation"
    " AND scheduled_at > :now AND last_error <> '' ORDER BY scheduled_at, id LIMIT :limit";

static bool task_put_off(struct store *store, struct arena *arena,
                         const struct task_partition *partition, int64_t now_us, int64_t limit,
                         struct task_list *list, struct error *err)
{
    struct statement *st = statement_of(store, PUT_OFF);

    bind_text(st, ":source", partition->source);
    bind_text(st, ":endpoint", partition->endpoint);
    bind_code(st, ":operation", &OPERATION_CODES, (int)partition->operation);
    bind_instant(st, ":now", now_us);
    bind_i64(st, ":limit", limit);
    return read_tasks(&st->rows, arena, list, err) || error_wrap(err, "list tasks put off");
}

static bool task_live(struct store *store, struct arena *arena,
                      const struct task_partition *partition, struct store_page page,
                      struct task_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LIVE);

    bind_text(st, ":source", partition->source);
    bind_text(st, ":endpoint", partition->endpoint);
    bind_code(st, ":operation", &OPERATION_CODES, (int)partition->operation);
    bind_i64(st, ":after", page.after);
    bind_i64(st, ":limit", page.limit);
    return read_tasks(&st->rows, arena, list, err) || error_wrap(err, "list live tasks");
}

#define OF_NAMESPACE                                                  \
    " WHERE provenance_code = :source AND endpoint_name = :endpoint"  \
    "   AND operation_code = :operation AND cursor_key = :cursor_key" \
    "   AND namespace_scope_code = :scope AND namespace_key = :namespace_key"

static void bind_namespace(struct statement *st, const struct coverage_namespace *of)
{
    bind_text(st, ":source", of->source);
    bind_text(st, ":endpoint", of->endpoint);
    bind_code(st, ":operation", &OPERATION_CODES, (int)of->operation);
    bind_text(st, ":cursor_key", of->cursor_key);
    bind_code(st, ":scope", &NAMESPACE_SCOPE_CODES, (int)of->scope);
    bind_text(st, ":namespace_key", of->namespace_key);
}

/* Only what may appear late needs the plans, and looking them up takes PostgreSQL as long as
 * reading the tasks. A join would take less; but for it SQLite scans a table that was small once.
 */
static const char COVERAGE[] =
    "SELECT status_code, window_from, window_to, covered_from, covered_to, reset_at IS NOT NULL,"
    " ids_from, ids_to, CASE WHEN CAST(:late AS bigint) > 0 THEN"
    "  (SELECT ing_plan.window_to FROM ing_plan WHERE ing_plan.id = ing_task.plan_id) END"
    " FROM ing_task" OF_NAMESPACE " AND window_to > :after AND window_to IS NOT NULL";

static bool task_coverage(struct store *store, struct arena *arena,
                          const struct coverage_namespace *of, int64_t after_us,
                          struct coverage_list *list, struct error *err)
{
    const struct coverage_bounds bounds = { .after_us = after_us, .late_us = of->late_us };
    struct statement *st = statement_of(store, COVERAGE);

    bind_namespace(st, of);
    bind_i64(st, ":late", of->late_us);
    bind_instant(st, ":after", after_us);
    return read_coverage(&st->rows, arena, bounds, list, err) || error_wrap(err, "list coverage");
}

static const char ENDPOINTS[] =
    "SELECT DISTINCT endpoint_name{byte-order} FROM ing_plan WHERE provenance_code = :source"
    "   AND operation_code = :operation AND cursor_key = :cursor_key"
    "   AND namespace_scope_code = :scope AND namespace_key = :namespace_key ORDER BY 1";

static bool coverage_endpoints(struct store *store, struct arena *arena,
                               const struct coverage_namespace *of, struct endpoint_list *list,
                               struct error *err)
{
    struct statement *st = statement_of(store, ENDPOINTS);
    struct str *endpoint;

    bind_text(st, ":source", of->source);
    bind_code(st, ":operation", &OPERATION_CODES, (int)of->operation);
    bind_text(st, ":cursor_key", of->cursor_key);
    bind_code(st, ":scope", &NAMESPACE_SCOPE_CODES, (int)of->scope);
    bind_text(st, ":namespace_key", of->namespace_key);
    *list = (struct endpoint_list){ 0 };
    while ((endpoint = ROWS_NEXT(&st->rows, arena, list)) != NULL)
        *endpoint = rows_text(&st->rows, arena);
    return rows_finish(&st->rows, err) || error_wrap(err, "list the endpoints of a namespace");
}

static const char LAST[] = "SELECT " TASK_COLUMNS " FROM ing_task" OF_NAMESPACE
                           " AND window_to IS NULL AND cursor_key <> '' ORDER BY id DESC LIMIT 1";

static bool task_last(struct store *store, struct arena *arena, const struct coverage_namespace *of,
                      struct task *task, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, LAST);
    struct task_list list;

    bind_namespace(st, of);
    *found = false;
    if (!read_tasks(&st->rows, arena, &list, err))
        return error_wrap(err, "find the last task of a namespace");
    *found = list.count > 0;
    if (*found)
        *task = list.items[0];
    return true;
}

static const char COVERAGE_TASKS[] =
    "SELECT " TASK_COLUMNS " FROM ing_task" OF_NAMESPACE
    " AND window_to > :from AND window_to IS NOT NULL AND window_from < :to"
    " ORDER BY id DESC LIMIT :limit";

static const char COVERAGE_OPEN[] =
    "SELECT " TASK_COLUMNS " FROM ing_task" OF_NAMESPACE
    " AND window_to > :from AND window_to IS NOT NULL AND window_from < :to"
    " AND (status_code IN ('FAILED', 'PARTIAL', 'CANCELLED') OR reset_at IS NOT NULL"
    "   OR (last_error <> '' AND status_code <> 'SUCCEEDED'))"
    " ORDER BY id DESC LIMIT :limit";

static bool tasks_of_window(struct statement *st, struct arena *arena,
                            const struct window_query *query, struct task_list *list,
                            struct error *err)
{
    bind_namespace(st, query->of);
    bind_instant(st, ":from", query->window.from_us);
    bind_instant(st, ":to", query->window.to_us);
    bind_i64(st, ":limit", query->limit);
    return read_tasks(&st->rows, arena, list, err) || error_wrap(err, "list tasks of a window");
}

static bool coverage_tasks(struct store *store, struct arena *arena,
                           const struct window_query *query, struct task_list *list,
                           struct error *err)
{
    return tasks_of_window(statement_of(store, COVERAGE_TASKS), arena, query, list, err);
}

static bool coverage_open(struct store *store, struct arena *arena,
                          const struct window_query *query, struct task_list *list,
                          struct error *err)
{
    return tasks_of_window(statement_of(store, COVERAGE_OPEN), arena, query, list, err);
}

/* By their own windows, or through their plan's when they were cut by pages. */
static const char COVERAGE_OBSERVED[] =
    "SELECT max(run.observed_max) FROM ing_task_run AS run WHERE run.task_id IN"
    " (SELECT ing_task.id FROM ing_task" OF_NAMESPACE
    "    AND window_to > :from AND window_to IS NOT NULL AND window_from < :to"
    "  UNION ALL SELECT ing_task.id FROM ing_task" OF_NAMESPACE
    "    AND window_to IS NULL AND EXISTS (SELECT 1 FROM ing_plan WHERE ing_plan.id = "
    "ing_task.plan_id"
    "      AND ing_plan.window_to > :from AND ing_plan.window_from < :to))";

static bool coverage_observed(struct store *store, const struct coverage_namespace *of,
                              struct window window, struct maybe_instant *latest, struct error *err)
{
    struct statement *st = statement_of(store, COVERAGE_OBSERVED);

    bind_namespace(st, of);
    bind_instant(st, ":from", window.from_us);
    bind_instant(st, ":to", window.to_us);
    *latest = (struct maybe_instant){ 0 };
    if (rows_next(&st->rows) && !rows_is_null(&st->rows))
        *latest = (struct maybe_instant){ true, rows_i64(&st->rows) };
    return rows_finish(&st->rows, err) || error_wrap(err, "find the latest record of a window");
}

static const char COVERAGE_HELD[] =
    "SELECT window_from, window_to, plan_id, updated_at FROM ing_task" OF_NAMESPACE
    " AND window_to > :after AND window_to IS NOT NULL AND reset_at IS NULL"
    " AND partial_reason_code IN ('DEAD_END', 'OVER_BUDGET', 'CRASHED')"
    " AND EXISTS (SELECT 1 FROM ing_plan WHERE ing_plan.id = ing_task.plan_id"
    "             AND ing_plan.spec_fingerprint = :fingerprint)"
    " ORDER BY plan_id";

static bool coverage_held(struct store *store, struct arena *arena, const struct held_query *query,
                          struct held_window_list *list, struct error *err)
{
    struct statement *st = statement_of(store, COVERAGE_HELD);
    struct held_window *held;

    bind_namespace(st, query->of);
    bind_instant(st, ":after", query->after_us);
    bind_text(st, ":fingerprint", query->fingerprint);
    *list = (struct held_window_list){ 0 };
    while ((held = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        held->window = rows_window(&st->rows);
        held->plan_id = rows_i64(&st->rows);
        held->ended_us = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "list windows left to a person");
}

static const char COVERAGE_RESET[] =
    "UPDATE ing_task SET reset_at = :now, updated_at = :now" OF_NAMESPACE
    "   AND reset_at IS NULL AND (status_code <> 'QUEUED' OR attempt_count > 0)"
    "   AND (window_to > :after OR window_to IS NULL AND EXISTS (SELECT 1 FROM ing_plan"
    "        WHERE ing_plan.id = ing_task.plan_id AND ing_plan.window_to > :after))";

static bool coverage_reset(struct store *store, const struct coverage_namespace *of,
                           int64_t after_us, int64_t now_us, int64_t *count, struct error *err)
{
    struct statement *st = statement_of(store, COVERAGE_RESET);

    bind_namespace(st, of);
    bind_instant(st, ":after", after_us);
    bind_instant(st, ":now", now_us);
    return statement_run(st, count, err) ||
           error_wrap(err, "reset coverage of %.*s", STR_ARG(of->source));
}

static const char HASTEN[] =
    "UPDATE ing_task SET scheduled_at = :now, updated_at = :now WHERE provenance_code = :source"
    " AND status_code = 'QUEUED' AND scheduled_at > :now";

static bool task_hasten(struct store *store, struct str source, int64_t now_us, int64_t *count,
                        struct error *err)
{
    struct statement *st = statement_of(store, HASTEN);

    bind_text(st, ":source", source);
    bind_instant(st, ":now", now_us);
    return statement_run(st, count, err) ||
           error_wrap(err, "make tasks of %.*s due", STR_ARG(source));
}

const struct store_task_ops SQL_TASK = {
    .add = task_add,
    .get = task_get,
    .list = task_list,
    .cancel = task_cancel,
    .hasten = task_hasten,
    .queued = task_queued,
    .live = task_live,
    .put_off = task_put_off,
    .coverage = task_coverage,
    .coverage_tasks = coverage_tasks,
    .coverage_open = coverage_open,
    .endpoints = coverage_endpoints,
    .last = task_last,
    .coverage_observed = coverage_observed,
    .coverage_held = coverage_held,
    .coverage_reset = coverage_reset,
};
