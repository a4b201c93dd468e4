/* store_record: the records of sources, one row per record of an endpoint.
 *
 * Writing has two steps, so that a record that has not changed costs a key and not a payload:
 *
 *      store_record_check()    which of these exist, and in what state
 *      ... the caller judges each: new, newer, unchanged, older ...
 *      store_record_write()    the new and the newer, with payloads, and the event of each
 *      store_record_confirm()  the unchanged: observed again
 *      store_record_touch()    all others that were checked: what was received does not count
 *
 * All but the check are parts of one transaction. Write and confirm are a compare-and-set: a new
 * record must still be missing, any other must still have the version that was checked. A caller
 * that finds that this is not so for all of them rolls back and starts again with the check. A
 * record's row is locked, and its version taken, before its event (port/store_outbox.h) is added
 * and the event's id is drawn. So the event is the only one of its version, and the ids of a
 * record's events are in the order of its versions, which the stream rests on
 * (port/store_stream.h).
 *
 * State and content are two rows: what looks at a record and finds it unchanged writes none of the
 * content.
 *
 * observed_at says when the request was sent that brought the stored content, or confirmed it last,
 * by the clock that all processes share (store_clock). Where the source's date does not decide,
 * it does (core/overwrite.h).
 */
#ifndef PATRA_PORT_STORE_RECORD_H
#define PATRA_PORT_STORE_RECORD_H

#include "core/codes.h"
#include "port/store.h"
#include "port/store_lineage.h"
#include "port/store_outbox.h"

/* Longer ids are refused (L2): an index could not hold them. */
enum { PROVIDER_ID_MAX = 1024 };

/* What the records of one batch have in common. */
struct record_context {
    struct str source;
    struct str endpoint;
    struct str expr_hash; /* of the expression's prototype: what a change of it makes stale */
    struct lineage lineage;
    int64_t observed_us; /* of those that are confirmed */
    int64_t now_us;      /* checked_at, and created_at of new ones */
};

struct record_ids {
    const struct str *items; /* the provider's */
    size_t count;
};

struct record_state {
    int64_t id; /* 0: not here */
    int64_t version;
    bool has_updated;
    int64_t updated_us;
    struct str provider_version;
    bool is_deleted;
    struct str content_hash;
    struct str expr_hash;
    int64_t observed_us;
    int64_t checked_us;
};

struct record_version { /* as it was checked */
    int64_t id;
    int64_t version;
};

struct record_write {
    int64_t id;      /* 0: a new one */
    int64_t version; /* its version now: 1 for a new one, else one more than checked */
    struct str provider_id;
    bool has_updated; /* false: the source gives no date */
    int64_t updated_us;
    struct str provider_version; /* the source's own; '' = none */
    bool is_deleted;             /* a tombstone */
    bool was_deleted;            /* as it was checked; a new one was not */
    int64_t observed_us;
    struct str content_hash;
    struct str payload;    /* any bytes, kept as received */
    int64_t dictionary_id; /* by which the payload is packed: who reads the record gets it unpacked;
                              0: it is as received */
    struct str fields;     /* JSON by the keys of core/record_view.h, for views; "": they stay */
};

/* A record as it will be stored, and the event that says so. */
struct record_change {
    struct record_write record;
    struct outbox_event event;
};

struct record_key {
    struct str source;
    struct str endpoint;
    struct str provider_id;
};

struct stored_record {
    int64_t id;
    struct str source;
    struct str endpoint;
    struct str provider_id;
    bool has_updated;
    int64_t updated_us;
    struct str provider_version;
    int64_t version;
    bool is_deleted;
    struct str content_hash;
    struct str expr_hash;
    int64_t observed_us;
    int64_t checked_us;
    int64_t created_us;
    struct lineage lineage; /* of the last write */
    struct str payload;     /* as received */
};

/* A record that an UPDATE should check again. */
struct candidate {
    int64_t id; /* of the record, or of the signal */
    struct str provider_id;
    int64_t checked_us;   /* STALENESS */
    struct str expr_hash; /* EXPR_CHANGE */
};

struct candidate_list {
    struct candidate *items;
    size_t count;
};

struct candidate_query {
    enum candidate_source reason;
    struct str source;
    struct str endpoint;
    int64_t checked_before_us;     /* STALENESS: those not checked since */
    struct str expr_hash;          /* EXPR_CHANGE: the present one; all others are old */
    const struct candidate *after; /* the last of the page before; NULL = the first page */
    int64_t limit;
};

struct store_record_ops {
    bool (*check)(struct store *store, struct arena *arena, const struct record_context *context,
                  struct record_ids ids, struct record_state *states, struct error *err);
    bool (*write)(struct store *store, const struct record_context *context,
                  const struct record_change *changes, size_t count, bool *written,
                  struct error *err);
    bool (*lock)(struct store *store, const struct record_version *records, size_t count,
                 struct error *err);
    bool (*confirm)(struct store *store, const struct record_context *context,
                    const struct record_version *records, size_t count, bool *confirmed,
                    struct error *err);
    bool (*touch)(struct store *store, const struct record_context *context, const int64_t *ids,
                  size_t count, struct error *err);
    bool (*get)(struct store *store, struct arena *arena, const struct record_key *key,
                struct stored_record *record, bool *found, struct error *err);
    bool (*candidates)(struct store *store, struct arena *arena,
                       const struct candidate_query *query, struct candidate_list *list,
                       struct error *err);
};

/* states[i] is that of ids.items[i]; all are of one moment, also outside of a transaction. */
static inline bool MUST_CHECK store_record_check(struct store *store, struct arena *arena,
                                                 const struct record_context *context,
                                                 struct record_ids ids, struct record_state *states,
                                                 struct error *err)
{
    return store->record->check(store, arena, context, ids, states, err);
}

/* The changes must be in this order in every transaction: new records first, by provider_id, then
 * changed ones by id. Two writers of the same records then wait for each other at the same record,
 * and never in a circle. No record may occur twice.
 *
 * *written is false when one of them, or more, could not be written: a new one exists by now, or a
 * version has moved on. The transaction must then be rolled back. L2 when a version has its event
 * already. */
static inline bool MUST_CHECK store_record_write(struct store *store,
                                                 const struct record_context *context,
                                                 const struct record_change *changes, size_t count,
                                                 bool *written, struct error *err)
{
    assert(store->state == STORE_WRITING);
    store_wrote_events(store);
    return store->record->write(store, context, changes, count, written, err);
}

/* Waits for records that other transactions hold, and holds them until the end of this one: for a
 * caller whose changes or confirmations were refused before. By id, after new records were written
 * and before any others are. */
static inline bool MUST_CHECK store_record_lock(struct store *store,
                                                const struct record_version *records, size_t count,
                                                struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->record->lock(store, records, count, err);
}

/* Sets observed_at and checked_at, never back, and expr_hash. Waits for no lock: *confirmed is
 * false when another transaction holds one of them, or has changed it. This one must then be rolled
 * back.
 */
static inline bool MUST_CHECK store_record_confirm(struct store *store,
                                                   const struct record_context *context,
                                                   const struct record_version *records,
                                                   size_t count, bool *confirmed, struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->record->confirm(store, context, records, count, confirmed, err);
}

/* Sets checked_at, never back, and expr_hash. What another transaction holds is left out. */
static inline bool MUST_CHECK store_record_touch(struct store *store,
                                                 const struct record_context *context,
                                                 const int64_t *ids, size_t count,
                                                 struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->record->touch(store, context, ids, count, err);
}

static inline bool MUST_CHECK store_record_get(struct store *store, struct arena *arena,
                                               const struct record_key *key,
                                               struct stored_record *record, bool *found,
                                               struct error *err)
{
    return store->record->get(store, arena, key, record, found, err);
}

/* A page of candidates: by the week of checked_at and id, by expression and id, or by
 * the signal's id. Records that are deleted are none. A record may leave the set while pages are
 * read (it is touched), and is then not given; none that stays in the set is left out. */
static inline bool MUST_CHECK store_candidate_list(struct store *store, struct arena *arena,
                                                   const struct candidate_query *query,
                                                   struct candidate_list *list, struct error *err)
{
    return store->record->candidates(store, arena, query, list, err);
}

#endif
