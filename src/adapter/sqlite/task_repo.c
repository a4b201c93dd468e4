#include <inttypes.h>

#include "adapter/sql/read.h"
#include "adapter/sqlite/sqlite.h"

#define ADD_HEAD                                                                       \
    "INSERT INTO ing_task (schedule_instance_id, plan_id, slice_id, provenance_code,"  \
    " endpoint_name, operation_code, credential_id, cursor_key, namespace_scope_code," \
    " namespace_key, window_from, window_to, ids_from, ids_to, params, expr_hash,"     \
    " idempotent_key, status_code, priority, scheduled_at, created_at, updated_at) VALUES "
#define ADD_ROW "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,'QUEUED',?,?,?,?)"
#define ADD_TAIL " ON CONFLICT (idempotent_key) DO NOTHING"
enum { ADD_ROWS = 100 };
static const char ADD_ONE[] = ADD_HEAD ADD_ROW ADD_TAIL;
static const char ADD_MANY[] = ADD_HEAD SQL_ROWS_100(ADD_ROW) ADD_TAIL;

static void put_task(struct many *row, const struct task *task)
{
    many_i64(row, task->schedule_instance_id);
    many_i64(row, task->plan_id);
    many_i64(row, task->slice_id);
    many_text(row, task->source);
    many_text(row, task->endpoint);
    many_code(row, &OPERATION_CODES, (int)task->operation);
    many_text(row, task->credential);
    many_text(row, task->cursor_key);
    many_code(row, &NAMESPACE_SCOPE_CODES, (int)task->scope);
    many_text(row, task->namespace_key);
    many_window(row, task->window);
    many_id_range(row, task->ids);
    many_text(row, task->params);
    many_text(row, task->expr_hash);
    many_text(row, task->idempotent_key);
    many_i64(row, task->priority);
    many_i64(row, task->scheduled_us);
    many_i64(row, task->created_us);
    many_i64(row, task->created_us);
}

/* `count` is one, or ADD_ROWS. */
static bool add_tasks(struct sqlite_store *sqlite, const struct task *tasks, size_t count,
                      int64_t *added, struct error *err)
{
    struct statement *st = statement_of(sqlite, count == 1 ? ADD_ONE : ADD_MANY);
    struct many row = { .st = st };

    for (size_t i = 0; i < count; i++)
        put_task(&row, &tasks[i]);
    if (!statement_run(st, err))
        return error_wrap(err, "add task %.*s", STR_ARG(tasks[0].idempotent_key));
    *added += statement_changes(st);
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
        n = count - i >= ADD_ROWS ? ADD_ROWS : 1;
        ok = add_tasks(sqlite_store_of(store), &tasks[i], n, added, err);
    }
    return store_leave(store, alone, ok, err);
}

static const char GET[] = "SELECT " TASK_COLUMNS " FROM ing_task WHERE id = :id";

static bool task_get(struct store *store, struct arena *arena, int64_t id, struct task *task,
                     bool *found, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), GET);

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
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    bind_i64(st, ":after", filter->after_id);
    bind_i64(st, ":plan", filter->plan_id);
    bind_text(st, ":source", filter->source);
    if (filter->has_status)
        bind_code(st, ":status", &TASK_STATUS_CODES, (int)filter->status);
    bind_i64(st, ":limit", filter->limit);
    return read_tasks(&st->rows, arena, list, err) || error_wrap(err, "list tasks");
}

static const char QUEUED[] =
    "SELECT count(*) FROM ing_task WHERE status_code = 'QUEUED' AND provenance_code = :source"
    "   AND endpoint_name = :endpoint AND operation_code = :operation";

static bool task_queued(struct store *store, const struct task_partition *partition, int64_t *count,
                        struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), QUEUED);

    bind_text(st, ":source", partition->source);
    bind_text(st, ":endpoint", partition->endpoint);
    bind_code(st, ":operation", &OPERATION_CODES, (int)partition->operation);
    return rows_only_i64(&st->rows, count, err);
}

/* In two parts, each by an index of live tasks alone. */
#define OF_PARTITION                                               \
    " AND provenance_code = :source AND endpoint_name = :endpoint" \
    " AND operation_code = :operation AND id > :after"
static const char LIVE[] =
    "SELECT " TASK_COLUMNS " FROM ing_task WHERE status_code = 'QUEUED'" OF_PARTITION " UNION ALL "
    "SELECT " TASK_COLUMNS " FROM ing_task"
    " WHERE status_code IN ('DISPATCHED', 'EXECUTING')" OF_PARTITION " ORDER BY id LIMIT :limit";

static bool task_live(struct store *store, struct arena *arena,
                      const struct task_partition *partition, int64_t after_id, int64_t limit,
                      struct task_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIVE);

    bind_text(st, ":source", partition->source);
    bind_text(st, ":endpoint", partition->endpoint);
    bind_code(st, ":operation", &OPERATION_CODES, (int)partition->operation);
    bind_i64(st, ":after", after_id);
    bind_i64(st, ":limit", limit);
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

static const char COVERAGE[] = "SELECT " COVERAGE_COLUMNS " FROM ing_task" OF_NAMESPACE
                               " AND window_to > :after AND window_to IS NOT NULL";

static bool task_coverage(struct store *store, struct arena *arena,
                          const struct coverage_namespace *of, int64_t after_us,
                          struct coverage_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), COVERAGE);

    bind_namespace(st, of);
    bind_i64(st, ":after", after_us);
    return read_coverage(&st->rows, arena, of, after_us, list, err) ||
           error_wrap(err, "list coverage");
}

static const char COVERAGE_TASKS[] =
    "SELECT " TASK_COLUMNS " FROM ing_task" OF_NAMESPACE
    " AND window_to > :from AND window_to IS NOT NULL AND window_from < :to"
    " ORDER BY id DESC LIMIT :limit";

static bool coverage_tasks(struct store *store, struct arena *arena,
                           const struct coverage_namespace *of, struct window window, int64_t limit,
                           struct task_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), COVERAGE_TASKS);

    bind_namespace(st, of);
    bind_i64(st, ":from", window.from_us);
    bind_i64(st, ":to", window.to_us);
    bind_i64(st, ":limit", limit);
    return read_tasks(&st->rows, arena, list, err) || error_wrap(err, "list tasks of a window");
}

static const char COVERAGE_RESET[] =
    "UPDATE ing_task SET reset_at = :now, updated_at = :now" OF_NAMESPACE
    "   AND reset_at IS NULL AND (status_code <> 'QUEUED' OR attempt_count > 0)"
    "   AND (window_to > :after OR window_to IS NULL AND EXISTS (SELECT 1 FROM ing_plan"
    "        WHERE ing_plan.id = ing_task.plan_id AND ing_plan.window_to > :after))";

static bool coverage_reset(struct store *store, const struct coverage_namespace *of,
                           int64_t after_us, int64_t now_us, int64_t *count, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), COVERAGE_RESET);

    bind_namespace(st, of);
    bind_i64(st, ":after", after_us);
    bind_i64(st, ":now", now_us);
    if (!statement_run(st, err))
        return error_wrap(err, "reset coverage of %.*s", STR_ARG(of->source));
    *count = statement_changes(st);
    return true;
}

const struct store_task_ops SQLITE_TASK = {
    .add = task_add,
    .get = task_get,
    .list = task_list,
    .queued = task_queued,
    .live = task_live,
    .coverage = task_coverage,
    .coverage_tasks = coverage_tasks,
    .coverage_reset = coverage_reset,
};
