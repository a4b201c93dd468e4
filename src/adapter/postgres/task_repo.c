#include <inttypes.h>

#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"

/* What the tasks of one plan have in common is sent once; for each element of an array, unnest()
 * makes and reads a row. */
enum {
    ADD_SCHEDULE_INSTANCE = 1,
    ADD_PLAN,
    ADD_SOURCE,
    ADD_ENDPOINT,
    ADD_OPERATION,
    ADD_CREDENTIAL,
    ADD_CURSOR_KEY,
    ADD_SCOPE,
    ADD_NAMESPACE_KEY,
    ADD_PRIORITY,
    ADD_CREATED,
    ADD_SLICE, /* arrays from here on */
    ADD_WINDOW_FROM,
    ADD_WINDOW_TO,
    ADD_IDS_FROM,
    ADD_IDS_TO,
    ADD_PARAMS,
    ADD_EXPR_HASH,
    ADD_IDEMPOTENT_KEY,
    ADD_SCHEDULED,
    ADD_END,
};
/* In the order of the keys: two planners adding the same tasks meet one by one, not crosswise. */
static const char ADD[] =
    "INSERT INTO ing_task (schedule_instance_id, plan_id, provenance_code, endpoint_name,"
    " operation_code, credential_id, cursor_key, namespace_scope_code, namespace_key, priority,"
    " created_at, updated_at, status_code, slice_id, window_from, window_to, ids_from, ids_to,"
    " params, expr_hash, idempotent_key, scheduled_at)"
    " SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, 'QUEUED', r.*"
    "   FROM unnest($12, $13, $14, $15, $16, $17, $18, $19, $20) AS r (slice, window_from,"
    "        window_to, ids_from, ids_to, params, expr_hash, idempotent_key, scheduled)"
    "  ORDER BY idempotent_key COLLATE \"C\""
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

static void fill_arrays(struct array *arrays, const struct task *task)
{
    const bool has_window = window_is_valid(task->window);
    const bool has_ids = id_range_is_valid(task->ids);

    array_add_i64(&arrays[ADD_SLICE], task->slice_id);
    array_add_i64_opt(&arrays[ADD_WINDOW_FROM], has_window, task->window.from_us);
    array_add_i64_opt(&arrays[ADD_WINDOW_TO], has_window, task->window.to_us);
    array_add_i64_opt(&arrays[ADD_IDS_FROM], has_ids, task->ids.from);
    array_add_i64_opt(&arrays[ADD_IDS_TO], has_ids, task->ids.to);
    array_add_text(&arrays[ADD_PARAMS], task->params);
    array_add_text(&arrays[ADD_EXPR_HASH], task->expr_hash);
    array_add_text(&arrays[ADD_IDEMPOTENT_KEY], task->idempotent_key);
    array_add_i64(&arrays[ADD_SCHEDULED], task->scheduled_us);
}

static void set_common(struct query *q, const struct task *task)
{
    set_i64(q, ADD_SCHEDULE_INSTANCE, task->schedule_instance_id);
    set_i64(q, ADD_PLAN, task->plan_id);
    set_text(q, ADD_SOURCE, task->source);
    set_text(q, ADD_ENDPOINT, task->endpoint);
    set_code(q, ADD_OPERATION, &OPERATION_CODES, (int)task->operation);
    set_text(q, ADD_CREDENTIAL, task->credential);
    set_text(q, ADD_CURSOR_KEY, task->cursor_key);
    set_code(q, ADD_SCOPE, &NAMESPACE_SCOPE_CODES, (int)task->scope);
    set_text(q, ADD_NAMESPACE_KEY, task->namespace_key);
    set_i64(q, ADD_PRIORITY, task->priority);
    set_time(q, ADD_CREATED, task->created_us);
}

/* They are all alike. */
static bool add_tasks(struct postgres_store *postgres, const struct task *tasks, size_t count,
                      int64_t *added, struct error *err)
{
    static const enum array_type TYPES[ADD_END] = {
        [ADD_SLICE] = ARRAY_I64,      [ADD_WINDOW_FROM] = ARRAY_TIME,
        [ADD_WINDOW_TO] = ARRAY_TIME, [ADD_IDS_FROM] = ARRAY_I64,
        [ADD_IDS_TO] = ARRAY_I64,     [ADD_PARAMS] = ARRAY_TEXT,
        [ADD_EXPR_HASH] = ARRAY_TEXT, [ADD_IDEMPOTENT_KEY] = ARRAY_TEXT,
        [ADD_SCHEDULED] = ARRAY_TIME,
    };
    struct array arrays[ADD_END];
    struct query q;
    int64_t changes = 0;

    for (int i = ADD_SLICE; i < ADD_END; i++)
        array_init(&arrays[i], &postgres->scratch, TYPES[i]);
    for (size_t i = 0; i < count; i++)
        fill_arrays(arrays, &tasks[i]);
    query_init(&q, postgres, ADD);
    set_common(&q, &tasks[0]);
    for (int i = ADD_SLICE; i < ADD_END; i++)
        set_array(&q, i, &arrays[i]);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "add %zu tasks", count);
    *added += changes;
    return true;
}

/* Many statements are one transaction, the caller's or its own. */
static bool task_add(struct store *store, const struct task *tasks, size_t count, int64_t *added,
                     struct error *err)
{
    bool alone, ok = true;

    *added = 0;
    if (!store_enter(store, &alone, err))
        return false;
    for (size_t i = 0, n; i < count && ok; i += n) {
        for (n = 1; i + n < count && is_alike(&tasks[i], &tasks[i + n]);)
            n++;
        ok = add_tasks(postgres_store_of(store), &tasks[i], n, added, err);
    }
    return store_leave(store, alone, ok, err);
}

enum { GET_ID = 1 };
static const char GET[] = "SELECT " TASK_COLUMNS " FROM ing_task WHERE id = $1";

static bool task_get(struct store *store, struct arena *arena, int64_t id, struct task *task,
                     bool *found, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), GET);
    set_i64(&q, GET_ID, id);
    *found = rows_next(&q.rows);
    if (*found)
        read_task(&q.rows, arena, task);
    return rows_finish(&q.rows, err);
}

enum { LIST_AFTER = 1, LIST_PLAN, LIST_SOURCE, LIST_STATUS, LIST_LIMIT };
static const char LIST[] = "SELECT " TASK_COLUMNS " FROM ing_task"
                           " WHERE id > $1"
                           "   AND ($2 = 0 OR plan_id = $2)"
                           "   AND $3 IN ('', provenance_code)"
                           "   AND ($4 IS NULL OR status_code = $4)"
                           " ORDER BY id LIMIT $5";

static bool task_list(struct store *store, struct arena *arena, const struct task_filter *filter,
                      struct task_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LIST);
    set_i64(&q, LIST_AFTER, filter->after_id);
    set_i64(&q, LIST_PLAN, filter->plan_id);
    set_text(&q, LIST_SOURCE, filter->source);
    set_code_opt(&q, LIST_STATUS, filter->has_status, &TASK_STATUS_CODES, (int)filter->status);
    set_i64(&q, LIST_LIMIT, filter->limit);
    return read_tasks(&q.rows, arena, list, err) || error_wrap(err, "list tasks");
}

enum { QUEUED_SOURCE = 1, QUEUED_ENDPOINT, QUEUED_OPERATION };
static const char QUEUED[] =
    "SELECT count(*) FROM ing_task WHERE status_code = 'QUEUED' AND provenance_code = $1"
    "   AND endpoint_name = $2 AND operation_code = $3";

static bool task_queued(struct store *store, const struct task_partition *partition, int64_t *count,
                        struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), QUEUED);
    set_text(&q, QUEUED_SOURCE, partition->source);
    set_text(&q, QUEUED_ENDPOINT, partition->endpoint);
    set_code(&q, QUEUED_OPERATION, &OPERATION_CODES, (int)partition->operation);
    return rows_only_i64(&q.rows, count, err);
}

/* In two parts, each by an index of live tasks alone. */
enum { LIVE_SOURCE = 1, LIVE_ENDPOINT, LIVE_OPERATION, LIVE_AFTER, LIVE_LIMIT };
#define OF_PARTITION \
    " AND provenance_code = $1 AND endpoint_name = $2 AND operation_code = $3 AND id > $4"
static const char LIVE[] =
    "SELECT " TASK_COLUMNS " FROM ing_task WHERE status_code = 'QUEUED'" OF_PARTITION " UNION ALL "
    "SELECT " TASK_COLUMNS
    " FROM ing_task WHERE status_code IN ('DISPATCHED', 'EXECUTING')" OF_PARTITION
    " ORDER BY id LIMIT $5";

static bool task_live(struct store *store, struct arena *arena,
                      const struct task_partition *partition, int64_t after_id, int64_t limit,
                      struct task_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LIVE);
    set_text(&q, LIVE_SOURCE, partition->source);
    set_text(&q, LIVE_ENDPOINT, partition->endpoint);
    set_code(&q, LIVE_OPERATION, &OPERATION_CODES, (int)partition->operation);
    set_i64(&q, LIVE_AFTER, after_id);
    set_i64(&q, LIVE_LIMIT, limit);
    return read_tasks(&q.rows, arena, list, err) || error_wrap(err, "list live tasks");
}

/* Where a namespace is named, it has the first six places. */
enum {
    OF_SOURCE = 1,
    OF_ENDPOINT,
    OF_OPERATION,
    OF_CURSOR_KEY,
    OF_SCOPE,
    OF_NAMESPACE_KEY,
    OF_END,
};
#define OF_NAMESPACE                                                             \
    " WHERE provenance_code = $1 AND endpoint_name = $2 AND operation_code = $3" \
    "   AND cursor_key = $4 AND namespace_scope_code = $5 AND namespace_key = $6"

static void set_namespace(struct query *q, const struct coverage_namespace *of)
{
    set_text(q, OF_SOURCE, of->source);
    set_text(q, OF_ENDPOINT, of->endpoint);
    set_code(q, OF_OPERATION, &OPERATION_CODES, (int)of->operation);
    set_text(q, OF_CURSOR_KEY, of->cursor_key);
    set_code(q, OF_SCOPE, &NAMESPACE_SCOPE_CODES, (int)of->scope);
    set_text(q, OF_NAMESPACE_KEY, of->namespace_key);
}

enum { COVERAGE_AFTER = OF_END };
static const char COVERAGE[] = "SELECT " COVERAGE_COLUMNS " FROM ing_task" OF_NAMESPACE
                               " AND window_to > $7 AND window_to IS NOT NULL";

static bool task_coverage(struct store *store, struct arena *arena,
                          const struct coverage_namespace *of, int64_t after_us,
                          struct coverage_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), COVERAGE);
    set_namespace(&q, of);
    set_time(&q, COVERAGE_AFTER, after_us);
    return read_coverage(&q.rows, arena, of, after_us, list, err) ||
           error_wrap(err, "list coverage");
}

enum { TASKS_FROM = OF_END, TASKS_TO, TASKS_LIMIT };
static const char COVERAGE_TASKS[] =
    "SELECT " TASK_COLUMNS " FROM ing_task" OF_NAMESPACE
    " AND window_to > $7 AND window_to IS NOT NULL AND window_from < $8"
    " ORDER BY id DESC LIMIT $9";

static bool coverage_tasks(struct store *store, struct arena *arena,
                           const struct coverage_namespace *of, struct window window, int64_t limit,
                           struct task_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), COVERAGE_TASKS);
    set_namespace(&q, of);
    set_time(&q, TASKS_FROM, window.from_us);
    set_time(&q, TASKS_TO, window.to_us);
    set_i64(&q, TASKS_LIMIT, limit);
    return read_tasks(&q.rows, arena, list, err) || error_wrap(err, "list tasks of a window");
}

enum { RESET_AFTER = OF_END, RESET_NOW };
static const char COVERAGE_RESET[] =
    "UPDATE ing_task SET reset_at = $8, updated_at = $8" OF_NAMESPACE
    "   AND reset_at IS NULL AND (status_code <> 'QUEUED' OR attempt_count > 0)"
    "   AND (window_to > $7 OR window_to IS NULL AND EXISTS (SELECT 1 FROM ing_plan"
    "        WHERE ing_plan.id = ing_task.plan_id AND ing_plan.window_to > $7))";

static bool coverage_reset(struct store *store, const struct coverage_namespace *of,
                           int64_t after_us, int64_t now_us, int64_t *count, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), COVERAGE_RESET);
    set_namespace(&q, of);
    set_time(&q, RESET_AFTER, after_us);
    set_time(&q, RESET_NOW, now_us);
    return query_run(&q, count, err) ||
           error_wrap(err, "reset coverage of %.*s", STR_ARG(of->source));
}

const struct store_task_ops POSTGRES_TASK = {
    .add = task_add,
    .get = task_get,
    .list = task_list,
    .queued = task_queued,
    .live = task_live,
    .coverage = task_coverage,
    .coverage_tasks = coverage_tasks,
    .coverage_reset = coverage_reset,
};
