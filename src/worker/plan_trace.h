/* plan_trace: triggers as spans: 004 section 14.6.
 *
 *      PlannerTrigger ── CompileSpec ─┬─ Slice
 *                                     ╰─ Slice ...
 *
 *      plan_trace_init(&trace, &parts);
 *      plan_trace_begin(&trace);
 *      plan_trigger(... { .watch = plan_trace_watch(&trace) } ...)
 *      plan_trace_end(&trace, &traced);
 *
 * A trace per trigger. Slices are sent as they are written, PLAN_TRACE_SLICES of a trigger at most:
 * one of many thousands would push all other spans out of the queue. The trigger's span says how
 * many there are. Where it has an error, nothing of what is below it was kept.
 *
 * A trigger that is begun and not ended leaves no span: another server fired the tick.
 */
#ifndef PATRA_WORKER_PLAN_TRACE_H
#define PATRA_WORKER_PLAN_TRACE_H

#include "base/span.h"
#include "engine/plan/plan.h"
#include "port/clock.h"
#include "port/random.h"

enum { PLAN_TRACE_SLICES = 1000 };

struct plan_trace_parts {  /* all must outlive it */
    struct tracer *tracer; /* NULL: nobody wants spans */
    struct clock *clock;
    struct random_source *random;
};

struct plan_trace {
    struct plan_watch watch; /* first */
    struct plan_trace_parts parts;
    struct span_context context; /* of the trigger under way */
    int64_t began_us;
    int64_t since_us; /* the end of what was seen last */
    bool has_compiled;
    struct span compiled; /* kept until the end */
    int64_t slices;
};

void plan_trace_init(struct plan_trace *trace, const struct plan_trace_parts *parts);

/* For plan_request.watch; NULL where nobody wants spans. */
struct plan_watch *plan_trace_watch(struct plan_trace *trace);

void plan_trace_begin(struct plan_trace *trace);

struct plan_traced {
    struct str source;
    struct str operation;
    const struct plan_result *result; /* NULL when it failed */
    const struct error *err;          /* NULL when it did not */
};

/* Begins the next one, too: for triggers that follow each other. */
void plan_trace_end(struct plan_trace *trace, const struct plan_traced *traced);

#endif
