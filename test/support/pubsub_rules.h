/* pubsub_rules: the rules that Google documents for Pub/Sub, as a model in memory.
 *
 * What is here and not in Google's emulator: a request with several ordering keys is refused; after
 * a message of an ordering key was given back, or its lease ended, everything after it of the key
 * comes again, in order, also what was acknowledged; an ordered subscription forwards to its
 * dead-letter topic, and can seek.
 *
 * Messages are the bytes that were published. Time is a parameter. One thread.
 */
#ifndef PATRA_TEST_SUPPORT_PUBSUB_RULES_H
#define PATRA_TEST_SUPPORT_PUBSUB_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pubsub.pb-c.h>

/* The statuses of gRPC that the rules speak of. */
enum rules_status {
    RULES_OK = 0,
    RULES_INVALID = 3,
    RULES_NOT_FOUND = 5,
    RULES_EXISTS = 6,
};

struct rules_message { /* kept as long as the rules */
    Wire__PubsubMessage *message;
    char id[24];
    int64_t published_us;
};

enum rules_state { RULES_WAITING, RULES_OUT, RULES_ACKED };

struct rules_entry { /* a message, as one subscription has it */
    const struct rules_message *message;
    enum rules_state state;
    int attempt;
    uint64_t ack;        /* of the delivery under way */
    int64_t deadline_us; /* of it */
    const void *reader;  /* whom it went to */
};

struct rules_topic {
    char name[256];
};

struct rules_subscription {
    char name[256];
    struct rules_topic *topic;
    bool is_ordered;
    bool keeps_acked;
    char dead_letter[256]; /* empty: none */
    int attempts_max;
    struct rules_entry *entries; /* in the order published */
    size_t count;
};

struct rules {
    struct rules_topic *topics[64];
    size_t topic_count;
    struct rules_subscription *subscriptions[256];
    size_t subscription_count;
    struct rules_message **messages;
    size_t message_count;
    uint64_t last_id, last_ack;
};

void rules_release(struct rules *rules); /* the zero value is without anything */

enum rules_status rules_make_topic(struct rules *rules, const Wire__Topic *topic);
enum rules_status rules_make_subscription(struct rules *rules, const Wire__Subscription *wanted);
struct rules_subscription *rules_find(struct rules *rules, ProtobufCBinaryData name);

/* ids has room for one per message. */
enum rules_status rules_publish(struct rules *rules, const Wire__PublishRequest *request,
                                int64_t now_us, const char **ids);

/* The next message to deliver to this reader, or NULL; it is out from then on. */
struct rules_entry *rules_next(struct rules *rules, struct rules_subscription *subscription,
                               const void *reader, int64_t deadline_us);

/* Unknown ids, and those whose lease ended, are passed over, as Google does. seconds 0 gives back.
 */
void rules_ack(struct rules_subscription *subscription, uint64_t ack);
void rules_modify(struct rules *rules, struct rules_subscription *subscription, uint64_t ack,
                  int seconds, int64_t now_us);
void rules_seek(struct rules_subscription *subscription, int64_t to_us);
/* This reader is gone. */
void rules_forget(struct rules *rules, const void *reader);
/* Leases that ended. */
void rules_tick(struct rules *rules, int64_t now_us);

#endif
