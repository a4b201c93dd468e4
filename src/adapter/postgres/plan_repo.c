#include <inttypes.h>

#include "adapter/postgres/postgres.h"
#include "adapter/postgres/slice_repo.h"

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
    if (query_row(&q))
        *id = get_i64(&q, 0);
    return query_finish(&q, err) || error_wrap(err, "add a plan");
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

#define COLUMNS                                                                             \
    "id, schedule_instance_id, provenance_code, endpoint_name, operation_code, cursor_key," \
    " namespace_scope_code, namespace_key, window_from, window_to, expr_proto_hash,"        \
    " spec_fingerprint, status_code, record_remarks, created_at, updated_at"
enum {
    COL_ID,
    COL_SCHEDULE_INSTANCE_ID,
    COL_SOURCE,
    COL_ENDPOINT,
    COL_OPERATION,
    COL_CURSOR_KEY,
    COL_SCOPE,
    COL_NAMESPACE_KEY,
    COL_WINDOW, /* two columns */
    COL_EXPR_PROTO_HASH = COL_WINDOW + 2,
    COL_SPEC_FINGERPRINT,
    COL_STATUS,
    COL_REMARKS,
    COL_CREATED,
    COL_UPDATED,
    COL_EXPR_PROTO_SNAPSHOT, /* not in lists */
};

static void read_plan(struct query *q, struct arena *arena, struct plan *plan)
{
    *plan = (struct plan){ .id = get_i64(q, COL_ID) };
    plan->schedule_instance_id = get_i64(q, COL_SCHEDULE_INSTANCE_ID);
    plan->source = get_text(q, COL_SOURCE, arena);
    plan->endpoint = get_text(q, COL_ENDPOINT, arena);
    plan->operation = (enum operation)get_code(q, COL_OPERATION, &OPERATION_CODES);
    plan->cursor_key = get_text(q, COL_CURSOR_KEY, arena);
    plan->scope = (enum namespace_scope)get_code(q, COL_SCOPE, &NAMESPACE_SCOPE_CODES);
    plan->namespace_key = get_text(q, COL_NAMESPACE_KEY, arena);
    plan->window = get_window(q, COL_WINDOW);
    plan->expr_proto_hash = get_text(q, COL_EXPR_PROTO_HASH, arena);
    plan->spec_fingerprint = get_text(q, COL_SPEC_FINGERPRINT, arena);
    plan->status = (enum plan_status)get_code(q, COL_STATUS, &PLAN_STATUS_CODES);
    plan->remarks = get_text(q, COL_REMARKS, arena);
    plan->created_us = get_i64(q, COL_CREATED);
    plan->updated_us = get_i64(q, COL_UPDATED);
}

enum { GET_ID = 1 };
static const char GET[] = "SELECT " COLUMNS ", expr_proto_snapshot FROM ing_plan WHERE id = $1";

static bool plan_get(struct store *store, struct arena *arena, int64_t id, struct plan *plan,
                     bool *found, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), GET);
    set_i64(&q, GET_ID, id);
    *found = query_row(&q);
    if (*found) {
        read_plan(&q, arena, plan);
        plan->expr_proto_snapshot = get_text(&q, COL_EXPR_PROTO_SNAPSHOT, arena);
    }
    return query_finish(&q, err);
}

enum { LIST_SOURCE = 1, LIST_OPERATION, LIST_STATUS, LIST_BEFORE, LIST_LIMIT };
static const char LIST[] = "SELECT " COLUMNS " FROM ing_plan"
                           " WHERE $1 IN ('', provenance_code)"
                           "   AND ($2 IS NULL OR operation_code = $2)"
                           "   AND ($3 IS NULL OR status_code = $3)"
                           "   AND ($4 = 0 OR id < $4)"
                           " ORDER BY id DESC LIMIT $5";

static bool plan_list(struct store *store, struct arena *arena, const struct plan_filter *filter,
                      struct plan_list *list, struct error *err)
{
    struct query q;

    *list = (struct plan_list){ 0 };
    query_init(&q, postgres_store_of(store), LIST);
    set_text(&q, LIST_SOURCE, filter->source);
    set_code_opt(&q, LIST_OPERATION, filter->has_operation, &OPERATION_CODES,
                 (int)filter->operation);
    set_code_opt(&q, LIST_STATUS, filter->has_status, &PLAN_STATUS_CODES, (int)filter->status);
    set_i64(&q, LIST_BEFORE, filter->before_id);
    set_i64(&q, LIST_LIMIT, filter->limit);
    while (query_row(&q)) {
        struct plan *plan = LIST_ADD(arena, list);

        if (plan == NULL) {
            q.full = arena;
            break;
        }
        read_plan(&q, arena, plan);
    }
    return query_finish(&q, err) || error_wrap(err, "list plans");
}

enum { PROGRESS_PLAN = 1 };
static const char SLICES[] = "SELECT count(*) FROM ing_plan_slice WHERE plan_id = $1";
static const char TASKS[] =
    "SELECT status_code, count(*) FROM ing_task WHERE plan_id = $1 GROUP BY status_code";
enum { TASKS_STATUS, TASKS_COUNT };

static bool plan_progress(struct store *store, int64_t id, struct plan_progress *progress,
                          struct error *err)
{
    struct query q;

    *progress = (struct plan_progress){ 0 };
    query_init(&q, postgres_store_of(store), SLICES);
    set_i64(&q, PROGRESS_PLAN, id);
    if (query_row(&q))
        progress->slices = get_i64(&q, 0);
    if (!query_finish(&q, err))
        return false;
    query_init(&q, postgres_store_of(store), TASKS);
    set_i64(&q, PROGRESS_PLAN, id);
    while (query_row(&q))
        progress->tasks[get_code(&q, TASKS_STATUS, &TASK_STATUS_CODES)] = get_i64(&q, TASKS_COUNT);
    return query_finish(&q, err);
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
