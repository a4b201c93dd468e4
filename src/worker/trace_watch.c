/* Events of executors as spans. */
#include "worker/trace_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/codes.h"

static struct span span_of(const struct trace_watch *mine, const struct executor_event *event,
                           const char *name)
{
    const struct task *task = event->task;
    struct span span = { .context = mine->run, .kind = SPAN_INTERNAL, .end_us = event->now_us };

    span_name(&span, "%s", name);
    span_str(&span, "source", task->source);
    span_str(&span, "endpoint", task->endpoint);
    span_str(&span, "op", code_of(&OPERATION_CODES, (int)task->operation));
    span_i64(&span, "priority", task->priority);
    span_i64(&span, "patra.schedule_id", task->schedule_instance_id);
    span_i64(&span, "patra.plan_id", task->plan_id);
    span_i64(&span, "patra.slice_id", task->slice_id);
    span_i64(&span, "patra.task_id", task->id);
    span_i64(&span, "patra.run_id", event->run_id);
    return span;
}

/* A span that another one has as its parent, or it itself, by the name of its kind. */
static void set_id(char id[SPAN_ID_MAX], const struct trace_watch *mine, const char *name)
{
    span_id_named(id, &mine->run, str_of(name));
}

/* ---- a run ---- */

static void begin(struct trace_watch *mine, const struct executor_event *event)
{
    if (!span_context_parse(event->traceparent, &mine->run))
        mine->run = (struct span_context){ 0 };
    mine->started_us = mine->since_us = event->now_us;
    if (mine->free_us == 0 || mine->free_us > event->now_us)
        mine->free_us = event->now_us;
    mine->batches = 0;
}

static void end(struct trace_watch *mine, const struct executor_event *event)
{
    const struct ending *ending = event->ending;
    const bool is_bad = ending->kind == ENDING_OVERTAKEN ||
                        (ending->kind == ENDING_FINAL && ending->status != TASK_SUCCEEDED &&
                         ending->status != TASK_CANCELLED);
    const struct str status = ending->kind == ENDING_OVERTAKEN ? STR("OVERTAKEN")
                              : ending->kind == ENDING_LATER
                                  ? STR("LATER")
                                  : code_of(&TASK_STATUS_CODES, (int)ending->status);
    struct span run = span_of(mine, event, "Run");
    struct span pick = span_of(mine, event, "PickTask");
    struct span trigger = span_of(mine, event, "ExecutorTrigger");

    set_id(trigger.context.span, mine, "ExecutorTrigger");
    set_id(pick.context.span, mine, "PickTask");
    memcpy(pick.parent, trigger.context.span, SPAN_ID_MAX);
    memcpy(run.parent, pick.context.span, SPAN_ID_MAX);
    trigger.begin_us = pick.begin_us = mine->free_us;
    pick.end_us = run.begin_us = mine->started_us;
    span_i64(&pick, "patra.due_us", event->task->scheduled_us);
    span_i64(&pick, "patra.lease_epoch", event->task->lease_epoch);
    span_str(&run, "status", status);
    span_i64(&run, "patra.batches", mine->batches);
    span_i64(&run, "patra.attempt", event->task->attempts);
    if (is_bad)
        span_fail(&run, status);
    tracer_add(mine->tracer, &trigger);
    tracer_add(mine->tracer, &pick);
    tracer_add(mine->tracer, &run);
    mine->free_us = event->now_us;
}

/* ---- a batch ---- */

/* Tokens are a source's own: to be compared, not to be read. */
static void describe_token(struct span *span, struct str token)
{
    const struct span_context none = { 0 };
    char hash[SPAN_ID_MAX];

    if (token.len == 0)
        return;
    span_id_named(hash, &none, token);
    span_str(span, "token", str_of(hash));
}

static void see_batch(struct trace_watch *mine, const struct executor_event *event)
{
    const struct fetch_batch *batch = event->batch;
    struct span span = span_of(mine, event, "Batch");
    char correlation[64];

    (void)snprintf(correlation, sizeof(correlation), "ing-%" PRId64 "-%" PRId64, event->run_id,
                   batch->batch_no);
    memcpy(span.parent, mine->run.span, SPAN_ID_MAX);
    span_id_named(span.context.span, &mine->run, str_of(correlation));
    span.begin_us = mine->since_us;
    span_i64(&span, "patra.batch_no", batch->batch_no);
    if (batch->has_page_no)
        span_i64(&span, "page", batch->page_no);
    describe_token(&span, batch->before);
    span_str(&span, "hasNext", batch->has_next ? STR("true") : STR("false"));
    span_str(&span, "status", event->err == NULL ? STR("SUCCEEDED") : STR("FAILED"));
    if (batch->counts.status > 0)
        span_i64(&span, "http.status", batch->counts.status);
    if (event->commit != NULL)
        span_i64(&span, "patra.batch_id", event->commit->batch_id);
    span_i64(&span, "patra.items", batch->counts.items);
    if (event->err != NULL) {
        span_str(&span, "error.level", str_of(error_level_name(event->err->level)));
        span_str(&span, "error.type", str_of(event->err->code));
        span_fail(&span, str_of(event->err->text));
    }
    tracer_add(mine->tracer, &span);
    mine->since_us = event->now_us;
    mine->batches++;
}

static void see(struct executor_watch *watch, const struct executor_event *event)
{
    struct trace_watch *mine = (struct trace_watch *)watch;

    switch (event->kind) {
    case EXECUTOR_STARTED:
        begin(mine, event);
        break;
    case EXECUTOR_BATCH:
        see_batch(mine, event);
        break;
    case EXECUTOR_ENDED:
        end(mine, event);
        break;
    case EXECUTOR_IDLE:
        mine->free_us = event->now_us;
        break;
    case EXECUTOR_CURSOR:
    case EXECUTOR_WAITING:
    case EXECUTOR_TROUBLE:
        break;
    }
    mine->next->see(mine->next, event);
}

struct executor_watch *trace_watch_init(struct trace_watch *watch, struct tracer *tracer,
                                        struct executor_watch *next)
{
    *watch = (struct trace_watch){ .watch = { see }, .next = next, .tracer = tracer };
    return tracer != NULL ? &watch->watch : next;
}
