/* Batches of runs. */
#include "adapter/sql/batch_repo.h"

#include <inttypes.h>

#include "adapter/sql/session.h"

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

static const char ADD[] =
    "INSERT INTO ing_task_run_batch (run_id, task_id, slice_id, plan_id, batch_no, page_no,"
    " page_size, before_token, after_token, expr_hash, idempotent_key, status_code,"
    " request_digest, response_digest, stats, has_next, created_at)"
    " VALUES (:run, :task, :slice, :plan, :number, :page_no, :page_size, :before, :after,"
    " :expr_hash, :idempotent_key, :status, :request, :response, :stats, :has_next, :created)"
    " ON CONFLICT DO NOTHING RETURNING id";

static const char OLD[] =
    "SELECT " BATCH_COLUMNS " FROM ing_task_run_batch"
    " WHERE idempotent_key = :idempotent_key OR (run_id = :run AND batch_no = :number)"
    "    OR (run_id = :run AND {token}(before_token) = {token}(:before))"
    " LIMIT 1";

static bool find_old(struct store *store, struct arena *arena, const struct batch *batch,
                     struct batch *old, struct error *err)
{
    struct statement *st = statement_of(store, OLD);

    bind_text(st, ":idempotent_key", batch->idempotent_key);
    bind_i64(st, ":run", batch->run_id);
    bind_i64(st, ":number", batch->number);
    bind_bytes_opt(st, ":before", batch->has_before, batch->before_token);
    if (rows_next(&st->rows))
        read_batch(&st->rows, arena, old);
    return rows_finish(&st->rows, err);
}

bool batch_add(struct store *store, struct arena *arena, const struct batch *batch, int64_t *id,
               bool *added, struct batch *old, struct error *err)
{
    struct statement *st = statement_of(store, ADD);

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
    *added = rows_next(&st->rows);
    if (*added)
        *id = rows_i64(&st->rows);
    if (!rows_finish(&st->rows, err))
        return error_wrap(err, "add batch %" PRId64 " of run %" PRId64, batch->number,
                          batch->run_id);
    if (!*added) {
        if (!find_old(store, arena, batch, old, err))
            return false;
        *id = old->id;
    }
    return true;
}

static const char LAST[] = "SELECT " BATCH_COLUMNS " FROM ing_task_run_batch"
                           " WHERE task_id = :task AND status_code = 'SUCCEEDED'"
                           " ORDER BY id DESC LIMIT 1";

bool batch_last(struct store *store, struct arena *arena, int64_t task_id, struct batch *batch,
                bool *found, struct error *err)
{
    struct statement *st = statement_of(store, LAST);

    bind_i64(st, ":task", task_id);
    *found = rows_next(&st->rows);
    if (*found)
        read_batch(&st->rows, arena, batch);
    return rows_finish(&st->rows, err);
}

static const char LIST[] = "SELECT " BATCH_COLUMNS " FROM ing_task_run_batch"
                           " WHERE run_id = :run AND batch_no > :after"
                           " ORDER BY batch_no LIMIT :limit";

bool batch_list(struct store *store, struct arena *arena, int64_t run_id, int64_t after_number,
                int64_t limit, struct batch_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LIST);

    bind_i64(st, ":run", run_id);
    bind_i64(st, ":after", after_number);
    bind_i64(st, ":limit", limit);
    return read_batches(&st->rows, arena, list, err) ||
           error_wrap(err, "list batches of run %" PRId64, run_id);
}
