/* store_quota: requests counted against a provider's hour or day, shared by all processes.
 *
 * A planner books what its tasks are expected to send; whoever sends a request moves it from booked
 * to used. Rows are of one window each: what was booked and never sent is forgotten with it.
 */
#ifndef PATRA_PORT_STORE_QUOTA_H
#define PATRA_PORT_STORE_QUOTA_H

#include <stdio.h>

#include "core/budget.h"
#include "core/codes.h"
#include "port/store.h"

enum { OPERATION_COUNT = OPERATION_REPLAY + 1 };

struct quota_name {
    struct str rate_key; /* who shares it: engine/rate_key.h */
    enum quota_window window;
    int64_t from_us; /* the hour's or day's first instant */
};

struct quota_count {
    int64_t used[OPERATION_COUNT];
    int64_t booked[OPERATION_COUNT];
};

struct store_quota_ops {
    bool (*load)(struct store *store, const struct quota_name *name, struct quota_count *count,
                 struct error *err);
    bool (*book)(struct store *store, const struct quota_name *name, enum operation operation,
                 int64_t requests, struct error *err);
};

/* Deciding and booking is one step: the lock is held until the transaction ends. It is taken after
 * that of a namespace. */
static inline bool MUST_CHECK store_quota_lock(struct store *store, struct str rate_key,
                                               struct error *err)
{
    char name[512];
    const int len = snprintf(name, sizeof(name), "quota:%.*s", STR_ARG(rate_key));

    return store_lock(
        store, (struct str){ name, (size_t)len < sizeof(name) ? (size_t)len : sizeof(name) - 1 },
        err);
}

/* A window nobody has counted in yet has zeros. */
static inline bool MUST_CHECK store_quota_load(struct store *store, const struct quota_name *name,
                                               struct quota_count *count, struct error *err)
{
    return store->quota->load(store, name, count, err);
}

/* Adds to what is booked. */
static inline bool MUST_CHECK store_quota_book(struct store *store, const struct quota_name *name,
                                               enum operation operation, int64_t requests,
                                               struct error *err)
{
    assert(requests >= 0);
    return store->quota->book(store, name, operation, requests, err);
}

#endif
