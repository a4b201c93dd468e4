/* bucket: how fast requests may be sent to a source.
 *
 * A token bucket with an adaptive rate. Tokens are added at `rate` up to `burst`; a request takes
 * its cost, or gets the time at which to try again. The rate rises in small steps while requests
 * succeed. A 429 divides it, down to rate_min. A failure (5xx, timeout) divides it too, but once
 * per `cool_down` and not below 30 % of rate_max: a source that fails one request in ten is not
 * receiving too many. What the source says (Retry-After, remaining requests, its own limit) takes
 * precedence over anything inferred.
 *
 *      rate_max  - - - - -/|- - - - - - - - - -/- -
 *                       /  | 429            /
 *                     /    |             /           each step is `increase`, one per `cool_down`
 *                          |_________/
 *      rate_min  - - - - - - - - - - - - - - - - - -
 *                              ^ cool-down: nothing at all until the Retry-After is over
 *
 * The guarantee: in any period t at most burst + rate_max * t permits are given, and none during a
 * cool-down, whatever the sequence of calls. A permit is valid now: a caller that had to wait asks
 * again, because the state may have changed meanwhile.
 *
 * Waiting callers form a line: each gets a time of its own, one after the other, so no caller wakes
 * in vain and newcomers do not overtake. Waits therefore need no jitter; cool-downs have some, 5 to
 * 15 % but at most five seconds.
 *
 * All values are whole numbers: microseconds, and millionths of a permit. The state is a plain row;
 * the caller reads it, passes it here, and writes it back under a lock or version check. A clock
 * that goes back gives no token twice. Still, all processes that share a bucket should share a
 * clock (the store's), because the guarantee holds in the time that is passed in.
 */
#ifndef PATRA_CORE_BUCKET_H
#define PATRA_CORE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/codes.h"

#define MICRO INT64_C(1000000) /* millionths in one permit */

struct bucket_config {
    int64_t rate_max; /* millionths of a permit per second: 10 a second are 10 * MICRO */
    int64_t rate_min; /* more than 0 */
    int64_t burst;    /* millionths of a permit; at least the cost of any request */
    bool is_adaptive; /* false: the rate is fixed; cool-downs still apply */
    int64_t increase;
    int64_t cool_down_us;
    int demote_permille; /* 2000 halves */
    int64_t warmup_us;   /* the first rise from a tenth of rate_max takes this long; 0: none */
};

struct bucket {
    int64_t tokens;
    int64_t carry; /* less than one millionth, in units of MICRO parts; keeps slow rates exact */
    int64_t refilled_at_us;
    int64_t rate;          /* the learned rate; the row keeps it across restarts */
    int64_t provider_rate; /* the limit reported by the source; 0: none */
    int64_t raised_at_us;
    int64_t demoted_at_us; /* INT64_MIN: never */
    int64_t cooldown_until_us;
    int64_t line_until_us; /* when the last caller in line will try again */
    int64_t started_at_us;
};

/* Full, at the highest rate (or at its tenth, with a warm-up). */
struct bucket bucket_start(const struct bucket_config *config, int64_t now_us);

/* ---- before a request ---- */

struct bucket_ask {
    int64_t now_us;
    int64_t cost;        /* millionths of a permit; MICRO for an ordinary request */
    int64_t deadline_us; /* the caller does not wait beyond this instant */
    bool is_waking;      /* true after a WAIT that was waited out */
};

enum bucket_refusal { BUCKET_REFUSED_NOT, BUCKET_REFUSED_DEADLINE, BUCKET_REFUSED_COST };

struct bucket_answer {
    enum rate_decision decision;
    int64_t at_us; /* WAIT: try again then. REJECT by deadline: it would have been then. */
    enum bucket_refusal refusal;
};

struct bucket_answer bucket_acquire(struct bucket *bucket, const struct bucket_config *config,
                                    const struct bucket_ask *ask);

/* ---- after a request ---- */

enum bucket_outcome {
    BUCKET_OK,
    BUCKET_THROTTLED, /* 429 */
    BUCKET_FAILING,   /* 5xx, a timeout */
};

struct bucket_signal {
    enum bucket_outcome outcome;
    int64_t now_us;
    int64_t sent_at_us;     /* of the request: one sent before a demotion causes no other */
    int64_t retry_after_us; /* from now; 0 (or less): not given */
    bool has_remaining;     /* X-RateLimit-Remaining, in whole requests */
    int64_t remaining;
    int64_t reset_at_us;   /* when that is reset; 0: not given */
    int64_t provider_rate; /* millionths per second, from limit and interval; 0: not given */
    uint64_t random;       /* for the jitter of cool-downs */
};

void bucket_feedback(struct bucket *bucket, const struct bucket_config *config,
                     const struct bucket_signal *signal);

/* ---- between times ---- */

/* Adapts the state to settings that may have changed since it was written. */
void bucket_fit(struct bucket *bucket, const struct bucket_config *config);

/* A forecast for the planner of what a bucket will give if no request fails; changes nothing.
 *
 *      steady_rate  - - - - - - - - - - - ._________
 *                                      .  |            the rise by steps, taken as its mean: never
 *      rate         - - - -  ._________._ |            less by any instant than what will be given
 *                            |  .         |
 *                      open_us         steady_us
 */
struct bucket_outlook {
    int64_t open_us; /* no permit before this: a cool-down */
    int64_t tokens;  /* available at open_us; not negative */
    int64_t rate;    /* until steady_us: the learned rate while it rises */
    int64_t steady_us;
    int64_t steady_rate; /* the maximum: of the settings, or the source's own */
};

struct bucket_outlook bucket_outlook(const struct bucket *bucket,
                                     const struct bucket_config *config, int64_t now_us);

/* How many whole permits will be available until the horizon. */
int64_t bucket_estimate(const struct bucket_outlook *outlook, int64_t horizon_us);

#endif
