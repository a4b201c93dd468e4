#include "adapter/sql/read.h"

static struct cursor_name read_name(struct rows *rows, struct arena *arena)
{
    struct cursor_name name;

    name.source = rows_text(rows, arena);
    name.operation = (enum operation)rows_code(rows, &OPERATION_CODES);
    name.cursor_key = rows_text(rows, arena);
    name.scope = (enum namespace_scope)rows_code(rows, &NAMESPACE_SCOPE_CODES);
    name.namespace_key = rows_text(rows, arena);
    return name;
}

/* As text, and as an instant where it is one. */
static struct cursor_value read_value(struct rows *rows, struct arena *arena, enum cursor_type type)
{
    struct cursor_value value = { .type = type };

    if (type == CURSOR_TIME) {
        rows_skip(rows, 1);
        value.instant_us = rows_i64(rows);
    } else {
        value.text = rows_text(rows, arena);
        rows_skip(rows, 1);
    }
    return value;
}

void read_cursor(struct rows *rows, struct arena *arena, struct cursor *cursor)
{
    enum cursor_type type;

    cursor->id = rows_i64(rows);
    cursor->name = read_name(rows, arena);
    type = (enum cursor_type)rows_code(rows, &CURSOR_TYPE_CODES);
    cursor->value = read_value(rows, arena, type);
    cursor->observed_max = rows_text(rows, arena);
    cursor->lineage = rows_lineage(rows);
    cursor->expr_hash = rows_text(rows, arena);
    cursor->version = rows_i64(rows);
    cursor->updated_us = rows_i64(rows);
}

bool read_cursors(struct rows *rows, struct arena *arena, struct cursor_list *list,
                  struct error *err)
{
    struct cursor *cursor;

    *list = (struct cursor_list){ 0 };
    while ((cursor = ROWS_NEXT(rows, arena, list)) != NULL)
        read_cursor(rows, arena, cursor);
    return rows_finish(rows, err);
}

bool read_cursor_names(struct rows *rows, struct arena *arena, struct cursor_name_list *list,
                       struct error *err)
{
    struct cursor_name *name;

    *list = (struct cursor_name_list){ 0 };
    while ((name = ROWS_NEXT(rows, arena, list)) != NULL)
        *name = read_name(rows, arena);
    return rows_finish(rows, err);
}

static void read_event(struct rows *rows, struct arena *arena, struct cursor_event *event)
{
    enum cursor_type type;

    event->id = rows_i64(rows);
    event->name = read_name(rows, arena);
    type = (enum cursor_type)rows_code(rows, &CURSOR_TYPE_CODES);
    event->direction = (enum direction)rows_code(rows, &DIRECTION_CODES);
    event->reason = (enum cursor_event_reason)rows_code(rows, &CURSOR_EVENT_REASON_CODES);
    event->has_prev = !rows_is_null(rows);
    event->prev = read_value(rows, arena, type);
    event->next = read_value(rows, arena, type);
    event->window = rows_window(rows);
    event->observed_max = rows_text(rows, arena);
    event->idempotent_key = rows_text(rows, arena);
    event->lineage = rows_lineage(rows);
    event->expr_hash = rows_text(rows, arena);
    event->remarks = rows_text(rows, arena);
    event->created_us = rows_i64(rows);
}

bool read_cursor_events(struct rows *rows, struct arena *arena, struct cursor_event_list *list,
                        struct error *err)
{
    struct cursor_event *event;

    *list = (struct cursor_event_list){ 0 };
    while ((event = ROWS_NEXT(rows, arena, list)) != NULL)
        read_event(rows, arena, event);
    return rows_finish(rows, err);
}
