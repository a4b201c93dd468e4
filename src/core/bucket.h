/* bucket: how fast a source may be asked.
 *
 * A token bucket whose rate learns. Tokens flow in at `rate` up to `burst`; a request takes its
 * cost out, or is told when to come back. The rate rises by small steps while all goes well and is
 * divided when the source says 429, down to rate_min. When it fails (5xx, timeouts) the rate is
 * divided as well, but once per `cool_down` and not below 30 % of rate_max: a source that breaks
 * one request in ten is not a source that is asked too often. What the source says itself
 * (Retry-After, what remains, its own limit) goes before anything inferred.
 *
 *      rate_max  - - - - -/|- - - - - - - - - -/- -
 *                       /  | 429            /
 *                     /    |             /           each step is `increase`, one per `cool_down`
 *                          |_________/
 *      rate_min  - - - - - - - - - - - - - - - - - -
 *                              ^ cool-down: nothing at all until the Retry-After is over
 *
 * The promise: whatever is asked, fed back and forgotten, the permits given in any stretch of time
 * t are at most burst + rate_max * t, and none is given in a cool-down. A permit is for now: who
 * was told to wait comes back and asks again, because much may have happened meanwhile.
 *
 * Those who wait stand in line: each is told a time of its own, one behind the other, so nobody
 * wakes in vain, and newcomers do not overtake. That is why waits need no jitter; cool-downs have
 * some, 5 to 15 % but at most five seconds.
 *
 * All is whole numbers: microseconds, and millionths of a permit. The state is a plain row; the
 * caller reads it, lets it be changed, and writes it back under a lock or version of its own. A
 * clock that goes back gives no tokens twice; still, all who share a bucket should share a clock
 * (the store's), for the promise holds by the time that the bucket is told.
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
    bool is_adaptive; /* false: the rate stays; cool-downs hold all the same */
    int64_t increase;
    int64_t cool_down_us;
    int demote_permille; /* 2000 halves */
    int64_t warmup_us;   /* the first rise from a tenth of rate_max takes this long; 0: none */
};

struct bucket {
    int64_t tokens;
    int64_t carry; /* less than one millionth, in units of MICRO parts; keeps slow rates exact */
    int64_t refilled_at_us;
    int64_t rate;          /* as learned; survives a restart with the row */
    int64_t provider_rate; /* the source's own limit, when it told one; 0: it did not */
    int64_t raised_at_us;
    int64_t demoted_at_us; /* INT64_MIN: never */
    int64_t cooldown_until_us;
    int64_t line_until_us; /* when the last in line was told to come */
    int64_t started_at_us;
};

/* Full, at the highest rate (or at its tenth, with a warm-up). */
struct bucket bucket_start(const struct bucket_config *config, int64_t now_us);

/* ---- before a request ---- */

struct bucket_ask {
    int64_t now_us;
    int64_t cost;        /* millionths of a permit; MICRO for an ordinary request */
    int64_t deadline_us; /* nobody waits beyond this instant */
    bool is_waking;      /* true for one who was told WAIT and has waited */
};

enum bucket_refusal { BUCKET_REFUSED_NOT, BUCKET_REFUSED_DEADLINE, BUCKET_REFUSED_COST };

struct bucket_answer {
    enum rate_decision decision;
    int64_t at_us; /* WAIT: come back then. REJECT by deadline: it would have been then. */
    enum bucket_refusal refusal;
};

struct bucket_answer bucket_acquire(struct bucket *bucket, const struct bucket_config *config,
                                    const struct bucket_ask *ask);

/* ---- after it ---- */

enum bucket_outcome {
    BUCKET_OK,
    BUCKET_THROTTLED, /* 429 */
    BUCKET_FAILING,   /* 5xx, a timeout */
};

struct bucket_signal {
    enum bucket_outcome outcome;
    int64_t now_us;
    int64_t sent_at_us; /* of the request: what was sent before a demotion does not cause another */
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

/* The settings may have changed since the state was written. */
void bucket_fit(struct bucket *bucket, const struct bucket_config *config);

/* What is to be expected of a bucket when all goes well, for whoever plans ahead; changes nothing.
 *
 *      steady_rate  - - - - - - - - - - - ._________
 *                                      .  |            the rise by steps, taken as its mean: never
 *      rate         - - - -  ._________._ |            less by any instant than what will be given
 *                            |  .         |
 *                      open_us         steady_us
 */
struct bucket_outlook {
    int64_t open_us; /* nothing is given before: a cool-down */
    int64_t tokens;  /* there are then; not negative */
    int64_t rate;    /* until steady_us, the learned one on its way up */
    int64_t steady_us;
    int64_t steady_rate; /* the highest: of the settings, or the source's own */
};

struct bucket_outlook bucket_outlook(const struct bucket *bucket,
                                     const struct bucket_config *config, int64_t now_us);

/* Whole permits to be had until a horizon. */
int64_t bucket_estimate(const struct bucket_outlook *outlook, int64_t horizon_us);

#endif
