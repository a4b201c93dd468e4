#include <inttypes.h>

#include "adapter/postgres/batch_repo.h"
#include "adapter/postgres/listed_repo.h"
#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"

enum { COUNT_TASK = 1 };
static const char COUNT[] = "UPDATE ing_task SET attempt_count = attempt_count + 1 WHERE id = $1"
                            " RETURNING attempt_count";

/* What a run is added with and saved with alike has the first places. */
enum {
    STATE_STATUS = 1,
    STATE_REASON,
    STATE_CHECKPOINT,
    STATE_STATS,
    STATE_ERROR,
    STATE_FINISHED,
    STATE_END,
};

static void set_state(struct query *q, const struct run *run)
{
    set_code(q, STATE_STATUS, &RUN_STATUS_CODES, (int)run->status);
    set_code_opt(q, STATE_REASON, run->has_reason, &PARTIAL_REASON_CODES, (int)run->reason);
    set_text_opt(q, STATE_CHECKPOINT, run->checkpoint.len > 0, run->checkpoint);
    set_json(q, STATE_STATS, run->stats);
    set_text(q, STATE_ERROR, run->error);
    set_time_opt(q, STATE_FINISHED, run->finished_us != 0, run->finished_us);
}

enum {
    ADD_TASK = STATE_END,
    ADD_ATTEMPT,
    ADD_SOURCE,
    ADD_OPERATION,
    ADD_OWNER,
    ADD_EPOCH,
    ADD_WINDOW, /* two places */
    ADD_STARTED = ADD_WINDOW + 2,
};
static const char ADD[] =
    "INSERT INTO ing_task_run (status_code, partial_reason_code, checkpoint, stats, error,"
    " finished_at, task_id, attempt_no, provenance_code, operation_code, lease_owner,"
    " lease_epoch, window_from, window_to, started_at, updated_at)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15)"
    " RETURNING id";

static bool count_attempt(struct postgres_store *postgres, struct run *run, struct error *err)
{
    struct query q;

    run->attempt = 0;
    query_init(&q, postgres, COUNT);
    set_i64(&q, COUNT_TASK, run->task_id);
    if (!rows_only_i64(&q.rows, &run->attempt, err))
        return false;
    return run->attempt > 0 ||
           error_set(err, ERROR_REQUEST, "store.constraint", "no task %" PRId64, run->task_id);
}

static bool run_add(struct store *store, struct run *run, struct error *err)
{
    struct query q;

    if (!count_attempt(postgres_store_of(store), run, err))
        return false;
    query_init(&q, postgres_store_of(store), ADD);
    set_state(&q, run);
    set_i64(&q, ADD_TASK, run->task_id);
    set_i64(&q, ADD_ATTEMPT, run->attempt);
    set_text(&q, ADD_SOURCE, run->source);
    set_code(&q, ADD_OPERATION, &OPERATION_CODES, (int)run->operation);
    set_text(&q, ADD_OWNER, run->lease_owner);
    set_i64(&q, ADD_EPOCH, run->lease_epoch);
    set_window(&q, ADD_WINDOW, run->window);
    set_time(&q, ADD_STARTED, run->started_us);
    return rows_only_i64(&q.rows, &run->id, err) ||
           error_wrap(err, "add a run of task %" PRId64, run->task_id);
}

enum { SAVE_NOW = STATE_END, SAVE_ID };
static const char SAVE[] =
    "UPDATE ing_task_run SET status_code = $1, partial_reason_code = $2, checkpoint = $3,"
    " stats = $4, error = $5, finished_at = $6, updated_at = $7"
    " WHERE id = $8 AND status_code IN ('PLANNED', 'RUNNING')";

static bool run_save(struct store *store, const struct run *run, int64_t now_us, bool *saved,
                     struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), SAVE);
    set_state(&q, run);
    set_time(&q, SAVE_NOW, now_us);
    set_i64(&q, SAVE_ID, run->id);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "save run %" PRId64, run->id);
    *saved = changes == 1;
    return true;
}

enum { LIST_TASK = 1 };
static const char LIST[] =
    "SELECT " RUN_COLUMNS " FROM ing_task_run AS run WHERE task_id = $1 ORDER BY attempt_no";

static bool run_list(struct store *store, struct arena *arena, int64_t task_id,
                     struct run_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LIST);
    set_i64(&q, LIST_TASK, task_id);
    return read_runs(&q.rows, arena, list, err) ||
           error_wrap(err, "runs of task %" PRId64, task_id);
}

enum { RECENT_SOURCE = 1, RECENT_OPERATION, RECENT_ENDPOINT, RECENT_LIMIT };
static const char RECENT[] =
    "SELECT " RUN_COLUMNS
    " FROM ing_task_run AS run WHERE provenance_code = $1 AND operation_code = $2"
    "  AND status_code = 'SUCCEEDED' AND attempt_no = 1 AND window_from IS NOT NULL"
    "  AND EXISTS (SELECT 1 FROM ing_task AS task WHERE task.id = run.task_id"
    "    AND task.endpoint_name = $3 AND task.ids_from IS NULL)"
    " ORDER BY started_at DESC, id DESC LIMIT $4";

static bool run_recent(struct store *store, struct arena *arena, const struct task_partition *of,
                       int64_t limit, struct run_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), RECENT);
    set_text(&q, RECENT_SOURCE, of->source);
    set_code(&q, RECENT_OPERATION, &OPERATION_CODES, (int)of->operation);
    set_text(&q, RECENT_ENDPOINT, of->endpoint);
    set_i64(&q, RECENT_LIMIT, limit);
    return read_runs(&q.rows, arena, list, err) ||
           error_wrap(err, "recent runs of %.*s", STR_ARG(of->source));
}

const struct store_run_ops POSTGRES_RUN = {
    .add = run_add,
    .save = run_save,
    .list = run_list,
    .recent = run_recent,
    .batch_add = postgres_batch_add,
    .batch_last = postgres_batch_last,
    .batch_list = postgres_batch_list,
    .listed_add = postgres_listed_add,
    .listed_list = postgres_listed_list,
};
