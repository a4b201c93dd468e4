/* pubsub: the bus port over Google Cloud Pub/Sub, by gRPC, in a module of its own
 * (patra-pubsub.so).
 *
 * Publishing. The ordering key is the message's key, or with `order: lane` the lane's number. A
 * request has messages of one ordering key alone, and a key has one request under way: two could be
 * kept in either order. After a request that failed nothing more of its key is sent in this call
 * (BUS_NOT_TRIED); the next call goes on. What Google documents as limits is checked before
 * sending, so a message that breaks them is refused alone. There is no fence: readers drop versions
 * that they have passed.
 *
 * Reading. The subscription is the one that the spec names, or else TOPIC.GROUP. StreamingPull;
 * Google keeps to the flow, and so does this. What waits here has its lease extended. BUS_NACK also
 * gives back what waits here of the same ordering key, because all that follows comes again.
 * Closing gives back what is not settled.
 *
 * Where. Google's servers, or `address`; TLS is verified unless `allow_plain`.
 * $PUBSUB_EMULATOR_HOST is honoured: then everything goes there, without TLS and without a
 * credential. A token is sent over TLS only.
 *
 *      open.c      the handle, check, create
 *      rpc.c       calls over gRPC, waited for with a file descriptor
 *      token.c     the credential
 *      publish.c   messages → requests, answers → receipts
 *      reader.c    subscribe, poll, settle, seek
 *      message.c   a message as Google has it, and back; its limits
 *      fault.c     statuses → errors
 */
#ifndef PATRA_ADAPTER_PUBSUB_PUBSUB_H
#define PATRA_ADAPTER_PUBSUB_PUBSUB_H

#include "adapter/pubsub/fault.h"
#include "adapter/pubsub/rpc.h"
#include "adapter/pubsub/token.h"
#include "base/buf.h"
#include "port/bus_parts.h"
#include <pubsub.pb-c.h>

/* Documented by Google: quotas and limits of messages and requests. */
enum {
    PUBSUB_REQUEST_BYTES_MAX = 10000000,
    PUBSUB_REQUEST_MESSAGES_MAX = 1000,
    PUBSUB_ATTRIBUTES_MAX = 100,
    PUBSUB_ATTRIBUTE_NAME_MAX = 256,
    PUBSUB_ATTRIBUTE_VALUE_MAX = 1024,
    PUBSUB_ORDERING_KEY_MAX = 1024,
    PUBSUB_DEADLINE_MIN_S = 10,
    PUBSUB_DEADLINE_MAX_S = 600,
};

#define PUBSUB_PUBLISH "/google.pubsub.v1.Publisher/Publish"
#define PUBSUB_CREATE_TOPIC "/google.pubsub.v1.Publisher/CreateTopic"
#define PUBSUB_CREATE_SUBSCRIPTION "/google.pubsub.v1.Subscriber/CreateSubscription"
#define PUBSUB_STREAMING_PULL "/google.pubsub.v1.Subscriber/StreamingPull"
#define PUBSUB_ACKNOWLEDGE "/google.pubsub.v1.Subscriber/Acknowledge"
#define PUBSUB_MODIFY_DEADLINE "/google.pubsub.v1.Subscriber/ModifyAckDeadline"
#define PUBSUB_SEEK "/google.pubsub.v1.Subscriber/Seek"

struct pubsub_stream; /* reader.c */

struct pubsub_reader {
    struct str subscription; /* "projects/P/subscriptions/S"; empty: not subscribed */
    struct bus_flow flow;
    int deadline_s;
    struct pubsub_stream *stream; /* NULL: none is open */
    struct pubsub_held *held;     /* what was received and is not settled, in the order received */
    size_t held_count;
    size_t held_capacity;
    uint64_t last_handle;
};

struct pubsub {
    struct bus bus; /* first */
    struct arena arena;
    struct bus_parts parts;
    struct str topic;   /* "projects/P/topics/T" */
    const char *target; /* host:port */
    bool is_plain;
    struct rpc rpc; /* opened by the first call */
    struct token token;
    struct pubsub_reader reader;
};

/* opener may be NULL where no token is needed. */
bool pubsub_open(const struct bus_parts *parts, bus_http_opener opener, struct bus **bus,
                 struct error *err) MUST_CHECK;

/* ---- calls ---- */

/* Opens the channel, if there is none, and gets a token. */
bool pubsub_ready(struct pubsub *pubsub, struct rpc_until until, struct str *token,
                  struct error *err) MUST_CHECK;

grpc_byte_buffer *pubsub_pack(const ProtobufCMessage *message);

/* One call from beginning to end. The answer's bytes, if *reply is not NULL, are the caller's to
 * unref. A token that is refused is replaced once. */
bool pubsub_call(struct pubsub *pubsub, const char *method, const ProtobufCMessage *message,
                 struct rpc_until until, grpc_slice *reply, struct error *err) MUST_CHECK;

/* The error of a call that ended. The server's text is shown, unless it has the token in it. */
bool pubsub_fail(const struct pubsub *pubsub, const struct rpc_call *call, const char *doing,
                 struct error *err);

static inline ProtobufCBinaryData pubsub_bytes(struct str s)
{
    return (ProtobufCBinaryData){ s.len, (uint8_t *)s.data };
}

static inline struct str pubsub_str(ProtobufCBinaryData bytes)
{
    return (struct str){ (const char *)bytes.data, bytes.len };
}

/* ---- messages ---- */

/* As Google wants it, in the arena; the body is borrowed. *refusal says why Google would not take
 * it; NULL: it would. */
bool pubsub_message_make(struct arena *arena, const struct bus_message *message,
                         enum bus_order order, Wire__PubsubMessage **made, const char **refusal,
                         struct error *err) MUST_CHECK;

bool pubsub_message_read(struct arena *arena, const Wire__ReceivedMessage *received,
                         struct bus_delivery *delivery, struct error *err) MUST_CHECK;

/* ---- ops ---- */

bool pubsub_publish(struct bus *bus, struct arena *arena, const struct bus_publish *publish,
                    struct bus_receipt *receipts, struct error *err);
bool pubsub_subscribe(struct bus *bus, struct str group, const struct bus_flow *flow,
                      struct error *err);
bool pubsub_poll(struct bus *bus, struct arena *arena, const struct bus_poll *poll,
                 struct bus_delivery_list *list, struct error *err);
bool pubsub_settle(struct bus *bus, const struct bus_settlement *settlements, size_t count,
                   struct error *err);
bool pubsub_seek(struct bus *bus, int64_t at_us, struct error *err);
bool pubsub_lag(struct bus *bus, struct bus_lag *lag, struct error *err);
void pubsub_reader_close(struct pubsub *pubsub);

#endif
