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

/* What the lines of an endpoint begin with: {"source":...,"endpoint":...,"id": */
struct jsonl {
    struct buf endpoint;
    struct buf head;
};

static bool begin(struct export_writer *writer, struct error *err)
{
    struct jsonl *jsonl = ARENA_NEW(&writer->arena, struct jsonl);

    if (jsonl == NULL)
        return arena_error(&writer->arena, err);
    buf_init(&jsonl->endpoint, &writer->arena, writer->out.limit);
    buf_init(&jsonl->head, &writer->arena, writer->out.limit);
    writer->own = jsonl;
    return true;
}

static bool end(struct export_writer *writer, struct error *err)
{
    (void)writer;
    (void)err;
    return true;
}

static bool add_head(struct export_writer *writer, struct str endpoint, struct error *err)
{
    struct jsonl *jsonl = writer->own;
    struct buf *head = &jsonl->head;

    if (head->len == 0 || !str_eq(buf_str(&jsonl->endpoint), endpoint)) {
        buf_clear(&jsonl->endpoint);
        buf_add(&jsonl->endpoint, endpoint);
        buf_clear(head);
        buf_add(head, STR("{\"source\":"));
        json_quote(head, writer->shape.source);
        buf_add(head, STR(",\"endpoint\":"));
        json_quote(head, endpoint);
        buf_add(head, STR(",\"id\":"));
        if (!buf_ok(&jsonl->endpoint, err) || !buf_ok(head, err))
            return false;
    }
    buf_add(&writer->out, buf_str(head));
    return true;
}

static char *put(char *at, struct str text)
{
    memcpy(at, text.data, text.len);
    return at + text.len;
}

static char *put_instant(char *at, int64_t at_us)
{
    *at++ = '"';
    at += instant_format(at_us, at);
    *at++ = '"';
    return at;
}

/* By hand, in few pieces: there are millions of them, and all names are known. */
static void add_state(struct buf *out, const struct record_entry *entry)
{
    char text[64 + 2 * INSTANT_TEXT_MAX], *at = text;

    json_quote(out, entry->provider_id);
    buf_add(out, STR(",\"version\":"));
    buf_add_i64(out, entry->version);
    if (entry->has_updated)
        at = put_instant(put(at, STR(",\"updatedAt\":")), entry->updated_us);
    if (entry->provider_version.len > 0) {
        buf_add(out, (struct str){ text, (size_t)(at - text) });
        at = text;
        buf_add(out, STR(",\"providerVersion\":"));
        json_quote(out, entry->provider_version);
    }
    at = put_instant(put(at, STR(",\"createdAt\":")), entry->created_us);
    at = put(at, entry->is_deleted ? STR(",\"deleted\":true") : STR(",\"deleted\":false"));
    buf_add(out, (struct str){ text, (size_t)(at - text) });
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

    if (!add_head(writer, item->entry->endpoint, err))
        return false;
    add_state(out, item->entry);
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
    .begin = begin,
    .record = add_record,
    .end = end,
};
