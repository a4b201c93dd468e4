/* Strips as JSON. */
#include "view/members.h"
#include "view/strip.h"

static void write_task(struct json_writer *w, const struct task *task)
{
    json_write_name(w, STR("task"));
    json_write_object(w);
    json_write_member_i64(w, STR("id"), task->id);
    json_write_member_i64(w, STR("plan"), task->plan_id);
    json_write_member_str(w, STR("status"), code_of(&TASK_STATUS_CODES, (int)task->status));
    json_write_member_i64(w, STR("attempts"), task->attempts);
    if (task->status == TASK_QUEUED)
        json_write_member_instant(w, STR("nextTryAt"), task->scheduled_us);
    if (task->last_error.len > 0)
        json_write_member_str(w, STR("error"), task->last_error);
    json_write_end(w);
}

static void write_piece(struct json_writer *w, const struct strip_piece *piece)
{
    json_write_object(w);
    json_write_member_instant(w, STR("from"), piece->window.from_us);
    json_write_member_instant(w, STR("to"), piece->window.to_us);
    json_write_member_str(w, STR("state"), code_of(&STRIP_STATE_CODES, (int)piece->state));
    if (piece->parts > 1)
        json_write_member_i64(w, STR("parts"), piece->parts);
    if (piece->task != NULL)
        write_task(w, piece->task);
    json_write_end(w);
}

static void write_strip(struct json_writer *w, const struct view_strip *strip)
{
    const struct cursor_name *name = &strip->cursor.name;

    json_write_object(w);
    json_write_member_str(w, STR("source"), name->source);
    json_write_member_str(w, STR("endpoint"), strip->endpoint);
    json_write_member_str(w, STR("operation"), code_of(&OPERATION_CODES, (int)name->operation));
    json_write_member_str(w, STR("cursorKey"), name->cursor_key);
    json_write_member_str(w, STR("namespaceKey"), name->namespace_key);
    json_write_member_instant(w, STR("cursor"), strip->cursor.value.instant_us);
    view_write_member_window(w, STR("window"), strip->window);
    json_write_member_i64(w, STR("missing"), strip->missing);
    json_write_name(w, STR("pieces"));
    json_write_array(w);
    for (size_t i = 0; i < strip->count; i++)
        write_piece(w, &strip->items[i]);
    json_write_end(w);
    json_write_end(w);
}

void view_strips_write(struct json_writer *w, const struct view_strip_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++)
        write_strip(w, &list->items[i]);
    json_write_end(w);
}
