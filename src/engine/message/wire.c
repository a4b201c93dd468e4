/* Makes messages of events. */
#include "engine/message/wire.h"

#include <assert.h>
#include <inttypes.h>

#include "base/buf.h"
#include "base/instant.h"
#include "base/quote.h"
#include "data/json.h"
#include "engine/message/cloud_event.h"
#include "engine/message/envelope.h"

/* An encoded value: three characters for a byte of the longest id. */
enum { VALUE_MAX = 16 << 10 };

struct making {
    struct arena *arena;
    const struct wire_settings *settings;
    const struct stored_event *stored;
    struct wire_message *message;
    struct str aggregate_type;
    bool is_json; /* the body */
};

static bool is_foreign(const struct stored_event *stored)
{
    return stored->aggregate_type.len > 0;
}

/* ---- attributes ---- */

static bool is_header_safe(char c)
{
    return c > ' ' && c < 0x7F && c != '"' && c != '%';
}

/* CloudEvents, HTTP binding, 3.1.3.2. */
static struct str header_value(struct arena *arena, struct str value)
{
    struct buf out;

    buf_init(&out, arena, VALUE_MAX);
    for (size_t i = 0; i < value.len; i++) {
        if (is_header_safe(value.data[i]))
            buf_add_char(&out, value.data[i]);
        else
            buf_printf(&out, "%%%02X", (unsigned char)value.data[i]);
    }
    return buf_str(&out);
}

static void add(struct making *making, struct str name, struct str value)
{
    struct wire_message *message = making->message;

    assert(message->attribute_count < WIRE_ATTRIBUTES_MAX);
    message->attributes[message->attribute_count++] = (struct bus_attribute){
        name, making->settings->carrier == WIRE_HEADERS ? header_value(making->arena, value) : value
    };
}

static void add_i64(struct making *making, struct str name, int64_t value)
{
    add(making, name, arena_printf(making->arena, "%" PRId64, value));
}

static void add_own(struct making *making)
{
    const struct outbox_event *event = &making->stored->event;
    char at[INSTANT_TEXT_MAX];
    const size_t at_len = instant_format(event->occurred_us, at);

    add(making, STR("event_id"), event->event_id);
    add(making, STR("event_type"), event->event_type);
    add(making, STR("aggregate_type"), making->aggregate_type);
    add(making, STR("aggregate_id"), making->message->key);
    add_i64(making, STR("version"), event->version);
    add_i64(making, STR("schema_version"), event->schema_version);
    add(making, STR("occurred_at"), arena_copy(making->arena, (struct str){ at, at_len }));
}

/* ---- CloudEvents ---- */

/* The content type is a header or attribute of its own on every bus. */
static void add_context(struct making *making, const struct cloud_attributes *context)
{
    const char *prefix = making->settings->carrier == WIRE_KAFKA ? "ce_" : "ce-";

    for (size_t i = 0; i < context->count; i++) {
        const struct cloud_attribute *attribute = &context->items[i];

        if (!str_eq(attribute->name, STR("datacontenttype")))
            add(making, arena_printf(making->arena, "%s%.*s", prefix, STR_ARG(attribute->name)),
                attribute->value);
    }
}

static bool make_cloud_event(struct making *making, struct error *err)
{
    const struct outbox_event *event = &making->stored->event;
    const struct str source = making->settings->source;
    struct wire_message *message = making->message;
    const struct cloud_context context = { .id = event->event_id,
                                           .source = source.len > 0 ? source : STR("/patra"),
                                           .type = event->event_type,
                                           .aggregate_type = making->aggregate_type,
                                           .aggregate_id = message->key,
                                           .version = event->version,
                                           .schema_version = event->schema_version,
                                           .at_us = event->occurred_us,
                                           .content_type = message->content_type };
    struct cloud_attributes attributes;

    if (!cloud_event_attributes(making->arena, &context, &attributes, err))
        return false;
    if (making->settings->cloudevents == WIRE_CE_BINARY) {
        add_context(making, &attributes);
        return true;
    }
    message->content_type = STR("application/cloudevents+json");
    return cloud_event_json(making->arena, &attributes, message->body, making->is_json,
                            &message->body, err);
}

/* ---- the body ---- */

static bool make_body(struct making *making, struct error *err)
{
    const struct event_codec *codec = making->settings->codec;
    struct wire_message *message = making->message;

    message->content_type = STR("application/json");
    making->is_json = true;
    if (is_foreign(making->stored)) {
        message->body = making->stored->event.body;
        making->is_json = json_is_valid(message->body);
        if (!making->is_json)
            message->content_type = STR("application/octet-stream");
        return true;
    }
    if (!envelope_make(making->arena, making->stored, &message->body, err))
        return false;
    if (codec == NULL)
        return true;
    making->is_json = false;
    message->content_type = str_of(codec->content_type);
    return event_codec_encode(codec, making->arena, message->body, &message->body, err);
}

bool wire_settings_check(const struct wire_settings *settings, struct error *err)
{
    return settings->source.len == 0 || cloud_event_source_ok(settings->source) ||
           error_set(err, ERROR_REQUEST, "wire.source",
                     "%s is not a URI reference to which a path can be added",
                     QUOTE(settings->source));
}

bool wire_make(struct arena *arena, const struct wire_settings *settings,
               const struct stored_event *stored, struct wire_message *message, struct error *err)
{
    struct making making = { arena, settings, stored, message, .is_json = true };

    *message = (struct wire_message){ .event_id = stored->event.event_id };
    message->key = is_foreign(stored) ? stored->aggregate_id : stored->provider_id;
    making.aggregate_type =
        is_foreign(stored)
            ? stored->aggregate_type
            : arena_printf(arena, "%.*s/%.*s", STR_ARG(stored->source), STR_ARG(stored->endpoint));
    if (!make_body(&making, err))
        return error_wrap(err, "event %.*s", STR_ARG(stored->event.event_id));
    add_own(&making);
    if (settings->cloudevents != WIRE_CE_NONE && !make_cloud_event(&making, err))
        return error_wrap(err, "event %.*s", STR_ARG(stored->event.event_id));
    return !arena->failed || arena_error(arena, err);
}
