/* Quarantine: gathered with its sums, and written as JSON. */
#include "view/quarantine.h"

#include <inttypes.h>

#include "data/base64.h"
#include "view/members.h"

bool view_quarantine_list(const struct view_reader *reader, const struct quarantine_filter *filter,
                          struct view_quarantine_list *list, struct error *err)
{
    struct quarantined_list records;

    *list = (struct view_quarantine_list){ 0 };
    if (!store_quarantine_list(reader->store, reader->arena, filter, &records, err) ||
        (records.count == 0 && !view_source_check(reader, filter->source, err)) ||
        !store_quarantine_sums(reader->store, reader->arena, filter->source, &list->sums, err))
        return false;
    list->items = records.items;
    list->count = records.count;
    list->is_full = (int64_t)records.count == filter->limit;
    return true;
}

struct str view_quarantine_state(const struct quarantined *record)
{
    return record->resolution == QUARANTINE_OPEN ? STR("OPEN")
                                                 : quarantine_resolution_word(record->resolution);
}

bool view_quarantined(const struct view_reader *reader, int64_t id, struct quarantined *record,
                      struct error *err)
{
    bool found;

    if (!store_quarantine_get(reader->store, reader->arena, id, record, &found, err))
        return false;
    return found || error_set(err, ERROR_REQUEST, "quarantine.unknown",
                              "there is no quarantined record %" PRId64, id);
}

/* ---- JSON ---- */

static void write_members(struct json_writer *w, const struct quarantined *record)
{
    json_write_member_i64(w, STR("id"), record->id);
    json_write_member_str(w, STR("source"), record->source);
    json_write_member_str(w, STR("endpoint"), record->endpoint);
    json_write_member_str(w, STR("recordId"), record->provider_id);
    json_write_member_str(w, STR("reason"), record->reason);
    json_write_member_str(w, STR("detail"), record->detail);
    json_write_member_instant(w, STR("since"), record->created_us);
    json_write_member_i64(w, STR("position"), record->position);
    json_write_member_i64(w, STR("bytes"), record->bytes);
    view_write_lineage(w, &record->lineage);
    json_write_member_str(w, STR("state"), view_quarantine_state(record));
    if (record->resolution == QUARANTINE_OPEN)
        return;
    json_write_member_instant(w, STR("resolvedAt"), record->resolved_us);
    json_write_member_str(w, STR("resolvedBy"), record->resolved_by);
    json_write_member_str(w, STR("note"), record->note);
}

void view_quarantine_list_write(struct json_writer *w, const struct view_quarantine_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        json_write_object(w);
        write_members(w, &list->items[i]);
        json_write_end(w);
    }
    json_write_end(w);
}

bool view_quarantined_write(struct json_writer *w, struct arena *arena,
                            const struct quarantined *record, struct error *err)
{
    struct buf coded;

    json_write_object(w);
    write_members(w, record);
    buf_init(&coded, arena, 2 * record->payload.len + 16);
    if (str_is_utf8(record->payload)) {
        json_write_member_str(w, STR("payload"), record->payload);
    } else {
        base64_encode(&coded, record->payload);
        json_write_member_str(w, STR("payloadBase64"), buf_str(&coded));
    }
    json_write_end(w);
    return buf_ok(&coded, err);
}
