/* Records as JSON. */
#include "data/base64.h"
#include "engine/message/envelope.h"
#include "view/members.h"
#include "view/record.h"

static void write_fields(struct json_writer *w, const struct derived_fields *fields)
{
    if (fields->json.len > 0) {
        json_write_name(w, STR("fields"));
        json_write_raw(w, fields->json);
    } else {
        json_write_member_str(w, STR("fieldsMissing"), fields->missing);
    }
}

void view_record_entry_write(struct json_writer *w, const struct record_entry *entry,
                             const struct derived_fields *fields)
{
    json_write_object(w);
    json_write_member_str(w, STR("id"), entry->provider_id);
    json_write_member_str(w, STR("endpoint"), entry->endpoint);
    json_write_member_i64(w, STR("version"), entry->version);
    if (entry->has_updated)
        json_write_member_instant(w, STR("updatedAt"), entry->updated_us);
    if (entry->provider_version.len > 0)
        json_write_member_str(w, STR("providerVersion"), entry->provider_version);
    json_write_member_bool(w, STR("deleted"), entry->is_deleted);
    if (entry->changed_us != 0)
        json_write_member_instant(w, STR("changedAt"), entry->changed_us);
    json_write_member_instant(w, STR("createdAt"), entry->created_us);
    json_write_member_i64(w, STR("bytes"), entry->bytes);
    if (fields != NULL)
        write_fields(w, fields);
    json_write_end(w);
}

void view_record_list_write(struct json_writer *w, const struct view_record_list *list)
{
    json_write_object(w);
    json_write_name(w, STR("records"));
    json_write_array(w);
    for (size_t i = 0; i < list->records.count; i++)
        view_record_entry_write(w, &list->records.items[i], NULL);
    json_write_end(w);
    if (list->next.len > 0)
        json_write_member_str(w, STR("next"), list->next);
    json_write_end(w);
}

void view_record_counts_write(struct json_writer *w, const struct view_record_count_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        const struct view_record_count *count = &list->items[i];

        json_write_object(w);
        json_write_member_str(w, STR("source"), count->records.source);
        json_write_member_str(w, STR("endpoint"), count->records.endpoint);
        json_write_member_i64(w, STR("records"), count->records.live);
        json_write_member_i64(w, STR("deleted"), count->records.deleted);
        json_write_member_i64(w, STR("quarantined"), count->quarantined);
        json_write_end(w);
    }
    json_write_end(w);
}

/* ---- one ---- */

static void write_state(struct json_writer *w, const struct view_record *view)
{
    const struct stored_record *record = &view->record;

    json_write_member_str(w, STR("source"), record->source);
    json_write_member_str(w, STR("endpoint"), record->endpoint);
    json_write_member_str(w, STR("id"), record->provider_id);
    json_write_member_i64(w, STR("version"), record->version);
    if (record->has_updated)
        json_write_member_instant(w, STR("updatedAt"), record->updated_us);
    if (record->provider_version.len > 0)
        json_write_member_str(w, STR("providerVersion"), record->provider_version);
    json_write_member_bool(w, STR("deleted"), record->is_deleted);
    if (view->changed_us != 0)
        json_write_member_instant(w, STR("changedAt"), view->changed_us);
    json_write_member_instant(w, STR("createdAt"), record->created_us);
    json_write_member_instant(w, STR("observedAt"), record->observed_us);
    json_write_member_instant(w, STR("checkedAt"), record->checked_us);
    json_write_member_str(w, STR("contentHash"), record->content_hash);
    json_write_member_str(w, STR("exprHash"), record->expr_hash);
    view_write_lineage(w, &record->lineage);
}

/* JSON as it is; other text as a string; other bytes coded. */
static void write_bytes(struct json_writer *w, struct buf *coded, struct str payload)
{
    if (json_is_valid(payload)) {
        json_write_name(w, STR("payload"));
        json_write_raw(w, payload);
    } else if (str_is_utf8(payload)) {
        json_write_member_str(w, STR("payload"), payload);
    } else {
        base64_encode(coded, payload);
        json_write_member_str(w, STR("payloadBase64"), buf_str(coded));
    }
}

static bool write_event(struct json_writer *w, struct arena *arena,
                        const struct stored_event *stored, struct error *err)
{
    const struct outbox_event *event = &stored->event;
    struct str published;

    if (!envelope_make(arena, stored, &published, err))
        return error_wrap(err, "event %.*s", STR_ARG(event->event_id));
    json_write_object(w);
    json_write_member_str(w, STR("event"), event->event_id);
    json_write_member_str(w, STR("type"), event->event_type);
    json_write_member_i64(w, STR("version"), event->version);
    json_write_member_instant(w, STR("at"), event->occurred_us);
    json_write_name(w, STR("body"));
    json_write_raw(w, published);
    json_write_end(w);
    return true;
}

static bool write_history(struct json_writer *w, struct arena *arena,
                          const struct view_record *view, struct error *err)
{
    if (!view->has_history)
        return true;
    json_write_name(w, STR("history"));
    json_write_array(w);
    for (size_t i = 0; i < view->history.count; i++) {
        if (!write_event(w, arena, &view->history.items[i], err))
            return false;
    }
    json_write_end(w);
    return true;
}

bool view_record_write(struct json_writer *w, struct arena *arena, const struct view_record *view,
                       struct error *err)
{
    struct buf coded;

    buf_init(&coded, arena, 2 * view->record.payload.len + 16);
    json_write_object(w);
    write_state(w, view);
    write_fields(w, &view->fields);
    if (!write_history(w, arena, view, err))
        return false;
    write_bytes(w, &coded, view->record.payload);
    json_write_end(w);
    return buf_ok(&coded, err);
}
