/* Ids, asked for in batches.
 *
 *      queue   |done|done|.. next ..|          listed ids, in order
 *      again   |..|                            missing in a good answer: asked for once more, at
 *                                              the end, and then given up
 *
 * A batch that is refused is halved until the id that offends is alone; that one is given up, and
 * sizes double again behind it:  200 fails, 100 fails, ... 1 fails: lost; 2, 4, 8, ... 200.
 */
#include "engine/fetch/walk.h"

#include <assert.h>
#include <string.h>

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

bool walk_ids_pending(const struct fetch *fetch)
{
    const size_t count = waiting(&fetch->queue);

    if (fetch->details == NULL || count == 0)
        return false;
    return fetch->list == NULL || fetch->list->is_done ||
           (int64_t)count >= fetch->details->endpoint->batch.combine;
}

bool walk_again_pending(const struct fetch *fetch)
{
    return fetch->details != NULL && waiting(&fetch->again) > 0;
}

static bool push(struct fetch *fetch, struct id_queue *queue, struct str id, struct error *err)
{
    struct str *slot = LIST_ADD(&fetch->own, queue);

    if (slot == NULL)
        return arena_error(&fetch->own, err);
    *slot = arena_copy(&fetch->own, id);
    return slot->data != NULL || arena_error(&fetch->own, err);
}

bool walk_add_ids(struct fetch *fetch, const struct str *ids, size_t count, struct error *err)
{
    bool is_new;

    for (size_t i = 0; i < count; i++) {
        if (!id_set_add(&fetch->known_ids, id_set_hash(ids[i]), &is_new, err))
            return false;
        if (is_new && !push(fetch, &fetch->queue, ids[i], err))
            return false;
    }
    return true;
}

/* The queue that the next request takes from. */
static struct id_queue *queue_of(struct fetch *fetch)
{
    return waiting(&fetch->queue) > 0 ? &fetch->queue : &fetch->again;
}

static size_t size_of(const struct fetch *fetch, const struct id_queue *queue)
{
    size_t size = (size_t)fetch->details->endpoint->batch.id_batch_size;

    if (fetch->id_batch_max > 0 && fetch->id_batch_max < size)
        size = fetch->id_batch_max;
    if (fetch->split_size > 0 && fetch->split_size < size)
        size = fetch->split_size;
    if (size > waiting(queue))
        size = waiting(queue);
    return size > 0 ? size : 1;
}

struct exchange_ask walk_details_ask(const struct fetch *fetch)
{
    const struct id_queue *queue = waiting(&fetch->queue) > 0 ? &fetch->queue : &fetch->again;

    return (struct exchange_ask){ .leg = fetch->details,
                                  .ids = queue->items + queue->next,
                                  .id_count = size_of(fetch, queue) };
}

/* ---- ids given up ---- */

static bool lose(struct fetch *fetch, const struct fetch_lost_id *lost, struct error *err)
{
    struct fetch_lost_id *slot = LIST_ADD(walk_arena(fetch), &fetch->lost);

    if (slot == NULL)
        return arena_error(walk_arena(fetch), err);
    *slot = *lost;
    if (fetch_lost_is_gone(lost->reason))
        fetch->lost_missing++;
    else
        fetch->lost_failed++;
    return true;
}

/* ---- what came, and what did not ---- */

static bool has_id(const struct listing *listing, uint64_t hash)
{
    for (size_t i = 0; i < listing->hash_count; i++) {
        if (listing->hashes[i] == hash)
            return true;
    }
    return false;
}

/* The one record that came for one id, under another name: the source has merged them. */
static struct str answered_as(const struct exchange_ask *ask, const struct listing *listing)
{
    if (ask->id_count != 1 || listing->items != 1 || listing->records.count != 1)
        return (struct str){ NULL, 0 };
    return listing->records.items[0].provider_id;
}

static bool settle_missing(struct fetch *fetch, const struct exchange_ask *ask,
                           const struct listing *listing, bool is_second, struct error *err)
{
    const struct str other = answered_as(ask, listing);
    struct str id;

    for (size_t i = 0; i < ask->id_count; i++) {
        if (!record_id_normal(ask->leg->endpoint, walk_arena(fetch), ask->ids[i], &id, err))
            return false;
        if (has_id(listing, id_set_hash(id)))
            continue;
        if (other.data != NULL) {
            if (!lose(fetch,
                      &(struct fetch_lost_id){ .id = ask->ids[i],
                                               .reason = FETCH_LOST_ANSWERED_AS,
                                               .answered_as = other },
                      err))
                return false;
        } else if (is_second) {
            if (!lose(fetch,
                      &(struct fetch_lost_id){ .id = ask->ids[i], .reason = FETCH_LOST_MISSING },
                      err))
                return false;
        } else if (!push(fetch, &fetch->again, ask->ids[i], err))
            return false;
    }
    return true;
}

/* ---- failures ---- */

/* 500, 502, 504: the source is there, and may be failing on one id of many. */
static bool is_failing_on_ids(const struct exchange *exchange, const struct error *err)
{
    return err->level == ERROR_TRANSIENT && exchange->answer.kind == ANSWER_ERROR &&
           exchange->reply.status >= 500 && exchange->reply.status != 503;
}

static bool is_refusal(const struct exchange *exchange, const struct error *err)
{
    return (exchange->answer.kind == ANSWER_ERROR && err->level == ERROR_REQUEST &&
            exchange->reply.status > 0) ||
           exchange->answer.kind == ANSWER_OVERSIZED || exchange->answer.kind == ANSWER_TOO_DEEP;
}

/* One bad id among many is let go. When it is one in ten, what is wrong is the request: to ask for
 * all others one by one would only bring as many refusals. */
static bool is_refused_much(struct fetch *fetch, const struct id_queue *queue)
{
    fetch->refused_ids++;
    return fetch->refused_ids > FETCH_REFUSED_IDS_MAX &&
           (int64_t)fetch->refused_ids * 1000 >
               (int64_t)(queue->next + 1) * FETCH_REFUSED_IDS_PERMILLE;
}

/* True: the walk can go on, with smaller batches or without the id. */
static bool give_way(struct fetch *fetch, struct id_queue *queue, const struct exchange_ask *ask,
                     const struct exchange *exchange, struct error *err)
{
    const bool is_failing = is_failing_on_ids(exchange, err);

    if (!is_failing && !is_refusal(exchange, err))
        return false;
    if (strcmp(err->code, "fetch.url") == 0) {
        fetch->id_batch_max = ask->id_count / 2; /* nothing was sent; the URL is what is too long */
        return true;
    }
    if (ask->id_count > 1) {
        if (!fetch->details->endpoint->batch.split_failed &&
            exchange->answer.kind != ANSWER_OVERSIZED)
            return false;
        if (fetch->split_size == 0)
            fetch->split_end = queue->next + ask->id_count;
        fetch->split_size = ask->id_count / 2;
        return true;
    }
    if (is_failing && ++fetch->failed_ids > FETCH_FAILED_IDS_MAX)
        return false;
    if (!is_failing && is_refused_much(fetch, queue)) {
        err->code = "fetch.refused";
        return error_wrap(err, "%d of the first %zu ids were refused, the last one",
                          fetch->refused_ids, queue->next + 1);
    }
    queue->next++;
    return lose(
        fetch,
        &(struct fetch_lost_id){ .id = ask->ids[0],
                                 .reason = is_failing ? FETCH_LOST_FAILED : FETCH_LOST_REFUSED },
        err);
}

static void grow_back(struct fetch *fetch, const struct id_queue *queue)
{
    if (fetch->split_size == 0)
        return;
    if (queue->next >= fetch->split_end)
        fetch->split_size = 0;
    else
        fetch->split_size *= 2;
}

/* ---- one batch ---- */

bool walk_details(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    struct id_queue *queue = queue_of(fetch);
    const bool is_second = queue == &fetch->again;
    struct exchange_ask ask;
    struct exchange *found;
    size_t lost_before;

    batch->kind = FETCH_DETAILS;
    for (;;) {
        ask = walk_details_ask(fetch);
        if (walk_look(fetch, &ask, &found, err))
            break;
        fetch->current = found;
        lost_before = fetch->lost.count;
        if (!give_way(fetch, queue, &ask, found, err))
            return false;
        if (fetch->lost.count > lost_before) {
            grow_back(fetch, queue);
            return true; /* a batch that tells of one lost id */
        }
        exchange_close(found);
        fetch->has_kept = false;
        arena_reset(walk_arena(fetch));
    }
    fetch->current = found;
    if (!settle_missing(fetch, &ask, &found->listing, is_second, err))
        return false;
    queue->next += ask.id_count;
    grow_back(fetch, queue);
    fetch->counts.items = (int64_t)found->listing.items;
    fetch->counts.dropped = (int64_t)found->listing.dropped;
    batch->records = found->listing.records.items;
    batch->record_count = found->listing.records.count;
    batch->bad = found->listing.bad.items;
    batch->bad_count = found->listing.bad.count;
    return true;
}
