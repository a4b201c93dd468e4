/* Tests: what wire.h makes is read back, in every form that is JSON; what a message lacks is an
 * error.
 */
#include "engine/message/wire_read.h"

#include <string.h>

#include "test.h"

static struct arena arena;

static const struct stored_event STORED = {
    .event = { .event_id = STR_INIT("019b0000-0000-7000-8000-000000000001"),
               .event_type = STR_INIT("RecordUpdated"),
               .version = 3,
               .schema_version = 1,
               .occurred_us = INT64_C(1767225600500000),
               .body = STR_INIT("{\"contentHash\":\"c\",\"fields\":{\"title\":\"x\"}}") },
    .source = STR_INIT("crossref"),
    .endpoint = STR_INIT("works"),
    .provider_id = STR_INIT("10.1/\"\xC3\xBC 100%25"),
    .expr_hash = STR_INIT("e1"),
};

static struct bus_message message_of(const struct wire_settings *settings,
                                     const struct stored_event *stored)
{
    struct wire_message *wire = ARENA_NEW(&arena, struct wire_message);
    struct error err = { 0 };

    REQUIRE(wire != NULL, "memory");
    REQUIRE_OK(wire_make(&arena, settings, stored, wire, &err), err);
    return (struct bus_message){ .event_id = wire->event_id,
                                 .content_type = wire->content_type,
                                 .body = wire->body,
                                 .attributes = wire->attributes,
                                 .attribute_count = wire->attribute_count };
}

TEST(what_is_made_is_read_back_in_every_form)
{
    static const struct {
        const char *label;
        struct wire_settings settings;
    } cases[] = {
        { "headers", { .carrier = WIRE_HEADERS } },
        { "attributes", { .carrier = WIRE_ATTRIBUTES } },
        { "Kafka", { .carrier = WIRE_KAFKA } },
        { "binary", { .carrier = WIRE_HEADERS, .cloudevents = WIRE_CE_BINARY } },
        { "structured", { .carrier = WIRE_HEADERS, .cloudevents = WIRE_CE_STRUCTURED } },
    };
    struct str plain;

    arena_init(&arena, 1 << 20);
    plain = message_of(&cases[0].settings, &STORED).body;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct bus_message message = message_of(&cases[i].settings, &STORED);
        struct wire_event event;
        struct error err = { 0 };

        REQUIRE_OK(wire_read(&arena, &cases[i].settings, &message, &event, &err), err);
        CHECK_STR(event.event_id, STORED.event.event_id, cases[i].label);
        CHECK_STR(event.event_type, STORED.event.event_type, cases[i].label);
        CHECK_STR(event.aggregate_type, STR("crossref/works"), cases[i].label);
        CHECK_STR(event.aggregate_id, STORED.provider_id, cases[i].label);
        CHECK_EQ(event.version, 3, cases[i].label);
        CHECK_EQ(event.occurred_us, STORED.event.occurred_us, cases[i].label);
        CHECK_STR(event.body, plain, cases[i].label);
    }
    arena_release(&arena);
}

TEST(what_a_message_lacks_or_has_wrong_is_told)
{
    static const struct {
        const char *name, *value, *content_type, *body, *code;
    } cases[] = {
        { "event_id", "", NULL, NULL, "message.attribute" },
        { "event_id", "17", NULL, NULL, "message.attribute" },
        { "event_id", "019B0000-0000-7000-8000-000000000001", NULL, NULL, "message.attribute" },
        { "event_type", "", NULL, NULL, "message.attribute" },
        { "aggregate_id", "", NULL, NULL, "message.attribute" },
        { "version", "0", NULL, NULL, "message.attribute" },
        { "version", "-1", NULL, NULL, "message.attribute" },
        { "version", "99999999999999999999", NULL, NULL, "message.attribute" },
        { "occurred_at", "yesterday", NULL, NULL, "message.attribute" },
        { "", "", "application/x-protobuf", NULL, "message.body" },
        { "", "", "application/cloudevents+json", "{\"data_base64\":\"eA==\"}", "message.body" },
        { "", "", NULL, "{", "message.body" },
    };
    const struct wire_settings settings = { .carrier = WIRE_HEADERS };

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bus_message message = message_of(&settings, &STORED);
        struct bus_attribute changed[WIRE_ATTRIBUTES_MAX];
        struct wire_event event;
        struct error err = { 0 };

        memcpy(changed, message.attributes, message.attribute_count * sizeof(changed[0]));
        for (size_t k = 0; k < message.attribute_count; k++) {
            if (str_eq(changed[k].name, str_of(cases[i].name)))
                changed[k].value = str_of(cases[i].value);
        }
        message.attributes = changed;
        if (cases[i].content_type != NULL)
            message.content_type = str_of(cases[i].content_type);
        if (cases[i].body != NULL)
            message.body = str_of(cases[i].body);
        CHECK(!wire_read(&arena, &settings, &message, &event, &err), cases[i].code);
        CHECK_EQ((int)err.level, ERROR_DATA, "of this message alone");
        CHECK_STR(str_of(err.code), str_of(cases[i].code), err.text);
    }
    arena_release(&arena);
}

TEST(a_probe_is_no_event)
{
    const struct bus_attribute attribute = { STR("event_type"), STR(WIRE_PROBE_TYPE) };
    const struct wire_settings settings = { .carrier = WIRE_HEADERS };
    struct bus_message message = { .attributes = &attribute, .attribute_count = 1 };

    arena_init(&arena, 1 << 20);
    CHECK(wire_is_probe(&message), "a probe");
    message = message_of(&settings, &STORED);
    CHECK(!wire_is_probe(&message), "an event");
    arena_release(&arena);
}
