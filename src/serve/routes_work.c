/* Sources, status, plans, tasks, runs and batches. */
#include "port/store_registry.h"
#include "port/store_status.h"
#include "serve/call.h"
#include "view/gate.h"
#include "view/pause.h"
#include "view/plan.h"
#include "view/run.h"
#include "view/source.h"
#include "view/status.h"
#include "view/task.h"

enum { LIST_MAX = 1000 };

static const char SOURCE_HELP[] = "Only of this source.";

/* ---- sources and status ---- */

static bool list_sources(struct call *call, struct error *err)
{
    struct registry_entry_list list;

    if (!store_registry_list(call->reader.store, call->reader.arena, call->reader.now_us, &list,
                             err))
        return false;
    view_source_list_write(&call->w, &list);
    return true;
}

static bool show_status(struct call *call, struct error *err)
{
    const struct view_status_filter filter = { .source = call_text(call, "source") };
    struct view_status status;

    if (!view_status(&call->reader, &filter, &status, err))
        return false;
    view_status_write(&call->w, &status);
    return true;
}

static bool list_pauses(struct call *call, struct error *err)
{
    struct pause_list list;

    if (!store_pause_list(call->reader.store, call->reader.arena, call_text(call, "source"), &list,
                          err))
        return false;
    view_pause_list_write(&call->w, &list);
    return true;
}

/* The sources in force, whose gates are configured. */
static bool source_names(struct call *call, struct str **names, size_t *count, struct error *err)
{
    const struct str wanted = call_text(call, "source");
    struct registry_entry_list list;

    if (!view_source_check(&call->reader, wanted, err) ||
        !store_registry_list(call->reader.store, call->reader.arena, call->reader.now_us, &list,
                             err))
        return false;
    *names = ARENA_ARRAY(call->reader.arena, struct str, list.count + 1);
    if (*names == NULL)
        return arena_error(call->reader.arena, err);
    *count = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (wanted.len == 0 || str_eq(list.items[i].code, wanted))
            (*names)[(*count)++] = list.items[i].code;
    }
    return true;
}

static bool list_gates(struct call *call, struct error *err)
{
    struct view_gate_filter filter = { .with_unconfigured = !call_has(call, "source") };
    struct view_gate_list list;
    struct str *names;

    if (!source_names(call, &names, &filter.source_count, err) ||
        !call_clock(call, &filter.now_us, err))
        return false;
    filter.sources = names;
    if (!view_gate_list(&call->reader, &filter, &list, err))
        return false;
    view_gate_list_write(&call->w, &list, filter.now_us);
    return true;
}

/* ---- plans ---- */

static bool list_plans(struct call *call, struct error *err)
{
    const struct plan_filter filter = {
        .source = call_text(call, "source"),
        .has_operation = call_has(call, "operation"),
        .operation = (enum operation)call_number(call, "operation"),
        .has_status = call_has(call, "status"),
        .status = (enum plan_status)call_number(call, "status"),
        .before_id = call_number(call, "before"),
        .limit = call_number(call, "limit"),
    };
    struct view_plan_list list;

    if (!view_plan_list(&call->reader, &filter, &list, err))
        return false;
    view_plan_list_write(&call->w, &list);
    if (list.is_full)
        call_next_row(call, "before", list.items[list.count - 1].plan.id);
    return true;
}

static bool show_plan(struct call *call, struct error *err)
{
    const struct view_plan_filter filter = { .id = call_number(call, "plan"),
                                             .after_number = call_number(call, "after"),
                                             .slices_max = call_number(call, "limit") };
    struct view_plan view;

    if (!view_plan(&call->reader, &filter, &view, err))
        return false;
    view_plan_write(&call->w, &view);
    if (view.slices.count > 0 && (int64_t)view.slices.count == filter.slices_max)
        call_next_row(call, "after", view.slices.items[view.slices.count - 1].slice.number);
    return true;
}

/* ---- tasks ---- */

static bool list_tasks(struct call *call, struct error *err)
{
    const struct task_filter filter = {
        .plan_id = call_number(call, "plan"),
        .source = call_text(call, "source"),
        .has_status = call_has(call, "status"),
        .status = (enum task_status)call_number(call, "status"),
        .after_id = call_number(call, "after"),
        .limit = call_number(call, "limit"),
    };
    struct view_task_list list;

    if (!view_task_list(&call->reader, &filter, &list, err))
        return false;
    view_task_list_write(&call->w, &list);
    if (list.is_full)
        call_next_row(call, "after", list.items[list.count - 1].id);
    return true;
}

static bool show_task(struct call *call, struct error *err)
{
    const struct view_task_filter filter = { .id = call_number(call, "task"),
                                             .run_id = call_number(call, "run"),
                                             .batches_max = call_number(call, "batches") };
    struct view_task view;

    if (!view_task(&call->reader, &filter, &view, err))
        return false;
    view_task_write(&call->w, &view);
    return true;
}

static bool list_runs(struct call *call, struct error *err)
{
    const struct view_task_filter filter = { .id = call_number(call, "task") };
    struct view_task view; /* for a task that does not exist */

    if (!view_task(&call->reader, &filter, &view, err))
        return false;
    view_run_list_write(&call->w, &view.runs);
    return true;
}

static bool list_batches(struct call *call, struct error *err)
{
    const struct view_batch_filter filter = { .run_id = call_number(call, "run"),
                                              .after_number = call_number(call, "after"),
                                              .limit = call_number(call, "limit") };
    struct view_batch_list list;

    if (!view_batch_list(&call->reader, &filter, &list, err))
        return false;
    view_batch_list_write(&call->w, &list);
    if (list.is_full)
        call_next_row(call, "after", list.items[list.count - 1].number);
    return true;
}

/* ---- the table ---- */

#define PARAM_WORDS(name_, codes_, help_)                                                    \
    {                                                                                        \
        .name = name_, .place = IN_QUERY, .kind = PARAM_CODE, .codes = codes_, .help = help_ \
    }

static const struct route ROUTES[] = {
    { .method = "GET",
      .path = "/v1/sources",
      .name = "listSources",
      .summary = "The sources in force, their versions, and when each last changed",
      .command = "patra source list --json",
      .access = ROUTE_READS,
      .run = list_sources },
    { .method = "GET",
      .path = "/v1/status",
      .name = "showStatus",
      .summary = "The state of every source and rate gate, and what needs a person",
      .command = "patra status --json",
      .access = ROUTE_READS,
      .params = { PARAM_WORD("source", IN_QUERY, SOURCE_HELP) },
      .run = show_status },
    { .method = "GET",
      .path = "/v1/pauses",
      .name = "listPauses",
      .summary = "What is paused by a person, or stopped by a fatal error",
      .command = "patra pause --json",
      .access = ROUTE_READS,
      .params = { PARAM_WORD("source", IN_QUERY, SOURCE_HELP) },
      .run = list_pauses },
    { .method = "GET",
      .path = "/v1/gates",
      .name = "listGates",
      .summary = "Rate gates: what is configured, learned, used and left",
      .command = "patra status --json (gates)",
      .access = ROUTE_READS,
      .params = { PARAM_WORD("source", IN_QUERY, SOURCE_HELP) },
      .run = list_gates },
    { .method = "GET",
      .path = "/v1/plans",
      .name = "listPlans",
      .summary = "Plans, the newest first, and what became of them",
      .command = "patra plan list --json",
      .access = ROUTE_READS,
      .params = { PARAM_WORD("source", IN_QUERY, SOURCE_HELP),
                  PARAM_WORDS("operation", &OPERATION_CODES, "Only of this operation."),
                  PARAM_WORDS("status", &PLAN_STATUS_CODES, "Only plans in this state."),
                  { .name = "before",
                    .place = IN_QUERY,
                    .kind = PARAM_NUMBER,
                    .most = INT64_MAX,
                    .help = "Only plans older than this one." },
                  PARAM_LIMIT(LIST_MAX, 20) },
      .run = list_plans },
    { .method = "GET",
      .path = "/v1/plans/{plan}",
      .name = "showPlan",
      .summary = "A plan, its slices by number, and the state of its tasks",
      .command = "patra plan show PLAN --json",
      .access = ROUTE_READS,
      .params = { PARAM_ROW("plan", "Its number."), PARAM_AFTER("Slices after this number."),
                  PARAM_LIMIT(LIST_MAX, 20) },
      .run = show_plan },
    { .method = "GET",
      .path = "/v1/tasks",
      .name = "listTasks",
      .summary = "Tasks by number, each with its last error",
      .command = "patra task list --json",
      .access = ROUTE_READS,
      .params = { { .name = "plan",
                    .place = IN_QUERY,
                    .kind = PARAM_NUMBER,
                    .least = 1,
                    .most = INT64_MAX,
                    .help = "Only of this plan." },
                  PARAM_WORD("source", IN_QUERY, SOURCE_HELP),
                  PARAM_WORDS("status", &TASK_STATUS_CODES, "Only tasks in this state."),
                  PARAM_AFTER("Only tasks after this one."),
                  PARAM_LIMIT(LIST_MAX, 50) },
      .run = list_tasks },
    { .method = "GET",
      .path = "/v1/tasks/{task}",
      .name = "showTask",
      .summary = "A task, its runs, and the first batches of one of them",
      .command = "patra task show TASK --json",
      .access = ROUTE_READS,
      .params = { PARAM_ROW("task", "Its number."),
                  { .name = "run",
                    .place = IN_QUERY,
                    .kind = PARAM_NUMBER,
                    .least = 1,
                    .most = INT64_MAX,
                    .help = "The run whose batches are shown; else the last one." },
                  { .name = "batches",
                    .place = IN_QUERY,
                    .kind = PARAM_NUMBER,
                    .most = LIST_MAX,
                    .otherwise = 10,
                    .help = "How many batches; 0: none." } },
      .run = show_task },
    { .method = "GET",
      .path = "/v1/tasks/{task}/runs",
      .name = "listRuns",
      .summary = "The runs of a task: how each ended, and its numbers",
      .command = "patra task show TASK --json (runs)",
      .access = ROUTE_READS,
      .params = { PARAM_ROW("task", "The task.") },
      .run = list_runs },
    { .method = "GET",
      .path = "/v1/runs/{run}/batches",
      .name = "listBatches",
      .summary = "The batches of a run: request, response, and failed attempts before it",
      .command = "patra task show TASK --run RUN --json (batches)",
      .access = ROUTE_READS,
      .params = { PARAM_ROW("run", "The run."), PARAM_AFTER("Batches after this number."),
                  PARAM_LIMIT(LIST_MAX, 50) },
      .run = list_batches },
};

const struct route_group ROUTES_WORK = { "Work", ROUTES, ARRAY_LEN(ROUTES) };
