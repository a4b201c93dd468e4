/* A provider's quota per hour and day: what a plan may still book of it.
 *
 * What a plan expects to send is booked with the plan, under a lock taken after the namespace's;
 * sending moves it from booked to used. So the share of HARVEST is untouched, however much history
 * a BACKFILL has to fetch.
 */
#include "engine/gate/limit.h"
#include "engine/plan/draft.h"
#include "engine/source/rate_key.h"

/* Each credential has a key and a quota of its own; without several there is one key. */
static size_t key_count(const struct plan_draft *draft)
{
    const size_t count = draft->spec->endpoint.variant_count;

    return count > 0 ? count : 1;
}

static const struct spec_endpoint *endpoint_at(const struct plan_draft *draft, size_t i)
{
    const struct spec_endpoint *endpoint = &draft->spec->endpoint;

    return endpoint->variant_count > 0 ? &endpoint->variants[i] : endpoint;
}

static bool has_quota(const struct spec_rate *rate)
{
    return rate->quota_hour > 0 || rate->quota_day > 0;
}

/* The lock is of the rate key: several namespaces share it. */
static bool lock_key(struct store *store, struct str rate_key, struct error *err)
{
    return store->state != STORE_WRITING ||
           store_lock_named(store, err, "quota:%.*s", STR_ARG(rate_key));
}

/* What one key has left, and until when it has nothing (INT64_MIN: it has). */
struct key_quota {
    struct str rate_key;
    const struct spec_rate *rate;
    int64_t left;
    int64_t gone_until_us;
};

static bool load_key(struct store *store, const struct plan_draft *draft, struct key_quota *key,
                     struct error *err)
{
    const int64_t now_us = draft->request->now_us;

    key->left = INT64_MAX;
    key->gone_until_us = INT64_MIN;
    for (int i = QUOTA_HOUR; i <= QUOTA_DAY; i++) {
        const enum quota_window window = (enum quota_window)i;
        const struct quota_key row = quota_key_at(key->rate_key, window, now_us);
        struct quota_count count;
        int64_t left;

        if (quota_limit_of(key->rate, window) == 0)
            continue;
        if (!store_quota_load(store, &row, &count, err))
            return false;
        left = quota_left(key->rate, draft->plan.operation, window, &count);
        if (left < key->left)
            key->left = left;
        if (left == 0 && quota_end_us(window, now_us) > key->gone_until_us)
            key->gone_until_us = quota_end_us(window, now_us);
    }
    return true;
}

static bool key_at(struct arena *arena, const struct plan_draft *draft, size_t i,
                   struct key_quota *key, struct error *err)
{
    const struct spec_endpoint *endpoint = endpoint_at(draft, i);

    *key = (struct key_quota){ .rate = &endpoint->rate };
    return rate_key(arena, draft->plan.source, endpoint, &key->rate_key, err);
}

bool draft_quota(struct store *store, struct arena *arena, struct plan_draft *draft,
                 struct error *err)
{
    int64_t left = 0, gone_until_us = INT64_MAX;

    for (size_t i = 0; i < key_count(draft); i++) {
        struct key_quota key;

        if (!key_at(arena, draft, i, &key, err))
            return false;
        if (!has_quota(key.rate))
            return true; /* one without a quota has room for all */
        if (!lock_key(store, key.rate_key, err) || !load_key(store, draft, &key, err))
            return false;
        left += key.left;
        if (key.gone_until_us < gone_until_us)
            gone_until_us = key.gone_until_us;
    }
    if (left < draft->budget.requests_left)
        draft->budget.requests_left = left;
    /* For the remarks: when there is quota again. */
    if (left == 0 && gone_until_us > draft->pace.quota_from_us)
        draft->pace.quota_from_us = gone_until_us;
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

static bool book_key(struct store *store, const struct plan_draft *draft,
                     const struct key_quota *key, int64_t requests, struct error *err)
{
    const enum quota_class rank = quota_class_of(draft->plan.operation);

    for (int i = QUOTA_HOUR; i <= QUOTA_DAY; i++) {
        const enum quota_window window = (enum quota_window)i;
        const struct quota_key row = quota_key_at(key->rate_key, window, draft->request->now_us);
        const int64_t booked = sendable(draft, window, requests);

        if (quota_limit_of(key->rate, window) == 0 || booked == 0)
            continue;
        if (!store_quota_add(store, &row, rank, 0, booked, err))
            return false;
    }
    return true;
}

/* In the order in which the credentials are used; the last one takes what is left. */
bool draft_book(struct store *store, struct arena *arena, const struct plan_draft *draft,
                int64_t requests, struct error *err)
{
    for (size_t i = 0; i < key_count(draft) && requests > 0; i++) {
        const bool is_last = i + 1 == key_count(draft);
        struct key_quota key;
        int64_t part;

        if (!key_at(arena, draft, i, &key, err) || !load_key(store, draft, &key, err))
            return false;
        part = is_last || key.left > requests ? requests : key.left;
        if (!book_key(store, draft, &key, part, err))
            return false;
        requests -= part;
    }
    return true;
}
