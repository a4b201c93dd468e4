/* patra cursor reset: a person sets a cursor, is asked first, and leaves a trace. */
#include <inttypes.h>

#include "base/duration.h"
#include "cli/confirm.h"
#include "cli/who.h"
#include "cmd/cursor/cursor.h"
#include "data/date.h"
#include "engine/cursor/cursor_event.h"
#include "engine/cursor/cursor_reset.h"

static bool choose(const struct invocation *invocation, struct session *session,
                   struct cursor *cursor, struct error *err)
{
    const char *operation = invocation_value(invocation, "operation");
    struct cursor_choice choice;
    struct cursor_list list;

    if (!cursor_choice_read(invocation, &choice, err) ||
        (operation != NULL && !cursor_choice_operation(&choice, str_of(operation), err)))
        return false;
    if (!choice.has_operation) {
        choice.has_operation = true;
        choice.operation = OPERATION_HARVEST;
    }
    choice.namespace_key = str_of(invocation_value(invocation, "namespace"));
    if (!cursor_list_chosen(session, &choice, &list, err))
        return false;
    if (list.count == 0)
        return error_set(err, ERROR_REQUEST, "cursor.unknown", "%.*s has no such cursor of %.*s",
                         STR_ARG(choice.source),
                         STR_ARG(code_of(&OPERATION_CODES, (int)choice.operation)));
    if (list.count > 1) {
        for (size_t i = 0; i < list.count; i++)
            fprintf(invocation->talk, "  %.*s  %.*s\n",
                    STR_ARG(cursor_title(&session->arena, &list.items[i].name)),
                    STR_ARG(cursor_text(&session->arena, &list.items[i].value)));
        return error_set(err, ERROR_REQUEST, "cursor.many",
                         "%zu cursors could be meant; --namespace names one by how its key begins",
                         list.count);
    }
    *cursor = list.items[0];
    return true;
}

/* --to, of the cursor's own type. */
static bool read_to(const struct invocation *invocation, enum cursor_type type, int64_t now_us,
                    struct cursor_value *to, struct error *err)
{
    const char *given = invocation_value(invocation, "to");
    struct duration ago;
    struct date date;

    if (given == NULL)
        return error_set(err, ERROR_REQUEST, "cursor.option", "--to is needed: where to set it");
    *to = (struct cursor_value){ .type = type };
    if (type != CURSOR_TIME) {
        to->text = str_of(given);
        return true;
    }
    if (duration_parse(str_of(given), &ago, err) && duration_subtract(now_us, ago, &to->instant_us))
        return true;
    if (!date_parse(date_format_find(STR("auto")), str_of(given), &date, err))
        return error_set(err, ERROR_REQUEST, "cursor.option",
                         "--to: '%s' is neither a date (2026-01-31, 2026-01-31T10:00:00Z) nor how "
                         "long ago (7d, 12h)",
                         given);
    to->instant_us = date.at_us;
    return true;
}

static bool is_confirmed(const struct invocation *invocation, const struct cursor *cursor,
                         const struct cursor_value *to, struct arena *arena, struct error *err)
{
    const bool is_back = to->type == CURSOR_TIME && to->instant_us < cursor->value.instant_us;

    if (invocation_flag(invocation, "yes"))
        return true;
    fprintf(invocation->talk, "%.*s\n  from %.*s\n  to   %.*s\n%s\n",
            STR_ARG(cursor_title(arena, &cursor->name)),
            STR_ARG(cursor_text(arena, &cursor->value)), STR_ARG(cursor_text(arena, to)),
            is_back ? "Everything after that is fetched again."
                    : "What lies between and is not complete will not be fetched.");
    return confirm(invocation, "Set it?", err);
}

static bool reset_one(const struct invocation *invocation, struct session *session,
                      enum exit_code *code, struct error *err)
{
    struct arena *arena = &session->arena;
    struct cursor_reset_request request = {
        .who = who_am_i(arena),
        .why = str_of(invocation_value(invocation, "why")),
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
        fprintf(invocation->out, "it stands there already; nothing was done\n");
        return true;
    }
    fprintf(invocation->out, "%.*s: %.*s -> %.*s\n", STR_ARG(cursor_title(arena, &cursor.name)),
            STR_ARG(cursor_text(arena, &result.prev)), STR_ARG(cursor_text(arena, &request.to)));
    if (result.tasks > 0)
        fprintf(invocation->out,
                "%" PRId64 " tasks no longer count; the next trigger plans their windows again\n",
                result.tasks);
    return true;
}

static enum exit_code cmd_reset(const struct invocation *invocation)
{
    return session_run(invocation, reset_one);
}

const struct command CURSOR_RESET = {
    .name = "reset",
    .summary = "set a cursor back or forward, on purpose",
    .operands = "SOURCE[/OPERATION]",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Sets a cursor, that of harvest unless another is named. Back: from there on everything\n"
        "is fetched again by the triggers that follow. Forward: what lies between is given up.\n"
        "It asks first; without a terminal it needs --yes. Who did it, why, and from where to\n"
        "where remains in the cursor's history.",
    .options = { { "to", "INSTANT", "Where to: a date, or how long ago (7d)." },
                 { "operation", "OPERATION", "Of this operation (harvest)." },
                 { "namespace", "KEY", "Of the namespace whose key begins so." },
                 { "why", "TEXT", "For the history." },
                 { "yes", NULL, "Do not ask." },
                 SESSION_OPTION },
    .run = cmd_reset,
};
