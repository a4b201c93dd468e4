/* store_record_read: records and their changes, for people and exports. Nothing here writes.
 *
 *      store_record_walk()      the records of a source, in the order in which they came
 *      store_record_changes()   what changed after an event, in the order of events
 *      store_record_as_of()     the records that these changes made, where nothing newer did
 *
 * A walk has the order of endpoint and number of row. Neither of them changes, so a walk of many
 * pages misses no record that was there when it began, whatever others write meanwhile; each
 * record is as it was when its page was read.
 */
#ifndef PATRA_PORT_STORE_RECORD_READ_H
#define PATRA_PORT_STORE_RECORD_READ_H

#include "port/key_digest.h"
#include "port/store.h"

enum record_states { RECORDS_LIVE, RECORDS_DELETED, RECORDS_ALL };

/* A record without what only writers need. */
struct record_entry {
    int64_t id; /* of its row; 0: there is none */
    struct str endpoint;
    struct str provider_id;
    bool has_updated;
    int64_t updated_us;
    struct str provider_version;
    int64_t version;
    bool is_deleted;
    struct str expr_hash;
    int64_t observed_us;
    int64_t created_us;
    int64_t changed_us; /* when this version was stored; 0: not asked for, or its event is gone */
    int64_t bytes;      /* of the payload */
    struct str payload; /* '' where it was not asked for */
};

struct record_entry_list {
    struct record_entry *items;
    size_t count;
    bool is_end; /* there is nothing after the last one */
};

struct record_place { /* the zero value: before the first record */
    struct str endpoint;
    int64_t id;
};

struct record_entry;

/* Is given each record of a page as it is read. Its payload is not copied: it is valid during the
 * call, and the list of the page has none. It may not use the store. What it fails with ends the
 * page. */
struct record_taker {
    bool (*take)(struct record_taker *taker, const struct record_entry *entry, struct error *err);
};

struct record_walk {
    struct str source;
    struct str endpoint; /* '': all, by name */
    enum record_states states;
    int64_t version_from; /* 0: any */
    int64_t version_to;   /* inclusive; 0: any */
    bool by_change;       /* only records whose version was stored in [from, to) */
    int64_t changed_from_us;
    int64_t changed_to_us; /* a record whose event is gone was stored before all others */
    bool with_changed;     /* fills in changed_us, which costs a look at the outbox for each */
    bool with_payload;
    struct record_place after;
    int64_t limit;
    int64_t bytes_max; /* the page ends with the record whose payload reaches this; 0: no limit */
    struct record_taker *taker; /* NULL: none */
};

/* The record that an event describes. */
struct record_changed {
    int64_t event; /* the number of its row in the outbox */
    struct str endpoint;
    struct str provider_id;
    int64_t version;
    int64_t changed_us;
};

struct record_changed_list {
    struct record_changed *items;
    size_t count;
};

struct record_change_walk {
    struct str source;
    struct str endpoint; /* '': all */
    int64_t after;       /* events above this one ... */
    int64_t upto;        /* ... and up to this one */
    int64_t limit;
};

struct record_count {
    struct str source;
    struct str endpoint;
    int64_t live;
    int64_t deleted;
};

struct record_count_list {
    struct record_count *items;
    size_t count;
};

struct record_type { /* whose records */
    struct str source;
    struct str endpoint;
    struct str aggregate_type; /* "crossref/works": of their events */
};

struct store_record_read_ops {
    bool (*digest)(struct store *store, struct arena *arena, const struct record_type *type,
                   const struct key_buckets *buckets, struct key_digest_list *list,
                   struct error *err);
    bool (*pick)(struct store *store, struct arena *arena, const struct record_type *type,
                 const struct key_pick *pick, struct sink_seen_list *list, struct error *err);
    bool (*walk)(struct store *store, struct arena *arena, const struct record_walk *walk,
                 struct record_entry_list *list, struct error *err);
    bool (*endpoints)(struct store *store, struct arena *arena, struct str source,
                      struct str provider_id, struct record_entry_list *list, struct error *err);
    bool (*changes)(struct store *store, struct arena *arena, const struct record_change_walk *walk,
                    struct record_changed_list *list, struct error *err);
    bool (*as_of)(struct store *store, struct arena *arena, struct str source,
                  const struct record_changed_list *changes, struct record_entry *entries,
                  struct error *err);
    bool (*counts)(struct store *store, struct arena *arena, struct str source,
                   struct record_count_list *list, struct error *err);
    bool (*count_live)(struct store *store, struct str source, int64_t *count, struct error *err);
    bool (*read_once)(struct store *store, struct error *err);
    bool (*identity)(struct store *store, struct arena *arena, struct str *id, struct error *err);
};

static inline bool MUST_CHECK store_record_walk(struct store *store, struct arena *arena,
                                                const struct record_walk *walk,
                                                struct record_entry_list *list, struct error *err)
{
    return store->record_read->walk(store, arena, walk, list, err);
}

/* Digests of the records of an endpoint; a deleted one is gone. Made by the database in one pass.
 */
static inline bool MUST_CHECK store_record_digest(struct store *store, struct arena *arena,
                                                  const struct record_type *type,
                                                  const struct key_buckets *buckets,
                                                  struct key_digest_list *list, struct error *err)
{
    return store->record_read->digest(store, arena, type, buckets, list, err);
}

/* The states of some buckets, in one pass. */
static inline bool MUST_CHECK store_record_pick(struct store *store, struct arena *arena,
                                                const struct record_type *type,
                                                const struct key_pick *pick,
                                                struct sink_seen_list *list, struct error *err)
{
    return store->record_read->pick(store, arena, type, pick, list, err);
}

/* The endpoints of a source that have a record of this id, by name; only `id` and `endpoint` are
 * filled in. */
static inline bool MUST_CHECK store_record_endpoints(struct store *store, struct arena *arena,
                                                     struct str source, struct str provider_id,
                                                     struct record_entry_list *list,
                                                     struct error *err)
{
    return store->record_read->endpoints(store, arena, source, provider_id, list, err);
}

/* By the number of the event. A record may be there more than once. */
static inline bool MUST_CHECK store_record_changes(struct store *store, struct arena *arena,
                                                   const struct record_change_walk *walk,
                                                   struct record_changed_list *list,
                                                   struct error *err)
{
    return store->record_read->changes(store, arena, walk, list, err);
}

/* entries[i] is the record of changes->items[i], with its payload, if it still has that version;
 * else its id is 0, and an event with a higher number describes it. */
static inline bool MUST_CHECK store_record_as_of(struct store *store, struct arena *arena,
                                                 struct str source,
                                                 const struct record_changed_list *changes,
                                                 struct record_entry *entries, struct error *err)
{
    return store->record_read->as_of(store, arena, source, changes, entries, err);
}

/* By source ('': all) and endpoint. Adds numbers up that are kept: no record is read. */
static inline bool MUST_CHECK store_record_counts(struct store *store, struct arena *arena,
                                                  struct str source, struct record_count_list *list,
                                                  struct error *err)
{
    return store->record_read->counts(store, arena, source, list, err);
}

/* The records of a source that are not deleted. */
static inline bool MUST_CHECK store_record_count_live(struct store *store, struct str source,
                                                      int64_t *count, struct error *err)
{
    return store->record_read->count_live(store, source, count, err);
}

/* Before a walk over everything: a session that keeps a large part of what it reads, for the next
 * read of it, is slower by a third. Holds until the session is closed. */
static inline bool MUST_CHECK store_record_read_once(struct store *store, struct error *err)
{
    return store->record_read->read_once(store, err);
}

/* Of the store: 32 characters that no other store has; copies of it do. */
static inline bool MUST_CHECK store_identity(struct store *store, struct arena *arena,
                                             struct str *id, struct error *err)
{
    return store->record_read->identity(store, arena, id, err);
}

#endif
