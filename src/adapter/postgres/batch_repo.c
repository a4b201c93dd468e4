#include "adapter/postgres/batch_repo.h"

#include <inttypes.h>

#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"

enum {
    ADD_RUN = 1,
    ADD_TASK,
    ADD_SLICE,
    ADD_PLAN,
    ADD_NUMBER,
    ADD_PAGE_NO,
    ADD_PAGE_SIZE,
    ADD_BEFORE,
    ADD_AFTER,
    ADD_EXPR_HASH,
    ADD_IDEMPOTENT_KEY,
    ADD_STATUS,
    ADD_REQUEST,
    ADD_RESPONSE,
    ADD_STATS,
    ADD_HAS_NEXT,
    ADD_CREATED,
};
static const char ADD[] =
    "INSERT INTO ing_task_run_batch (run_id, task_id, slice_id, plan_id, batch_no, page_no,"
    " page_size, before_token, after_token, expr_hash, idempotent_key, status_code,"
    " request_digest, response_digest, stats, has_next, created_at)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"
    " ON CONFLICT DO NOTHING RETURNING id";

enum { OLD_IDEMPOTENT_KEY = 1, OLD_RUN, OLD_NUMBER, OLD_BEFORE };
static const char OLD[] = "SELECT " BATCH_COLUMNS " FROM ing_task_run_batch"
                          " WHERE idempotent_key = $1 OR (run_id = $2 AND batch_no = $3)"
                          "    OR (run_id = $2 AND sha256(before_token) = sha256($4)) LIMIT 1";

static bool find_old(struct postgres_store *postgres, struct arena *arena,
                     const struct batch *batch, struct batch *old, struct error *err)
{
    struct query q;

    query_init(&q, postgres, OLD);
    set_text(&q, OLD_IDEMPOTENT_KEY, batch->idempotent_key);
    set_i64(&q, OLD_RUN, batch->run_id);
    set_i64(&q, OLD_NUMBER, batch->number);
    set_bytes_opt(&q, OLD_BEFORE, batch->has_before, batch->before_token);
    if (rows_next(&q.rows))
        read_batch(&q.rows, arena, old);
    return rows_finish(&q.rows, err);
}

static void set_batch(struct query *q, const struct batch *batch)
{
    set_i64(q, ADD_RUN, batch->run_id);
    set_i64(q, ADD_TASK, batch->task_id);
    set_i64(q, ADD_SLICE, batch->slice_id);
    set_i64(q, ADD_PLAN, batch->plan_id);
    set_i64(q, ADD_NUMBER, batch->number);
    set_i64_opt(q, ADD_PAGE_NO, batch->has_page, batch->page_no);
    set_i64_opt(q, ADD_PAGE_SIZE, batch->has_page, batch->page_size);
    set_bytes_opt(q, ADD_BEFORE, batch->has_before, batch->before_token);
    set_bytes_opt(q, ADD_AFTER, batch->has_after, batch->after_token);
    set_text(q, ADD_EXPR_HASH, batch->expr_hash);
    set_text(q, ADD_IDEMPOTENT_KEY, batch->idempotent_key);
    set_code(q, ADD_STATUS, &BATCH_STATUS_CODES, (int)batch->status);
    set_json(q, ADD_REQUEST, batch->request_digest);
    set_json(q, ADD_RESPONSE, batch->response_digest);
    set_json(q, ADD_STATS, batch->stats);
    set_bool(q, ADD_HAS_NEXT, batch->has_next);
    set_time(q, ADD_CREATED, batch->created_us);
}

bool postgres_batch_add(struct store *store, struct arena *arena, const struct batch *batch,
                        int64_t *id, bool *added, struct batch *old, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), ADD);
    set_batch(&q, batch);
    *added = rows_next(&q.rows);
    if (*added)
        *id = rows_i64(&q.rows);
    if (!rows_finish(&q.rows, err))
        return error_wrap(err, "add batch %" PRId64 " of run %" PRId64, batch->number,
                          batch->run_id);
    if (!*added) {
        if (!find_old(postgres_store_of(store), arena, batch, old, err))
            return false;
        *id = old->id;
    }
    return true;
}

enum { LAST_TASK = 1 };
static const char LAST[] = "SELECT " BATCH_COLUMNS " FROM ing_task_run_batch"
                           " WHERE task_id = $1 AND status_code = 'SUCCEEDED'"
                           " ORDER BY id DESC LIMIT 1";

bool postgres_batch_last(struct store *store, struct arena *arena, int64_t task_id,
                         struct batch *batch, bool *found, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LAST);
    set_i64(&q, LAST_TASK, task_id);
    *found = rows_next(&q.rows);
    if (*found)
        read_batch(&q.rows, arena, batch);
    return rows_finish(&q.rows, err);
}

enum { LIST_RUN = 1, LIST_AFTER, LIST_LIMIT };
static const char LIST[] = "SELECT " BATCH_COLUMNS " FROM ing_task_run_batch"
                           " WHERE run_id = $1 AND batch_no > $2 ORDER BY batch_no LIMIT $3";

bool postgres_batch_list(struct store *store, struct arena *arena, int64_t run_id,
                         int64_t after_number, int64_t limit, struct batch_list *list,
                         struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LIST);
    set_i64(&q, LIST_RUN, run_id);
    set_i64(&q, LIST_AFTER, after_number);
    set_i64(&q, LIST_LIMIT, limit);
    return read_batches(&q.rows, arena, list, err) ||
           error_wrap(err, "batches of run %" PRId64, run_id);
}
