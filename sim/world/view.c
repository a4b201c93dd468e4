/* The sorted orders, the bits that say what is current, and the queries over both. */
#include "sim/world/view.h"

#include <assert.h>
#include <stdlib.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* ---- sorting, once ---- */

struct keyed {
    int64_t key;
    uint32_t item;
};

/* Stable, so equal keys keep the order of the items, which is that of the records. */
static void radix_sort(struct keyed *items, struct keyed *spare, size_t count)
{
    const uint64_t flip = UINT64_C(1) << 63; /* negative keys before positive ones */

    for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
        size_t starts[DIGITS] = { 0 };
        size_t sum = 0;
        struct keyed *const from = items;

        for (size_t i = 0; i < count; i++)
            starts[((uint64_t)from[i].key ^ flip) >> shift & (DIGITS - 1)]++;
        for (size_t digit = 0; digit < DIGITS; digit++) {
            const size_t here = starts[digit];

            starts[digit] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++)
            spare[starts[((uint64_t)from[i].key ^ flip) >> shift & (DIGITS - 1)]++] = from[i];
        items = spare;
        spare = from;
    }
    /* Six passes: an even number, so the result is back where it began. */
    static_assert((64 + DIGIT_BITS - 1) / DIGIT_BITS % 2 == 0, "an even number of passes");
}

/* ---- building the orders ---- */

static bool is_by_version(enum view_order order)
{
    return order == ORDER_UPDATED || order == ORDER_DEPOSITED || order == ORDER_APPEARED;
}

static int64_t record_key(const struct corpus *corpus, enum view_order order, uint32_t record)
{
    switch (order) {
    case ORDER_CREATED:
        return corpus_created_us(corpus, record);
    case ORDER_ENTREZ:
        return corpus_entrez_us(corpus, record);
    case ORDER_PUBLISHED:
        return corpus_published_us(corpus, record);
    case ORDER_UPDATED:
    case ORDER_DEPOSITED:
    case ORDER_APPEARED:
    case ORDER_COUNT:
        break;
    }
    assert(!"an order of records");
    return 0;
}

static size_t collect(const struct corpus *corpus, enum view_order order, struct keyed *items)
{
    const uint32_t all = is_by_version(order) ? corpus->version_count : corpus->count;
    size_t count = 0;

    for (uint32_t i = 0; i < all; i++) {
        if (order == ORDER_DEPOSITED && (corpus->flags[i] & VERSION_DEPOSIT) == 0)
            continue;
        items[count++] =
            (struct keyed){ is_by_version(order) ? corpus->at_us[i] : record_key(corpus, order, i),
                            i };
    }
    return count;
}

static bool order_open(struct order *order, const struct keyed *sorted, size_t count, size_t places)
{
    bool ok = true;

    order->count = (uint32_t)count;
    order->keys = calloc(count + 1, sizeof(*order->keys));
    order->items = calloc(count + 1, sizeof(*order->items));
    order->place = calloc(places, sizeof(*order->place));
    for (int mode = 0; mode < VIEW_MODE_COUNT; mode++)
        ok = bits_open(&order->bits[mode], order->count) && ok;
    if (!ok || order->keys == NULL || order->items == NULL || order->place == NULL)
        return false;
    for (uint32_t i = 0; i < order->count; i++) {
        order->keys[i] = sorted[i].key;
        order->items[i] = sorted[i].item;
        order->place[sorted[i].item] = i;
    }
    return true;
}

/* Versions as they appear, numbered from 1. */
static size_t number_events(struct view *view, struct keyed *items, struct keyed *spare)
{
    const struct corpus *corpus = view->corpus;

    for (uint32_t i = 0; i < corpus->version_count; i++)
        items[i] = (struct keyed){ corpus->visible_us[i], i };
    radix_sort(items, spare, corpus->version_count);
    for (uint32_t i = 0; i < corpus->version_count; i++) {
        view->events[i] = items[i].item;
        items[i].key = (int64_t)i + 1;
    }
    return corpus->version_count;
}

static size_t sort_order(struct view *view, enum view_order order, struct keyed *items,
                         struct keyed *spare)
{
    size_t count;

    if (order == ORDER_APPEARED)
        return number_events(view, items, spare);
    count = collect(view->corpus, order, items);
    radix_sort(items, spare, count);
    return count;
}

static bool build_orders(struct view *view, struct keyed *items, struct keyed *spare)
{
    const struct corpus *corpus = view->corpus;

    for (int order = 0; order < ORDER_COUNT; order++) {
        const size_t count = sort_order(view, (enum view_order)order, items, spare);

        if (!order_open(&view->orders[order], items, count,
                        is_by_version((enum view_order)order) ? corpus->version_count
                                                              : corpus->count))
            return false;
    }
    return true;
}

bool view_open(struct view *view, const struct corpus *corpus, struct error *err)
{
    struct keyed *items = malloc(corpus->version_count * sizeof(*items));
    struct keyed *spare = malloc(corpus->version_count * sizeof(*spare));
    bool ok;

    *view = (struct view){ .corpus = corpus, .now_us = INT64_MIN };
    view->events = malloc(corpus->version_count * sizeof(*view->events));
    ok = items != NULL && spare != NULL && view->events != NULL && build_orders(view, items, spare);
    free(items);
    free(spare);
    if (ok)
        return true;
    view_close(view);
    return error_set(err, ERROR_FATAL, "memory", "no memory for the orders of %u versions",
                     corpus->version_count);
}

void view_close(struct view *view)
{
    free(view->events);
    for (int i = 0; i < ORDER_COUNT; i++) {
        free(view->orders[i].keys);
        free(view->orders[i].items);
        free(view->orders[i].place);
        for (int mode = 0; mode < VIEW_MODE_COUNT; mode++)
            bits_close(&view->orders[i].bits[mode]);
    }
    *view = (struct view){ 0 };
}

/* ---- moving the view in time ---- */

static bool is_in_mode(uint8_t flags, int mode)
{
    switch (mode) {
    case VIEW_ALL:
        return true;
    case VIEW_NOT_MERGED:
        return (flags & VERSION_MERGED) == 0;
    default:
        return (flags & (VERSION_MERGED | VERSION_DELETED)) == 0;
    }
}

static uint32_t place_of(const struct view *view, enum view_order order, uint32_t version)
{
    const struct corpus *corpus = view->corpus;
    uint32_t item = version;

    if (order == ORDER_DEPOSITED) {
        while ((corpus->flags[item] & VERSION_DEPOSIT) == 0)
            item--;
    } else if (!is_by_version(order)) {
        item = corpus->record_of[version];
    }
    return view->orders[order].place[item];
}

static void show(struct view *view, uint32_t version, bool on)
{
    for (int i = 0; i < ORDER_COUNT; i++) {
        struct order *order = &view->orders[i];
        const uint32_t place = place_of(view, (enum view_order)i, version);

        for (int mode = 0; mode < VIEW_MODE_COUNT; mode++) {
            if (is_in_mode(view->corpus->flags[version], mode))
                bits_flip(&order->bits[mode], place, on);
        }
    }
}

static void rebuild(struct view *view)
{
    const struct corpus *corpus = view->corpus;

    for (int i = 0; i < ORDER_COUNT; i++) {
        struct order *order = &view->orders[i];

        for (int mode = 0; mode < VIEW_MODE_COUNT; mode++)
            bits_clear(&order->bits[mode]);
        for (uint32_t record = 0; record < corpus->count; record++) {
            const uint32_t version = corpus_current(corpus, record, view->now_us);
            uint32_t place;

            if (version == CORPUS_NONE)
                continue;
            place = place_of(view, (enum view_order)i, version);
            for (int mode = 0; mode < VIEW_MODE_COUNT; mode++) {
                if (is_in_mode(corpus->flags[version], mode))
                    bits_set_uncounted(&order->bits[mode], place);
            }
        }
        for (int mode = 0; mode < VIEW_MODE_COUNT; mode++)
            bits_recount(&order->bits[mode]);
    }
}

/* How many events have happened by then. */
static uint32_t events_until(const struct view *view, int64_t now_us)
{
    uint32_t low = 0, high = view->corpus->version_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (view->corpus->visible_us[view->events[middle]] <= now_us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_predecessor(const struct corpus *corpus, uint32_t version)
{
    return version > corpus->first[corpus->record_of[version]];
}

void view_seek(struct view *view, int64_t now_us)
{
    const struct corpus *corpus = view->corpus;
    uint32_t target;

    if (now_us == view->now_us)
        return;
    view->now_us = now_us;
    target = events_until(view, now_us);
    if ((target > view->event_pos ? target - view->event_pos : view->event_pos - target) >
        corpus->version_count / 16) {
        view->event_pos = target;
        rebuild(view);
        return;
    }
    for (; view->event_pos < target; view->event_pos++) {
        const uint32_t version = view->events[view->event_pos];

        if (has_predecessor(corpus, version))
            show(view, version - 1, false);
        show(view, version, true);
    }
    for (; view->event_pos > target; view->event_pos--) {
        const uint32_t version = view->events[view->event_pos - 1];

        show(view, version, false);
        if (has_predecessor(corpus, version))
            show(view, version - 1, true);
    }
}

/* ---- queries ---- */

struct view_query view_query_all(enum view_order order, enum view_mode mode)
{
    struct view_query query = { .order = order, .mode = mode, .record_to = UINT32_MAX };

    for (int i = 0; i < ORDER_COUNT; i++)
        query.ranges[i] = VIEW_RANGE_ALL;
    return query;
}

/* The first place whose key is not before `key`. */
static uint32_t lower_bound(const struct order *order, int64_t key)
{
    uint32_t low = 0, high = order->count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (order->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t record_at(const struct view *view, enum view_order order, uint32_t place)
{
    const uint32_t item = view->orders[order].items[place];

    return is_by_version(order) ? view->corpus->record_of[item] : item;
}

static void bounds(const struct view *view, const struct view_query *query, uint32_t *begin,
                   uint32_t *end)
{
    const struct order *order = &view->orders[query->order];
    const struct view_range range = query->any ? VIEW_RANGE_ALL : query->ranges[query->order];

    *begin = lower_bound(order, range.from_us);
    *end = range.to_us == INT64_MAX ? order->count : lower_bound(order, range.to_us);
    if (query->has_after) {
        uint32_t after = lower_bound(order, query->after_us);

        while (after < order->count && order->keys[after] == query->after_us &&
               record_at(view, query->order, after) <= query->after_record)
            after++;
        if (after > *begin)
            *begin = after;
    }
    if (*end < *begin)
        *end = *begin;
}

int64_t view_sequence_of(const struct view *view, uint32_t version)
{
    return (int64_t)view->orders[ORDER_APPEARED].place[version] + 1;
}

int64_t view_key_of(const struct corpus *corpus, enum view_order order, uint32_t version)
{
    switch (order) {
    case ORDER_UPDATED:
        return corpus->at_us[version];
    case ORDER_DEPOSITED:
        return corpus_deposited_us(corpus, version);
    default:
        return record_key(corpus, order, corpus->record_of[version]);
    }
}

static bool is_set(struct view_range range)
{
    return range.from_us != INT64_MIN || range.to_us != INT64_MAX;
}

static bool is_plain(const struct view_query *query)
{
    if (query->any)
        return false;
    for (int i = 0; i < ORDER_COUNT; i++) {
        if (i != (int)query->order && is_set(query->ranges[i]))
            return false;
    }
    return query->record_from == 0 && query->record_to == UINT32_MAX;
}

static struct hit hit_at(const struct view *view, const struct view_query *query, uint32_t place)
{
    const uint32_t record = record_at(view, query->order, place);

    return (struct hit){ record, query->order == ORDER_UPDATED
                                     ? view->orders[ORDER_UPDATED].items[place]
                                     : corpus_current(view->corpus, record, view->now_us) };
}

static bool is_within(const struct view *view, const struct view_query *query, int order,
                      uint32_t version)
{
    const struct view_range range = query->ranges[order];
    const int64_t key = order == ORDER_APPEARED
                            ? view_sequence_of(view, version)
                            : view_key_of(view->corpus, (enum view_order)order, version);

    return key >= range.from_us && key < range.to_us;
}

static bool matches(const struct view *view, const struct view_query *query, struct hit hit)
{
    bool has_range = false, has_one = false;

    if (hit.record < query->record_from || hit.record >= query->record_to)
        return false;
    for (int i = 0; i < ORDER_COUNT; i++) {
        if (!is_set(query->ranges[i]) || (i == (int)query->order && !query->any))
            continue; /* bounds() has already applied the range of the order */
        has_range = true;
        if (is_within(view, query, i, hit.version))
            has_one = true;
        else if (!query->any)
            return false;
    }
    return has_one || !has_range;
}

/* Scans the whole range; `hits` may be NULL, to count only. */
static size_t scan(const struct view *view, const struct view_query *query, size_t skip,
                   size_t limit, struct hit *hits)
{
    const struct order *order = &view->orders[query->order];
    const struct bits *bits = &order->bits[query->mode];
    uint32_t begin, end, place;
    size_t found = 0;

    bounds(view, query, &begin, &end);
    for (place = bits_next(bits, begin, end); place < end && found < limit;
         place = bits_next(bits, place + 1, end)) {
        const struct hit hit = hit_at(view, query, place);

        if (!matches(view, query, hit))
            continue;
        if (skip > 0) {
            skip--;
            continue;
        }
        if (hits != NULL)
            hits[found] = hit;
        found++;
    }
    return found;
}

size_t view_count(const struct view *view, const struct view_query *query)
{
    const struct bits *bits = &view->orders[query->order].bits[query->mode];
    uint32_t begin, end;

    if (!is_plain(query))
        return scan(view, query, 0, SIZE_MAX, NULL);
    bounds(view, query, &begin, &end);
    return bits_rank(bits, end) - bits_rank(bits, begin);
}

static void reverse(struct hit *hits, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const struct hit hit = hits[i];

        hits[i] = hits[count - 1 - i];
        hits[count - 1 - i] = hit;
    }
}

size_t view_page(const struct view *view, const struct view_query *query, size_t skip, size_t limit,
                 struct hit *hits)
{
    const struct order *order = &view->orders[query->order];
    const struct bits *bits = &order->bits[query->mode];
    uint32_t begin, end, place;
    size_t total, found = 0;

    if (!query->descending && !is_plain(query))
        return scan(view, query, skip, limit, hits);
    total = view_count(view, query);
    if (skip >= total || limit == 0)
        return 0;
    if (limit > total - skip)
        limit = total - skip;
    if (query->descending)
        skip = total - skip - limit; /* the same page, seen from the other end */
    if (is_plain(query)) {
        bounds(view, query, &begin, &end);
        place = bits_select(bits, bits_rank(bits, begin) + skip);
        for (; found < limit; place = bits_next(bits, place + 1, end))
            hits[found++] = hit_at(view, query, place);
    } else {
        found = scan(view, query, skip, limit, hits);
    }
    if (query->descending)
        reverse(hits, found);
    return found;
}
