#include "adapter/sqlite/batch_repo.h"

#include <inttypes.h>

#include "adapter/sqlite/sqlite.h"

#define COLUMNS                                                                              \
    "id, run_id, task_id, slice_id, plan_id, batch_no, page_no, page_size, before_token,"    \
    " after_token, expr_hash, idempotent_key, status_code, request_digest, response_digest," \
    " stats, has_next, created_at"
enum {
    COL_ID,
    COL_RUN_ID,
    COL_TASK_ID,
    COL_SLICE_ID,
    COL_PLAN_ID,
    COL_NUMBER,
    COL_PAGE_NO,
    COL_PAGE_SIZE,
    COL_BEFORE_TOKEN,
    COL_AFTER_TOKEN,
    COL_EXPR_HASH,
    COL_IDEMPOTENT_KEY,
    COL_STATUS,
    COL_REQUEST_DIGEST,
    COL_RESPONSE_DIGEST,
    COL_STATS,
    COL_HAS_NEXT,
    COL_CREATED,
};

static void read_batch(struct statement *st, struct arena *arena, struct batch *batch)
{
    batch->id = column_i64(st, COL_ID);
    batch->run_id = column_i64(st, COL_RUN_ID);
    batch->task_id = column_i64(st, COL_TASK_ID);
    batch->slice_id = column_i64(st, COL_SLICE_ID);
    batch->plan_id = column_i64(st, COL_PLAN_ID);
    batch->number = column_i64(st, COL_NUMBER);
    batch->has_page = !column_is_null(st, COL_PAGE_NO);
    batch->page_no = column_i64(st, COL_PAGE_NO);
    batch->page_size = column_i64(st, COL_PAGE_SIZE);
    batch->has_before = !column_is_null(st, COL_BEFORE_TOKEN);
    batch->before_token = column_text(st, COL_BEFORE_TOKEN, arena);
    batch->has_after = !column_is_null(st, COL_AFTER_TOKEN);
    batch->after_token = column_text(st, COL_AFTER_TOKEN, arena);
    batch->expr_hash = column_text(st, COL_EXPR_HASH, arena);
    batch->idempotent_key = column_text(st, COL_IDEMPOTENT_KEY, arena);
    batch->status = (enum batch_status)column_code(st, COL_STATUS, &BATCH_STATUS_CODES);
    batch->request_digest = column_text(st, COL_REQUEST_DIGEST, arena);
    batch->response_digest = column_text(st, COL_RESPONSE_DIGEST, arena);
    batch->stats = column_text(st, COL_STATS, arena);
    batch->has_next = column_i64(st, COL_HAS_NEXT) != 0;
    batch->created_us = column_i64(st, COL_CREATED);
}

static const char ADD[] =
    "INSERT INTO ing_task_run_batch (run_id, task_id, slice_id, plan_id, batch_no, page_no,"
    " page_size, before_token, after_token, expr_hash, idempotent_key, status_code,"
    " request_digest, response_digest, stats, has_next, created_at)"
    " VALUES (:run, :task, :slice, :plan, :number, :page_no, :page_size, :before, :after,"
    " :expr_hash, :idempotent_key, :status, :request, :response, :stats, :has_next, :created)"
    " ON CONFLICT DO NOTHING RETURNING id";

static const char OLD[] =
    "SELECT " COLUMNS " FROM ing_task_run_batch"
    " WHERE idempotent_key = :idempotent_key OR (run_id = :run AND batch_no = :number)"
    "    OR (run_id = :run AND before_token = :before) LIMIT 1";

static bool find_old(struct sqlite_store *sqlite, struct arena *arena, const struct batch *batch,
                     struct batch *old, struct error *err)
{
    struct statement *st = statement_of(sqlite, OLD);

    bind_text(st, ":idempotent_key", batch->idempotent_key);
    bind_i64(st, ":run", batch->run_id);
    bind_i64(st, ":number", batch->number);
    if (batch->has_before)
        bind_bytes(st, ":before", batch->before_token);
    if (statement_row(st))
        read_batch(st, arena, old);
    return statement_finish(st, err);
}

bool sqlite_batch_add(struct store *store, struct arena *arena, const struct batch *batch,
                      int64_t *id, bool *added, struct batch *old, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), ADD);

    bind_i64(st, ":run", batch->run_id);
    bind_i64(st, ":task", batch->task_id);
    bind_i64(st, ":slice", batch->slice_id);
    bind_i64(st, ":plan", batch->plan_id);
    bind_i64(st, ":number", batch->number);
    if (batch->has_page) {
        bind_i64(st, ":page_no", batch->page_no);
        bind_i64(st, ":page_size", batch->page_size);
    }
    if (batch->has_before)
        bind_bytes(st, ":before", batch->before_token);
    if (batch->has_after)
        bind_bytes(st, ":after", batch->after_token);
    bind_text(st, ":expr_hash", batch->expr_hash);
    bind_text(st, ":idempotent_key", batch->idempotent_key);
    bind_code(st, ":status", &BATCH_STATUS_CODES, (int)batch->status);
    bind_text(st, ":request", batch->request_digest);
    bind_text(st, ":response", batch->response_digest);
    bind_text(st, ":stats", batch->stats);
    bind_bool(st, ":has_next", batch->has_next);
    bind_i64(st, ":created", batch->created_us);
    *added = statement_row(st);
    if (*added)
        *id = column_i64(st, 0);
    if (!statement_finish(st, err))
        return error_wrap(err, "add batch %" PRId64 " of run %" PRId64, batch->number,
                          batch->run_id);
    if (!*added) {
        if (!find_old(sqlite_store_of(store), arena, batch, old, err))
            return false;
        *id = old->id;
    }
    return true;
}

static const char LAST[] = "SELECT " COLUMNS " FROM ing_task_run_batch"
                           " WHERE task_id = :task AND status_code = 'SUCCEEDED'"
                           " ORDER BY id DESC LIMIT 1";

bool sqlite_batch_last(struct store *store, struct arena *arena, int64_t task_id,
                       struct batch *batch, bool *found, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LAST);

    bind_i64(st, ":task", task_id);
    *found = statement_row(st);
    if (*found)
        read_batch(st, arena, batch);
    return statement_finish(st, err);
}

static const char LIST[] = "SELECT " COLUMNS " FROM ing_task_run_batch"
                           " WHERE run_id = :run AND batch_no > :after"
                           " ORDER BY batch_no LIMIT :limit";

bool sqlite_batch_list(struct store *store, struct arena *arena, int64_t run_id,
                       int64_t after_number, int64_t limit, struct batch_list *list,
                       struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    *list = (struct batch_list){ 0 };
    bind_i64(st, ":run", run_id);
    bind_i64(st, ":after", after_number);
    bind_i64(st, ":limit", limit);
    while (statement_row(st)) {
        struct batch *batch = LIST_ADD(arena, list);

        if (batch == NULL) {
            st->rows.full = arena;
            break;
        }
        read_batch(st, arena, batch);
    }
    return statement_finish(st, err) || error_wrap(err, "batches of run %" PRId64, run_id);
}
