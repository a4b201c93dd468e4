/* An event as a message: JSON, where nobody says how else it should look. */
#include "engine/message/wire.h"
#include "engine/relay/relay.h"

bool relay_message_wire(struct arena *arena, const struct wire_settings *settings,
                        const struct stream_event *event, struct bus_message *message,
                        struct error *err)
{
    struct wire_message *wire = ARENA_NEW(arena, struct wire_message);

    if (wire == NULL)
        return arena_error(arena, err);
    if (!wire_make(arena, settings, &event->stored, wire, err))
        return false;
    *message = (struct bus_message){ .content_type = wire->content_type,
                                     .body = wire->body,
                                     .attributes = wire->attributes,
                                     .attribute_count = wire->attribute_count };
    return true;
}

bool relay_message_make(void *context, struct arena *arena, const struct stream_event *event,
                        struct bus_message *message, struct error *err)
{
    const struct wire_settings as_json = { 0 };

    (void)context;
    return relay_message_wire(arena, &as_json, event, message, err);
}
