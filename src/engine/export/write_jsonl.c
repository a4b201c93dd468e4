/* JSON Lines: a record per line, {"source","endpoint","id","version",...,"payload"|"fields"}.
 *
 * The payload is what was received, but for line breaks, which in JSON can only stand between
 * values: they become blanks. It was valid when it was stored, and is not read again. XML is a
 * string. A tombstone has neither payload nor fields. */
#include <string.h>

#include "base/instant.h"
#include "data/base64.h"
#include "data/json_write.h"
#include "engine/export/writer.h"

static bool nothing(struct export_writer *writer, struct error *err)
{
    (void)writer;
    (void)err;
    return true;
}

static void add_instant(struct buf *out, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];

    buf_add_char(out, '"');
    buf_add(out, (struct str){ text, instant_format(at_us, text) });
    buf_add_char(out, '"');
}

/* By hand: there are millions of them, and all names are known. */
static void add_envelope(struct buf *out, const struct export_writer *writer,
                         const struct record_entry *entry)
{
    buf_add(out, STR("{\"source\":"));
    json_quote(out, writer->shape.source);
    buf_add(out, STR(",\"endpoint\":"));
    json_quote(out, entry->endpoint);
    buf_add(out, STR(",\"id\":"));
    json_quote(out, entry->provider_id);
    buf_add(out, STR(",\"version\":"));
    buf_add_i64(out, entry->version);
    if (entry->has_updated) {
        buf_add(out, STR(",\"updatedAt\":"));
        add_instant(out, entry->updated_us);
    }
    if (entry->provider_version.len > 0) {
        buf_add(out, STR(",\"providerVersion\":"));
        json_quote(out, entry->provider_version);
    }
    buf_add(out, STR(",\"createdAt\":"));
    add_instant(out, entry->created_us);
    buf_add(out, entry->is_deleted ? STR(",\"deleted\":true") : STR(",\"deleted\":false"));
}

static bool has_break(struct str json)
{
    return memchr(json.data, '\n', json.len) != NULL || memchr(json.data, '\r', json.len) != NULL;
}

static bool add_line(struct buf *out, struct arena *arena, struct str json, struct error *err)
{
    char *copy;

    if (!has_break(json)) {
        buf_add(out, json);
        return true;
    }
    copy = arena_alloc_raw(arena, json.len);
    if (copy == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < json.len; i++)
        copy[i] = json.data[i] == '\n' || json.data[i] == '\r' ? ' ' : json.data[i];
    buf_add(out, (struct str){ copy, json.len });
    return true;
}

static bool add_payload(struct buf *out, const struct export_item *item, struct error *err)
{
    const struct str payload = item->entry->payload;
    struct buf coded;

    if (!export_is_xml(payload)) {
        buf_add(out, STR(",\"payload\":"));
        return add_line(out, item->arena, payload, err);
    }
    if (str_is_utf8(payload)) {
        buf_add(out, STR(",\"payload\":"));
        json_quote(out, payload);
        return true;
    }
    buf_init(&coded, item->arena, 2 * payload.len + 16);
    base64_encode(&coded, payload);
    buf_add(out, STR(",\"payloadBase64\":"));
    json_quote(out, buf_str(&coded));
    return buf_ok(&coded, err);
}

static bool add_record(struct export_writer *writer, const struct export_item *item,
                       struct error *err)
{
    struct buf *out = &writer->out;

    add_envelope(out, writer, item->entry);
    if (!item->entry->is_deleted && writer->shape.with_fields) {
        buf_add(out, STR(",\"fields\":"));
        if (!add_line(out, item->arena, item->fields.len > 0 ? item->fields : STR("null"), err))
            return false;
    } else if (!item->entry->is_deleted && !add_payload(out, item, err)) {
        return false;
    }
    buf_add(out, STR("}\n"));
    return true;
}

const struct export_format EXPORT_JSONL = {
    .name = "jsonl",
    .begin = nothing,
    .record = add_record,
    .end = nothing,
};
