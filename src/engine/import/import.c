/* One round of an importer. What it knows between rounds is its lease and the gaps it has seen. */
#include "engine/import/import.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "engine/import/import_row.h"
#include "port/store_offset.h"
#include "port/store_parked.h"
#include "port/store_subscription.h"

/* Payloads of a page: pages are made shorter beyond the one and longer below the other. */
#define PAGE_BYTES_MUCH (INT64_C(32) << 20)
#define PAGE_BYTES_LITTLE (INT64_C(4) << 20)

/* A page that is full of rows that wait for writers is doubled as often as this. */
enum { DOUBLINGS_MAX = 6 };

/* How often parked keys are looked at, and how many. */
#define RETRY_EVERY_US (2 * US_PER_SECOND)
enum { PARKED_MAX = 1000 };

enum { ROWS_FIRST = 64, ROUND_BYTES_MAX = 1 << 30 };

/* A row that waits for one whose time is not known here. */
#define HOLD_US US_PER_MINUTE

struct import {
    struct import_parts parts;
    struct import_settings settings;
    struct arena arena; /* of a round */

    bool is_held;
    int64_t epoch;
    int64_t until_us; /* of the lease */
    int64_t retry_us; /* when parked keys are looked at again */
    int64_t rows_max; /* of the next page */
    int doublings;    /* of that, because nothing of the last one could be taken yet */

    /* Aggregates that had a gap when the table was looked at, each with its highest version then,
     * and who was writing after that. */
    struct arena gap_arena;
    struct foreign_event *gaps;
    size_t gap_count;
    struct stream_writers writers;
    bool is_quiet; /* none of these is writing any more */
};

struct page { /* of a round */
    struct foreign_row_list list;
    struct import_row *rows;
    size_t keyed; /* the first that has an aggregate */
    size_t count;
    struct foreign_event *taken;
    size_t taken_count;
    struct str *ids; /* of those to mark, first those taken */
    size_t id_count;
};

/* ---- opening and closing ---- */

bool import_open(struct import **out, const struct import_parts *parts,
                 const struct import_settings *settings, struct error *err)
{
    struct import *import = calloc(1, sizeof(*import));

    *out = import;
    if (import == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for an importer");
    import->parts = *parts;
    import->settings = *settings;
    if (import->settings.lease_us == 0)
        import->settings.lease_us = IMPORT_LEASE_US;
    import->rows_max = parts->spec->page < ROWS_FIRST ? parts->spec->page : ROWS_FIRST;
    arena_init(&import->arena, ROUND_BYTES_MAX);
    arena_init(&import->gap_arena, ROUND_BYTES_MAX);
    return true;
}

void import_close(struct import *import)
{
    if (import == NULL)
        return;
    arena_release(&import->arena);
    arena_release(&import->gap_arena);
    free(import);
}

static void forget(struct import *import)
{
    import->is_held = false;
    import->gap_count = 0;
    import->is_quiet = false;
}

/* ---- the lease ---- */

static struct offset_key key_of(const struct import *import)
{
    return (struct offset_key){ SUBSCRIPTION_GROUP, import->parts.spec->name };
}

static struct offset_renew renewal(const struct import *import, struct offset_held *lane,
                                   int64_t now_us)
{
    *lane = (struct offset_held){ .lane = 0, .epoch = import->epoch, .is_idle = true };
    return (struct offset_renew){ .key = key_of(import),
                                  .until_us = now_us + import->settings.lease_us,
                                  .lanes = lane,
                                  .count = 1 };
}

static bool claim(struct import *import, int64_t now_us, struct error *err)
{
    const struct offset_claim claim = { .key = key_of(import),
                                        .owner = import->settings.owner,
                                        .now_us = now_us,
                                        .until_us = now_us + import->settings.lease_us,
                                        .limit = 1 };
    struct offset_lane_list lanes;

    if (!store_offset_claim(import->parts.store, &import->arena, &claim, &lanes, err))
        return false;
    import->is_held = lanes.count == 1;
    if (import->is_held) {
        import->epoch = lanes.items[0].epoch;
        import->until_us = claim.until_us;
    }
    return true;
}

/* In a transaction, it is a fence: the row is locked until the end. */
static bool renew(struct import *import, int64_t now_us, struct error *err)
{
    struct offset_held lane;
    const struct offset_renew all = renewal(import, &lane, now_us);

    if (!store_offset_renew(import->parts.store, &all, &import->is_held, err))
        return false;
    import->until_us = all.until_us;
    return true;
}

bool import_release(struct import *import, struct error *err)
{
    const bool was_held = import->is_held;
    struct offset_held lane;
    const struct offset_renew all = renewal(import, &lane, 0);

    forget(import);
    return !was_held || store_offset_release(import->parts.store, &all, err);
}

/* ---- gaps ---- */

static int by_key(const void *a, const void *b)
{
    return import_key_order(a, b);
}

/* Only up to the version that was there: below a later one, others may have begun to write since.
 */
static bool is_settled(void *context, const struct import_row *row)
{
    const struct import *import = context;
    const struct foreign_event *gap =
        import->is_quiet && import->gap_count > 0
            ? bsearch(&row->event, import->gaps, import->gap_count, sizeof(import->gaps[0]), by_key)
            : NULL;

    return gap != NULL && row->event.event.version <= gap->event.version;
}

static bool shares_one(const struct stream_writers *a, const struct stream_writers *b)
{
    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k < b->count; k++) {
            if (str_eq(a->items[i], b->items[k]))
                return true;
        }
    }
    return false;
}

/* Before a page: whether those who were writing when the gaps were seen have ended. The page that
 * follows sees all they committed. */
static bool look_at_writers(struct import *import, struct error *err)
{
    struct stream_writers now;

    if (import->gap_count == 0 || import->is_quiet)
        return true;
    if (!foreign_writers(import->parts.foreign, &import->arena, &now, err))
        return false;
    import->is_quiet = !shares_one(&import->writers, &now);
    return true;
}

/* The aggregates of a page that wait, by key. */
static bool list_gaps(struct import *import, const struct page *page, struct error *err)
{
    struct arena *arena = &import->gap_arena;
    struct foreign_event *last = NULL;

    arena_reset(arena);
    import->gap_count = 0;
    import->is_quiet = false;
    import->gaps = ARENA_ARRAY(arena, struct foreign_event, page->count);
    if (import->gaps == NULL)
        return arena_error(arena, err);
    for (size_t i = page->keyed; i < page->count; i++) {
        const struct foreign_event *event = &page->rows[i].event;

        if (page->rows[i].verdict != IMPORT_GAP)
            continue;
        if (last == NULL || import_key_order(last, event) != 0) {
            last = &import->gaps[import->gap_count++];
            *last = (struct foreign_event){
                .aggregate_type = arena_copy(arena, event->aggregate_type),
                .aggregate_id = arena_copy(arena, event->aggregate_id),
            };
        }
        last->event.version = event->event.version;
    }
    return !arena->failed || arena_error(arena, err);
}

static int64_t count_gaps(const struct page *page)
{
    int64_t gaps = 0;

    for (size_t i = page->keyed; i < page->count; i++)
        gaps += page->rows[i].verdict == IMPORT_GAP;
    return gaps;
}

/* After a page. The writers are read after the gaps were seen. Gaps that are new wait until those
 * of the last mark are settled, and then for a mark of their own. */
static bool keep_gaps(struct import *import, const struct page *page, int64_t *gaps,
                      struct error *err)
{
    *gaps = count_gaps(page);
    if (*gaps == 0) {
        import->gap_count = 0;
        import->is_quiet = false;
        return true;
    }
    if (import->gap_count > 0 && !import->is_quiet)
        return true;
    return list_gaps(import, page, err) &&
           foreign_writers(import->parts.foreign, &import->gap_arena, &import->writers, err);
}

/* ---- a page ---- */

static void fit_page(struct import *import, const struct page *page)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < page->list.count; i++)
        bytes += (int64_t)page->list.items[i].payload.len;
    if (bytes > PAGE_BYTES_MUCH && import->rows_max > 1)
        import->rows_max /= 2;
    else if (bytes < PAGE_BYTES_LITTLE)
        import->rows_max *= 2;
    if (import->rows_max > import->parts.spec->page)
        import->rows_max = import->parts.spec->page;
}

static bool make_rows(struct import *import, struct page *page, struct error *err)
{
    page->count = page->list.count;
    page->rows = ARENA_ARRAY(&import->arena, struct import_row, page->count);
    page->taken = ARENA_ARRAY(&import->arena, struct foreign_event, page->count);
    page->ids = ARENA_ARRAY(&import->arena, struct str, page->count);
    if (page->rows == NULL || page->taken == NULL || page->ids == NULL)
        return arena_error(&import->arena, err);
    for (size_t i = 0; i < page->count; i++) {
        page->rows[i] = (struct import_row){ .row = &page->list.items[i] };
        if (!import_row_make(&page->rows[i], &import->arena, import->parts.spec, err))
            return false;
    }
    import_rows_sort(page->rows, page->count);
    return true;
}

/* Where the outbox is, for rows that have a key. */
static bool find_places(struct import *import, struct page *page, struct error *err)
{
    struct foreign_place *places = ARENA_ARRAY(&import->arena, struct foreign_place, page->count);
    size_t asked = 0;

    if (places == NULL)
        return arena_error(&import->arena, err);
    while (page->keyed < page->count && (page->rows[page->keyed].row->aggregate_type.len == 0 ||
                                         page->rows[page->keyed].row->aggregate_id.len == 0 ||
                                         !page->rows[page->keyed].row->has_version))
        page->keyed++;
    for (size_t i = page->keyed; i < page->count; i++)
        page->taken[asked++] = page->rows[i].event;
    if (!store_outbox_places(import->parts.store, &import->arena, page->taken, asked, places, err))
        return false;
    for (size_t i = 0; i < asked; i++)
        page->rows[page->keyed + i].place = places[i];
    return true;
}

static void choose(struct page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        if (page->rows[i].verdict == IMPORT_TAKE) {
            page->taken[page->taken_count++] = page->rows[i].event;
            page->ids[page->id_count++] = page->rows[i].row->id;
        }
    }
    for (size_t i = 0; i < page->count; i++) {
        if (page->rows[i].verdict == IMPORT_REPEAT)
            page->ids[page->id_count++] = page->rows[i].row->id;
    }
}

/* ---- writing ---- */

static struct foreign_ids marked(const struct page *page)
{
    return (struct foreign_ids){ page->ids, page->id_count };
}

/* In the transaction. *added is false when another importer has the lease. */
static bool add_within(struct import *import, const struct page *page, int64_t now_us,
                       struct error *err)
{
    int64_t added = 0;

    if (!renew(import, now_us, err))
        return false;
    if (!import->is_held)
        return true;
    if (page->taken_count > 0 &&
        !store_outbox_add(import->parts.store, page->taken, page->taken_count, &added, err))
        return false;
    if (added != (int64_t)page->taken_count)
        return error_set(err, ERROR_TRANSIENT, "import.raced",
                         "somebody else has imported the same versions of the same aggregates");
    return !import->parts.foreign->shares_session ||
           foreign_mark(import->parts.foreign, marked(page), err);
}

static bool add(struct import *import, const struct page *page, int64_t now_us, struct error *err)
{
    struct store *store = import->parts.store;

    if (!store_begin(store, err))
        return false;
    if (add_within(import, page, now_us, err)) {
        if (!import->is_held) {
            store_rollback(store);
            return true;
        }
        if (store_commit(store, err))
            return import->parts.foreign->shares_session ||
                   foreign_mark(import->parts.foreign, marked(page), err);
    }
    store_rollback(store);
    return false;
}

/* People see the key; the row's own database has when it is looked at again. */
static bool park(struct import *import, const struct import_row *row, int64_t now_us,
                 int64_t retry_in_us, struct error *err)
{
    const struct offset_key key = key_of(import);
    const int64_t version = row->row->has_version ? row->row->version : 0;

    const struct parked parked = { .aggregate_type = row->event.aggregate_type,
                                   .aggregate_id = row->event.aggregate_id,
                                   .lane = row->event.event.lane,
                                   .head_version = version,
                                   .seen_version = version,
                                   .attempts_begun = row->row->attempts + 1,
                                   .attempts_ended = row->row->attempts + 1,
                                   .policy = POLICY_WAIT,
                                   .next_retry_us = now_us + retry_in_us,
                                   .last_error = row->reason,
                                   .parked_us = now_us };
    bool is_known;

    if (!store_parked_begin(import->parts.store, &key, &parked, &is_known, err))
        return false;
    return is_known ? store_parked_end(import->parts.store, &key, &parked, &is_known, err)
                    : store_parked_put(import->parts.store, &key, &parked, err);
}

static bool refuse_all(struct import *import, const struct page *page, int64_t now_us,
                       struct import_round *round, struct error *err)
{
    for (size_t i = 0; i < page->count; i++) {
        const struct import_row *row = &page->rows[i];
        int64_t retry_in_us;

        if (row->verdict != IMPORT_REFUSE)
            continue;
        if (!foreign_refuse(import->parts.foreign, row->row->id, row->reason, &retry_in_us, err) ||
            !park(import, row, now_us, retry_in_us, err))
            return false;
        round->refused++;
    }
    return true;
}

/* Rows that wait for one that was refused would fill the next page too. */
static bool hold_waiting(struct import *import, struct page *page, struct error *err)
{
    page->id_count = 0;
    for (size_t i = 0; i < page->count; i++) {
        if (page->rows[i].verdict == IMPORT_WAIT && page->rows[i].row->is_due)
            page->ids[page->id_count++] = page->rows[i].row->id;
    }
    return foreign_hold(import->parts.foreign, marked(page), HOLD_US, err);
}

/* A key that was refused and has nothing more to wait for. */
static bool unpark(struct import *import, const struct page *page, struct error *err)
{
    const struct offset_key key = key_of(import);
    struct parked_list parked;
    bool ignored;

    if (!store_parked_list(import->parts.store, &import->arena,
                           &(struct parked_query){ .key = key, .limit = PARKED_MAX }, &parked, err))
        return false;
    for (size_t i = 0; i < parked.count; i++) {
        for (size_t k = 0; k < page->taken_count; k++) {
            if (str_eq(parked.items[i].aggregate_id, page->taken[k].aggregate_id) &&
                str_eq(parked.items[i].aggregate_type, page->taken[k].aggregate_type) &&
                parked.items[i].head_version <= page->taken[k].event.version &&
                !store_parked_remove(import->parts.store, &key, &parked.items[i], &ignored, err))
                return false;
        }
    }
    return true;
}

/* Keys whose time has come, or that a person wants to be tried: their rows are due. A key that has
 * no rows left was given up in its own database. */
static bool retry_parked(struct import *import, int64_t now_us, struct error *err)
{
    const size_t prefix = import->parts.spec->type_prefix.len;
    const struct offset_key key = key_of(import);
    struct parked_list parked;

    if (now_us < import->retry_us)
        return true;
    import->retry_us = now_us + RETRY_EVERY_US;
    if (!store_parked_list(import->parts.store, &import->arena,
                           &(struct parked_query){ .key = key, .limit = PARKED_MAX }, &parked, err))
        return false;
    for (size_t i = 0; i < parked.count; i++) {
        const struct str type = parked.items[i].aggregate_type;
        int64_t rows = 1;
        bool ignored;

        if (parked.items[i].next_retry_us > now_us)
            continue;
        if (!foreign_retry(import->parts.foreign,
                           str_slice(type, prefix <= type.len ? prefix : 0, type.len),
                           parked.items[i].aggregate_id, &rows, err) ||
            (rows == 0 &&
             !store_parked_remove(import->parts.store, &key, &parked.items[i], &ignored, err)))
            return false;
    }
    return true;
}

/* ---- the round ---- */

static bool write(struct import *import, struct page *page, int64_t now_us,
                  struct import_round *round, struct error *err)
{
    size_t repeats = 0;

    choose(page);
    repeats = page->id_count - page->taken_count;
    if (page->id_count > 0) {
        if (!add(import, page, now_us, err))
            return false;
        if (!import->is_held)
            return true;
        round->imported = (int64_t)page->taken_count;
        round->repeated = (int64_t)repeats;
    }
    return (page->taken_count == 0 || unpark(import, page, err)) &&
           refuse_all(import, page, now_us, round, err) && hold_waiting(import, page, err);
}

static bool take_page(struct import *import, int64_t now_us, struct import_round *round,
                      struct error *err)
{
    const struct import_gaps gaps = { is_settled, import };
    const int64_t rows_max = import->rows_max << import->doublings;
    struct page page = { 0 };

    if (!retry_parked(import, now_us, err) || !look_at_writers(import, err) ||
        !foreign_page(import->parts.foreign, &import->arena, rows_max, &page.list, err))
        return false;
    round->has_more = (int64_t)page.list.count >= rows_max;
    fit_page(import, &page);
    if (page.list.count == 0) {
        import->gap_count = 0;
        return import->until_us - now_us > import->settings.lease_us * 2 / 3 ||
               renew(import, now_us, err);
    }
    return make_rows(import, &page, err) && find_places(import, &page, err) &&
           import_rows_judge(page.rows, page.count, &import->arena, import->parts.spec->late, &gaps,
                             err) &&
           keep_gaps(import, &page, &round->gaps, err) &&
           write(import, &page, now_us, round, err) &&
           (import->until_us - now_us > import->settings.lease_us * 2 / 3 || !import->is_held ||
            renew(import, now_us, err));
}

bool import_round(struct import *import, int64_t now_us, struct import_round *round,
                  struct error *err)
{
    bool ok = true;

    *round = (struct import_round){ 0 };
    arena_reset(&import->arena);
    if (!import->is_held)
        ok = claim(import, now_us, err);
    if (ok && import->is_held)
        ok = take_page(import, now_us, round, err);
    if (round->imported > 0 || !round->has_more)
        import->doublings = 0;
    else if (round->gaps > 0 && import->doublings < DOUBLINGS_MAX)
        import->doublings++;
    round->is_held = ok && import->is_held;
    if (!ok && !foreign_error_is_own(err))
        forget(import); /* the lease may be lost */
    return ok || error_wrap(err, "import %.*s", STR_ARG(import->parts.spec->name));
}
