/* Reading by StreamingPull.
 *
 *      stream ──▶ held: waiting ──poll──▶ held: out ──settle──▶ acknowledged, given back, extended
 *
 * A stream is a call that stays open: one request that names the subscription, then answers with
 * messages, one of which is always asked for. Acknowledgements are calls of their own, because only
 * these have an answer. When a stream ends as Google's do now and then, the next poll opens
 * another.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/pubsub/pubsub.h"
#include "base/instant.h"

/* Ids of one request: Google takes 512 KiB, and ids have some 200 bytes. */
enum { IDS_MAX = 1000 };
/* Calls that have no timeout of their own; what closing may take. */
#define CALL_US (10 * US_PER_SECOND)
#define CLOSE_US (2 * US_PER_SECOND)
#define STREAM_US US_PER_HOUR
/* A delivery whose lease ran out so long ago is forgotten: its handle is unknown from then on. */
#define FORGET_US (10 * US_PER_MINUTE)

struct pubsub_stream {
    grpc_call *call;
    struct rpc_op sent, began, got, ended;
    grpc_byte_buffer *request;
    grpc_byte_buffer *answer;
    grpc_metadata_array initial, trailing;
    grpc_status_code status;
    grpc_slice details;
    int64_t token_number;
    bool is_reading; /* an answer is asked for */
    bool has_ended;  /* no more answers come */
    bool has_answered;
};

struct pubsub_held {
    uint64_t handle;
    Wire__ReceivedMessage *received;
    int64_t leased_until_us; /* monotonic */
    bool is_out;
};

/* ---- the stream ---- */

static void start_batch(grpc_call *call, const grpc_op *ops, size_t count, struct rpc_op *op)
{
    if (grpc_call_start_batch(call, ops, count, op, NULL) != GRPC_CALL_OK)
        assert(!"a batch of operations that is always valid");
}

static void ask_for_answer(struct pubsub_stream *stream)
{
    grpc_op ask = { .op = GRPC_OP_RECV_MESSAGE };

    atomic_store_explicit(&stream->got.is_done, false, memory_order_relaxed);
    stream->answer = NULL;
    ask.data.recv_message.recv_message = &stream->answer;
    start_batch(stream->call, &ask, 1, &stream->got);
    stream->is_reading = true;
}

static grpc_byte_buffer *first_request(const struct pubsub *pubsub)
{
    Wire__StreamingPullRequest request = WIRE__STREAMING_PULL_REQUEST__INIT;

    request.subscription = pubsub_bytes(pubsub->reader.subscription);
    request.stream_ack_deadline_seconds = pubsub->reader.deadline_s;
    request.max_outstanding_messages = (int64_t)pubsub->reader.flow.messages_max;
    request.max_outstanding_bytes = (int64_t)pubsub->reader.flow.bytes_max;
    return pubsub_pack(&request.base);
}

static void start_stream(struct pubsub_stream *stream, struct str token)
{
    grpc_metadata metadata;
    grpc_op send[] = { { .op = GRPC_OP_SEND_INITIAL_METADATA }, { .op = GRPC_OP_SEND_MESSAGE } };
    grpc_op begin = { .op = GRPC_OP_RECV_INITIAL_METADATA };
    grpc_op end = { .op = GRPC_OP_RECV_STATUS_ON_CLIENT };
    const size_t metadata_count = rpc_metadata(&metadata, token);

    send[0].data.send_initial_metadata.metadata = &metadata;
    send[0].data.send_initial_metadata.count = metadata_count;
    send[1].data.send_message.send_message = stream->request;
    start_batch(stream->call, send, ARRAY_LEN(send), &stream->sent);
    begin.data.recv_initial_metadata.recv_initial_metadata = &stream->initial;
    start_batch(stream->call, &begin, 1, &stream->began);
    end.data.recv_status_on_client.trailing_metadata = &stream->trailing;
    end.data.recv_status_on_client.status = &stream->status;
    end.data.recv_status_on_client.status_details = &stream->details;
    start_batch(stream->call, &end, 1, &stream->ended);
    rpc_metadata_release(&metadata, metadata_count);
    ask_for_answer(stream);
}

static bool open_stream(struct pubsub *pubsub, struct rpc_until until, struct error *err)
{
    struct pubsub_stream *stream;
    struct str token;

    if (pubsub->reader.stream != NULL)
        return true;
    if (!pubsub_ready(pubsub, until, &token, err))
        return false;
    stream = calloc(1, sizeof(*stream));
    if (stream == NULL)
        return error_set(err, ERROR_TRANSIENT, "bus.lost", "no memory for a stream");
    grpc_metadata_array_init(&stream->initial);
    grpc_metadata_array_init(&stream->trailing);
    stream->details = grpc_empty_slice();
    stream->request = first_request(pubsub);
    stream->call = grpc_channel_create_call(
        pubsub->rpc.channel, NULL, GRPC_PROPAGATE_DEFAULTS, pubsub->rpc.queue,
        grpc_slice_from_static_string(PUBSUB_STREAMING_PULL), NULL,
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_micros(STREAM_US, GPR_TIMESPAN)),
        NULL);
    stream->token_number = pubsub->token.number;
    pubsub->reader.stream = stream;
    start_stream(stream, token);
    return true;
}

static bool is_idle(struct pubsub_stream *stream)
{
    return rpc_op_is_done(&stream->sent) && rpc_op_is_done(&stream->began) &&
           rpc_op_is_done(&stream->ended) && (!stream->is_reading || rpc_op_is_done(&stream->got));
}

static void await_idle(struct pubsub *pubsub, struct rpc_until until)
{
    while (!is_idle(pubsub->reader.stream) && rpc_now_us() < until.at_us)
        rpc_wait(&pubsub->rpc, until);
}

/* Every operation has to end before the call may be freed. */
static void end_stream(struct pubsub *pubsub)
{
    struct pubsub_stream *stream = pubsub->reader.stream;

    if (stream == NULL)
        return;
    if (!is_idle(stream))
        (void)grpc_call_cancel(stream->call, NULL);
    while (!is_idle(stream)) /* soon: it is cancelled, and the thread takes events */
        await_idle(pubsub, rpc_until(US_PER_SECOND, -1));
    if (stream->answer != NULL)
        grpc_byte_buffer_destroy(stream->answer);
    grpc_byte_buffer_destroy(stream->request);
    grpc_metadata_array_destroy(&stream->initial);
    grpc_metadata_array_destroy(&stream->trailing);
    grpc_slice_unref(stream->details);
    grpc_call_unref(stream->call);
    free(stream);
    pubsub->reader.stream = NULL;
}

/* ---- what is held ---- */

static void forget(struct pubsub_reader *reader, size_t at)
{
    wire__received_message__free_unpacked(reader->held[at].received, NULL);
    memmove(&reader->held[at], &reader->held[at + 1],
            (reader->held_count - at - 1) * sizeof(*reader->held));
    reader->held_count--;
}

/* Leases are measured by the clock of the parts: tests move it. */
static int64_t lease_now_us(const struct pubsub *pubsub)
{
    return clock_monotonic_us(pubsub->parts.clock);
}

static int64_t lease_end_us(const struct pubsub *pubsub)
{
    return lease_now_us(pubsub) + pubsub->reader.deadline_s * US_PER_SECOND;
}

static bool hold(struct pubsub *pubsub, Wire__ReceivedMessage *received)
{
    struct pubsub_reader *reader = &pubsub->reader;
    const size_t capacity = reader->held_capacity == 0 ? 64 : 2 * reader->held_capacity;
    struct pubsub_held *held = reader->held;

    if (reader->held_count == reader->held_capacity) {
        held = realloc(reader->held, capacity * sizeof(*held));
        if (held == NULL)
            return false;
        reader->held = held;
        reader->held_capacity = capacity;
    }
    held[reader->held_count++] = (struct pubsub_held){
        .handle = ++reader->last_handle,
        .received = received,
        .leased_until_us = lease_end_us(pubsub),
    };
    return true;
}

static struct pubsub_held *find(struct pubsub_reader *reader, uint64_t handle)
{
    for (size_t i = 0; i < reader->held_count; i++) {
        if (reader->held[i].handle == handle)
            return &reader->held[i];
    }
    return NULL;
}

static size_t bytes_of(const Wire__ReceivedMessage *received)
{
    return received->message->data.len;
}

/* Takes the messages out of an answer. One without content is not ours to judge: it is left alone
 * and comes again. */
static bool take_answer(struct pubsub *pubsub, struct error *err)
{
    const grpc_slice bytes = rpc_bytes(pubsub->reader.stream->answer);
    const struct str text = rpc_slice_str(&bytes);
    Wire__StreamingPullResponse *answer =
        wire__streaming_pull_response__unpack(NULL, text.len, (const uint8_t *)text.data);
    bool ok = answer != NULL || error_set(err, ERROR_TRANSIENT, "bus.lost",
                                          "read: an answer that is not one of Pub/Sub");

    for (size_t i = 0; ok && i < answer->n_received_messages; i++) {
        if (answer->received_messages[i]->message == NULL)
            continue;
        ok = hold(pubsub, answer->received_messages[i]) ||
             error_set(err, ERROR_TRANSIENT, "bus.lost", "no memory for a message");
        if (ok)
            answer->received_messages[i] = NULL;
    }
    if (answer != NULL) { /* what was taken is not in it any more */
        size_t left = 0;

        for (size_t i = 0; i < answer->n_received_messages; i++) {
            if (answer->received_messages[i] != NULL)
                answer->received_messages[left++] = answer->received_messages[i];
        }
        answer->n_received_messages = left;
        wire__streaming_pull_response__free_unpacked(answer, NULL);
    }
    grpc_slice_unref(bytes);
    return ok;
}

/* A stream that ended: a new one if that is ordinary, else an error. */
static bool judge_end(struct pubsub *pubsub, struct error *err)
{
    const struct pubsub_stream *stream = pubsub->reader.stream;
    const struct rpc_call end = { .status = stream->status, .details = stream->details };
    const bool is_ordinary =
        stream->status == GRPC_STATUS_OK ||
        (stream->has_answered &&
         pubsub_fault(stream->status, rpc_slice_str(&stream->details)).level == ERROR_TRANSIENT);

    if (!is_ordinary) {
        (void)pubsub_fail(pubsub, &end, "read", err);
        if (err->level == ERROR_REQUEST) {
            err->level = ERROR_FATAL;
            err->code = "bus.spec";
        }
        if (stream->status == GRPC_STATUS_UNAUTHENTICATED)
            token_drop(&pubsub->token, stream->token_number);
    }
    end_stream(pubsub);
    return is_ordinary;
}

/* Whether as much waits here as may be delivered at all. Servers keep to the flow of the request;
 * of one that does not, nothing more is read until there is room. */
static bool is_crowded(const struct pubsub_reader *reader)
{
    struct bus_flow waiting = { 0 };

    for (size_t i = 0; i < reader->held_count; i++) {
        if (reader->held[i].is_out)
            continue;
        waiting.messages_max++;
        waiting.bytes_max += bytes_of(reader->held[i].received);
    }
    return waiting.messages_max >= reader->flow.messages_max ||
           waiting.bytes_max >= reader->flow.bytes_max;
}

/* What the stream has brought, without waiting. */
static bool serve_stream(struct pubsub *pubsub, struct error *err)
{
    struct pubsub_stream *stream = pubsub->reader.stream;
    bool ok = true;

    if (!stream->is_reading && !stream->has_ended && !is_crowded(&pubsub->reader))
        ask_for_answer(stream);
    while (ok && stream->is_reading && rpc_op_is_done(&stream->got)) {
        stream->is_reading = false;
        if (stream->answer == NULL) {
            stream->has_ended = true;
            break;
        }
        stream->has_answered = true;
        ok = take_answer(pubsub, err);
        grpc_byte_buffer_destroy(stream->answer);
        stream->answer = NULL;
        if (ok && !is_crowded(&pubsub->reader))
            ask_for_answer(stream);
    }
    if (!ok)
        end_stream(pubsub);
    else if (is_idle(stream))
        return judge_end(pubsub, err);
    return ok;
}

/* ---- acknowledging and extending ---- */

struct ids {
    ProtobufCBinaryData items[IDS_MAX];
    size_t count;
};

static bool send_acks(struct pubsub *pubsub, const struct ids *ids, struct rpc_until until,
                      struct error *err)
{
    Wire__AcknowledgeRequest request = WIRE__ACKNOWLEDGE_REQUEST__INIT;

    request.subscription = pubsub_bytes(pubsub->reader.subscription);
    request.n_ack_ids = ids->count;
    request.ack_ids = (ProtobufCBinaryData *)ids->items;
    return ids->count == 0 ||
           pubsub_call(pubsub, PUBSUB_ACKNOWLEDGE, &request.base, until, NULL, err);
}

/* 0 seconds gives them back. */
static bool send_deadline(struct pubsub *pubsub, const struct ids *ids, int seconds,
                          struct rpc_until until, struct error *err)
{
    Wire__ModifyAckDeadlineRequest request = WIRE__MODIFY_ACK_DEADLINE_REQUEST__INIT;

    request.subscription = pubsub_bytes(pubsub->reader.subscription);
    request.ack_deadline_seconds = seconds;
    request.n_ack_ids = ids->count;
    request.ack_ids = (ProtobufCBinaryData *)ids->items;
    return ids->count == 0 ||
           pubsub_call(pubsub, PUBSUB_MODIFY_DEADLINE, &request.base, until, NULL, err);
}

/* Extends what waits here when half of its lease is over. A failure is none of the caller's: the
 * message would only come again. */
static void extend_waiting(struct pubsub *pubsub)
{
    struct pubsub_reader *reader = &pubsub->reader;
    const int64_t lease_us = reader->deadline_s * US_PER_SECOND;
    const int64_t now_us = lease_now_us(pubsub);
    struct error ignored;
    struct ids ids = { .count = 0 };

    for (size_t i = 0; i < reader->held_count && ids.count < IDS_MAX; i++) {
        struct pubsub_held *held = &reader->held[i];

        if (held->is_out || held->leased_until_us - now_us > lease_us / 2)
            continue;
        ids.items[ids.count++] = held->received->ack_id;
        held->leased_until_us = now_us + lease_us;
    }
    if (!send_deadline(pubsub, &ids, reader->deadline_s, rpc_until(CLOSE_US, -1), &ignored))
        return;
}

static void forget_old(struct pubsub *pubsub)
{
    struct pubsub_reader *reader = &pubsub->reader;
    const int64_t now_us = lease_now_us(pubsub);

    for (size_t i = reader->held_count; i > 0; i--) {
        if (reader->held[i - 1].is_out && reader->held[i - 1].leased_until_us + FORGET_US < now_us)
            forget(reader, i - 1);
    }
}

/* ---- subscribing and polling ---- */

/* As documented for users: the one that is named, or else the topic's of this group. */
static struct str subscription_name(struct pubsub *pubsub, struct str group)
{
    const struct bus_spec *spec = pubsub->parts.spec;
    const struct str name = spec->subscription;

    if (str_starts(name, STR("projects/")))
        return arena_copy(&pubsub->arena, name);
    if (name.len > 0)
        return arena_printf(&pubsub->arena, "projects/%.*s/subscriptions/%.*s",
                            STR_ARG(spec->project), STR_ARG(name));
    return arena_printf(&pubsub->arena, "projects/%.*s/subscriptions/%.*s.%.*s",
                        STR_ARG(spec->project), STR_ARG(spec->topic), STR_ARG(group));
}

bool pubsub_subscribe(struct bus *bus, struct str group, const struct bus_flow *flow,
                      struct error *err)
{
    struct pubsub *pubsub = (struct pubsub *)bus;

    assert(pubsub->reader.subscription.len == 0);
    pubsub->reader.flow = *flow;
    pubsub->reader.subscription = subscription_name(pubsub, group);
    return pubsub->reader.subscription.data != NULL || arena_error(&pubsub->arena, err);
}

/* How much more may be delivered: a lease that ran out does not count, for Google neither. */
static struct bus_flow room_of(const struct pubsub *pubsub)
{
    const struct pubsub_reader *reader = &pubsub->reader;
    const int64_t now_us = lease_now_us(pubsub);
    struct bus_flow room = reader->flow;

    for (size_t i = 0; i < reader->held_count; i++) {
        const struct pubsub_held *held = &reader->held[i];
        const size_t bytes = bytes_of(held->received);

        if (!held->is_out || held->leased_until_us < now_us)
            continue;
        room.messages_max -= room.messages_max > 0;
        room.bytes_max -= bytes < room.bytes_max ? bytes : room.bytes_max;
    }
    return room;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Hands out what waits, in the order received. */
static bool deliver(struct pubsub_reader *reader, struct arena *arena, struct bus_flow room,
                    struct bus_delivery_list *list, struct error *err)
{
    for (size_t i = 0; i < reader->held_count && list->count < room.messages_max; i++) {
        struct pubsub_held *held = &reader->held[i];
        const size_t bytes = bytes_of(held->received);

        if (held->is_out)
            continue;
        if (room.bytes_max == 0 || (bytes > room.bytes_max && list->count > 0))
            break;
        if (!pubsub_message_read(arena, held->received, &list->items[list->count], err))
            return list->count > 0; /* it waits for the next call */
        list->items[list->count++].handle = held->handle;
        held->is_out = true;
        room.bytes_max -= bytes < room.bytes_max ? bytes : room.bytes_max;
    }
    return true;
}

bool pubsub_poll(struct bus *bus, struct arena *arena, const struct bus_poll *poll,
                 struct bus_delivery_list *list, struct error *err)
{
    struct pubsub *pubsub = (struct pubsub *)bus;
    struct pubsub_reader *reader = &pubsub->reader;
    const struct rpc_until until = rpc_until(poll->timeout_us, poll->wake_fd);
    struct bus_flow room;

    forget_old(pubsub);
    room = room_of(pubsub);
    room.messages_max = least(room.messages_max, poll->messages_max);
    room.bytes_max = least(room.bytes_max, poll->bytes_max);
    list->items = ARENA_ARRAY(arena, struct bus_delivery, room.messages_max + 1);
    if (list->items == NULL)
        return arena_error(arena, err);
    for (;;) {
        if (!open_stream(pubsub, until, err) || !serve_stream(pubsub, err))
            return false;
        extend_waiting(pubsub);
        if (!deliver(reader, arena, room, list, err))
            return false;
        if (list->count > 0 || rpc_is_over(until))
            return true;
        if (reader->stream != NULL)
            rpc_wait(&pubsub->rpc, until);
    }
}

/* ---- settling ---- */

static struct str ordering_key(const struct pubsub_held *held)
{
    return pubsub_str(held->received->message->ordering_key);
}

/* What waits here of the same ordering key comes again, after the one that is given back: so it is
 * given back, too. */
static bool is_follower(struct pubsub_reader *reader, const struct pubsub_held *held,
                        const uint64_t *backs, size_t count)
{
    const struct str key = ordering_key(held);

    if (held->is_out || key.len == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct pubsub_held *back = find(reader, backs[i]);

        if (back != NULL && back->handle < held->handle && str_eq(ordering_key(back), key))
            return true;
    }
    return false;
}

static size_t add_followers(struct pubsub_reader *reader, uint64_t *handles, size_t count)
{
    size_t used = count;

    for (size_t i = 0; count > 0 && i < reader->held_count; i++) {
        if (is_follower(reader, &reader->held[i], handles, count))
            handles[used++] = reader->held[i].handle;
    }
    return used;
}

/* The handles of one verdict, in requests of IDS_MAX. They are forgotten when the server has
 * answered, and known as long as it has not: the caller may try again. */
static bool settle_handles(struct pubsub *pubsub, enum bus_verdict verdict, const uint64_t *handles,
                           size_t count, struct error *err)
{
    struct pubsub_reader *reader = &pubsub->reader;
    const struct rpc_until until = rpc_until(CALL_US, -1);

    for (size_t from = 0; from < count; from += IDS_MAX) {
        const size_t to = from + IDS_MAX < count ? from + IDS_MAX : count;
        struct ids ids = { .count = 0 };
        struct pubsub_held *held;

        for (size_t i = from; i < to; i++) {
            if ((held = find(reader, handles[i])) != NULL)
                ids.items[ids.count++] = held->received->ack_id;
        }
        if (!(verdict == BUS_ACK
                  ? send_acks(pubsub, &ids, until, err)
                  : send_deadline(pubsub, &ids, verdict == BUS_HOLD ? reader->deadline_s : 0, until,
                                  err)))
            return false;
        for (size_t i = from; i < to; i++) {
            if ((held = find(reader, handles[i])) == NULL)
                continue;
            if (verdict == BUS_HOLD)
                held->leased_until_us = lease_end_us(pubsub);
            else
                forget(reader, (size_t)(held - reader->held));
        }
    }
    return true;
}

static bool settle_verdict(struct pubsub *pubsub, enum bus_verdict verdict,
                           const struct bus_settlement *settlements, size_t count,
                           struct error *err)
{
    uint64_t *handles = calloc(count + pubsub->reader.held_count + 1, sizeof(*handles));
    size_t used = 0;
    bool ok;

    if (handles == NULL)
        return error_set(err, ERROR_TRANSIENT, "bus.lost", "no memory to settle messages");
    for (size_t i = 0; i < count; i++) {
        if (settlements[i].verdict == verdict)
            handles[used++] = settlements[i].handle;
    }
    if (verdict == BUS_NACK)
        used = add_followers(&pubsub->reader, handles, used);
    ok = settle_handles(pubsub, verdict, handles, used, err);
    free(handles);
    return ok;
}

bool pubsub_settle(struct bus *bus, const struct bus_settlement *settlements, size_t count,
                   struct error *err)
{
    struct pubsub *pubsub = (struct pubsub *)bus;

    return settle_verdict(pubsub, BUS_ACK, settlements, count, err) &&
           settle_verdict(pubsub, BUS_HOLD, settlements, count, err) &&
           settle_verdict(pubsub, BUS_NACK, settlements, count, err);
}

/* ---- seeking, and the end ---- */

bool pubsub_seek(struct bus *bus, int64_t at_us, struct error *err)
{
    struct pubsub *pubsub = (struct pubsub *)bus;
    Wire__SeekRequest request = WIRE__SEEK_REQUEST__INIT;
    Wire__Timestamp time = WIRE__TIMESTAMP__INIT;

    time.seconds = at_us > 0 ? at_us / US_PER_SECOND : 0;
    time.nanos = at_us > 0 ? (int32_t)(at_us % US_PER_SECOND * 1000) : 0;
    request.subscription = pubsub_bytes(pubsub->reader.subscription);
    request.time = &time;
    end_stream(pubsub); /* what it brings is of before */
    while (pubsub->reader.held_count > 0)
        forget(&pubsub->reader, pubsub->reader.held_count - 1);
    return pubsub_call(pubsub, PUBSUB_SEEK, &request.base, rpc_until(CALL_US, -1), NULL, err);
}

/* Only Google's monitoring knows it. */
bool pubsub_lag(struct bus *bus, struct bus_lag *lag, struct error *err)
{
    (void)bus;
    (void)lag;
    (void)err;
    return true;
}

/* Google counts what a stream that is cut off has brought as delivered, until its lease ends: so
 * it is given back, and the stream is closed from our side first. */
void pubsub_reader_close(struct pubsub *pubsub)
{
    struct pubsub_reader *reader = &pubsub->reader;
    const grpc_op half_close = { .op = GRPC_OP_SEND_CLOSE_FROM_CLIENT };
    struct rpc_op closed = { .is_done = false };
    const struct rpc_until until = rpc_until(CLOSE_US, -1);
    struct error ignored;

    if (reader->stream != NULL && rpc_op_is_done(&reader->stream->sent)) {
        struct pubsub_stream *stream = reader->stream;

        start_batch(stream->call, &half_close, 1, &closed);
        while (!rpc_op_is_done(&closed) && !rpc_op_is_done(&stream->ended) && !rpc_is_over(until))
            rpc_wait(&pubsub->rpc, until);
        end_stream(pubsub);
        while (!rpc_op_is_done(&closed))
            rpc_wait(&pubsub->rpc, rpc_until(US_PER_SECOND, -1));
    }
    end_stream(pubsub);
    while (reader->held_count > 0) {
        struct ids ids = { .count = 0 };

        for (size_t i = 0; i < reader->held_count && i < IDS_MAX; i++)
            ids.items[ids.count++] = reader->held[i].received->ack_id;
        if (pubsub->rpc.queue != NULL && !rpc_is_over(until) &&
            !send_deadline(pubsub, &ids, 0, until, &ignored))
            ids.count = reader->held_count; /* then their leases end */
        for (size_t i = ids.count; i > 0; i--)
            forget(reader, i - 1);
    }
    free(reader->held);
    reader->held = NULL;
}
