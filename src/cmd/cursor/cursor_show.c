/* patra cursor show: each cursor, what holds it back, and its last events. */
#include <inttypes.h>

#include "base/instant.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cmd/cursor/cursor.h"
#include "engine/cursor/cursor_event.h"

enum { EVENTS_SHOWN = 5, EVENTS_MAX = 1000, BEYOND_SHOWN = 5 };

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

    if (view->cursor.value.type != CURSOR_TIME && !view->has_holder)
        return;
    if (!view->has_holder) {
        fprintf(out, "  %-10s %s\n", "next",
                view->looks_back ? "the next trigger first looks back for late records"
                                 : "nothing is planned after it");
        return;
    }
    if (window_is_valid(task->window))
        print_window("next", task->window, out);
    else
        fprintf(out, "  %-10s the rest of the feed", "next");
    fprintf(out, ": task %" PRId64 " of plan %" PRId64 " is %.*s%s%s\n", task->id, task->plan_id,
            STR_ARG(code_of(&TASK_STATUS_CODES, (int)task->status)),
            view->looks_back ? ", a second look for late records" : "",
            task->is_reset ? ", to be fetched again after a reset" : "");
    if (task->last_error.len > 0)
        fprintf(out, "  %-10s %.*s\n", "because", STR_ARG(task->last_error));
}

static void print_beyond(const struct cursor_view *view, FILE *out)
{
    for (size_t i = 0; i < view->beyond.count && i < BEYOND_SHOWN; i++) {
        print_window(i == 0 ? "beyond" : "", view->beyond.items[i], out);
        fprintf(out, "%s\n", i == 0 ? " (already complete, after a gap)" : "");
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

    if (way->has_ids)
        fprintf(out, "  %-10s %" PRId64 " ids behind the highest id of the source, %.*s\n", "lag",
                way->left_ids, STR_ARG(view->cursor.observed_max));
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

static bool print_all(const struct view_cursor_details *details, struct session *session, FILE *out,
                      struct error *err)
{
    const int64_t now_us = clock_now_us(&session->clock);

    for (size_t i = 0; i < details->count; i++) {
        if (!print_view(&details->items[i], now_us, &session->arena, out, err))
            return false;
    }
    return true;
}

static bool show_cursors(const struct invocation *invocation, struct session *session,
                         enum exit_code *code, struct error *err)
{
    const struct option_range range = { 0, EVENTS_MAX, EVENTS_SHOWN };
    const struct view_reader reader = session_reader(session);
    struct view_cursor_details details;
    struct view_cursor_filter filter;
    struct output output;
    int64_t events;

    (void)code;
    if (!invocation_number(invocation, "events", range, &events, err) ||
        !cursor_filter_read(invocation, &filter, err) ||
        !view_cursor_details(&reader, &filter, events, &details, err))
        return false;
    if (details.count == 0)
        return error_set(err, ERROR_REQUEST, "cursor.unknown",
                         "%s has no cursor; its first plan starts one (patra trigger)",
                         invocation->operands[0]);
    if (!invocation_flag(invocation, "json"))
        return print_all(&details, session, invocation->out, err);
    view_cursor_details_write(output_begin(&output, &session->arena), &details);
    return output_end(&output, invocation->out, err);
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show_cursors);
}

const struct command CURSOR_SHOW = {
    .name = "show",
    .summary = "show the cursors of a source, what holds them back, and their last events",
    .operands = "SOURCE[/OPERATION]",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Shows each cursor of a source: its value, how far it lags, the next slice and why it\n"
        "is not done, what is already complete after that slice, and its last events, newest\n"
        "first.",
    .options = { { "events", "N", "How many events to show, 0 to 1000 (5)." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_show,
};
