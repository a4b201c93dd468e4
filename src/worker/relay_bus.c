/* A bus, which events go there, and how they look there. */
#include "worker/relay_bus.h"

#include <stdlib.h>

#include "adapter/bus_open.h"
#include "adapter/protobuf/protobuf.h"
#include "engine/message/wire.h"
#include "engine/relay/relay_run.h"
#include "spec/bus.h"

enum { SPEC_BYTES_MAX = 4 << 20 };

struct opened {
    struct arena arena; /* of the spec */
    struct bus_spec spec;
    struct bus_parts parts;
    struct wire_settings wire;
};

static enum wire_carrier carrier_of(enum bus_type type)
{
    switch (type) {
    case BUS_TYPE_KAFKA:
        return WIRE_KAFKA;
    case BUS_TYPE_PUBSUB:
        return WIRE_ATTRIBUTES;
    case BUS_TYPE_NATS:
    case BUS_TYPE_WEBHOOK:
        break;
    }
    return WIRE_HEADERS;
}

static enum wire_cloudevents cloudevents_of(enum bus_cloudevents cloudevents)
{
    return cloudevents == BUS_CLOUDEVENTS_BINARY       ? WIRE_CE_BINARY
           : cloudevents == BUS_CLOUDEVENTS_STRUCTURED ? WIRE_CE_STRUCTURED
                                                       : WIRE_CE_NONE;
}

bool relay_bus_wire(const struct bus_spec *spec, struct wire_settings *wire, struct error *err)
{
    *wire = (struct wire_settings){ .cloudevents = cloudevents_of(spec->cloudevents),
                                    .carrier = carrier_of(spec->type) };
    return spec->format != BUS_FORMAT_PROTOBUF || protobuf_event_codec(&wire->codec, err);
}

static bool make_message(void *context, struct arena *arena, const struct stream_event *event,
                         struct bus_message *message, struct error *err)
{
    const struct opened *opened = context;
    struct wire_message wire;
    struct bus_attribute *attributes;

    if (!wire_make(arena, &opened->wire, &event->stored, &wire, err))
        return false;
    attributes = ARENA_ARRAY(arena, struct bus_attribute, wire.attribute_count);
    if (attributes == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < wire.attribute_count; i++)
        attributes[i] = (struct bus_attribute){ wire.attributes[i].name, wire.attributes[i].value };
    *message = (struct bus_message){ .attributes = attributes,
                                     .attribute_count = wire.attribute_count,
                                     .content_type = wire.content_type,
                                     .body = wire.body };
    return true;
}

/* A foreign aggregate's type stands for its source. */
static bool takes(void *context, const struct stream_event *event)
{
    const struct opened *opened = context;
    const struct stored_event *stored = &event->stored;

    return bus_events_take(&opened->spec.events,
                           event->record_id != 0 ? stored->source : stored->aggregate_type,
                           stored->endpoint, stored->event.event_type);
}

static void free_opened(struct opened *opened)
{
    arena_release(&opened->arena);
    free(opened);
}

static void close_target(struct relay_target *target)
{
    bus_close(target->bus);
    free_opened(target->context);
}

static bool open_target(void *context, const struct subscription *subscription,
                        struct relay_target *target, struct error *err)
{
    const struct relay_bus_parts *parts = context;
    struct opened *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a bus");
    arena_init(&opened->arena, SPEC_BYTES_MAX);
    opened->parts = (struct bus_parts){ .spec = &opened->spec,
                                        .secrets = parts->secrets,
                                        .clock = parts->clock };
    *target = (struct relay_target){
        .context = opened, .make = make_message, .takes = takes, .close = close_target
    };
    if (bus_load(&opened->arena, subscription->spec, &opened->spec, err) &&
        relay_bus_wire(&opened->spec, &opened->wire, err) &&
        bus_open(&opened->parts, &target->bus, err))
        return true;
    free_opened(opened);
    return error_wrap(err, "open the bus of %.*s", STR_ARG(subscription->name));
}

/* Sizes and times of the spec. What cannot be read is left as it is: opening tells. */
static void configure(const struct subscription *subscription, struct relay_settings *settings)
{
    struct bus_spec spec;
    struct error unread;
    struct arena arena;

    arena_init(&arena, SPEC_BYTES_MAX);
    if (bus_load(&arena, subscription->spec, &spec, &unread)) {
        settings->lanes.batch_max = spec.batch_events;
        settings->lanes.bytes_max = spec.batch_bytes;
        settings->timeout_us = spec.publish_timeout_us;
        settings->lanes.retry = retry_default();
        settings->lanes.retry.delay_min_us = spec.retry.first_us;
        settings->lanes.retry.delay_max_us = spec.retry.max_us;
    }
    arena_release(&arena);
}

static bool run_relay(void *context, const struct reading *reader, struct lanes_total *total,
                      struct error *err)
{
    const struct relay_parts parts = { .store = reader->store,
                                       .clock = reader->clock,
                                       .random = reader->random,
                                       .log = reader->log,
                                       .watch = reader->watch,
                                       .wake = reader->wake,
                                       .wake_fd = reader->wake_fd,
                                       .open = open_target,
                                       .context = context };
    struct relay_run run = { .relay.lanes = { .subscription = reader->subscription,
                                              .owner = reader->owner },
                             .is_draining = reader->is_draining };

    configure(reader->subscription, &run.relay);
    return relay_run(&parts, &run, total, err);
}

const struct reader_kind RELAY_READERS = { SUBSCRIPTION_RELAY, "relay", "relay", run_relay };
