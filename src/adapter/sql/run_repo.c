/* Runs of tasks, their batches, and the ids that phase one listed: store_run_ops. */
#include <inttypes.h>

#include "adapter/sql/session.h"
#include "port/store_run.h"

#define RUN_COLUMNS                                                                        \
    "id, task_id, attempt_no, provenance_code, operation_code, lease_owner, lease_epoch,"  \
    " status_code, partial_reason_code, window_from, window_to, checkpoint, stats, error," \
    " observed_max, started_at, finished_at"

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
    run->observed_max.is_set = !rows_is_null(rows);
    run->observed_max.at_us = rows_i64(rows);
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
    " error, observed_max, started_at, finished_at, updated_at)"
    " VALUES (:task, :attempt, :source, :operation, :owner, :epoch, :status, :reason,"
    " :window_from, :window_to, :checkpoint, :stats, :error, :observed, :started, :finished,"
    " :started)"
    " RETURNING id";

/* What both ADD and SAVE write. */
static void bind_state(struct statement *st, const struct run *run)
{
    bind_code(st, ":status", &RUN_STATUS_CODES, (int)run->status);
    bind_code_opt(st, ":reason", run->has_reason, &PARTIAL_REASON_CODES, (int)run->reason);
    bind_text_opt(st, ":checkpoint", run->checkpoint.len > 0, run->checkpoint);
    bind_json(st, ":stats", run->stats);
    bind_text(st, ":error", run->error);
    bind_instant_opt(st, ":observed", run->observed_max.is_set, run->observed_max.at_us);
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
    " checkpoint = :checkpoint, stats = :stats, error = :error, observed_max = :observed,"
    " finished_at = :finished, updated_at = :now"
    " WHERE id = :id AND status_code IN ('PLANNED', 'RUNNING')";

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

static const char STARTED[] =
    "SELECT " RUN_COLUMNS " FROM ing_task_run AS run"
    " WHERE provenance_code = :source AND operation_code = :operation"
    "   AND started_at >= :from AND started_at < :to ORDER BY started_at DESC LIMIT :limit";

static bool run_started(struct store *store, struct arena *arena, const struct run_period *period,
                        struct run_list *list, struct error *err)
{
    struct statement *st = statement_of(store, STARTED);

    bind_text(st, ":source", period->source);
    bind_code(st, ":operation", &OPERATION_CODES, (int)period->operation);
    bind_instant(st, ":from", period->from_us);
    bind_instant(st, ":to", period->to_us);
    bind_i64(st, ":limit", period->limit);
    return read_runs(&st->rows, arena, list, err) || error_wrap(err, "list runs of a period");
}

static const char GET[] = "SELECT " RUN_COLUMNS " FROM ing_task_run AS run WHERE id = :id";

static bool run_get(struct store *store, struct arena *arena, int64_t id, struct run *run,
                    bool *found, struct error *err)
{
    struct statement *st = statement_of(store, GET);

    bind_i64(st, ":id", id);
    *found = rows_next(&st->rows);
    if (*found)
        read_run(&st->rows, arena, run);
    return rows_finish(&st->rows, err) || error_wrap(err, "read run %" PRId64, id);
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

/* ---- batches ---- */

#define BATCH_COLUMNS                                                                        \
    "id, run_id, task_id, slice_id, plan_id, batch_no, page_no, page_size, before_token,"    \
    " after_token, expr_hash, idempotent_key, status_code, request_digest, response_digest," \
    " stats, has_next, created_at"

static void read_batch(struct rows *rows, struct arena *arena, struct batch *batch)
{
    batch->id = rows_i64(rows);
    batch->run_id = rows_i64(rows);
    batch->task_id = rows_i64(rows);
    batch->slice_id = rows_i64(rows);
    batch->plan_id = rows_i64(rows);
    batch->number = rows_i64(rows);
    batch->has_page = !rows_is_null(rows);
    batch->page_no = rows_i64(rows);
    batch->page_size = rows_i64(rows);
    batch->has_before = !rows_is_null(rows);
    batch->before_token = rows_text(rows, arena);
    batch->has_after = !rows_is_null(rows);
    batch->after_token = rows_text(rows, arena);
    batch->expr_hash = rows_text(rows, arena);
    batch->idempotent_key = rows_text(rows, arena);
    batch->status = (enum batch_status)rows_code(rows, &BATCH_STATUS_CODES);
    batch->request_digest = rows_text(rows, arena);
    batch->response_digest = rows_text(rows, arena);
    batch->stats = rows_text(rows, arena);
    batch->has_next = rows_bool(rows);
    batch->created_us = rows_i64(rows);
}

static bool read_batches(struct rows *rows, struct arena *arena, struct batch_list *list,
                         struct error *err)
{
    struct batch *batch;

    *list = (struct batch_list){ 0 };
    while ((batch = ROWS_NEXT(rows, arena, list)) != NULL)
        read_batch(rows, arena, batch);
    return rows_finish(rows, err);
}

static const char BATCH_ADD[] =
    "INSERT INTO ing_task_run_batch (run_id, task_id, slice_id, plan_id, batch_no, page_no,"
    " page_size, before_token, after_token, expr_hash, idempotent_key, status_code,"
    " request_digest, response_digest, stats, has_next, created_at, body_hash, request_input,"
    " items)"
    " VALUES (:run, :task, :slice, :plan, :number, :page_no, :page_size, :before, :after,"
    " :expr_hash, :idempotent_key, :status, :request, :response, :stats, :has_next, :created,"
    " :body_hash, :input, :items)"
    " ON CONFLICT DO NOTHING RETURNING id";

static const char BATCH_OLD[] =
    "SELECT " BATCH_COLUMNS " FROM ing_task_run_batch"
    " WHERE idempotent_key = :idempotent_key OR (run_id = :run AND batch_no = :number)"
    "    OR (run_id = :run AND {token}(before_token) = {token}(:before))"
    " LIMIT 1";

static bool find_old(struct store *store, struct arena *arena, const struct batch *batch,
                     struct batch *old, struct error *err)
{
    struct statement *st = statement_of(store, BATCH_OLD);

    bind_text(st, ":idempotent_key", batch->idempotent_key);
    bind_i64(st, ":run", batch->run_id);
    bind_i64(st, ":number", batch->number);
    bind_bytes_opt(st, ":before", batch->has_before, batch->before_token);
    if (rows_next(&st->rows))
        read_batch(&st->rows, arena, old);
    return rows_finish(&st->rows, err);
}

static void bind_evidence(struct statement *st, const struct batch_evidence *evidence)
{
    bind_text_opt(st, ":body_hash", evidence->body_hash.len > 0, evidence->body_hash);
    bind_text_opt(st, ":input", evidence->request_input.len > 0, evidence->request_input);
    bind_bytes_opt(st, ":items", evidence->items.len > 0, evidence->items);
}

static bool batch_add(struct store *store, struct arena *arena, const struct batch *batch,
                      struct batch_added *added, struct error *err)
{
    struct statement *st = statement_of(store, BATCH_ADD);

    bind_i64(st, ":run", batch->run_id);
    bind_i64(st, ":task", batch->task_id);
    bind_i64(st, ":slice", batch->slice_id);
    bind_i64(st, ":plan", batch->plan_id);
    bind_i64(st, ":number", batch->number);
    bind_i64_opt(st, ":page_no", batch->has_page, batch->page_no);
    bind_i64_opt(st, ":page_size", batch->has_page, batch->page_size);
    bind_bytes_opt(st, ":before", batch->has_before, batch->before_token);
    bind_bytes_opt(st, ":after", batch->has_after, batch->after_token);
    bind_text(st, ":expr_hash", batch->expr_hash);
    bind_text(st, ":idempotent_key", batch->idempotent_key);
    bind_code(st, ":status", &BATCH_STATUS_CODES, (int)batch->status);
    bind_json(st, ":request", batch->request_digest);
    bind_json(st, ":response", batch->response_digest);
    bind_json(st, ":stats", batch->stats);
    bind_bool(st, ":has_next", batch->has_next);
    bind_instant(st, ":created", batch->created_us);
    bind_evidence(st, &batch->evidence);
    added->is_new = rows_next(&st->rows);
    if (added->is_new)
        added->id = rows_i64(&st->rows);
    if (!rows_finish(&st->rows, err))
        return error_wrap(err, "add batch %" PRId64 " of run %" PRId64, batch->number,
                          batch->run_id);
    if (!added->is_new) {
        if (!find_old(store, arena, batch, &added->old, err))
            return false;
        added->id = added->old.id;
    }
    return true;
}

static const char BATCH_LAST[] = "SELECT " BATCH_COLUMNS " FROM ing_task_run_batch"
                                 " WHERE task_id = :task AND status_code = 'SUCCEEDED'"
                                 " ORDER BY id DESC LIMIT 1";

static bool batch_last(struct store *store, struct arena *arena, int64_t task_id,
                       struct batch *batch, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, BATCH_LAST);

    bind_i64(st, ":task", task_id);
    *found = rows_next(&st->rows);
    if (*found)
        read_batch(&st->rows, arena, batch);
    return rows_finish(&st->rows, err);
}

static const char BATCH_LIST[] = "SELECT " BATCH_COLUMNS " FROM ing_task_run_batch"
                                 " WHERE run_id = :run AND batch_no > :after"
                                 " ORDER BY batch_no LIMIT :limit";

static bool batch_list(struct store *store, struct arena *arena, int64_t run_id,
                       struct store_page page, struct batch_list *list, struct error *err)
{
    struct statement *st = statement_of(store, BATCH_LIST);

    bind_i64(st, ":run", run_id);
    bind_i64(st, ":after", page.after);
    bind_i64(st, ":limit", page.limit);
    return read_batches(&st->rows, arena, list, err) ||
           error_wrap(err, "list batches of run %" PRId64, run_id);
}

static const char BATCH_GET[] = "SELECT " BATCH_COLUMNS " FROM ing_task_run_batch"
                                " WHERE run_id = :run AND batch_no = :number";

static bool batch_get(struct store *store, struct arena *arena, int64_t run_id, int64_t number,
                      struct batch *batch, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, BATCH_GET);

    bind_i64(st, ":run", run_id);
    bind_i64(st, ":number", number);
    *found = rows_next(&st->rows);
    if (*found)
        read_batch(&st->rows, arena, batch);
    return rows_finish(&st->rows, err) ||
           error_wrap(err, "read batch %" PRId64 " of run %" PRId64, number, run_id);
}

static const char BATCH_FAILED_LAST[] = "SELECT " BATCH_COLUMNS " FROM ing_task_run_batch"
                                        " WHERE run_id = :run AND status_code = 'FAILED'"
                                        " ORDER BY batch_no DESC LIMIT :limit";

static bool batch_failed(struct store *store, struct arena *arena, int64_t run_id, int64_t limit,
                         struct batch_list *list, struct error *err)
{
    struct statement *st = statement_of(store, BATCH_FAILED_LAST);

    bind_i64(st, ":run", run_id);
    bind_i64(st, ":limit", limit);
    return read_batches(&st->rows, arena, list, err) ||
           error_wrap(err, "list failed batches of run %" PRId64, run_id);
}

static const char BATCH_EVIDENCE[] =
    "SELECT request_input, items, body_hash FROM ing_task_run_batch WHERE id = :id";

static bool batch_evidence(struct store *store, struct arena *arena, int64_t batch_id,
                           struct batch_evidence *evidence, struct error *err)
{
    struct statement *st = statement_of(store, BATCH_EVIDENCE);

    *evidence = (struct batch_evidence){ 0 };
    bind_i64(st, ":id", batch_id);
    if (rows_next(&st->rows)) {
        evidence->request_input = rows_text(&st->rows, arena);
        evidence->items = rows_text(&st->rows, arena);
        evidence->body_hash = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "evidence of batch %" PRId64, batch_id);
}

/* ---- ids that phase one listed ---- */

static bool read_listed(struct rows *rows, struct arena *arena, struct listed_list *list,
                        struct error *err)
{
    struct str *id;

    *list = (struct listed_list){ 0 };
    while ((id = ROWS_NEXT(rows, arena, list)) != NULL)
        *id = rows_text(rows, arena);
    return rows_finish(rows, err);
}

static const char LISTED_COUNT[] =
    "SELECT coalesce(max(position), 0) FROM ing_listed_id WHERE task_id = :task";

static bool count_listed(struct store *store, int64_t task_id, int64_t *count, struct error *err)
{
    struct statement *st = statement_of(store, LISTED_COUNT);

    bind_i64(st, ":task", task_id);
    return rows_only_i64(&st->rows, count, err);
}

static const char LISTED_ADD[] = "INSERT INTO ing_listed_id (task_id, position, provider_id)"
                                 " {insert :task, @position, @provider_id}";

static bool listed_add(struct store *store, int64_t task_id, const struct str *ids, size_t count,
                       struct error *err)
{
    struct statement *st;
    int64_t position = 0;

    if (!count_listed(store, task_id, &position, err))
        return error_wrap(err, "count the ids of task %" PRId64, task_id);
    st = statement_of(store, LISTED_ADD);
    bind_i64(st, ":task", task_id);
    for (size_t i = 0; i < count; i++) {
        cell_i64(st, "@position", ++position);
        cell_text(st, "@provider_id", ids[i]);
    }
    return statement_run(st, NULL, err) ||
           error_wrap(err, "add %zu ids to task %" PRId64, count, task_id);
}

static const char LISTED_LIST[] = "SELECT provider_id FROM ing_listed_id"
                                  " WHERE task_id = :task AND position > :after"
                                  " ORDER BY position LIMIT :limit";

static bool listed_list(struct store *store, struct arena *arena, int64_t task_id,
                        struct store_page page, struct listed_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LISTED_LIST);

    bind_i64(st, ":task", task_id);
    bind_i64(st, ":after", page.after);
    bind_i64(st, ":limit", page.limit);
    return read_listed(&st->rows, arena, list, err) ||
           error_wrap(err, "list the ids of task %" PRId64, task_id);
}

const struct store_run_ops SQL_RUN = {
    .add = run_add,
    .save = run_save,
    .list = run_list,
    .started = run_started,
    .get = run_get,
    .recent = run_recent,
    .batch_add = batch_add,
    .batch_last = batch_last,
    .batch_list = batch_list,
    .batch_get = batch_get,
    .batch_failed = batch_failed,
    .batch_evidence = batch_evidence,
    .listed_add = listed_add,
    .listed_list = listed_list,
};
