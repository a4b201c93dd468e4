/* What a message has beside key and body, as the headers of a record.
 *
 * The message's own attributes have their names. What else makes a message whole again for a reader
 * has reserved names, and is left out of the attributes that a reader gets.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "adapter/kafka/kafka.h"

#define EVENT_ID "patra-event-id"
#define LANE "patra-lane"
#define VERSION "patra-version"
#define CONTENT_TYPE "content-type"

static bool add(rd_kafka_headers_t *headers, struct str name, struct str value)
{
    return rd_kafka_header_add(headers, name.data, (ssize_t)name.len, value.data,
                               (ssize_t)value.len) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

static bool add_number(rd_kafka_headers_t *headers, struct str name, int64_t value)
{
    char text[32];
    const int len = snprintf(text, sizeof(text), "%" PRId64, value);

    return add(headers, name, (struct str){ text, (size_t)len });
}

rd_kafka_headers_t *kafka_headers_of(const struct bus_message *message)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(message->attribute_count + 4);
    bool ok = headers != NULL && add(headers, STR(EVENT_ID), message->event_id) &&
              add_number(headers, STR(LANE), message->lane) &&
              add_number(headers, STR(VERSION), message->version);

    if (ok && message->content_type.len > 0)
        ok = add(headers, STR(CONTENT_TYPE), message->content_type);
    for (size_t i = 0; ok && i < message->attribute_count; i++)
        ok = add(headers, message->attributes[i].name, message->attributes[i].value);
    if (ok)
        return headers;
    if (headers != NULL)
        rd_kafka_headers_destroy(headers);
    return NULL;
}

/* True for a header with a reserved name, whose value then is in the message. */
static bool take_reserved(struct bus_message *message, struct str name, struct str value)
{
    if (str_eq(name, STR(EVENT_ID)))
        message->event_id = value;
    else if (str_eq(name, STR(CONTENT_TYPE)))
        message->content_type = value;
    else if (str_eq(name, STR(LANE)))
        (void)str_to_i64(value, &message->lane);
    else if (str_eq(name, STR(VERSION)))
        (void)str_to_i64(value, &message->version);
    else
        return false;
    return true;
}

static bool read_headers(struct arena *arena, const rd_kafka_message_t *record,
                         struct bus_message *message, struct error *err)
{
    struct bus_attribute *attributes;
    rd_kafka_headers_t *headers;
    const char *name;
    const void *value;
    size_t size;

    if (rd_kafka_message_headers(record, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return true; /* somebody else's record, without any */
    attributes = ARENA_ARRAY(arena, struct bus_attribute, rd_kafka_header_cnt(headers));
    if (attributes == NULL)
        return arena_error(arena, err);
    message->attributes = attributes;
    for (size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         i++) {
        const struct bus_attribute one = {
            .name = arena_copy(arena, str_of(name)),
            .value = arena_copy(arena, (struct str){ value, value != NULL ? size : 0 }),
        };

        if (one.name.data == NULL || one.value.data == NULL)
            return arena_error(arena, err);
        if (!take_reserved(message, one.name, one.value))
            attributes[message->attribute_count++] = one;
    }
    return true;
}

bool kafka_delivery_read(struct arena *arena, const rd_kafka_message_t *record,
                         struct bus_delivery *delivery, struct error *err)
{
    rd_kafka_timestamp_type_t type;
    const int64_t at_ms = rd_kafka_message_timestamp(record, &type);

    *delivery = (struct bus_delivery){
        .message = { .key = arena_copy(arena, (struct str){ record->key, record->key_len }),
                     .body = arena_copy(arena, (struct str){ record->payload, record->len }) },
        .bus_id = arena_printf(arena, "%" PRId32 "/%" PRId64, record->partition, record->offset),
        .published_us = at_ms > 0 ? at_ms * US_PER_MS : 0,
    };
    if (delivery->message.key.data == NULL || delivery->message.body.data == NULL ||
        delivery->bus_id.data == NULL)
        return arena_error(arena, err);
    return read_headers(arena, record, &delivery->message, err);
}
