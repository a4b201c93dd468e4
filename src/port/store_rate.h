/* store_rate: the state of the rate gate, shared by all processes.
 *
 *      begin; load (locks the key's row); bucket_acquire() or bucket_feedback(); save; commit
 *
 * core/bucket.h and core/budget.h make the decisions; this port only keeps their rows.
 */
#ifndef PATRA_PORT_STORE_RATE_H
#define PATRA_PORT_STORE_RATE_H

#include "core/bucket.h"
#include "core/budget.h"
#include "port/store.h"

struct rate_gate {
    struct bucket bucket;
    int64_t parked_until_us; /* INT64_MIN: not parked */
    bool has_credential;     /* the last requests were sent with a credential, so with its limits */
    int64_t refused_us; /* when the credential was refused; it is not used since. 0: it was not */
    int64_t refused_status;
    int64_t version; /* 0: there is no row yet */
};

enum quota_window { QUOTA_HOUR, QUOTA_DAY };

struct quota_key {
    struct str rate_key;
    enum quota_window window;
    int64_t from_us; /* when the window begins */
};

struct quota_count { /* by class */
    int64_t used[QUOTA_CLASSES];
    int64_t booked[QUOTA_CLASSES];
};

struct rate_slot { /* one request under way */
    struct str rate_key;
    struct str owner;
    int64_t now_us;
    int64_t until_us; /* when it becomes free even if its holder does not return it */
    int64_t max;      /* how many slots the key has */
};

struct store_rate_ops {
    bool (*clock)(struct store *store, int64_t local_us, int64_t *now_us, struct error *err);
    bool (*load)(struct store *store, struct str key, struct rate_gate *gate, struct error *err);
    bool (*peek)(struct store *store, struct str key, struct rate_gate *gate, struct error *err);
    bool (*save)(struct store *store, struct str key, const struct rate_gate *gate, int64_t now_us,
                 bool *saved, struct error *err);
    bool (*quota_load)(struct store *store, const struct quota_key *key, struct quota_count *count,
                       struct error *err);
    bool (*quota_add)(struct store *store, const struct quota_key *key, enum quota_class rank,
                      int64_t used, int64_t booked, struct error *err);
    bool (*slot_take)(struct store *store, const struct rate_slot *slot, int64_t *id,
                      struct error *err);
    bool (*slot_count)(struct store *store, struct str key, int64_t *taken, struct error *err);
    bool (*slot_return)(struct store *store, int64_t id, struct error *err);
    bool (*slot_keep)(struct store *store, int64_t id, int64_t until_us, struct error *err);
};

/* The clock of all processes that share the database: the server's, if there is one; otherwise
 * local_us, the time of the caller's own clock. */
static inline bool MUST_CHECK store_clock(struct store *store, int64_t local_us, int64_t *now_us,
                                          struct error *err)
{
    return store->rate->clock(store, local_us, now_us, err);
}

/* Locks the row until this transaction ends. When there is no row yet, gate->version is 0, and the
 * caller starts a new bucket. */
static inline bool MUST_CHECK store_rate_load(struct store *store, struct str key,
                                              struct rate_gate *gate, struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->rate->load(store, key, gate, err);
}

/* The same without a lock, for reading only; needs no transaction. */
static inline bool MUST_CHECK store_rate_peek(struct store *store, struct str key,
                                              struct rate_gate *gate, struct error *err)
{
    return store->rate->peek(store, key, gate, err);
}

/* *saved is false when the row no longer has gate->version: another process may have been first to
 * add a new key. */
static inline bool MUST_CHECK store_rate_save(struct store *store, struct str key,
                                              const struct rate_gate *gate, int64_t now_us,
                                              bool *saved, struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->rate->save(store, key, gate, now_us, saved, err);
}

static inline bool MUST_CHECK store_quota_load(struct store *store, const struct quota_key *key,
                                               struct quota_count *count, struct error *err)
{
    return store->rate->quota_load(store, key, count, err);
}

/* Adds to both counts, atomically. Either may be negative; a count never falls below 0. */
static inline bool MUST_CHECK store_quota_add(struct store *store, const struct quota_key *key,
                                              enum quota_class rank, int64_t used, int64_t booked,
                                              struct error *err)
{
    return store->rate->quota_add(store, key, rank, used, booked, err);
}

/* *id is 0 when all `max` slots of the key are taken. Needs a transaction. */
static inline bool MUST_CHECK store_slot_take(struct store *store, const struct rate_slot *slot,
                                              int64_t *id, struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->rate->slot_take(store, slot, id, err);
}

/* How many slots of the key are taken. */
static inline bool MUST_CHECK store_slot_count(struct store *store, struct str key, int64_t *taken,
                                               struct error *err)
{
    return store->rate->slot_count(store, key, taken, err);
}

/* Returning a slot that has expired does nothing. */
static inline bool MUST_CHECK store_slot_return(struct store *store, int64_t id, struct error *err)
{
    return store->rate->slot_return(store, id, err);
}

/* Keeps a slot until then, whatever becomes of its holder. */
static inline bool MUST_CHECK store_slot_keep(struct store *store, int64_t id, int64_t until_us,
                                              struct error *err)
{
    return store->rate->slot_keep(store, id, until_us, err);
}

/* The words, as the rows hold them. */
static inline struct str quota_window_word(enum quota_window window)
{
    return window == QUOTA_HOUR ? STR("HOUR") : STR("DAY");
}

static inline struct str quota_class_word(enum quota_class rank)
{
    return rank == QUOTA_HARVEST  ? STR("HARVEST")
           : rank == QUOTA_UPDATE ? STR("UPDATE")
                                  : STR("BACKFILL");
}

#endif
