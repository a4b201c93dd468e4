/* From a piece of work to the request that failed: lineage, batches in full, coverage, what a
 * trigger would plan; and whether anything has changed. */
#include "act/trigger.h"
#include "serve/live.h"
#include "view/batch.h"
#include "view/strip.h"
#include "view/trace.h"

enum { PIECES_MAX = 1000, NAMED_MAX = 1000, SLICES_MAX = 10000 };

/* ---- lineage ---- */

static bool show_trace(struct call *call, const struct view_trace_key *key, struct error *err)
{
    struct view_trace trace;

    if (!view_trace(&call->reader, key, &trace, err))
        return false;
    view_trace_write(&call->w, &trace);
    return true;
}

static bool trace_plan(struct call *call, struct error *err)
{
    return show_trace(
        call, &(struct view_trace_key){ .kind = TRACE_PLAN, .id = call_number(call, "plan") }, err);
}

static bool trace_task(struct call *call, struct error *err)
{
    return show_trace(
        call, &(struct view_trace_key){ .kind = TRACE_TASK, .id = call_number(call, "task") }, err);
}

static bool trace_run(struct call *call, struct error *err)
{
    return show_trace(
        call, &(struct view_trace_key){ .kind = TRACE_RUN, .id = call_number(call, "run") }, err);
}

static bool show_batch(struct call *call, struct error *err)
{
    const struct view_batch_key key = { call_number(call, "run"), call_number(call, "number") };
    struct view_batch batch;

    if (!view_batch(&call->reader, &key, &batch, err))
        return false;
    view_batch_write(&call->w, &batch);
    return true;
}

/* ---- coverage ---- */

static bool list_strips(struct call *call, struct error *err)
{
    const struct view_strip_filter filter = {
        .cursors = { .source = call_text(call, "source"),
                     .has_operation = call_has(call, "operation"),
                     .operation = (enum operation)call_number(call, "operation"),
                     .namespace_prefix = call_text(call, "namespace") },
        .from = { call_has(call, "from"), call_number(call, "from") },
        .to = { call_has(call, "to"), call_number(call, "to") },
        .pieces_max = (size_t)call_number(call, "limit"),
        .named_max = NAMED_MAX,
    };
    struct view_strip_list list;

    if (!view_strips(&call->reader, &filter, &list, err))
        return false;
    view_strips_write(&call->w, &list);
    return true;
}

static bool preview(struct call *call, struct error *err)
{
    const struct act_preview_request request = {
        .source = call_text(call, "source"),
        .operation = call_has(call, "operation") ? call_text(call, "operation") : STR("backfill"),
        .from = { call_has(call, "from"), call_number(call, "from") },
        .to = { call_has(call, "to"), call_number(call, "to") },
        .slices_max = call_number(call, "limit"),
        .specs = api_settings(call->api)->specs,
        .random = api_settings(call->api)->random,
    };
    struct act_preview made;

    if (!act_preview(&call->reader, &request, &made, err))
        return false;
    view_trigger_write(&call->w,
                       &(struct view_trigger){ &made.request, &made.result, &made.preview });
    return true;
}

/* ---- changes ---- */

static bool stream_changes(struct call *call, struct error *err)
{
    return live_open(call, call_number(call, "seen"), err);
}

/* ---- the table ---- */

#define INSTANT(name_, help_)                                                  \
    {                                                                          \
        .name = name_, .place = IN_QUERY, .kind = PARAM_INSTANT, .help = help_ \
    }

static const struct route ROUTES[] = {
    { .method = "GET",
      .path = "/v1/plans/{plan}/trace",
      .name = "tracePlan",
      .summary = "The way of a plan down to its requests, with the point at which it failed",
      .command = "patra trace plan PLAN --json",
      .access = ROUTE_READS,
      .params = { PARAM_ROW("plan", "Its number.") },
      .run = trace_plan },
    { .method = "GET",
      .path = "/v1/tasks/{task}/trace",
      .name = "traceTask",
      .summary = "The way of a task down to its requests, with the point at which it failed",
      .command = "patra trace task TASK --json",
      .access = ROUTE_READS,
      .params = { PARAM_ROW("task", "Its number.") },
      .run = trace_task },
    { .method = "GET",
      .path = "/v1/runs/{run}/trace",
      .name = "traceRun",
      .summary = "The way of a run down to its requests, with the point at which it failed",
      .command = "patra trace run RUN --json",
      .access = ROUTE_READS,
      .params = { PARAM_ROW("run", "Its number.") },
      .run = trace_run },
    { .method = "GET",
      .path = "/v1/runs/{run}/batches/{number}",
      .name = "showBatch",
      .summary = "A batch in full: the request, every attempt, the response, what became of each "
                 "item",
      .command = "patra batch show RUN/NUMBER --json",
      .access = ROUTE_READS,
      .params = { PARAM_ROW("run", "The run."), PARAM_ROW("number", "Its number in the run.") },
      .run = show_batch },
    { .method = "GET",
      .path = "/v1/coverage/{source}",
      .name = "listCoverage",
      .summary = "The time of each cursor piece by piece: covered, under way, or missing and why",
      .access = ROUTE_READS,
      .params = { PARAM_WORD("source", IN_PATH, "The source."),
                  { .name = "operation",
                    .place = IN_QUERY,
                    .kind = PARAM_CODE,
                    .codes = &OPERATION_CODES,
                    .help = "Only the cursors of this operation." },
                  PARAM_WORD("namespace", IN_QUERY,
                             "Only cursors whose namespace key begins with this."),
                  INSTANT("from", "Where the strips begin (a month ago, or before the cursor)."),
                  INSTANT("to", "Where they end, exclusive (now)."),
                  PARAM_LIMIT(PIECES_MAX, 200) },
      .run = list_strips },
    { .method = "GET",
      .path = "/v1/sources/{source}/preview",
      .name = "previewTrigger",
      .summary = "What a trigger would plan; nothing is written",
      .command = "patra trigger SOURCE OPERATION --dry-run --json",
      .access = ROUTE_READS,
      .params = { PARAM_WORD("source", IN_PATH, "The source."),
                  PARAM_WORD("operation", IN_QUERY,
                             "HARVEST, BACKFILL, UPDATE, METRICS, REPLAY, or the name of one in "
                             "the source's file (backfill)."),
                  INSTANT("from", "Start of the window: a date, or how long ago (7d)."),
                  INSTANT("to", "End of the window, exclusive."), PARAM_LIMIT(SLICES_MAX, 20) },
      .run = preview },
    { .method = "GET",
      .path = "/v1/events/changes",
      .name = "streamChanges",
      .summary = "Server-sent events: one whenever the state has changed, for pages that are open",
      .type = "text/event-stream",
      .access = ROUTE_READS,
      .params = { { .name = "seen",
                    .place = IN_QUERY,
                    .kind = PARAM_NUMBER,
                    .most = INT64_MAX,
                    .help = "The number of the last event that was seen." } },
      .run = stream_changes },
};

const struct route_group ROUTES_TRACE = { "Trace", ROUTES, ARRAY_LEN(ROUTES) };
