/* view: what is visible at one time, in the order of its dates.
 *
 * An order is the list of all entries sorted by (date, record), built once. A bit per entry says
 * whether it is current at the view's time; moving the time flips the bits of the versions between,
 * so a slowly moving clock costs almost nothing. A tree of counts over blocks of bits finds the
 * n-th current entry, and counts those of any range, in O(log n); a page is O(log n + page).
 *
 *      updated:  [r7 v1][r2 v1][r7 v2][r9 v1][r2 v2] ...     one entry per version
 *      bits:        0      0      1      1      0            r2 v2 not yet visible, r7 v1 replaced
 *
 * There is a set of bits per mode, because APIs differ in how they treat deleted records. Not
 * thread-safe; world.c holds the lock.
 */
#ifndef PATRA_SIM_WORLD_VIEW_H
#define PATRA_SIM_WORLD_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "sim/world/bits.h"
#include "sim/world/corpus.h"

enum view_order {
    ORDER_UPDATED,   /* the date of the current version */
    ORDER_DEPOSITED, /* the date of its last deposit */
    ORDER_CREATED,
    ORDER_ENTREZ,
    ORDER_PUBLISHED,
    ORDER_APPEARED, /* the current version's sequence number; without a date */
    ORDER_COUNT,
};

enum view_mode {
    VIEW_ALL,        /* deleted and merged ones too, as tombstones */
    VIEW_NOT_MERGED, /* deleted records stay, merged ones disappear */
    VIEW_LIVE,       /* both disappear */
    VIEW_MODE_COUNT,
};

struct view_range {
    int64_t from_us;
    int64_t to_us;
};
#define VIEW_RANGE_ALL ((struct view_range){ INT64_MIN, INT64_MAX })

struct view_query {
    enum view_order order; /* what the result is sorted by */
    enum view_mode mode;
    bool descending;
    struct view_range ranges[ORDER_COUNT]; /* all must hold; that of `order` is the cheapest */
    bool any;                              /* one of the ranges that are set is enough */
    uint32_t record_from;                  /* [record_from, record_to) */
    uint32_t record_to;
    bool has_after; /* only entries after this key in the order (ascending only) */
    int64_t after_us;
    uint32_t after_record;
};

/* Everything: no range set, ascending. */
struct view_query view_query_all(enum view_order order, enum view_mode mode);

struct hit {
    uint32_t record;
    uint32_t version; /* the current one: an index into the corpus */
};

struct view {
    const struct corpus *corpus;
    int64_t now_us;
    uint32_t event_pos; /* events[0 .. event_pos) have happened */
    uint32_t *events;   /* versions in the order of their appearance */
    struct order {
        uint32_t count;
        int64_t *keys;   /* sorted */
        uint32_t *items; /* versions (updated, deposited) or records, beside their keys */
        uint32_t *place; /* the position of a version or record in items */
        struct bits bits[VIEW_MODE_COUNT];
    } orders[ORDER_COUNT];
};

bool view_open(struct view *view, const struct corpus *corpus, struct error *err) MUST_CHECK;
void view_close(struct view *view);

/* Moves the view to another time, forward or back. */
void view_seek(struct view *view, int64_t now_us);

size_t view_count(const struct view *view, const struct view_query *query);

/* Up to `limit` hits after the first `skip`; returns how many. */
size_t view_page(const struct view *view, const struct view_query *query, size_t skip, size_t limit,
                 struct hit *hits);

/* The sequence number of a version: versions are numbered from 1 in the order of their appearance.
 */
int64_t view_sequence_of(const struct view *view, uint32_t version);

/* The date of a version in an order: what a cursor contains. */
int64_t view_key_of(const struct corpus *corpus, enum view_order order, uint32_t version);

#endif
