/* A provider's quota per hour and day: what a plan may still book of it.
 *
 * What a plan expects to send is booked with the plan, under a lock taken after the namespace's;
 * sending moves it from booked to used. So the share of HARVEST is untouched, however much history
 * a BACKFILL has to fetch.
 */
#include <assert.h>

#include "engine/gate/limit.h"
#include "engine/plan/draft.h"

static bool has_quota(const struct plan_draft *draft)
{
    const struct spec_rate *rate = &draft->spec->endpoint.rate;

    return rate->quota_hour > 0 || rate->quota_day > 0;
}

/* The lock is of the rate key: several namespaces share it. */
static bool lock_key(struct store *store, const struct plan_draft *draft, struct error *err)
{
    return store->state != STORE_WRITING ||
           store_lock_named(store, err, "quota:%.*s", STR_ARG(draft->rate_key));
}

/* For the remarks: when there is quota again. */
static void note_gone(struct plan_draft *draft, enum quota_window window)
{
    const int64_t until_us = quota_end_us(window, draft->request->now_us);

    if (until_us > draft->pace.quota_from_us)
        draft->pace.quota_from_us = until_us;
}

bool draft_quota(struct store *store, struct plan_draft *draft, struct error *err)
{
    const struct spec_rate *rate = &draft->spec->endpoint.rate;

    if (!has_quota(draft))
        return true;
    if (!lock_key(store, draft, err))
        return false;
    for (int i = QUOTA_HOUR; i <= QUOTA_DAY; i++) {
        const enum quota_window window = (enum quota_window)i;
        const struct quota_key key = quota_key_at(draft->rate_key, window, draft->request->now_us);
        struct quota_count count;
        int64_t left;

        if (quota_limit_of(rate, window) == 0)
            continue;
        if (!store_quota_load(store, &key, &count, err))
            return false;
        left = quota_left(rate, draft->plan.operation, window, &count);
        if (left < draft->budget.requests_left)
            draft->budget.requests_left = left;
        if (left == 0)
            note_gone(draft, window);
    }
    return true;
}

/* No more is booked with a quota window than the gate will let through before the window's end:
 * the rest belongs to the next one, and need not be kept free now. */
static int64_t sendable(const struct plan_draft *draft, enum quota_window window, int64_t requests)
{
    const int64_t permits =
        bucket_estimate(&draft->pace.outlook, quota_end_us(window, draft->request->now_us));
    const int64_t count = permits * MICRO / gate_limit_of(&draft->spec->endpoint.rate, true).cost;

    return requests < count ? requests : count;
}

bool draft_book(struct store *store, const struct plan_draft *draft, int64_t requests,
                struct error *err)
{
    const enum quota_class rank = quota_class_of(draft->plan.operation);

    for (int i = QUOTA_HOUR; i <= QUOTA_DAY; i++) {
        const enum quota_window window = (enum quota_window)i;
        const struct quota_key key = quota_key_at(draft->rate_key, window, draft->request->now_us);

        const int64_t booked = sendable(draft, window, requests);

        if (quota_limit_of(&draft->spec->endpoint.rate, window) == 0 || booked == 0)
            continue;
        if (!store_quota_add(store, &key, rank, 0, booked, err))
            return false;
    }
    return true;
}
