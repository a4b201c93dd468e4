/* patra plan: list, show and cancel plans. */
#include "cmd/plan.h"

#include <inttypes.h>

#include "base/instant.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "engine/plan/cancel.h"
#include "view/plan.h"

enum { PLANS_SHOWN = 20, SLICES_SHOWN = 20, SHOWN_MAX = 10000 };

/* ---- list ---- */

/* "10/12". READY says that every slice has its task, and nothing about how the tasks ended. */
static void add_progress(struct columns *columns, const struct plan_progress *progress)
{
    const int64_t *tasks = progress->tasks;
    int64_t all = 0;

    for (int i = 0; i < TASK_STATUS_COUNT; i++)
        all += tasks[i];
    columns_cell(columns,
                 arena_printf(columns->arena, "%" PRId64 "/%" PRId64, tasks[TASK_SUCCEEDED], all));
    columns_i64(columns, tasks[TASK_PARTIAL] + tasks[TASK_FAILED]);
}

static bool print_list(const struct view_plan_list *list, struct session *session, FILE *out,
                       struct error *err)
{
    static const char *const heads[] = { "PLAN", "SOURCE", "OPERATION", "STATUS",
                                         "DONE", "FAILED", "FROM",      "TO" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct columns columns;

    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list->count; i++) {
        const struct plan *plan = &list->items[i].plan;
        const bool is_by_id = view_plan_is_by_id(plan);

        columns_i64(&columns, plan->id);
        columns_cell(&columns, plan->source);
        columns_cell(&columns, code_of(&OPERATION_CODES, (int)plan->operation));
        columns_cell(&columns, code_of(&PLAN_STATUS_CODES, (int)plan->status));
        add_progress(&columns, &list->items[i].progress);
        if (window_is_valid(plan->window) && !is_by_id) {
            columns_window(&columns, plan->window, now_us);
        } else {
            columns_cell(&columns, is_by_id                             ? STR("(by id)")
                                   : list->items[i].progress.slices > 0 ? STR("(feed)")
                                                                        : STR("(empty)"));
            columns_cell(&columns, STR(""));
        }
        columns_note(&columns, plan_rest_text(&session->arena, &list->items[i].rest));
    }
    return columns_print(&columns, out, err);
}

static bool read_filter(const struct invocation *invocation, struct plan_filter *filter,
                        struct error *err)
{
    const struct option_range limits = { 1, SHOWN_MAX, PLANS_SHOWN };
    struct option_code operation, status;

    *filter = (struct plan_filter){ .source = str_of(invocation_value(invocation, "source")) };
    if (!invocation_code(invocation, "operation", &OPERATION_CODES, &operation, err) ||
        !invocation_code(invocation, "status", &PLAN_STATUS_CODES, &status, err))
        return false;
    filter->has_operation = operation.is_given;
    filter->operation = (enum operation)operation.value;
    filter->has_status = status.is_given;
    filter->status = (enum plan_status)status.value;
    return invocation_number(invocation, "limit", limits, &filter->limit, err);
}

static bool list_plans(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct view_plan_list list;
    struct plan_filter filter;
    struct output output;

    (void)code;
    if (!read_filter(invocation, &filter, err) || !view_plan_list(&reader, &filter, &list, err))
        return false;
    if (invocation_flag(invocation, "json")) {
        view_plan_list_write(output_begin(&output, &session->arena), &list);
        return output_end(&output, invocation->out, err);
    }
    if (!print_list(&list, session, invocation->out, err))
        return false;
    if (list.is_full)
        fprintf(invocation->talk, "showing the newest %" PRId64 "; --limit shows more\n",
                filter.limit);
    return true;
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_plans);
}

static const struct command list_command = {
    .name = "list",
    .summary = "list plans, newest first",
    .operands_max = 0,
    .description =
        "Lists plans, newest first. DONE is how many of a plan's tasks have succeeded, out of\n"
        "how many; FAILED is how many failed or are partial. A plan is READY when all of its\n"
        "slices have tasks. A limit stopped one that is PARTIAL; the line below it says what\n"
        "became of the rest. Windows are shown to the minute, in UTC; `plan show` and --json\n"
        "show them in full.",
    .options = { { "source", "SOURCE", "Only plans of this source." },
                 { "operation", "OPERATION", "Only plans of this operation." },
                 { "status", "STATUS",
                   "Only plans in this state: ready, partial, failed, cancelled." },
                 { "limit", "N", "How many plans to show, 1 to 10000 (20)." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_list,
};

/* ---- show ---- */

static struct str ids_text(struct arena *arena, struct id_range ids)
{
    char text[ID_RANGE_TEXT_MAX];

    if (!id_range_is_valid(ids))
        return STR("-");
    id_range_text(ids, text);
    return arena_copy(arena, str_of(text));
}

static bool print_slices(const struct view_plan *view, struct arena *arena, FILE *out,
                         struct error *err)
{
    static const char *const heads[] = { "SLICE", "STATUS", "BY", "FROM", "TO", "ONLY" };
    const struct view_slice_list *slices = &view->slices;
    struct columns columns;

    columns_init(&columns, arena, heads, ARRAY_LEN(heads) - !slices->has_ids);
    for (size_t i = 0; i < slices->count; i++) {
        const struct plan_slice *slice = &slices->items[i].slice;

        columns_i64(&columns, slice->number);
        columns_cell(&columns, code_of(&SLICE_STATUS_CODES, (int)slice->status));
        columns_cell(&columns, code_of(&SLICE_DIMENSION_CODES, (int)slice->dimension));
        if (window_is_valid(slice->window)) {
            columns_instant(&columns, slice->window.from_us);
            columns_instant(&columns, slice->window.to_us);
        } else {
            columns_cell(&columns, STR("-"));
            columns_cell(&columns, STR("-"));
        }
        if (slices->has_ids)
            columns_cell(&columns, ids_text(arena, slices->items[i].ids));
    }
    fprintf(out, "\n");
    if (!columns_print(&columns, out, err))
        return false;
    if (slices->has_ids)
        fprintf(out, "ONLY: the window holds more records than the source returns and is too short "
                     "to be\nsplit, so its slices share it by ids and cover it together.\n");
    if (view->progress.slices > (int64_t)slices->count)
        fprintf(out, "... and %" PRId64 " more (--limit)\n",
                view->progress.slices - (int64_t)slices->count);
    return true;
}

static void print_remark(const char *label, struct str text, FILE *out)
{
    if (text.len > 0)
        fprintf(out, "%-10s %.*s\n", label, STR_ARG(text));
}

/* "SCHEDULE by patra, job crossref/harvest, run 2026-03-01T10:15:00Z" */
static void print_trigger(const struct schedule_instance *trigger, FILE *out)
{
    fprintf(out, "%-10s %.*s by %.*s", "trigger",
            STR_ARG(code_of(&TRIGGER_TYPE_CODES, (int)trigger->trigger)),
            STR_ARG(trigger->scheduler));
    if (trigger->job_id.len > 0)
        fprintf(out, ", job %.*s", STR_ARG(trigger->job_id));
    if (trigger->log_id.len > 0)
        fprintf(out, ", run %.*s", STR_ARG(trigger->log_id));
    fprintf(out, "\n");
}

static void print_plan(const struct view_plan *view, struct arena *arena, FILE *out)
{
    char from[INSTANT_TEXT_MAX] = "", to[INSTANT_TEXT_MAX] = "", made[INSTANT_TEXT_MAX] = "";
    const struct plan *plan = &view->plan;

    fprintf(out, "plan %" PRId64 ": %.*s %.*s of %.*s, %.*s\n", plan->id, STR_ARG(plan->source),
            STR_ARG(code_of(&OPERATION_CODES, (int)plan->operation)), STR_ARG(plan->endpoint),
            STR_ARG(code_of(&PLAN_STATUS_CODES, (int)plan->status)));
    (void)instant_format(plan->created_us, made);
    fprintf(out, "%-10s %s\n", "created", made);
    if (view->has_trigger)
        print_trigger(&view->trigger, out);
    if (window_is_valid(plan->window) && !view_plan_is_by_id(plan)) {
        (void)instant_format(plan->window.from_us, from);
        (void)instant_format(plan->window.to_us, to);
        fprintf(out, "%-10s %s .. %s\n", "window", from, to);
    }
    if (view->remarks.feed.len > 0)
        fprintf(out, "%-10s %s%.*s\n", "feed",
                view->remarks.after.len > 0 ? "after " : "from the beginning",
                STR_ARG(view->remarks.after));
    print_remark("empty", view->remarks.empty, out);
    print_remark("idle", view->remarks.idle, out);
    print_remark("stopped by", view->remarks.stopped, out);
    print_remark("error", view->remarks.error, out);
    print_remark("rest", plan_rest_text(arena, &view->rest), out);
    fprintf(out, "%-10s %" PRId64 "\n%-10s", "slices", view->progress.slices, "tasks");
    for (int i = 0; i < TASK_STATUS_COUNT; i++) {
        if (view->progress.tasks[i] > 0)
            fprintf(out, " %" PRId64 " %.*s", view->progress.tasks[i],
                    STR_ARG(code_of(&TASK_STATUS_CODES, i)));
    }
    fprintf(out, "\n");
}

static bool show_plan(const struct invocation *invocation, struct session *session,
                      enum exit_code *code, struct error *err)
{
    const struct option_range limits = { 0, SHOWN_MAX, SLICES_SHOWN };
    const struct view_reader reader = session_reader(session);
    struct view_plan_filter filter = { 0 };
    struct view_plan view;
    struct output output;

    (void)code;
    if (!invocation_number(invocation, "limit", limits, &filter.slices_max, err) ||
        !invocation_row(invocation, 0, "plan", &filter.id, err) ||
        !view_plan(&reader, &filter, &view, err))
        return false;
    if (invocation_flag(invocation, "json")) {
        view_plan_write(output_begin(&output, &session->arena), &view);
        return output_end(&output, invocation->out, err);
    }
    print_plan(&view, &session->arena, invocation->out);
    return view.slices.count == 0 || print_slices(&view, &session->arena, invocation->out, err);
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show_plan);
}

static const struct command show_command = {
    .name = "show",
    .summary = "show a plan, its slices and the state of its tasks",
    .operands = "PLAN",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Shows a plan: its window, why it is empty or stopped early, its slices, and how many\n"
        "of its tasks are in each state. --json also prints every decision of the planner\n"
        "(remarks).",
    .options = { { "limit", "N", "How many slices to show, 0 to 10000 (20)." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_show,
};

/* ---- cancel ---- */

static bool cancel_plan(const struct invocation *invocation, struct session *session,
                        enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct plan plan;
    int64_t id, cancelled;

    (void)code;
    if (!invocation_row(invocation, 0, "plan", &id, err) ||
        !view_plan_find(&reader, id, &plan, err) ||
        !plan_cancel(session->store, id, clock_now_us(&session->clock), &cancelled, err))
        return false;
    if (plan.status == PLAN_CANCELLED || plan.status == PLAN_FAILED)
        fprintf(invocation->out, "plan %" PRId64 ": had already ended\n", id);
    else
        fprintf(invocation->out, "plan %" PRId64 ": cancelled, with %" PRId64 " waiting task%s\n",
                id, cancelled, cancelled == 1 ? "" : "s");
    return true;
}

static enum exit_code cmd_cancel(const struct invocation *invocation)
{
    return session_run(invocation, cancel_plan);
}

static const struct command cancel_command = {
    .name = "cancel",
    .summary = "cancel a plan and its waiting tasks",
    .operands = "PLAN",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Cancels a plan and those of its tasks that are waiting. A task under way stops after\n"
        "its current batch. What the plan has covered stays covered. The next trigger plans the\n"
        "rest again; to prevent that, pause the source first.",
    .options = { SESSION_OPTION },
    .run = cmd_cancel,
};

static const struct command *const children[] = { &list_command, &show_command, &cancel_command,
                                                  NULL };

const struct command COMMAND_PLAN = {
    .name = "plan",
    .summary = "list, show and cancel plans",
    .description = "A plan is what a trigger produces: a window, its slices, and their tasks.",
    .children = children,
};
