#include "engine/update/id_batch.h"

#include <assert.h>
#include <stdlib.h>

#include "port/store_signal.h"

enum { REQUESTS_PER_SLICE = 20, BATCH_ARENA_MAX = 128 << 20, BATCH_BYTES_FULL = 4 << 20 };

void id_batch_init(struct id_batch *batch, struct store *store)
{
    batch->store = store;
    arena_init(&batch->arena, BATCH_ARENA_MAX);
    batch->count = 0;
    batch->slice_count = 0;
}

void id_batch_release(struct id_batch *batch)
{
    arena_release(&batch->arena);
}

bool id_batch_add(struct id_batch *batch, struct str id, int64_t signal_id, struct error *err)
{
    const struct str copy = arena_copy(&batch->arena, id);

    assert(batch->count < ID_BATCH_MAX);
    if (copy.data == NULL)
        return arena_error(&batch->arena, err);
    batch->ids[batch->count++] = (struct held_id){ .id = copy, .signal_id = signal_id };
    return true;
}

bool id_batch_is_full(const struct id_batch *batch)
{
    return batch->count == ID_BATCH_MAX || batch->arena.used >= BATCH_BYTES_FULL;
}

/* ---- how many slices ---- */

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t ids_per_request(const struct spec *spec)
{
    return spec->endpoint.batch.id_batch_size > 0 ? spec->endpoint.batch.id_batch_size : 1;
}

static int64_t ids_per_slice(const struct spec *spec)
{
    const int64_t requests =
        spec->operation.budget_requests > 0 ? spec->operation.budget_requests : REQUESTS_PER_SLICE;
    const int64_t batch = ids_per_request(spec);

    return requests < ID_SLICE_MAX / batch ? requests * batch : ID_SLICE_MAX / batch * batch;
}

/* By hash into this many. What the author says counts, but no slice is made for less than one
 * request, nor for more than a slice may hold. */
static uint32_t bucket_count(const struct spec *spec, size_t count)
{
    const int64_t wanted = spec->operation.slice_buckets > 0
                               ? spec->operation.slice_buckets
                               : divide_up((int64_t)count, ids_per_slice(spec));
    const int64_t most = divide_up((int64_t)count, ids_per_request(spec));

    return (uint32_t)(wanted < most ? wanted : most);
}

/* ---- in which order ---- */

static int compare_ranks(const void *a, const void *b)
{
    const struct held_id *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return str_cmp(x->id, y->id);
}

static bool rank_all(struct id_batch *batch, const struct spec *spec, uint32_t buckets,
                     struct error *err)
{
    const bool by_range = spec->operation.slice_ids == ID_SLICING_RANGE;

    for (size_t i = 0; i < batch->count; i++) {
        struct held_id *held = &batch->ids[i];

        if (!by_range)
            held->rank = slice_bucket(held->id, buckets);
        else if (!str_to_i64(held->id, &held->rank) || held->rank == INT64_MAX)
            return error_set(err, ERROR_REQUEST, "plan.request",
                             "slice.ids: range needs ids that are numbers, and '%.*s' is none",
                             STR_ARG(held->id));
    }
    qsort(batch->ids, batch->count, sizeof(batch->ids[0]), compare_ranks);
    return true;
}

/* Where the slice that begins at `from` ends: with its bucket, and when it is full. */
static size_t end_of(const struct id_batch *batch, const struct spec *spec, size_t from)
{
    const bool by_range = spec->operation.slice_ids == ID_SLICING_RANGE;
    const size_t most = (size_t)(by_range ? ids_per_slice(spec) : ID_SLICE_MAX);
    size_t to = from + 1;

    while (to < batch->count && to - from < most &&
           (by_range || batch->ids[to].rank == batch->ids[from].rank))
        to++;
    return to;
}

/* ---- slices ---- */

static bool consume(struct id_batch *batch, int64_t plan_id, int64_t now_us, size_t from, size_t to,
                    struct error *err)
{
    int64_t ids[ID_SLICE_MAX], consumed;
    size_t count = 0;

    for (size_t i = from; i < to; i++) {
        if (batch->ids[i].signal_id != 0)
            ids[count++] = batch->ids[i].signal_id;
    }
    return count == 0 ||
           store_signal_consume(batch->store, ids, count, plan_id, now_us, &consumed, err);
}

static bool cut_slice(struct id_batch *batch, struct plan_cutter *cutter, uint32_t buckets,
                      size_t from, size_t to, bool *taken, struct error *err)
{
    const struct plan_draft *draft = cutter->draft;
    const bool by_range = draft->spec.operation.slice_ids == ID_SLICING_RANGE;
    const struct slice slice = {
        .dimension = SLICE_ID,
        .window = draft->plan.window,
        .ids = by_range ? (struct slice_ids){ .slicing = ID_SLICING_RANGE,
                                              .from = batch->ids[from].rank,
                                              .to = batch->ids[to - 1].rank + 1 }
                        : (struct slice_ids){ .slicing = ID_SLICING_HASH,
                                              .bucket = (uint32_t)batch->ids[from].rank,
                                              .bucket_count = buckets },
        .number = batch->slice_count++,
        .expected_records = (int64_t)(to - from),
        .expected_requests = divide_up((int64_t)(to - from), ids_per_request(&draft->spec)),
    };
    struct str ids[ID_SLICE_MAX];
    struct plan_cut cut = {
        .slice = &slice, .ids = ids, .id_count = to - from, .generation = draft->plan.id
    };

    for (size_t i = from; i < to; i++)
        ids[i - from] = batch->ids[i].id;
    if (!plan_cutter_take(cutter, &cut, taken, err))
        return false;
    return !*taken || cutter->writer == NULL ||
           consume(batch, draft->plan.id, draft->request->now_us, from, to, err);
}

bool id_batch_cut(struct id_batch *batch, struct plan_cutter *cutter, bool *is_over,
                  struct error *err)
{
    const struct spec *spec = &cutter->draft->spec;
    const uint32_t buckets = bucket_count(spec, batch->count);
    bool taken = true;

    if (batch->count > 0 && !rank_all(batch, spec, buckets, err))
        return false;
    for (size_t from = 0, to; from < batch->count && (taken || cutter->writer == NULL); from = to) {
        to = end_of(batch, spec, from);
        if (!cut_slice(batch, cutter, buckets, from, to, &taken, err))
            return false;
    }
    *is_over = *is_over || (!taken && cutter->writer != NULL);
    batch->count = 0;
    arena_reset(&batch->arena);
    return true;
}
