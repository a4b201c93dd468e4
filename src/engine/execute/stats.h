/* stats: the numbers of a run and of its batches, as their rows keep them.
 *
 * A run (004 section 14.3.1) has the sums of its batches so far:
 *
 *      {"reqCount":42,"retCount":3800,"inserted":2900,"updated":850,"skipped":50,"failed":0,
 *       "retryCount":7,"429Count":3,"avgLatencyMs":480,"maxLatencyMs":2100,"pagesVisited":42,
 *       "hasNextLast":false,"rateAdjusted":true,"remarks":"online-reslice-suggested:false",
 *       "permitsTotal":42,"waitTotalMs":9100,"retryAfterHits":1,"demoteEvents":3,"quotaHardHits":0,
 *       "circuitOpen":false,"changedSameDate":0,"futureDates":0,"lateArrival":0,"unchanged":50,
 *       "older":0,"deleted":3,"signals":1,"bytes":145678,"doubts":["lost-next"],
 *       "errorCount":1,"errors":[{"batchNo":7,"level":"L1","code":"http.status","text":"..."}]}
 *
 * changedSameDate are those of updated that have the date they had before, futureDates those of all
 * whose date is not believed. lateArrival are those inserted and updated that a cursor had passed
 * before. permitsTotal counts requests on the wire: each has a permit of its
 * own. skipped are the unchanged and the older; failed the quarantined; updated counts deletions
 * too. doubts are those of the walk (enum fetch_doubt). Of many errors the first and the latest are
 * kept.
 *
 * A batch (004 section 14.3.2) has, after the members that the walk writes (fetch_stats_write):
 *
 *      {...,"inserted":90,"updated":8,"skipped":2,"failed":0,"changedSameDate":0,"futureDates":0,
 *       "unchanged":2,"older":0,"deleted":3,"signals":0,"latestUs":1767225600000000,"error":{"level":"L1","code":"...","text":"..."}}
 */
#ifndef PATRA_ENGINE_EXECUTE_STATS_H
#define PATRA_ENGINE_EXECUTE_STATS_H

#include "base/error.h"
#include "data/json_write.h"
#include "engine/fetch/fetch.h"

struct commit_result;

/* ---- a run ---- */

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
    int64_t same_date;
    int64_t future;
    int64_t late;
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
    bool doubts[FETCH_DOUBTS]; /* of its last batch */
    bool has_next;
    bool needs_reslice;   /* has a ticket for the rest of its slice */
    bool is_circuit_open; /* its end left the partition's circuit open */

    int64_t error_count;
    struct run_stats_error errors[RUN_STATS_ERRORS_MAX]; /* the last one is the latest */
};

void run_stats_error(struct run_stats *stats, int64_t batch_no, const struct error *error);
void run_stats_write(const struct run_stats *stats, struct json_writer *writer);

/* ---- a batch ---- */

/* `cause` is the error of a batch that failed, else NULL. */
bool batch_stats_write(struct arena *arena, const struct fetch_batch *batch,
                       const struct commit_result *result, const struct error *cause,
                       struct str *json, struct error *err) MUST_CHECK;

/* Sets the counts of *result and leaves the rest alone. */
bool batch_stats_read(struct arena *arena, struct str json, struct commit_result *result,
                      struct error *err) MUST_CHECK;

/* Adds a batch to the sums of its run. */
void batch_stats_sum(struct run_stats *stats, const struct fetch_batch *batch,
                     const struct commit_result *result, const struct error *cause);

#endif
