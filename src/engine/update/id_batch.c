/* A batch of ids, divided by hash or by range. */
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

/* How many slices by hash. The source file decides, but no slice is made for less than one request,
 * nor for more ids than a slice may hold. */
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
                             "slice.ids: range needs ids that are numbers, and '%.*s' is not one",
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

struct span { /* of the batch: one slice */
    size_t from;
    size_t to;
};

static bool consume(struct id_batch *batch, const struct update_request *request, struct span span,
                    struct error *err)
{
    int64_t ids[ID_SLICE_MAX], consumed;
    size_t count = 0;

    for (size_t i = span.from; i < span.to; i++) {
        if (batch->ids[i].signal_id != 0)
            ids[count++] = batch->ids[i].signal_id;
    }
    return count == 0 ||
           store_signal_consume(batch->store,
                                &(struct signal_consume){ .ids = ids,
                                                          .count = count,
                                                          .plan_id = request->plan->id,
                                                          .now_us = request->now_us },
                                &consumed, err);
}

static struct slice_ids bounds_of(const struct id_batch *batch, const struct spec *spec,
                                  uint32_t buckets, struct span span)
{
    if (spec->operation.slice_ids == ID_SLICING_RANGE)
        return (struct slice_ids){ .slicing = ID_SLICING_RANGE,
                                   .from = batch->ids[span.from].rank,
                                   .to = batch->ids[span.to - 1].rank + 1 };
    return (struct slice_ids){ .slicing = ID_SLICING_HASH,
                               .bucket = (uint32_t)batch->ids[span.from].rank,
                               .bucket_count = buckets };
}

static bool cut_slice(struct id_batch *batch, const struct update_request *request,
                      struct slice_ids bounds, struct span span, bool *taken, struct error *err)
{
    const size_t count = span.to - span.from;
    const struct slice slice = {
        .dimension = SLICE_ID,
        .window = request->plan->window,
        .ids = bounds,
        .number = batch->slice_count++,
        .expected_records = (int64_t)count,
        .expected_requests = divide_up((int64_t)count, ids_per_request(request->spec)),
    };
    struct str ids[ID_SLICE_MAX];

    for (size_t i = 0; i < count; i++)
        ids[i] = batch->ids[span.from + i].id;
    if (!request->taker->take(request->taker, &(struct update_slice){ &slice, ids, count }, taken,
                              err))
        return false;
    return !*taken || request->is_preview || consume(batch, request, span, err);
}

bool id_batch_cut(struct id_batch *batch, const struct update_request *request, bool *is_over,
                  struct error *err)
{
    const struct spec *spec = request->spec;
    const uint32_t buckets = bucket_count(spec, batch->count);
    struct span span = { 0, 0 };
    bool taken = true;

    if (batch->count > 0 && !rank_all(batch, spec, buckets, err))
        return false;
    for (; span.from < batch->count && (taken || request->is_preview); span.from = span.to) {
        span.to = end_of(batch, spec, span.from);
        if (!cut_slice(batch, request, bounds_of(batch, spec, buckets, span), span, &taken, err))
            return false;
    }
    *is_over = *is_over || (!taken && !request->is_preview);
    batch->count = 0;
    arena_reset(&batch->arena);
    return true;
}
