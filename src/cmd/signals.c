/* patra signal: list and drop records that an update is to look at again. */
#include "cmd/signals.h"

#include <inttypes.h>

#include "cli/columns.h"
#include "cli/confirm.h"
#include "cli/output.h"
#include "cli/row_choice.h"
#include "cli/session.h"
#include "cli/who.h"
#include "view/signals.h"

/* The next call drops more. */
enum { LIST_DEFAULT = 50, LIST_MAX = 10000 };

#define FILTER_OPTIONS                                        \
    { "endpoint", "NAME", "Only records of this endpoint." }, \
    {                                                         \
        "reason", "TEXT", "Only signals with this reason."    \
    }

static struct signal_filter read_filter(const struct invocation *invocation, struct str source)
{
    return (struct signal_filter){ .source = source,
                                   .endpoint = str_of(invocation_value(invocation, "endpoint")),
                                   .reason = str_of(invocation_value(invocation, "reason")) };
}

/* ---- list ---- */

/* "refused: GET https://...: status 400, ..." */
static struct str reason_text(struct arena *arena, const struct signal *signal)
{
    if (signal->detail.len == 0)
        return signal->reason;
    return arena_printf(arena, "%.*s: %.*s", STR_ARG(signal->reason), STR_ARG(signal->detail));
}

static bool print_list(const struct view_signal_list *list, struct session *session, FILE *out,
                       struct error *err)
{
    static const char *const heads[] = { "ID",    "SOURCE", "ENDPOINT", "RECORD",
                                         "SINCE", "BY",     "TRIED",    "HTTP" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct columns columns;

    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list->count; i++) {
        const struct signal *signal = &list->items[i];

        columns_i64(&columns, signal->id);
        columns_cell(&columns, signal->source);
        columns_cell(&columns, signal->endpoint);
        columns_cell(&columns, signal->provider_id);
        columns_brief(&columns, signal->created_us, now_us);
        columns_cell(&columns, signal->created_by);
        columns_i64(&columns, signal->tried);
        if (signal->http_status > 0)
            columns_i64(&columns, signal->http_status);
        else
            columns_cell(&columns, STR("-"));
        columns_note(&columns, reason_text(&session->arena, signal));
    }
    return columns_print(&columns, out, err);
}

/* Once for each source that is listed. */
static bool print_idle(const struct view_signal_list *list, struct session *session, FILE *talk,
                       struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct view_source_names idle;

    if (!view_signal_list_idle(&reader, list, &idle, err))
        return false;
    for (size_t i = 0; i < idle.count; i++)
        fprintf(talk, "%.*s\n", STR_ARG(view_signals_idle_text(&session->arena, idle.items[i])));
    return true;
}

static bool list_signals(const struct invocation *invocation, struct session *session,
                         enum exit_code *code, struct error *err)
{
    const struct option_range afters = { 0, INT64_MAX, 0 };
    const struct option_range limits = { 1, LIST_MAX, LIST_DEFAULT };
    const struct view_reader reader = session_reader(session);
    struct signal_filter filter = read_filter(
        invocation, str_of(invocation->operand_count > 0 ? invocation->operands[0] : NULL));
    struct view_signal_list list;
    struct output output;

    (void)code;
    if (!invocation_number(invocation, "after", afters, &filter.after_id, err) ||
        !invocation_number(invocation, "limit", limits, &filter.limit, err) ||
        !view_signal_list(&reader, &filter, &list, err))
        return false;
    if (invocation_flag(invocation, "json")) {
        view_signal_list_write(output_begin(&output, &session->arena), &list);
        return output_end(&output, invocation->out, err);
    }
    if (!print_list(&list, session, invocation->out, err) ||
        !print_idle(&list, session, invocation->talk, err))
        return false;
    if (list.is_full)
        fprintf(invocation->talk,
                "showing the first %" PRId64 "; continue with --after %" PRId64 "\n", filter.limit,
                list.items[list.count - 1].id);
    return true;
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_signals);
}

static const struct command list_command = {
    .name = "list",
    .summary = "list signals",
    .operands = "[SOURCE]",
    .operands_max = 1,
    .description =
        "Lists the records that the next update will request again, oldest first: who added\n"
        "the signal and when, how often an update has tried the record before, and the reason.\n"
        "For an id that the source refused, also the status and the error of its response.",
    .options = { FILTER_OPTIONS,
                 { "after", "ID", "Start after this signal." },
                 { "limit", "N", "Show at most N signals, 1 to 10000 (50)." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_list,
};

/* ---- drop ---- */

static bool add_source(const struct invocation *invocation, struct session *session,
                       struct row_choice *choice, struct error *err)
{
    struct signal_filter filter = read_filter(invocation, str_of(invocation->operands[0]));
    const struct view_reader reader = session_reader(session);
    struct view_signal_list list;

    filter.limit = LIST_MAX;
    if (!view_signal_list(&reader, &filter, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!row_choice_add(choice, &session->arena, list.items[i].id, err))
            return false;
    }
    return true;
}

static const struct row_chooser CHOOSER = { .what = "signal", .add_source = add_source };

static bool drop(const struct invocation *invocation, struct session *session, enum exit_code *code,
                 struct error *err)
{
    const struct str by = who_am_i(&session->arena);
    struct row_choice chosen;
    char question[128];
    int64_t done = 0;
    bool dropped;

    if (!row_choice_read(&CHOOSER, invocation, session, &chosen, err))
        return false;
    (void)snprintf(question, sizeof(question), "%zu signal%s will be dropped. Drop?", chosen.count,
                   chosen.count == 1 ? "" : "s");
    if (chosen.count > 0 && !confirm(invocation, question, err))
        return false;
    for (size_t i = 0; i < chosen.count; i++) {
        if (!store_signal_drop(session->store, chosen.items[i], by, clock_now_us(&session->clock),
                               &dropped, err))
            return false;
        done += dropped;
        if (dropped)
            continue;
        fprintf(invocation->talk, "%" PRId64 ": not open, nothing was done\n", chosen.items[i]);
        *code = EXIT_FOUND;
    }
    fprintf(invocation->out, "%" PRId64 " dropped\n", done);
    return true;
}

static enum exit_code cmd_drop(const struct invocation *invocation)
{
    return session_run(invocation, drop);
}

static const struct command drop_command = {
    .name = "drop",
    .summary = "drop signals",
    .operands = "SOURCE | ID...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Takes signals off the list, at most 10000 of a source at a time. Their rows are kept\n"
        "with who dropped them; a new signal for the same record is accepted. The command asks\n"
        "for confirmation; without a terminal it needs --yes. The exit code is 1 if one of the\n"
        "signals was no longer open.",
    .options = { FILTER_OPTIONS, { "yes", NULL, "Do not ask for confirmation." }, SESSION_OPTION },
    .run = cmd_drop,
};

static const struct command *const children[] = { &list_command, &drop_command, NULL };

const struct command COMMAND_SIGNAL = {
    .name = "signal",
    .summary = "list and drop signals: records to be requested again",
    .description =
        "A signal asks the next update to request a record again. `patra update --ids` adds\n"
        "signals, and so does a harvest for records that it could not read, or that the source\n"
        "listed but did not return.",
    .children = children,
};
