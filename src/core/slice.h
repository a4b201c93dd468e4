/* slice: a piece of a plan, small enough for one task.
 *
 * A plan is divided by time (HARVEST, BACKFILL, REPLAY and everything driven by time), by pages
 * (sources that cannot filter by time), or by ids (UPDATE and METRICS driven by ids). A feed
 * (window.type id or token) is one slice, from its cursor on; it is not divided. Nor is a file of
 * records, which is one slice. An iterator makes
 * one slice at a time: a plan of a hundred years needs no more memory than one of a day.
 *
 *      wanted pieces      |------------|       |------------------------|
 *      slices, max = 5    |-1--|-2--|3-|       |-4--|-5--|-6--|-7--|-8--|
 *      BACKFILL           |-8--|-7--|6-|       |-5--|-4--|-3--|-2--|-1--|
 *
 * The guarantee: the slices of a plan tile its pieces, pages or ids exactly: nothing twice, nothing
 * left out. No slice is longer than `max`. With an alignment, a slice ends on the farthest calendar
 * boundary within `max` if there is one, so that plans made at different times cut at the same
 * places; otherwise it ends on a step of the source's granularity.
 *
 * A slice's *own* window is what is covered when it succeeds. Its *query* is what is requested from
 * the source. It may be wider: by `overlap` towards the past, and by the source's granularity,
 * because a source that filters by whole days can only be queried for whole days. Records of the
 * query outside of `keep` are dropped by the client (`needs_filter`).
 *
 *      own                        |==============|
 *      keep           |- overlap -|==============|
 *      query     |day ............... day ............... day|
 */
#ifndef PATRA_CORE_SLICE_H
#define PATRA_CORE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "core/codes.h"
#include "core/id_range.h"
#include "core/source_codes.h"
#include "core/window.h"

/* ---- what a slice is ---- */

struct slice_query {
    struct window window; /* what is requested from the source */
    struct window keep;   /* records dated outside are dropped */
    bool needs_filter;    /* false if the two are the same */
};

/* Half-open, in the source's own numbering: the first page is 0 or 1 (its `base`). */
struct page_range {
    int64_t from;
    int64_t to;
};

/* HASH: the ids whose slice_bucket(id, bucket_count) is `bucket`. RANGE: numbers, half-open. */
struct slice_ids {
    enum id_slicing slicing;
    uint32_t bucket;
    uint32_t bucket_count;
    int64_t from;
    int64_t to;
};

/* ID: the ids above `after`. TOKEN: what the source has changed since it gave the token `after`.
 * Without an `after` (data NULL): all there is. */
struct slice_feed {
    enum cursor_type type;
    struct str after;
    bool has_bridge;   /* TOKEN: when the token has expired, what changed since ... */
    int64_t bridge_us; /* ... this instant is requested, not everything */
    struct str cursor; /* ID: the cursor as it was planned, `after` plus the lookback; data NULL:
                          there was none */
};

struct slice {
    enum slice_dimension dimension;
    struct window window;      /* TIME: its own; PAGE and ID: the plan's, for pace and audit */
    struct slice_query query;  /* TIME */
    struct id_range part;      /* TIME: only its records with these ids; not valid: all */
    struct page_range pages;   /* PAGE */
    struct slice_ids ids;      /* ID */
    struct slice_feed feed;    /* FEED */
    struct str file;           /* FILE: its name; empty where the endpoint has one file */
    int64_t number;            /* within the plan, from 0, in the order of fetching */
    int64_t expected_records;  /* SLICE_UNKNOWN without history */
    int64_t expected_requests; /* at least 1, or SLICE_UNKNOWN */
};

#define SLICE_UNKNOWN INT64_C(-1)

/* ---- how a plan is divided ---- */

struct slice_cut {      /* TIME */
    int64_t max_us;     /* the longest slice */
    int64_t min_us;     /* the shortest that history or a re-slice may make; 0 < min <= max */
    int64_t overlap_us; /* how far a query reaches back before its slice */
    enum align_unit align;
    enum granularity granularity; /* what the source can filter by */
};

/* How many records there were in how much time. A span of 0: unknown. */
struct slice_density {
    int64_t records;
    int64_t span_us;
};

struct slice_cost {        /* what turns records into requests */
    int64_t page_size;     /* records on a page; 0: unknown, a slice counts as one request */
    int64_t id_batch_size; /* two-phase: ids per detail request; 0: one phase */
};

struct slice_request {
    enum operation operation; /* BACKFILL goes from the newest to the oldest */
    enum slice_dimension dimension;
    struct window_list pieces; /* TIME: from coverage_plan(), sorted; must outlive the iterator */
    struct window window;      /* PAGE and ID: the plan's */
    struct slice_cut cut;      /* TIME */
    struct slice_density density;
    struct slice_cost cost;
    int64_t record_cap;      /* the most records that one query returns; 0: no cap */
    struct page_range pages; /* PAGE: all of them */
    int64_t pages_per_slice; /* PAGE */
    struct slice_ids ids;    /* ID: HASH uses only bucket_count, RANGE all of [from, to) */
    int64_t ids_per_slice;   /* ID, RANGE */
    int64_t ids_total;       /* ID: how many candidates there are; SLICE_UNKNOWN */
};

struct slice_iter {
    struct slice_request request;
    int64_t step_us;    /* TIME: the target length */
    size_t piece;       /* TIME: pieces already begun */
    struct window rest; /* TIME: what is left of the current piece */
    int64_t position;   /* PAGE, ID: where the next slice begins */
    int64_t number;
};

void slice_iter_init(struct slice_iter *iter, const struct slice_request *request);
bool slice_iter_next(struct slice_iter *iter, struct slice *slice); /* false: that was all */

/* ---- the parts it is made of ---- */

struct slice_query slice_query_of(const struct slice_cut *cut, struct window own);

/* The history of a source as one density: all records found, over all the time requested. Samples
 * without length do not count. */
struct slice_sample {
    struct window window;
    int64_t records;
};
struct slice_density slice_density_of(const struct slice_sample *samples, size_t count);

/* The slice length whose query, overlap included, is expected to return three quarters of the cap;
 * never more than cut.max, never less than cut.min or one step of the source's granularity. Returns
 * cut.max without a cap or history. The remaining quarter is for busy days: half of all
 * expectations are too low, and a slice that reaches the cap costs a wasted request and a
 * re-slice. */
int64_t slice_step_us(const struct slice_cut *cut, struct slice_density density,
                      int64_t record_cap);

/* Rounded up; SLICE_UNKNOWN without history. */
int64_t slice_expected_records(struct slice_density density, int64_t length_us);
int64_t slice_expected_requests(struct slice_cost cost, int64_t expected_records);

/* FNV-1a, 64 bits, over the bytes of the id, modulo the count. Must never change: buckets are
 * stored. Doubling the count splits bucket b into b and b + count. */
uint64_t slice_hash(struct str id);
uint32_t slice_bucket(struct str id, uint32_t bucket_count);

/* The same hash, mixed until every bit depends on every other: the high bits of FNV are equal for
 * ids that differ in their last characters. */
uint64_t slice_hash_mixed(struct str id);

/* Which of `turns` (more than 0) an id has, evenly for ids of any kind, and independent of its
 * bucket. */
uint32_t slice_turn(struct str id, uint32_t turns);

#endif
