/* limit: what a source's rate settings mean to the gate: how late a permit may be used, and what is
 * left of the provider's hour and day.
 *
 * A permit of the bucket falls due at an instant d and is used at u, d <= u < d + late; the source
 * sees it a little later still. n requests that it sees within t were due within t + late + net.
 * So a bucket of rate R and burst B, which serves requests of cost C, keeps the promise of rate r
 * and burst b, when
 *
 *      R = r,  B < b:          R (t + late + net) + B  <=  r t + b
 *                              late + net  =  (b - B) / r
 *
 *      B = C = b:              n requests are due in (n - 1) C / R, less late + net:
 *      (one at a time)         late + net  =  C / R - C / r
 *
 * The first means leaving some of the burst unused, which costs nothing in the long run; the
 * second, where the burst is a single request, leaving 2 % of the rate unused. Three quarters of
 * the time are for the process, one for the network.
 */
#ifndef PATRA_ENGINE_GATE_LIMIT_H
#define PATRA_ENGINE_GATE_LIMIT_H

#include "core/bucket.h"
#include "port/store_rate.h"
#include "spec/spec.h"

struct gate_limit {
    struct bucket_config config;
    int64_t cost;        /* millionths, of one request */
    int64_t late_us;     /* how long after its instant a permit is good */
    int64_t quantum;     /* permits taken at once, at most */
    int64_t concurrency; /* 0: any number */
    bool has_credential;
};

struct gate_limit gate_limit_of(const struct spec_rate *rate, bool has_credential);

/* ---- quota: the planner books by it, the gate spends by it ---- */

/* Requests per window; 0: there is no quota. */
int64_t quota_limit_of(const struct spec_rate *rate, enum quota_window window);

/* The window that holds an instant, and its end. */
struct quota_key quota_key_at(struct str rate_key, enum quota_window window, int64_t now_us);
int64_t quota_end_us(enum quota_window window, int64_t now_us);

/* What an operation may still book or, without a booking, send. Where the source file has shares,
 * no operation has more than its own. */
int64_t quota_left(const struct spec_rate *rate, enum operation operation, enum quota_window window,
                   const struct quota_count *count);

/* What was not sent yet of the window, less its margin. */
int64_t quota_unused(const struct spec_rate *rate, enum quota_window window,
                     const struct quota_count *count);

#endif
