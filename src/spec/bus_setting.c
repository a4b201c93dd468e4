/* The table of the settings of a bus, in the order of the manual, and their members of struct
 * bus_spec. */
#include "spec/bus_setting.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/instant.h"
#include "core/limits.h"

/* clang-format off */
#define KIND_OF(member)                                \
    _Generic(((struct bus_spec *)NULL)->member,        \
             bool: SPEC_BOOL,                          \
             int64_t: SPEC_I64,                        \
             unsigned: SPEC_WORD,                      \
             struct str: SPEC_STR)
/* clang-format on */
#define INTO(member)                                                 \
    {                                                                \
        KIND_OF(member), .offset = offsetof(struct bus_spec, member) \
    }
#define INTO_LIST(items, count)                                      \
    {                                                                \
        SPEC_TEXTS, .offset = offsetof(struct bus_spec, items),      \
                    .count_offset = offsetof(struct bus_spec, count) \
    }
#define SECONDS(n) ((double)(n)*US_PER_SECOND)
#define MIB(n) ((double)((INT64_C(n)) << 20))

const struct bus_setting BUS_SETTINGS[] = {
    { .types = FOR_ALL,
      .required = FOR_ALL,
      .setting = { "type", .type = SETTING_CODE, .codes = &BUS_TYPE_CODES, .into = INTO(type),
                   .help = "What the bus is." } },
    { .types = FOR_ALL,
      .setting = { "description", .type = SETTING_TEXT, .into = INTO(description),
                   .help = "Whom it is for, for lists." } },

    /* ---- where ---- */
    { .types = FOR_NATS | FOR_PUBSUB | FOR_KAFKA,
      .required = FOR_NATS | FOR_KAFKA,
      .setting = { "address", .type = SETTING_TEXTS, .into = INTO_LIST(addresses, address_count),
                   .help = "Servers, one or a list: nats://host:4222 or tls://host:4222 for NATS, "
                           "host:9092 "
                           "for Kafka, host:443 for Pub/Sub (without it, Google's)." } },
    { .types = FOR_NATS,
      .required = FOR_NATS,
      .setting = { "stream", .type = SETTING_NAME, .into = INTO(stream),
                   .help = "The JetStream stream that keeps the messages." } },
    { .types = FOR_NATS,
      .required = FOR_NATS,
      .setting = { "subject", .type = SETTING_TEXT, .into = INTO(subject),
                   .help = "What messages are published to, with ${lane} as one of its tokens: "
                           "patra.works.${lane}. Each lane has a subject of its own, so that an "
                           "overtaken "
                           "publisher is refused." } },
    { .types = FOR_PUBSUB,
      .required = FOR_PUBSUB,
      .setting = { "project", .type = SETTING_TEXT, .into = INTO(project),
                   .help = "The Google project." } },
    { .types = FOR_PUBSUB | FOR_KAFKA,
      .required = FOR_PUBSUB | FOR_KAFKA,
      .setting = { "topic", .type = SETTING_TEXT, .into = INTO(topic),
                   .help = "The topic that messages are published to." } },
    { .types = FOR_PUBSUB,
      .setting = { "subscription", .type = SETTING_TEXT, .into = INTO(subscription),
                   .help = "The subscription of the topic that patra reads, where it reads it at "
                           "all." } },
    { .types = FOR_WEBHOOK,
      .required = FOR_WEBHOOK,
      .setting = { "url", .type = SETTING_VALUE, .into = INTO(url),
                   .help = "Where each message is POSTed; by reference (env:NAME) where the URL "
                           "itself is a "
                           "secret." } },

    /* ---- security ---- */
    { .types = FOR_ALL,
      .setting = { "allow_plain", .type = SETTING_BOOL, .builtin = "false",
                   .into = INTO(allow_plain),
                   .help = "Allow a connection without TLS: for a server on this machine or in a "
                           "closed "
                           "network." } },
    { .types = FOR_ALL,
      .setting = { "tls.ca", .type = SETTING_TEXT, .into = INTO(tls.ca),
                   .help = "A PEM file with the authorities that are trusted; without it, the "
                           "system's. There "
                           "is no way to skip verification." } },
    { .types = FOR_NATS | FOR_KAFKA,
      .setting = { "tls.certificate", .type = SETTING_SECRET, .into = INTO(tls.certificate),
                   .help = "The client's certificate, PEM." } },
    { .types = FOR_NATS | FOR_KAFKA,
      .setting = { "tls.key", .type = SETTING_SECRET, .into = INTO(tls.key),
                   .help = "Its private key, PEM." } },
    { .types = FOR_NATS | FOR_KAFKA,
      .setting = { "auth.user", .type = SETTING_VALUE, .into = INTO(auth.user),
                   .help = "The user." } },
    { .types = FOR_NATS | FOR_KAFKA,
      .setting = { "auth.password", .type = SETTING_SECRET, .into = INTO(auth.password),
                   .help = "The user's password." } },
    { .types = FOR_NATS | FOR_WEBHOOK,
      .setting = { "auth.token", .type = SETTING_SECRET, .into = INTO(auth.token),
                   .help = "A token instead of user and password; for a webhook it is sent as "
                           "Authorization: "
                           "Bearer." } },
    { .types = FOR_NATS,
      .setting = { "auth.nkey", .type = SETTING_SECRET, .into = INTO(auth.nkey),
                   .help = "The seed of an NKey, whose public key is auth.user." } },
    { .types = FOR_NATS | FOR_PUBSUB,
      .setting = { "auth.credentials", .type = SETTING_SECRET, .into = INTO(auth.credentials),
                   .help = "NATS: a creds file (JWT and seed). Pub/Sub: a service account's key "
                           "file; without "
                           "it, the metadata server's account." } },
    { .types = FOR_WEBHOOK,
      .setting = { "auth.signing", .type = SETTING_SECRET, .into = INTO(auth.signing),
                   .help = "The key of the signatures: whsec_ and base64, or any text of 16 bytes "
                           "or more. "
                           "Without it, messages are not signed." } },
    { .types = FOR_KAFKA,
      .setting = { "auth.mechanism", .type = SETTING_CODE, .builtin = "scram-sha-512",
                   .codes = &BUS_MECHANISM_CODES, .into = INTO(auth.mechanism),
                   .help = "How the password is shown to the server." } },

    /* ---- what ---- */
    { .types = FOR_ALL,
      .setting = { "events.sources", .type = SETTING_TEXTS,
                   .into = INTO_LIST(events.sources, events.source_count),
                   .help = "Only events of these sources." } },
    { .types = FOR_ALL,
      .setting = { "events.endpoints", .type = SETTING_TEXTS,
                   .into = INTO_LIST(events.endpoints, events.endpoint_count),
                   .help = "Only events of these endpoints: works, or crossref/works." } },
    { .types = FOR_ALL,
      .setting = { "events.types", .type = SETTING_TEXTS,
                   .into = INTO_LIST(events.types, events.type_count),
                   .help = "Only events of these types: RecordCreated, RecordUpdated, "
                           "RecordDeleted." } },
    { .types = FOR_ALL,
      .setting = { "format", .type = SETTING_CODE, .builtin = "json", .codes = &BUS_FORMAT_CODES,
                   .into = INTO(format), .help = "How the body of a message is written." } },
    { .types = FOR_ALL,
      .setting = { "cloudevents", .type = SETTING_CODE, .builtin = "none",
                   .codes = &BUS_CLOUDEVENTS_CODES, .into = INTO(cloudevents),
                   .help = "Whether messages are CloudEvents, and which kind." } },

    /* ---- how ---- */
    { .types = FOR_ALL,
      .setting = { "order", .type = SETTING_CODE, .builtin = "key", .codes = &BUS_ORDER_CODES,
                   .into = INTO(order),
                   .help = "What keeps its order. By lane, a Pub/Sub message can share a request "
                           "with others; "
                           "an event that is refused then holds up its whole lane." } },
    { .types = FOR_KAFKA,
      .setting = { "fence", .type = SETTING_BOOL, .builtin = "false", .into = INTO(fence),
                   .help = "Publish each lane in transactions of its own, so that an overtaken "
                           "publisher is "
                           "refused. It costs a producer per lane and a commit per lane and batch; "
                           "without it "
                           "readers must drop versions that they have passed." } },
    { .types = FOR_ALL,
      .setting = { "start", .type = SETTING_CODE, .builtin = "earliest", .codes = &BUS_START_CODES,
                   .into = INTO(start),
                   .help = "Where a new bus begins in the stream of events." } },
    { .types = FOR_ALL,
      .setting = { "on_failure", .type = SETTING_CODE, .builtin = "wait",
                   .codes = &SUBSCRIPTION_POLICY_CODES, .into = INTO(on_failure),
                   .help = "What an event means for the later ones of its record when the bus "
                           "refuses it." } },
    { .types = FOR_ALL,
      .setting = { "retry.first", .type = SETTING_DURATION, .builtin = "1s", .min = SECONDS(0.001),
                   .max = SECONDS(3600), .into = INTO(retry.first_us),
                   .help = "The wait before a message that the bus did not take is tried again; it "
                           "doubles from "
                           "there. Other records go on meanwhile." } },
    { .types = FOR_ALL,
      .setting = { "retry.max", .type = SETTING_DURATION, .builtin = "5m", .min = SECONDS(0.001),
                   .max = SECONDS(86400), .into = INTO(retry.max_us),
                   .help = "The longest wait." } },
    { .types = FOR_ALL,
      .setting = { "batch.events", .type = SETTING_INT, .builtin = "500", .min = 1, .max = 10000,
                   .into = INTO(batch_events), .help = "Messages under way at a time." },
      .other = { FOR_NATS | FOR_KAFKA, "4000" } },
    { .types = FOR_ALL,
      .setting = { "batch.bytes", .type = SETTING_SIZE, .builtin = "8MiB", .min = 1024,
                   .max = MIB(64), .into = INTO(batch_bytes),
                   .help = "The most bytes of them; one message may be larger." } },
    { .types = FOR_ALL,
      .setting = { "message_max", .type = SETTING_SIZE, .min = 1024, .max = (double)EVENT_BYTES_MAX,
                   .into = INTO(message_bytes_max),
                   .help = "Larger messages are refused without being sent; without it, what the "
                           "bus takes." } },
    { .types = FOR_ALL,
      .setting = { "timeout.connect", .type = SETTING_DURATION, .builtin = "10s",
                   .min = SECONDS(0.1), .max = SECONDS(120), .into = INTO(connect_timeout_us),
                   .help = "How long to wait for a connection." } },
    { .types = FOR_ALL,
      .setting = { "timeout.publish", .type = SETTING_DURATION, .builtin = "30s",
                   .min = SECONDS(0.1), .max = SECONDS(600), .into = INTO(publish_timeout_us),
                   .help = "How long to wait until a batch is acknowledged." } },

    /* ---- readers ---- */
    { .types = FOR_NATS | FOR_PUBSUB | FOR_KAFKA,
      .setting = { "read.messages", .type = SETTING_INT, .builtin = "1000", .min = 1, .max = 100000,
                   .into = INTO(read.messages),
                   .help = "For readers: messages that are delivered and not settled yet." } },
    { .types = FOR_NATS | FOR_PUBSUB | FOR_KAFKA,
      .setting = { "read.bytes", .type = SETTING_SIZE, .builtin = "16MiB", .min = 1024,
                   .max = MIB(1024), .into = INTO(read.bytes),
                   .help = "For readers: the most bytes of them." } },
    { .types = FOR_NATS | FOR_PUBSUB | FOR_KAFKA,
      .setting = { "read.hold", .type = SETTING_DURATION, .builtin = "30s", .min = SECONDS(0.1),
                   .max = SECONDS(600), .into = INTO(read.hold_us),
                   .help = "For readers: a message that is not settled after this is delivered "
                           "again." } },

    /* ---- making it ---- */
    { .types = FOR_NATS | FOR_KAFKA,
      .setting = { "create.replicas", .type = SETTING_INT, .builtin = "1", .min = 1, .max = 7,
                   .into = INTO(create.replicas),
                   .help = "With --create: copies of each message." } },
    { .types = FOR_NATS,
      .setting = { "create.storage", .type = SETTING_CODE, .builtin = "file",
                   .codes = &BUS_STORAGE_CODES, .into = INTO(create.storage),
                   .help = "With --create: where messages are kept." } },
    { .types = FOR_NATS | FOR_PUBSUB | FOR_KAFKA,
      .setting = { "create.keep", .type = SETTING_DURATION, .builtin = "7d", .min = SECONDS(600),
                   .max = SECONDS(366.0 * 86400), .into = INTO(create.keep_us),
                   .help = "With --create: how long messages are kept." } },
    { .types = FOR_NATS,
      .setting = { "create.dedup", .type = SETTING_DURATION, .builtin = "10m", .min = SECONDS(1),
                   .max = SECONDS(86400), .into = INTO(create.dedup_us),
                   .help =
                       "With --create: for how long a message that is sent twice is kept once." } },
    { .types = FOR_KAFKA,
      .setting = { "create.partitions", .type = SETTING_INT, .builtin = "16", .min = 1,
                   .max = OUTBOX_LANES, .into = INTO(create.partitions),
                   .help = "With --create: partitions of the topic." } },
};
const size_t BUS_SETTING_COUNT = sizeof(BUS_SETTINGS) / sizeof(BUS_SETTINGS[0]);

const struct bus_setting *bus_setting_find(struct str path)
{
    for (size_t i = 0; i < BUS_SETTING_COUNT; i++) {
        if (str_eq(str_of(BUS_SETTINGS[i].setting.path), path))
            return &BUS_SETTINGS[i];
    }
    return NULL;
}

bool bus_setting_is_group(struct str name)
{
    for (size_t i = 0; i < BUS_SETTING_COUNT; i++) {
        const struct str path = str_of(BUS_SETTINGS[i].setting.path);

        if (path.len > name.len && path.data[name.len] == '.' && str_starts(path, name))
            return true;
    }
    return false;
}
