/* store_parked: keys whose event could not be delivered to a subscription, and what was given up.
 *
 * A key is parked at the version that failed (`head`). Later events of the key are passed over in
 * the stream; the row remembers the last one (`seen`). All versions from head to seen wait. They
 * are read back from the outbox when the key is tried again, and the row goes when all were
 * delivered.
 *
 *      stream   v3 v4 . v5 . . v6          v4 failed, v5 and v6 were passed over
 *      parked   head 4, seen 6
 *
 * Only the owner of the key's lane parks, passes over and tries again, in transactions that begin
 * with store_offset_save() or store_offset_renew(). People change rows too: they let a key be tried
 * at once, or give it up. So each change here names the versions it rests on, and tells when they
 * are not there.
 *
 * A try is written down before it is made and after: tries that were begun and never ended are an
 * event that kills its reader.
 */
#ifndef PATRA_PORT_STORE_PARKED_H
#define PATRA_PORT_STORE_PARKED_H

#include "core/codes.h"
#include "port/store_offset.h"
#include "port/store_stream.h"

struct parked {
    struct str aggregate_type;
    struct str aggregate_id;
    int64_t record_id; /* 0: a foreign aggregate */
    int64_t lane;
    int64_t head_version;
    int64_t seen_version;
    int64_t attempts_begun;
    int64_t attempts_ended;
    enum subscription_policy policy; /* WAIT or SKIP_TO_LATEST */
    int64_t next_retry_us;
    struct str last_error;
    int64_t parked_us;
};

struct parked_list {
    struct parked *items; /* by lane, type and id */
    size_t count;
};

struct parked_query {
    struct offset_key key;
    struct str aggregate_id; /* only this one, of whatever type; empty: all */
    int64_t limit;
};

struct parked_pass { /* a key that has more events that wait */
    struct str aggregate_type;
    struct str aggregate_id;
    int64_t first_version; /* lower than head, where a lane was moved back and a letter redriven */
    int64_t seen_version;
};

struct parked_events { /* versions of a key */
    const struct parked *parked;
    int64_t from_version;
    int64_t to_version;
    int64_t limit;
};

struct dead_letter {
    struct str event_id;
    struct str aggregate_type;
    struct str aggregate_id;
    int64_t version;
    struct str reason;
    int64_t attempts;
    struct str envelope;
    int64_t dead_us;
};

struct letter { /* a dead letter that is kept */
    int64_t id;
    struct dead_letter dead;
    bool is_redriven; /* it was given back to its subscription */
    int64_t redriven_us;
    struct str redriven_by;
};

struct letter_list {
    struct letter *items; /* by id: the order in which they were given up */
    size_t count;
};

struct letter_query {
    struct offset_key key;
    struct str aggregate_id; /* only this one, of whatever type; empty: all */
    bool has_redriven;       /* those too */
    int64_t after_id;
    int64_t limit;
};

struct redrive {
    struct offset_key key;
    const struct letter *letter;
    int64_t record_id; /* 0: a foreign aggregate */
    int64_t lane;
    struct str by;
    int64_t now_us;
};

struct store_parked_ops {
    bool (*list)(struct store *store, struct arena *arena, const struct parked_query *query,
                 struct parked_list *list, struct error *err);
    bool (*count)(struct store *store, const struct offset_key *key, int64_t *count,
                  struct error *err);
    bool (*behind)(struct store *store, const struct offset_key *key, int64_t *versions,
                   struct error *err);
    bool (*put)(struct store *store, const struct offset_key *key, const struct parked *parked,
                struct error *err);
    bool (*pass)(struct store *store, const struct offset_key *key,
                 const struct parked_pass *passes, size_t count, bool *all, struct error *err);
    bool (*begin)(struct store *store, const struct offset_key *key, const struct parked *parked,
                  bool *found, struct error *err);
    bool (*end)(struct store *store, const struct offset_key *key, const struct parked *parked,
                bool *found, struct error *err);
    bool (*remove)(struct store *store, const struct offset_key *key, const struct parked *parked,
                   bool *removed, struct error *err);
    bool (*retry)(struct store *store, const struct parked_query *query, int64_t now_us,
                  int64_t *count, struct error *err);
    bool (*events)(struct store *store, struct arena *arena, const struct parked_events *events,
                   struct stream_event_list *list, struct error *err);
    bool (*bury)(struct store *store, const struct offset_key *key,
                 const struct dead_letter *letter, struct error *err);
    bool (*letters)(struct store *store, struct arena *arena, const struct letter_query *query,
                    struct letter_list *list, struct error *err);
    bool (*letter_count)(struct store *store, const struct offset_key *key, int64_t *count,
                         struct error *err);
    bool (*letter_event)(struct store *store, struct redrive *redrive, bool *found,
                         struct error *err);
    bool (*redrive)(struct store *store, const struct redrive *redrive, bool *done,
                    struct error *err);
};

static inline bool MUST_CHECK store_parked_list(struct store *store, struct arena *arena,
                                                const struct parked_query *query,
                                                struct parked_list *list, struct error *err)
{
    return store->parked->list(store, arena, query, list, err);
}

static inline bool MUST_CHECK store_parked_count(struct store *store, const struct offset_key *key,
                                                 int64_t *count, struct error *err)
{
    return store->parked->count(store, key, count, err);
}

/* By how many versions the parked key that waits for most of them is behind. */
static inline bool MUST_CHECK store_parked_behind(struct store *store, const struct offset_key *key,
                                                  int64_t *versions, struct error *err)
{
    return store->parked->behind(store, key, versions, err);
}

/* A key that is parked already stays as it is, but for head and seen, which then hold both. */
static inline bool MUST_CHECK store_parked_put(struct store *store, const struct offset_key *key,
                                               const struct parked *parked, struct error *err)
{
    assert(parked->policy != POLICY_STOP);
    return store->parked->put(store, key, parked, err);
}

/* *all is false when one of the keys is not parked any more: roll back, and deliver its events. */
static inline bool MUST_CHECK store_parked_pass(struct store *store, const struct offset_key *key,
                                                const struct parked_pass *passes, size_t count,
                                                bool *all, struct error *err)
{
    return store->parked->pass(store, key, passes, count, all, err);
}

/* A try begins: one more of attempts_begun; it is not made again before next_retry_us. */
static inline bool MUST_CHECK store_parked_begin(struct store *store, const struct offset_key *key,
                                                 const struct parked *parked, bool *found,
                                                 struct error *err)
{
    return store->parked->begin(store, key, parked, found, err);
}

/* It has ended: head_version, next_retry_us and last_error are those of `parked`. Attempts are
 * counted from 0 where head_version is another one. */
static inline bool MUST_CHECK store_parked_end(struct store *store, const struct offset_key *key,
                                               const struct parked *parked, bool *found,
                                               struct error *err)
{
    return store->parked->end(store, key, parked, found, err);
}

/* Everything up to seen_version was delivered, or given up. *removed is false when later events
 * have been passed over since. */
static inline bool MUST_CHECK store_parked_remove(struct store *store, const struct offset_key *key,
                                                  const struct parked *parked, bool *removed,
                                                  struct error *err)
{
    return store->parked->remove(store, key, parked, removed, err);
}

/* Lets keys be tried at now_us, also those whose tries never ended. */
static inline bool MUST_CHECK store_parked_retry(struct store *store,
                                                 const struct parked_query *query, int64_t now_us,
                                                 int64_t *count, struct error *err)
{
    return store->parked->retry(store, query, now_us, count, err);
}

/* By version; positions are not known. */
static inline bool MUST_CHECK store_parked_events(struct store *store, struct arena *arena,
                                                  const struct parked_events *events,
                                                  struct stream_event_list *list, struct error *err)
{
    return store->parked->events(store, arena, events, list, err);
}

/* Keeps what is given up. One that was given up before has this reason now, and can be redriven
 * again. */
static inline bool MUST_CHECK store_parked_bury(struct store *store, const struct offset_key *key,
                                                const struct dead_letter *letter, struct error *err)
{
    return store->parked->bury(store, key, letter, err);
}

static inline bool MUST_CHECK store_parked_letters(struct store *store, struct arena *arena,
                                                   const struct letter_query *query,
                                                   struct letter_list *list, struct error *err)
{
    return store->parked->letters(store, arena, query, list, err);
}

/* Those that were not redriven. */
static inline bool MUST_CHECK store_parked_letter_count(struct store *store,
                                                        const struct offset_key *key,
                                                        int64_t *count, struct error *err)
{
    return store->parked->letter_count(store, key, count, err);
}

/* Whose event the letter is: sets record_id and lane. *found is false when the outbox does not have
 * it any more. */
static inline bool MUST_CHECK store_parked_letter_event(struct store *store,
                                                        struct redrive *redrive, bool *found,
                                                        struct error *err)
{
    return store->parked->letter_event(store, redrive, found, err);
}

/* Its key is parked at the letter's version, or reaches back to it, and is tried at once: so it is
 * delivered by whoever holds the lane, and later events of the key wait for it. Versions between it
 * and what waits already are delivered again. *done is false when the letter was redriven before.
 * Part of the caller's transaction. */
static inline bool MUST_CHECK store_parked_redrive(struct store *store,
                                                   const struct redrive *redrive, bool *done,
                                                   struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->parked->redrive(store, redrive, done, err);
}

#endif
