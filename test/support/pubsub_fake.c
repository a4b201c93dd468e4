/* A gRPC server over pubsub_rules.h, by the C core: every event of its completion queue is served
 * by one thread, so the rules need no lock but for what tests do. */
#include "pubsub_fake.h"

#include <assert.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pubsub_rules.h"
#include "random.h"

enum { TICK_US = 10000, PAGE_MESSAGES = 100 };

enum step { STEP_NEW, STEP_FIRST, STEP_MORE, STEP_SENT, STEP_CLOSED, STEP_DONE, STEPS };

struct connection;
struct tag {
    struct connection *connection;
    enum step step;
};

struct connection { /* one call of a client */
    struct connection *next;
    grpc_call *call;
    grpc_call_details details;
    grpc_metadata_array metadata;
    struct tag tags[STEPS];
    grpc_byte_buffer *got;
    grpc_byte_buffer *sent;
    int pending; /* operations under way */
    int cancelled;
    bool is_over;
    /* A stream: */
    struct rules_subscription *subscription;
    int deadline_s;
    int64_t messages_max;
    int64_t bytes_max;
    bool is_sending;
};

struct pubsub_fake {
    struct pubsub_fake_options options;
    bool is_halted;
    grpc_server *server;
    grpc_completion_queue *queue;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    int port;
    int64_t ahead_us;
    const char *token;
    const char *says; /* NULL: words of its own */
    bool is_flooding;
    int fail_status, fail_count;
    bool fail_is_kept;
    size_t publishes;
    int echo_chance;
    struct random echo_random;
    int64_t echoes;
    struct rules rules;
    struct connection *connections;
    bool is_stopping;
};

static int64_t now_us(const struct pubsub_fake *fake)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000 + fake->ahead_us;
}

/* ---- connections ---- */

static struct tag *begin(struct connection *connection, enum step step)
{
    connection->pending++;
    connection->tags[step] = (struct tag){ connection, step };
    return &connection->tags[step];
}

static void accept_one(struct pubsub_fake *fake)
{
    struct connection *connection = calloc(1, sizeof(*connection));

    connection->next = fake->connections;
    fake->connections = connection;
    grpc_call_details_init(&connection->details);
    grpc_metadata_array_init(&connection->metadata);
    if (grpc_server_request_call(fake->server, &connection->call, &connection->details,
                                 &connection->metadata, fake->queue, fake->queue,
                                 begin(connection, STEP_NEW)) != GRPC_CALL_OK)
        abort();
}

static void drop(struct pubsub_fake *fake, struct connection *connection)
{
    struct connection **at = &fake->connections;

    while (*at != connection)
        at = &(*at)->next;
    *at = connection->next;
    rules_forget(&fake->rules, connection); /* what it has comes again when its lease ends */
    grpc_call_details_destroy(&connection->details);
    grpc_metadata_array_destroy(&connection->metadata);
    if (connection->got != NULL)
        grpc_byte_buffer_destroy(connection->got);
    if (connection->sent != NULL)
        grpc_byte_buffer_destroy(connection->sent);
    if (connection->call != NULL)
        grpc_call_unref(connection->call);
    free(connection);
}

static void start(struct connection *connection, const grpc_op *ops, size_t count, enum step step)
{
    if (grpc_call_start_batch(connection->call, ops, count, begin(connection, step), NULL) !=
        GRPC_CALL_OK)
        abort();
}

static void receive(struct connection *connection, enum step step)
{
    grpc_op op = { .op = GRPC_OP_RECV_MESSAGE };

    op.data.recv_message.recv_message = &connection->got;
    start(connection, &op, 1, step);
}

static void finish(struct connection *connection, int status, const char *text)
{
    grpc_slice details = grpc_slice_from_static_string(text);
    grpc_op op = { .op = GRPC_OP_SEND_STATUS_FROM_SERVER };

    if (connection->is_over)
        return;
    connection->is_over = true;
    op.data.send_status_from_server.status = (grpc_status_code)status;
    op.data.send_status_from_server.status_details = &details;
    start(connection, &op, 1, STEP_DONE);
}

static const char *words(const struct pubsub_fake *fake, const char *own)
{
    return fake->says != NULL ? fake->says : own;
}

static grpc_byte_buffer *pack(const ProtobufCMessage *message)
{
    grpc_slice slice = grpc_slice_malloc(protobuf_c_message_get_packed_size(message));
    grpc_byte_buffer *buffer;

    (void)protobuf_c_message_pack(message, GRPC_SLICE_START_PTR(slice));
    buffer = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    return buffer;
}

static void answer(struct connection *connection, const ProtobufCMessage *message)
{
    grpc_op ops[] = { { .op = GRPC_OP_SEND_MESSAGE }, { .op = GRPC_OP_SEND_STATUS_FROM_SERVER } };

    connection->sent = pack(message);
    connection->is_over = true;
    ops[0].data.send_message.send_message = connection->sent;
    ops[1].data.send_status_from_server.status = GRPC_STATUS_OK;
    start(connection, ops, 2, STEP_DONE);
}

/* ---- calls with one answer ---- */

static const char *status_text(enum rules_status status)
{
    switch (status) {
    case RULES_OK:
        break;
    case RULES_INVALID:
        return "the request is not valid";
    case RULES_NOT_FOUND:
        return "Resource not found";
    case RULES_EXISTS:
        return "Resource already exists";
    }
    return "";
}

static void reply(struct connection *connection, enum rules_status status,
                  const ProtobufCMessage *message)
{
    if (status == RULES_OK)
        answer(connection, message);
    else
        finish(connection, status, status_text(status));
}

static void echo(struct pubsub_fake *fake, const Wire__PublishRequest *published)
{
    for (size_t i = 0; i < published->n_messages; i++) {
        Wire__PublishRequest again = WIRE__PUBLISH_REQUEST__INIT;
        Wire__PubsubMessage *message;
        const char *id;

        if (!random_chance(&fake->echo_random, fake->echo_chance))
            continue;
        message =
            fake->rules
                .messages[random_between(&fake->echo_random, 0, (int64_t)fake->rules.message_count)]
                ->message;
        again.topic = published->topic;
        again.n_messages = 1;
        again.messages = &message;
        fake->echoes += rules_publish(&fake->rules, &again, now_us(fake), &id) == RULES_OK;
    }
}

static void publish(struct pubsub_fake *fake, struct connection *connection, size_t size,
                    const uint8_t *bytes)
{
    Wire__PublishRequest *request = wire__publish_request__unpack(NULL, size, bytes);
    Wire__PublishResponse response = WIRE__PUBLISH_RESPONSE__INIT;
    const bool is_failing = fake->fail_count > 0;
    enum rules_status status = RULES_OK;
    const char **ids = calloc(request->n_messages + 1, sizeof(*ids));
    ProtobufCBinaryData *texts = calloc(request->n_messages + 1, sizeof(*texts));

    fake->publishes++;
    fake->fail_count -= is_failing;
    if (!is_failing || fake->fail_is_kept)
        status = rules_publish(&fake->rules, request, now_us(fake), ids);
    if (status == RULES_OK && fake->echo_chance > 0)
        echo(fake, request);
    if (is_failing) {
        finish(connection, fake->fail_status, words(fake, "the test wants it"));
    } else {
        for (size_t i = 0; status == RULES_OK && i < request->n_messages; i++)
            texts[i] = (ProtobufCBinaryData){ strlen(ids[i]), (uint8_t *)ids[i] };
        response.n_message_ids = request->n_messages;
        response.message_ids = texts;
        reply(connection, status, &response.base);
    }
    free(texts);
    free(ids);
    wire__publish_request__free_unpacked(request, NULL);
}

static uint64_t number_of(ProtobufCBinaryData text)
{
    char copy[32] = "";

    memcpy(copy, text.data, text.len < sizeof(copy) - 1 ? text.len : sizeof(copy) - 1);
    return strtoull(copy, NULL, 10);
}

static void acknowledge(struct pubsub_fake *fake, struct connection *connection, size_t size,
                        const uint8_t *bytes)
{
    Wire__AcknowledgeRequest *request = wire__acknowledge_request__unpack(NULL, size, bytes);
    Wire__Empty empty = WIRE__EMPTY__INIT;
    struct rules_subscription *found = rules_find(&fake->rules, request->subscription);

    for (size_t i = 0; found != NULL && i < request->n_ack_ids; i++)
        rules_ack(found, number_of(request->ack_ids[i]));
    reply(connection,
          found == NULL             ? RULES_NOT_FOUND
          : request->n_ack_ids == 0 ? RULES_INVALID
                                    : RULES_OK,
          &empty.base);
    wire__acknowledge_request__free_unpacked(request, NULL);
}

static void modify(struct pubsub_fake *fake, struct connection *connection, size_t size,
                   const uint8_t *bytes)
{
    Wire__ModifyAckDeadlineRequest *request =
        wire__modify_ack_deadline_request__unpack(NULL, size, bytes);
    Wire__Empty empty = WIRE__EMPTY__INIT;
    struct rules_subscription *found = rules_find(&fake->rules, request->subscription);
    const bool is_good = request->n_ack_ids > 0 && request->ack_deadline_seconds >= 0 &&
                         request->ack_deadline_seconds <= 600;

    for (size_t i = 0; found != NULL && is_good && i < request->n_ack_ids; i++)
        rules_modify(&fake->rules, found, number_of(request->ack_ids[i]),
                     request->ack_deadline_seconds, now_us(fake));
    reply(connection,
          found == NULL ? RULES_NOT_FOUND
          : is_good     ? RULES_OK
                        : RULES_INVALID,
          &empty.base);
    wire__modify_ack_deadline_request__free_unpacked(request, NULL);
}

static void seek(struct pubsub_fake *fake, struct connection *connection, size_t size,
                 const uint8_t *bytes)
{
    Wire__SeekRequest *request = wire__seek_request__unpack(NULL, size, bytes);
    Wire__SeekResponse response = WIRE__SEEK_RESPONSE__INIT;
    struct rules_subscription *found = rules_find(&fake->rules, request->subscription);

    if (found != NULL && request->time != NULL)
        rules_seek(found, request->time->seconds * 1000000 + request->time->nanos / 1000);
    reply(connection,
          found == NULL           ? RULES_NOT_FOUND
          : request->time == NULL ? RULES_INVALID
                                  : RULES_OK,
          &response.base);
    wire__seek_request__free_unpacked(request, NULL);
}

static void make_topic(struct pubsub_fake *fake, struct connection *connection, size_t size,
                       const uint8_t *bytes)
{
    Wire__Topic *topic = wire__topic__unpack(NULL, size, bytes);

    reply(connection, rules_make_topic(&fake->rules, topic), &topic->base);
    wire__topic__free_unpacked(topic, NULL);
}

static void make_subscription(struct pubsub_fake *fake, struct connection *connection, size_t size,
                              const uint8_t *bytes)
{
    Wire__Subscription *wanted = wire__subscription__unpack(NULL, size, bytes);

    reply(connection, rules_make_subscription(&fake->rules, wanted), &wanted->base);
    wire__subscription__free_unpacked(wanted, NULL);
}

/* ---- streams ---- */

static void begin_stream(struct pubsub_fake *fake, struct connection *connection, size_t size,
                         const uint8_t *bytes)
{
    Wire__StreamingPullRequest *request = wire__streaming_pull_request__unpack(NULL, size, bytes);

    connection->subscription = rules_find(&fake->rules, request->subscription);
    connection->deadline_s = request->stream_ack_deadline_seconds;
    connection->messages_max = request->max_outstanding_messages;
    connection->bytes_max = request->max_outstanding_bytes;
    if (connection->subscription == NULL)
        finish(connection, GRPC_STATUS_NOT_FOUND, "Resource not found");
    else if (connection->deadline_s < 10 || connection->deadline_s > 600)
        finish(connection, GRPC_STATUS_INVALID_ARGUMENT, "the deadline is not valid");
    else
        receive(connection, STEP_MORE);
    wire__streaming_pull_request__free_unpacked(request, NULL);
}

static bool has_room(const struct pubsub_fake *fake, const struct connection *connection)
{
    const struct rules_subscription *subscription = connection->subscription;
    int64_t messages = 0, bytes = 0;

    if (fake->is_flooding)
        return true;
    for (size_t i = 0; i < subscription->count; i++) {
        const struct rules_entry *entry = &subscription->entries[i];

        if (entry->state != RULES_OUT || entry->reader != connection)
            continue;
        messages++;
        bytes += (int64_t)entry->message->message->data.len;
    }
    return (connection->messages_max <= 0 || messages < connection->messages_max) &&
           (connection->bytes_max <= 0 || bytes < connection->bytes_max);
}

struct page {
    Wire__StreamingPullResponse response;
    Wire__ReceivedMessage received[PAGE_MESSAGES];
    Wire__ReceivedMessage *pointers[PAGE_MESSAGES];
    Wire__PubsubMessage messages[PAGE_MESSAGES];
    Wire__Timestamp times[PAGE_MESSAGES];
    char acks[PAGE_MESSAGES][24];
};

static void add(struct page *page, const struct rules_subscription *subscription,
                const struct rules_entry *entry)
{
    const size_t at = page->response.n_received_messages++;

    wire__received_message__init(&page->received[at]);
    wire__timestamp__init(&page->times[at]);
    (void)snprintf(page->acks[at], sizeof(page->acks[at]), "%llu", (unsigned long long)entry->ack);
    page->messages[at] = *entry->message->message;
    page->messages[at].message_id =
        (ProtobufCBinaryData){ strlen(entry->message->id), (uint8_t *)entry->message->id };
    page->times[at].seconds = entry->message->published_us / 1000000;
    page->times[at].nanos = (int32_t)(entry->message->published_us % 1000000 * 1000);
    page->messages[at].publish_time = &page->times[at];
    page->received[at].ack_id =
        (ProtobufCBinaryData){ strlen(page->acks[at]), (uint8_t *)page->acks[at] };
    page->received[at].message = &page->messages[at];
    page->received[at].delivery_attempt = subscription->attempts_max > 0 ? entry->attempt : 0;
    page->pointers[at] = &page->received[at];
}

static void send_page(struct pubsub_fake *fake, struct connection *connection)
{
    struct page *page = calloc(1, sizeof(*page));
    grpc_op op = { .op = GRPC_OP_SEND_MESSAGE };
    struct rules_entry *entry;
    size_t bytes = 0;

    wire__streaming_pull_response__init(&page->response);
    page->response.received_messages = page->pointers;
    while (page->response.n_received_messages < PAGE_MESSAGES && bytes < 1000000 &&
           has_room(fake, connection) &&
           (entry = rules_next(&fake->rules, connection->subscription, connection,
                               now_us(fake) + connection->deadline_s * INT64_C(1000000))) != NULL) {
        add(page, connection->subscription, entry);
        bytes += entry->message->message->data.len;
    }
    if (page->response.n_received_messages > 0) {
        connection->sent = pack(&page->response.base);
        connection->is_sending = true;
        op.data.send_message.send_message = connection->sent;
        start(connection, &op, 1, STEP_SENT);
    }
    free(page);
}

static void serve_streams(struct pubsub_fake *fake)
{
    rules_tick(&fake->rules, now_us(fake));
    for (struct connection *c = fake->connections; c != NULL; c = c->next) {
        if (c->subscription != NULL && !c->is_sending && !c->is_over && !c->cancelled)
            send_page(fake, c);
    }
}

/* ---- events ---- */

static const struct {
    const char *method;
    void (*serve)(struct pubsub_fake *fake, struct connection *connection, size_t size,
                  const uint8_t *bytes);
} METHODS[] = {
    { "/google.pubsub.v1.Publisher/Publish", publish },
    { "/google.pubsub.v1.Publisher/CreateTopic", make_topic },
    { "/google.pubsub.v1.Subscriber/CreateSubscription", make_subscription },
    { "/google.pubsub.v1.Subscriber/StreamingPull", begin_stream },
    { "/google.pubsub.v1.Subscriber/Acknowledge", acknowledge },
    { "/google.pubsub.v1.Subscriber/ModifyAckDeadline", modify },
    { "/google.pubsub.v1.Subscriber/Seek", seek },
};

static bool is_admitted(const struct pubsub_fake *fake, const struct connection *connection)
{
    char wanted[512];

    if (fake->token == NULL)
        return true;
    (void)snprintf(wanted, sizeof(wanted), "Bearer %s", fake->token);
    for (size_t i = 0; i < connection->metadata.count; i++) {
        if (grpc_slice_str_cmp(connection->metadata.metadata[i].key, "authorization") == 0)
            return grpc_slice_str_cmp(connection->metadata.metadata[i].value, wanted) == 0;
    }
    return false;
}

static void serve_first(struct pubsub_fake *fake, struct connection *connection)
{
    grpc_byte_buffer_reader reader;
    grpc_slice bytes;

    if (connection->got == NULL) {
        finish(connection, GRPC_STATUS_INVALID_ARGUMENT, "no request");
        return;
    }
    if (!is_admitted(fake, connection)) {
        finish(connection, GRPC_STATUS_UNAUTHENTICATED, words(fake, "the credential is not valid"));
        return;
    }
    if (!grpc_byte_buffer_reader_init(&reader, connection->got))
        abort();
    bytes = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    grpc_byte_buffer_destroy(connection->got);
    connection->got = NULL;
    for (size_t i = 0; i < sizeof(METHODS) / sizeof(METHODS[0]); i++) {
        if (grpc_slice_str_cmp(connection->details.method, METHODS[i].method) == 0) {
            METHODS[i].serve(fake, connection, GRPC_SLICE_LENGTH(bytes),
                             GRPC_SLICE_START_PTR(bytes));
            grpc_slice_unref(bytes);
            return;
        }
    }
    grpc_slice_unref(bytes);
    finish(connection, GRPC_STATUS_UNIMPLEMENTED, "the fake does not have this method");
}

static void begin_call(struct connection *connection)
{
    grpc_op head = { .op = GRPC_OP_SEND_INITIAL_METADATA };
    grpc_op close = { .op = GRPC_OP_RECV_CLOSE_ON_SERVER };
    grpc_op ops[2] = { head, { .op = GRPC_OP_RECV_MESSAGE } };

    ops[1].data.recv_message.recv_message = &connection->got;
    close.data.recv_close_on_server.cancelled = &connection->cancelled;
    start(connection, &close, 1, STEP_CLOSED);
    start(connection, ops, 2, STEP_FIRST);
}

static void serve_event(struct pubsub_fake *fake, const grpc_event *event)
{
    const struct tag *tag = event->tag;
    struct connection *connection = tag->connection;
    const bool ok = event->success != 0;

    connection->pending--;
    switch (tag->step) {
    case STEP_NEW:
        if (!ok)
            break;
        if (!fake->is_stopping)
            accept_one(fake);
        begin_call(connection);
        break;
    case STEP_FIRST:
        if (ok)
            serve_first(fake, connection);
        break;
    case STEP_MORE: /* acknowledgements come by calls of their own; the end is the end */
        if (ok && connection->got == NULL && !connection->is_sending)
            finish(connection, GRPC_STATUS_OK, "");
        break;
    case STEP_SENT:
        grpc_byte_buffer_destroy(connection->sent);
        connection->sent = NULL;
        connection->is_sending = false;
        break;
    case STEP_CLOSED:
    case STEP_DONE:
    case STEPS:
        break;
    }
    if (connection->pending == 0)
        drop(fake, connection);
}

static void *serve(void *context)
{
    struct pubsub_fake *fake = context;

    for (;;) {
        const grpc_event event = grpc_completion_queue_next(
            fake->queue,
            gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_micros(TICK_US, GPR_TIMESPAN)),
            NULL);

        if (event.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        (void)pthread_mutex_lock(&fake->lock);
        if (event.type == GRPC_OP_COMPLETE && event.tag != NULL)
            serve_event(fake, &event);
        if (!fake->is_stopping)
            serve_streams(fake);
        (void)pthread_mutex_unlock(&fake->lock);
    }
}

/* ---- for tests ---- */

struct pubsub_fake *pubsub_fake_start(void)
{
    return pubsub_fake_start_with(&(struct pubsub_fake_options){ 0 });
}

/* On its port, or on a free one the first time. */
static void start_server(struct pubsub_fake *fake)
{
    grpc_arg arg = { .type = GRPC_ARG_INTEGER,
                     .key = (char *)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
                     .value.integer = -1 };
    const grpc_channel_args args = { 1, &arg };
    grpc_ssl_pem_key_cert_pair pair = { fake->options.key, fake->options.certificate };
    grpc_server_credentials *credentials =
        fake->options.key != NULL
            ? grpc_ssl_server_credentials_create_ex(NULL, &pair, 1,
                                                    GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE, NULL)
            : grpc_insecure_server_credentials_create();
    char address[32];

    (void)snprintf(address, sizeof(address), "127.0.0.1:%d", fake->port);
    fake->is_stopping = false;
    fake->queue = grpc_completion_queue_create_for_next(NULL);
    fake->server = grpc_server_create(&args, NULL);
    grpc_server_register_completion_queue(fake->server, fake->queue, NULL);
    fake->port = grpc_server_add_http2_port(fake->server, address, credentials);
    grpc_server_credentials_release(credentials);
    grpc_server_start(fake->server);
    accept_one(fake);
    if (fake->port <= 0 || pthread_create(&fake->thread, NULL, serve, fake) != 0)
        abort();
}

static void stop_server(struct pubsub_fake *fake)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->is_stopping = true;
    (void)pthread_mutex_unlock(&fake->lock);
    grpc_server_shutdown_and_notify(fake->server, fake->queue, NULL);
    grpc_server_cancel_all_calls(fake->server);
    for (bool is_empty = false; !is_empty;) { /* every call ends */
        (void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        (void)pthread_mutex_lock(&fake->lock);
        is_empty = fake->connections == NULL;
        (void)pthread_mutex_unlock(&fake->lock);
    }
    grpc_completion_queue_shutdown(fake->queue);
    (void)pthread_join(fake->thread, NULL);
    grpc_server_destroy(fake->server);
    grpc_completion_queue_destroy(fake->queue);
}

struct pubsub_fake *pubsub_fake_start_with(const struct pubsub_fake_options *options)
{
    struct pubsub_fake *fake = calloc(1, sizeof(*fake));

    grpc_init();
    fake->options = *options;
    (void)pthread_mutex_init(&fake->lock, NULL);
    start_server(fake);
    return fake;
}

void pubsub_fake_stop(struct pubsub_fake *fake)
{
    if (fake == NULL)
        return;
    if (!fake->is_halted)
        stop_server(fake);
    rules_release(&fake->rules);
    (void)pthread_mutex_destroy(&fake->lock);
    free(fake);
    grpc_shutdown_blocking();
}

void pubsub_fake_halt(struct pubsub_fake *fake)
{
    stop_server(fake);
    fake->is_halted = true;
}

void pubsub_fake_resume(struct pubsub_fake *fake)
{
    fake->is_halted = false;
    start_server(fake);
}

int pubsub_fake_port(const struct pubsub_fake *fake)
{
    return fake->port;
}

void pubsub_fake_advance(struct pubsub_fake *fake, int64_t by_us)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->ahead_us += by_us;
    (void)pthread_mutex_unlock(&fake->lock);
}

void pubsub_fake_demand(struct pubsub_fake *fake, const char *token)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->token = token;
    (void)pthread_mutex_unlock(&fake->lock);
}

void pubsub_fake_say(struct pubsub_fake *fake, const char *text)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->says = text;
    (void)pthread_mutex_unlock(&fake->lock);
}

void pubsub_fake_flood(struct pubsub_fake *fake)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->is_flooding = true;
    (void)pthread_mutex_unlock(&fake->lock);
}

void pubsub_fake_fail(struct pubsub_fake *fake, int status, int count, bool is_kept)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->fail_status = status;
    fake->fail_count = count;
    fake->fail_is_kept = is_kept;
    (void)pthread_mutex_unlock(&fake->lock);
}

void pubsub_fake_cut(struct pubsub_fake *fake, int status)
{
    (void)pthread_mutex_lock(&fake->lock);
    for (struct connection *c = fake->connections; c != NULL; c = c->next) {
        if (c->subscription != NULL && !c->is_sending)
            finish(c, status, "the server closes its streams");
    }
    (void)pthread_mutex_unlock(&fake->lock);
}

void pubsub_fake_echo(struct pubsub_fake *fake, int chance, uint64_t seed)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->echo_chance = chance;
    fake->echo_random = (struct random){ seed };
    (void)pthread_mutex_unlock(&fake->lock);
}

int64_t pubsub_fake_echoes(struct pubsub_fake *fake)
{
    int64_t echoes;

    (void)pthread_mutex_lock(&fake->lock);
    echoes = fake->echoes;
    (void)pthread_mutex_unlock(&fake->lock);
    return echoes;
}

size_t pubsub_fake_publishes(struct pubsub_fake *fake)
{
    size_t count;

    (void)pthread_mutex_lock(&fake->lock);
    count = fake->publishes;
    (void)pthread_mutex_unlock(&fake->lock);
    return count;
}
