/* bus: somebody else's log of messages: NATS, Pub/Sub, Kafka, a webhook.
 *
 * At least once, in both directions. The ids of messages are stable; nothing else is trusted.
 *
 *      relay     stream ──▶ bus_publish()                           engine/relay/relay.h
 *      reader    bus_subscribe(), then bus_poll() and bus_settle() again and again
 *
 * The promises, which all adapters keep (test/contract/bus_cases.c):
 *
 * Order. A publish call holds each key at most once, so what happens to one message says nothing
 * about another. Messages of one key that were acknowledged in the order of calls are delivered in
 * that order (where the adapter has BUS_ORDER); each may be delivered again.
 *
 * Outcomes. bus_publish() gives each message an outcome, also when it fails: BUS_ACKED only if the
 * bus has said that it keeps the message. It fails (L1 bus.lost, bus.timeout, bus.busy; L4
 * bus.auth, bus.tls, bus.missing, bus.spec) when the bus as a whole cannot be used; what one
 * message alone is refused for (too large, a name that the bus does not take) is BUS_REFUSED with a
 * reason.
 *
 * Fence. Where the adapter has BUS_FENCE, the messages of a lane whose owner was overtaken (another
 * one has published to the lane since) are not kept: BUS_RETRY, and the call fails with L1
 * "bus.fenced".
 *
 * Time. Every call ends by timeout_us, or when wake_fd is readable. An adapter whose library has
 * threads of its own queues what they bring; bus_poll() hands it out.
 *
 * Threads. A handle is used by one thread at a time.
 *
 * Secrets. No error, log line or row contains a credential, or an address with one.
 */
#ifndef PATRA_PORT_BUS_H
#define PATRA_PORT_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

enum bus_capability {
    BUS_SEEK_TIME = 1 << 0,
    BUS_EXTEND = 1 << 1,         /* a delivery can be held longer */
    BUS_DELIVERY_COUNT = 1 << 2, /* bus_delivery.attempt is known */
    BUS_DEDUP = 1 << 3,          /* the bus drops a message whose id it has */
    BUS_ORDER = 1 << 4,
    BUS_FENCE = 1 << 5,
    BUS_READ = 1 << 6,   /* it can be subscribed to: a webhook cannot */
    BUS_CREATE = 1 << 7, /* what is published to can be made: bus_create() */
};

struct bus_attribute {
    struct str name;
    struct str value;
};

struct bus_message {
    struct str event_id; /* a UUID */
    struct str key;      /* "type/id" of the aggregate: what order is kept by */
    int64_t lane;
    int64_t version;
    const struct bus_attribute *attributes;
    size_t attribute_count;
    struct str content_type;
    struct str body;
};

enum bus_outcome {
    BUS_NOT_TRIED,
    BUS_ACKED,
    BUS_RETRY,   /* L1: may succeed later, and may have succeeded */
    BUS_REFUSED, /* never will: the key is parked */
};

struct bus_receipt {
    enum bus_outcome outcome;
    struct str ack_id; /* what the bus calls the message; may be empty */
    struct str reason; /* unless it was acknowledged */
};

/* A lane that only its owner may publish to, and what the owner knows of it. */
struct bus_fence {
    int64_t lane;
    int64_t lease_epoch; /* grows with each owner */
    struct str ack_id;   /* of the lane's last message that was acknowledged; empty: unknown */
};

struct bus_publish {
    const struct bus_message *messages; /* each key once */
    size_t count;
    const struct bus_fence *fences; /* one for each lane of the messages */
    size_t fence_count;
    int64_t timeout_us;
    int wake_fd; /* readable: give up; -1: none */
};

struct bus_flow {
    size_t messages_max; /* delivered and not settled */
    size_t bytes_max;
};

struct bus_delivery {
    struct bus_message message; /* as it was published, as far as the bus keeps it */
    struct str bus_id;          /* what the bus calls it */
    int64_t published_us;
    int64_t attempt; /* 1: the first; 0: unknown */
    uint64_t handle; /* for bus_settle() */
};

struct bus_delivery_list {
    struct bus_delivery *items;
    size_t count;
};

enum bus_verdict {
    BUS_ACK,
    BUS_NACK, /* deliver it again */
    BUS_HOLD, /* needs more time */
};

struct bus_settlement {
    uint64_t handle;
    enum bus_verdict verdict;
};

struct bus_poll {
    size_t messages_max;
    size_t bytes_max;
    int64_t timeout_us;
    int wake_fd; /* -1: none */
};

struct bus_lag {
    bool is_known;
    int64_t messages; /* kept by the bus and not settled by this subscription */
};

struct bus;

struct bus_ops {
    void (*close)(struct bus *bus);
    bool (*check)(struct bus *bus, int64_t timeout_us, struct error *err);
    bool (*create)(struct bus *bus, int64_t timeout_us, bool *made, struct error *err);
    bool (*publish)(struct bus *bus, struct arena *arena, const struct bus_publish *publish,
                    struct bus_receipt *receipts, struct error *err);
    bool (*subscribe)(struct bus *bus, struct str group, const struct bus_flow *flow,
                      struct error *err);
    bool (*poll)(struct bus *bus, struct arena *arena, const struct bus_poll *poll,
                 struct bus_delivery_list *list, struct error *err);
    bool (*settle)(struct bus *bus, const struct bus_settlement *settlements, size_t count,
                   struct error *err);
    bool (*seek)(struct bus *bus, int64_t at_us, struct error *err);
    bool (*lag)(struct bus *bus, struct bus_lag *lag, struct error *err);
    bool (*forget)(struct bus *bus, struct error *err); /* NULL: the bus remembers no groups */
};

struct bus {
    const struct bus_ops *ops;
    unsigned capabilities; /* of enum bus_capability */
};

/* Accepts NULL. Messages that are not acknowledged yet are given up. */
static inline void bus_close(struct bus *bus)
{
    if (bus != NULL)
        bus->ops->close(bus);
}

/* Whether the bus can be reached, lets this credential in and has what is published to. */
static inline bool MUST_CHECK bus_check(struct bus *bus, int64_t timeout_us, struct error *err)
{
    return bus->ops->check(bus, timeout_us, err);
}

/* Makes the stream or topic that is published to, as its description says, where it is missing;
 * *made is false where it is not. Only with BUS_CREATE. */
static inline bool MUST_CHECK bus_create(struct bus *bus, int64_t timeout_us, bool *made,
                                         struct error *err)
{
    *made = false;
    return bus->ops->create(bus, timeout_us, made, err);
}

/* `receipts` has an element per message; each is set, whatever is returned, and lives in the arena.
 */
static inline bool MUST_CHECK bus_publish(struct bus *bus, struct arena *arena,
                                          const struct bus_publish *publish,
                                          struct bus_receipt *receipts, struct error *err)
{
    for (size_t i = 0; i < publish->count; i++)
        receipts[i] = (struct bus_receipt){ .outcome = BUS_NOT_TRIED };
    return bus->ops->publish(bus, arena, publish, receipts, err);
}

/* Once, before the first poll. Readers of one group share its messages; the bus remembers what a
 * group has settled. */
static inline bool MUST_CHECK bus_subscribe(struct bus *bus, struct str group,
                                            const struct bus_flow *flow, struct error *err)
{
    return bus->ops->subscribe(bus, group, flow, err);
}

/* Waits until there is something, or the time is over: then the list is empty. */
static inline bool MUST_CHECK bus_poll(struct bus *bus, struct arena *arena,
                                       const struct bus_poll *poll, struct bus_delivery_list *list,
                                       struct error *err)
{
    *list = (struct bus_delivery_list){ 0 };
    return bus->ops->poll(bus, arena, poll, list, err);
}

/* After it returned true, acknowledged messages are not delivered to the group again, as far as the
 * bus promises that. */
static inline bool MUST_CHECK bus_settle(struct bus *bus, const struct bus_settlement *settlements,
                                         size_t count, struct error *err)
{
    return bus->ops->settle(bus, settlements, count, err);
}

/* Delivers again from what was published at this instant on. Only while nothing is unsettled;
 * deliveries of before may still come. */
static inline bool MUST_CHECK bus_seek(struct bus *bus, int64_t at_us, struct error *err)
{
    return bus->ops->seek(bus, at_us, err);
}

/* Unknown before bus_subscribe(). */
static inline bool MUST_CHECK bus_lag(struct bus *bus, struct bus_lag *lag, struct error *err)
{
    *lag = (struct bus_lag){ 0 };
    return bus->ops->lag(bus, lag, err);
}

/* Ends the subscription for good: the bus need not remember how far its group was. */
static inline bool MUST_CHECK bus_forget(struct bus *bus, struct error *err)
{
    return bus->ops->forget == NULL || bus->ops->forget(bus, err);
}

#endif
