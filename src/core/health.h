/* health: how a partition of the queue (source, endpoint, operation) is doing, and what to do about
 * it before a person is needed.
 *
 *      failures in a row      circuit open: nothing is taken from the queue for a while
 *      many 429, many failed
 *      attempts, slow pages   half as many tasks at a time
 *
 * The circuit opens for one to two times `open_us`, by chance, so that many processes that saw the
 * same outage do not come back together. When the time is over one task is let through; it closes
 * the circuit or opens it again.
 *
 * Shares are measured over two spans that overlap, so an old bad hour is forgotten and a fresh one
 * is not judged by its first request. Nothing here is stored or shared: a process that starts is
 * hopeful, and a host whose own network is down does not stop the others. What the source itself
 * says (429, Retry-After, a quota that is gone) is the rate gate's, and shared.
 */
#ifndef PATRA_CORE_HEALTH_H
#define PATRA_CORE_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

struct health_policy {
    int failures_max;       /* in a row, until the circuit opens */
    int64_t open_us;        /* at least; at most twice this */
    int throttled_permille; /* of the requests: more are too many */
    int failed_permille;    /* likewise */
    int64_t slow_us;        /* a page that takes longer on average is slow */
    int64_t span_us;        /* what is looked back on: at least this long, less than twice */
    int64_t requests_min;   /* fewer than this say nothing about shares */
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
    int64_t span_from_us; /* of the present span; 0: none yet */
    struct health_span spans[2];
};

/* A batch that was fetched, or a run that failed although it may succeed later. */
struct health_sample {
    int64_t now_us;
    bool is_failure;
    int64_t requests;
    int64_t throttled;
    int64_t failed;     /* attempts that had to be made again, 429 apart */
    int64_t latency_us; /* of the page */
    uint64_t random;
};

void health_note(struct health *health, const struct health_policy *policy,
                 const struct health_sample *sample);

bool health_is_open(const struct health *health, int64_t now_us);

/* How many tasks of the partition may run at a time, of `live_max` (at least 1). */
int64_t health_live_max(const struct health *health, const struct health_policy *policy,
                        int64_t live_max, int64_t now_us);

#endif
