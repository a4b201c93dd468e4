/* A message as Google has it, and back.
 *
 * The message's own attributes have their names. What else makes a message whole again for a reader
 * has reserved names, and is left out of the attributes that a reader gets.
 */
#include <inttypes.h>

#include "adapter/pubsub/pubsub.h"
#include "base/instant.h"

#define EVENT_ID "patra-event-id"
#define KEY "patra-key"
#define LANE "patra-lane"
#define VERSION "patra-version"
#define CONTENT_TYPE "content-type"
enum { RESERVED = 5 };

static Wire__Attribute *attribute(struct arena *arena, struct str name, struct str value)
{
    Wire__Attribute *made = ARENA_NEW(arena, Wire__Attribute);

    if (made == NULL || name.data == NULL || value.data == NULL)
        return NULL;
    wire__attribute__init(made);
    made->key = pubsub_bytes(name);
    made->value = pubsub_bytes(value);
    return made;
}

/* An attribute without a value is none to Google. */
static bool add(struct arena *arena, Wire__PubsubMessage *made, struct str name, struct str value)
{
    Wire__Attribute *one;

    if (value.len == 0)
        return true;
    one = attribute(arena, name, value);
    made->attributes[made->n_attributes++] = one;
    return one != NULL;
}

static bool add_all(struct arena *arena, const struct bus_message *message, enum bus_order order,
                    Wire__PubsubMessage *made)
{
    bool ok = add(arena, made, STR(EVENT_ID), message->event_id) &&
              add(arena, made, STR(CONTENT_TYPE), message->content_type) &&
              add(arena, made, STR(LANE), arena_printf(arena, "%" PRId64, message->lane)) &&
              add(arena, made, STR(VERSION), arena_printf(arena, "%" PRId64, message->version));

    if (order == BUS_ORDER_LANE)
        ok = ok && add(arena, made, STR(KEY), message->key);
    for (size_t i = 0; ok && i < message->attribute_count; i++)
        ok = add(arena, made, message->attributes[i].name, message->attributes[i].value);
    return ok;
}

static const char *refusal_of(const Wire__PubsubMessage *made)
{
    if (wire__pubsub_message__get_packed_size(made) > PUBSUB_REQUEST_BYTES_MAX - 2048)
        return "the message is larger than the 10 MB that Pub/Sub takes";
    if (made->ordering_key.len > PUBSUB_ORDERING_KEY_MAX)
        return "the key is longer than the 1,024 bytes that an ordering key may have";
    if (!str_is_utf8(pubsub_str(made->ordering_key)))
        return "the key is not UTF-8";
    if (made->n_attributes > PUBSUB_ATTRIBUTES_MAX)
        return "the message has more than 100 attributes";
    for (size_t i = 0; i < made->n_attributes; i++) {
        const struct str name = pubsub_str(made->attributes[i]->key);
        const struct str value = pubsub_str(made->attributes[i]->value);

        if (name.len == 0 || name.len > PUBSUB_ATTRIBUTE_NAME_MAX ||
            str_starts(name, STR("goog")) || !str_is_utf8(name))
            return "an attribute has a name that Pub/Sub does not take";
        if (value.len > PUBSUB_ATTRIBUTE_VALUE_MAX || !str_is_utf8(value))
            return "an attribute has a value that Pub/Sub does not take";
    }
    return NULL;
}

bool pubsub_message_make(struct arena *arena, const struct bus_message *message,
                         enum bus_order order, Wire__PubsubMessage **made, const char **refusal,
                         struct error *err)
{
    struct str lane = { 0 };

    *refusal = NULL;
    *made = ARENA_NEW(arena, Wire__PubsubMessage);
    if (*made == NULL)
        return arena_error(arena, err);
    wire__pubsub_message__init(*made);
    (*made)->data = pubsub_bytes(message->body);
    if (order == BUS_ORDER_LANE)
        lane = arena_printf(arena, "lane-%" PRId64, message->lane);
    (*made)->ordering_key = pubsub_bytes(order == BUS_ORDER_LANE ? lane : message->key);
    (*made)->attributes =
        ARENA_ARRAY(arena, Wire__Attribute *, message->attribute_count + RESERVED);
    if ((*made)->attributes == NULL || !add_all(arena, message, order, *made))
        return arena_error(arena, err);
    *refusal = refusal_of(*made);
    return true;
}

/* ---- and back ---- */

static bool take_reserved(struct bus_message *message, struct str name, struct str value)
{
    if (str_eq(name, STR(EVENT_ID)))
        message->event_id = value;
    else if (str_eq(name, STR(KEY)))
        message->key = value;
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

static bool read_attributes(struct arena *arena, const Wire__PubsubMessage *from,
                            struct bus_message *message, struct error *err)
{
    struct bus_attribute *attributes = ARENA_ARRAY(arena, struct bus_attribute, from->n_attributes);

    if (attributes == NULL)
        return arena_error(arena, err);
    message->attributes = attributes;
    for (size_t i = 0; i < from->n_attributes; i++) {
        const struct bus_attribute one = {
            .name = arena_copy(arena, pubsub_str(from->attributes[i]->key)),
            .value = arena_copy(arena, pubsub_str(from->attributes[i]->value)),
        };

        if (one.name.data == NULL || one.value.data == NULL)
            return arena_error(arena, err);
        if (!take_reserved(message, one.name, one.value))
            attributes[message->attribute_count++] = one;
    }
    return true;
}

/* Beyond the years that an instant has is nonsense: then it is unknown. */
static int64_t instant_of(const Wire__Timestamp *time)
{
    if (time == NULL || time->seconds < 0 || time->seconds > INSTANT_MAX / US_PER_SECOND ||
        time->nanos < 0 || time->nanos > 999999999)
        return 0;
    return time->seconds * US_PER_SECOND + time->nanos / 1000;
}

bool pubsub_message_read(struct arena *arena, const Wire__ReceivedMessage *received,
                         struct bus_delivery *delivery, struct error *err)
{
    const Wire__PubsubMessage *from = received->message;

    *delivery = (struct bus_delivery){
        .message = { .key = arena_copy(arena, pubsub_str(from->ordering_key)),
                     .body = arena_copy(arena, pubsub_str(from->data)) },
        .bus_id = arena_copy(arena, pubsub_str(from->message_id)),
        .published_us = instant_of(from->publish_time),
        .attempt = received->delivery_attempt > 0 ? received->delivery_attempt : 0,
    };
    if (delivery->message.key.data == NULL || delivery->message.body.data == NULL ||
        delivery->bus_id.data == NULL)
        return arena_error(arena, err);
    return read_attributes(arena, from, &delivery->message, err);
}
