#include <inttypes.h>

#include "adapter/sql/read.h"
#include "adapter/sqlite/slice_repo.h"
#include "adapter/sqlite/sqlite.h"

static const char ADD[] =
    "INSERT INTO ing_plan (schedule_instance_id, provenance_code, endpoint_name, operation_code,"
    " cursor_key, namespace_scope_code, namespace_key, window_from, window_to, expr_proto_hash,"
    " expr_proto_snapshot, spec_fingerprint, status_code, record_remarks, created_at, updated_at)"
    " VALUES (:schedule_instance, :source, :endpoint, :operation, :cursor_key, :scope,"
    " :namespace_key, :window_from, :window_to, :expr_proto_hash, :expr_proto_snapshot,"
    " :spec_fingerprint, :status, :remarks, :created, :created) RETURNING id";

static bool plan_add(struct store *store, const struct plan *plan, int64_t *id, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), ADD);

    bind_i64(st, ":schedule_instance", plan->schedule_instance_id);
    bind_text(st, ":source", plan->source);
    bind_text(st, ":endpoint", plan->endpoint);
    bind_code(st, ":operation", &OPERATION_CODES, (int)plan->operation);
    bind_text(st, ":cursor_key", plan->cursor_key);
    bind_code(st, ":scope", &NAMESPACE_SCOPE_CODES, (int)plan->scope);
    bind_text(st, ":namespace_key", plan->namespace_key);
    bind_window(st, ":window_from", ":window_to", plan->window);
    bind_text(st, ":expr_proto_hash", plan->expr_proto_hash);
    bind_text(st, ":expr_proto_snapshot", plan->expr_proto_snapshot);
    bind_text(st, ":spec_fingerprint", plan->spec_fingerprint);
    bind_code(st, ":status", &PLAN_STATUS_CODES, (int)plan->status);
    bind_text(st, ":remarks", plan->remarks);
    bind_i64(st, ":created", plan->created_us);
    return rows_only_i64(&st->rows, id, err) || error_wrap(err, "add a plan");
}

static const char MOVE[] =
    "UPDATE ing_plan SET status_code = :to, updated_at = :now,"
    " record_remarks = CASE :remarks WHEN '' THEN record_remarks ELSE :remarks END"
    " WHERE id = :id AND status_code = :from";

static bool plan_move(struct store *store, const struct plan_move *move, bool *moved,
                      struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), MOVE);

    bind_code(st, ":to", &PLAN_STATUS_CODES, (int)move->to);
    bind_i64(st, ":now", move->now_us);
    bind_text(st, ":remarks", move->remarks);
    bind_i64(st, ":id", move->id);
    bind_code(st, ":from", &PLAN_STATUS_CODES, (int)move->from);
    if (!statement_run(st, err))
        return error_wrap(err, "plan %" PRId64, move->id);
    *moved = statement_changes(st) == 1;
    return true;
}

static const char GET[] =
    "SELECT " PLAN_COLUMNS ", expr_proto_snapshot FROM ing_plan WHERE id = :id";

static bool plan_get(struct store *store, struct arena *arena, int64_t id, struct plan *plan,
                     bool *found, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), GET);

    bind_i64(st, ":id", id);
    *found = rows_next(&st->rows);
    if (*found) {
        read_plan(&st->rows, arena, plan);
        plan->expr_proto_snapshot = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err);
}

static const char LIST[] = "SELECT " PLAN_COLUMNS " FROM ing_plan"
                           " WHERE (:source = '' OR provenance_code = :source)"
                           "   AND (:operation IS NULL OR operation_code = :operation)"
                           "   AND (:status IS NULL OR status_code = :status)"
                           "   AND (:before = 0 OR id < :before)"
                           " ORDER BY id DESC LIMIT :limit";

static bool plan_list(struct store *store, struct arena *arena, const struct plan_filter *filter,
                      struct plan_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    bind_text(st, ":source", filter->source);
    if (filter->has_operation)
        bind_code(st, ":operation", &OPERATION_CODES, (int)filter->operation);
    if (filter->has_status)
        bind_code(st, ":status", &PLAN_STATUS_CODES, (int)filter->status);
    bind_i64(st, ":before", filter->before_id);
    bind_i64(st, ":limit", filter->limit);
    return read_plans(&st->rows, arena, list, err) || error_wrap(err, "list plans");
}

static const char SLICES[] = "SELECT count(*) FROM ing_plan_slice WHERE plan_id = :plan";
static const char TASKS[] =
    "SELECT status_code, count(*) FROM ing_task WHERE plan_id = :plan GROUP BY status_code";

static bool plan_progress(struct store *store, int64_t id, struct plan_progress *progress,
                          struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), SLICES);

    *progress = (struct plan_progress){ 0 };
    bind_i64(st, ":plan", id);
    if (!rows_only_i64(&st->rows, &progress->slices, err))
        return false;
    st = statement_of(sqlite_store_of(store), TASKS);
    bind_i64(st, ":plan", id);
    return read_progress(&st->rows, progress, err);
}

static const char CANCEL_PLAN[] =
    "UPDATE ing_plan SET updated_at = CASE WHEN status_code IN ('FAILED', 'CANCELLED')"
    "                                 THEN updated_at ELSE :now END,"
    " status_code = CASE status_code WHEN 'FAILED' THEN 'FAILED' ELSE 'CANCELLED' END"
    " WHERE id = :plan";
static const char CANCEL_TASKS[] =
    "UPDATE ing_task SET status_code = 'CANCELLED', updated_at = :now, finished_at = :now"
    " WHERE plan_id = :plan AND status_code = 'QUEUED'";
static const char CANCEL_SLICES[] =
    "UPDATE ing_plan_slice SET status_code = 'CANCELLED', updated_at = :now"
    " WHERE plan_id = :plan AND status_code IN ('PENDING', 'READY')"
    "   AND NOT EXISTS (SELECT 1 FROM ing_task t WHERE t.slice_id = ing_plan_slice.id"
    "                                              AND t.status_code <> 'CANCELLED')";

static bool run_cancel(struct sqlite_store *sqlite, const char *sql, int64_t id, int64_t now_us,
                       int64_t *changes, struct error *err)
{
    struct statement *st = statement_of(sqlite, sql);

    bind_i64(st, ":plan", id);
    bind_i64(st, ":now", now_us);
    if (!statement_run(st, err))
        return error_wrap(err, "cancel plan %" PRId64, id);
    *changes = statement_changes(st);
    return true;
}

static bool plan_cancel(struct store *store, int64_t id, int64_t now_us, int64_t *cancelled,
                        struct error *err)
{
    struct sqlite_store *sqlite = sqlite_store_of(store);
    int64_t changes = 0;

    if (!run_cancel(sqlite, CANCEL_PLAN, id, now_us, &changes, err))
        return false;
    if (changes != 1)
        return error_set(err, ERROR_REQUEST, "store.value", "no plan %" PRId64, id);
    return run_cancel(sqlite, CANCEL_TASKS, id, now_us, cancelled, err) &&
           run_cancel(sqlite, CANCEL_SLICES, id, now_us, &changes, err);
}

const struct store_plan_ops SQLITE_PLAN = {
    .add = plan_add,
    .move = plan_move,
    .get = plan_get,
    .list = plan_list,
    .progress = plan_progress,
    .cancel = plan_cancel,
    .slice_add = sqlite_slice_add,
    .slice_move = sqlite_slice_move,
    .slice_get = sqlite_slice_get,
    .slice_list = sqlite_slice_list,
};
