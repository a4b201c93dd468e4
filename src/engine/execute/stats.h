/* run_stats: what a run did so far, batch by batch (004 section 14.3.1).
 *
 *      {"reqCount":42,"retCount":3800,"inserted":2900,"updated":850,"skipped":50,"failed":0,
 *       "retryCount":7,"429Count":3,"avgLatencyMs":480,"maxLatencyMs":2100,"pagesVisited":42,
 *       "hasNextLast":false,"rateAdjusted":true,"remarks":"online-reslice-suggested:false",
 *       "permitsTotal":42,"waitTotalMs":9100,"retryAfterHits":1,"demoteEvents":3,"quotaHardHits":0,
 *       "circuitOpen":false,"unchanged":50,"older":0,"deleted":3,"signals":1,"bytes":145678,
 *       "errorCount":1,"errors":[{"batchNo":7,"level":"L1","code":"http.status","text":"..."}]}
 *
 * permitsTotal counts requests on the wire: each has a permit of its own. skipped are the unchanged
 * and the older; failed the quarantined; updated counts deletions too. Of many errors the first and
 * the latest are kept.
 */
#ifndef PATRA_ENGINE_EXECUTE_STATS_H
#define PATRA_ENGINE_EXECUTE_STATS_H

#include "base/error.h"
#include "data/json_write.h"

enum { RUN_STATS_ERRORS_MAX = 8, RUN_STATS_TEXT_MAX = 256 };

struct run_stats_error {
    int64_t batch_no;
    enum error_level level;
    const char *code;
    char text[RUN_STATS_TEXT_MAX];
};

struct run_stats { /* the zero value is a run that did nothing */
    int64_t requests;
    int64_t returned; /* items in the replies */
    int64_t created;
    int64_t updated;
    int64_t unchanged;
    int64_t older;
    int64_t deleted;
    int64_t quarantined;
    int64_t signals;
    int64_t retries;
    int64_t throttled;
    int64_t latency_us; /* summed, over latency_count replies */
    int64_t latency_count;
    int64_t latency_max_us;
    int64_t pages;
    int64_t bytes;
    int64_t waited_us;
    int64_t waits_told; /* by Retry-After */
    int64_t slowed;     /* times the gate was made to lower its rate */
    int64_t quota_gone;
    bool has_next;
    bool needs_reslice;   /* has a ticket for the rest of its slice */
    bool is_circuit_open; /* its end left the partition's circuit open */

    int64_t error_count;
    struct run_stats_error errors[RUN_STATS_ERRORS_MAX]; /* the last one is the latest */
};

void run_stats_error(struct run_stats *stats, int64_t batch_no, const struct error *error);
void run_stats_write(const struct run_stats *stats, struct json_writer *writer);

#endif
