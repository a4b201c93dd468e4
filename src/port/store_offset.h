/* store_offset: how far a subscription is in each lane, and who reads the lane.
 *
 *      store_offset_attend()    "I am alive": how many readers share the lanes
 *      store_offset_claim()     lanes that nobody holds: a lease each, with an epoch
 *      store_offset_save()      how far the lanes are; renews their leases
 *      store_offset_renew()     only that
 *      store_offset_check()     only reads whether the lanes are still held
 *      store_offset_release()   gives lanes back;  store_offset_leave() all of them, at the end
 *
 * A save or a renewal names the epoch of each lane. Unless all of them are still held, nothing is
 * changed and *held is false. Within a transaction it locks these rows to its end: what is written
 * after it (port/store_parked.h) is written by the owner of the lanes or not at all.
 *
 * Owners have names of their own: a reader is one thread of one process, from its start to its end.
 *
 * A lease that ran out was not given back: its owner has died there, or was stopped for longer than
 * the lease. The lane's next owner hears how often that has happened at the same position.
 */
#ifndef PATRA_PORT_STORE_OFFSET_H
#define PATRA_PORT_STORE_OFFSET_H

#include "core/limits.h"
#include "port/store.h"
#include "port/store_stream.h"

struct offset_key { /* whose offsets */
    struct str group;
    struct str subscription;
};

struct offset_attend {
    struct offset_key key;
    struct str owner;
    int64_t now_us;
    int64_t until_us;
    struct str error; /* why it cannot go on at present; empty: it can */
};

struct offset_claim {
    struct offset_key key;
    struct str owner;
    int64_t now_us;
    int64_t until_us;
    int64_t limit;
};

struct offset_lane {
    int64_t lane;
    int64_t epoch;
    int64_t pos;
    int64_t crashes;   /* 0: the last owner gave it back */
    struct str ack_id; /* what the bus called the last message; empty: unknown */
};

struct offset_lane_list {
    struct offset_lane *items;
    size_t count;
};

struct offset_move {
    int64_t lane;
    int64_t epoch;
    int64_t pos; /* higher than before */
    struct str ack_id;
    struct str message_id; /* of the event there */
    int64_t published_us;  /* when it came into the stream */
};

struct offset_save {
    struct offset_key key;
    struct str owner;
    int64_t now_us;
    int64_t until_us;
    const struct offset_move *moves;
    size_t count;
};

struct offset_held { /* a lane as its owner knows it */
    int64_t lane;
    int64_t epoch;
    bool is_idle; /* nothing is to be read there: no crash was due to its next event */
};

struct offset_renew {
    struct offset_key key;
    int64_t until_us;
    const struct offset_held *lanes;
    size_t count;
};

struct offset_seek {
    struct offset_key key;
    int64_t lane;
    int64_t pos; /* events after it are delivered, again or for the first time */
    struct str reason;
    struct str by;
    int64_t now_us;
};

struct offset_tell { /* how far the offsets are that another database has */
    struct offset_key key;
    int64_t now_us;
    const struct stream_place *places;
    size_t count;
};

struct offset_state { /* of a lane, for people */
    int64_t lane;
    int64_t pos;
    int64_t last_pos; /* of the stream */
    bool has_next;    /* there is an event after pos */
    int64_t next_us;  /* when it came into the stream */
    struct str owner; /* empty: nobody */
    int64_t leased_until_us;
    int64_t crashes;
    int64_t updated_us;
};

struct offset_state_list {
    struct offset_state *items; /* by lane */
    size_t count;
};

struct reader_state {
    struct str owner;
    int64_t started_us;
    int64_t alive_until_us;
    struct str error; /* empty: none */
    int64_t error_since_us;
};

struct reader_state_list {
    struct reader_state *items;
    size_t count;
};

struct store_offset_ops {
    bool (*attend)(struct store *store, const struct offset_attend *attend, int64_t *readers,
                   struct error *err);
    bool (*claim)(struct store *store, struct arena *arena, const struct offset_claim *claim,
                  struct offset_lane_list *list, struct error *err);
    bool (*save)(struct store *store, const struct offset_save *save, bool *held,
                 struct error *err);
    bool (*renew)(struct store *store, const struct offset_renew *renew, bool *held,
                  struct error *err);
    bool (*check)(struct store *store, const struct offset_key *key,
                  const struct offset_held *lanes, size_t count, bool *held, struct error *err);
    bool (*release)(struct store *store, const struct offset_renew *lanes, struct error *err);
    bool (*leave)(struct store *store, const struct offset_key *key, struct str owner,
                  struct error *err);
    bool (*seek)(struct store *store, const struct offset_seek *seek, bool *found,
                 struct error *err);
    bool (*tell)(struct store *store, const struct offset_tell *tell, struct error *err);
    bool (*states)(struct store *store, struct arena *arena, const struct offset_key *key,
                   struct offset_state_list *list, struct error *err);
    bool (*hold)(struct store *store, const struct offset_key *key, int64_t lane,
                 struct error *err);
    bool (*hold_all)(struct store *store, const struct offset_key *key, struct error *err);
    bool (*readers)(struct store *store, struct arena *arena, const struct offset_key *key,
                    struct reader_state_list *list, struct error *err);
};

/* *readers counts those who are alive, this one included. */
static inline bool MUST_CHECK store_offset_attend(struct store *store,
                                                  const struct offset_attend *attend,
                                                  int64_t *readers, struct error *err)
{
    return store->offset->attend(store, attend, readers, err);
}

/* Up to `limit` lanes whose lease was given back or has ended by now_us; each gets a new epoch. */
static inline bool MUST_CHECK store_offset_claim(struct store *store, struct arena *arena,
                                                 const struct offset_claim *claim,
                                                 struct offset_lane_list *list, struct error *err)
{
    return store->offset->claim(store, arena, claim, list, err);
}

static inline bool MUST_CHECK store_offset_save(struct store *store, const struct offset_save *save,
                                                bool *held, struct error *err)
{
    return store->offset->save(store, save, held, err);
}

static inline bool MUST_CHECK store_offset_renew(struct store *store,
                                                 const struct offset_renew *renew, bool *held,
                                                 struct error *err)
{
    return store->offset->renew(store, renew, held, err);
}

/* Whether all of them are still held: the lane was neither moved nor taken over. It locks nothing,
 * so it can be untrue a moment later. */
static inline bool MUST_CHECK store_offset_check(struct store *store, const struct offset_key *key,
                                                 const struct offset_held *lanes, size_t count,
                                                 bool *held, struct error *err)
{
    return store->offset->check(store, key, lanes, count, held, err);
}

/* Gives back those that are still held. */
static inline bool MUST_CHECK store_offset_release(struct store *store,
                                                   const struct offset_renew *lanes,
                                                   struct error *err)
{
    return store->offset->release(store, lanes, err);
}

/* Gives back every lane of this owner, whatever the epoch: it knows that it does nothing with them
 * any more. */
static inline bool MUST_CHECK store_offset_leave(struct store *store, const struct offset_key *key,
                                                 struct str owner, struct error *err)
{
    return store->offset->leave(store, key, owner, err);
}

/* Moves a lane, forth or back; its owner is overtaken, and its parked keys are forgotten: from the
 * new position on, the lane is delivered as the stream has it. Writes down who did it. In a store,
 * a position before the first event of the lane means that one; a sink does not know the stream
 * (engine/lanes/offset_reset.h moves both). */
static inline bool MUST_CHECK store_offset_seek(struct store *store, const struct offset_seek *seek,
                                                bool *found, struct error *err)
{
    return store->offset->seek(store, seek, found, err);
}

/* Where a sink has the offsets (port/store_sink.h), the store's are a copy: retention and people
 * look at them. They only grow by this. The transaction holds STORE_PRUNE_LOCK, and so does that of
 * whoever moves both back. */
static inline bool MUST_CHECK store_offset_tell(struct store *store, const struct offset_tell *tell,
                                                struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->offset->tell(store, tell, err);
}

/* Keeps the owner of a lane, whoever it is, from saving until this transaction ends: nobody else
 * writes what belongs to the lane meanwhile. */
static inline bool MUST_CHECK store_offset_hold(struct store *store, const struct offset_key *key,
                                                int64_t lane, struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->offset->hold(store, key, lane, err);
}

/* The same for all lanes of the subscription at once, and not for long: an owner that is within a
 * transaction is waited for half a second only (on SQLite there is nobody: the transaction is the
 * only one that writes). L1 "store.busy": give up the transaction, so that the owners of the lanes
 * that were held go on, and try again. */
static inline bool MUST_CHECK store_offset_hold_all(struct store *store,
                                                    const struct offset_key *key, struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->offset->hold_all(store, key, err);
}

static inline bool MUST_CHECK store_offset_states(struct store *store, struct arena *arena,
                                                  const struct offset_key *key,
                                                  struct offset_state_list *list, struct error *err)
{
    return store->offset->states(store, arena, key, list, err);
}

static inline bool MUST_CHECK store_offset_readers(struct store *store, struct arena *arena,
                                                   const struct offset_key *key,
                                                   struct reader_state_list *list,
                                                   struct error *err)
{
    return store->offset->readers(store, arena, key, list, err);
}

#endif
