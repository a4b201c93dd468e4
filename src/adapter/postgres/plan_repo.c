#include <inttypes.h>

#include "adapter/postgres/postgres.h"
#include "adapter/postgres/slice_repo.h"
#include "adapter/sql/read.h"

enum {
    ADD_SCHEDULE_INSTANCE = 1,
    ADD_SOURCE,
    ADD_ENDPOINT,
    ADD_OPERATION,
    ADD_CURSOR_KEY,
    ADD_SCOPE,
    ADD_NAMESPACE_KEY,
    ADD_WINDOW, /* two places */
    ADD_EXPR_PROTO_HASH = ADD_WINDOW + 2,
    ADD_EXPR_PROTO_SNAPSHOT,
    ADD_SPEC_FINGERPRINT,
    ADD_STATUS,
    ADD_REMARKS,
    ADD_CREATED,
};
static const char ADD[] =
    "INSERT INTO ing_plan (schedule_instance_id, provenance_code, endpoint_name, operation_code,"
    " cursor_key, namespace_scope_code, namespace_key, window_from, window_to, expr_proto_hash,"
    " expr_proto_snapshot, spec_fingerprint, status_code, record_remarks, created_at, updated_at)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15) RETURNING id";

static bool plan_add(struct store *store, const struct plan *plan, int64_t *id, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), ADD);
    set_i64(&q, ADD_SCHEDULE_INSTANCE, plan->schedule_instance_id);
    set_text(&q, ADD_SOURCE, plan->source);
    set_text(&q, ADD_ENDPOINT, plan->endpoint);
    set_code(&q, ADD_OPERATION, &OPERATION_CODES, (int)plan->operation);
    set_text(&q, ADD_CURSOR_KEY, plan->cursor_key);
    set_code(&q, ADD_SCOPE, &NAMESPACE_SCOPE_CODES, (int)plan->scope);
    set_text(&q, ADD_NAMESPACE_KEY, plan->namespace_key);
    set_window(&q, ADD_WINDOW, plan->window);
    set_text(&q, ADD_EXPR_PROTO_HASH, plan->expr_proto_hash);
    set_text(&q, ADD_EXPR_PROTO_SNAPSHOT, plan->expr_proto_snapshot);
    set_text(&q, ADD_SPEC_FINGERPRINT, plan->spec_fingerprint);
    set_code(&q, ADD_STATUS, &PLAN_STATUS_CODES, (int)plan->status);
    set_json(&q, ADD_REMARKS, plan->remarks);
    set_time(&q, ADD_CREATED, plan->created_us);
    return rows_only_i64(&q.rows, id, err) || error_wrap(err, "add a plan");
}

enum { MOVE_TO = 1, MOVE_NOW, MOVE_REMARKS, MOVE_ID, MOVE_FROM };
static const char MOVE[] =
    "UPDATE ing_plan SET status_code = $1, updated_at = $2,"
    " record_remarks = CASE WHEN $3 = '' THEN record_remarks ELSE $3::jsonb END"
    " WHERE id = $4 AND status_code = $5";

static bool plan_move(struct store *store, const struct plan_move *move, bool *moved,
                      struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), MOVE);
    set_code(&q, MOVE_TO, &PLAN_STATUS_CODES, (int)move->to);
    set_time(&q, MOVE_NOW, move->now_us);
    set_text(&q, MOVE_REMARKS, move->remarks);
    set_i64(&q, MOVE_ID, move->id);
    set_code(&q, MOVE_FROM, &PLAN_STATUS_CODES, (int)move->from);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "plan %" PRId64, move->id);
    *moved = changes == 1;
    return true;
}

enum { GET_ID = 1 };
static const char GET[] =
    "SELECT " PLAN_COLUMNS ", expr_proto_snapshot FROM ing_plan WHERE id = $1";

static bool plan_get(struct store *store, struct arena *arena, int64_t id, struct plan *plan,
                     bool *found, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), GET);
    set_i64(&q, GET_ID, id);
    *found = rows_next(&q.rows);
    if (*found) {
        read_plan(&q.rows, arena, plan);
        plan->expr_proto_snapshot = rows_text(&q.rows, arena);
    }
    return rows_finish(&q.rows, err);
}

enum { LIST_SOURCE = 1, LIST_OPERATION, LIST_STATUS, LIST_BEFORE, LIST_LIMIT };
static const char LIST[] = "SELECT " PLAN_COLUMNS " FROM ing_plan"
                           " WHERE $1 IN ('', provenance_code)"
                           "   AND ($2 IS NULL OR operation_code = $2)"
                           "   AND ($3 IS NULL OR status_code = $3)"
                           "   AND ($4 = 0 OR id < $4)"
                           " ORDER BY id DESC LIMIT $5";

static bool plan_list(struct store *store, struct arena *arena, const struct plan_filter *filter,
                      struct plan_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LIST);
    set_text(&q, LIST_SOURCE, filter->source);
    set_code_opt(&q, LIST_OPERATION, filter->has_operation, &OPERATION_CODES,
                 (int)filter->operation);
    set_code_opt(&q, LIST_STATUS, filter->has_status, &PLAN_STATUS_CODES, (int)filter->status);
    set_i64(&q, LIST_BEFORE, filter->before_id);
    set_i64(&q, LIST_LIMIT, filter->limit);
    return read_plans(&q.rows, arena, list, err) || error_wrap(err, "list plans");
}

enum { PROGRESS_PLAN = 1 };
static const char SLICES[] = "SELECT count(*) FROM ing_plan_slice WHERE plan_id = $1";
static const char TASKS[] =
    "SELECT status_code, count(*) FROM ing_task WHERE plan_id = $1 GROUP BY status_code";

static bool plan_progress(struct store *store, int64_t id, struct plan_progress *progress,
                          struct error *err)
{
    struct query q;

    *progress = (struct plan_progress){ 0 };
    query_init(&q, postgres_store_of(store), SLICES);
    set_i64(&q, PROGRESS_PLAN, id);
    if (!rows_only_i64(&q.rows, &progress->slices, err))
        return false;
    query_init(&q, postgres_store_of(store), TASKS);
    set_i64(&q, PROGRESS_PLAN, id);
    return read_progress(&q.rows, progress, err);
}

enum { CANCEL_ID = 1, CANCEL_NOW };
static const char CANCEL_PLAN[] =
    "UPDATE ing_plan SET updated_at = CASE WHEN status_code IN ('FAILED', 'CANCELLED')"
    "                                 THEN updated_at ELSE $2 END,"
    " status_code = CASE status_code WHEN 'FAILED' THEN 'FAILED' ELSE 'CANCELLED' END"
    " WHERE id = $1";
static const char CANCEL_TASKS[] =
    "UPDATE ing_task SET status_code = 'CANCELLED', updated_at = $2, finished_at = $2"
    " WHERE plan_id = $1 AND status_code = 'QUEUED'";
static const char CANCEL_SLICES[] =
    "UPDATE ing_plan_slice s SET status_code = 'CANCELLED', updated_at = $2"
    " WHERE plan_id = $1 AND status_code IN ('PENDING', 'READY')"
    "   AND NOT EXISTS (SELECT 1 FROM ing_task t WHERE t.slice_id = s.id"
    "                                              AND t.status_code <> 'CANCELLED')";

static bool run_cancel(struct postgres_store *postgres, const char *sql, int64_t id, int64_t now_us,
                       int64_t *changes, struct error *err)
{
    struct query q;

    query_init(&q, postgres, sql);
    set_i64(&q, CANCEL_ID, id);
    set_time(&q, CANCEL_NOW, now_us);
    return query_run(&q, changes, err) || error_wrap(err, "cancel plan %" PRId64, id);
}

static bool plan_cancel(struct store *store, int64_t id, int64_t now_us, int64_t *cancelled,
                        struct error *err)
{
    struct postgres_store *postgres = postgres_store_of(store);
    int64_t changes;

    if (!run_cancel(postgres, CANCEL_PLAN, id, now_us, &changes, err))
        return false;
    if (changes != 1)
        return error_set(err, ERROR_REQUEST, "store.value", "no plan %" PRId64, id);
    return run_cancel(postgres, CANCEL_TASKS, id, now_us, cancelled, err) &&
           run_cancel(postgres, CANCEL_SLICES, id, now_us, &changes, err);
}

const struct store_plan_ops POSTGRES_PLAN = {
    .add = plan_add,
    .move = plan_move,
    .get = plan_get,
    .list = plan_list,
    .progress = plan_progress,
    .cancel = plan_cancel,
    .slice_add = postgres_slice_add,
    .slice_move = postgres_slice_move,
    .slice_get = postgres_slice_get,
    .slice_list = postgres_slice_list,
};
