#include "engine/fetch/fetch.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/limits.h"
#include "data/hash.h"
#include "engine/fetch/digest.h"
#include "engine/fetch/walk.h"

/* The walk's own: states, sets of ids, queues. Sixteen MiB are a full set; ids beside it. */
#define OWN_BYTES_MAX (INT64_C(128) << 20)
#define SCRATCH_BYTES_MAX (INT64_C(32) << 20)

/* ---- opening ---- */

static bool open_leg(struct fetch *fetch, struct leg *leg, const struct spec_endpoint *endpoint,
                     struct error *err)
{
    leg->endpoint = endpoint;
    return reader_open(&leg->reader, &fetch->own, endpoint, fetch->parts.xml, err) &&
           request_form_open(&leg->form, &fetch->own, fetch->spec, endpoint, err) &&
           walk_pages_init(fetch, leg, err);
}

static void choose_mode(struct fetch *fetch)
{
    const bool is_by_id = fetch->order.slice->dimension == SLICE_ID;

    if (is_by_id) {
        fetch->mode = WALK_BY_ID;
        fetch->details = &fetch->legs[0];
        return;
    }
    fetch->list = &fetch->legs[0];
    if (!fetch->spec->is_two_phase)
        fetch->mode = WALK_PAGES;
    else if (fetch->legs[1].form.uses_ids) {
        fetch->mode = WALK_IDS;
        fetch->details = &fetch->legs[1];
    } else
        fetch->mode = WALK_HISTORY;
}

/* ---- resuming ---- */

/* Where the walk stands: behind the answer that is in hand. */
static bool write_checkpoint(struct fetch *fetch, struct error *err)
{
    const struct leg *leg = &fetch->legs[0];
    const struct checkpoint checkpoint = {
        .sweep = fetch->sweeps,
        .restarts = fetch->restarts,
        .page = leg->state,
        .proof = &leg->proof,
        .is_listed = leg->is_done,
        .end = leg->end,
        .id_count = fetch->details != NULL ? fetch->queue.count : 0,
        .id_next = fetch->queue.next,
        .again = fetch->again.count > 0 ? &fetch->again.items[fetch->again.next] : NULL,
        .again_count = fetch->again.count - fetch->again.next,
        .lost = fetch->lost_missing,
        .failed = fetch->lost_failed,
        .requests = fetch->requests,
        .records = fetch->records,
    };

    return checkpoint_write(&checkpoint, walk_arena(fetch), &fetch->whole.checkpoint, err);
}

static bool resume_again(struct fetch *fetch, const struct checkpoint *checkpoint,
                         struct error *err)
{
    fetch->again.items = ARENA_ARRAY(&fetch->own, struct str, checkpoint->again_count);
    if (fetch->again.items == NULL)
        return arena_error(&fetch->own, err);
    for (size_t i = 0; i < checkpoint->again_count; i++)
        fetch->again.items[i] = checkpoint->again[i];
    fetch->again.count = checkpoint->again_count;
    return true;
}

/* A scroll or a history server that was left in the middle: what it holds for us is gone. */
static bool must_begin_anew(const struct fetch *fetch, const struct checkpoint *checkpoint)
{
    if (fetch->mode == WALK_HISTORY)
        return true;
    return fetch->mode != WALK_BY_ID && !checkpoint->is_listed && checkpoint->page.number > 0 &&
           !fetch->legs[0].rules.replayable;
}

static bool resume(struct fetch *fetch, struct error *err)
{
    struct leg *leg = &fetch->legs[0];
    struct checkpoint checkpoint;

    if (!checkpoint_read(&checkpoint, &fetch->own, fetch->order.checkpoint, &leg->proof, err))
        return false;
    fetch->sweeps = checkpoint.sweep;
    fetch->restarts = checkpoint.restarts;
    fetch->requests = checkpoint.requests;
    fetch->records = checkpoint.records;
    if (fetch->details != NULL) {
        if (checkpoint.id_count > fetch->queue.count || checkpoint.id_next > checkpoint.id_count)
            return error_set(err, ERROR_FATAL, "fetch.checkpoint",
                             "the checkpoint speaks of %zu ids, and %zu were kept",
                             checkpoint.id_count, fetch->queue.count);
        fetch->queue.next = checkpoint.id_next;
        fetch->lost_missing = checkpoint.lost;
        fetch->lost_failed = checkpoint.failed;
        if (!resume_again(fetch, &checkpoint, err))
            return false;
    }
    if (must_begin_anew(fetch, &checkpoint)) {
        fetch->restarts++;
        proof_restart(&leg->proof);
        return true;
    }
    leg->is_done = checkpoint.is_listed;
    leg->end = checkpoint.end;
    leg->state = checkpoint.page;
    return leg->state.token.data == NULL || leg_set_token(leg, leg->state.token, err);
}

static bool open_all(struct fetch *fetch, struct error *err)
{
    const struct spec *spec = fetch->spec;

    if (!open_leg(fetch, &fetch->legs[0], &spec->endpoint, err))
        return false;
    if (spec->is_two_phase && !open_leg(fetch, &fetch->legs[1], &spec->detail, err))
        return false;
    choose_mode(fetch);
    id_set_init(&fetch->known_ids, &fetch->own);
    if (!walk_add_ids(fetch, fetch->order.ids, fetch->order.id_count, err))
        return false;
    return (fetch->order.checkpoint.len == 0 || resume(fetch, err)) && write_checkpoint(fetch, err);
}

bool fetch_open(struct fetch **out, const struct fetch_parts *parts,
                const struct fetch_order *order, struct error *err)
{
    struct fetch *fetch = calloc(1, sizeof(*fetch));

    *out = NULL;
    if (fetch == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a walk");
    fetch->parts = *parts;
    fetch->order = *order;
    if (order->batch_records == 0)
        fetch->order.batch_records = FETCH_RECORDS_MAX;
    fetch->spec = order->spec;
    fetch->batch_no = order->batch_no;
    fetch->started_us = clock_monotonic_us(parts->clock);
    arena_init(&fetch->own, OWN_BYTES_MAX);
    arena_init(&fetch->pages[0], BATCH_BYTES_MAX);
    arena_init(&fetch->pages[1], BATCH_BYTES_MAX);
    arena_init(&fetch->scratch, SCRATCH_BYTES_MAX);
    buf_init(&fetch->checkpoint, &fetch->own, CHECKPOINT_BYTES_MAX);
    if (!open_all(fetch, err)) {
        fetch_close(fetch);
        return error_wrap(err, "source %.*s", STR_ARG(order->spec->source));
    }
    *out = fetch;
    return true;
}

void fetch_close(struct fetch *fetch)
{
    if (fetch == NULL)
        return;
    walk_drop_prefetch(fetch);
    for (size_t i = 0; i < ARRAY_LEN(fetch->exchanges); i++)
        exchange_close(&fetch->exchanges[i]);
    for (size_t i = 0; i < ARRAY_LEN(fetch->legs); i++)
        reader_close(&fetch->legs[i].reader);
    arena_release(&fetch->pages[0]);
    arena_release(&fetch->pages[1]);
    arena_wipe(&fetch->scratch);
    arena_release(&fetch->scratch);
    arena_release(&fetch->own);
    free(fetch);
}

/* ---- a batch for the caller ---- */

/* hash(run, batch number, what was asked for): 004 section 9.3. */
static bool make_key(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    const struct str what =
        arena_printf(walk_arena(fetch), "%" PRId64 " %" PRId64 " %.*s", fetch->order.run_id,
                     batch->batch_no, STR_ARG(batch->request_digest));
    char *hex = arena_alloc(walk_arena(fetch), HASH_HEX_MAX);
    struct hash_sum sum;

    if (what.data == NULL || hex == NULL)
        return arena_error(walk_arena(fetch), err);
    if (!hash_of(what, &sum, err))
        return false;
    hash_hex(&sum, hex);
    batch->idempotent_key = str_of(hex);
    return true;
}

/* What can be told of the exchange; `failure` is NULL when there was none. */
static bool describe(struct fetch *fetch, struct fetch_batch *batch, const struct error *failure,
                     struct error *err)
{
    const struct exchange *exchange = fetch->current;
    const struct leg *leg = batch->kind == FETCH_DETAILS ? fetch->details : fetch->list;

    batch->batch_no = fetch->batch_no;
    batch->counts = fetch->counts;
    batch->endpoint = leg->endpoint->name;
    batch->lost = fetch->lost.items;
    batch->lost_count = fetch->lost.count;
    batch->request_digest = STR("{}");
    batch->response_digest = STR("{}");
    if (exchange == NULL)
        return true;
    if (exchange->request_digest.len > 0)
        batch->request_digest = exchange->request_digest;
    return digest_reply(
        &(struct digest_ask){ .endpoint = leg->endpoint,
                              .reply = &exchange->reply,
                              .answer = &exchange->answer,
                              .listing = failure == NULL ? &exchange->listing : NULL,
                              .permit = &exchange->permit,
                              .error = failure,
                              .has_next = batch->has_next },
        walk_arena(fetch), &batch->response_digest, err);
}

/* ---- steps ---- */

static bool has_step(const struct fetch *fetch)
{
    return walk_ids_pending(fetch) || walk_again_pending(fetch) ||
           (fetch->list != NULL && !fetch->list->is_done);
}

static bool take_step(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    if (walk_ids_pending(fetch) ||
        (walk_again_pending(fetch) && (fetch->list == NULL || fetch->list->is_done)))
        return walk_details(fetch, batch, err);
    assert(fetch->list != NULL);
    return walk_page(fetch, batch, err);
}

/* The request behind this batch, where it is known and its answer can be waited for. */
static void prefetch(struct fetch *fetch)
{
    struct exchange_ask ask;

    if (walk_ids_pending(fetch) ||
        (walk_again_pending(fetch) && (fetch->list == NULL || fetch->list->is_done)))
        ask = walk_details_ask(fetch);
    else {
        if (!fetch->list->rules.replayable)
            return; /* its page would be lost with us */
        ask = (struct exchange_ask){ .leg = fetch->list };
    }
    walk_prefetch(fetch, &ask);
}

static void close_last(struct fetch *fetch)
{
    for (size_t i = 0; i < ARRAY_LEN(fetch->exchanges); i++)
        exchange_close(&fetch->exchanges[i]);
    fetch->current = NULL;
    fetch->has_kept = false;
    fetch->whole = (struct fetch_batch){ 0 };
    fetch->handed = 0;
    fetch->counts = (struct fetch_counts){ 0 };
    fetch->lost = (struct lost_list){ 0 };
    fetch->retry_at_us = 0;
    fetch->retry_why = WAIT_BACKOFF;
    fetch->turn ^= 1;
    if (fetch->ticket == NULL)
        arena_reset(walk_arena(fetch));
}

/* Whether this was the last batch, and if so, what it all amounts to. */
static bool conclude(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    if (!fetch->has_verdict && !has_step(fetch))
        walk_judge(fetch);
    if (!fetch->has_verdict && walk_budget_used(fetch) != NULL) {
        const struct str reason =
            arena_printf(&fetch->own, "the budget of %s is used up", walk_budget_used(fetch));

        if (reason.data == NULL)
            return arena_error(&fetch->own, err);
        walk_end(fetch, FETCH_CUT_SHORT, reason);
    }
    if (!fetch->has_verdict && walk_is_refused_much(fetch))
        walk_reslice(fetch, RESLICE_TOO_MANY_429, STR("too many requests were refused (429)"));
    batch->is_last = fetch->has_verdict;
    batch->has_next = !batch->is_last;
    batch->verdict = fetch->verdict;
    if (batch->has_next && fetch->list != NULL && batch->kind != FETCH_DETAILS) {
        batch->after = fetch->list->state.token;
        batch->after_is_url = fetch->list->rules.type == PAGINATION_URL;
    }
    return true;
}

/* ---- batches of an answer ---- */

static size_t parts_of(const struct fetch *fetch, size_t records)
{
    const size_t most = (size_t)fetch->order.batch_records;

    return records <= most ? 1 : (records + most - 1) / most;
}

/* What belongs to the answer as a whole comes when all of it has come. */
static void hold_back(struct fetch_batch *batch, struct str checkpoint)
{
    batch->has_next = true;
    batch->is_last = false;
    batch->verdict = (struct fetch_verdict){ 0 };
    batch->bad_count = 0;
    batch->lost_count = 0;
    batch->has_page_no = false;
    batch->before = (struct str){ NULL, 0 };
    batch->after = (struct str){ NULL, 0 };
    batch->counts.items = (int64_t)batch->record_count;
    batch->counts.dropped = 0;
    batch->checkpoint = checkpoint;
}

/* The next part of the answer; mostly it is all of it. */
static bool hand_out(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    const struct fetch_batch *whole = &fetch->whole;
    const size_t left = whole->record_count - fetch->handed;
    const size_t parts = parts_of(fetch, left);

    *batch = *whole;
    batch->batch_no = fetch->batch_no;
    batch->record_count = (left + parts - 1) / parts;
    if (fetch->handed > 0) {
        batch->is_rest = true;
        batch->records += fetch->handed;
        batch->counts =
            (struct fetch_counts){ .items = whole->counts.items - (int64_t)fetch->handed,
                                   .dropped = whole->counts.dropped,
                                   .status = whole->counts.status };
    }
    if (parts > 1)
        hold_back(batch, buf_str(&fetch->checkpoint));
    fetch->handed += batch->record_count;
    fetch->batch_no++;
    return make_key(fetch, batch, err);
}

static bool keep_checkpoint(struct fetch *fetch, struct error *err)
{
    buf_clear(&fetch->checkpoint);
    buf_add(&fetch->checkpoint, fetch->whole.checkpoint);
    return buf_ok(&fetch->checkpoint, err);
}

/* An operation by id without ids, or a walk that was finished when it was resumed, has no step to
 * take: a batch of nothing, with the verdict. */
static bool next_answer(struct fetch *fetch, struct error *err)
{
    struct fetch_batch *whole = &fetch->whole;

    if (!has_step(fetch))
        whole->kind = fetch->details != NULL ? FETCH_DETAILS : FETCH_PAGE;
    else if (!take_step(fetch, whole, err))
        return false;
    fetch->records += (int64_t)whole->record_count;
    fetch->part_count = (int64_t)parts_of(fetch, whole->record_count);
    if (!conclude(fetch, whole, err) || !describe(fetch, whole, NULL, err) ||
        !write_checkpoint(fetch, err))
        return false;
    if (whole->has_next)
        prefetch(fetch);
    return true;
}

bool fetch_next(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    struct error second;

    assert(!fetch->failed);
    *batch = (struct fetch_batch){ 0 };
    if (fetch->handed < fetch->whole.record_count)
        return hand_out(fetch, batch, err);
    assert(!fetch->has_verdict);
    if (!keep_checkpoint(fetch, err))
        return false;
    close_last(fetch);
    if (next_answer(fetch, err) && hand_out(fetch, batch, err))
        return true;
    fetch->failed = true;
    *batch = fetch->whole;
    batch->retry_at_us = fetch->retry_at_us;
    batch->retry_why = fetch->retry_why;
    batch->records = NULL;
    batch->record_count = 0;
    if (!describe(fetch, batch, err, &second))
        batch->response_digest = STR("{}"); /* the first failure is the one to tell */
    return error_wrap(err, "%.*s/%.*s", STR_ARG(fetch->spec->source), STR_ARG(batch->endpoint));
}

/* ---- what is asked for later ---- */

static const struct leg *leg_of_records(const struct fetch *fetch)
{
    return fetch->mode == WALK_IDS || fetch->mode == WALK_HISTORY ? &fetch->legs[1]
                                                                  : &fetch->legs[0];
}

bool fetch_record_hash(struct fetch *fetch, const struct record *record, char hex[HASH_HEX_MAX],
                       struct error *err)
{
    assert(fetch->current != NULL);
    return record_hash(&leg_of_records(fetch)->reader, &fetch->current->answer.document, record,
                       walk_arena(fetch), hex, err);
}

bool fetch_record_fields(struct fetch *fetch, const struct record *record, struct arena *arena,
                         struct str *json, struct error *err)
{
    assert(fetch->current != NULL);
    return record_fields(&leg_of_records(fetch)->reader, &fetch->current->answer.document, record,
                         arena, json, err);
}
