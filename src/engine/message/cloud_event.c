/* The context of CloudEvents 1.0.2. */
#include "engine/message/cloud_event.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "core/limits.h"
#include "data/base64.h"
#include "data/json_write.h"
#include "data/url.h"
#include "data/utf8.h"

/* An id of 1,024 bytes, each of them encoded, and more. */
enum { TEXT_MAX = 16 << 10, REST_MAX = 64 << 10 };

/* ---- texts ---- */

static bool is_allowed(uint32_t point)
{
    return point >= 0x20 && (point < 0x7F || point > 0x9F) && (point < 0xFDD0 || point > 0xFDEF) &&
           (point & 0xFFFE) != 0xFFFE;
}

static struct str text_of(struct arena *arena, struct str text)
{
    const char *const end = text.data + text.len;
    struct buf out;

    buf_init(&out, arena, TEXT_MAX);
    for (const char *at = text.data; at < end;) {
        const char *const from = at;

        if (is_allowed(utf8_next(&at, end))) {
            buf_add(&out, (struct str){ from, (size_t)(at - from) });
            continue;
        }
        for (const char *byte = from; byte < at; byte++)
            buf_printf(&out, "%%%02X", (unsigned char)*byte);
    }
    return buf_str(&out);
}

/* What a source begins with, and the aggregate's type as path segments. */
static struct str source_of(struct arena *arena, const struct cloud_context *context)
{
    struct str rest = context->aggregate_type;
    struct buf out;

    buf_init(&out, arena, TEXT_MAX);
    buf_add(&out, context->source);
    while (out.len > 0 && out.data[out.len - 1] == '/')
        out.len--;
    while (rest.len > 0) {
        buf_add_char(&out, '/');
        url_encode(&out, str_cut(&rest, '/'), URL_PATH);
    }
    return buf_str(&out);
}

bool cloud_event_source_ok(struct str source)
{
    if (source.len == 0 || source.len > 1024)
        return false;
    for (size_t i = 0; i < source.len; i++) {
        const char c = source.data[i];

        if (c <= ' ' || c >= 0x7F || strchr("\"<>\\^`{|}?#", c) != NULL)
            return false;
        if (c == '%' && !url_is_escape(source, i))
            return false;
    }
    /* A first segment with a colon is a scheme. */
    return source.data[0] != ':' && (source.data[0] < '0' || source.data[0] > '9');
}

/* ---- attributes ---- */

static void add(struct cloud_attributes *list, struct str name, struct str value)
{
    list->items[list->count++] = (struct cloud_attribute){ .name = name, .value = value };
}

bool cloud_event_attributes(struct arena *arena, const struct cloud_context *context,
                            struct cloud_attributes *list, struct error *err)
{
    const struct str subject = text_of(arena, context->aggregate_id);

    list->count = 0;
    add(list, STR("specversion"), STR("1.0"));
    add(list, STR("id"), context->id);
    add(list, STR("source"), source_of(arena, context));
    add(list, STR("type"), text_of(arena, context->type));
    add(list, STR("subject"), subject);
    add(list, STR("time"), text_instant_in(arena, context->at_us));
    add(list, STR("datacontenttype"), context->content_type);
    add(list, STR("partitionkey"), subject);
    add(list, STR("aggregatetype"), text_of(arena, context->aggregate_type));
    add(list, STR("version"), arena_printf(arena, "%" PRId64, context->version));
    add(list, STR("schemaversion"), arena_printf(arena, "%" PRId64, context->schema_version));
    list->items[list->count - 1].is_number = true;
    return !arena->failed || arena_error(arena, err);
}

bool cloud_event_json(struct arena *arena, const struct cloud_attributes *attributes,
                      struct str data, bool is_json, struct str *json, struct error *err)
{
    struct json_writer w;
    struct buf out, coded;

    buf_init(&out, arena, 2 * ((size_t)EVENT_BYTES_MAX + REST_MAX));
    buf_init(&coded, arena, 2 * ((size_t)EVENT_BYTES_MAX + REST_MAX));
    json_writer_init(&w, &out);
    json_write_object(&w);
    for (size_t i = 0; i < attributes->count; i++) {
        const struct cloud_attribute *attribute = &attributes->items[i];

        json_write_name(&w, attribute->name);
        if (attribute->is_number)
            json_write_raw(&w, attribute->value);
        else
            json_write_str(&w, attribute->value);
    }
    if (is_json) {
        json_write_name(&w, STR("data"));
        json_write_raw(&w, data);
    } else {
        base64_encode(&coded, data);
        json_write_member_str(&w, STR("data_base64"), buf_str(&coded));
    }
    json_write_end(&w);
    json_writer_finish(&w);
    *json = buf_str(&out);
    return buf_ok(&coded, err) && buf_ok(&out, err);
}
