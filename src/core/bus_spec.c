/* bus_spec: the words of bus files, and which events a bus takes. */
#include "core/bus_spec.h"

static const struct code_item TYPE_ITEMS[] = {
    [BUS_TYPE_NATS] = CODE_ITEM("NATS", "a stream of NATS JetStream"),
    [BUS_TYPE_PUBSUB] = CODE_ITEM("PUBSUB", "a topic of Google Cloud Pub/Sub"),
    [BUS_TYPE_KAFKA] = CODE_ITEM("KAFKA", "a topic of Apache Kafka"),
    [BUS_TYPE_WEBHOOK] = CODE_ITEM("WEBHOOK", "a URL that each message is POSTed to"),
};
const struct code_table BUS_TYPE_CODES = CODE_TABLE("bus_type", "what a bus is", TYPE_ITEMS);

static const struct code_item FORMAT_ITEMS[] = {
    [BUS_FORMAT_JSON] = CODE_ITEM("JSON", "JSON"),
    [BUS_FORMAT_PROTOBUF] = CODE_ITEM("PROTOBUF", "Protobuf, by the files in proto/"),
};
const struct code_table BUS_FORMAT_CODES =
    CODE_TABLE("bus_format", "how the body of a message is written", FORMAT_ITEMS);

static const struct code_item CLOUDEVENTS_ITEMS[] = {
    [BUS_CLOUDEVENTS_NONE] = CODE_ITEM("NONE", "patra's own attributes only"),
    [BUS_CLOUDEVENTS_BINARY] =
        CODE_ITEM("BINARY", "the attributes of CloudEvents 1.0 beside the body"),
    [BUS_CLOUDEVENTS_STRUCTURED] =
        CODE_ITEM("STRUCTURED", "the body is a CloudEvents 1.0 envelope with the event in it"),
};
const struct code_table BUS_CLOUDEVENTS_CODES =
    CODE_TABLE("bus_cloudevents", "whether messages are CloudEvents", CLOUDEVENTS_ITEMS);

static const struct code_item ORDER_ITEMS[] = {
    [BUS_ORDER_KEY] = CODE_ITEM("KEY", "the events of one record"),
    [BUS_ORDER_LANE] = CODE_ITEM("LANE", "all events of a lane"),
};
const struct code_table BUS_ORDER_CODES =
    CODE_TABLE("bus_order", "what keeps its order", ORDER_ITEMS);

static const struct code_item START_ITEMS[] = {
    [BUS_START_EARLIEST] = CODE_ITEM("EARLIEST", "the oldest event of the stream"),
    [BUS_START_LATEST] = CODE_ITEM("LATEST", "the first event after the bus was applied"),
};
const struct code_table BUS_START_CODES =
    CODE_TABLE("bus_start", "where a new bus begins", START_ITEMS);

static const struct code_item STORAGE_ITEMS[] = {
    [BUS_STORAGE_FILE] = CODE_ITEM("FILE", "on disk"),
    [BUS_STORAGE_MEMORY] = CODE_ITEM("MEMORY", "in memory: lost when the server ends"),
};
const struct code_table BUS_STORAGE_CODES =
    CODE_TABLE("bus_storage", "where the bus keeps messages", STORAGE_ITEMS);

static const struct code_item MECHANISM_ITEMS[] = {
    [BUS_MECHANISM_PLAIN] = CODE_ITEM("PLAIN", "the password itself, over TLS"),
    [BUS_MECHANISM_SCRAM_SHA_256] = CODE_ITEM("SCRAM_SHA_256", "a proof of the password"),
    [BUS_MECHANISM_SCRAM_SHA_512] = CODE_ITEM("SCRAM_SHA_512", "a proof of the password"),
};
const struct code_table BUS_MECHANISM_CODES =
    CODE_TABLE("bus_mechanism", "how a password is shown to Kafka", MECHANISM_ITEMS);

static bool has(const struct str *items, size_t count, struct str text)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(items[i], text))
            return true;
    }
    return false;
}

/* "works" is the endpoint of any source, "crossref/works" that of one. */
static bool has_endpoint(const struct bus_events *events, struct str source, struct str endpoint)
{
    for (size_t i = 0; i < events->endpoint_count; i++) {
        struct str rest = events->endpoints[i];
        struct str first = rest;

        if (str_find_char(rest, '/') == rest.len) {
            if (str_eq(rest, endpoint))
                return true;
            continue;
        }
        first = str_cut(&rest, '/');
        if (str_eq(first, source) && str_eq(rest, endpoint))
            return true;
    }
    return false;
}

bool bus_events_take(const struct bus_events *events, struct str source, struct str endpoint,
                     struct str type)
{
    return (events->source_count == 0 || has(events->sources, events->source_count, source)) &&
           (events->endpoint_count == 0 || has_endpoint(events, source, endpoint)) &&
           (events->type_count == 0 || has(events->types, events->type_count, type));
}
