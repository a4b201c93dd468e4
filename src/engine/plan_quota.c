/* A provider's hour and day: what of them a plan may still book.
 *
 * What a plan expects to send is booked with the plan, under a lock taken after the namespace's;
 * who sends it moves it from booked to used. So HARVEST finds its share untouched, however much
 * history a BACKFILL has before it.
 */
#include <assert.h>

#include "core/align.h"
#include "engine/plan_draft.h"
#include "engine/rate_key.h"
#include "port/store_rate.h"

static bool has_quota(const struct plan_draft *draft)
{
    const struct spec_rate *rate = &draft->spec.endpoint.rate;

    return rate->quota_hour > 0 || rate->quota_day > 0;
}

static int64_t limit_of(const struct plan_draft *draft, enum quota_window window)
{
    const struct spec_rate *rate = &draft->spec.endpoint.rate;

    return window == QUOTA_HOUR ? rate->quota_hour : rate->quota_day;
}

static struct quota_key key_of(const struct plan_draft *draft, enum quota_window window)
{
    const enum align_unit unit = window == QUOTA_HOUR ? ALIGN_HOUR : ALIGN_DAY;

    return (struct quota_key){ .rate_key = draft->rate_key,
                               .window = window,
                               .from_us = align_floor(draft->request->now_us, unit) };
}

/* Authors give shares to operations, in per cent; they are counted by class, in thousandths. Where
 * nothing is said the classes have those built in; where something is, the others have none. */
static void read_shares(const int per_cent[], int permille[QUOTA_CLASSES])
{
    static const int BUILT_IN[QUOTA_CLASSES] = QUOTA_SHARES_DEFAULT;
    bool is_said = false;

    for (int rank = 0; rank < QUOTA_CLASSES; rank++)
        permille[rank] = 0;
    for (int i = 0; i <= OPERATION_REPLAY; i++) {
        if (per_cent[i] == 100)
            continue;
        is_said = true;
        permille[quota_class_of((enum operation)i)] += per_cent[i] * 10;
    }
    for (int rank = 0; rank < QUOTA_CLASSES && !is_said; rank++)
        permille[rank] = BUILT_IN[rank];
}

static int64_t available(const struct plan_draft *draft, int64_t limit,
                         const struct quota_count *count)
{
    const struct spec_rate *rate = &draft->spec.endpoint.rate;
    const enum quota_class rank = quota_class_of(draft->plan.operation);
    struct quota quota = { .limit = limit, .margin_permille = (int)(rate->quota_margin * 1000) };
    int64_t of_class, own;

    read_shares(rate->quota_shares, quota.shares_permille);
    for (int i = 0; i < QUOTA_CLASSES; i++) {
        quota.used[i] = count->used[i];
        quota.booked[i] = count->booked[i];
    }
    of_class = quota_available(&quota, rank);
    own = limit * rate->quota_shares[draft->plan.operation] / 100 - count->used[rank] -
          count->booked[rank];
    if (own < 0)
        own = 0;
    return own < of_class ? own : of_class;
}

/* The lock is of the rate key: several namespaces share it. */
static bool lock_key(struct store *store, struct arena *arena, const struct plan_draft *draft,
                     struct error *err)
{
    const struct str name = arena_printf(arena, "quota:%.*s", STR_ARG(draft->rate_key));

    if (name.data == NULL)
        return arena_error(arena, err);
    return store->state != STORE_WRITING || store_lock(store, name, err);
}

bool draft_quota(struct store *store, struct arena *arena, struct plan_draft *draft,
                 struct error *err)
{
    if (!has_quota(draft))
        return true;
    if (!rate_key(arena, draft->plan.source, &draft->spec.endpoint, &draft->rate_key, err) ||
        !lock_key(store, arena, draft, err))
        return false;
    for (int window = QUOTA_HOUR; window <= QUOTA_DAY; window++) {
        const struct quota_key key = key_of(draft, (enum quota_window)window);
        const int64_t limit = limit_of(draft, (enum quota_window)window);
        struct quota_count count;
        int64_t left;

        if (limit == 0)
            continue;
        if (!store_quota_load(store, &key, &count, err))
            return false;
        left = available(draft, limit, &count);
        if (left < draft->budget.requests_left)
            draft->budget.requests_left = left;
    }
    return true;
}

bool draft_book(struct store *store, const struct plan_draft *draft, int64_t requests,
                struct error *err)
{
    const enum quota_class rank = quota_class_of(draft->plan.operation);

    for (int window = QUOTA_HOUR; window <= QUOTA_DAY; window++) {
        const struct quota_key key = key_of(draft, (enum quota_window)window);

        if (limit_of(draft, (enum quota_window)window) == 0 || requests == 0)
            continue;
        if (!store_quota_add(store, &key, rank, 0, requests, err))
            return false;
    }
    return true;
}
