/* Ids, whose records are requested in batches.
 *
 *      queue   |done|done|.. next ..|          listed ids, in order
 *      again   |..|                            missing in a good response: requested once more, at
 *                                              the end, and then given up
 *
 * A batch that is refused is halved until it is one id. That id is given up, and
 * the sizes double again after it:  200 fails, 100 fails, ... 1 fails: lost; 2, 4, 8, ... 200.
 */
#include "engine/fetch/walk.h"

#include <assert.h>

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

bool id_work_is_due(const struct id_work *ids, bool is_listed)
{
    if (ids->phase == NULL)
        return false;
    if (is_listed)
        return waiting(&ids->queue) > 0 || waiting(&ids->again) > 0;
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

/* Whether the next request is a second try. */
static bool is_second_try(const struct id_work *ids)
{
    return waiting(&ids->queue) == 0;
}

static size_t batch_size(const struct id_work *ids, const struct id_queue *queue)
{
    size_t size = (size_t)ids->phase->endpoint->batch.id_batch_size;

    if (ids->batch_max > 0 && ids->batch_max < size)
        size = ids->batch_max;
    if (ids->split_size > 0 && ids->split_size < size)
        size = ids->split_size;
    if (size > waiting(queue))
        size = waiting(queue);
    return size > 0 ? size : 1;
}

struct exchange_request id_work_request(const struct id_work *ids)
{
    const struct id_queue *queue = is_second_try(ids) ? &ids->again : &ids->queue;

    return (struct exchange_request){ .phase = ids->phase,
                                      .ids = queue->items + queue->next,
                                      .id_count = batch_size(ids, queue) };
}

/* ---- ids given up ---- */

static bool lose(struct id_work *ids, struct arena *arena, struct fetch_lost_id lost,
                 struct error *err)
{
    struct fetch_lost_id *slot = LIST_ADD(arena, &ids->lost);

    if (slot == NULL)
        return arena_error(arena, err);
    *slot = lost;
    if (fetch_lost_is_gone(lost.reason))
        ids->lost_missing++;
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
        if (!lose(&fetch->ids, arena, lost, err))
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

static bool is_refusal(const struct exchange *exchange, const struct error *err)
{
    const enum response_kind kind = exchange->response.kind;

    return (kind == RESPONSE_ERROR && err->level == ERROR_REQUEST && exchange->reply.status > 0) ||
           kind == RESPONSE_OVERSIZED || kind == RESPONSE_TOO_DEEP;
}

/* One bad id among many is given up. When one in ten is refused, the request is wrong: to request
 * all others one by one would only bring as many refusals. */
static bool are_too_many_refused(struct id_work *ids, const struct id_queue *queue)
{
    ids->refused++;
    return ids->refused > FETCH_REFUSED_IDS_MAX &&
           (int64_t)ids->refused * 1000 > (int64_t)(queue->next + 1) * FETCH_REFUSED_IDS_PERMILLE;
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
    return true;
}

/* After a failure that the ids are the reason of. True: the walk continues with smaller batches or
 * without the id. */
static bool recover(struct fetch *fetch, struct id_queue *queue,
                    const struct exchange_request *request, const struct exchange *exchange,
                    struct error *err)
{
    const bool is_failing = is_failing_on_ids(exchange, err);
    struct id_work *ids = &fetch->ids;

    if (!is_failing && !is_refusal(exchange, err))
        return false;
    if (exchange->is_url_too_long) {
        ids->batch_max = request->id_count / 2;
        return true;
    }
    if (request->id_count > 1)
        return split(ids, queue, request->id_count, exchange->response.kind == RESPONSE_OVERSIZED);
    if (is_failing && ++ids->failed > FETCH_FAILED_IDS_MAX)
        return false;
    if (!is_failing && are_too_many_refused(ids, queue)) {
        err->code = "fetch.refused";
        return error_wrap(err, "%d of the first %zu ids were refused, the last one", ids->refused,
                          queue->next + 1);
    }
    queue->next++;
    return lose(
        ids, walk_arena(fetch),
        (struct fetch_lost_id){ .id = request->ids[0],
                                .reason = is_failing ? FETCH_LOST_FAILED : FETCH_LOST_REFUSED },
        err);
}

static void grow_back(struct id_work *ids, const struct id_queue *queue)
{
    if (queue->next >= ids->split_end)
        ids->split_size = 0;
    else
        ids->split_size *= 2;
}

/* ---- one batch ---- */

bool walk_id_batch(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    struct id_work *ids = &fetch->ids;
    const bool is_second = is_second_try(ids);
    struct id_queue *queue = is_second ? &ids->again : &ids->queue;
    struct exchange_request request;
    struct exchange *found;

    batch->kind = FETCH_DETAILS;
    for (;;) {
        request = id_work_request(ids);
        if (walk_run_checked(fetch, &request, &found, err))
            break;
        fetch->current = found;
        if (!recover(fetch, queue, &request, found, err))
            return false;
        if (ids->lost.count > 0) {
            grow_back(ids, queue);
            return true; /* a batch of one lost id */
        }
        exchange_discard(fetch, found);
    }
    fetch->current = found;
    if (!settle_missing(fetch, &request, &found->listing, is_second, err))
        return false;
    queue->next += request.id_count;
    grow_back(ids, queue);
    walk_take_records(fetch, &found->listing, batch);
    return true;
}
