/* When a plan's tasks are due: at the pace that the rate gate has learned, not at the one that the
 * source file promises.
 *
 *      now    open                 steady
 *       |------|~~~~~~~~~~~~~~~~~~~~~|─────────────▶
 *        parked,  the learned rate,    the settings' rate, or
 *        silent   on its way up        the provider's own
 *
 * The gate decides what is sent; this decides only how much of the queue is worth looking at. So
 * the pace is always a little ahead of the gate.
 */
#include "engine/gate/limit.h"
#include "engine/plan/draft.h"
#include "engine/source/rate_key.h"
#include "port/store_rate.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A tenth above what the gate will allow: estimates err, and a queue that runs dry wastes time. */
static int64_t pace_of(int64_t rate, int64_t cost)
{
    return (int64_t)((__int128)rate * MICRO / cost * 11 / 10);
}

static struct spread spread_of(const struct plan_pace *pace, const struct spec_rate *rate)
{
    const struct bucket_outlook *outlook = &pace->outlook;
    const int64_t cost = gate_limit_of(rate, true).cost;

    return (struct spread){
        .start_us = outlook->open_us,
        .micro_per_second = pace_of(outlook->steady_rate, cost),
        .burst = rate->limit.burst > 1 ? rate->limit.burst : 1,
        .slow_us = outlook->steady_us - outlook->open_us,
        .slow_micro_per_second = pace_of(outlook->rate, cost),
    };
}

/* Only the executors know whether an optional credential is set. The gate's row says how they sent
 * their last requests; before the first, the higher limit is assumed. */
bool draft_pace(struct store *store, struct arena *arena, struct plan_draft *draft,
                struct error *err)
{
    const struct spec_rate *rate = &draft->spec->endpoint.rate;
    const int64_t now_us = draft->request->now_us;
    struct plan_pace *pace = &draft->pace;
    struct bucket_config config;
    struct rate_gate gate;

    if (!rate_key(arena, draft->plan.source, &draft->spec->endpoint, &draft->rate_key, err) ||
        !store_rate_peek(store, draft->rate_key, &gate, err))
        return false;
    config = gate_limit_of(rate, gate.version == 0 || gate.has_credential).config;
    *pace = (struct plan_pace){ .is_learned = gate.version > 0,
                                .found_us = now_us,
                                .parked_until_us = INT64_MIN,
                                .quota_from_us = INT64_MIN };
    if (!pace->is_learned)
        gate.bucket = bucket_start(&config, now_us);
    else
        pace->parked_until_us = gate.parked_until_us;
    bucket_fit(&gate.bucket, &config);
    pace->learned_rate = gate.bucket.rate;
    pace->outlook = bucket_outlook(&gate.bucket, &config, later(now_us, pace->parked_until_us));
    draft->spread = spread_of(pace, rate);
    return true;
}
