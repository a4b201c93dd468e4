#include "cmd/cursor/cursor.h"

#include "base/instant.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "engine/cursor/cursor_event.h"

enum { NAMESPACE_SHOWN = 8 };

/* ---- which ---- */

bool cursor_choice_operation(struct cursor_choice *choice, struct str word, struct error *err)
{
    const int value = code_find_written(&OPERATION_CODES, word);

    if (value < 0)
        return error_set(err, ERROR_REQUEST, "cursor.option", "'%.*s' is no operation",
                         STR_ARG(word));
    choice->has_operation = true;
    choice->operation = (enum operation)value;
    return true;
}

bool cursor_choice_read(const struct invocation *invocation, struct cursor_choice *choice,
                        struct error *err)
{
    struct str rest;

    *choice = (struct cursor_choice){ 0 };
    if (invocation->operand_count == 0)
        return true;
    rest = str_of(invocation->operands[0]);
    choice->source = str_cut(&rest, '/');
    return rest.len == 0 || cursor_choice_operation(choice, rest, err);
}

bool cursor_is_chosen(const struct cursor_choice *choice, const struct cursor_name *name)
{
    return (choice->source.len == 0 || str_eq(choice->source, name->source)) &&
           (!choice->has_operation || choice->operation == name->operation) &&
           str_starts(name->namespace_key, choice->namespace_key);
}

bool cursor_choice_check(struct session *session, const struct cursor_choice *choice, size_t found,
                         struct error *err)
{
    return found > 0 || session_knows(session, choice->source, err);
}

bool cursor_list_chosen(struct session *session, const struct cursor_choice *choice,
                        struct cursor_list *list, struct error *err)
{
    size_t count = 0;

    if (!store_cursor_list(session->store, &session->arena, choice->source, list, err))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        if (cursor_is_chosen(choice, &list->items[i].name))
            list->items[count++] = list->items[i];
    }
    list->count = count;
    return cursor_choice_check(session, choice, count, err);
}

/* ---- words ---- */

static struct str short_key(const struct cursor_name *name)
{
    return name->scope == NAMESPACE_GLOBAL ? STR("-")
                                           : str_slice(name->namespace_key, 0, NAMESPACE_SHOWN);
}

struct str cursor_title(struct arena *arena, const struct cursor_name *name)
{
    return arena_printf(
        arena, "%.*s %.*s %.*s %.*s %.*s", STR_ARG(name->source),
        STR_ARG(code_of(&OPERATION_CODES, (int)name->operation)), STR_ARG(name->cursor_key),
        STR_ARG(code_of(&NAMESPACE_SCOPE_CODES, (int)name->scope)), STR_ARG(short_key(name)));
}

void cursor_write_value(struct json_writer *w, struct str member, const struct cursor_value *value)
{
    char text[INSTANT_TEXT_MAX];

    json_write_member_str(w, member, cursor_value_text(value, text));
}

void cursor_write_name(struct json_writer *w, const struct cursor_name *name)
{
    json_write_member_str(w, STR("source"), name->source);
    json_write_member_str(w, STR("operation"), code_of(&OPERATION_CODES, (int)name->operation));
    json_write_member_str(w, STR("cursorKey"), name->cursor_key);
    json_write_member_str(w, STR("scope"), code_of(&NAMESPACE_SCOPE_CODES, (int)name->scope));
    json_write_member_str(w, STR("namespaceKey"), name->namespace_key);
}

void cursor_write(struct json_writer *w, const struct cursor *cursor, const struct cursor_way *way)
{

    cursor_write_name(w, &cursor->name);
    json_write_member_str(w, STR("type"), code_of(&CURSOR_TYPE_CODES, (int)cursor->value.type));
    cursor_write_value(w, STR("value"), &cursor->value);
    if (cursor->observed_max.len > 0)
        json_write_member_str(w, STR("observedMax"), cursor->observed_max);
    if (way->is_known && way->is_campaign)
        json_write_member_instant(w, STR("endsAt"), way->end_us);
    if (way->is_known)
        json_write_member_i64(w, way->is_campaign ? STR("leftSeconds") : STR("lagSeconds"),
                              way->left_us / US_PER_SECOND);
    json_write_member_i64(w, STR("version"), cursor->version);
    json_write_member_instant(w, STR("updatedAt"), cursor->updated_us);
}

/* ---- list ---- */

struct listed {
    struct cursor cursor;
    struct cursor_way way;
};

static void write_row(struct json_writer *w, const void *rows, size_t i)
{
    const struct listed *listed = (const struct listed *)rows + i;

    cursor_write(w, &listed->cursor, &listed->way);
}

static struct str lag_text(struct arena *arena, const struct cursor_way *way)
{
    struct buf text;

    if (!way->is_known)
        return STR("-");
    if (way->is_campaign && way->left_us == 0)
        return STR("done");
    buf_init(&text, arena, 64);
    text_span(&text, way->left_us);
    return buf_str(&text);
}

static bool list_text(const struct listed *rows, size_t count, struct session *session, FILE *out,
                      struct error *err)
{
    static const char *const heads[] = { "SOURCE", "OPERATION", "CURSOR", "NAMESPACE",
                                         "VALUE",  "LAG",       "MOVED" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct arena *arena = &session->arena;
    struct columns columns;

    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < count; i++) {
        const struct cursor *cursor = &rows[i].cursor;

        columns_cell(&columns, cursor->name.source);
        columns_cell(&columns, code_of(&OPERATION_CODES, (int)cursor->name.operation));
        columns_cell(&columns, cursor->name.cursor_key);
        columns_cell(&columns, short_key(&cursor->name));
        if (cursor->value.type == CURSOR_TIME)
            columns_brief(&columns, cursor->value.instant_us, now_us);
        else
            columns_cell(&columns, cursor_text(arena, &cursor->value));
        columns_cell(&columns, lag_text(arena, &rows[i].way));
        columns_brief(&columns, cursor->updated_us, now_us);
    }
    return columns_print(&columns, out, err);
}

static bool load_ways(struct session *session, const struct cursor_list *list, struct listed **rows,
                      struct error *err)
{
    *rows = ARENA_ARRAY(&session->arena, struct listed, list->count + 1);
    if (*rows == NULL)
        return arena_error(&session->arena, err);
    for (size_t i = 0; i < list->count; i++) {
        (*rows)[i].cursor = list->items[i];
        if (!cursor_way(session->store, &session->arena, &list->items[i], &(*rows)[i].way, err))
            return false;
    }
    return true;
}

static bool list_cursors(const struct invocation *invocation, struct session *session,
                         enum exit_code *code, struct error *err)
{
    struct cursor_choice choice;
    struct cursor_list list;
    struct listed *rows;

    (void)code;
    if (!cursor_choice_read(invocation, &choice, err) ||
        !cursor_list_chosen(session, &choice, &list, err) || !load_ways(session, &list, &rows, err))
        return false;
    if (invocation_flag(invocation, "json"))
        return output_list(invocation->out, &session->arena, rows, list.count, write_row, err);
    return list_text(rows, list.count, session, invocation->out, err);
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_cursors);
}

static const struct command list = {
    .name = "list",
    .summary = "list cursors",
    .operands = "[SOURCE[/OPERATION]]",
    .operands_max = 1,
    .description =
        "Lists cursors: everything before a cursor's value is complete. LAG is how far it is\n"
        "behind the latest record that was seen; for a backfill, how far its campaign has to go.\n"
        "Instants are shown to the minute, UTC; `cursor show` and --json have all of them.",
    .options = { { "json", NULL, "JSON instead of a text." }, SESSION_OPTION },
    .run = cmd_list,
};

static const struct command *const children[] = {
    &list, &CURSOR_SHOW, &CURSOR_VERIFY, &CURSOR_REBUILD, &CURSOR_RESET, NULL,
};

const struct command COMMAND_CURSOR = {
    .name = "cursor",
    .summary = "see how far each source is, check it, set it",
    .description = "How far each source is known to be complete, what holds it back, whether its\n"
                   "history agrees, and setting it on purpose.",
    .children = children,
};
