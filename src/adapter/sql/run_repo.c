/* Runs of tasks. */
#include <inttypes.h>

#include "adapter/sql/batch_repo.h"
#include "adapter/sql/listed_repo.h"
#include "adapter/sql/session.h"
#include "port/store_run.h"

#define RUN_COLUMNS                                                                        \
    "id, task_id, attempt_no, provenance_code, operation_code, lease_owner, lease_epoch,"  \
    " status_code, partial_reason_code, window_from, window_to, checkpoint, stats, error," \
    " started_at, finished_at"

static void read_run(struct rows *rows, struct arena *arena, struct run *run)
{
    run->id = rows_i64(rows);
    run->task_id = rows_i64(rows);
    run->attempt = rows_i64(rows);
    run->source = rows_text(rows, arena);
    run->operation = (enum operation)rows_code(rows, &OPERATION_CODES);
    run->lease_owner = rows_text(rows, arena);
    run->lease_epoch = rows_i64(rows);
    run->status = (enum run_status)rows_code(rows, &RUN_STATUS_CODES);
    run->reason = (enum partial_reason)rows_code_opt(rows, &PARTIAL_REASON_CODES, &run->has_reason);
    run->window = rows_window(rows);
    run->checkpoint = rows_text(rows, arena);
    run->stats = rows_text(rows, arena);
    run->error = rows_text(rows, arena);
    run->started_us = rows_i64(rows);
    run->finished_us = rows_i64(rows);
}

static bool read_runs(struct rows *rows, struct arena *arena, struct run_list *list,
                      struct error *err)
{
    struct run *run;

    *list = (struct run_list){ 0 };
    while ((run = ROWS_NEXT(rows, arena, list)) != NULL)
        read_run(rows, arena, run);
    return rows_finish(rows, err);
}

static const char COUNT[] = "UPDATE ing_task SET attempt_count = attempt_count + 1 WHERE id = :task"
                            " RETURNING attempt_count";

static const char ADD[] =
    "INSERT INTO ing_task_run (task_id, attempt_no, provenance_code, operation_code, lease_owner,"
    " lease_epoch, status_code, partial_reason_code, window_from, window_to, checkpoint, stats,"
    " error, started_at, finished_at, updated_at)"
    " VALUES (:task, :attempt, :source, :operation, :owner, :epoch, :status, :reason,"
    " :window_from, :window_to, :checkpoint, :stats, :error, :started, :finished, :started)"
    " RETURNING id";

/* What both ADD and SAVE write. */
static void bind_state(struct statement *st, const struct run *run)
{
    bind_code(st, ":status", &RUN_STATUS_CODES, (int)run->status);
    bind_code_opt(st, ":reason", run->has_reason, &PARTIAL_REASON_CODES, (int)run->reason);
    bind_text_opt(st, ":checkpoint", run->checkpoint.len > 0, run->checkpoint);
    bind_json(st, ":stats", run->stats);
    bind_text(st, ":error", run->error);
    bind_instant_opt(st, ":finished", run->finished_us != 0, run->finished_us);
}

static bool count_attempt(struct store *store, struct run *run, struct error *err)
{
    struct statement *st = statement_of(store, COUNT);

    run->attempt = 0;
    bind_i64(st, ":task", run->task_id);
    if (!rows_only_i64(&st->rows, &run->attempt, err))
        return false;
    return run->attempt > 0 || error_set(err, ERROR_REQUEST, "store.constraint",
                                         "there is no task %" PRId64, run->task_id);
}

static bool run_add(struct store *store, struct run *run, struct error *err)
{
    struct statement *st;

    if (!count_attempt(store, run, err))
        return false;
    st = statement_of(store, ADD);
    bind_i64(st, ":task", run->task_id);
    bind_i64(st, ":attempt", run->attempt);
    bind_text(st, ":source", run->source);
    bind_code(st, ":operation", &OPERATION_CODES, (int)run->operation);
    bind_text(st, ":owner", run->lease_owner);
    bind_i64(st, ":epoch", run->lease_epoch);
    bind_window(st, ":window_from", ":window_to", run->window);
    bind_instant(st, ":started", run->started_us);
    bind_state(st, run);
    return rows_only_i64(&st->rows, &run->id, err) ||
           error_wrap(err, "add a run of task %" PRId64, run->task_id);
}

static const char SAVE[] =
    "UPDATE ing_task_run SET status_code = :status, partial_reason_code = :reason,"
    " checkpoint = :checkpoint, stats = :stats, error = :error, finished_at = :finished,"
    " updated_at = :now WHERE id = :id AND status_code IN ('PLANNED', 'RUNNING')";

static bool run_save(struct store *store, const struct run *run, int64_t now_us, bool *saved,
                     struct error *err)
{
    struct statement *st = statement_of(store, SAVE);

    bind_state(st, run);
    bind_instant(st, ":now", now_us);
    bind_i64(st, ":id", run->id);
    return statement_changed(st, saved, err) || error_wrap(err, "save run %" PRId64, run->id);
}

static const char LIST[] =
    "SELECT " RUN_COLUMNS " FROM ing_task_run AS run WHERE task_id = :task ORDER BY attempt_no";

static bool run_list(struct store *store, struct arena *arena, int64_t task_id,
                     struct run_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LIST);

    bind_i64(st, ":task", task_id);
    return read_runs(&st->rows, arena, list, err) ||
           error_wrap(err, "list runs of task %" PRId64, task_id);
}

static const char RECENT[] =
    "SELECT " RUN_COLUMNS
    " FROM ing_task_run AS run WHERE provenance_code = :source AND operation_code = :operation"
    "  AND status_code = 'SUCCEEDED' AND attempt_no = 1 AND window_from IS NOT NULL"
    "  AND EXISTS (SELECT 1 FROM ing_task AS task WHERE task.id = run.task_id"
    "    AND task.endpoint_name = :endpoint AND task.ids_from IS NULL)"
    " ORDER BY started_at DESC, id DESC LIMIT :limit";

static bool run_recent(struct store *store, struct arena *arena, const struct task_partition *of,
                       int64_t limit, struct run_list *list, struct error *err)
{
    struct statement *st = statement_of(store, RECENT);

    bind_text(st, ":source", of->source);
    bind_code(st, ":operation", &OPERATION_CODES, (int)of->operation);
    bind_text(st, ":endpoint", of->endpoint);
    bind_i64(st, ":limit", limit);
    return read_runs(&st->rows, arena, list, err) ||
           error_wrap(err, "list recent runs of %.*s", STR_ARG(of->source));
}

const struct store_run_ops SQL_RUN = {
    .add = run_add,
    .save = run_save,
    .list = run_list,
    .recent = run_recent,
    .batch_add = batch_add,
    .batch_last = batch_last,
    .batch_list = batch_list,
    .listed_add = listed_add,
    .listed_list = listed_list,
};
