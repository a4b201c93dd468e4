/* A walk from outside: opened, resumed and closed; its steps; and its responses, handed out as
 * batches.
 */
#include "engine/fetch/fetch.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/list.h"
#include "core/limits.h"
#include "data/hash.h"
#include "engine/fetch/checkpoint.h"
#include "engine/fetch/digest.h"
#include "engine/fetch/walk.h"

/* What lives as long as the walk: states, sets of ids, queues. A full set takes sixteen MiB. */
#define OWN_BYTES_MAX (INT64_C(128) << 20)
#define SCRATCH_BYTES_MAX (INT64_C(32) << 20)

/* ---- opening ---- */

static bool open_phase(struct fetch *fetch, struct phase *phase,
                       const struct spec_endpoint *endpoint, struct error *err)
{
    struct arena *own = &fetch->memory.own;

    phase->endpoint = endpoint;
    return reader_open(&phase->reader, own, endpoint, fetch->parts.xml, err) &&
           request_form_open(&phase->form, own, fetch->spec, endpoint, err) &&
           walk_pages_init(fetch, phase, err);
}

/* Of children. The records of ids are in one response. */
static bool has_child_pages(const struct fetch *fetch)
{
    const struct phase *phase = &fetch->phases[0];

    return phase->endpoint->parent.len > 0 && phase->rules.type != PAGINATION_SINGLE;
}

static void choose_mode(struct fetch *fetch)
{
    if (fetch->order.slice->dimension == SLICE_ID) {
        fetch->mode = has_child_pages(fetch) ? WALK_CHILDREN : WALK_BY_ID;
        fetch->ids.phase = &fetch->phases[0];
        fetch->order.family = (struct walk_budget){ 0 }; /* each parent has a budget of its own */
        return;
    }
    fetch->list = &fetch->phases[0];
    if (fetch->order.slice->dimension == SLICE_FILE)
        fetch->mode = WALK_BULK;
    else if (!fetch->spec->is_two_phase)
        fetch->mode = WALK_PAGES;
    else if (fetch->phases[1].form.uses_ids) {
        fetch->mode = WALK_IDS;
        fetch->ids.phase = &fetch->phases[1];
    } else
        fetch->mode = WALK_HISTORY;
}

/* ---- resuming ---- */

static struct id_list left_of(const struct id_queue *queue)
{
    if (queue->count == queue->next)
        return (struct id_list){ NULL, 0 };
    return (struct id_list){ queue->items + queue->next, queue->count - queue->next };
}

/* Where the walk is: after the response in hand. */
static bool write_checkpoint(struct fetch *fetch, struct error *err)
{
    const struct phase *phase = &fetch->phases[0];
    const struct id_work *ids = &fetch->ids;
    const struct checkpoint checkpoint = {
        .sweep = fetch->totals.sweeps,
        .restarts = fetch->totals.restarts,
        .page = phase->state,
        .proof = &phase->proof,
        .is_listed = phase->is_done,
        .end = phase->end,
        .id_count = ids->phase != NULL ? ids->queue.count : 0,
        .id_next = ids->queue.next,
        .again = left_of(&ids->again),
        .late = left_of(&ids->late),
        .lost = ids->lost_missing,
        .refused = ids->lost_refused,
        .failed = ids->lost_failed,
        .childless = ids->childless,
        .doubts = ids->doubts,
        .requests = fetch->totals.requests,
        .records = fetch->totals.records,
        .spent = fetch->totals.spent,
        .seen = fetch->totals.seen,
        .feed = feed_checkpoint(fetch),
        .bulk = { .is_on = fetch->mode == WALK_BULK,
                  .place = fetch->bulk.place,
                  .file = fetch->bulk.file,
                  .others = fetch->bulk.others },
    };

    return checkpoint_write(&checkpoint, walk_arena(fetch), &fetch->handout.whole.checkpoint, err);
}

/* One by one, so that the queue can grow. */
static bool resume_queue(struct id_queue *queue, struct arena *arena, struct id_list ids,
                         struct error *err)
{
    for (size_t i = 0; i < ids.count; i++) {
        struct str *slot = LIST_ADD(arena, queue);

        if (slot == NULL)
            return arena_error(arena, err);
        *slot = ids.items[i];
    }
    return true;
}

static bool resume_ids(struct id_work *ids, struct arena *arena,
                       const struct checkpoint *checkpoint, struct error *err)
{
    if (checkpoint->id_count > ids->queue.count || checkpoint->id_next > checkpoint->id_count)
        return error_set(err, ERROR_FATAL, "fetch.checkpoint",
                         "the checkpoint counts %zu ids, and %zu were kept", checkpoint->id_count,
                         ids->queue.count);
    ids->queue.next = checkpoint->id_next;
    ids->lost_missing = checkpoint->lost;
    ids->lost_refused = checkpoint->refused;
    ids->lost_failed = checkpoint->failed;
    ids->childless = checkpoint->childless;
    ids->doubts = checkpoint->doubts;
    ids->late_end = checkpoint->late.count;
    return resume_queue(&ids->again, arena, checkpoint->again, err) &&
           resume_queue(&ids->late, arena, checkpoint->late, err);
}

/* A scroll or a search that was left in the middle: the source no longer keeps it for us. */
static bool must_restart(const struct fetch *fetch, const struct checkpoint *checkpoint)
{
    if (fetch->mode == WALK_HISTORY)
        return true;
    return fetch->mode != WALK_BY_ID && !checkpoint->is_listed && checkpoint->page.number > 0 &&
           !fetch->phases[0].rules.replayable;
}

static bool resume(struct fetch *fetch, struct error *err)
{
    struct phase *phase = &fetch->phases[0];
    struct arena *own = &fetch->memory.own;
    struct checkpoint checkpoint;

    if (!checkpoint_read(&checkpoint, own, fetch->order.checkpoint, &phase->proof, err))
        return false;
    fetch->totals.sweeps = checkpoint.sweep;
    fetch->totals.restarts = checkpoint.restarts;
    fetch->totals.requests = checkpoint.requests;
    fetch->totals.records = checkpoint.records;
    fetch->totals.spent = checkpoint.spent;
    fetch->totals.seen = checkpoint.seen;
    if (!feed_resume(fetch, &checkpoint.feed, err))
        return false;
    if (fetch->ids.phase != NULL && !resume_ids(&fetch->ids, own, &checkpoint, err))
        return false;
    fetch->bulk.place = checkpoint.bulk.place;
    fetch->bulk.file = checkpoint.bulk.file;
    fetch->bulk.others = checkpoint.bulk.others;
    if (must_restart(fetch, &checkpoint)) {
        fetch->totals.restarts++;
        walk_forget_pages(&fetch->totals, &phase->proof);
        proof_restart(&phase->proof);
        feed_restart(fetch);
        return true;
    }
    phase->is_done = checkpoint.is_listed;
    phase->end = checkpoint.end;
    phase->state = checkpoint.page;
    if (fetch->mode == WALK_CHILDREN && (phase->state.number > 0 || phase->proof.pages > 0))
        fetch->list = phase; /* in the middle of a parent's list */
    return phase->state.token.data == NULL || phase_set_token(phase, phase->state.token, err);
}

/* ---- opening and closing ---- */

static bool open_all(struct fetch *fetch, struct error *err)
{
    const struct spec *spec = fetch->spec;
    const struct fetch_order *order = &fetch->order;

    if (!open_phase(fetch, &fetch->phases[0], &spec->endpoint, err))
        return false;
    if (spec->is_two_phase && !open_phase(fetch, &fetch->phases[1], &spec->detail, err))
        return false;
    choose_mode(fetch);
    feed_begin(fetch);
    bulk_init(fetch);
    id_set_init(&fetch->ids.known, &fetch->memory.own);
    if (!id_work_add(&fetch->ids, &fetch->memory.own, order->ids, order->id_count, err))
        return false;
    return (order->checkpoint.len == 0 || resume(fetch, err)) && write_checkpoint(fetch, err);
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
    fetch->handout.batch_no = order->batch_no;
    fetch->totals.started_us = clock_monotonic_us(parts->clock);
    arena_init(&fetch->memory.own, OWN_BYTES_MAX);
    arena_init(&fetch->memory.pages[0], BATCH_BYTES_MAX);
    arena_init(&fetch->memory.pages[1], BATCH_BYTES_MAX);
    arena_init(&fetch->memory.scratch, SCRATCH_BYTES_MAX);
    arena_init(&fetch->bulk.head, SCRATCH_BYTES_MAX);
    buf_init(&fetch->handout.checkpoint, &fetch->memory.own, CHECKPOINT_BYTES_MAX);
    if (!open_all(fetch, err)) {
        fetch_close(fetch);
        return error_wrap(err, "source %.*s", STR_ARG(order->spec->source));
    }
    *out = fetch;
    return true;
}

static void close_exchanges(struct fetch *fetch)
{
    for (size_t i = 0; i < ARRAY_LEN(fetch->exchanges); i++)
        exchange_close(&fetch->exchanges[i]);
    fetch->current = NULL;
}

void fetch_close(struct fetch *fetch)
{
    if (fetch == NULL)
        return;
    prefetch_drop(fetch);
    close_exchanges(fetch);
    bulk_close(fetch);
    for (size_t i = 0; i < ARRAY_LEN(fetch->phases); i++)
        reader_close(&fetch->phases[i].reader);
    arena_release(&fetch->memory.pages[0]);
    arena_release(&fetch->memory.pages[1]);
    arena_wipe(&fetch->memory.scratch);
    arena_release(&fetch->memory.scratch);
    arena_release(&fetch->memory.own);
    free(fetch);
}

/* ---- steps ---- */

enum step { STEP_NONE, STEP_PAGE, STEP_BULK, STEP_IDS, STEP_CHILDREN, STEP_DEFERRED };

static enum step next_step(const struct fetch *fetch)
{
    const bool is_listed = fetch->list == NULL || fetch->list->is_done;

    if (fetch->mode == WALK_CHILDREN && !is_listed)
        return STEP_CHILDREN;
    if (id_work_is_due(&fetch->ids, is_listed))
        return fetch->mode == WALK_CHILDREN ? STEP_CHILDREN : STEP_IDS;
    if (!is_listed)
        return fetch->mode == WALK_BULK ? STEP_BULK : STEP_PAGE;
    return id_work_has_deferred(&fetch->ids) ? STEP_DEFERRED : STEP_NONE;
}

/* An operation by id without ids, and a walk that was finished when it was resumed, have no step to
 * take: their one batch holds nothing but the verdict. */
static bool take_step(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    bool ended;

    switch (next_step(fetch)) {
    case STEP_PAGE:
        batch->kind = FETCH_PAGE;
        if (!walk_check_budget(fetch, &ended, err))
            return false;
        return ended || walk_page(fetch, batch, err);
    case STEP_BULK:
        batch->kind = FETCH_PAGE;
        return walk_bulk_batch(fetch, batch, err);
    case STEP_IDS:
        return walk_id_batch(fetch, batch, err);
    case STEP_CHILDREN:
        return walk_child_page(fetch, batch, err);
    case STEP_DEFERRED:
        batch->kind = FETCH_DETAILS;
        return id_work_fail_deferred(&fetch->ids, err);
    case STEP_NONE:
        break;
    }
    batch->kind = fetch->ids.phase != NULL ? FETCH_DETAILS : FETCH_PAGE;
    return true;
}

/* The request of the next step, where it is known and its response may wait. */
static void prefetch_next(struct fetch *fetch)
{
    const enum step step = next_step(fetch);
    struct exchange_request request;

    if (step == STEP_BULK || step == STEP_DEFERRED)
        return; /* the stream is open; there is nothing to send */
    if (step == STEP_IDS)
        request = id_work_request(&fetch->ids);
    else
        request = step == STEP_CHILDREN ? walk_child_request(fetch) : walk_page_request(fetch);
    /* Also of a scroll: if we died, its page would be lost, but it starts over then anyway. */
    prefetch_start(fetch, &request);
}

/* Whether this was the last step, and if so, what the walk amounts to. */
static bool conclude(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    if (!fetch->has_verdict && next_step(fetch) == STEP_NONE) {
        if (!id_work_check_refused(fetch, err))
            return false;
        if (fetch->mode == WALK_BULK)
            walk_bulk_end(fetch);
        else
            walk_judge(fetch);
    }
    if (!fetch->has_verdict && fetch->mode != WALK_BULK) {
        if (!walk_check_limits(fetch, err))
            return false;
        if (!fetch->has_verdict)
            walk_mind_pace(fetch, batch);
    }
    batch->is_last = fetch->has_verdict;
    batch->has_next = !batch->is_last;
    batch->verdict = fetch->verdict;
    if (batch->has_next && fetch->list != NULL && batch->kind != FETCH_DETAILS) {
        batch->after = fetch->list->state.token;
        batch->after_is_url = fetch->list->rules.type == PAGINATION_URL;
    }
    return true;
}

/* ---- a response as a batch ---- */

/* What is known of the exchange. failure NULL: it did not fail. */
static bool describe(struct fetch *fetch, struct fetch_batch *batch, const struct error *failure,
                     struct error *err)
{
    const struct exchange *exchange = fetch->current;
    const struct phase *phase = batch->kind == FETCH_DETAILS ? fetch->ids.phase : fetch->list;

    batch->batch_no = fetch->handout.batch_no;
    batch->counts = fetch->counts;
    batch->spending = walk_spending(fetch);
    batch->endpoint = phase->endpoint->name;
    batch->lost = fetch->ids.lost.items;
    batch->lost_count = fetch->ids.lost.count;
    batch->request_digest = STR("{}");
    batch->response_digest = STR("{}");
    if (exchange == NULL)
        return true;
    batch->sent_us = exchange->is_sent ? exchange->started_us : 0;
    batch->request_kept = exchange->request_kept;
    if (exchange->request_digest.len > 0)
        batch->request_digest = exchange->request_digest;
    return digest_response(
        &(struct digest_input){ .endpoint = phase->endpoint,
                                .reply = &exchange->reply,
                                .response = &exchange->response,
                                .listing = failure == NULL ? &exchange->listing : NULL,
                                .permit = &exchange->permit,
                                .attempts = &fetch->attempts,
                                .error = failure,
                                .has_next = batch->has_next },
        walk_arena(fetch), &batch->response_digest, err);
}

/* Into how many batches so many records are divided. */
static size_t parts_of(const struct fetch *fetch, size_t records)
{
    const size_t most = (size_t)fetch->order.batch_records;

    return records <= most ? 1 : (records + most - 1) / most;
}

static bool next_response(struct fetch *fetch, struct error *err)
{
    struct fetch_batch *whole = &fetch->handout.whole;

    if (!take_step(fetch, whole, err))
        return false;
    fetch->totals.records += (int64_t)whole->record_count;
    fetch->handout.part_count = (int64_t)parts_of(fetch, whole->record_count);
    if (!conclude(fetch, whole, err) || !describe(fetch, whole, whole->failure, err) ||
        !write_checkpoint(fetch, err))
        return false;
    if (whole->has_next)
        prefetch_next(fetch);
    return true;
}

/* Everything of the last response ends here; its checkpoint is kept. */
static bool drop_last(struct fetch *fetch, struct error *err)
{
    struct handout *handout = &fetch->handout;

    buf_clear(&handout->checkpoint);
    buf_add(&handout->checkpoint, handout->whole.checkpoint);
    if (!buf_ok(&handout->checkpoint, err))
        return false;
    close_exchanges(fetch);
    handout->whole = (struct fetch_batch){ 0 };
    handout->record_count = 0;
    fetch->counts = (struct fetch_counts){ 0 };
    fetch->ids.lost = (struct lost_list){ 0 };
    fetch->failure.level = ERROR_NONE;
    fetch->attempts.count = 0;
    fetch->retry = (struct walk_retry){ 0, WAIT_BACKOFF };
    fetch->memory.keeps_first = false;
    fetch->memory.turn ^= 1;
    if (fetch->prefetch.ticket == NULL)
        arena_reset(walk_arena(fetch));
    return true;
}

/* ---- handing out ---- */

/* What belongs to the response as a whole is handed out with its last part. */
static void hold_back(struct fetch_batch *batch, struct str checkpoint)
{
    batch->has_next = true;
    batch->is_last = false;
    batch->verdict = (struct fetch_verdict){ 0 };
    batch->bad_count = 0;
    batch->lost_count = 0;
    batch->parent_count = 0;
    batch->has_page_no = false;
    batch->before = (struct str){ NULL, 0 };
    batch->after = (struct str){ NULL, 0 };
    batch->counts.items = (int64_t)batch->record_count;
    batch->counts.dropped = 0;
    batch->checkpoint = checkpoint;
}

/* hash(run, batch number, request): 004 section 9.3. */
static bool make_key(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    const struct str text =
        arena_printf(walk_arena(fetch), "%" PRId64 " %" PRId64 " %.*s", fetch->order.run_id,
                     batch->batch_no, STR_ARG(batch->request_digest));
    char *hex = arena_alloc(walk_arena(fetch), HASH_HEX_MAX);
    struct hash_sum sum;

    if (text.data == NULL || hex == NULL)
        return arena_error(walk_arena(fetch), err);
    if (!hash_of(text, &sum, err))
        return false;
    hash_hex(&sum, hex);
    batch->idempotent_key = str_of(hex);
    return true;
}

/* The next part of the response; mostly all of it. */
static bool hand_out(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    struct handout *handout = &fetch->handout;
    const struct fetch_batch *whole = &handout->whole;
    const size_t left = whole->record_count - handout->record_count;
    const size_t parts = parts_of(fetch, left);

    *batch = *whole;
    batch->batch_no = handout->batch_no;
    batch->record_count = (left + parts - 1) / parts;
    if (handout->record_count > 0) {
        batch->is_rest = true;
        batch->records += handout->record_count;
        batch->counts =
            (struct fetch_counts){ .items = whole->counts.items - (int64_t)handout->record_count,
                                   .dropped = whole->counts.dropped,
                                   .status = whole->counts.status };
    }
    if (parts > 1)
        hold_back(batch, buf_str(&handout->checkpoint));
    handout->record_count += batch->record_count;
    handout->batch_no++;
    return make_key(fetch, batch, err);
}

bool fetch_next(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    struct error second;

    assert(!fetch->has_failed);
    *batch = (struct fetch_batch){ 0 };
    if (fetch->handout.record_count < fetch->handout.whole.record_count)
        return hand_out(fetch, batch, err);
    assert(!fetch->has_verdict);
    if (!drop_last(fetch, err))
        return false;
    if (next_response(fetch, err) && hand_out(fetch, batch, err))
        return true;
    fetch->has_failed = true;
    *batch = fetch->handout.whole;
    batch->retry_at_us = fetch->retry.at_us;
    batch->retry_reason = fetch->retry.reason;
    batch->records = NULL;
    batch->record_count = 0;
    if (!describe(fetch, batch, err, &second))
        batch->response_digest = STR("{}"); /* the first failure is the one to report */
    return error_wrap(err, "%.*s/%.*s", STR_ARG(fetch->spec->source), STR_ARG(batch->endpoint));
}

bool fetch_response(const struct fetch *fetch, const struct fetch_batch *batch,
                    struct fetch_response *response)
{
    const struct phase *phase = batch->kind == FETCH_DETAILS ? fetch->ids.phase : fetch->list;

    if (fetch->current == NULL || fetch->mode == WALK_BULK || phase == NULL ||
        fetch->current->reply.status == 0)
        return false;
    *response = (struct fetch_response){ &phase->form, &fetch->current->reply };
    return true;
}

struct record_origin fetch_origin(struct fetch *fetch)
{
    const bool is_second = fetch->mode == WALK_IDS || fetch->mode == WALK_HISTORY;

    assert(fetch->current != NULL);
    return (struct record_origin){ .reader = &fetch->phases[is_second].reader,
                                   .document = &fetch->current->response.document,
                                   .arena = walk_arena(fetch) };
}
