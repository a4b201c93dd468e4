/* Google's documented rules of Pub/Sub. */
#include "pubsub_rules.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REQUEST_BYTES_MAX = 10000000,
    REQUEST_MESSAGES_MAX = 1000,
    ATTRIBUTES_MAX = 100,
    NAME_MAX_ = 256,
    VALUE_MAX = 1024,
    KEY_MAX = 1024,
};

static bool same(ProtobufCBinaryData a, ProtobufCBinaryData b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static bool is_text(ProtobufCBinaryData bytes, const char *text)
{
    return bytes.len == strlen(text) && memcmp(bytes.data, text, bytes.len) == 0;
}

/* "projects/P/topics/ID", an id of 3 to 255 that begins with a letter and not with "goog". */
static bool copy_name(ProtobufCBinaryData name, char out[256])
{
    const char *id;

    if (name.len == 0 || name.len > 255)
        return false;
    memcpy(out, name.data, name.len);
    out[name.len] = '\0';
    id = strrchr(out, '/');
    if (id == NULL || strncmp(out, "projects/", 9) != 0)
        return false;
    id++;
    return strlen(id) >= 3 && ((*id | 32) >= 'a' && (*id | 32) <= 'z') &&
           strncmp(id, "goog", 4) != 0;
}

void rules_release(struct rules *rules)
{
    for (size_t i = 0; i < rules->message_count; i++) {
        wire__pubsub_message__free_unpacked(rules->messages[i]->message, NULL);
        free(rules->messages[i]);
    }
    for (size_t i = 0; i < rules->subscription_count; i++) {
        free(rules->subscriptions[i]->entries);
        free(rules->subscriptions[i]);
    }
    for (size_t i = 0; i < rules->topic_count; i++)
        free(rules->topics[i]);
    free(rules->messages);
    memset(rules, 0, sizeof(*rules));
}

/* ---- topics and subscriptions ---- */

static struct rules_topic *find_topic(struct rules *rules, ProtobufCBinaryData name)
{
    for (size_t i = 0; i < rules->topic_count; i++) {
        if (is_text(name, rules->topics[i]->name))
            return rules->topics[i];
    }
    return NULL;
}

struct rules_subscription *rules_find(struct rules *rules, ProtobufCBinaryData name)
{
    for (size_t i = 0; i < rules->subscription_count; i++) {
        if (is_text(name, rules->subscriptions[i]->name))
            return rules->subscriptions[i];
    }
    return NULL;
}

enum rules_status rules_make_topic(struct rules *rules, const Wire__Topic *topic)
{
    struct rules_topic *made;

    if (find_topic(rules, topic->name) != NULL)
        return RULES_EXISTS;
    assert(rules->topic_count < 64);
    made = calloc(1, sizeof(*made));
    rules->topics[rules->topic_count++] = made;
    if (copy_name(topic->name, made->name))
        return RULES_OK;
    rules->topic_count--;
    free(made);
    return RULES_INVALID;
}

enum rules_status rules_make_subscription(struct rules *rules, const Wire__Subscription *wanted)
{
    struct rules_topic *topic = find_topic(rules, wanted->topic);
    struct rules_subscription *made;
    char name[256];

    if (rules_find(rules, wanted->name) != NULL)
        return RULES_EXISTS;
    if (topic == NULL)
        return RULES_NOT_FOUND;
    if (!copy_name(wanted->name, name) || wanted->ack_deadline_seconds < 10 ||
        wanted->ack_deadline_seconds > 600)
        return RULES_INVALID;
    assert(rules->subscription_count < 256);
    made = calloc(1, sizeof(*made));
    memcpy(made->name, name, sizeof(name));
    made->topic = topic;
    made->is_ordered = wanted->enable_message_ordering;
    made->keeps_acked = wanted->retain_acked_messages;
    if (wanted->dead_letter_policy != NULL) {
        const int attempts = wanted->dead_letter_policy->max_delivery_attempts;

        if ((attempts != 0 && (attempts < 5 || attempts > 100)) ||
            !copy_name(wanted->dead_letter_policy->dead_letter_topic, made->dead_letter)) {
            free(made);
            return RULES_INVALID;
        }
        made->attempts_max = attempts == 0 ? 5 : attempts;
    }
    rules->subscriptions[rules->subscription_count++] = made;
    return RULES_OK;
}

/* ---- publishing ---- */

static bool is_good(const Wire__PubsubMessage *message)
{
    if ((message->data.len == 0 && message->n_attributes == 0) ||
        message->n_attributes > ATTRIBUTES_MAX || message->ordering_key.len > KEY_MAX)
        return false;
    for (size_t i = 0; i < message->n_attributes; i++) {
        const Wire__Attribute *attribute = message->attributes[i];

        if (attribute->key.len == 0 || attribute->key.len > NAME_MAX_ ||
            attribute->value.len > VALUE_MAX ||
            (attribute->key.len >= 4 && memcmp(attribute->key.data, "goog", 4) == 0))
            return false;
    }
    return true;
}

static bool request_is_good(const Wire__PublishRequest *request)
{
    if (request->n_messages == 0 || request->n_messages > REQUEST_MESSAGES_MAX ||
        wire__publish_request__get_packed_size(request) > REQUEST_BYTES_MAX)
        return false;
    for (size_t i = 0; i < request->n_messages; i++) {
        if (!is_good(request->messages[i]) ||
            !same(request->messages[i]->ordering_key, request->messages[0]->ordering_key))
            return false;
    }
    return true;
}

static Wire__PubsubMessage *copy_message(const Wire__PubsubMessage *message)
{
    const size_t size = wire__pubsub_message__get_packed_size(message);
    uint8_t *bytes = malloc(size + 1);
    Wire__PubsubMessage *copy;

    (void)wire__pubsub_message__pack(message, bytes);
    copy = wire__pubsub_message__unpack(NULL, size, bytes);
    free(bytes);
    assert(copy != NULL);
    return copy;
}

static const char *keep(struct rules *rules, const struct rules_topic *topic,
                        const Wire__PubsubMessage *message, int64_t now_us)
{
    struct rules_message *kept = calloc(1, sizeof(*kept));

    kept->message = copy_message(message);
    kept->published_us = now_us;
    (void)snprintf(kept->id, sizeof(kept->id), "%llu", (unsigned long long)++rules->last_id);
    rules->messages =
        realloc(rules->messages, (rules->message_count + 1) * sizeof(*rules->messages));
    rules->messages[rules->message_count++] = kept;
    for (size_t i = 0; i < rules->subscription_count; i++) {
        struct rules_subscription *subscription = rules->subscriptions[i];

        if (subscription->topic != topic)
            continue;
        subscription->entries = realloc(subscription->entries,
                                        (subscription->count + 1) * sizeof(*subscription->entries));
        subscription->entries[subscription->count++] = (struct rules_entry){ .message = kept };
    }
    return kept->id;
}

enum rules_status rules_publish(struct rules *rules, const Wire__PublishRequest *request,
                                int64_t now_us, const char **ids)
{
    const struct rules_topic *topic = find_topic(rules, request->topic);

    if (topic == NULL)
        return RULES_NOT_FOUND;
    if (!request_is_good(request))
        return RULES_INVALID;
    for (size_t i = 0; i < request->n_messages; i++)
        ids[i] = keep(rules, topic, request->messages[i], now_us);
    return RULES_OK;
}

/* ---- delivering ---- */

static ProtobufCBinaryData key_of(const struct rules_entry *entry)
{
    return entry->message->message->ordering_key;
}

static bool is_ordered(const struct rules_subscription *subscription,
                       const struct rules_entry *entry)
{
    return subscription->is_ordered && key_of(entry).len > 0;
}

/* Of an ordering key, all before it is acknowledged or on its way to the same reader. */
static bool is_next(const struct rules_subscription *subscription, const struct rules_entry *entry,
                    const void *reader)
{
    if (!is_ordered(subscription, entry))
        return true;
    for (const struct rules_entry *before = subscription->entries; before < entry; before++) {
        if (same(key_of(before), key_of(entry)) &&
            (before->state == RULES_WAITING ||
             (before->state == RULES_OUT && before->reader != reader)))
            return false;
    }
    return true;
}

struct rules_entry *rules_next(struct rules *rules, struct rules_subscription *subscription,
                               const void *reader, int64_t deadline_us)
{
    for (size_t i = 0; i < subscription->count; i++) {
        struct rules_entry *entry = &subscription->entries[i];

        if (entry->state != RULES_WAITING || !is_next(subscription, entry, reader))
            continue;
        entry->state = RULES_OUT;
        entry->attempt++;
        entry->ack = ++rules->last_ack;
        entry->deadline_us = deadline_us;
        entry->reader = reader;
        return entry;
    }
    return NULL;
}

static struct rules_entry *find_out(struct rules_subscription *subscription, uint64_t ack)
{
    for (size_t i = 0; i < subscription->count; i++) {
        if (subscription->entries[i].state == RULES_OUT && subscription->entries[i].ack == ack)
            return &subscription->entries[i];
    }
    return NULL;
}

void rules_ack(struct rules_subscription *subscription, uint64_t ack)
{
    struct rules_entry *entry = find_out(subscription, ack);

    if (entry != NULL)
        entry->state = RULES_ACKED;
}

/* A copy with what Google adds to it. */
static void forward(struct rules *rules, const struct rules_subscription *subscription,
                    const struct rules_entry *entry, int64_t now_us)
{
    static const char COUNT[] = "CloudPubSubDeadLetterSourceDeliveryCount";
    static const char NAME[] = "CloudPubSubDeadLetterSourceSubscription";
    struct rules_topic *topic =
        find_topic(rules, (ProtobufCBinaryData){ strlen(subscription->dead_letter),
                                                 (uint8_t *)subscription->dead_letter });
    Wire__PubsubMessage copy = *entry->message->message;
    Wire__Attribute *attributes[ATTRIBUTES_MAX + 2];
    Wire__Attribute count = WIRE__ATTRIBUTE__INIT, source = WIRE__ATTRIBUTE__INIT;
    const char *id = strrchr(subscription->name, '/') + 1;
    char number[16];

    if (topic == NULL)
        return;
    (void)snprintf(number, sizeof(number), "%d", entry->attempt);
    count.key = (ProtobufCBinaryData){ sizeof(COUNT) - 1, (uint8_t *)COUNT };
    count.value = (ProtobufCBinaryData){ strlen(number), (uint8_t *)number };
    source.key = (ProtobufCBinaryData){ sizeof(NAME) - 1, (uint8_t *)NAME };
    source.value = (ProtobufCBinaryData){ strlen(id), (uint8_t *)id };
    memcpy(attributes, copy.attributes, copy.n_attributes * sizeof(Wire__Attribute *));
    attributes[copy.n_attributes] = &count;
    attributes[copy.n_attributes + 1] = &source;
    copy.attributes = attributes;
    copy.n_attributes += 2;
    (void)keep(rules, topic, &copy, now_us);
}

/* Back to the subscription, or to the dead letters; and with it everything after it of its key,
 * even what was acknowledged. */
static void give_back(struct rules *rules, struct rules_subscription *subscription,
                      struct rules_entry *entry, int64_t now_us)
{
    const bool is_dead =
        subscription->attempts_max > 0 && entry->attempt >= subscription->attempts_max;

    entry->state = is_dead ? RULES_ACKED : RULES_WAITING;
    for (size_t i = 0; is_ordered(subscription, entry) && i < subscription->count; i++) {
        struct rules_entry *later = &subscription->entries[i];

        if (later > entry && same(key_of(later), key_of(entry)))
            later->state = RULES_WAITING;
    }
    if (is_dead)
        forward(rules, subscription, entry, now_us);
}

void rules_modify(struct rules *rules, struct rules_subscription *subscription, uint64_t ack,
                  int seconds, int64_t now_us)
{
    struct rules_entry *entry = find_out(subscription, ack);

    if (entry == NULL)
        return;
    if (seconds == 0)
        give_back(rules, subscription, entry, now_us);
    else
        entry->deadline_us = now_us + seconds * INT64_C(1000000);
}

void rules_seek(struct rules_subscription *subscription, int64_t to_us)
{
    for (size_t i = 0; i < subscription->count; i++) {
        struct rules_entry *entry = &subscription->entries[i];

        if (entry->message->published_us < to_us)
            entry->state = RULES_ACKED;
        else if (subscription->keeps_acked || entry->state != RULES_ACKED)
            entry->state = RULES_WAITING;
        entry->attempt = 0;
    }
}

void rules_forget(struct rules *rules, const void *reader)
{
    for (size_t i = 0; i < rules->subscription_count; i++) {
        for (size_t j = 0; j < rules->subscriptions[i]->count; j++) {
            if (rules->subscriptions[i]->entries[j].reader == reader)
                rules->subscriptions[i]->entries[j].reader = NULL;
        }
    }
}

void rules_tick(struct rules *rules, int64_t now_us)
{
    for (size_t i = 0; i < rules->subscription_count; i++) {
        struct rules_subscription *subscription = rules->subscriptions[i];

        for (size_t j = 0; j < subscription->count; j++) {
            if (subscription->entries[j].state == RULES_OUT &&
                subscription->entries[j].deadline_us <= now_us)
                give_back(rules, subscription, &subscription->entries[j], now_us);
        }
    }
}
