/* CSV (RFC 4180): a header, then a row per record, ended by CR LF.
 *
 *      record_endpoint,record_id,record_version,record_updated_at,record_deleted,FIELD,...
 *
 * A text is as it is; a number and a truth value as in JSON; a list or an object is its JSON, so
 * that no separator can be mistaken. Nothing at all is a field that is absent or null; "" is an
 * empty text. */
#include "base/instant.h"
#include "data/json.h"
#include "engine/export/writer.h"

static bool must_quote(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"' || text.data[i] == ',' || text.data[i] == '\r' ||
            text.data[i] == '\n')
            return true;
    }
    return text.len == 0 || text.data[0] == ' ' || text.data[text.len - 1] == ' ';
}

static void add_text(struct buf *out, struct str text)
{
    if (!must_quote(text)) {
        buf_add(out, text);
        return;
    }
    buf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"')
            buf_add_char(out, '"');
        buf_add_char(out, text.data[i]);
    }
    buf_add_char(out, '"');
}

static bool begin(struct export_writer *writer, struct error *err)
{
    const struct export_columns *columns = &writer->shape.columns;

    if (!export_columns_check(columns, err))
        return false;
    for (size_t i = 0; i < OWN_COLUMNS; i++) {
        if (i > 0)
            buf_add_char(&writer->out, ',');
        buf_add(&writer->out, EXPORT_OWN_COLUMNS[i]);
    }
    for (size_t i = 0; i < columns->count; i++) {
        buf_add_char(&writer->out, ',');
        add_text(&writer->out, columns->items[i].name);
    }
    buf_add(&writer->out, STR("\r\n"));
    return true;
}

static void add_state(struct buf *out, const struct record_entry *entry)
{
    char date[INSTANT_TEXT_MAX];

    add_text(out, entry->endpoint);
    buf_add_char(out, ',');
    add_text(out, entry->provider_id);
    buf_add_char(out, ',');
    buf_add_i64(out, entry->version);
    buf_add_char(out, ',');
    if (entry->has_updated)
        buf_add(out, (struct str){ date, instant_format(entry->updated_us, date) });
    buf_add(out, entry->is_deleted ? STR(",true") : STR(",false"));
}

static bool add_value(struct buf *out, struct arena *arena, const struct json_doc *doc,
                      struct json_node node, struct error *err)
{
    struct str text;

    switch (json_type(doc, node)) {
    case JSON_NONE:
    case JSON_NULL:
        return true;
    case JSON_STRING:
        if (!json_string(doc, node, arena, &text, err))
            return false;
        add_text(out, text);
        return true;
    case JSON_BOOL:
    case JSON_NUMBER:
    case JSON_ARRAY:
    case JSON_OBJECT:
        add_text(out, json_raw(doc, node));
        return true;
    }
    return true;
}

static bool add_record(struct export_writer *writer, const struct export_item *item,
                       struct error *err)
{
    const struct export_columns *columns = &writer->shape.columns;
    const struct str fields = item->fields.len > 0 ? item->fields : STR("{}");
    struct json_doc doc;

    add_state(&writer->out, item->entry);
    if (!json_parse(&doc, item->arena, fields, err))
        return false;
    for (size_t i = 0; i < columns->count; i++) {
        buf_add_char(&writer->out, ',');
        if (!add_value(&writer->out, item->arena, &doc,
                       json_get(&doc, json_root(&doc), columns->items[i].name), err))
            return false;
    }
    buf_add(&writer->out, STR("\r\n"));
    return true;
}

static bool end(struct export_writer *writer, struct error *err)
{
    (void)writer;
    (void)err;
    return true;
}

const struct export_format EXPORT_CSV = {
    .name = "csv",
    .needs_fields = true,
    .begin = begin,
    .record = add_record,
    .end = end,
};
