/* patra cursor verify, rebuild: whether values and events agree, and making them. */
#include <inttypes.h>

#include "cli/output.h"
#include "cmd/cursor/cursor.h"
#include "engine/cursor/cursor_event.h"
#include "engine/cursor/cursor_verify.h"

static bool check_chosen(const struct invocation *invocation, struct session *session,
                         struct cursor_check_list *list, struct error *err)
{
    struct cursor_choice choice;
    size_t count = 0;

    if (!cursor_choice_read(invocation, &choice, err) ||
        !cursor_verify(session->store, &session->arena, choice.source, list, err))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        if (cursor_is_chosen(&choice, &list->items[i].name))
            list->items[count++] = list->items[i];
    }
    list->count = count;
    return cursor_choice_check(session, &choice, count, err);
}

static struct str value_of(struct arena *arena, bool has, const struct cursor_value *value)
{
    return has ? cursor_text(arena, value) : STR("(none)");
}

/* ---- verify ---- */

static void write_row(struct json_writer *w, const void *checks, size_t i)
{
    const struct cursor_check *check = (const struct cursor_check *)checks + i;

    cursor_write_name(w, &check->name);
    if (check->has_cursor)
        cursor_write_value(w, STR("value"), &check->cursor.value);
    if (check->has_replay)
        cursor_write_value(w, STR("replay"), &check->replay);
    json_write_member_i64(w, STR("events"), check->events);
    json_write_member_i64(w, STR("noForward"), check->no_forward);
    json_write_member_i64(w, STR("resets"), check->resets);
    json_write_member_i64(w, STR("gaps"), check->gaps);
    json_write_member_bool(w, STR("rebuildRequired"), !check->agrees);
}

static void verify_text(const struct cursor_check_list *list, struct session *session, FILE *out)
{
    struct arena *arena = &session->arena;
    int64_t events = 0, wrong = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct cursor_check *check = &list->items[i];
        const struct str title = cursor_title(arena, &check->name);

        events += check->events;
        wrong += !check->agrees;
        if (!check->agrees)
            fprintf(out, "%.*s: rebuild required: the value is %.*s, its events give %.*s\n",
                    STR_ARG(title),
                    STR_ARG(value_of(arena, check->has_cursor, &check->cursor.value)),
                    STR_ARG(value_of(arena, check->has_replay, &check->replay)));
        if (check->gaps > 0)
            fprintf(out,
                    "%.*s: %" PRId64 " of %" PRId64 " events start where none before them ended: "
                    "some may be missing\n",
                    STR_ARG(title), check->gaps, check->events);
    }
    fprintf(out, "%zu cursors, %" PRId64 " events: ", list->count, events);
    if (wrong > 0)
        fprintf(out, "%" PRId64 " do not agree (patra cursor rebuild)\n", wrong);
    else
        fprintf(out, "all agree\n");
}

static bool verify_all(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    struct cursor_check_list list;

    if (!check_chosen(invocation, session, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!list.items[i].agrees)
            *code = EXIT_FOUND;
    }
    if (invocation_flag(invocation, "json"))
        return output_list(invocation->out, &session->arena, list.items, list.count, write_row,
                           err);
    verify_text(&list, session, invocation->out);
    return true;
}

static enum exit_code cmd_verify(const struct invocation *invocation)
{
    return session_run(invocation, verify_all);
}

const struct command CURSOR_VERIFY = {
    .name = "verify",
    .summary = "check each cursor against its events",
    .operands = "[SOURCE[/OPERATION]]",
    .operands_max = 1,
    .description =
        "Reads the events of each cursor in order and compares what they give with its value.\n"
        "Exit code 1 and \"rebuild required\" where they differ.",
    .options = { { "json", NULL, "JSON instead of a text." }, SESSION_OPTION },
    .run = cmd_verify,
};

/* ---- rebuild ---- */

static bool rebuild_all(const struct invocation *invocation, struct session *session,
                        enum exit_code *code, struct error *err)
{
    const int64_t now_us = clock_now_us(&session->clock);
    struct arena *arena = &session->arena;
    struct cursor_check_list list;
    int64_t rebuilt = 0;

    (void)code;
    if (!check_chosen(invocation, session, &list, err))
        return false;
    if (list.count == 0)
        return error_set(err, ERROR_REQUEST, "cursor.unknown", "%s has no cursor",
                         invocation->operands[0]);
    for (size_t i = 0; i < list.count; i++) {
        struct cursor_check check;

        if (list.items[i].agrees)
            continue;
        if (!cursor_rebuild(session->store, arena, &list.items[i].name, now_us, &check, err))
            return false;
        rebuilt++;
        fprintf(invocation->out, "%.*s: %.*s -> %.*s\n", STR_ARG(cursor_title(arena, &check.name)),
                STR_ARG(value_of(arena, check.has_cursor, &check.cursor.value)),
                STR_ARG(value_of(arena, check.has_replay, &check.replay)));
    }
    fprintf(invocation->out, "%" PRId64 " of %zu cursors rebuilt\n", rebuilt, list.count);
    return true;
}

static enum exit_code cmd_rebuild(const struct invocation *invocation)
{
    return session_run(invocation, rebuild_all);
}

const struct command CURSOR_REBUILD = {
    .name = "rebuild",
    .summary = "set cursors to what their events give",
    .operands = "SOURCE[/OPERATION]",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Sets those cursors of the source that verify finds wrong to what their events give. A\n"
        "value that comes out further back catches up by itself: what is covered stays covered.",
    .options = { SESSION_OPTION },
    .run = cmd_rebuild,
};
