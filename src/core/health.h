/* health: the state of a partition of the queue (source, endpoint, operation), and what to do about
 * failures before a person is needed.
 *
 *      failures in a row      circuit open: nothing is taken from the queue for a while
 *      many 429, many failed
 *      attempts, slow pages   half as many tasks at a time
 *
 * The circuit opens for a random time between one and two times `open_us`, so that processes that
 * saw the same outage do not come back at the same moment. When the time is over, one task is
 * allowed to run; it closes the circuit or opens it again.
 *
 * Shares are measured over the current and the last span, so an old failure is forgotten and a new
 * span is not judged by its first request. Nothing here is stored or shared: a process starts with
 * all circuits closed, and a host whose own network is down does not stop the others. What the
 * source says itself (429, Retry-After, quota used up) is handled by the rate gate and shared.
 */
#ifndef PATRA_CORE_HEALTH_H
#define PATRA_CORE_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

struct health_policy {
    int failures_max;       /* in a row, until the circuit opens */
    int64_t open_us;        /* at least; at most twice this */
    int throttled_permille; /* the largest acceptable share of 429 among requests */
    int failed_permille;    /* the largest acceptable share of failed attempts */
    int64_t slow_us;        /* a page that takes longer on average is slow */
    int64_t span_us;        /* the period measured: at least this long, less than twice */
    int64_t requests_min;   /* with fewer requests no share is judged */
};

/* Three failures, one to two minutes, 5 % of 429 or of failed attempts and 3 s in 5 minutes. */
struct health_policy health_default(void);

struct health_span {
    int64_t requests;
    int64_t throttled;
    int64_t failed;
    int64_t pages;
    int64_t latency_us; /* of all pages */
};

struct health {
    int failures; /* in a row */
    int64_t open_until_us;
    int64_t span_from_us; /* of the current span; 0: none yet */
    struct health_span spans[2];
};

/* A batch that was fetched, or a run that failed although it may succeed later. */
struct health_sample {
    int64_t now_us;
    bool is_failure;
    int64_t requests;
    int64_t throttled;
    int64_t failed;     /* attempts that had to be retried, except for 429 */
    int64_t latency_us; /* of the page */
    uint64_t random;
};

void health_note(struct health *health, const struct health_policy *policy,
                 const struct health_sample *sample);

bool health_is_open(const struct health *health, int64_t now_us);

/* How many tasks of the partition may run at a time; 1 to `live_max`. */
int64_t health_live_max(const struct health *health, const struct health_policy *policy,
                        int64_t live_max, int64_t now_us);

#endif
