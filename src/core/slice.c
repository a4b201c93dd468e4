/* slice: estimates, queries, and the iterator over the slices of a plan. */
#include "core/slice.h"

#include <assert.h>

#include "base/instant.h"
#include "core/align.h"
#include "core/limits.h"

/* ---- estimates ---- */

struct slice_density slice_density_of(const struct slice_sample *samples, size_t count)
{
    struct slice_density density = { 0 };

    for (size_t i = 0; i < count; i++) {
        assert(samples[i].records >= 0);
        if (!window_is_valid(samples[i].window))
            continue;
        density.records += samples[i].records;
        density.span_us += window_length_us(samples[i].window);
    }
    return density;
}

int64_t slice_expected_records(struct slice_density density, int64_t length_us)
{
    __int128 product;

    if (density.span_us == 0)
        return SLICE_UNKNOWN;
    product = (__int128)density.records * length_us + density.span_us - 1;
    return (int64_t)(product / density.span_us);
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

int64_t slice_expected_requests(struct slice_cost cost, int64_t expected_records)
{
    int64_t requests = 1; /* even an empty slice takes one request */

    if (expected_records == SLICE_UNKNOWN)
        return SLICE_UNKNOWN;
    if (cost.page_size > 0 && expected_records > cost.page_size)
        requests = divide_up(expected_records, cost.page_size);
    if (cost.id_batch_size > 0)
        requests += divide_up(expected_records, cost.id_batch_size);
    return requests;
}

int64_t slice_step_us(const struct slice_cut *cut, struct slice_density density, int64_t record_cap)
{
    const int64_t granule_us = granularity_us(cut->granularity);
    const int64_t least_us = cut->min_us > granule_us ? cut->min_us : granule_us;
    __int128 step_us;

    if (record_cap <= 0 || density.span_us == 0 || density.records == 0)
        return cut->max_us;
    step_us = (__int128)record_cap * 3 / 4 * density.span_us / density.records - cut->overlap_us;
    if (step_us < least_us)
        step_us = least_us;
    return step_us < cut->max_us ? (int64_t)step_us : cut->max_us;
}

/* ---- queries ---- */

static int64_t saturated(int64_t at_us)
{
    if (at_us < INSTANT_MIN)
        return INSTANT_MIN;
    return at_us > INSTANT_MAX ? INSTANT_MAX : at_us;
}

/* How far an instant is after the last step of the source's granularity, and before the next. */
static int64_t after_granule(int64_t at_us, enum granularity granularity)
{
    const int64_t granule_us = granularity_us(granularity);

    return at_us - instant_floor(at_us, granule_us);
}

static int64_t before_granule(int64_t at_us, enum granularity granularity)
{
    const int64_t after_us = after_granule(at_us, granularity);

    return after_us > 0 ? granularity_us(granularity) - after_us : 0;
}

struct slice_query slice_query_of(const struct slice_cut *cut, struct window own)
{
    const struct window keep = { saturated(own.from_us - cut->overlap_us), own.to_us };
    const int64_t more_before_us = after_granule(keep.from_us, cut->granularity);
    const int64_t more_behind_us = before_granule(keep.to_us, cut->granularity);

    return (struct slice_query){
        .window = { saturated(keep.from_us - more_before_us),
                    saturated(keep.to_us + more_behind_us) },
        .keep = keep,
        .needs_filter = more_before_us > 0 || more_behind_us > 0,
    };
}

uint64_t slice_hash(struct str id)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < id.len; i++)
        hash = (hash ^ (unsigned char)id.data[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint32_t slice_bucket(struct str id, uint32_t bucket_count)
{
    assert(bucket_count > 0);
    return (uint32_t)(slice_hash(id) % bucket_count);
}

/* The finaliser of MurmurHash3. */
uint64_t slice_hash_mixed(struct str id)
{
    uint64_t x = slice_hash(id);

    x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 33);
}

uint32_t slice_turn(struct str id, uint32_t turns)
{
    assert(turns > 0);
    return (uint32_t)((slice_hash_mixed(id) >> 32) % turns);
}

/* ---- the iterator ---- */

static void assert_request(const struct slice_request *r)
{
    switch (r->dimension) {
    case SLICE_TIME:
        assert(r->cut.min_us > 0);
        assert(r->cut.max_us >= r->cut.min_us);
        assert(r->cut.max_us <= WINDOW_SPAN_MAX_US);
        assert(r->cut.overlap_us >= 0 && r->cut.overlap_us <= WINDOW_SPAN_MAX_US);
        break;
    case SLICE_PAGE:
        assert(r->pages_per_slice > 0);
        break;
    case SLICE_ID:
        if (r->ids.slicing == ID_SLICING_HASH)
            assert(r->ids.bucket_count > 0 && r->ids.bucket_count <= SLICE_BUCKETS_MAX);
        else
            assert(r->ids_per_slice > 0);
        break;
    case SLICE_FEED:
    case SLICE_FILE:
        assert(!"feeds and files are not divided");
        break;
    }
}

void slice_iter_init(struct slice_iter *iter, const struct slice_request *request)
{
    assert_request(request);
    *iter = (struct slice_iter){ .request = *request };
    if (request->dimension == SLICE_TIME)
        iter->step_us = slice_step_us(&request->cut, request->density, request->record_cap);
    else if (request->dimension == SLICE_PAGE)
        iter->position = request->pages.from;
    else if (request->ids.slicing == ID_SLICING_RANGE)
        iter->position = request->ids.from;
}

/* The next piece to slice: the oldest or the newest of those left. */
static bool next_piece(struct slice_iter *iter, bool is_newest_first)
{
    const struct window_list pieces = iter->request.pieces;

    if (iter->piece == pieces.count)
        return false;
    iter->rest = pieces.items[is_newest_first ? pieces.count - 1 - iter->piece : iter->piece];
    iter->piece++;
    assert(window_is_valid(iter->rest));
    return true;
}

/* The end of a slice that begins at `from`: the farthest calendar boundary within the step; else
 * the farthest step of the source's granularity, so that neighbours do not request the same; else
 * the end of the step. */
static int64_t end_of(const struct slice_cut *cut, int64_t from_us, int64_t step_us)
{
    const int64_t end_us = from_us + step_us;
    const int64_t boundary_us = align_floor(end_us, cut->align);
    const int64_t granule_us = end_us - after_granule(end_us, cut->granularity);

    if (cut->align != ALIGN_NONE && boundary_us > from_us)
        return boundary_us;
    return granule_us > from_us ? granule_us : end_us;
}

/* The same towards the past. */
static int64_t start_of(const struct slice_cut *cut, int64_t to_us, int64_t step_us)
{
    const int64_t start_us = to_us - step_us;
    const int64_t boundary_us = align_ceil(start_us, cut->align);
    const int64_t granule_us = start_us + before_granule(start_us, cut->granularity);

    if (cut->align != ALIGN_NONE && boundary_us < to_us)
        return boundary_us;
    return granule_us < to_us ? granule_us : start_us;
}

static struct window cut_oldest(struct slice_iter *iter)
{
    struct window own = iter->rest;

    if (window_length_us(own) > iter->step_us)
        own.to_us = end_of(&iter->request.cut, own.from_us, iter->step_us);
    iter->rest.from_us = own.to_us;
    return own;
}

static struct window cut_newest(struct slice_iter *iter)
{
    struct window own = iter->rest;

    if (window_length_us(own) > iter->step_us)
        own.from_us = start_of(&iter->request.cut, own.to_us, iter->step_us);
    iter->rest.to_us = own.from_us;
    return own;
}

static bool next_of_time(struct slice_iter *iter, struct slice *slice)
{
    const struct slice_request *r = &iter->request;
    const bool is_newest_first = r->operation == OPERATION_BACKFILL;

    if (!window_is_valid(iter->rest) && !next_piece(iter, is_newest_first))
        return false;
    slice->window = is_newest_first ? cut_newest(iter) : cut_oldest(iter);
    assert(window_is_valid(slice->window));
    slice->query = slice_query_of(&r->cut, slice->window);
    slice->expected_records =
        slice_expected_records(r->density, window_length_us(slice->query.window));
    slice->expected_requests = slice_expected_requests(r->cost, slice->expected_records);
    return true;
}

static bool next_of_pages(struct slice_iter *iter, struct slice *slice)
{
    const struct slice_request *r = &iter->request;
    const int64_t left = r->pages.to - iter->position;
    const int64_t count = left < r->pages_per_slice ? left : r->pages_per_slice;

    if (left <= 0)
        return false;
    slice->pages = (struct page_range){ iter->position, iter->position + count };
    slice->expected_records = r->cost.page_size > 0 ? count * r->cost.page_size : SLICE_UNKNOWN;
    slice->expected_requests = count;
    if (r->cost.id_batch_size > 0 && slice->expected_records > 0)
        slice->expected_requests += divide_up(slice->expected_records, r->cost.id_batch_size);
    iter->position += count;
    return true;
}

static bool next_of_ids(struct slice_iter *iter, struct slice *slice)
{
    const struct slice_request *r = &iter->request;
    const int64_t count = (int64_t)r->ids.bucket_count;

    slice->ids = r->ids;
    if (r->ids.slicing == ID_SLICING_HASH) {
        if (iter->position == count)
            return false;
        slice->ids.bucket = (uint32_t)iter->position++;
        slice->expected_records =
            r->ids_total == SLICE_UNKNOWN ? SLICE_UNKNOWN : divide_up(r->ids_total, count);
    } else {
        const int64_t left = r->ids.to - iter->position;

        if (left <= 0)
            return false;
        slice->ids.from = iter->position;
        slice->ids.to = left > r->ids_per_slice ? iter->position + r->ids_per_slice : r->ids.to;
        slice->expected_records = slice->ids.to - slice->ids.from;
        iter->position = slice->ids.to;
    }
    slice->expected_requests = slice_expected_requests(r->cost, slice->expected_records);
    return true;
}

bool slice_iter_next(struct slice_iter *iter, struct slice *slice)
{
    bool has_more = false;

    *slice = (struct slice){ .dimension = iter->request.dimension,
                             .window = iter->request.window,
                             .number = iter->number };
    switch (iter->request.dimension) {
    case SLICE_TIME:
        has_more = next_of_time(iter, slice);
        break;
    case SLICE_PAGE:
        has_more = next_of_pages(iter, slice);
        break;
    case SLICE_ID:
        has_more = next_of_ids(iter, slice);
        break;
    case SLICE_FEED:
    case SLICE_FILE:
        break;
    }
    iter->number += has_more;
    return has_more;
}
