/* patra pause and resume. */
#include "cmd/pause.h"

#include "act/pause.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/who.h"
#include "view/pause.h"

/* SOURCE or SOURCE/ENDPOINT. */
static void read_place(const struct invocation *invocation, struct str *source,
                       struct str *endpoint)
{
    *endpoint = str_of(invocation->operands[0]);
    *source = str_cut(endpoint, '/');
}

/* ---- pause ---- */

static bool list_pauses(const struct invocation *invocation, struct session *session,
                        struct error *err)
{
    static const char *const heads[] = { "SOURCE", "ENDPOINT", "KIND", "SINCE", "BY" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct pause_list list;
    struct columns columns;
    struct output output;

    if (!store_pause_list(session->store, &session->arena, STR(""), &list, err))
        return false;
    if (invocation_flag(invocation, "json")) {
        view_pause_list_write(output_begin(&output, &session->arena), &list);
        return output_end(&output, invocation->out, err);
    }
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list.count; i++) {
        const struct pause *pause = &list.items[i];

        columns_cell(&columns, pause->source);
        columns_cell(&columns, pause->endpoint.len > 0 ? pause->endpoint : STR("(all)"));
        columns_cell(&columns, code_of(&PAUSE_KIND_CODES, (int)pause->kind));
        columns_brief(&columns, pause->created_us, now_us);
        columns_cell(&columns, pause->created_by);
        columns_note(&columns, pause->reason);
    }
    return columns_print(&columns, invocation->out, err);
}

/* What became of one place: {"source":"x","endpoint":"","outcome":"paused"}. */
static bool print_outcome(const struct invocation *invocation, struct arena *arena,
                          const char *outcome, struct error *err)
{
    struct str source, endpoint;
    struct output output;
    struct json_writer *w;

    if (!invocation_flag(invocation, "json")) {
        fprintf(invocation->out, "%s: %s\n", invocation->operands[0], outcome);
        return true;
    }
    read_place(invocation, &source, &endpoint);
    w = output_begin(&output, arena);
    json_write_object(w);
    json_write_member_str(w, STR("source"), source);
    json_write_member_str(w, STR("endpoint"), endpoint);
    json_write_member_str(w, STR("outcome"), str_of(outcome));
    json_write_end(w);
    return output_end(&output, invocation->out, err);
}

static bool pause_one(const struct invocation *invocation, struct session *session,
                      enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct pause pause = { .kind = PAUSE_PAUSED,
                           .reason = str_of(invocation_value(invocation, "reason")),
                           .created_by = who_am_i(&session->arena),
                           .created_us = clock_now_us(&session->clock) };
    bool added;

    (void)code;
    if (invocation->operand_count == 0)
        return list_pauses(invocation, session, err);
    read_place(invocation, &pause.source, &pause.endpoint);
    if (!act_pause(&reader, &pause, &added, err))
        return false;
    return print_outcome(invocation, &session->arena, added ? "paused" : "already paused", err);
}

static enum exit_code cmd_pause(const struct invocation *invocation)
{
    return session_run(invocation, pause_one);
}

const struct command COMMAND_PAUSE = {
    .name = "pause",
    .summary = "pause a source or an endpoint",
    .operands = "[SOURCE[/ENDPOINT]]",
    .operands_min = 0,
    .operands_max = 1,
    .description =
        "Nothing of a paused source or endpoint is planned or fetched; tasks under way stop\n"
        "after their current batch. A pause is kept in the store: it survives restarts and\n"
        "applies to all processes. Schedules that come due while it is paused fire once when it\n"
        "is resumed. Without SOURCE, lists all pauses, including those set by a fatal error\n"
        "(STOPPED).",
    .options = { { "reason", "TEXT", "Why it is paused; patra status shows it." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_pause,
};

/* ---- resume ---- */

static bool resume_one(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct str source, endpoint;
    bool changed;

    (void)code;
    read_place(invocation, &source, &endpoint);
    if (!act_resume(&reader, source, endpoint, &changed, err))
        return false;
    return print_outcome(invocation, &session->arena, changed ? "resumed" : "was not paused", err);
}

static enum exit_code cmd_resume(const struct invocation *invocation)
{
    return session_run(invocation, resume_one);
}

const struct command COMMAND_RESUME = {
    .name = "resume",
    .summary = "resume a paused or stopped source or endpoint",
    .operands = "SOURCE[/ENDPOINT]",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Removes a pause, or the stop that a fatal error has set. A pause of a source and one\n"
        "of its endpoint are separate; resume each by its own name. Resuming a source also\n"
        "takes credentials that were refused back into use, and ends a silence that a header of\n"
        "the source demanded: processes that run ask it again within seconds.",
    .options = { { "json", NULL, "Print JSON." }, SESSION_OPTION },
    .run = cmd_resume,
};
