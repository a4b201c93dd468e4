#include "adapter/postgres/batch_repo.h"

#include <inttypes.h>

#include "adapter/postgres/postgres.h"

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

static void read_batch(struct query *q, struct arena *arena, struct batch *batch)
{
    batch->id = get_i64(q, COL_ID);
    batch->run_id = get_i64(q, COL_RUN_ID);
    batch->task_id = get_i64(q, COL_TASK_ID);
    batch->slice_id = get_i64(q, COL_SLICE_ID);
    batch->plan_id = get_i64(q, COL_PLAN_ID);
    batch->number = get_i64(q, COL_NUMBER);
    batch->has_page = !get_is_null(q, COL_PAGE_NO);
    batch->page_no = get_i64(q, COL_PAGE_NO);
    batch->page_size = get_i64(q, COL_PAGE_SIZE);
    batch->has_before = !get_is_null(q, COL_BEFORE_TOKEN);
    batch->before_token = get_text(q, COL_BEFORE_TOKEN, arena);
    batch->has_after = !get_is_null(q, COL_AFTER_TOKEN);
    batch->after_token = get_text(q, COL_AFTER_TOKEN, arena);
    batch->expr_hash = get_text(q, COL_EXPR_HASH, arena);
    batch->idempotent_key = get_text(q, COL_IDEMPOTENT_KEY, arena);
    batch->status = (enum batch_status)get_code(q, COL_STATUS, &BATCH_STATUS_CODES);
    batch->request_digest = get_text(q, COL_REQUEST_DIGEST, arena);
    batch->response_digest = get_text(q, COL_RESPONSE_DIGEST, arena);
    batch->stats = get_text(q, COL_STATS, arena);
    batch->has_next = get_i64(q, COL_HAS_NEXT) != 0;
    batch->created_us = get_i64(q, COL_CREATED);
}

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
static const char OLD[] = "SELECT " COLUMNS " FROM ing_task_run_batch"
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
    if (query_row(&q))
        read_batch(&q, arena, old);
    return query_finish(&q, err);
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
    *added = query_row(&q);
    if (*added)
        *id = get_i64(&q, 0);
    if (!query_finish(&q, err))
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
static const char LAST[] = "SELECT " COLUMNS " FROM ing_task_run_batch"
                           " WHERE task_id = $1 AND status_code = 'SUCCEEDED'"
                           " ORDER BY id DESC LIMIT 1";

bool postgres_batch_last(struct store *store, struct arena *arena, int64_t task_id,
                         struct batch *batch, bool *found, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LAST);
    set_i64(&q, LAST_TASK, task_id);
    *found = query_row(&q);
    if (*found)
        read_batch(&q, arena, batch);
    return query_finish(&q, err);
}

enum { LIST_RUN = 1, LIST_AFTER, LIST_LIMIT };
static const char LIST[] = "SELECT " COLUMNS " FROM ing_task_run_batch"
                           " WHERE run_id = $1 AND batch_no > $2 ORDER BY batch_no LIMIT $3";

bool postgres_batch_list(struct store *store, struct arena *arena, int64_t run_id,
                         int64_t after_number, int64_t limit, struct batch_list *list,
                         struct error *err)
{
    struct query q;

    *list = (struct batch_list){ 0 };
    query_init(&q, postgres_store_of(store), LIST);
    set_i64(&q, LIST_RUN, run_id);
    set_i64(&q, LIST_AFTER, after_number);
    set_i64(&q, LIST_LIMIT, limit);
    while (query_row(&q)) {
        struct batch *batch = LIST_ADD(arena, list);

        if (batch == NULL) {
            q.rows.full = arena;
            break;
        }
        read_batch(&q, arena, batch);
    }
    return query_finish(&q, err) || error_wrap(err, "batches of run %" PRId64, run_id);
}
