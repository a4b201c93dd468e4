/* patra cursor reset: sets a cursor, after a confirmation, and records who did it. */
#include <inttypes.h>

#include "act/cursor.h"
#include "cli/confirm.h"
#include "cli/who.h"
#include "cmd/cursor/cursor.h"
#include "engine/cursor/cursor_event.h"

static bool read_filter(const struct invocation *invocation, struct view_cursor_filter *filter,
                        struct error *err)
{
    struct option_code operation;

    if (!cursor_filter_read(invocation, filter, err) ||
        !invocation_code(invocation, "operation", &OPERATION_CODES, &operation, err))
        return false;
    if (operation.is_given || !filter->has_operation)
        filter->operation =
            operation.is_given ? (enum operation)operation.value : OPERATION_HARVEST;
    filter->has_operation = true;
    filter->namespace_prefix = str_of(invocation_value(invocation, "namespace"));
    return true;
}

/* Exactly one cursor must match. */
static bool choose(const struct invocation *invocation, struct session *session,
                   struct cursor *cursor, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct view_cursor_filter filter;
    struct view_cursor_list list = { 0 };

    if (!read_filter(invocation, &filter, err))
        return false;
    if (act_cursor_choose(&reader, &filter, &list, err)) {
        *cursor = list.items[0].cursor;
        return true;
    }
    for (size_t i = 0; i < list.count; i++)
        fprintf(invocation->talk, "  %.*s  %.*s\n",
                STR_ARG(cursor_title(&session->arena, &list.items[i].cursor.name)),
                STR_ARG(cursor_text(&session->arena, &list.items[i].cursor.value)));
    return false;
}

/* --to, as a value of the cursor's type. */
static bool read_to(const struct invocation *invocation, enum cursor_type type, int64_t now_us,
                    struct cursor_value *to, struct error *err)
{
    const char *given = invocation_value(invocation, "to");

    if (given == NULL)
        return command_misused(err, "--to is required: the value to set");
    return act_cursor_value(type, str_of(given), now_us, to, err) ||
           command_misused(err, "--to: %s", str_of(err->text).data);
}

static bool is_confirmed(const struct invocation *invocation, const struct cursor *cursor,
                         const struct cursor_value *to, struct arena *arena, struct error *err)
{
    const bool is_back = cursor_is_forward(to, &cursor->value);

    if (invocation_flag(invocation, "yes"))
        return true;
    fprintf(
        invocation->talk, "%.*s\n  from %.*s\n  to   %.*s\n%s\n",
        STR_ARG(cursor_title(arena, &cursor->name)), STR_ARG(cursor_text(arena, &cursor->value)),
        STR_ARG(cursor_text(arena, to)),
        to->type == CURSOR_TOKEN
            ? to->text.len == 0
                  ? "Without a token, the next harvest fetches everything again."
                  : "The next harvest sends this token; what it does not cover will not be fetched."
        : is_back ? "Everything after that value will be fetched again."
                  : "Whatever is incomplete in between will not be fetched.");
    return confirm(invocation, "Set it?", err);
}

static bool reset_one(const struct invocation *invocation, struct session *session,
                      enum exit_code *code, struct error *err)
{
    struct arena *arena = &session->arena;
    struct cursor_reset_request request = {
        .who = who_am_i(arena),
        .reason = str_of(invocation_value(invocation, "reason")),
        .now_us = clock_now_us(&session->clock),
    };
    struct cursor_reset_result result;
    struct cursor cursor = { 0 };

    (void)code;
    if (!choose(invocation, session, &cursor, err) ||
        !read_to(invocation, cursor.value.type, request.now_us, &request.to, err) ||
        !is_confirmed(invocation, &cursor, &request.to, arena, err))
        return false;
    request.name = cursor.name;
    if (!cursor_reset(session->store, arena, &request, &result, err))
        return false;
    if (!result.is_moved) {
        fprintf(invocation->out, "the cursor already has this value; nothing was done\n");
        return true;
    }
    fprintf(invocation->out, "%.*s: %.*s -> %.*s\n", STR_ARG(cursor_title(arena, &cursor.name)),
            STR_ARG(cursor_text(arena, &result.prev)), STR_ARG(cursor_text(arena, &request.to)));
    if (result.tasks > 0)
        fprintf(invocation->out,
                "%" PRId64
                " tasks no longer count as covered; the next trigger plans their windows "
                "again\n",
                result.tasks);
    return true;
}

static enum exit_code cmd_reset(const struct invocation *invocation)
{
    return session_run(invocation, reset_one);
}

const struct command CURSOR_RESET = {
    .name = "reset",
    .summary = "set a cursor back or forward",
    .operands = "SOURCE[/OPERATION]",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Sets a cursor, by default the one of harvest. After a move back, the next triggers\n"
        "fetch everything from the new value on again. After a move forward, whatever lies in\n"
        "between is skipped. The command asks for confirmation; without a terminal it needs\n"
        "--yes. The cursor's history records who set it, when, from which value to which, and\n"
        "the reason.",
    .options = { { "to", "VALUE",
                   "The new value: a date, or how long ago (7d); for a feed, an id or a token ('' "
                   "begins "
                   "again)." },
                 { "operation", "OPERATION", "The cursor of this operation (harvest)." },
                 { "namespace", "KEY", "The cursor whose namespace key begins with KEY." },
                 { "reason", "TEXT", "Why it is set, for the history." },
                 { "yes", NULL, "Do not ask for confirmation." },
                 SESSION_OPTION },
    .run = cmd_reset,
};
