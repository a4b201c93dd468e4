/* wire_read: a message of a bus, as engine/message/wire.h made it, back as an event.
 *
 * What is needed are the attributes that every form has, and a body of JSON or of the settings'
 * codec: as it is, or as the data of a structured CloudEvent. The message comes from outside:
 * whatever it lacks or has wrong is an error of this message alone.
 */
#ifndef PATRA_ENGINE_MESSAGE_WIRE_READ_H
#define PATRA_ENGINE_MESSAGE_WIRE_READ_H

#include "engine/message/wire.h"

struct wire_event {
    struct str event_id; /* a UUID, lower case */
    struct str event_type;
    struct str aggregate_type;
    struct str aggregate_id;
    int64_t version;
    int64_t occurred_us;
    struct str body; /* the event's JSON */
};

/* What patra bus test sends: nobody has an event of this type. */
#define WIRE_PROBE_TYPE "PatraProbe"
bool wire_is_probe(const struct bus_message *message);

/* Of the settings, carrier and codec count. Everything lives in the arena or is a view of the
 * message. L3: "message.attribute" when one is missing or malformed, "message.body" when the body
 * is not in its form or in another one, "event.body" when the codec cannot read it. */
bool wire_read(struct arena *arena, const struct wire_settings *settings,
               const struct bus_message *message, struct wire_event *event,
               struct error *err) MUST_CHECK;

#endif
