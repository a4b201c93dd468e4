/* The state of a key, for people, and the one thing in it that a person changes. */
#include "engine/gate/gate.h"
#include "engine/gate/limit.h"
#include "port/store_rate.h"

static bool view_quota(struct store *store, const struct gate_view_request *request,
                       enum quota_window window, struct gate_view_quota *view, struct error *err)
{
    const struct quota_key key = quota_key_at(request->key, window, request->now_us);
    struct quota_count count;

    *view = (struct gate_view_quota){ .limit = quota_limit_of(request->rate, window),
                                      .until_us = quota_end_us(window, request->now_us) };
    if (view->limit == 0)
        return true;
    if (!store_quota_load(store, &key, &count, err))
        return false;
    for (int rank = 0; rank < QUOTA_CLASSES; rank++) {
        view->used += count.used[rank];
        view->booked += count.booked[rank];
    }
    return true;
}

bool gate_view(struct store *store, const struct gate_view_request *request, struct gate_view *view,
               struct error *err)
{
    struct rate_gate row;

    *view = (struct gate_view){ .parked_until_us = INT64_MIN };
    if (!store_rate_peek(store, request->key, &row, err))
        return false;
    view->is_known = row.version > 0;
    if (view->is_known) {
        struct bucket bucket = row.bucket;
        const struct bucket_config config = gate_limit_of(request->rate, row.has_credential).config;

        bucket_fit(&bucket, &config);
        view->rate = bucket.rate;
        view->tokens = request->now_us >= bucket.cooldown_until_us
                           ? bucket_outlook(&bucket, &config, request->now_us).tokens
                           : 0;
        view->provider_rate = row.bucket.provider_rate;
        view->cooldown_until_us = row.bucket.cooldown_until_us;
        view->parked_until_us = row.parked_until_us;
        view->has_credential = row.has_credential;
        view->refused_us = row.refused_us;
        view->refused_status = row.refused_status;
    }
    return view_quota(store, request, QUOTA_HOUR, &view->hour, err) &&
           view_quota(store, request, QUOTA_DAY, &view->day, err);
}

static bool lift(struct store *store, struct str key, int64_t now_us, bool *changed,
                 struct error *err)
{
    struct rate_gate row;

    *changed = false;
    if (!store_rate_load(store, key, &row, err))
        return false;
    if (row.version == 0 || (row.refused_us == 0 && row.bucket.cooldown_until_us <= now_us &&
                             row.parked_until_us <= now_us))
        return true;
    row.refused_us = 0;
    row.refused_status = 0;
    row.parked_until_us = INT64_MIN;
    if (row.bucket.cooldown_until_us > now_us)
        row.bucket.cooldown_until_us = now_us;
    return store_rate_save(store, key, &row, now_us, changed, err);
}

bool gate_lift(struct store *store, struct str key, int64_t now_us, bool *changed,
               struct error *err)
{
    if (!store_begin(store, err))
        return false;
    if (lift(store, key, now_us, changed, err) && store_commit(store, err))
        return true;
    store_rollback(store);
    return error_wrap(err, "send requests of %.*s again", STR_ARG(key));
}
