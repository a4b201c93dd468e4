#include "port/store_run.h"

#include <inttypes.h>

#include "adapter/memory/store_base.h"
#include "adapter/memory/store_listed.h"
#include "core/states.h"

static bool attempt_key(const void *row, struct key *key)
{
    const struct run *run = row;

    key_add_i64(key, run->task_id);
    key_add_i64(key, run->attempt);
    return true;
}

/* The newest first. */
static bool recent_key(const void *row, struct key *key)
{
    const struct run *run = row;

    key_add_str(key, run->source);
    key_add_i64(key, run->operation);
    key_add_i64(key, -run->started_us);
    key_add_i64(key, -run->id);
    return run->status == RUN_SUCCEEDED && run->attempt == 1 && window_is_valid(run->window);
}

enum { BY_ATTEMPT, BY_RECENCY };

/* The checkpoint may be empty, and is checked for being JSON apart. */
const struct table_def MEMORY_RUN_TABLE = {
    .name = "ing_task_run",
    .row_size = sizeof(struct run),
    .text_count = 5,
    .texts = { TEXT_DEF(struct run, source, TEXT_PLAIN),
               TEXT_DEF(struct run, lease_owner, TEXT_PLAIN),
               TEXT_DEF(struct run, checkpoint, TEXT_PLAIN), TEXT_DEF(struct run, stats, TEXT_JSON),
               TEXT_DEF(struct run, error, TEXT_PLAIN) },
    .index_count = 2,
    .indexes = { [BY_ATTEMPT] = { "uk_run_attempt", true, attempt_key },
                 [BY_RECENCY] = { "idx_run_src_op", false, recent_key } },
};

enum { BY_NUMBER, BY_TOKEN, BY_KEY, BY_TASK };

static bool number_key(const void *row, struct key *key)
{
    const struct batch *batch = row;

    key_add_i64(key, batch->run_id);
    key_add_i64(key, batch->number);
    return true;
}

static bool token_key(const void *row, struct key *key)
{
    const struct batch *batch = row;

    key_add_i64(key, batch->run_id);
    key_add_str(key, batch->before_token);
    return batch->has_before;
}

static bool idempotent_key(const void *row, struct key *key)
{
    key_add_str(key, ((const struct batch *)row)->idempotent_key);
    return true;
}

static bool task_key(const void *row, struct key *key)
{
    const struct batch *batch = row;

    key_add_i64(key, batch->task_id);
    return batch->status == BATCH_SUCCEEDED;
}

const struct table_def MEMORY_BATCH_TABLE = {
    .name = "ing_task_run_batch",
    .row_size = sizeof(struct batch),
    .text_count = 7,
    .texts = { TEXT_DEF(struct batch, before_token, TEXT_BYTES),
               TEXT_DEF(struct batch, after_token, TEXT_BYTES),
               TEXT_DEF(struct batch, expr_hash, TEXT_PLAIN),
               TEXT_DEF(struct batch, idempotent_key, TEXT_PLAIN),
               TEXT_DEF(struct batch, request_digest, TEXT_JSON),
               TEXT_DEF(struct batch, response_digest, TEXT_JSON),
               TEXT_DEF(struct batch, stats, TEXT_JSON) },
    .index_count = 4,
    .indexes = { [BY_NUMBER] = { "uk_run_batch_no", true, number_key },
                 [BY_TOKEN] = { "uk_run_before_tok", true, token_key },
                 [BY_KEY] = { "uk_batch_idem", true, idempotent_key },
                 [BY_TASK] = { "idx_batch_task", false, task_key } },
};

/* ---- runs ---- */

static bool checkpoint_ok(const struct run *run, struct error *err)
{
    return run->checkpoint.len == 0 || memory_json_ok(run->checkpoint, "checkpoint", err);
}

static bool add_run(struct memory_db *db, struct run *run, struct error *err)
{
    struct task task;

    if (!memory_refers(db, MEMORY_TASK, run->task_id, err))
        return false;
    task = *(const struct task *)table_get(&db->tables[MEMORY_TASK], run->task_id);
    task.attempts++;
    run->attempt = task.attempts;
    if (!window_is_valid(run->window))
        run->window = (struct window){ 0, 0 };
    return checkpoint_ok(run, err) && memory_update(db, MEMORY_TASK, &task, err) &&
           memory_insert(db, MEMORY_RUN, run, &run->id, err);
}

static bool run_add(struct store *store, struct run *run, struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "run_add", err) &&
           memory_leave(&call, add_run(call.db, run, err), err);
}

static bool save(struct memory_db *db, const struct run *run, bool *saved, struct error *err)
{
    const struct run *old = table_get(&db->tables[MEMORY_RUN], run->id);
    struct run row;

    *saved = old != NULL && !state_is_final(&RUN_STATES, (int)old->status);
    if (!*saved)
        return true;
    row = *old;
    row.status = run->status;
    row.has_reason = run->has_reason;
    row.reason = run->has_reason ? run->reason : PARTIAL_HOLES;
    row.checkpoint = run->checkpoint;
    row.stats = run->stats;
    row.error = run->error;
    row.finished_us = run->finished_us;
    return checkpoint_ok(run, err) && memory_update(db, MEMORY_RUN, &row, err);
}

static bool run_save(struct store *store, const struct run *run, int64_t now_us, bool *saved,
                     struct error *err)
{
    struct memory_call call;

    (void)now_us;
    return memory_enter(&call, store, "run_save", err) &&
           memory_leave(&call, save(call.db, run, saved, err), err);
}

static bool list_runs(struct memory_db *db, struct arena *arena, const struct key *from,
                      struct run_list *list, struct error *err)
{
    const void *row;
    struct scan scan;
    bool ok = true;

    scan_init(&scan, &db->tables[MEMORY_RUN], BY_ATTEMPT, from, from->len);
    while (ok && (row = scan_next(&scan)) != NULL)
        ok = memory_give(db, MEMORY_RUN, row, arena, LIST_ADD(arena, list), err);
    scan_release(&scan);
    return ok;
}

static bool run_list(struct store *store, struct arena *arena, int64_t task_id,
                     struct run_list *list, struct error *err)
{
    struct memory_call call;
    struct key key = { 0 };
    bool ok;

    *list = (struct run_list){ 0 };
    if (!memory_enter(&call, store, "run_list", err))
        return false;
    key_add_i64(&key, task_id);
    ok = list_runs(call.db, arena, &key, list, err);
    key_release(&key);
    return memory_leave(&call, ok, err);
}

static bool list_recent(struct memory_db *db, struct arena *arena, const struct task_partition *of,
                        size_t limit, struct run_list *list, struct error *err)
{
    const struct run *row;
    struct key key = { 0 };
    struct scan scan;
    bool ok = true;

    key_add_str(&key, of->source);
    key_add_i64(&key, of->operation);
    scan_init(&scan, &db->tables[MEMORY_RUN], BY_RECENCY, &key, key.len);
    while (ok && list->count < limit && (row = scan_next(&scan)) != NULL) {
        const struct task *task = table_get(&db->tables[MEMORY_TASK], row->task_id);

        if (!str_eq(task->endpoint, of->endpoint) || id_range_is_valid(task->ids))
            continue;
        ok = memory_give(db, MEMORY_RUN, row, arena, LIST_ADD(arena, list), err);
    }
    scan_release(&scan);
    key_release(&key);
    return ok;
}

static bool run_recent(struct store *store, struct arena *arena, const struct task_partition *of,
                       int64_t limit, struct run_list *list, struct error *err)
{
    struct memory_call call;

    *list = (struct run_list){ 0 };
    return memory_enter(&call, store, "run_recent", err) &&
           memory_leave(&call, list_recent(call.db, arena, of, (size_t)limit, list, err), err);
}

/* ---- batches ---- */

static const struct batch *find_old(struct memory_db *db, const struct batch *batch)
{
    static bool (*const KEYS[])(const void *, struct key *) = { number_key, token_key,
                                                                idempotent_key };
    const struct batch *old = NULL;
    struct key key = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(KEYS) && old == NULL; i++) {
        key.len = 0;
        if (KEYS[i](batch, &key))
            old = table_find(&db->tables[MEMORY_BATCH], i, &key);
    }
    key_release(&key);
    return old;
}

static bool add_batch(struct memory_db *db, struct arena *arena, const struct batch *batch,
                      int64_t *id, bool *added, struct batch *old, struct error *err)
{
    const struct batch *found = find_old(db, batch);
    struct batch row = *batch;

    *added = found == NULL;
    if (found != NULL) {
        *id = found->id;
        return memory_give(db, MEMORY_BATCH, found, arena, old, err);
    }
    if (!row.has_before)
        row.before_token = (struct str){ 0 };
    if (!row.has_after)
        row.after_token = (struct str){ 0 };
    return memory_refers(db, MEMORY_RUN, batch->run_id, err) &&
           memory_check(batch->number >= 1, "batch_no", err) &&
           memory_insert(db, MEMORY_BATCH, &row, id, err);
}

static bool batch_add(struct store *store, struct arena *arena, const struct batch *batch,
                      int64_t *id, bool *added, struct batch *old, struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "batch_add", err) &&
           memory_leave(&call, add_batch(call.db, arena, batch, id, added, old, err), err);
}

static bool batch_last(struct store *store, struct arena *arena, int64_t task_id,
                       struct batch *batch, bool *found, struct error *err)
{
    const void *row, *last = NULL;
    struct memory_call call;
    struct scan scan;
    struct key key = { 0 };

    if (!memory_enter(&call, store, "batch_last", err))
        return false;
    key_add_i64(&key, task_id);
    scan_init(&scan, &call.db->tables[MEMORY_BATCH], BY_TASK, &key, key.len);
    while ((row = scan_next(&scan)) != NULL)
        last = row;
    scan_release(&scan);
    key_release(&key);
    *found = last != NULL;
    return memory_leave(
        &call, !*found || memory_give(call.db, MEMORY_BATCH, last, arena, batch, err), err);
}

static bool list_batches(struct memory_db *db, struct arena *arena, const struct key *from,
                         int64_t limit, struct batch_list *list, struct error *err)
{
    const void *row;
    struct scan scan;
    bool ok = true;

    scan_init(&scan, &db->tables[MEMORY_BATCH], BY_NUMBER, from, sizeof(int64_t));
    while (ok && (int64_t)list->count < limit && (row = scan_next(&scan)) != NULL)
        ok = memory_give(db, MEMORY_BATCH, row, arena, LIST_ADD(arena, list), err);
    scan_release(&scan);
    return ok;
}

static bool batch_list(struct store *store, struct arena *arena, int64_t run_id,
                       int64_t after_number, int64_t limit, struct batch_list *list,
                       struct error *err)
{
    struct memory_call call;
    struct key key = { 0 };
    bool ok;

    *list = (struct batch_list){ 0 };
    if (!memory_enter(&call, store, "batch_list", err))
        return false;
    key_add_i64(&key, run_id);
    key_add_i64(&key, after_number + 1);
    ok = list_batches(call.db, arena, &key, limit, list, err);
    key_release(&key);
    return memory_leave(&call, ok, err);
}

const struct store_run_ops MEMORY_RUN_OPS = {
    .add = run_add,
    .save = run_save,
    .list = run_list,
    .recent = run_recent,
    .batch_add = batch_add,
    .batch_last = batch_last,
    .batch_list = batch_list,
    .listed_add = memory_listed_add,
    .listed_list = memory_listed_list,
};
