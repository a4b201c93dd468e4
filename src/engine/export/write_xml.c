/* XML: one root, an element per record.
 *
 *      <records source="pubmed">
 *      <record endpoint="search" id="1" version="2" updatedAt="..." deleted="false"><PubmedArticle>
 *      ...</PubmedArticle></record>
 *      <record ... deleted="true"/>
 *      </records>
 *
 * A stored XML record stands alone, with the namespaces that it uses, so it can stand in any
 * element. With fields: <field name="title">a text</field>, a list as <item>s, an object as its
 * JSON. A character that XML cannot contain becomes U+FFFD. */
#include <inttypes.h>

#include "base/instant.h"
#include "data/json.h"
#include "engine/export/writer.h"

#define REPLACEMENT STR("\xef\xbf\xbd")

static void add_escaped(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.data[i];

        if (c == '&')
            buf_add(out, STR("&amp;"));
        else if (c == '<')
            buf_add(out, STR("&lt;"));
        else if (c == '>')
            buf_add(out, STR("&gt;"));
        else if (c == '"')
            buf_add(out, STR("&quot;"));
        else if (c == '\t' || c == '\n' || c == '\r')
            buf_printf(out, "&#%d;", c);
        else if (c < ' ')
            buf_add(out, REPLACEMENT);
        else if (c == 0xEF && i + 2 < text.len && (unsigned char)text.data[i + 1] == 0xBF &&
                 (unsigned char)text.data[i + 2] >= 0xBE) { /* U+FFFE and U+FFFF */
            buf_add(out, REPLACEMENT);
            i += 2;
        } else
            buf_add_char(out, (char)c);
    }
}

static void add_attribute(struct buf *out, const char *name, struct str value)
{
    buf_printf(out, " %s=\"", name);
    add_escaped(out, value);
    buf_add_char(out, '"');
}

static bool begin(struct export_writer *writer, struct error *err)
{
    (void)err;
    buf_add(&writer->out, STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<records"));
    add_attribute(&writer->out, "source", writer->shape.source);
    buf_add(&writer->out, STR(">\n"));
    return true;
}

static void add_open(struct buf *out, const struct record_entry *entry)
{
    char date[INSTANT_TEXT_MAX];

    buf_add(out, STR("<record"));
    add_attribute(out, "endpoint", entry->endpoint);
    add_attribute(out, "id", entry->provider_id);
    buf_printf(out, " version=\"%" PRId64 "\"", entry->version);
    if (entry->has_updated)
        add_attribute(out, "updatedAt",
                      (struct str){ date, instant_format(entry->updated_us, date) });
    if (entry->provider_version.len > 0)
        add_attribute(out, "providerVersion", entry->provider_version);
    buf_printf(out, " deleted=\"%s\"", entry->is_deleted ? "true" : "false");
}

/* ---- fields ---- */

static bool add_scalar(struct buf *out, struct arena *arena, const struct json_doc *doc,
                       struct json_node node, struct error *err)
{
    struct str text = json_raw(doc, node);

    if (json_type(doc, node) == JSON_NULL)
        return true;
    if (json_type(doc, node) == JSON_STRING && !json_string(doc, node, arena, &text, err))
        return false;
    add_escaped(out, text);
    return true;
}

static bool add_items(struct buf *out, struct arena *arena, const struct json_doc *doc,
                      struct json_node list, struct error *err)
{
    struct json_iter it;

    for (it = json_each(doc, list); json_next(&it);) {
        buf_add(out, STR("<item>"));
        if (!add_scalar(out, arena, doc, it.value, err))
            return false;
        buf_add(out, STR("</item>"));
    }
    return true;
}

static bool add_fields(struct buf *out, const struct export_item *item, struct error *err)
{
    struct json_doc doc;
    struct json_iter it;
    struct str name;

    if (item->fields.len == 0)
        return true;
    if (!json_parse(&doc, item->arena, item->fields, err))
        return false;
    for (it = json_each(&doc, json_root(&doc)); json_next(&it);) {
        const bool is_list = json_type(&doc, it.value) == JSON_ARRAY;

        if (!json_string(&doc, it.name, item->arena, &name, err))
            return false;
        buf_add(out, STR("<field"));
        add_attribute(out, "name", name);
        buf_add_char(out, '>');
        if (is_list ? !add_items(out, item->arena, &doc, it.value, err)
                    : !add_scalar(out, item->arena, &doc, it.value, err))
            return false;
        buf_add(out, STR("</field>"));
    }
    return true;
}

/* ---- records ---- */

static bool add_payload(struct buf *out, const struct record_entry *entry, struct error *err)
{
    if (!export_is_xml(entry->payload) || !str_is_utf8(entry->payload))
        return error_set(err, ERROR_REQUEST, "export.format",
                         "record %.*s of %.*s is not XML: export it as jsonl, or its fields with "
                         "--fields-only",
                         STR_ARG(entry->provider_id), STR_ARG(entry->endpoint));
    buf_add(out, entry->payload);
    return true;
}

static bool add_record(struct export_writer *writer, const struct export_item *item,
                       struct error *err)
{
    struct buf *out = &writer->out;

    add_open(out, item->entry);
    if (item->entry->is_deleted) {
        buf_add(out, STR("/>\n"));
        return true;
    }
    buf_add_char(out, '>');
    if (writer->shape.with_fields ? !add_fields(out, item, err)
                                  : !add_payload(out, item->entry, err))
        return false;
    buf_add(out, STR("</record>\n"));
    return true;
}

static bool end(struct export_writer *writer, struct error *err)
{
    (void)err;
    buf_add(&writer->out, STR("</records>\n"));
    return true;
}

const struct export_format EXPORT_XML = {
    .name = "xml",
    .begin = begin,
    .record = add_record,
    .end = end,
};
