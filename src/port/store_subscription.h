/* store_subscription: who reads the stream: projections and relays; and imports, which feed it.
 *
 * A subscription is a name with a spec (JSON, made by whoever applies it), a policy and a state. It
 * has offsets, leases and parked keys of its own (port/store_offset.h, port/store_parked.h), so
 * that none can hold up another one. Its offsets are rows made with it: one for each lane of the
 * stream; an import has one row, for its lease.
 */
#ifndef PATRA_PORT_STORE_SUBSCRIPTION_H
#define PATRA_PORT_STORE_SUBSCRIPTION_H

#include "core/codes.h"
#include "port/store.h"

/* The consumer group of what patra itself runs. */
#define SUBSCRIPTION_GROUP STR("patra")

struct subscription {
    struct str name;
    enum subscription_kind kind;
    struct str spec;      /* JSON */
    struct str spec_hash; /* SHA-256, 64 hexadecimal digits */
    enum subscription_policy policy;
    enum subscription_state state;
    struct str state_reason; /* why it is not ACTIVE; empty: it is */
    int64_t created_us;
    int64_t updated_us; /* changes with every apply that changes something, and with the state */
};

struct subscription_list {
    struct subscription *items; /* by name */
    size_t count;
};

struct subscription_apply {
    struct str name;
    enum subscription_kind kind;
    struct str spec;
    struct str spec_hash;
    enum subscription_policy policy;
    bool from_latest; /* a new one begins with events to come; else with all that are there */
    struct str applied_by;
    int64_t now_us;
};

struct subscription_applied {
    bool is_new;
    bool is_changed; /* it existed with another spec or policy */
};

struct subscription_change {
    struct str name;
    enum subscription_state state;
    struct str reason; /* empty exactly if it becomes ACTIVE */
    int64_t now_us;
};

struct store_subscription_ops {
    bool (*apply)(struct store *store, const struct subscription_apply *apply,
                  struct subscription_applied *applied, struct error *err);
    bool (*list)(struct store *store, struct arena *arena, struct subscription_list *list,
                 struct error *err);
    bool (*find)(struct store *store, struct arena *arena, struct str name,
                 struct subscription *subscription, bool *found, struct error *err);
    bool (*set_state)(struct store *store, const struct subscription_change *change, bool *changed,
                      struct error *err);
    bool (*remove)(struct store *store, struct str name, bool *removed, struct error *err);
};

/* Adds it, ACTIVE, or changes spec and policy of the one with this name, which keeps its state and
 * its offsets. L2 "subscription.kind" when that is of another kind. */
static inline bool MUST_CHECK store_subscription_apply(struct store *store,
                                                       const struct subscription_apply *apply,
                                                       struct subscription_applied *applied,
                                                       struct error *err)
{
    return store->subscription->apply(store, apply, applied, err);
}

/* All of them, by name. */
static inline bool MUST_CHECK store_subscription_list(struct store *store, struct arena *arena,
                                                      struct subscription_list *list,
                                                      struct error *err)
{
    return store->subscription->list(store, arena, list, err);
}

static inline bool MUST_CHECK store_subscription_find(struct store *store, struct arena *arena,
                                                      struct str name,
                                                      struct subscription *subscription,
                                                      bool *found, struct error *err)
{
    return store->subscription->find(store, arena, name, subscription, found, err);
}

/* *changed is false when there is none of this name, or when it is in this state already: then the
 * reason stays too. */
static inline bool MUST_CHECK store_subscription_set_state(struct store *store,
                                                           const struct subscription_change *change,
                                                           bool *changed, struct error *err)
{
    assert((change->state == SUBSCRIPTION_ACTIVE) == (change->reason.len == 0));
    return store->subscription->set_state(store, change, changed, err);
}

/* With its offsets and parked keys. Dead letters and the history of seeks stay. Whoever holds its
 * lanes can save nothing any more, also when one of the same name is made later. */
static inline bool MUST_CHECK store_subscription_remove(struct store *store, struct str name,
                                                        bool *removed, struct error *err)
{
    return store->subscription->remove(store, name, removed, err);
}

#endif
