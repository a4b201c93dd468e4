#include <inttypes.h>

#include "base/instant.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cmd/cursor/cursor.h"
#include "engine/cursor/cursor_event.h"

enum { EVENTS_SHOWN = 5, EVENTS_MAX = 1000, BEYOND_SHOWN = 5 };

/* ---- JSON ---- */

static void write_window(struct json_writer *w, struct window window)
{
    json_write_object(w);
    json_write_member_instant(w, STR("from"), window.from_us);
    json_write_member_instant(w, STR("to"), window.to_us);
    json_write_end(w);
}

static void write_holder(struct json_writer *w, const struct task *task)
{
    json_write_name(w, STR("heldBackBy"));
    json_write_object(w);
    json_write_member_i64(w, STR("taskId"), task->id);
    json_write_member_i64(w, STR("sliceId"), task->slice_id);
    json_write_member_i64(w, STR("planId"), task->plan_id);
    json_write_member_str(w, STR("status"), code_of(&TASK_STATUS_CODES, (int)task->status));
    json_write_member_bool(w, STR("isReset"), task->is_reset);
    json_write_member_str(w, STR("error"), task->last_error);
    json_write_name(w, STR("window"));
    write_window(w, task->window);
    json_write_end(w);
}

static void write_event(struct json_writer *w, const struct cursor_event *event)
{
    json_write_object(w);
    json_write_member_i64(w, STR("id"), event->id);
    json_write_member_instant(w, STR("at"), event->created_us);
    json_write_member_str(w, STR("reason"),
                          code_of(&CURSOR_EVENT_REASON_CODES, (int)event->reason));
    json_write_member_str(w, STR("direction"), code_of(&DIRECTION_CODES, (int)event->direction));
    if (event->has_prev)
        cursor_write_value(w, STR("prev"), &event->prev);
    cursor_write_value(w, STR("new"), &event->next);
    json_write_member_i64(w, STR("planId"), event->lineage.plan_id);
    json_write_member_i64(w, STR("taskId"), event->lineage.task_id);
    json_write_member_i64(w, STR("runId"), event->lineage.run_id);
    json_write_name(w, STR("remarks"));
    json_write_raw(w, event->remarks);
    json_write_end(w);
}

static void write_view(struct json_writer *w, const struct cursor_view *view)
{
    json_write_object(w);
    cursor_write(w, &view->cursor, &view->way);
    if (view->has_holder)
        write_holder(w, &view->holder);
    json_write_name(w, STR("beyond"));
    json_write_array(w);
    for (size_t i = 0; i < view->beyond.count; i++)
        write_window(w, view->beyond.items[i]);
    json_write_end(w);
    json_write_name(w, STR("events"));
    json_write_array(w);
    for (size_t i = 0; i < view->events.count; i++)
        write_event(w, &view->events.items[i]);
    json_write_end(w);
    json_write_end(w);
}

/* ---- for people ---- */

static void print_window(const char *label, struct window window, FILE *out)
{
    char from[INSTANT_TEXT_MAX], to[INSTANT_TEXT_MAX];

    (void)instant_format(window.from_us, from);
    (void)instant_format(window.to_us, to);
    fprintf(out, "  %-10s %s .. %s", label, from, to);
}

static void print_holder(const struct cursor_view *view, FILE *out)
{
    const struct task *task = &view->holder;

    if (view->cursor.value.type != CURSOR_TIME)
        return;
    if (!view->has_holder) {
        fprintf(out, "  %-10s %s\n", "next",
                view->looks_back ? "the next trigger looks back for late records first"
                                 : "nothing is planned from there on");
        return;
    }
    print_window("next", task->window, out);
    fprintf(out, ": task %" PRId64 " of plan %" PRId64 " is %.*s%s%s\n", task->id, task->plan_id,
            STR_ARG(code_of(&TASK_STATUS_CODES, (int)task->status)),
            view->looks_back ? ", a second look for late records" : "",
            task->is_reset ? ", to be fetched again since a reset" : "");
    if (task->last_error.len > 0)
        fprintf(out, "  %-10s %.*s\n", "because", STR_ARG(task->last_error));
}

static void print_beyond(const struct cursor_view *view, FILE *out)
{
    for (size_t i = 0; i < view->beyond.count && i < BEYOND_SHOWN; i++) {
        print_window(i == 0 ? "beyond" : "", view->beyond.items[i], out);
        fprintf(out, "%s\n", i == 0 ? " (complete already, behind a hole)" : "");
    }
    if (view->beyond.count > BEYOND_SHOWN)
        fprintf(out, "  %-10s ... and %zu more (--json)\n", "", view->beyond.count - BEYOND_SHOWN);
}

static bool print_events(const struct cursor_view *view, int64_t now_us, struct arena *arena,
                         FILE *out, struct error *err)
{
    static const char *const heads[] = { "AT", "REASON", "FROM", "TO", "TASK" };
    struct columns columns;

    if (view->events.count == 0)
        return true;
    fprintf(out, "\n");

    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < view->events.count; i++) {
        const struct cursor_event *event = &view->events.items[i];

        columns_brief(&columns, event->created_us, now_us);
        columns_cell(&columns, code_of(&CURSOR_EVENT_REASON_CODES, (int)event->reason));
        columns_cell(&columns, event->has_prev ? cursor_text(arena, &event->prev) : STR("-"));
        columns_cell(&columns, cursor_text(arena, &event->next));
        if (event->lineage.task_id > 0)
            columns_i64(&columns, event->lineage.task_id);
        else
            columns_cell(&columns, STR("-"));
        if (event->reason != CURSOR_EVENT_ADVANCE)
            columns_note(&columns, event->remarks);
    }
    if (!columns_print(&columns, out, err))
        return false;
    fprintf(out, "\n");
    return true;
}

static void print_way(const struct cursor_view *view, struct arena *arena, FILE *out)
{
    const struct cursor_way *way = &view->way;
    char end[INSTANT_TEXT_MAX];
    struct buf left;

    if (!way->is_known)
        return;
    buf_init(&left, arena, 64);
    text_span(&left, way->left_us);
    if (!way->is_campaign) {
        fprintf(out, "  %-10s %.*s behind the latest record seen, %.*s\n", "lag",
                STR_ARG(buf_str(&left)), STR_ARG(view->cursor.observed_max));
        return;
    }
    (void)instant_format(way->end_us, end);
    if (way->left_us == 0)
        fprintf(out, "  %-10s done, up to %s\n", "campaign", end);
    else
        fprintf(out, "  %-10s %.*s to go, up to %s\n", "campaign", STR_ARG(buf_str(&left)), end);
}

static bool print_view(const struct cursor_view *view, int64_t now_us, struct arena *arena,
                       FILE *out, struct error *err)
{
    const struct cursor *cursor = &view->cursor;

    fprintf(out, "%.*s\n", STR_ARG(cursor_title(arena, &cursor->name)));
    fprintf(out, "  %-10s %.*s\n", "value", STR_ARG(cursor_text(arena, &cursor->value)));
    print_way(view, arena, out);
    print_holder(view, out);
    print_beyond(view, out);
    return print_events(view, now_us, arena, out, err);
}

/* ---- the command ---- */

static bool show_all(const struct invocation *invocation, struct session *session,
                     const struct cursor_list *list, int64_t events, struct error *err)
{
    const bool is_json = invocation_flag(invocation, "json");
    struct cursor_view view;
    struct json_writer w;
    struct buf text;

    buf_init(&text, &session->arena, OUTPUT_BYTES_MAX);
    json_writer_init(&w, &text);
    json_write_array(&w);
    for (size_t i = 0; i < list->count; i++) {
        if (!cursor_view(session->store, &session->arena, &list->items[i], events, &view, err))
            return false;
        if (is_json)
            write_view(&w, &view);
        else if (!print_view(&view, clock_now_us(&session->clock), &session->arena, invocation->out,
                             err))
            return false;
    }
    json_write_end(&w);
    return !is_json || output_json(invocation->out, &w, err);
}

static bool show_cursors(const struct invocation *invocation, struct session *session,
                         enum exit_code *code, struct error *err)
{
    struct cursor_choice choice;
    struct cursor_list list;
    int64_t events;
    bool ok;

    (void)code;
    if (!invocation_number(invocation, "events",
                           (struct option_range){ 0, EVENTS_MAX, EVENTS_SHOWN }, &events, err) ||
        !cursor_choice_read(invocation, &choice, err) || !store_begin_read(session->store, err))
        return false;
    ok = cursor_list_chosen(session, &choice, &list, err);
    if (ok && list.count == 0)
        ok = error_set(err, ERROR_REQUEST, "cursor.unknown",
                       "%s has no cursor; its first plan starts one (patra trigger)",
                       invocation->operands[0]);
    ok = ok && show_all(invocation, session, &list, events, err);
    store_rollback(session->store);
    return ok;
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show_cursors);
}

const struct command CURSOR_SHOW = {
    .name = "show",
    .summary = "show a source's cursors, what holds them back, and their last events",
    .operands = "SOURCE[/OPERATION]",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Shows each cursor of the source: its value, how far it is behind, the slice that comes\n"
        "next and why it is not done, what is complete already beyond that slice, and the\n"
        "last events, the newest first.",
    .options = { { "events", "N", "Events shown, 0 to 1000 (5)." },
                 { "json", NULL, "JSON instead of a text." },
                 SESSION_OPTION },
    .run = cmd_show,
};
