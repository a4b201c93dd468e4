#include "cmd/plan.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/instant.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "data/json.h"
#include "data/json_write.h"
#include "engine/execute/slice_read.h"
#include "engine/plan_cancel.h"
#include "port/store_plan.h"

enum { PLANS_SHOWN = 20, SLICES_SHOWN = 20, SHOWN_MAX = 10000 };

/* ---- options ---- */

static bool read_code(const struct invocation *invocation, const char *option,
                      const struct code_table *codes, bool *has, int *value, struct error *err)
{
    const char *given = invocation_value(invocation, option);
    char words[256] = "";
    size_t len = 0;

    *has = given != NULL;
    *value = given != NULL ? code_find_written(codes, str_of(given)) : 0;
    if (*value >= 0)
        return true;
    for (size_t i = 0; i < codes->count && len < sizeof(words); i++)
        len += (size_t)snprintf(words + len, sizeof(words) - len, "%s%.*s", i > 0 ? ", " : "",
                                STR_ARG(codes->items[i].code));
    return error_set(err, ERROR_REQUEST, "plan.option", "--%s: '%s' is none of %s", option, given,
                     words);
}

static bool get_plan(const struct invocation *invocation, struct session *session,
                     struct plan *plan, struct error *err)
{
    int64_t id;
    bool found;

    if (!invocation_row(invocation, 0, "plan", &id, err) ||
        !store_plan_get(session->store, &session->arena, id, plan, &found, err))
        return false;
    return found || error_set(err, ERROR_REQUEST, "plan.id", "there is no plan %" PRId64, id);
}

/* ---- JSON ---- */

static void write_plan(struct json_writer *w, const struct plan *plan)
{
    json_write_member_i64(w, STR("id"), plan->id);
    json_write_member_i64(w, STR("scheduleInstanceId"), plan->schedule_instance_id);
    json_write_member_str(w, STR("source"), plan->source);
    json_write_member_str(w, STR("endpoint"), plan->endpoint);
    json_write_member_str(w, STR("operation"), code_of(&OPERATION_CODES, (int)plan->operation));
    json_write_member_str(w, STR("status"), code_of(&PLAN_STATUS_CODES, (int)plan->status));
    output_window(w, STR("window"), plan->window);
    json_write_member_instant(w, STR("createdAt"), plan->created_us);
    json_write_member_str(w, STR("exprProtoHash"), plan->expr_proto_hash);
    json_write_member_str(w, STR("specFingerprint"), plan->spec_fingerprint);
    json_write_name(w, STR("remarks"));
    json_write_raw(w, plan->remarks);
}

static void write_progress(struct json_writer *w, const struct plan_progress *progress)
{
    json_write_member_i64(w, STR("sliceCount"), progress->slices);
    json_write_name(w, STR("tasks"));
    json_write_object(w);
    for (int i = 0; i < TASK_STATUS_COUNT; i++)
        json_write_member_i64(w, code_of(&TASK_STATUS_CODES, i), progress->tasks[i]);
    json_write_end(w);
}

/* ---- list ---- */

struct listed { /* a plan, and what became of it */
    struct plan plan;
    struct plan_progress progress;
};

static void write_row(struct json_writer *w, const void *rows, size_t i)
{
    const struct listed *listed = (const struct listed *)rows + i;

    write_plan(w, &listed->plan);
    write_progress(w, &listed->progress);
}

/* "10/12". READY says that all slices have their tasks, and nothing about what became of these. */
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

/* Chosen by their ids: the window of such a plan is there for its pace alone. */
static bool is_by_id(const struct plan *plan)
{
    return (plan->operation == OPERATION_UPDATE || plan->operation == OPERATION_METRICS) &&
           plan->cursor_key.len == 0;
}

static bool list_text(const struct listed *plans, size_t count, struct session *session, FILE *out,
                      struct error *err)
{
    static const char *const heads[] = { "PLAN", "SOURCE", "OPERATION", "STATUS",
                                         "DONE", "FAILED", "FROM",      "TO" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct columns columns;

    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < count; i++) {
        const struct plan *plan = &plans[i].plan;

        columns_i64(&columns, plan->id);
        columns_cell(&columns, plan->source);
        columns_cell(&columns, code_of(&OPERATION_CODES, (int)plan->operation));
        columns_cell(&columns, code_of(&PLAN_STATUS_CODES, (int)plan->status));
        add_progress(&columns, &plans[i].progress);
        if (window_is_valid(plan->window) && !is_by_id(plan)) {
            columns_window(&columns, plan->window, now_us);
        } else {
            columns_cell(&columns, is_by_id(plan) ? STR("(by id)") : STR("(empty)"));
            columns_cell(&columns, STR(""));
        }
    }
    return columns_print(&columns, out, err);
}

static bool load_progress(struct session *session, const struct plan_list *list,
                          struct listed **plans, struct error *err)
{
    *plans = ARENA_ARRAY(&session->arena, struct listed, list->count + 1);
    if (*plans == NULL)
        return arena_error(&session->arena, err);
    for (size_t i = 0; i < list->count; i++) {
        (*plans)[i].plan = list->items[i];
        if (!store_plan_progress(session->store, list->items[i].id, &(*plans)[i].progress, err))
            return false;
    }
    return true;
}

static bool list_plans(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    struct plan_filter filter = { .source = str_of(invocation_value(invocation, "source")) };
    struct plan_list list;
    struct listed *plans;
    int operation, status;

    (void)code;
    if (!read_code(invocation, "operation", &OPERATION_CODES, &filter.has_operation, &operation,
                   err) ||
        !read_code(invocation, "status", &PLAN_STATUS_CODES, &filter.has_status, &status, err) ||
        !invocation_number(invocation, "limit", (struct option_range){ 1, SHOWN_MAX, PLANS_SHOWN },
                           &filter.limit, err))
        return false;
    filter.operation = (enum operation)operation;
    filter.status = (enum plan_status)status;
    if (!store_plan_list(session->store, &session->arena, &filter, &list, err) ||
        !load_progress(session, &list, &plans, err) ||
        (list.count == 0 && !session_knows(session, filter.source, err)))
        return false;
    if (invocation_flag(invocation, "json"))
        return output_list(invocation->out, &session->arena, plans, list.count, write_row, err);
    if (!list_text(plans, list.count, session, invocation->out, err))
        return false;
    if ((int64_t)list.count == filter.limit)
        fprintf(invocation->talk, "the newest %" PRId64 "; --limit shows more\n", filter.limit);
    return true;
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_plans);
}

static const struct command list = {
    .name = "list",
    .summary = "list plans, the newest first",
    .operands_max = 0,
    .description =
        "Lists plans, the newest first, with how many of their tasks are done, of how many, and\n"
        "how many failed or are partial. READY is a plan whose slices all have their tasks; one\n"
        "that is PARTIAL is gone on with by the next trigger. Windows are shown to the minute,\n"
        "UTC; `plan show` and --json have all of it.",
    .options = { { "source", "SOURCE", "Of this source only." },
                 { "operation", "OPERATION", "Of this operation only." },
                 { "status", "STATUS", "In this state only: ready, partial, failed, cancelled." },
                 { "limit", "N", "How many, 1 to 10000 (20)." },
                 { "json", NULL, "JSON instead of a text." },
                 SESSION_OPTION },
    .run = cmd_list,
};

/* ---- show ---- */

static void write_slice(struct json_writer *w, const struct plan_slice *slice)
{
    json_write_object(w);
    json_write_member_i64(w, STR("id"), slice->id);
    json_write_member_i64(w, STR("number"), slice->number);
    if (slice->parent_id > 0)
        json_write_member_i64(w, STR("parentId"), slice->parent_id);
    json_write_member_str(w, STR("status"), code_of(&SLICE_STATUS_CODES, (int)slice->status));
    output_window(w, STR("window"), slice->window);
    json_write_name(w, STR("spec"));
    json_write_raw(w, slice->spec);
    json_write_end(w);
}

static bool show_json(const struct plan *plan, const struct plan_progress *progress,
                      const struct plan_slice_list *slices, struct session *session, FILE *out,
                      struct error *err)
{
    struct json_writer w;
    struct buf text;

    buf_init(&text, &session->arena, OUTPUT_BYTES_MAX);
    json_writer_init(&w, &text);
    json_write_object(&w);
    write_plan(&w, plan);
    write_progress(&w, progress);
    json_write_name(&w, STR("slices"));
    json_write_array(&w);
    for (size_t i = 0; i < slices->count; i++)
        write_slice(&w, &slices->items[i]);
    json_write_end(&w);
    json_write_end(&w);
    return output_json(out, &w, err);
}

/* "-" for a slice that has all of its window. */
static bool ids_of(struct arena *arena, const struct plan *plan, const struct plan_slice *row,
                   struct str *text, struct error *err)
{
    struct slice_limits limits;
    struct slice slice;
    char ids[ID_RANGE_TEXT_MAX];

    *text = STR("-");
    if (!slice_read(arena, plan, row, &slice, &limits, err))
        return false;
    if (!id_range_is_valid(slice.part))
        return true;
    id_range_text(slice.part, ids);
    *text = arena_copy(arena, str_of(ids));
    return text->data != NULL || arena_error(arena, err);
}

static bool show_slices(const struct plan *plan, const struct plan_slice_list *slices,
                        int64_t total, struct session *session, FILE *out, struct error *err)
{
    static const char *const heads[] = { "SLICE", "STATUS", "BY", "FROM", "TO", "ONLY" };
    struct columns columns;
    struct str only;
    bool has_parts = false;

    for (size_t i = 0; i < slices->count; i++) {
        if (!ids_of(&session->arena, plan, &slices->items[i], &only, err))
            return false;
        has_parts |= only.len > 1;
    }
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads) - !has_parts);
    for (size_t i = 0; i < slices->count; i++) {
        const struct plan_slice *slice = &slices->items[i];

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
        if (has_parts && !ids_of(&session->arena, plan, slice, &only, err))
            return false;
        if (has_parts)
            columns_cell(&columns, only);
    }
    fprintf(out, "\n");
    if (!columns_print(&columns, out, err))
        return false;
    if (has_parts)
        fprintf(out, "A window that holds more than the source hands out, and is too short to be "
                     "cut,\nis shared out by ids; its slices cover it together.\n");
    if (total > (int64_t)slices->count)
        fprintf(out, "... and %" PRId64 " more (--limit)\n", total - (int64_t)slices->count);
    return true;
}

/* "why: CODE" of the remarks, where there is something to say. */
static void print_remark(const struct json_doc *doc, struct str group, struct str name,
                         const char *label, struct str but, FILE *out)
{
    const struct json_node root = json_root(doc);
    const struct json_node node =
        json_get(doc, group.len > 0 ? json_get(doc, root, group) : root, name);

    if (json_type(doc, node) == JSON_STRING && !json_string_is(doc, node, but))
        fprintf(out, "%-10s %.*s\n", label, STR_ARG(json_string_raw(doc, node)));
}

static bool show_text(const struct plan *plan, const struct plan_progress *progress,
                      struct session *session, FILE *out, struct error *err)
{
    char from[INSTANT_TEXT_MAX] = "", to[INSTANT_TEXT_MAX] = "", made[INSTANT_TEXT_MAX] = "";
    struct json_doc remarks;

    fprintf(out, "plan %" PRId64 ": %.*s %.*s of %.*s, %.*s\n", plan->id, STR_ARG(plan->source),
            STR_ARG(code_of(&OPERATION_CODES, (int)plan->operation)), STR_ARG(plan->endpoint),
            STR_ARG(code_of(&PLAN_STATUS_CODES, (int)plan->status)));
    (void)instant_format(plan->created_us, made);
    fprintf(out, "%-10s %s\n", "created", made);
    if (window_is_valid(plan->window) && !is_by_id(plan)) {
        (void)instant_format(plan->window.from_us, from);
        (void)instant_format(plan->window.to_us, to);
        fprintf(out, "%-10s %s .. %s\n", "window", from, to);
    }
    if (!json_parse(&remarks, &session->arena, plan->remarks, err))
        return error_wrap(err, "remarks of plan %" PRId64, plan->id);
    print_remark(&remarks, STR("decision"), STR("empty"), "empty", STR("NOT_EMPTY"), out);
    print_remark(&remarks, STR(""), STR("idle"), "idle", STR(""), out);
    print_remark(&remarks, STR("budget"), STR("stop"), "stopped by", STR("GO"), out);
    print_remark(&remarks, STR("error"), STR("text"), "error", STR(""), out);
    fprintf(out, "%-10s %" PRId64 "\n%-10s", "slices", progress->slices, "tasks");
    for (int i = 0; i < TASK_STATUS_COUNT; i++) {
        if (progress->tasks[i] > 0)
            fprintf(out, " %" PRId64 " %.*s", progress->tasks[i],
                    STR_ARG(code_of(&TASK_STATUS_CODES, i)));
    }
    fprintf(out, "\n");
    return true;
}

static bool show_plan(const struct invocation *invocation, struct session *session,
                      enum exit_code *code, struct error *err)
{
    struct plan_slice_list slices;
    struct plan_progress progress;
    struct plan plan;
    int64_t limit;

    (void)code;
    if (!invocation_number(invocation, "limit", (struct option_range){ 0, SHOWN_MAX, SLICES_SHOWN },
                           &limit, err) ||
        !get_plan(invocation, session, &plan, err) ||
        !store_plan_progress(session->store, plan.id, &progress, err) ||
        !store_slice_list(session->store, &session->arena, plan.id, 0, limit, &slices, err))
        return false;
    if (invocation_flag(invocation, "json"))
        return show_json(&plan, &progress, &slices, session, invocation->out, err);
    return show_text(&plan, &progress, session, invocation->out, err) &&
           (slices.count == 0 ||
            show_slices(&plan, &slices, progress.slices, session, invocation->out, err));
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show_plan);
}

static const struct command show = {
    .name = "show",
    .summary = "show a plan, its slices and how far its tasks are",
    .operands = "PLAN",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Shows a plan: its window, why it is empty or stopped early, its slices, and how\n"
        "many of its tasks are in which state. --json has the whole audit (remarks).",
    .options = { { "limit", "N", "Slices shown, 0 to 10000 (20)." },
                 { "json", NULL, "JSON instead of a text." },
                 SESSION_OPTION },
    .run = cmd_show,
};

/* ---- cancel ---- */

static bool cancel_plan(const struct invocation *invocation, struct session *session,
                        enum exit_code *code, struct error *err)
{
    struct plan plan;
    int64_t cancelled;

    (void)code;
    if (!get_plan(invocation, session, &plan, err) ||
        !plan_cancel(session->store, plan.id, clock_now_us(&session->clock), &cancelled, err))
        return false;
    fprintf(invocation->out, "plan %" PRId64 ": %s, %" PRId64 " waiting tasks with it\n", plan.id,
            plan.status == PLAN_CANCELLED || plan.status == PLAN_FAILED ? "was over already"
                                                                        : "cancelled",
            cancelled);
    return true;
}

static enum exit_code cmd_cancel(const struct invocation *invocation)
{
    return session_run(invocation, cancel_plan);
}

static const struct command cancel = {
    .name = "cancel",
    .summary = "cancel a plan and its waiting tasks",
    .operands = "PLAN",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Cancels a plan and those of its tasks that wait; a task under way stops after its\n"
        "batch. What it had covered stays covered. The rest is planned by the next trigger, so\n"
        "pause the source first when it shall not be fetched at all.",
    .options = { SESSION_OPTION },
    .run = cmd_cancel,
};

static const struct command *const children[] = { &list, &show, &cancel, NULL };

const struct command COMMAND_PLAN = {
    .name = "plan",
    .summary = "list, show and cancel plans",
    .description = "A plan is what became of a trigger: a window, its slices, and their tasks.",
    .children = children,
};
