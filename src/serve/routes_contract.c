/* The queries of 004 section 14.7 that boards are made of. */
#include "base/instant.h"
#include "serve/call.h"
#include "view/cursor.h"
#include "view/plan.h"
#include "view/recent.h"
#include "view/task.h"

enum { TASKS_MAX = 100, EVENTS_MAX = 1000 };

/* A day, where nothing else is asked for. */
#define PERIOD_US (24 * INT64_C(3600000000))

static struct view_recent_filter period_of(const struct call *call)
{
    const int64_t to_us = call_has(call, "to") ? call_number(call, "to") : call->reader.now_us;

    return (struct view_recent_filter){
        .source = call_text(call, "source"),
        .from_us = call_has(call, "from") ? call_number(call, "from") : to_us - PERIOD_US,
        .to_us = to_us,
    };
}

static struct view_recent_filter filter_of(const struct call *call)
{
    struct view_recent_filter filter = period_of(call);

    filter.has_operation = call_has(call, "operation");
    filter.operation = (enum operation)call_number(call, "operation");
    return filter;
}

static bool show_queue(struct call *call, struct error *err)
{
    const struct view_recent_filter filter = filter_of(call);
    struct view_queue queue;

    if (!view_queue(&call->reader, &filter, &queue, err))
        return false;
    view_queue_write(&call->w, &queue);
    return true;
}

static bool show_late(struct call *call, struct error *err)
{
    const struct view_recent_filter filter = period_of(call);
    struct view_late_list list;

    if (!view_late(&call->reader, &filter, &list, err))
        return false;
    view_late_write(&call->w, &list);
    return true;
}

static bool list_errors(struct call *call, struct error *err)
{
    struct view_recent_filter filter = filter_of(call);
    struct view_error_list list;

    filter.level = call_text(call, "level");
    filter.limit = call_number(call, "limit");
    if (!view_errors(&call->reader, &filter, &list, err))
        return false;
    view_errors_write(&call->w, &list);
    return true;
}

/* ---- lineage ---- */

static bool write_tasks(struct call *call, const struct view_task_list *list, struct error *err)
{
    struct view_task_filter filter = { .batches_max = call_number(call, "batches") };
    struct view_task view;

    json_write_array(&call->w);
    for (size_t i = 0; i < list->count; i++) {
        filter.id = list->items[i].id;
        if (!view_task(&call->reader, &filter, &view, err))
            return false;
        view_task_write(&call->w, &view);
    }
    json_write_end(&call->w);
    return true;
}

static bool show_lineage(struct call *call, struct error *err)
{
    const struct view_plan_filter plan_filter = { .id = call_number(call, "plan") };
    const struct task_filter task_filter = { .plan_id = plan_filter.id,
                                             .after_id = call_number(call, "after"),
                                             .limit = call_number(call, "limit") };
    struct view_task_list tasks;
    struct view_plan plan;

    if (!view_plan(&call->reader, &plan_filter, &plan, err) ||
        !view_task_list(&call->reader, &task_filter, &tasks, err))
        return false;
    json_write_object(&call->w);
    json_write_name(&call->w, STR("plan"));
    view_plan_write(&call->w, &plan);
    json_write_name(&call->w, STR("tasks"));
    if (!write_tasks(call, &tasks, err))
        return false;
    json_write_end(&call->w);
    if (tasks.is_full)
        call_next_row(call, "after", tasks.items[tasks.count - 1].id);
    return true;
}

/* ---- the time line of a cursor ---- */

/* Events come newest first; those of the period are neighbours. */
static void cut(struct cursor_event_list *events, const struct view_recent_filter *period)
{
    size_t first = 0, count = 0;

    while (first < events->count && events->items[first].created_us >= period->to_us)
        first++;
    while (first + count < events->count &&
           events->items[first + count].created_us >= period->from_us)
        count++;
    events->items += first;
    events->count = count;
}

static bool show_timeline(struct call *call, struct error *err)
{
    const struct view_recent_filter period = filter_of(call);
    const struct view_cursor_filter filter = { .source = period.source,
                                               .has_operation = period.has_operation,
                                               .operation = period.operation,
                                               .namespace_prefix = call_text(call, "namespace") };
    struct view_cursor_details details;

    if (!view_cursor_details(&call->reader, &filter, EVENTS_MAX, &details, err))
        return false;
    for (size_t i = 0; i < details.count; i++)
        cut(&details.items[i].events, &period);
    view_cursor_details_write(&call->w, &details);
    return true;
}

/* ---- the table ---- */

#define SOURCE PARAM_WORD("source", IN_QUERY, "Only of this source.")
#define OPERATION                                                                              \
    {                                                                                          \
        .name = "operation", .place = IN_QUERY, .kind = PARAM_CODE, .codes = &OPERATION_CODES, \
        .help = "Only of this operation."                                                      \
    }
#define FROM                                                                              \
    {                                                                                     \
        .name = "from", .place = IN_QUERY, .kind = PARAM_INSTANT,                         \
        .help = "The period's beginning: a date, or how long ago (a day before its end)." \
    }
#define TO                                                      \
    {                                                           \
        .name = "to", .place = IN_QUERY, .kind = PARAM_INSTANT, \
        .help = "The period's end, exclusive (now)."            \
    }

static const struct route ROUTES[] = {
    { .method = "GET",
      .path = "/v1/queue",
      .name = "getQueueSnapshot",
      .summary = "Tasks that wait, run and ended, by source, endpoint and operation, and how the "
                 "runs of a period were",
      .access = ROUTE_READS,
      .params = { SOURCE, OPERATION, FROM, TO },
      .run = show_queue },
    { .method = "GET",
      .path = "/v1/plans/{plan}/lineage",
      .name = "getPlanLineage",
      .summary = "A plan with its tasks, their runs, and the first batches of each last run",
      .access = ROUTE_READS,
      .params = { PARAM_ROW("plan", "Its number."),
                  PARAM_AFTER("Tasks after this one."),
                  PARAM_LIMIT(TASKS_MAX, 20),
                  { .name = "batches",
                    .place = IN_QUERY,
                    .kind = PARAM_NUMBER,
                    .most = TASKS_MAX,
                    .otherwise = 10,
                    .help = "How many batches of each task." } },
      .run = show_lineage },
    { .method = "GET",
      .path = "/v1/cursor-timeline/{source}",
      .name = "getCursorTimeline",
      .summary = "The cursors of a source with their events of a period, up to 1000 of each",
      .access = ROUTE_READS,
      .params = { PARAM_WORD("source", IN_PATH, "The source."), OPERATION,
                  PARAM_WORD("namespace", IN_QUERY,
                             "Only cursors whose namespace key begins with this."),
                  FROM, TO },
      .run = show_timeline },
    { .method = "GET",
      .path = "/v1/late",
      .name = "getLateArrivals",
      .summary = "Of the records that the harvests of a period found new or changed, how many the "
                 "cursor had passed before",
      .access = ROUTE_READS,
      .params = { SOURCE, FROM, TO },
      .run = show_late },
    { .method = "GET",
      .path = "/v1/errors",
      .name = "getErrorTopN",
      .summary = "The errors of a period, the most frequent first, each with its latest batch",
      .access = ROUTE_READS,
      .params = { SOURCE, OPERATION, FROM, TO,
                  PARAM_WORD("level", IN_QUERY, "Only of this level: L1, L2, L3 or L4."),
                  PARAM_LIMIT(TASKS_MAX, 20) },
      .run = list_errors },
};

const struct route_group ROUTES_CONTRACT = { "Boards", ROUTES, ARRAY_LEN(ROUTES) };
