/* store_stream: the events of the outbox in the order in which everybody reads them.
 *
 * Events commit in another order than that of their ids, and some ids never become events. One
 * sequencer at a time (engine/publish/sequencer.h) looks at the outbox and gives each event a
 * position in its lane: 1, 2, 3 ..., without gaps, never changed.
 *
 *      store_stream_claim()     the lease: who is the sequencer, and how far the last one came
 *      store_stream_taken()     what of the outbox is in the stream above an id
 *      store_stream_writers()   who may yet commit events with ids given out so far
 *      store_stream_scan()      new events, and those that were passed over
 *      store_stream_append()    positions for them, and how far the sequencer is
 *
 *      store_stream_ends()      how far each lane goes
 *      store_stream_read()      the events after a position, for those who hand them on
 *
 * The lease has an epoch. Every later call names it, and does nothing (*held is false) when another
 * sequencer has claimed the stream since. The append begins by taking the head's row under the
 * epoch, so it is written as a whole or not at all, and by the owner of the lease or not at all.
 *
 * What the caller may rest on:
 *   - The ids of one record's events are in the order of its versions, and who sees a later one
 * sees the earlier ones (port/store_record.h).
 *   - A scan is one moment of the database.
 *   - Who draws an id is a writer from before that until it ends; `last_id` of a mark is read
 * before its writers. So when a later mark has none of these writers, a scan after it sees every
 * event with an id up to `last_id` that there will ever be.
 */
#ifndef PATRA_PORT_STORE_STREAM_H
#define PATRA_PORT_STORE_STREAM_H

#include "core/gaps.h"
#include "core/limits.h"
#include "port/store.h"
#include "port/store_outbox.h"

struct stream_claim {
    struct str owner; /* of one sequencer alone: it may claim again what it holds */
    int64_t now_us;
    int64_t until_us;
};

struct stream_lease {
    int64_t epoch;
    int64_t cursor_id;  /* the highest id that was looked at */
    int64_t horizon_id; /* up to it every id is in the stream, or will never be an event */
    int64_t last_pos[OUTBOX_LANES];
};

struct stream_ids {
    int64_t *items;
    size_t count;
};

struct stream_writers {
    struct str *items;
    size_t count;
};

struct stream_mark {
    int64_t last_id; /* the highest id given out */
    struct stream_writers writers;
};

struct stream_scan {
    int64_t cursor_id;
    const struct gap *gaps; /* up to the cursor */
    size_t gap_count;
    int64_t limit; /* of events beyond the cursor; those in gaps are all returned */
};

struct outbox_ref {
    int64_t id;
    int64_t lane;
};

struct outbox_ref_list {
    struct outbox_ref *items; /* by id */
    size_t count;
};

struct stream_entry {
    struct outbox_ref ref;
    int64_t pos;
};

struct stream_append {
    int64_t epoch;
    int64_t now_us;
    int64_t until_us; /* of the lease: it is renewed */
    int64_t cursor_id;
    int64_t horizon_id;
    const struct stream_entry *entries; /* in each lane, positions follow on each other */
    size_t count;
};

struct stream_place {
    int64_t lane;
    int64_t pos; /* read what is after it */
};

struct stream_read {
    const struct stream_place *places; /* each lane once */
    size_t count;
    int64_t lane_max;  /* events of each lane */
    int64_t bytes_max; /* of all bodies; the first event is returned, however large */
};

struct stream_event {
    struct stored_event stored;
    int64_t record_id; /* 0: a foreign event */
    int64_t lane;
    int64_t pos;
    int64_t sequenced_us;
};

struct stream_event_list {
    struct stream_event *items; /* in the order of the places, each lane's by position */
    size_t count;
};

/* People ask how many events wait; counting millions would take them a second. */
enum { STREAM_COUNTED_MAX = 10000 };

struct stream_status {
    int64_t cursor_id;
    int64_t horizon_id;
    int64_t last_id;        /* given out by the outbox */
    struct str lease_owner; /* empty: none */
    int64_t leased_until_us;
    int64_t epoch;
    int64_t waiting; /* events beyond the cursor; from STREAM_COUNTED_MAX on by their ids, of which
                        transactions that were rolled back have some */
    bool has_oldest; /* there is one */
    int64_t oldest_us; /* when the first of them occurred */
    int64_t last_pos[OUTBOX_LANES];
};

struct store_stream_ops {
    bool (*claim)(struct store *store, const struct stream_claim *claim, struct stream_lease *lease,
                  bool *held, struct error *err);
    bool (*renew)(struct store *store, int64_t epoch, int64_t until_us, bool *held,
                  struct error *err);
    bool (*release)(struct store *store, int64_t epoch, struct error *err);
    bool (*taken)(struct store *store, struct arena *arena, int64_t above_id,
                  struct stream_ids *ids, struct error *err);
    bool (*writers)(struct store *store, struct arena *arena, struct stream_mark *mark,
                    struct error *err);
    bool (*scan)(struct store *store, struct arena *arena, const struct stream_scan *scan,
                 struct outbox_ref_list *list, struct error *err);
    bool (*append)(struct store *store, const struct stream_append *append, bool *held,
                   struct error *err);
    bool (*begins)(struct store *store, int64_t before[OUTBOX_LANES], struct error *err);
    bool (*since)(struct store *store, int64_t at_us, int64_t before[OUTBOX_LANES],
                  struct error *err);
    bool (*place_of)(struct store *store, struct str event_id, struct stream_place *place,
                     bool *found, struct error *err);
    bool (*ends)(struct store *store, int64_t last_pos[OUTBOX_LANES], struct error *err);
    bool (*read_ahead)(struct store *store, const struct stream_read *read, struct error *err);
    bool (*read)(struct store *store, struct arena *arena, const struct stream_read *read,
                 struct stream_event_list *list, struct error *err);
    bool (*status)(struct store *store, struct arena *arena, struct stream_status *status,
                   struct error *err);
};

/* *held is false when somebody else's lease has not ended by now_us. */
static inline bool MUST_CHECK store_stream_claim(struct store *store,
                                                 const struct stream_claim *claim,
                                                 struct stream_lease *lease, bool *held,
                                                 struct error *err)
{
    return store->stream->claim(store, claim, lease, held, err);
}

static inline bool MUST_CHECK store_stream_renew(struct store *store, int64_t epoch,
                                                 int64_t until_us, bool *held, struct error *err)
{
    return store->stream->renew(store, epoch, until_us, held, err);
}

/* Gives the lease back, if it is still held. */
static inline bool MUST_CHECK store_stream_release(struct store *store, int64_t epoch,
                                                   struct error *err)
{
    return store->stream->release(store, epoch, err);
}

/* Ids of the outbox that are in the stream, in order: all above above_id, and maybe lower ones. */
static inline bool MUST_CHECK store_stream_taken(struct store *store, struct arena *arena,
                                                 int64_t above_id, struct stream_ids *ids,
                                                 struct error *err)
{
    return store->stream->taken(store, arena, above_id, ids, err);
}

static inline bool MUST_CHECK store_stream_writers(struct store *store, struct arena *arena,
                                                   struct stream_mark *mark, struct error *err)
{
    return store->stream->writers(store, arena, mark, err);
}

static inline bool MUST_CHECK store_stream_scan(struct store *store, struct arena *arena,
                                                const struct stream_scan *scan,
                                                struct outbox_ref_list *list, struct error *err)
{
    assert(store->state == STORE_IDLE);
    return store->stream->scan(store, arena, scan, list, err);
}

/* A transaction of its own. When its outcome is unknown (store.commit_unknown), claim again. */
static inline bool MUST_CHECK store_stream_append(struct store *store,
                                                  const struct stream_append *append, bool *held,
                                                  struct error *err)
{
    assert(store->state == STORE_IDLE);
    return store->stream->append(store, append, held, err);
}

/* The position before the first event that each lane still has; its last one where it has none. */
static inline bool MUST_CHECK store_stream_begins(struct store *store, int64_t before[OUTBOX_LANES],
                                                  struct error *err)
{
    return store->stream->begins(store, before, err);
}

/* The position before the first event of each lane that came at this instant or later; its last one
 * where none did. */
static inline bool MUST_CHECK store_stream_since(struct store *store, int64_t at_us,
                                                 int64_t before[OUTBOX_LANES], struct error *err)
{
    return store->stream->since(store, at_us, before, err);
}

/* Where an event is; *found is false when it is not in the stream, or not any more. For people:
 * nothing is indexed by event ids. */
static inline bool MUST_CHECK store_stream_place_of(struct store *store, struct str event_id,
                                                    struct stream_place *place, bool *found,
                                                    struct error *err)
{
    return store->stream->place_of(store, event_id, place, found, err);
}

/* The last position of each lane; 0: it has no event. */
static inline bool MUST_CHECK store_stream_ends(struct store *store, int64_t last_pos[OUTBOX_LANES],
                                                struct error *err)
{
    return store->stream->ends(store, last_pos, err);
}

/* Begins a read without waiting for it, where the store can; the next store_stream_read() that asks
 * for the same has its result, any other one drops it. The store can be used for everything
 * meanwhile. */
static inline bool MUST_CHECK store_stream_read_ahead(struct store *store,
                                                      const struct stream_read *read,
                                                      struct error *err)
{
    assert(store->state == STORE_IDLE);
    return store->stream->read_ahead(store, read, err);
}

/* What is read of a lane has no gaps. Where a limit of bytes is met, later places may be left out.
 */
static inline bool MUST_CHECK store_stream_read(struct store *store, struct arena *arena,
                                                const struct stream_read *read,
                                                struct stream_event_list *list, struct error *err)
{
    return store->stream->read(store, arena, read, list, err);
}

/* ---- who is writing ---- */

static inline bool stream_writers_share(const struct stream_writers *a,
                                        const struct stream_writers *b)
{
    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k < b->count; k++) {
            if (str_eq(a->items[i], b->items[k]))
                return true;
        }
    }
    return false;
}

static inline bool MUST_CHECK store_stream_status(struct store *store, struct arena *arena,
                                                  struct stream_status *status, struct error *err)
{
    return store->stream->status(store, arena, status, err);
}

#endif
