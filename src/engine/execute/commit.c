/* One try of a batch, and what ends it:
 *
 *   judge ─ begin ─ renew ─ resolve, signals ─ batch row ─ write ─ rejects, ids ─ run ─ commit
 *                     ╰ not held: rollback         │         │                    ╰ ended: rollback
 *                                                  │         ╰ raced: rollback, another try
 *                                                  ╰ known: rollback
 *
 * Records are judged, hashed and made into events before the transaction begins. The write compares
 * versions again, so what another worker changed since is a race, and the batch is judged again.
 * The batch row comes before the records, because its id is in their lineage; its stats say what
 * the judgement found. The order of locks is the same in every try of every worker: the task,
 * quarantined records by number, signals by id, new records by id, changed records by number,
 * parents by id.
 */
#include "engine/execute/commit.h"

#include <assert.h>
#include <inttypes.h>

#include "core/limits.h"
#include "data/hash.h"
#include "engine/execute/commit_records.h"
#include "engine/execute/commit_rejects.h"
#include "port/store_child.h"

/* A busy store has already made us wait for its timeout. */
enum { BUSY_WEIGHT = 4 };

enum try_end {
    TRY_DONE,  /* committed, known, or no longer held */
    TRY_RACED, /* nothing written: try again */
};

struct attempt { /* at one batch */
    struct commit_context *context;
    const struct fetch_batch *batch;
    const struct error *cause; /* of a batch that failed; else NULL */
    struct records records;
    struct rejects rejects;
    struct record_context record_context;
    struct batch row;
    struct run run;
    struct run_stats stats;
    struct commit_result *result;
};

/* ---- what the rows say ---- */

/* Why the row is FAILED; NULL: it is not. A refused id is committed as any other batch. */
static const struct error *reason_of(const struct attempt *attempt)
{
    return attempt->cause != NULL ? attempt->cause : attempt->batch->failure;
}

/* The run as it will be. Its texts are in the arena that does not hold those of the last batch, so
 * that the new ones exist before the commit and the old ones after a failure.
 */
static bool next_run(struct attempt *attempt, struct error *err)
{
    struct commit_context *context = attempt->context;
    struct arena *kept = &context->kept[!context->kept_now];
    struct json_writer writer;
    struct buf out;

    attempt->stats = context->stats;
    if (attempt->batch->batch_no > context->counted_no) /* once per batch */
        batch_stats_sum(&attempt->stats, attempt->batch, attempt->result, reason_of(attempt));
    if (kept->limit == 0)
        arena_init(kept, (size_t)BATCH_BYTES_MAX);
    arena_reset(kept);
    attempt->run = *context->run;
    if (attempt->result->has_latest)
        maybe_instant_raise(&attempt->run.observed_max, attempt->result->latest_us);
    attempt->run.checkpoint = arena_copy(kept, attempt->cause != NULL ? context->run->checkpoint
                                                                      : attempt->batch->checkpoint);
    if (kept->failed)
        return arena_error(kept, err);
    buf_init(&out, kept, (size_t)PAGE_BYTES_MAX);
    json_writer_init(&writer, &out);
    run_stats_write(&attempt->stats, &writer);
    json_writer_finish(&writer);
    attempt->run.stats = buf_str(&out);
    return buf_ok(&out, err);
}

static void keep_run(struct attempt *attempt)
{
    struct commit_context *context = attempt->context;

    context->run->checkpoint = attempt->run.checkpoint;
    context->run->stats = attempt->run.stats;
    context->run->observed_max = attempt->run.observed_max;
    context->stats = attempt->stats;
    context->kept_now = !context->kept_now;
    if (attempt->batch->batch_no > context->counted_no)
        context->counted_no = attempt->batch->batch_no;
}

static void make_row(struct attempt *attempt)
{
    const struct fetch_batch *batch = attempt->batch;
    const struct task *task = attempt->context->task;

    attempt->row =
        (struct batch){ .run_id = attempt->context->run->id,
                        .task_id = task->id,
                        .slice_id = task->slice_id,
                        .plan_id = task->plan_id,
                        .number = batch->batch_no,
                        .has_page = batch->has_page_no,
                        .page_no = batch->page_no,
                        .page_size = batch->page_size,
                        .has_before = batch->before.data != NULL,
                        .before_token = batch->before,
                        .has_after = batch->after.data != NULL,
                        .after_token = batch->after,
                        .expr_hash = task->expr_hash,
                        .idempotent_key = batch->idempotent_key,
                        .status = batch->failure != NULL ? BATCH_FAILED : BATCH_SUCCEEDED,
                        .request_digest = batch->request_digest,
                        .response_digest = batch->response_digest,
                        .evidence.request_input = batch->request_kept,
                        .evidence.body_hash =
                            attempt->context->body != NULL ? attempt->context->body->hash : STR(""),
                        .has_next = batch->has_next,
                        .created_us = attempt->record_context.now_us };
}

/* Of phase one: whose records phase two will get. */
static bool add_ids(struct attempt *attempt, struct error *err)
{
    const struct fetch_batch *batch = attempt->batch;

    return batch->kind != FETCH_IDS || batch->id_count == 0 ||
           store_listed_add(attempt->context->store, attempt->context->task->id, batch->ids,
                            batch->id_count, err);
}

/* Of a child endpoint: whose children are stored now. */
static bool mark_parents(struct attempt *attempt, struct error *err)
{
    const struct fetch_batch *batch = attempt->batch;

    return batch->parent_count == 0 ||
           store_child_mark(attempt->context->store, &attempt->record_context,
                            (struct record_ids){ batch->parents, batch->parent_count }, err);
}

/* ---- one try ---- */

/* The first call of the transaction: from here on the task's row is locked. */
static bool fence(struct attempt *attempt, int64_t now_us, struct error *err)
{
    struct commit_context *context = attempt->context;

    return store_lease_renew(context->store, context->lease, now_us + context->lease_us, now_us,
                             &attempt->result->is_held, err);
}

static void tell_id(struct batch_item_writer *items, enum batch_item_kind kind, struct str id)
{
    batch_items_add(items, &(struct batch_item){ .kind = kind, .id = id });
}

/* What becomes of each item. Nothing, where there were none. */
static bool tell_items(struct attempt *attempt, struct error *err)
{
    const struct fetch_batch *batch = attempt->batch;
    const size_t id_count = batch->kind == FETCH_IDS ? batch->id_count : 0;
    struct batch_item_writer items;
    struct buf out;

    if (attempt->cause != NULL ||
        attempt->records.count + batch->bad_count + batch->lost_count + id_count == 0)
        return true;
    buf_init(&out, attempt->context->arena, (size_t)PAGE_BYTES_MAX);
    items = batch_items_begin(&out);
    records_tell(&attempt->records, &items);
    for (size_t i = 0; i < batch->bad_count; i++)
        tell_id(&items, BATCH_ITEM_QUARANTINED, batch->bad[i].provider_id);
    for (size_t i = 0; i < id_count; i++)
        tell_id(&items, BATCH_ITEM_LISTED, batch->ids[i]);
    for (size_t i = 0; i < batch->lost_count; i++)
        tell_id(&items, BATCH_ITEM_LOST, batch->lost[i].id);
    attempt->row.evidence.items = buf_str(&out);
    return buf_ok(&out, err);
}

/* In the transaction of the batch, so that whoever reads the batch finds its body. */
static bool put_body(struct attempt *attempt, struct error *err)
{
    return attempt->context->body == NULL || attempt->batch->is_rest ||
           store_archive_put(attempt->context->store, attempt->context->body, err);
}

/* Adds the row. Where one of its keys is taken, its numbers are read instead. */
static bool add_row(struct attempt *attempt, struct error *err)
{
    struct commit_context *context = attempt->context;
    struct batch_added added;
    const struct batch *old = &added.old;

    if (!batch_stats_write(context->arena, attempt->batch, attempt->result, reason_of(attempt),
                           &attempt->row.stats, err) ||
        !tell_items(attempt, err) ||
        !store_batch_add(context->store, context->arena, &attempt->row, &added, err))
        return false;
    attempt->result->batch_id = added.id;
    if (added.is_new)
        return true;
    if (old->status != attempt->row.status)
        return error_set(err, ERROR_REQUEST, "commit.number",
                         "batch %" PRId64 " of run %" PRId64
                         " ended differently before; the run goes on with the next number",
                         attempt->row.number, attempt->row.run_id);
    *attempt->result =
        (struct commit_result){ .is_held = true, .is_known = true, .batch_id = added.id };
    return batch_stats_read(context->arena, old->stats, attempt->result, err) ||
           error_wrap(err, "stats of batch %" PRId64, added.id);
}

/* Before the transaction. */
static bool judge(struct attempt *attempt, struct error *err)
{
    *attempt->result = (struct commit_result){ .observed_us = attempt->record_context.observed_us };
    if (attempt->cause != NULL)
        return true;
    attempt->result->quarantined = (int64_t)attempt->batch->bad_count;
    return records_judge(&attempt->records, &attempt->record_context, attempt->result, err);
}

static bool settle_others(struct attempt *attempt, struct error *err)
{
    return records_resolve(&attempt->records, &attempt->record_context, attempt->batch->batch_no,
                           err) &&
           rejects_signal(&attempt->rejects, &attempt->result->signals, err);
}

/* After the batch row, whose id is in every row's lineage. */
static bool write_rows(struct attempt *attempt, bool *is_written, struct error *err)
{
    attempt->record_context.lineage.batch_id = attempt->result->batch_id;
    if (!records_write(&attempt->records, &attempt->record_context, is_written, err))
        return false;
    return !*is_written || (rejects_write(&attempt->rejects, &attempt->record_context, err) &&
                            add_ids(attempt, err) && mark_parents(attempt, err));
}

static bool try_once(struct attempt *attempt, int64_t now_us, enum try_end *end, struct error *err)
{
    struct store *store = attempt->context->store;
    struct commit_result *result = attempt->result;
    bool is_written = true;

    *end = TRY_DONE;
    if (!judge(attempt, err) || !store_begin(store, err))
        return false;
    if (!fence(attempt, now_us, err))
        goto rollback;
    if (!result->is_held)
        goto leave;
    if ((attempt->cause == NULL && !settle_others(attempt, err)) || !put_body(attempt, err) ||
        !add_row(attempt, err) || !next_run(attempt, err))
        goto rollback;
    if (result->is_known) {
        keep_run(attempt);
        goto leave;
    }
    if (attempt->cause == NULL && !write_rows(attempt, &is_written, err))
        goto rollback;
    if (!is_written) {
        *end = TRY_RACED;
        goto leave;
    }
    if (!store_run_save(store, &attempt->run, now_us, &result->is_held, err))
        goto rollback;
    if (!result->is_held)
        goto leave; /* the run has ended */
    if (!store_commit(store, err))
        goto rollback;
    keep_run(attempt);
    return true;
leave:
    store_rollback(store);
    return true;
rollback:
    store_rollback(store);
    return false;
}

/* Weights of failed attempts; 0: another attempt would not help. */
static int weight_of(const struct error *error)
{
    if (store_error_is_conflict(error))
        return 1;
    return store_error_is_busy(error) ? BUSY_WEIGHT : 0;
}

static bool try_until_done(struct attempt *attempt, int64_t now_us, struct error *err)
{
    enum try_end end = TRY_DONE;
    int weight;

    for (int tries = 0; tries < COMMIT_TRIES_MAX; tries += weight) {
        weight = 1;
        if (!try_once(attempt, now_us, &end, err)) {
            weight = weight_of(err);
            end = TRY_RACED;
            if (weight == 0 || tries + weight >= COMMIT_TRIES_MAX)
                return false;
        }
        if (end == TRY_DONE)
            break;
        attempt->records.must_wait = true;
    }
    if (end == TRY_RACED)
        return error_set(err, ERROR_TRANSIENT, "commit.raced",
                         "other workers wrote the same records first, %d times in a row",
                         COMMIT_TRIES_MAX);
    if (!attempt->result->is_held)
        *attempt->result = (struct commit_result){ 0 };
    return true;
}

static void attempt_init(struct attempt *attempt, struct commit_context *context,
                         const struct fetch_batch *batch, struct commit_times times,
                         struct commit_result *result)
{
    const struct task *task = context->task;

    arena_reset(context->arena); /* the last batch is freed here */
    *attempt = (struct attempt){ .context = context, .batch = batch, .result = result };
    attempt->record_context =
        (struct record_context){ .source = task->source,
                                 .endpoint = context->endpoint,
                                 .expr_hash = context->expr_proto_hash,
                                 .lineage = { .schedule_instance_id = task->schedule_instance_id,
                                              .plan_id = task->plan_id,
                                              .slice_id = task->slice_id,
                                              .task_id = task->id,
                                              .run_id = context->run->id },
                                 .observed_us = times.observed_us,
                                 .now_us = times.now_us };
    make_row(attempt);
}

/* Before the transaction, and before records are judged. */
static bool ready_to_pack(struct attempt *attempt, int64_t now_us, struct error *err)
{
    struct records *records = &attempt->records;
    const struct record_context *context = &attempt->record_context;

    if (attempt->context->pack == NULL || records->count == 0 ||
        !records->origin.reader->endpoint->payload_packed)
        return true;
    records->pack = attempt->context->pack;
    return payload_pack_begin(records->pack, context->source, context->endpoint, now_us, err);
}

bool batch_commit(struct commit_context *context, struct fetch *fetch,
                  const struct fetch_batch *batch, struct commit_times times,
                  struct commit_result *result, struct error *err)
{
    struct attempt attempt;

    attempt_init(&attempt, context, batch, times, result);
    attempt.records =
        (struct records){ .store = context->store,
                          .arena = context->arena,
                          .origin = batch->record_count > 0 ? fetch_origin(fetch)
                                                            : (struct record_origin){ 0 },
                          .random = context->random,
                          .event_ids = &context->ids,
                          .touches_older = context->is_by_id,
                          .late_before = context->late_before };
    attempt.rejects = (struct rejects){ .store = context->store,
                                        .arena = context->arena,
                                        .batch = batch,
                                        .is_by_id = context->is_by_id };
    if (!records_init(&attempt.records, batch, err) ||
        !rejects_init(&attempt.rejects, &attempt.record_context, err) ||
        !ready_to_pack(&attempt, times.now_us, err) || !try_until_done(&attempt, times.now_us, err))
        return error_wrap(err, "commit batch %" PRId64 " of run %" PRId64, batch->batch_no,
                          context->run->id);
    return true;
}

/* The row of a failure takes neither the token nor the key of a batch that may yet succeed. */
static bool make_failed_row(struct attempt *attempt, struct error *err)
{
    const struct str what = arena_printf(attempt->context->arena, "failed %" PRId64 " %" PRId64,
                                         attempt->row.run_id, attempt->row.number);
    char *hex = arena_alloc(attempt->context->arena, HASH_HEX_MAX);
    struct hash_sum sum;

    if (what.data == NULL || hex == NULL)
        return arena_error(attempt->context->arena, err);
    if (!hash_of(what, &sum, err))
        return false;
    hash_hex(&sum, hex);
    attempt->row.idempotent_key = str_of(hex);
    attempt->row.status = BATCH_FAILED;
    attempt->row.has_before = false;
    attempt->row.has_after = false;
    attempt->row.has_next = false;
    if (attempt->row.request_digest.len == 0)
        attempt->row.request_digest = STR("{}");
    if (attempt->row.response_digest.len == 0)
        attempt->row.response_digest = STR("{}");
    return true;
}

bool batch_commit_failed(struct commit_context *context, const struct fetch_batch *batch,
                         const struct error *cause, int64_t now_us, struct commit_result *result,
                         struct error *err)
{
    struct attempt attempt;

    attempt_init(&attempt, context, batch, (struct commit_times){ now_us, now_us }, result);
    attempt.cause = cause;
    if (!make_failed_row(&attempt, err) || !try_until_done(&attempt, now_us, err))
        return error_wrap(err, "commit failed batch %" PRId64 " of run %" PRId64, batch->batch_no,
                          context->run->id);
    return true;
}

void commit_context_release(struct commit_context *context)
{
    arena_release(&context->kept[0]);
    arena_release(&context->kept[1]);
    if (context->run != NULL) {
        context->run->checkpoint = STR("");
        context->run->stats = STR("{}");
    }
}
