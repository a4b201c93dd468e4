/* wire: an event as a message for a bus: a body in some form, and attributes beside it.
 *
 *      stored event ──▶ JSON (envelope.h) ──▶ as it is, or Protobuf (port/event_codec.h) ──▶ body
 *                  ╰──▶ attributes: event_id, event_type, aggregate_type, aggregate_id, version,
 *                       schema_version, occurred_at
 *
 * The attributes are the same whatever form the body has. With CloudEvents 1.0 there are more:
 *
 *      binary       the context as attributes ce-id, ce-source, ce-type ...; the body is unchanged
 *      structured   the context and the event in one JSON object, application/cloudevents+json
 *
 * A foreign event is published as its service wrote it, whatever the format: its body is that
 * service's contract. Its content type is application/json where it is JSON.
 */
#ifndef PATRA_ENGINE_MESSAGE_WIRE_H
#define PATRA_ENGINE_MESSAGE_WIRE_H

#include "port/bus.h"
#include "port/event_codec.h"
#include "port/store_outbox.h"

enum wire_cloudevents { WIRE_CE_NONE, WIRE_CE_BINARY, WIRE_CE_STRUCTURED };

/* How the bus carries attributes. */
enum wire_carrier {
    WIRE_ATTRIBUTES, /* any UTF-8; "ce-" (Pub/Sub) */
    WIRE_HEADERS,    /* HTTP and NATS: "ce-"; values are percent-encoded as the HTTP binding of
                        CloudEvents says: all but printable ASCII, and blank, '"' and '%' */
    WIRE_KAFKA,      /* any UTF-8; "ce_" */
};

struct wire_settings {
    const struct event_codec *codec; /* NULL: JSON */
    enum wire_cloudevents cloudevents;
    enum wire_carrier carrier;
    struct str
        source; /* CloudEvents: what "source" begins with, a URI reference; empty: "/patra" */
};

enum { WIRE_ATTRIBUTES_MAX = 20 };

struct wire_message {
    struct str body;
    struct str content_type;
    struct str event_id; /* views of the stored event, as it has them */
    struct str key;      /* the aggregate's id: events of one key keep their order */
    struct bus_attribute attributes[WIRE_ATTRIBUTES_MAX];
    size_t attribute_count;
};

/* What the settings themselves have wrong: "wire.source" (L2) for a source that is not a URI
 * reference. */
bool wire_settings_check(const struct wire_settings *settings, struct error *err) MUST_CHECK;

/* Everything lives in the arena or is a view of `stored`. "event.body" (L3) when the stored body is
 * not one that engine/event makes. The same event gives the same bytes whenever it is made. */
bool wire_make(struct arena *arena, const struct wire_settings *settings,
               const struct stored_event *stored, struct wire_message *message,
               struct error *err) MUST_CHECK;

#endif
