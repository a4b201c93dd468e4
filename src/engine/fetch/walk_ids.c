/* Ids, whose records are requested in batches.
 *
 *      queue   |done|done|.. next ..|          listed ids, in order
 *      late    |..|.. deferred ..|             without a response: those of an earlier run are
 *                                              requested after the queue, those of this run are
 *                                              left for the next
 *      again   |..|                            missing in a good response: requested once more, at
 *                                              the end, and then given up
 *
 * A batch that is refused is halved until it is one id. That id is given up, and the sizes double
 * again after it:  200 fails, 100 is served, 50 fails, ... 1 fails: lost; 2, 4, 8, ... 200. So a
 * refused id costs about 2 log2(batch) requests.
 *
 * Of a child endpoint the ids are those of parents: each gets its children, or none. Where these
 * come in pages, walk_children.c takes the requests.
 */
#include "engine/fetch/walk.h"

#include <assert.h>
#include <inttypes.h>

#include "base/list.h"

const char *fetch_lost_reason_name(enum fetch_lost_reason reason)
{
    static const char *const names[] = { [FETCH_LOST_MISSING] = "missing",
                                         [FETCH_LOST_ANSWERED_AS] = "answered-as",
                                         [FETCH_LOST_REFUSED] = "refused",
                                         [FETCH_LOST_FAILED] = "failed" };

    assert((size_t)reason < ARRAY_LEN(names));
    return names[reason];
}

/* ---- the queues ---- */

static size_t waiting(const struct id_queue *queue)
{
    return queue->count - queue->next;
}

/* Of an earlier run. */
static size_t late_waiting(const struct id_work *ids)
{
    return ids->late_end - ids->late.next;
}

bool id_work_has_deferred(const struct id_work *ids)
{
    return ids->phase != NULL && ids->late.count > ids->late_end;
}

bool id_work_is_due(const struct id_work *ids, bool is_listed)
{
    if (ids->phase == NULL)
        return false;
    if (is_listed)
        return waiting(&ids->queue) > 0 || late_waiting(ids) > 0 || waiting(&ids->again) > 0;
    return waiting(&ids->queue) > 0 &&
           (int64_t)waiting(&ids->queue) >= ids->phase->endpoint->batch.combine;
}

static bool push(struct id_queue *queue, struct arena *arena, struct str id, struct error *err)
{
    struct str *slot = LIST_ADD(arena, queue);

    if (slot == NULL)
        return arena_error(arena, err);
    *slot = arena_copy(arena, id);
    return slot->data != NULL || arena_error(arena, err);
}

bool id_work_add(struct id_work *ids, struct arena *arena, const struct str *items, size_t count,
                 struct error *err)
{
    bool is_new;

    for (size_t i = 0; i < count; i++) {
        if (!id_set_add(&ids->known, id_set_hash(items[i]), &is_new, err))
            return false;
        if (is_new && !push(&ids->queue, arena, items[i], err))
            return false;
    }
    return true;
}

struct id_queue *id_work_queue(struct id_work *ids)
{
    if (waiting(&ids->queue) > 0)
        return &ids->queue;
    return late_waiting(ids) > 0 ? &ids->late : &ids->again;
}

static size_t batch_size(const struct id_work *ids, size_t left)
{
    size_t size = (size_t)ids->phase->endpoint->batch.id_batch_size;

    if (ids->batch_max > 0 && ids->batch_max < size)
        size = ids->batch_max;
    if (ids->split_size > 0 && ids->split_size < size)
        size = ids->split_size;
    if (size > left)
        size = left;
    return size > 0 ? size : 1;
}

struct exchange_request id_work_request(struct id_work *ids)
{
    const struct id_queue *queue = id_work_queue(ids);
    const size_t left = queue == &ids->late ? late_waiting(ids) : waiting(queue);

    return (struct exchange_request){ .phase = ids->phase,
                                      .ids = queue->items + queue->next,
                                      .id_count = batch_size(ids, left) };
}

/* ---- ids given up ---- */

bool id_work_lose(struct id_work *ids, struct arena *arena, struct fetch_lost_id lost,
                  struct error *err)
{
    struct fetch_lost_id *slot = LIST_ADD(arena, &ids->lost);

    if (slot == NULL)
        return arena_error(arena, err);
    *slot = lost;
    if (fetch_lost_is_gone(lost.reason))
        ids->lost_missing++;
    else if (lost.reason == FETCH_LOST_REFUSED)
        ids->lost_refused++;
    else
        ids->lost_failed++;
    return true;
}

/* ---- ids without a record ---- */

static bool has_id(const struct listing *listing, uint64_t hash)
{
    for (size_t i = 0; i < listing->hash_count; i++) {
        if (listing->hashes[i] == hash)
            return true;
    }
    return false;
}

/* The id of the one record in the response to a request for one other id: the source has merged
 * them. data NULL: it is not so. */
static struct str merged_id(const struct exchange_request *request, const struct listing *listing)
{
    if (request->id_count != 1 || listing->items != 1 || listing->records.count != 1)
        return (struct str){ NULL, 0 };
    return listing->records.items[0].provider_id;
}

/* Gives up the ids that have no record, or queues them for a second try. */
static bool settle_missing(struct fetch *fetch, const struct exchange_request *request,
                           const struct listing *listing, bool is_second, struct error *err)
{
    const struct str other = merged_id(request, listing);
    struct arena *arena = walk_arena(fetch);
    struct str id;

    for (size_t i = 0; i < request->id_count; i++) {
        struct fetch_lost_id lost = { .id = request->ids[i], .reason = FETCH_LOST_MISSING };

        if (!record_id_normal(request->phase->endpoint, arena, request->ids[i], &id, err))
            return false;
        if (has_id(listing, id_set_hash(id)))
            continue;
        if (other.data != NULL) {
            lost.reason = FETCH_LOST_ANSWERED_AS;
            lost.answered_as = other;
        } else if (!is_second) {
            if (!push(&fetch->ids.again, &fetch->memory.own, request->ids[i], err))
                return false;
            continue;
        }
        if (!id_work_lose(&fetch->ids, arena, lost, err))
            return false;
    }
    return true;
}

/* ---- failures ---- */

/* 500, 502, 504: the source is up, and may be failing on one id of many. */
static bool is_failing_on_ids(const struct exchange *exchange, const struct error *err)
{
    return err->level == ERROR_TRANSIENT && exchange->response.kind == RESPONSE_ERROR &&
           exchange->reply.status >= 500 && exchange->reply.status != 503;
}

/* L3 by a rule of the source: a record that it cannot give. */
static bool is_refusal(const struct exchange *exchange, const struct error *err)
{
    const enum response_kind kind = exchange->response.kind;

    return (kind == RESPONSE_ERROR && exchange->reply.status > 0 &&
            (err->level == ERROR_REQUEST || err->level == ERROR_DATA)) ||
           kind == RESPONSE_OVERSIZED || kind == RESPONSE_TOO_DEEP;
}

/* Halves the batch that failed. False where the source does not want that. */
static bool split(struct id_work *ids, const struct id_queue *queue, size_t id_count,
                  bool is_oversized)
{
    if (!ids->phase->endpoint->batch.split_failed && !is_oversized)
        return false;
    if (ids->split_size == 0)
        ids->split_end = queue->next + id_count;
    ids->split_size = id_count / 2;
    ids->bad_end = queue->next + id_count;
    return true;
}

/* After ids that were served or given up. Where one of the next ids is known to be bad, half of
 * them are requested; otherwise twice as many as before. */
static void grow_back(struct id_work *ids, const struct id_queue *queue)
{
    const size_t bad = ids->bad_end > queue->next ? ids->bad_end - queue->next : 0;

    if (queue->next >= ids->split_end)
        ids->split_size = 0;
    else if (bad > 0)
        ids->split_size = bad > 1 ? bad / 2 : 1;
    else
        ids->split_size *= 2;
    if (ids->split_size == 0)
        ids->bad_end = 0;
}

/* ---- refused ids ---- */

/* How many ids there are, as far as is known. */
static int64_t ids_expected(const struct fetch *fetch)
{
    const struct phase *list = fetch->list;
    int64_t expected = (int64_t)fetch->ids.queue.count;

    if (list == NULL || list->is_done)
        return expected;
    if (list->proof.has_total && list->proof.total_last > expected)
        expected = list->proof.total_last;
    return expected > FETCH_REFUSED_SAMPLE ? expected : FETCH_REFUSED_SAMPLE;
}

static bool is_too_large_a_share(const struct fetch *fetch, int64_t refused, int64_t of)
{
    const int64_t few = fetch->list == NULL ? FETCH_REFUSED_OF_UPDATE : FETCH_REFUSED_OF_LIST;

    return refused > few && refused * 1000 > of * FETCH_REFUSED_IDS_PERMILLE;
}

/* Whether one more refused id, among so many that were requested, shows that the request is wrong:
 * to request all others one by one would only bring as many refusals. *of: how many it is a share
 * of. */
static bool are_too_many_refused(const struct fetch *fetch, int64_t requested, int64_t *of)
{
    const int64_t refused = fetch->ids.lost_refused + 1;

    *of = requested;
    if (refused > FETCH_REFUSED_OF_UPDATE && refused * 2 > requested)
        return true;
    *of = ids_expected(fetch);
    if (*of > FETCH_REFUSED_SAMPLE)
        *of = FETCH_REFUSED_SAMPLE;
    if (*of < requested)
        *of = requested;
    return is_too_large_a_share(fetch, refused, *of);
}

static bool fail_refused(struct error *err, int64_t refused, int64_t of)
{
    err->level = ERROR_REQUEST;
    err->code = "fetch.refused";
    return error_wrap(err,
                      "%" PRId64 " of %" PRId64 " ids were refused, which is more than one in ten: "
                      "the request is wrong, not the ids; the last response",
                      refused, of);
}

bool id_work_check_refused(const struct fetch *fetch, struct error *err)
{
    const struct id_work *ids = &fetch->ids;
    const int64_t of = (int64_t)ids->queue.count;

    if (ids->phase == NULL || !is_too_large_a_share(fetch, ids->lost_refused, of))
        return true;
    return error_set(err, ERROR_REQUEST, "fetch.refused",
                     "%" PRId64 " of %" PRId64 " ids were refused, which is more than one in ten: "
                     "the request is wrong, not the ids; patra signal list shows their responses",
                     ids->lost_refused, of);
}

/* ---- missing ids ---- */

bool id_work_is_unbelievable(const struct fetch *fetch)
{
    const struct id_work *ids = &fetch->ids;
    const int64_t of = (int64_t)ids->queue.count;

    if (fetch->list == NULL || ids->phase == NULL)
        return false;
    return (of >= FETCH_MISSING_ALL_MIN && ids->lost_missing >= of) ||
           (of >= FETCH_MISSING_HALF_MIN && ids->lost_missing * 2 > of);
}

bool id_work_has_no_children(const struct id_work *ids)
{
    return ids->childless >= FETCH_MISSING_ALL_MIN && ids->childless == (int64_t)ids->queue.count;
}

/* ---- one id that fails ---- */

/* The id becomes a batch of its own, which has failed. */
static bool give_up(struct fetch *fetch, struct id_queue *queue, struct fetch_batch *batch,
                    enum fetch_lost_reason reason, struct error *err)
{
    const struct fetch_lost_id lost = {
        .id = queue->items[queue->next],
        .reason = reason,
        .status = fetch->current->reply.status,
        .detail = arena_copy(walk_arena(fetch), str_of(err->text)),
    };

    if (lost.detail.data == NULL)
        return arena_error(walk_arena(fetch), err);
    fetch->failure = *err;
    batch->outcome = FETCH_GIVEN_UP;
    batch->failure = &fetch->failure;
    queue->next++;
    fetch->ids.bad_end = 0; /* this was the one */
    grow_back(&fetch->ids, queue);
    return id_work_lose(&fetch->ids, walk_arena(fetch), lost, err);
}

static bool settle_one(struct fetch *fetch, struct id_queue *queue, struct fetch_batch *batch,
                       bool is_failing, struct error *err)
{
    struct id_work *ids = &fetch->ids;
    const int64_t requested = (int64_t)ids->queue.next + (queue == &ids->queue);
    int64_t of;

    if (is_failing && ++ids->failed > FETCH_FAILED_IDS_MAX)
        return false;
    if (!is_failing && are_too_many_refused(fetch, requested, &of))
        return fail_refused(err, ids->lost_refused + 1, of);
    return give_up(fetch, queue, batch, is_failing ? FETCH_LOST_FAILED : FETCH_LOST_REFUSED, err);
}

/* ---- no response ---- */

/* All attempts are used up, and nothing says when to come back: the ids after these may be served
 * all the same. */
static bool may_defer(const struct fetch *fetch, const struct exchange *exchange,
                      const struct error *err)
{
    return err->level == ERROR_TRANSIENT && exchange->is_sent &&
           exchange->response.kind == RESPONSE_ERROR && fetch->retry.at_us == 0 &&
           !http_error_is_cancelled(err) && fetch->ids.late_in_row < FETCH_DEFERRED_IN_ROW_MAX;
}

static bool defer(struct fetch *fetch, struct id_queue *queue, size_t id_count,
                  struct fetch_batch *batch, struct error *err)
{
    struct id_work *ids = &fetch->ids;

    for (size_t i = 0; i < id_count; i++) {
        const struct str id = queue->items[queue->next + i]; /* pushing may move the queue */

        if (!push(&ids->late, &fetch->memory.own, id, err))
            return false;
    }
    queue->next += id_count;
    ids->split_size = 0;
    ids->bad_end = 0;
    ids->late_in_row++;
    ids->late_error = *err;
    fetch->failure = *err;
    batch->outcome = FETCH_DEFERRED;
    batch->failure = &fetch->failure;
    return true;
}

bool id_work_fail_deferred(const struct id_work *ids, struct error *err)
{
    const size_t left = ids->late.count - ids->late_end;

    *err = ids->late_error;
    err->level = ERROR_TRANSIENT;
    err->code = "fetch.deferred";
    return error_wrap(err, "%zu id%s got no response, all others are done; the last failure", left,
                      left == 1 ? "" : "s");
}

/* ---- failures ---- */

bool id_work_recover(struct fetch *fetch, struct id_queue *queue, size_t id_count,
                     struct fetch_batch *batch, struct error *err)
{
    const struct exchange *exchange = fetch->current;
    const bool is_failing = is_failing_on_ids(exchange, err);
    struct id_work *ids = &fetch->ids;

    if (exchange->is_url_too_long) {
        ids->batch_max = id_count / 2;
        return true;
    }
    if (is_failing || is_refusal(exchange, err)) {
        if (id_count == 1)
            return settle_one(fetch, queue, batch, is_failing, err);
        if (split(ids, queue, id_count, exchange->response.kind == RESPONSE_OVERSIZED)) {
            attempts_followed(&fetch->attempts, ATTEMPT_SMALLER, 0);
            return true;
        }
    }
    return may_defer(fetch, exchange, err) && defer(fetch, queue, id_count, batch, err);
}

/* ---- one batch ---- */

/* After a good response. Children have ids of their own, and a parent may have none. */
static bool settle(struct fetch *fetch, const struct exchange_request *request,
                   struct fetch_batch *batch, bool is_second, struct error *err)
{
    if (request->phase->endpoint->parent.len == 0)
        return settle_missing(fetch, request, &fetch->current->listing, is_second, err);
    batch->parents = request->ids;
    batch->parent_count = request->id_count;
    if (fetch->current->listing.items == 0)
        fetch->ids.childless += (int64_t)request->id_count;
    return true;
}

bool walk_id_batch(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    struct id_work *ids = &fetch->ids;
    struct id_queue *queue = id_work_queue(ids);
    struct exchange_request request;
    struct exchange *found;

    batch->kind = FETCH_DETAILS;
    for (;;) {
        request = id_work_request(ids);
        if (walk_run_checked(fetch, &request, &found, err))
            break;
        fetch->current = found;
        if (!id_work_recover(fetch, queue, request.id_count, batch, err))
            return false;
        if (batch->outcome != FETCH_RECEIVED)
            return true;
        exchange_discard(fetch, found);
    }
    fetch->current = found;
    ids->late_in_row = 0;
    if (!settle(fetch, &request, batch, queue == &ids->again, err))
        return false;
    queue->next += request.id_count;
    grow_back(ids, queue);
    walk_take_records(fetch, &found->listing, batch);
    return true;
}
