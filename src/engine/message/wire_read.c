/* Attributes by their names, and the body as JSON. */
#include "engine/message/wire_read.h"

#include <stdint.h>

#include "base/buf.h"
#include "base/hex.h"
#include "base/quote.h"
#include "data/base64.h"
#include "data/date.h"
#include "data/json.h"
#include "data/url.h"

struct reading {
    struct arena *arena;
    const struct wire_settings *settings;
    const struct bus_message *message;
    struct error *err;
    bool failed; /* *err says why */
};

static void fail(struct reading *r, const char *name, const char *what)
{
    if (!r->failed)
        (void)error_set(r->err, ERROR_DATA, "message.attribute", "the message's %s %s", name, what);
    r->failed = true;
}

static struct str attribute(struct reading *r, const char *name)
{
    for (size_t i = 0; i < r->message->attribute_count; i++) {
        const struct bus_attribute *a = &r->message->attributes[i];

        if (!str_eq(a->name, str_of(name)))
            continue;
        if (a->value.len > 0) /* CloudEvents, HTTP binding, 3.1.3.2 */
            return r->settings->carrier == WIRE_HEADERS ? url_decode(r->arena, a->value, URL_PATH)
                                                        : a->value;
    }
    fail(r, name, "is missing");
    return STR("");
}

static struct str id_of(struct reading *r)
{
    static const char FORM[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    const struct str id = attribute(r, "event_id");
    bool is_id = id.len == sizeof(FORM) - 1;

    for (size_t i = 0; is_id && i < id.len; i++)
        is_id = FORM[i] == '-' ? id.data[i] == '-' : hex_small_digit(id.data[i]) >= 0;
    if (!is_id)
        fail(r, "event_id", "is not a UUID");
    return id;
}

static int64_t version_of(struct reading *r)
{
    const struct str text = attribute(r, "version");
    int64_t version = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || version > INT64_MAX / 10 - 1) {
            fail(r, "version", "is not a version");
            return 0;
        }
        version = version * 10 + (text.data[i] - '0');
    }
    if (version < 1)
        fail(r, "version", "is not a version");
    return version;
}

static int64_t instant_of(struct reading *r)
{
    struct date date = { 0 };
    struct error ignored;

    if (!date_parse(date_format_find(STR("rfc3339")), attribute(r, "occurred_at"), &date, &ignored))
        fail(r, "occurred_at", "is not a time");
    return date.at_us;
}

/* ---- the body ---- */

static bool is_type(struct str content_type, const char *name)
{
    struct str rest = content_type;

    return str_eq(str_trim(str_cut(&rest, ';')), str_of(name));
}

static bool is_coded(const struct reading *r, struct str content_type)
{
    const struct event_codec *codec = r->settings->codec;

    return codec != NULL && is_type(content_type, codec->content_type);
}

static bool decode(struct reading *r, struct str bytes, struct str *body)
{
    return event_codec_decode(r->settings->codec, r->arena, bytes, body, r->err) ||
           error_wrap(r->err, "read a body of %s", r->settings->codec->content_type);
}

/* A member that is a text; empty where there is none. */
static struct str text_of(struct reading *r, const struct json_doc *doc, struct str name)
{
    const struct json_node node = json_get(doc, json_root(doc), name);
    struct str text = { 0 };
    struct error unread;

    if (json_type(doc, node) != JSON_STRING || !json_string(doc, node, r->arena, &text, &unread))
        return (struct str){ 0 };
    return text;
}

/* The bytes that a structured CloudEvent has as a text. */
static bool decode_base64(struct reading *r, const struct json_doc *doc, struct str *body)
{
    const struct str text = text_of(r, doc, STR("data_base64"));
    char *bytes;
    size_t len;

    if (!is_coded(r, text_of(r, doc, STR("datacontenttype"))))
        return error_set(r->err, ERROR_DATA, "message.body",
                         "the CloudEvent has no data in the format of this bus");
    bytes = arena_alloc_raw(r->arena, text.len + 1);
    if (bytes == NULL)
        return arena_error(r->arena, r->err);
    if (!base64_decode(text, bytes, text.len, &len))
        return error_set(r->err, ERROR_DATA, "message.body",
                         "the data of the CloudEvent is not base64");
    return decode(r, (struct str){ bytes, len }, body);
}

static bool read_data(struct reading *r, struct str *body)
{
    struct json_doc doc;
    struct json_node data;

    if (!json_parse(&doc, r->arena, r->message->body, r->err)) {
        r->err->level = ERROR_DATA;
        return error_wrap(r->err, "read a CloudEvent");
    }
    data = json_get(&doc, json_root(&doc), STR("data"));
    if (!json_exists(data))
        return decode_base64(r, &doc, body);
    *body = json_raw(&doc, data);
    return true;
}

static bool read_body(struct reading *r, struct str *body)
{
    const struct str type = r->message->content_type;

    *body = r->message->body;
    if (is_type(type, "application/cloudevents+json"))
        return read_data(r, body);
    if (is_coded(r, type))
        return decode(r, *body, body);
    if (type.len > 0 && !is_type(type, "application/json"))
        return error_set(r->err, ERROR_DATA, "message.body",
                         "a body of %s is not in the format of this bus", QUOTE(type));
    return json_is_valid(*body) ||
           error_set(r->err, ERROR_DATA, "message.body", "the body is not JSON");
}

bool wire_is_probe(const struct bus_message *message)
{
    for (size_t i = 0; i < message->attribute_count; i++) {
        if (str_eq(message->attributes[i].name, STR("event_type")))
            return str_eq(message->attributes[i].value, STR(WIRE_PROBE_TYPE));
    }
    return false;
}

bool wire_read(struct arena *arena, const struct wire_settings *settings,
               const struct bus_message *message, struct wire_event *event, struct error *err)
{
    struct reading r = { .arena = arena, .settings = settings, .message = message, .err = err };

    *event = (struct wire_event){ .event_id = id_of(&r),
                                  .event_type = attribute(&r, "event_type"),
                                  .aggregate_type = attribute(&r, "aggregate_type"),
                                  .aggregate_id = attribute(&r, "aggregate_id"),
                                  .version = version_of(&r),
                                  .occurred_us = instant_of(&r) };
    if (arena->failed)
        return arena_error(arena, err);
    return !r.failed && read_body(&r, &event->body);
}
