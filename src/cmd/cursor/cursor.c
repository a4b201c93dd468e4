/* patra cursor list, and what the files of patra cursor share. */
#include "cmd/cursor/cursor.h"

#include <inttypes.h>

#include "base/instant.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "engine/cursor/cursor_event.h"

enum { NAMESPACE_SHOWN = 8 };

/* ---- shared ---- */

bool cursor_filter_read(const struct invocation *invocation, struct view_cursor_filter *filter,
                        struct error *err)
{
    struct str rest;
    int operation;

    *filter = (struct view_cursor_filter){ 0 };
    if (invocation->operand_count == 0)
        return true;
    rest = str_of(invocation->operands[0]);
    filter->source = str_cut(&rest, '/');
    if (rest.len == 0)
        return true;
    operation = code_find_written(&OPERATION_CODES, rest);
    if (operation < 0)
        return command_misused(err, "'%.*s' is not an operation", STR_ARG(rest));
    filter->has_operation = true;
    filter->operation = (enum operation)operation;
    return true;
}

struct str cursor_short_namespace(const struct cursor_name *name)
{
    return name->scope == NAMESPACE_GLOBAL ? STR("-")
                                           : str_slice(name->namespace_key, 0, NAMESPACE_SHOWN);
}

struct str cursor_title(struct arena *arena, const struct cursor_name *name)
{
    return arena_printf(arena, "%.*s %.*s %.*s %.*s %.*s", STR_ARG(name->source),
                        STR_ARG(code_of(&OPERATION_CODES, (int)name->operation)),
                        STR_ARG(name->cursor_key),
                        STR_ARG(code_of(&NAMESPACE_SCOPE_CODES, (int)name->scope)),
                        STR_ARG(cursor_short_namespace(name)));
}

/* ---- list ---- */

static struct str lag_text(struct arena *arena, const struct cursor_way *way)
{
    struct buf text;

    if (way->has_ids)
        return arena_printf(arena, "%" PRId64 " ids", way->left_ids);
    if (!way->is_known)
        return STR("-");
    if (way->is_campaign && way->left_us == 0)
        return STR("done");
    buf_init(&text, arena, 64);
    text_span(&text, way->left_us);
    return buf_str(&text);
}

static bool print_list(const struct view_cursor_list *list, struct session *session, FILE *out,
                       struct error *err)
{
    static const char *const heads[] = { "SOURCE", "OPERATION", "CURSOR", "NAMESPACE",
                                         "VALUE",  "LAG",       "MOVED" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct arena *arena = &session->arena;
    struct columns columns;

    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list->count; i++) {
        const struct cursor *cursor = &list->items[i].cursor;

        columns_cell(&columns, cursor->name.source);
        columns_cell(&columns, code_of(&OPERATION_CODES, (int)cursor->name.operation));
        columns_cell(&columns, cursor->name.cursor_key);
        columns_cell(&columns, cursor_short_namespace(&cursor->name));
        if (cursor->value.type == CURSOR_TIME)
            columns_brief(&columns, cursor->value.instant_us, now_us);
        else
            columns_cell(&columns, cursor_text(arena, &cursor->value));
        columns_cell(&columns, list->items[i].is_former ? STR("former")
                                                        : lag_text(arena, &list->items[i].way));
        columns_brief(&columns, cursor->updated_us, now_us);
    }
    return columns_print(&columns, out, err);
}

static bool list_cursors(const struct invocation *invocation, struct session *session,
                         enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct view_cursor_filter filter;
    struct view_cursor_list list;
    struct output output;

    (void)code;
    if (!cursor_filter_read(invocation, &filter, err) ||
        !view_cursor_list(&reader, &filter, &list, err))
        return false;
    if (!invocation_flag(invocation, "json"))
        return print_list(&list, session, invocation->out, err);
    view_cursor_list_write(output_begin(&output, &session->arena), &list);
    return output_end(&output, invocation->out, err);
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_cursors);
}

static const struct command list_command = {
    .name = "list",
    .summary = "list cursors",
    .operands = "[SOURCE[/OPERATION]]",
    .operands_max = 1,
    .description =
        "Lists cursors. Everything before a cursor's value is complete. LAG is the distance to\n"
        "the latest record seen; for a backfill, the distance to the end of its campaign. The\n"
        "cursor of a query that was changed since is `former`.\n"
        "Instants are shown to the minute, in UTC; `cursor show` and --json show them in full.",
    .options = { { "json", NULL, "Print JSON." }, SESSION_OPTION },
    .run = cmd_list,
};

static const struct command *const children[] = {
    &list_command, &CURSOR_SHOW, &CURSOR_VERIFY, &CURSOR_REBUILD, &CURSOR_RESET, NULL,
};

const struct command COMMAND_CURSOR = {
    .name = "cursor",
    .summary = "show how far each source is, check it, set it",
    .description =
        "A cursor says up to where a source is known to be complete. These commands show\n"
        "cursors and what holds them back, check them against their history, and set them.",
    .children = children,
};
