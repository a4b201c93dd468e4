/* One round of the sequencer. What it knows between rounds is in struct sequencer; all of that is
 * read again with a claim. */
#include "engine/publish/sequencer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A scan of a full round, gaps and names of writers: far below it. */
enum { ROUND_BYTES_MAX = 256 << 20 };

struct sequencer {
    struct store *store;
    struct sequencer_settings settings;
    struct arena arena; /* of a round */

    bool is_held;
    struct stream_lease lease; /* its positions are the present ones */
    int64_t until_us;          /* of the lease */
    struct gaps gaps;
    struct gap *gap_items;

    /* The mark that gaps wait for; its texts are in an arena of its own. */
    bool has_mark;
    struct stream_mark mark;
    struct arena mark_arena;
};

/* ---- from the outside ---- */

bool sequencer_open(struct sequencer **out, struct store *store,
                    const struct sequencer_settings *settings, struct error *err)
{
    struct sequencer *s = calloc(1, sizeof(*s));

    *out = s;
    if (s == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for the sequencer");
    s->store = store;
    s->settings = *settings;
    if (s->settings.lease_us == 0)
        s->settings.lease_us = SEQUENCER_LEASE_US;
    if (s->settings.gaps_max == 0)
        s->settings.gaps_max = SEQUENCER_GAPS_MAX;
    if (s->settings.round_max == 0)
        s->settings.round_max = SEQUENCER_ROUND_MAX;
    arena_init(&s->arena, ROUND_BYTES_MAX);
    arena_init(&s->mark_arena, ROUND_BYTES_MAX);
    s->gap_items = calloc(s->settings.gaps_max, sizeof(*s->gap_items));
    if (s->gap_items != NULL)
        return true;
    sequencer_close(s);
    *out = NULL;
    return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for the sequencer's gaps");
}

void sequencer_close(struct sequencer *s)
{
    if (s == NULL)
        return;
    arena_release(&s->arena);
    arena_release(&s->mark_arena);
    free(s->gap_items);
    free(s);
}

static void forget(struct sequencer *s)
{
    s->is_held = false;
    s->has_mark = false;
}

/* A round that failed may have left the lease in the store. By its epoch nobody else's is given
 * back. */
bool sequencer_release(struct sequencer *s, struct error *err)
{
    forget(s);
    return s->lease.epoch == 0 || store_stream_release(s->store, s->lease.epoch, err);
}

/* ---- claiming ---- */

static bool too_many_gaps(const struct sequencer *s, struct error *err)
{
    return error_set(err, ERROR_TRANSIENT, "sequencer.gaps",
                     "more than %zu ranges of events are still being written between %" PRId64
                     " and %" PRId64,
                     s->settings.gaps_max, s->lease.horizon_id, s->lease.cursor_id);
}

/* What lies between horizon and cursor and is not in the stream are the gaps. */
static bool find_gaps(struct sequencer *s, struct error *err)
{
    struct stream_ids ids;

    gaps_init(&s->gaps, s->gap_items, s->settings.gaps_max, s->lease.horizon_id);
    if (s->lease.horizon_id == s->lease.cursor_id)
        return true;
    if (!store_stream_taken(s->store, &s->arena, s->lease.horizon_id, &ids, err))
        return false;
    for (size_t i = 0; i < ids.count && ids.items[i] <= s->lease.cursor_id; i++) {
        if (ids.items[i] > s->gaps.cursor && !gaps_see(&s->gaps, ids.items[i]))
            return too_many_gaps(s, err);
    }
    return gaps_pass(&s->gaps, s->lease.cursor_id) || too_many_gaps(s, err);
}

static bool claim(struct sequencer *s, int64_t now_us, struct error *err)
{
    const struct stream_claim claim = { .owner = s->settings.owner,
                                        .now_us = now_us,
                                        .until_us = now_us + s->settings.lease_us };

    if (!store_stream_claim(s->store, &claim, &s->lease, &s->is_held, err))
        return false;
    if (!s->is_held)
        s->lease = (struct stream_lease){ 0 }; /* somebody else's is not given back */
    s->until_us = claim.until_us;
    return !s->is_held || find_gaps(s, err);
}

/* ---- which gaps are dead ---- */

static bool keep_mark(struct sequencer *s, const struct stream_mark *mark, struct error *err)
{
    arena_reset(&s->mark_arena);
    s->mark = *mark;
    s->mark.writers.items =
        ARENA_ARRAY(&s->mark_arena, struct str, mark->writers.count > 0 ? mark->writers.count : 1);
    if (s->mark.writers.items == NULL)
        return arena_error(&s->mark_arena, err);
    for (size_t i = 0; i < mark->writers.count; i++)
        s->mark.writers.items[i] = arena_copy(&s->mark_arena, mark->writers.items[i]);
    s->has_mark = !s->mark_arena.failed;
    return s->has_mark || arena_error(&s->mark_arena, err);
}

/* *dead_up_to: after the scan that follows, what is still missing up to it will never be there. */
static bool look_at_writers(struct sequencer *s, int64_t *dead_up_to, struct error *err)
{
    struct stream_mark now;

    *dead_up_to = 0;
    if (s->gaps.count == 0) {
        s->has_mark = false;
        return true;
    }
    if (!store_stream_writers(s->store, &s->arena, &now, err))
        return false;
    if (now.writers.count == 0)
        *dead_up_to = now.last_id;
    else if (s->has_mark && !stream_writers_share(&s->mark.writers, &now.writers))
        *dead_up_to = s->mark.last_id;
    if (s->has_mark && *dead_up_to == 0)
        return true; /* the mark must wait for its own writers */
    return keep_mark(s, &now, err);
}

/* ---- positions ---- */

struct taking { /* the events of a round, in the order of their ids */
    struct stream_entry *entries;
    size_t count;
    bool is_cut;     /* an event could not be taken, nor those after it */
    int64_t stop_id; /* that event's */
};

static bool take_one(struct sequencer *s, const struct outbox_ref *ref, struct taking *taking,
                     struct error *err)
{
    if (ref->lane < 0 || ref->lane >= OUTBOX_LANES)
        return error_set(err, ERROR_FATAL, "sequencer.lane",
                         "event %" PRId64 " is in lane %" PRId64 ", which does not exist", ref->id,
                         ref->lane);
    if (!(ref->id > s->gaps.cursor ? gaps_see(&s->gaps, ref->id) : gaps_fill(&s->gaps, ref->id))) {
        taking->is_cut = true;
        taking->stop_id = ref->id;
        return true;
    }
    taking->entries[taking->count++] =
        (struct stream_entry){ .ref = *ref, .pos = ++s->lease.last_pos[ref->lane] };
    return true;
}

static bool take(struct sequencer *s, const struct outbox_ref_list *seen, struct taking *taking,
                 struct error *err)
{
    *taking = (struct taking){ 0 };
    if (seen->count == 0)
        return true;
    taking->entries = ARENA_ARRAY(&s->arena, struct stream_entry, seen->count);
    if (taking->entries == NULL)
        return arena_error(&s->arena, err);
    for (size_t i = 0; i < seen->count && !taking->is_cut; i++) {
        if (!take_one(s, &seen->items[i], taking, err))
            return false;
    }
    return true;
}

/* ---- the round ---- */

static bool write(struct sequencer *s, int64_t now_us, const struct taking *taking,
                  struct error *err)
{
    const int64_t horizon_id = gaps_horizon(&s->gaps);
    const struct stream_append append = { .epoch = s->lease.epoch,
                                          .now_us = now_us,
                                          .until_us = now_us + s->settings.lease_us,
                                          .cursor_id = s->gaps.cursor,
                                          .horizon_id = horizon_id,
                                          .entries = taking->entries,
                                          .count = taking->count };

    if (taking->count > 0 || horizon_id != s->lease.horizon_id ||
        s->gaps.cursor != s->lease.cursor_id) {
        if (!store_stream_append(s->store, &append, &s->is_held, err))
            return false;
    } else if (s->until_us - now_us < s->settings.lease_us * 2 / 3) {
        if (!store_stream_renew(s->store, s->lease.epoch, append.until_us, &s->is_held, err))
            return false;
    } else {
        return true;
    }
    s->lease.cursor_id = append.cursor_id;
    s->lease.horizon_id = append.horizon_id;
    s->until_us = append.until_us;
    return true;
}

static bool sequence(struct sequencer *s, int64_t now_us, struct sequencer_round *round,
                     struct error *err)
{
    const struct stream_scan scan = { .cursor_id = s->gaps.cursor,
                                      .gaps = s->gaps.items,
                                      .gap_count = s->gaps.count,
                                      .limit = s->settings.round_max };
    struct outbox_ref_list seen;
    struct taking taking;
    int64_t dead_up_to;

    if (!look_at_writers(s, &dead_up_to, err) ||
        !store_stream_scan(s->store, &s->arena, &scan, &seen, err) || !take(s, &seen, &taking, err))
        return false;
    if (taking.is_cut && dead_up_to >= taking.stop_id)
        dead_up_to = taking.stop_id - 1; /* it is there, only not taken yet */
    gaps_settle(&s->gaps, dead_up_to);
    if (!write(s, now_us, &taking, err))
        return false;
    round->appended = s->is_held ? (int64_t)taking.count : 0;
    round->gaps = s->gaps.count;
    round->has_more = taking.is_cut || (int64_t)seen.count >= scan.limit;
    return true;
}

bool sequencer_round(struct sequencer *s, int64_t now_us, struct sequencer_round *round,
                     struct error *err)
{
    bool ok = true;

    *round = (struct sequencer_round){ 0 };
    arena_reset(&s->arena);
    if (!s->is_held)
        ok = claim(s, now_us, err);
    if (ok && s->is_held) {
        ok = sequence(s, now_us, round, err);
        round->was_overtaken = ok && !s->is_held;
    }
    round->is_held = ok && s->is_held;
    if (!round->is_held)
        forget(s);
    return ok;
}
