/* Spans as OTLP/JSON. 64-bit numbers are strings there. */
#include "data/otlp.h"

#include <inttypes.h>
#include <stdio.h>

#include "data/json_write.h"

static void write_number(struct json_writer *w, struct str name, int64_t number, const char *zeros)
{
    char text[40];
    const int len = snprintf(text, sizeof(text), "%" PRId64 "%s", number, zeros);

    json_write_member_str(w, name, (struct str){ text, (size_t)len });
}

static void write_attribute(struct json_writer *w, const char *key, const char *text,
                            const int64_t *number)
{
    json_write_object(w);
    json_write_member_str(w, STR("key"), str_of(key));
    json_write_name(w, STR("value"));
    json_write_object(w);
    if (number != NULL)
        write_number(w, STR("intValue"), *number, "");
    else
        json_write_member_str(w, STR("stringValue"), str_of(text));
    json_write_end(w);
    json_write_end(w);
}

static void write_span(struct json_writer *w, const struct span *span)
{
    json_write_object(w);
    json_write_member_str(w, STR("traceId"), str_of(span->context.trace));
    json_write_member_str(w, STR("spanId"), str_of(span->context.span));
    if (span->parent[0] != '\0')
        json_write_member_str(w, STR("parentSpanId"), str_of(span->parent));
    json_write_member_str(w, STR("name"), str_of(span->name));
    json_write_member_i64(w, STR("kind"), (int64_t)span->kind);
    write_number(w, STR("startTimeUnixNano"), span->begin_us, "000");
    write_number(w, STR("endTimeUnixNano"),
                 span->end_us > span->begin_us ? span->end_us : span->begin_us, "000");
    json_write_name(w, STR("attributes"));
    json_write_array(w);
    for (size_t i = 0; i < span->count; i++) {
        const struct span_attribute *a = &span->attributes[i];

        write_attribute(w, a->key, a->text, a->is_number ? &a->number : NULL);
    }
    json_write_end(w);
    if (span->is_error) {
        json_write_name(w, STR("status"));
        json_write_object(w);
        json_write_member_i64(w, STR("code"), 2);
        json_write_member_str(w, STR("message"), str_of(span->error));
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_text(struct json_writer *w, const char *key, struct str value)
{
    json_write_object(w);
    json_write_member_str(w, STR("key"), str_of(key));
    json_write_name(w, STR("value"));
    json_write_object(w);
    json_write_member_str(w, STR("stringValue"), value);
    json_write_end(w);
    json_write_end(w);
}

static void write_resource(struct json_writer *w, const struct otlp_resource *resource)
{
    json_write_name(w, STR("resource"));
    json_write_object(w);
    json_write_name(w, STR("attributes"));
    json_write_array(w);
    write_text(w, "service.name", resource->service);
    write_text(w, "service.version", resource->version);
    write_text(w, "service.instance.id", resource->instance);
    json_write_end(w);
    json_write_end(w);
}

static void begin_list(struct json_writer *w, const char *name)
{
    json_write_name(w, str_of(name));
    json_write_array(w);
}

void otlp_write(struct buf *out, const struct otlp_resource *resource, const struct span *spans,
                size_t count)
{
    struct json_writer w;

    json_writer_init(&w, out);
    json_write_object(&w);
    begin_list(&w, "resourceSpans");
    json_write_object(&w);
    write_resource(&w, resource);
    begin_list(&w, "scopeSpans");
    json_write_object(&w);
    json_write_name(&w, STR("scope"));
    json_write_object(&w);
    json_write_member_str(&w, STR("name"), STR("patra"));
    json_write_end(&w);
    begin_list(&w, "spans");
    for (size_t i = 0; i < count; i++)
        write_span(&w, &spans[i]);
    for (int i = 0; i < 6; i++) /* spans, scope, scopeSpans, resource, resourceSpans, all */
        json_write_end(&w);
    json_writer_finish(&w);
}
