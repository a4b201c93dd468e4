/* trace_watch: events of executors as spans: 004 section 14.6.
 *
 *      ExecutorTrigger ── PickTask ── Run ─┬─ Batch ─┬─ HTTP Call   (adapter/trace/trace_http.h)
 *                                          │         ╰─ HTTP Call
 *                                          ╰─ Batch ...
 *
 * A trace per run. Its id is the one that the run's requests carry (traceparent), so that what a
 * source traces of them is in it, too. The span of a batch has its id by its correlation id.
 */
#ifndef PATRA_WORKER_TRACE_WATCH_H
#define PATRA_WORKER_TRACE_WATCH_H

#include "base/span.h"
#include "engine/execute/executor.h"

struct trace_watch {             /* one per worker */
    struct executor_watch watch; /* first */
    struct executor_watch *next; /* sees every event, too */
    struct tracer *tracer;
    struct span_context run; /* of the run under way */
    int64_t free_us;         /* since when the worker had nothing to do; 0: unknown */
    int64_t started_us;
    int64_t since_us; /* when the batch under way began */
    int64_t batches;
};

/* Returns its watch. Without a tracer it is `next`. */
struct executor_watch *trace_watch_init(struct trace_watch *watch, struct tracer *tracer,
                                        struct executor_watch *next);

#endif
