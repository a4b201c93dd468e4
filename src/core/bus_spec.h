/* bus_spec: what a bus file says, as values: where events are relayed to, which, and how.
 *
 * spec/bus.h reads it from a file or from its stored form; the relay and the adapters use it. It
 * contains no secret, only references to them (port/secret.h). Texts that are not given are empty.
 */
#ifndef PATRA_CORE_BUS_SPEC_H
#define PATRA_CORE_BUS_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "core/codes.h"

enum bus_type { BUS_TYPE_NATS, BUS_TYPE_PUBSUB, BUS_TYPE_KAFKA, BUS_TYPE_WEBHOOK };
extern const struct code_table BUS_TYPE_CODES;

enum bus_format { BUS_FORMAT_JSON, BUS_FORMAT_PROTOBUF };
extern const struct code_table BUS_FORMAT_CODES;

enum bus_cloudevents { BUS_CLOUDEVENTS_NONE, BUS_CLOUDEVENTS_BINARY, BUS_CLOUDEVENTS_STRUCTURED };
extern const struct code_table BUS_CLOUDEVENTS_CODES;

enum bus_order { BUS_ORDER_KEY, BUS_ORDER_LANE };
extern const struct code_table BUS_ORDER_CODES;

enum bus_start { BUS_START_EARLIEST, BUS_START_LATEST };
extern const struct code_table BUS_START_CODES;

enum bus_storage { BUS_STORAGE_FILE, BUS_STORAGE_MEMORY };
extern const struct code_table BUS_STORAGE_CODES;

enum bus_mechanism {
    BUS_MECHANISM_PLAIN,
    BUS_MECHANISM_SCRAM_SHA_256,
    BUS_MECHANISM_SCRAM_SHA_512
};
extern const struct code_table BUS_MECHANISM_CODES;

/* A list that is empty takes everything. */
struct bus_events {
    const struct str *sources;
    size_t source_count;
    const struct str *endpoints; /* "works", or "crossref/works" */
    size_t endpoint_count;
    const struct str *types; /* "RecordCreated" */
    size_t type_count;
};

struct bus_tls {
    struct str ca;          /* the path of a PEM file; empty: the system's */
    struct str certificate; /* reference: PEM; empty: none */
    struct str key;         /* reference: PEM */
};

struct bus_auth { /* references, but for the user, which may be a value */
    struct str user;
    struct str password;
    struct str token;
    struct str nkey;        /* NATS: the seed */
    struct str credentials; /* NATS: a creds file; Pub/Sub: a service account's JSON */
    struct str signing;     /* webhook: the key of its signatures */
    enum bus_mechanism mechanism;
};

struct bus_create { /* what `patra bus apply --create` makes where it is missing */
    int64_t replicas;
    enum bus_storage storage;
    int64_t keep_us;
    int64_t dedup_us;
    int64_t partitions;
};

struct bus_retry { /* of a key whose event was not taken */
    int64_t first_us;
    int64_t max_us;
};

struct bus_read { /* by one reader */
    int64_t messages;
    int64_t bytes;
    int64_t hold_us; /* after it a message that is not settled is delivered again */
};

struct bus_spec {
    struct str name;
    enum bus_type type;
    struct str description;
    const struct str *addresses;
    size_t address_count;
    struct str url;          /* webhook: a value or a reference */
    struct str stream;       /* NATS */
    struct str subject;      /* NATS: "patra.works.${lane}" */
    struct str project;      /* Pub/Sub */
    struct str topic;        /* Pub/Sub, Kafka */
    struct str subscription; /* Pub/Sub: what a reader reads */
    bool allow_plain;
    struct bus_tls tls;
    struct bus_auth auth;
    struct bus_events events;
    enum bus_format format;
    enum bus_cloudevents cloudevents;
    enum bus_order order;
    bool fence; /* Kafka: a transactional producer per lane */
    enum bus_start start;
    enum subscription_policy on_failure;
    struct bus_retry retry;
    int64_t batch_events;
    int64_t batch_bytes;
    int64_t message_bytes_max; /* 0: what the bus takes */
    int64_t connect_timeout_us;
    int64_t publish_timeout_us;
    struct bus_read read;
    struct bus_create create;
};

/* Whether the events of this source, endpoint and type are relayed. */
bool bus_events_take(const struct bus_events *events, struct str source, struct str endpoint,
                     struct str type);

#endif
