/* Publishing: the first message of each lane with its fence, then the rest.
 *
 *      lanes    1        2        3
 *      first    k1 ──▶   k4 ──▶   k6 ──▶     each says: "after sequence N of my subject"
 *               ◀── 71   ◀── 72   ◀── wrong last sequence: 70
 *                                            whose is 70? an owner with a later epoch: fenced;
 *                                            ours, or our predecessor's: "after 70", again
 *      rest     k2 k3    k5       (none)     without a fence
 *
 * Sending the rest with the first would save a round trip, and let an owner that was overtaken
 * publish all but one of its messages.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/nats/answer.h"
#include "adapter/nats/fault.h"
#include "adapter/nats/nats_bus.h"
#include "data/http_message.h"
#include "data/url.h"

enum {
    FENCE_TRIES_MAX = 4,
    NUMBER_MAX = 24,
    HEADER_OVERHEAD = 64,
    ANSWERS_AT_ONCE = 64,
    FLUSH_MS = 10
};

/* One call. */
struct flight {
    struct nats_bus *bus;
    struct arena *arena;
    const struct bus_publish *publish;
    struct bus_receipt *receipts;
    struct nats_deadline deadline;
    bool *is_under_way; /* by message */
    size_t under_way;
    int64_t payload_max;
    struct error *err; /* the first that concerns the bus as a whole */
    bool failed;
};

/* What the answer to a message said, beside its outcome. */
enum answer_mark {
    ANSWER_WRONG = 1,     /* the fence did not hold */
    ANSWER_DUPLICATE = 2, /* the stream had it: the fence was not looked at */
};

struct fenced_lane {
    const struct bus_fence *fence;
    size_t first; /* its first message; count: it has none */
    int tries;
    bool is_done; /* the first was acknowledged or refused: the rest may go */
    bool is_over; /* nothing more of it is sent */
};

/* ---- outcomes ---- */

static void settle(struct flight *flight, size_t i, enum bus_outcome outcome, struct str reason)
{
    struct bus_receipt *receipt = &flight->receipts[i];

    receipt->outcome = outcome;
    receipt->reason = arena_copy(flight->arena, reason);
    if (receipt->reason.data == NULL)
        receipt->reason = STR("memory is short");
}

/* Keeps the first error that is worth the most. */
static void fail(struct flight *flight, const struct error *err)
{
    if (!flight->failed || err->level > flight->err->level)
        *flight->err = *err;
    flight->failed = true;
}

#define FAIL(flight, level, code, ...)                         \
    do {                                                       \
        struct error fail_err_;                                \
        (void)error_set(&fail_err_, level, code, __VA_ARGS__); \
        fail(flight, &fail_err_);                              \
    } while (0)

static struct nats_lane *lane_of(struct flight *flight, size_t i)
{
    return &flight->bus->lanes[flight->publish->messages[i].lane];
}

static void acked(struct flight *flight, size_t i, int64_t sequence)
{
    struct nats_lane *lane = lane_of(flight, i);

    flight->receipts[i].outcome = BUS_ACKED;
    flight->receipts[i].ack_id = arena_printf(flight->arena, "%" PRId64, sequence);
    if (flight->receipts[i].ack_id.data == NULL)
        flight->receipts[i].ack_id = STR("");
    if (sequence > lane->sequence)
        lane->sequence = sequence;
}

/* ---- a message ---- */

static bool is_header(struct str name, struct str value)
{
    return http_is_token(name) && http_is_header_value(value);
}

static bool set_header(natsMsg *msg, struct arena *scratch, const char *name, struct str value)
{
    const struct str text = arena_copy(scratch, value);

    return text.data != NULL && natsMsgHeader_Set(msg, name, text.data) == NATS_OK;
}

static bool set_attribute(natsMsg *msg, struct arena *scratch,
                          const struct bus_attribute *attribute)
{
    const struct str name = arena_copy(scratch, attribute->name);

    return name.data != NULL && set_header(msg, scratch, name.data, attribute->value);
}

/* Why a message can never be one of NATS; NULL: it can. */
static const char *unfit(const struct flight *flight, const struct bus_message *message)
{
    size_t bytes = message->body.len + message->key.len * 3 + HEADER_OVERHEAD * 7;

    for (size_t i = 0; i < message->attribute_count; i++) {
        const struct bus_attribute *attribute = &message->attributes[i];

        if (!is_header(attribute->name, attribute->value))
            return "an attribute cannot be a header";
        bytes += attribute->name.len + attribute->value.len + 4;
    }
    if (!is_header(STR("x"), message->content_type) || !is_header(STR("x"), message->event_id))
        return "its content type or id cannot be a header";
    if (message->body.len > INT32_MAX || (int64_t)bytes > flight->payload_max)
        return "it is larger than the server takes (max_payload)";
    return NULL;
}

static bool set_headers(struct flight *flight, natsMsg *msg, const struct bus_message *message,
                        const struct fenced_lane *lane)
{
    struct arena *scratch = &flight->bus->scratch;
    char number[NUMBER_MAX];
    struct buf key;
    bool ok = true;

    for (size_t i = 0; i < message->attribute_count; i++)
        ok = ok && set_attribute(msg, scratch, &message->attributes[i]);
    buf_init(&key, scratch, message->key.len * 3 + 1);
    url_encode(&key, message->key, URL_PATH);
    ok = ok && !key.failed && set_header(msg, scratch, NATS_HEADER_KEY, buf_str(&key)) &&
         set_header(msg, scratch, NATS_HEADER_ID, message->event_id) &&
         set_header(msg, scratch, NATS_HEADER_STREAM, flight->bus->link.parts.spec->stream);
    if (message->content_type.len > 0)
        ok = ok && set_header(msg, scratch, NATS_HEADER_TYPE, message->content_type);
    (void)snprintf(number, sizeof(number), "%" PRId64, message->version);
    ok = ok && natsMsgHeader_Set(msg, NATS_HEADER_VERSION, number) == NATS_OK;
    if (lane == NULL)
        return ok;
    (void)snprintf(number, sizeof(number), "%" PRId64, lane->fence->lease_epoch);
    ok = ok && natsMsgHeader_Set(msg, NATS_HEADER_EPOCH, number) == NATS_OK;
    if (lane->is_done)
        return ok;
    (void)snprintf(number, sizeof(number), "%" PRId64, flight->bus->lanes[message->lane].sequence);
    return ok && natsMsgHeader_Set(msg, NATS_HEADER_LAST, number) == NATS_OK;
}

/* A lane without a fence (NULL) is published to as it is. */
static bool send(struct flight *flight, size_t i, const struct fenced_lane *lane)
{
    const struct bus_message *message = &flight->publish->messages[i];
    struct nats_bus *bus = flight->bus;
    char subject[NATS_SUBJECT_MAX], reply[LINK_INBOX_MAX + 3 * NUMBER_MAX];
    const char *why = unfit(flight, message);
    natsMsg *msg = NULL;
    natsStatus status;

    if (why != NULL) {
        settle(flight, i, BUS_REFUSED, str_of(why));
        return true;
    }
    (void)nats_bus_subject(bus, message->lane, subject);
    (void)snprintf(reply, sizeof(reply), "%sp-%" PRId64 "-%zu", bus->link.prefix, bus->calls, i);
    status = natsMsg_Create(&msg, subject, reply, message->body.len > 0 ? message->body.data : "",
                            (int)message->body.len);
    if (status == NATS_OK && !set_headers(flight, msg, message, lane))
        status = NATS_NO_MEMORY;
    if (status == NATS_OK)
        status = natsConnection_PublishMsg(bus->link.nc, msg);
    natsMsg_Destroy(msg);
    if (status == NATS_OK) {
        flight->is_under_way[i] = true;
        flight->under_way++;
        return true;
    }
    if (status == NATS_MAX_PAYLOAD) {
        settle(flight, i, BUS_REFUSED, STR("it is larger than the server takes (max_payload)"));
        return true;
    }
    settle(flight, i, BUS_RETRY, STR("it could not be sent"));
    (void)nats_fault(flight->err, status, "publish to NATS");
    flight->failed = true;
    return false;
}

/* ---- answers ---- */

/* What an answer means that is not an acknowledgement. */
static void read_refusal(struct flight *flight, size_t i, const struct nats_ack *ack,
                         unsigned *mark)
{
    switch (ack->err_code) {
    case JSStreamWrongLastSequenceErr:
        *mark |= ANSWER_WRONG;
        settle(flight, i, BUS_RETRY, STR("another one has published to the lane"));
        return;
    case JSStreamMessageExceedsMaximumErr:
        settle(flight, i, BUS_REFUSED, STR("it is larger than the stream takes"));
        return;
    case JSStreamNotMatchErr:
        settle(flight, i, BUS_RETRY, ack->reason);
        FAIL(flight, ERROR_FATAL, "bus.missing", "the subject belongs to another stream");
        return;
    default:
        settle(flight, i, BUS_RETRY, ack->reason);
        if (ack->code != 400)
            FAIL(flight, ERROR_TRANSIENT, "bus.busy", "the server does not take messages: %.*s",
                 STR_ARG(ack->reason));
    }
}

static void read_answer(struct flight *flight, size_t i, natsMsg *msg, unsigned *mark)
{
    const struct str text = { natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg) };
    struct nats_ack ack;

    if (natsMsg_IsNoResponders(msg)) {
        settle(flight, i, BUS_RETRY, STR("no stream takes the subject, or it has no leader"));
        FAIL(flight, ERROR_TRANSIENT, "bus.lost",
             "no stream takes the subject at the moment: it is missing, or it has no leader");
    } else if (!nats_ack_read(&flight->bus->scratch, text, &ack)) {
        settle(flight, i, BUS_RETRY, STR("the answer is not an acknowledgement"));
        FAIL(flight, ERROR_TRANSIENT, "bus.lost", "the answer of NATS is not an acknowledgement");
    } else if (ack.is_error)
        read_refusal(flight, i, &ack, mark);
    else {
        *mark |= ack.is_duplicate ? ANSWER_DUPLICATE : 0;
        acked(flight, i, ack.sequence);
    }
}

/* Everything under way that has no answer now has none. */
static void give_up(struct flight *flight, const char *code, const char *why)
{
    for (size_t i = 0; i < flight->publish->count; i++) {
        if (!flight->is_under_way[i])
            continue;
        flight->is_under_way[i] = false;
        settle(flight, i, BUS_RETRY, str_of(why));
        lane_of(flight, i)->is_known = false;
    }
    flight->under_way = 0;
    FAIL(flight, ERROR_TRANSIENT, code, "publish to NATS: %s", why);
}

/* The answers that are there. `marks` are by message. */
static void take_answers(struct flight *flight, unsigned *marks)
{
    struct nats_bus *bus = flight->bus;
    struct nats_item *item = nats_queue_take(bus->link.queue);
    size_t i;

    for (struct nats_item *next; item != NULL; item = next) {
        next = item->next;
        if (nats_bus_index(bus, item->msg, 'p', &i) && i < flight->publish->count &&
            flight->is_under_way[i]) {
            flight->is_under_way[i] = false;
            flight->under_way--;
            read_answer(flight, i, item->msg, &marks[i]);
            nats_item_free(item);
        } else
            nats_reader_take(bus, item);
    }
}

/* Why nothing more will be answered; NULL: something may. */
static const char *end_of_answers(struct flight *flight, const char **code)
{
    struct nats_link *link = &flight->bus->link;

    *code = "bus.lost";
    if (nats_queue_is_denied(link->queue))
        return "the server forbids it to this user";
    if (nats_link_is_lost(link))
        return "the connection broke";
    nats_queue_want(link->queue,
                    flight->under_way < ANSWERS_AT_ONCE ? flight->under_way : ANSWERS_AT_ONCE);
    *code = "bus.timeout";
    switch (nats_link_wait(link, &flight->deadline)) {
    case NATS_NEWS:
        return NULL;
    case NATS_LATE:
        return "no answer in time";
    case NATS_WOKEN:
        break;
    }
    return "the process was told to stop";
}

/* Until everything that was sent has an answer. libnats would write the end of what was sent a
 * millisecond later, by another thread. A server that does not answer to the flush is waited for
 * below, where the process can be told to stop. */
static void collect(struct flight *flight, unsigned *marks)
{
    const char *why = NULL, *code = NULL;

    if (flight->under_way > 0)
        (void)natsConnection_FlushTimeout(flight->bus->link.nc, FLUSH_MS);
    take_answers(flight, marks);
    while (flight->under_way > 0 && why == NULL) {
        why = end_of_answers(flight, &code);
        take_answers(flight, marks); /* at the end too: fewer than were wanted */
    }
    if (flight->under_way == 0)
        return;
    give_up(flight, code, why);
    if (!nats_queue_is_denied(flight->bus->link.queue))
        return;
    FAIL(flight, ERROR_FATAL, "bus.auth", "the server forbids this user to publish there");
    nats_link_drop(&flight->bus->link);
}

/* ---- fences ---- */

static const struct bus_fence *fence_of(const struct bus_publish *publish, int64_t lane)
{
    for (size_t i = 0; i < publish->fence_count; i++) {
        if (publish->fences[i].lane == lane)
            return &publish->fences[i];
    }
    return NULL;
}

static void fail_fenced(struct flight *flight, const struct bus_fence *fence, int64_t epoch)
{
    FAIL(flight, ERROR_TRANSIENT, "bus.fenced",
         "lane %" PRId64 " belongs to another publisher (epoch %" PRId64 ", ours is %" PRId64 ")",
         fence->lane, epoch, fence->lease_epoch);
}

/* What must be the last message of the lane: what this handle saw, else what the owner knows, else
 * what is there. */
static bool expect(struct flight *flight, const struct bus_fence *fence)
{
    struct nats_lane *lane = &flight->bus->lanes[fence->lane];
    struct nats_last last;

    if (lane->is_known && lane->epoch == fence->lease_epoch)
        return true;
    *lane = (struct nats_lane){ .epoch = fence->lease_epoch, .is_known = true };
    if (str_to_i64(fence->ack_id, &lane->sequence) && lane->sequence > 0)
        return true;
    if (!nats_bus_last(flight->bus, fence->lane, &flight->deadline, &last, flight->err)) {
        lane->is_known = false;
        flight->failed = true;
        return false;
    }
    lane->sequence = last.sequence;
    if (last.epoch <= fence->lease_epoch)
        return true;
    lane->is_known = false;
    fail_fenced(flight, fence, last.epoch);
    return false;
}

/* The lane has another last message than the owner knew. */
static void look_again(struct flight *flight, struct fenced_lane *lane)
{
    struct nats_lane *known = &flight->bus->lanes[lane->fence->lane];
    struct nats_last last;
    struct error err;

    if (!nats_bus_last(flight->bus, lane->fence->lane, &flight->deadline, &last, &err)) {
        lane->is_over = true;
        known->is_known = false;
        fail(flight, &err);
        return;
    }
    if (last.epoch <= lane->fence->lease_epoch && ++lane->tries < FENCE_TRIES_MAX) {
        known->sequence = last.sequence; /* ours, our predecessor's, or the stream was emptied */
        return;
    }
    lane->is_over = true;
    known->is_known = false;
    fail_fenced(flight, lane->fence, last.epoch);
}

/* The first message of each lane, until each was acknowledged or refused, or the lane is over. A
 * message that is refused leaves the lane's fence for the next one. */
static void send_firsts(struct flight *flight, struct fenced_lane lanes[OUTBOX_LANES],
                        unsigned *marks)
{
    const size_t count = flight->publish->count;
    bool any = true;

    while (any && !flight->failed) {
        any = false;
        for (size_t l = 0; l < OUTBOX_LANES && !flight->failed; l++) {
            struct fenced_lane *lane = &lanes[l];

            while (lane->first < count &&
                   (flight->publish->messages[lane->first].lane != (int64_t)l ||
                    flight->receipts[lane->first].outcome == BUS_REFUSED))
                lane->first++;
            if (lane->fence == NULL || lane->is_done || lane->is_over || lane->first == count)
                continue;
            marks[lane->first] = 0;
            if (!send(flight, lane->first, lane))
                break;
            any = true;
        }
        collect(flight, marks);
        for (size_t l = 0; l < OUTBOX_LANES && any; l++) {
            struct fenced_lane *lane = &lanes[l];

            if (lane->fence == NULL || lane->is_done || lane->is_over || lane->first == count)
                continue;
            if ((marks[lane->first] & ANSWER_DUPLICATE) != 0)
                lane->first++; /* the next one asks */
            else if (flight->receipts[lane->first].outcome == BUS_ACKED)
                lane->is_done = true;
            else if ((marks[lane->first] & ANSWER_WRONG) != 0)
                look_again(flight, lane);
            else if (flight->receipts[lane->first].outcome == BUS_RETRY)
                lane->is_over = true; /* for a reason of its own */
        }
    }
}

static void send_rest(struct flight *flight, const struct fenced_lane lanes[OUTBOX_LANES],
                      unsigned *marks)
{
    for (size_t i = 0; i < flight->publish->count; i++) {
        const struct fenced_lane *lane = &lanes[flight->publish->messages[i].lane];

        if (flight->receipts[i].outcome != BUS_NOT_TRIED || (lane->fence != NULL && !lane->is_done))
            continue;
        if (!send(flight, i, lane->fence != NULL ? lane : NULL))
            break;
    }
    collect(flight, marks);
}

static bool fly(struct flight *flight)
{
    struct fenced_lane lanes[OUTBOX_LANES] = { 0 };
    const struct bus_publish *publish = flight->publish;
    unsigned *marks = ARENA_ARRAY(flight->arena, unsigned, publish->count);

    flight->is_under_way = ARENA_ARRAY(flight->arena, bool, publish->count);
    if (marks == NULL || flight->is_under_way == NULL)
        return arena_error(flight->arena, flight->err);
    flight->payload_max = natsConnection_GetMaxPayload(flight->bus->link.nc);
    if (flight->bus->link.parts.spec->message_bytes_max > 0 &&
        flight->bus->link.parts.spec->message_bytes_max < flight->payload_max)
        flight->payload_max = flight->bus->link.parts.spec->message_bytes_max;
    for (size_t l = 0; l < OUTBOX_LANES; l++)
        lanes[l].fence = fence_of(publish, (int64_t)l);
    for (size_t i = 0; i < publish->count; i++) {
        const struct bus_fence *fence = lanes[publish->messages[i].lane].fence;

        if (fence != NULL && !expect(flight, fence))
            return false;
    }
    send_firsts(flight, lanes, marks);
    if (!flight->failed || strcmp(flight->err->code, "bus.fenced") == 0)
        send_rest(flight, lanes, marks);
    return !flight->failed;
}

bool nats_bus_publish(struct bus *base, struct arena *arena, const struct bus_publish *publish,
                      struct bus_receipt *receipts, struct error *err)
{
    struct nats_bus *bus = nats_bus_of(base);
    struct flight flight = {
        .bus = bus, .arena = arena, .publish = publish, .receipts = receipts, .err = err
    };
    bool ok;

    flight.deadline = nats_link_deadline(&bus->link, publish->timeout_us, publish->wake_fd);
    for (size_t i = 0; i < publish->count; i++) {
        if (publish->messages[i].lane < 0 || publish->messages[i].lane >= OUTBOX_LANES)
            return error_set(err, ERROR_FATAL, "bus.spec", "there is no lane %" PRId64,
                             publish->messages[i].lane);
    }
    if (publish->count == 0)
        return true;
    if (!nats_link_ready(&bus->link, &flight.deadline, err))
        return false;
    bus->calls++;
    ok = fly(&flight);
    arena_reset(&bus->scratch);
    return ok;
}
