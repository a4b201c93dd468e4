/* Triggers as spans. */
#include "worker/plan_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "port/store_plan.h"
#include "port/store_task.h"

/* From the end of what was seen last until now; with the id that it has by its name. */
static struct span span_of(struct plan_trace *trace, const char *name, const char *id)
{
    struct span span = { .context = trace->context,
                         .kind = SPAN_INTERNAL,
                         .begin_us = trace->since_us,
                         .end_us = clock_now_us(trace->parts.clock) };

    span_name(&span, "%s", name);
    span_id_named(span.context.span, &trace->context, str_of(id));
    return span;
}

static void describe_error(struct span *span, const struct error *err)
{
    if (err == NULL)
        return;
    span_str(span, "error.level", str_of(error_level_name(err->level)));
    span_str(span, "error.type", str_of(err->code));
    span_fail(span, str_of(err->text));
}

static void describe_plan(struct span *span, const struct plan *plan)
{
    if (plan->source.len > 0)
        span_str(span, "source", plan->source);
    if (plan->endpoint.len > 0)
        span_str(span, "endpoint", plan->endpoint);
    span_str(span, "op", code_of(&OPERATION_CODES, (int)plan->operation));
}

static void describe_window(struct span *span, struct window window)
{
    char text[INSTANT_TEXT_MAX];

    if (!window_is_valid(window))
        return;
    (void)instant_format(window.from_us, text);
    span_str(span, "patra.from", str_of(text));
    (void)instant_format(window.to_us, text);
    span_str(span, "patra.to", str_of(text));
}

static void see_compiled(struct plan_trace *trace, const struct plan_event *event)
{
    trace->compiled = span_of(trace, "CompileSpec", "CompileSpec");
    trace->has_compiled = true;
    trace->since_us = trace->compiled.end_us;
    memcpy(trace->compiled.parent, trace->context.span, SPAN_ID_MAX);
    describe_plan(&trace->compiled, event->plan);
    if (event->plan->spec_fingerprint.len > 0)
        span_str(&trace->compiled, "patra.spec_fingerprint", event->plan->spec_fingerprint);
    describe_error(&trace->compiled, event->err);
}

/* Cut and written many at a time: each begins where the compiling ended. */
static void see_slice(struct plan_trace *trace, const struct plan_event *event)
{
    struct span span;
    char id[32];

    if (trace->slices++ >= PLAN_TRACE_SLICES)
        return;
    (void)snprintf(id, sizeof(id), "Slice %" PRId64, event->slice->number);
    span = span_of(trace, "Slice", id);
    memcpy(span.parent, trace->compiled.context.span, SPAN_ID_MAX);
    describe_plan(&span, event->plan);
    span_i64(&span, "priority", event->task->priority);
    span_i64(&span, "patra.plan_id", event->slice->plan_id);
    span_i64(&span, "patra.slice_id", event->task->slice_id);
    span_i64(&span, "patra.slice_no", event->slice->number);
    span_i64(&span, "patra.due_us", event->task->scheduled_us);
    describe_window(&span, event->slice->window);
    tracer_add(trace->parts.tracer, &span);
}

static void see(struct plan_watch *watch, const struct plan_event *event)
{
    struct plan_trace *trace = (struct plan_trace *)watch;

    switch (event->kind) {
    case PLAN_EVENT_COMPILED:
        see_compiled(trace, event);
        break;
    case PLAN_EVENT_SLICE:
        see_slice(trace, event);
        break;
    }
}

void plan_trace_init(struct plan_trace *trace, const struct plan_trace_parts *parts)
{
    *trace = (struct plan_trace){ .watch = { see }, .parts = *parts };
}

struct plan_watch *plan_trace_watch(struct plan_trace *trace)
{
    return trace->parts.tracer != NULL ? &trace->watch : NULL;
}

void plan_trace_begin(struct plan_trace *trace)
{
    struct random_source *random = trace->parts.random;

    if (trace->parts.tracer == NULL)
        return;
    span_trace_set(&trace->context, random_source_u64(random), random_source_u64(random));
    span_id_set(trace->context.span, random_source_u64(random));
    trace->began_us = trace->since_us = clock_now_us(trace->parts.clock);
    trace->has_compiled = false;
    trace->slices = 0;
}

void plan_trace_end(struct plan_trace *trace, const struct plan_traced *traced)
{
    struct span span;

    if (trace->parts.tracer == NULL)
        return;
    span = span_of(trace, "PlannerTrigger", "");
    span.context = trace->context;
    span.begin_us = trace->began_us;
    span_str(&span, "source", traced->source);
    span_str(&span, "op", traced->operation);
    if (traced->result != NULL) {
        span_i64(&span, "patra.plan_id", traced->result->plan_id);
        span_i64(&span, "patra.slices", traced->result->slices);
    }
    describe_error(&span, traced->err);
    tracer_add(trace->parts.tracer, &span);
    if (trace->has_compiled)
        tracer_add(trace->parts.tracer, &trace->compiled);
    plan_trace_begin(trace);
}
