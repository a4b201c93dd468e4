/* patra pause and resume. */
#include "cmd/pause.h"

#include "base/buf.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/who.h"
#include "data/json_write.h"
#include "engine/source/source_store.h"
#include "port/store_pause.h"
#include "port/store_rate.h"
#include "view/gate.h"

/* SOURCE or SOURCE/ENDPOINT. */
static void read_place(const struct invocation *invocation, struct str *source,
                       struct str *endpoint)
{
    *endpoint = str_of(invocation->operands[0]);
    *source = str_cut(endpoint, '/');
}

static bool is_known(struct session *session, struct str source, struct str endpoint,
                     struct error *err)
{
    struct source rows;

    if (!source_load(session->store, &session->arena, source, clock_now_us(&session->clock), &rows,
                     err))
        return false;
    if (endpoint.len == 0 || source_row(&rows, REGISTRY_ENDPOINT, endpoint, STR("")) != NULL)
        return true;
    return error_set(err, ERROR_REQUEST, "pause.endpoint", "%.*s has no endpoint '%.*s'",
                     STR_ARG(source), STR_ARG(endpoint));
}

/* ---- pause ---- */

static bool print_json(const struct pause_list *list, struct arena *arena, FILE *out,
                       struct error *err)
{
    struct output output;
    struct json_writer *w = output_begin(&output, arena);

    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        const struct pause *pause = &list->items[i];

        json_write_object(w);
        json_write_member_str(w, STR("source"), pause->source);
        json_write_member_str(w, STR("endpoint"), pause->endpoint);
        json_write_member_str(w, STR("kind"), code_of(&PAUSE_KIND_CODES, (int)pause->kind));
        json_write_member_instant(w, STR("since"), pause->created_us);
        json_write_member_str(w, STR("by"), pause->created_by);
        json_write_member_str(w, STR("reason"), pause->reason);
        json_write_end(w);
    }
    json_write_end(w);
    return output_end(&output, out, err);
}

static bool list_pauses(const struct invocation *invocation, struct session *session,
                        struct error *err)
{
    static const char *const heads[] = { "SOURCE", "ENDPOINT", "KIND", "SINCE", "BY" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct pause_list list;
    struct columns columns;

    if (!store_pause_list(session->store, &session->arena, STR(""), &list, err))
        return false;
    if (invocation_flag(invocation, "json"))
        return print_json(&list, &session->arena, invocation->out, err);
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

static bool pause_one(const struct invocation *invocation, struct session *session,
                      enum exit_code *code, struct error *err)
{
    struct pause pause = { .kind = PAUSE_PAUSED,
                           .reason = str_of(invocation_value(invocation, "reason")),
                           .created_by = who_am_i(&session->arena),
                           .created_us = clock_now_us(&session->clock) };
    bool added;

    (void)code;
    if (invocation->operand_count == 0)
        return list_pauses(invocation, session, err);
    read_place(invocation, &pause.source, &pause.endpoint);
    if (!is_known(session, pause.source, pause.endpoint, err) ||
        !store_pause_add(session->store, &pause, &added, err))
        return false;
    fprintf(invocation->out, "%s: %s\n", invocation->operands[0],
            added ? "paused" : "already paused");
    return true;
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

/* The credentials of the source that were refused are used again. */
static bool readmit(struct session *session, struct str source, bool *any, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct view_gate_filter filter = { .sources = &source, .source_count = 1 };
    struct view_gate_list gates;
    bool changed;

    *any = false;
    if (!store_clock(session->store, clock_now_us(&session->clock), &filter.now_us, err) ||
        !view_gate_list(&reader, &filter, &gates, err))
        return false;
    for (size_t i = 0; i < gates.count; i++) {
        if (gates.items[i].view.refused_us == 0)
            continue;
        if (!gate_readmit(session->store, gates.items[i].key, filter.now_us, &changed, err))
            return false;
        *any |= changed;
    }
    return true;
}

static bool resume_one(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    struct str source, endpoint;
    struct error unknown; /* a source that was removed has no credentials */
    bool was_paused, was_stopped, was_refused = false;

    (void)code;
    read_place(invocation, &source, &endpoint);
    if (!store_pause_remove(session->store, source, endpoint, PAUSE_PAUSED, &was_paused, err) ||
        !store_pause_remove(session->store, source, endpoint, PAUSE_STOPPED, &was_stopped, err))
        return false;
    /* A pause may outlive its source, so the name is checked only when nothing was removed. */
    if (!was_paused && !was_stopped && !is_known(session, source, endpoint, err))
        return false;
    if (endpoint.len == 0 && is_known(session, source, endpoint, &unknown) &&
        !readmit(session, source, &was_refused, err))
        return false;
    fprintf(invocation->out, "%s: %s\n", invocation->operands[0],
            was_paused || was_stopped || was_refused ? "resumed" : "was not paused");
    return true;
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
        "takes credentials that were refused back into use.",
    .options = { SESSION_OPTION },
    .run = cmd_resume,
};
