/* patra cursor verify, rebuild: whether values and events agree, and making them agree. */
#include <inttypes.h>

#include "cli/output.h"
#include "cmd/cursor/cursor.h"
#include "engine/cursor/cursor_event.h"

static bool check(const struct invocation *invocation, struct session *session,
                  struct view_cursor_checks *checks, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct view_cursor_filter filter;

    return cursor_filter_read(invocation, &filter, err) &&
           view_cursor_checks(&reader, &filter, checks, err);
}

static struct str value_of(struct arena *arena, bool has, const struct cursor_value *value)
{
    return has ? cursor_text(arena, value) : STR("(none)");
}

/* ---- verify ---- */

static void print_checks(const struct view_cursor_checks *checks, struct arena *arena, FILE *out)
{
    for (size_t i = 0; i < checks->count; i++) {
        const struct cursor_check *one = &checks->items[i];
        const struct str title = cursor_title(arena, &one->name);

        if (!one->agrees)
            fprintf(out, "%.*s: rebuild required: the value is %.*s, its events give %.*s\n",
                    STR_ARG(title), STR_ARG(value_of(arena, one->has_cursor, &one->cursor.value)),
                    STR_ARG(value_of(arena, one->has_replay, &one->replay)));
        if (one->gaps > 0)
            fprintf(out,
                    "%.*s: %" PRId64 " of %" PRId64 " events do not start where an earlier one "
                    "ended: events may be missing\n",
                    STR_ARG(title), one->gaps, one->events);
    }
    fprintf(out, "%zu cursors, %" PRId64 " events: ", checks->count, checks->events);
    if (checks->wrong > 0)
        fprintf(out, "%" PRId64 " do not agree (patra cursor rebuild)\n", checks->wrong);
    else
        fprintf(out, "all agree\n");
}

static bool verify(const struct invocation *invocation, struct session *session,
                   enum exit_code *code, struct error *err)
{
    struct view_cursor_checks checks;
    struct output output;

    if (!check(invocation, session, &checks, err))
        return false;
    if (checks.wrong > 0)
        *code = EXIT_FOUND;
    if (invocation_flag(invocation, "json")) {
        view_cursor_checks_write(output_begin(&output, &session->arena), &checks);
        return output_end(&output, invocation->out, err);
    }
    print_checks(&checks, &session->arena, invocation->out);
    return true;
}

static enum exit_code cmd_verify(const struct invocation *invocation)
{
    return session_run(invocation, verify);
}

const struct command CURSOR_VERIFY = {
    .name = "verify",
    .summary = "check each cursor against its events",
    .operands = "[SOURCE[/OPERATION]]",
    .operands_max = 1,
    .description =
        "Replays the events of each cursor in order and compares the result with its value.\n"
        "Where they differ it prints \"rebuild required\" and exits with 1.",
    .options = { { "json", NULL, "Print JSON." }, SESSION_OPTION },
    .run = cmd_verify,
};

/* ---- rebuild ---- */

static bool rebuild(const struct invocation *invocation, struct session *session,
                    enum exit_code *code, struct error *err)
{
    const int64_t now_us = clock_now_us(&session->clock);
    struct arena *arena = &session->arena;
    struct view_cursor_checks checks;

    (void)code;
    if (!check(invocation, session, &checks, err))
        return false;
    if (checks.count == 0)
        return error_set(err, ERROR_REQUEST, "cursor.unknown", "%s has no cursor",
                         invocation->operands[0]);
    for (size_t i = 0; i < checks.count; i++) {
        struct cursor_check was;

        if (checks.items[i].agrees)
            continue;
        if (!cursor_rebuild(session->store, arena, &checks.items[i].name, now_us, &was, err))
            return false;
        fprintf(invocation->out, "%.*s: %.*s -> %.*s\n", STR_ARG(cursor_title(arena, &was.name)),
                STR_ARG(value_of(arena, was.has_cursor, &was.cursor.value)),
                STR_ARG(value_of(arena, was.has_replay, &was.replay)));
    }
    fprintf(invocation->out, "%" PRId64 " of %zu cursors rebuilt\n", checks.wrong, checks.count);
    return true;
}

static enum exit_code cmd_rebuild(const struct invocation *invocation)
{
    return session_run(invocation, rebuild);
}

const struct command CURSOR_REBUILD = {
    .name = "rebuild",
    .summary = "set cursors to the values their events give",
    .operands = "SOURCE[/OPERATION]",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Sets the cursors of a source that `cursor verify` finds wrong to the values that their\n"
        "events give. A cursor that moves back catches up by itself, because what is covered\n"
        "stays covered.",
    .options = { SESSION_OPTION },
    .run = cmd_rebuild,
};
