/* Any bytes as a message of a bus: read, or refused as this message's own fault. A line each for
 * the carrier and content type, then "name value" up to an empty line, then the body. */
#include <assert.h>
#include <stdint.h>

#include "data/json.h"
#include "engine/message/wire_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ATTRIBUTES_MAX = 16 };

/* A codec of some form: what is JSON after its first byte. */
static bool decode(struct arena *arena, struct str bytes, struct str *json, struct error *err)
{
    (void)arena;
    *json = str_slice(bytes, bytes.len > 0 ? 1 : 0, bytes.len);
    return json_is_valid(*json) || error_set(err, ERROR_DATA, "event.body", "not of this form");
}

static const struct event_codec CODEC = { .content_type = "application/x-form", .decode = decode };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = { (const char *)data, size };
    struct bus_attribute attributes[ATTRIBUTES_MAX];
    struct bus_message message = { .attributes = attributes };
    const struct str first = str_cut(&rest, '\n');
    const struct wire_settings settings = {
        .carrier = first.len == 0 ? WIRE_ATTRIBUTES : WIRE_HEADERS,
        .codec = &CODEC,
    };
    struct wire_event event;
    struct error err = { 0 };
    struct arena arena;

    arena_init(&arena, (size_t)8 << 20);
    message.content_type = str_cut(&rest, '\n');
    while (rest.len > 0 && message.attribute_count < ATTRIBUTES_MAX) {
        struct str line = str_cut(&rest, '\n');

        if (line.len == 0)
            break;
        attributes[message.attribute_count].name = str_cut(&line, ' ');
        attributes[message.attribute_count++].value = line;
    }
    message.body = rest;
    (void)wire_is_probe(&message);
    if (wire_read(&arena, &settings, &message, &event, &err)) {
        assert(event.version >= 1 && event.event_id.len == 36);
        assert(event.aggregate_id.len > 0 && event.aggregate_type.len > 0);
        assert(json_is_valid(event.body));
    } else {
        assert(arena.failed || err.level == ERROR_DATA);
    }
    arena_release(&arena);
    return 0;
}
