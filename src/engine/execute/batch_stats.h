/* batch_stats: the numbers of a batch, as its row keeps them (004 section 14.3.2).
 *
 *      {...,"inserted":90,"updated":8,"skipped":2,"failed":0,"unchanged":2,"older":0,"deleted":3,
 *       "signals":0,"latestUs":1767225600000000,"error":{"level":"L1","code":"...","text":"..."}}
 *
 * after the members that the walk writes (fetch_stats_write). Names mean the same as in
 * run_stats.h.
 */
#ifndef PATRA_ENGINE_EXECUTE_BATCH_STATS_H
#define PATRA_ENGINE_EXECUTE_BATCH_STATS_H

#include "engine/execute/commit.h"

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
