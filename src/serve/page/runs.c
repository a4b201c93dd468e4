/* Runs: plans, the newest first; and one of them with its slices and tasks. */
#include <inttypes.h>

#include "base/instant.h"
#include "port/store_registry.h"
#include "serve/page/boards.h"
#include "serve/page/parts.h"
#include "view/plan.h"
#include "view/trace.h"

enum { BARS_MAX = 120 };

/* ---- the time line ---- */

static bool add_runs(struct call *call, struct timeline *timeline, struct str source,
                     enum operation operation, struct error *err)
{
    struct arena *arena = call->reader.arena;
    const struct run_period period = { .source = source,
                                       .operation = operation,
                                       .from_us = call->reader.now_us - US_PER_DAY,
                                       .to_us = INSTANT_MAX,
                                       .limit = BARS_MAX };
    struct run_list runs;
    struct str lane;

    if (!store_run_started(call->reader.store, arena, &period, &runs, err))
        return false;
    lane = arena_printf(arena, "%.*s %.*s", STR_ARG(source),
                        STR_ARG(page_lower(arena, code_of(&OPERATION_CODES, (int)operation))));
    for (size_t i = 0; i < runs.count; i++) {
        if (!timeline_add(timeline, arena, lane, &runs.items[i], call->reader.now_us))
            return arena_error(arena, err);
    }
    return true;
}

static bool gather_timeline(struct call *call, struct timeline *timeline, struct error *err)
{
    const struct str wanted = call_text(call, "source");
    struct registry_entry_list list;

    if (!store_registry_list(call->reader.store, call->reader.arena, call->reader.now_us, &list,
                             err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        for (size_t k = 0; k < OPERATION_CODES.count; k++) {
            if ((wanted.len == 0 || str_eq(wanted, list.items[i].code)) &&
                !add_runs(call, timeline, list.items[i].code, (enum operation)k, err))
                return false;
        }
    }
    return true;
}

/* ---- the list ---- */

static bool write_filter(struct html *h, struct call *call, struct error *err)
{
    html_class(h, "form", "filter");
    html_attr(h, "method", STR("get"));
    html_attr(h, "action", STR("/runs"));
    if (!part_source_choice(h, call, call_text(call, "source"), true, err))
        return false;
    part_code_choice(h, "operation", "Operation", &OPERATION_CODES,
                     call_has(call, "operation") ? (int)call_number(call, "operation") : -1);
    part_code_choice(h, "status", "State", &PLAN_STATUS_CODES,
                     call_has(call, "status") ? (int)call_number(call, "status") : -1);
    html_element(h, "button", STR("Show"));
    html_end(h);
    return true;
}

static void write_plan_row(struct table *t, const struct view_plan_row *row, int64_t now_us)
{
    const int64_t *tasks = row->progress.tasks;

    table_row(t);
    table_row_link(t, "/runs/plan/", row->plan.id);
    table_link(t, PAGE_PATH(t->h->out->arena, "/cursors", row->plan.source), row->plan.source);
    table_text(t,
               page_lower(t->h->out->arena, code_of(&OPERATION_CODES, (int)row->plan.operation)));
    table_window(t, row->plan.window);
    table_word(t, code_of(&PLAN_STATUS_CODES, (int)row->plan.status));
    table_number(t, tasks[TASK_QUEUED]);
    table_number(t, tasks[TASK_DISPATCHED] + tasks[TASK_EXECUTING]);
    table_number(t, tasks[TASK_SUCCEEDED]);
    table_number(t, tasks[TASK_PARTIAL]);
    table_number(t, tasks[TASK_FAILED]);
    table_time(t, row->plan.created_us, now_us);
}

static void write_plans(struct html *h, struct call *call, const struct view_plan_list *list)
{
    struct table t;

    page_section(h, "plans", STR("Plans"));
    if (list->count == 0) {
        show_none(h, "There is no such plan.");
        html_end(h);
        return;
    }
    TABLE_OPEN(&t, h, "Plans, the newest first", "Plan", "Source", "Operation", "Window", "State",
               "#Waiting", "#Running", "#Done", "#Partial", "#Failed", "Made");
    for (size_t i = 0; i < list->count; i++)
        write_plan_row(&t, &list->items[i], call->reader.now_us);
    table_close(&t);
    if (list->is_full)
        call_next_row(call, "before", list->items[list->count - 1].plan.id);
    page_next(h, call);
    html_end(h);
}

bool page_runs(struct call *call, struct error *err)
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
    struct timeline timeline = { 0 };
    struct view_plan_list list;
    struct html h;

    if (!view_plan_list(&call->reader, &filter, &list, err) ||
        !gather_timeline(call, &timeline, err))
        return false;
    page_open(&h, call, &(struct page_head){ .board = "runs", .title = STR("Runs") });
    if (!write_filter(&h, call, err))
        return false;
    page_section(&h, "timeline", STR("The last 24 hours"));
    if (timeline.count == 0)
        show_none(&h, "Nothing ran.");
    part_timeline(&h, &timeline, "Runs of the last 24 hours");
    html_end(&h);
    write_plans(&h, call, &list);
    return page_close(&h, call, err);
}

/* ---- one plan ---- */

static void write_plan_facts(struct html *h, const struct view_plan *view, int64_t now_us)
{
    const struct plan *plan = &view->plan;

    page_section(h, "plan", STR("Plan"));
    facts_open(h);
    fact(h, "Source");
    show_link(h, PAGE_PATH(h->out->arena, "/cursors", plan->source), plan->source);
    fact_end(h);
    fact_text(h, "Endpoint", plan->endpoint);
    fact_text(h, "Operation",
              page_lower(h->out->arena, code_of(&OPERATION_CODES, (int)plan->operation)));
    fact(h, "State");
    show_word(h, code_of(&PLAN_STATUS_CODES, (int)plan->status));
    fact_end(h);
    fact(h, "Window");
    show_window(h, plan->window);
    fact_end(h);
    fact(h, "Made");
    show_time(h, plan->created_us, now_us);
    fact_end(h);
    fact_number(h, "Slices", view->progress.slices);
    for (int i = 0; i < TASK_STATUS_COUNT; i++) {
        if (view->progress.tasks[i] > 0) {
            fact(h, "Tasks");
            show_count(h, view->progress.tasks[i]);
            html_text(h, STR(" "));
            show_word(h, code_of(&TASK_STATUS_CODES, i));
            fact_end(h);
        }
    }
    facts_close(h);
    html_end(h);
}

static void write_trace_tasks(struct html *h, const struct view_trace *trace, int64_t now_us)
{
    struct table t;

    page_section(h, "tasks", STR("Tasks"));
    if (trace->task_count == 0) {
        show_none(h, "The plan has no task.");
        html_end(h);
        return;
    }
    TABLE_OPEN(&t, h, "Tasks, those that ended badly first looked at", "Task", "#Slice", "Window",
               "State", "#Runs", "Next try", "Error");
    for (size_t i = 0; i < trace->task_count; i++) {
        const struct view_trace_task *row = &trace->tasks[i];

        table_row(&t);
        table_row_link(&t, "/runs/task/", row->task.id);
        table_number(&t, row->slice.number);
        table_window(&t, row->task.window);
        table_word(&t, code_of(&TASK_STATUS_CODES, (int)row->task.status));
        table_number(&t, row->task.attempts);
        table_time(&t, row->task.status == TASK_QUEUED ? row->task.scheduled_us : 0, now_us);
        table_error(&t, row->task.last_error);
    }
    table_close(&t);
    if (trace->has_more_tasks)
        html_textf(h, "There are more; %d are shown.", TRACE_TASKS_MAX);
    html_end(h);
}

static void write_slices(struct html *h, struct call *call, const struct view_plan *view)
{
    struct table t;

    page_section(h, "slices", STR("Slices"));
    if (view->slices.count == 0) {
        show_none(h, "There is no slice here.");
        html_end(h);
        return;
    }
    TABLE_OPEN(&t, h, "Slices by number", "Slice", "By", "Window", "State");
    for (size_t i = 0; i < view->slices.count; i++) {
        const struct plan_slice *slice = &view->slices.items[i].slice;

        table_row(&t);
        table_number(&t, slice->number);
        table_text(
            &t, page_lower(h->out->arena, code_of(&SLICE_DIMENSION_CODES, (int)slice->dimension)));
        table_window(&t, slice->window);
        table_word(&t, code_of(&SLICE_STATUS_CODES, (int)slice->status));
    }
    table_close(&t);
    if ((int64_t)view->slices.count == call_number(call, "limit"))
        call_next_row(call, "after", view->slices.items[view->slices.count - 1].slice.number);
    page_next(h, call);
    html_end(h);
}

static bool trace_timeline(struct call *call, const struct view_trace *trace,
                           struct timeline *timeline)
{
    struct arena *arena = call->reader.arena;

    for (size_t i = 0; i < trace->task_count; i++) {
        const struct view_trace_task *task = &trace->tasks[i];
        const struct str lane = arena_printf(arena, "task %" PRId64, task->task.id);

        for (size_t k = 0; k < task->run_count; k++) {
            if (!timeline_add(timeline, arena, lane, &task->runs[k].run, call->reader.now_us))
                return false;
        }
    }
    return true;
}

static void write_cancel(struct html *h, struct call *call, int64_t id)
{
    struct arena *arena = call->reader.arena;

    page_act(h, call,
             &(struct page_act){
                 .label = "Cancel",
                 .of = arena_printf(arena, "plan %" PRId64, id),
                 .path = arena_printf(arena, "/form/plans/%" PRId64 "/cancel", id),
                 .command = arena_printf(arena, "patra plan cancel %" PRId64, id),
                 .is_grave = true,
             });
}

bool page_plan(struct call *call, struct error *err)
{
    const int64_t id = call_number(call, "plan");
    const struct view_plan_filter filter = { id, call_number(call, "after"),
                                             call_number(call, "limit") };
    struct timeline timeline = { 0 };
    struct view_trace trace;
    struct view_plan view;
    struct html h;

    if (!view_plan(&call->reader, &filter, &view, err) ||
        !view_trace(&call->reader, &(struct view_trace_key){ .kind = TRACE_PLAN, .id = id }, &trace,
                    err))
        return false;
    if (!trace_timeline(call, &trace, &timeline))
        return arena_error(call->reader.arena, err);
    page_open(
        &h, call,
        &(struct page_head){ .board = "runs",
                             .title = arena_printf(call->reader.arena, "Plan %" PRId64, id) });
    write_plan_facts(&h, &view, call->reader.now_us);
    part_failing(&h, &trace);
    write_cancel(&h, call, id);
    write_trace_tasks(&h, &trace, call->reader.now_us);
    part_timeline(&h, &timeline, "Runs of these tasks");
    write_slices(&h, call, &view);
    return page_close(&h, call, err);
}
