/* Cursors for programs: as JSON. */
#include "base/instant.h"
#include "engine/cursor/cursor_event.h"
#include "view/cursor.h"
#include "view/members.h"

static void write_value(struct json_writer *w, struct str member, const struct cursor_value *value)
{
    char text[INSTANT_TEXT_MAX];

    json_write_member_str(w, member, cursor_value_text(value, text));
}

static void write_name(struct json_writer *w, const struct cursor_name *name)
{
    json_write_member_str(w, STR("source"), name->source);
    json_write_member_str(w, STR("operation"), code_of(&OPERATION_CODES, (int)name->operation));
    json_write_member_str(w, STR("cursorKey"), name->cursor_key);
    json_write_member_str(w, STR("scope"), code_of(&NAMESPACE_SCOPE_CODES, (int)name->scope));
    json_write_member_str(w, STR("namespaceKey"), name->namespace_key);
}

static void write_cursor(struct json_writer *w, const struct cursor *cursor,
                         const struct cursor_way *way)
{
    write_name(w, &cursor->name);
    json_write_member_str(w, STR("type"), code_of(&CURSOR_TYPE_CODES, (int)cursor->value.type));
    write_value(w, STR("value"), &cursor->value);
    if (cursor->observed_max.len > 0)
        json_write_member_str(w, STR("observedMax"), cursor->observed_max);
    if (way->has_ids)
        json_write_member_i64(w, STR("lagIds"), way->left_ids);
    if (way->is_known && way->is_campaign)
        json_write_member_instant(w, STR("endsAt"), way->end_us);
    if (way->is_known)
        json_write_member_i64(w, way->is_campaign ? STR("leftSeconds") : STR("lagSeconds"),
                              way->left_us / US_PER_SECOND);
    json_write_member_i64(w, STR("version"), cursor->version);
    json_write_member_instant(w, STR("updatedAt"), cursor->updated_us);
}

void view_cursor_list_write(struct json_writer *w, const struct view_cursor_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        json_write_object(w);
        write_cursor(w, &list->items[i].cursor, &list->items[i].way);
        json_write_member_bool(w, STR("former"), list->items[i].is_former);
        json_write_end(w);
    }
    json_write_end(w);
}

/* ---- details ---- */

static void write_holder(struct json_writer *w, const struct task *task)
{
    json_write_name(w, STR("heldBackBy"));
    json_write_object(w);
    json_write_member_i64(w, STR("taskId"), task->id);
    json_write_member_i64(w, STR("sliceId"), task->slice_id);
    json_write_member_i64(w, STR("planId"), task->plan_id);
    json_write_member_str(w, STR("status"), code_of(&TASK_STATUS_CODES, (int)task->status));
    json_write_member_bool(w, STR("isReset"), task->is_reset);
    json_write_member_str(w, STR("error"), task->last_error);
    view_write_member_window(w, STR("window"), task->window);
    json_write_end(w);
}

static void write_event(struct json_writer *w, const struct cursor_event *event)
{
    json_write_object(w);
    json_write_member_i64(w, STR("id"), event->id);
    json_write_member_instant(w, STR("at"), event->created_us);
    json_write_member_str(w, STR("reason"),
                          code_of(&CURSOR_EVENT_REASON_CODES, (int)event->reason));
    json_write_member_str(w, STR("direction"), code_of(&DIRECTION_CODES, (int)event->direction));
    if (event->has_prev)
        write_value(w, STR("prev"), &event->prev);
    write_value(w, STR("new"), &event->next);
    json_write_member_i64(w, STR("planId"), event->lineage.plan_id);
    json_write_member_i64(w, STR("taskId"), event->lineage.task_id);
    json_write_member_i64(w, STR("runId"), event->lineage.run_id);
    json_write_name(w, STR("remarks"));
    json_write_raw(w, event->remarks);
    json_write_end(w);
}

static void write_detail(struct json_writer *w, const struct cursor_view *view)
{
    json_write_object(w);
    write_cursor(w, &view->cursor, &view->way);
    if (view->has_holder)
        write_holder(w, &view->holder);
    json_write_name(w, STR("beyond"));
    json_write_array(w);
    for (size_t i = 0; i < view->beyond.count; i++)
        view_write_window(w, view->beyond.items[i]);
    json_write_end(w);
    json_write_name(w, STR("events"));
    json_write_array(w);
    for (size_t i = 0; i < view->events.count; i++)
        write_event(w, &view->events.items[i]);
    json_write_end(w);
    json_write_end(w);
}

void view_cursor_details_write(struct json_writer *w, const struct view_cursor_details *details)
{
    json_write_array(w);
    for (size_t i = 0; i < details->count; i++)
        write_detail(w, &details->items[i]);
    json_write_end(w);
}

/* ---- checks ---- */

static void write_check(struct json_writer *w, const struct cursor_check *check)
{
    json_write_object(w);
    write_name(w, &check->name);
    if (check->has_cursor)
        write_value(w, STR("value"), &check->cursor.value);
    if (check->has_replay)
        write_value(w, STR("replay"), &check->replay);
    json_write_member_i64(w, STR("events"), check->events);
    json_write_member_i64(w, STR("noForward"), check->no_forward);
    json_write_member_i64(w, STR("resets"), check->resets);
    json_write_member_i64(w, STR("gaps"), check->gaps);
    json_write_member_bool(w, STR("rebuildRequired"), !check->agrees);
    json_write_end(w);
}

void view_cursor_checks_write(struct json_writer *w, const struct view_cursor_checks *checks)
{
    json_write_array(w);
    for (size_t i = 0; i < checks->count; i++)
        write_check(w, &checks->items[i]);
    json_write_end(w);
}
