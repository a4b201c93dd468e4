/* Reading: a durable pull consumer per group.
 *
 * One request is under way at a time. It asks for no more than may be unsettled, and the server
 * answers to the inbox of the connection: a message has the subject that it was published to, the
 * end of a request ("408 Request Timeout") that of the request's own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/nats/answer.h"
#include "adapter/nats/fault.h"
#include "adapter/nats/nats_bus.h"
#include "base/instant.h"
#include "data/json_write.h"
#include "data/url.h"

#define PULL_GRACE_US US_PER_SECOND
#define PULL_MAX_US (2 * US_PER_SECOND) /* a request that was lost is noticed after this */
#define NO_WAIT_US (50 * US_PER_MS)     /* shorter polls ask whether there is something now */
enum {
    NS_PER_US = 1000,
    TEXT_MAX = 512,
    SLOT_NONE = UINT32_MAX,
    GROUP_MAX = 128,
    REQUEST_MAX = 8192,
};

/* ---- deliveries that are not settled ---- */

static bool make_slots(struct nats_reader *reader, size_t count, struct error *err)
{
    if (count == 0 || count >= SLOT_NONE)
        return error_set(err, ERROR_FATAL, "bus.spec", "a reader takes 1 to %u messages at a time",
                         (unsigned)SLOT_NONE - 1);
    reader->slots = calloc(count, sizeof(*reader->slots));
    if (reader->slots == NULL)
        return error_set(err, ERROR_TRANSIENT, "bus.busy", "memory is short");
    reader->slot_count = (uint32_t)count;
    for (uint32_t i = 0; i < reader->slot_count; i++)
        reader->slots[i].next_free = i + 1 < reader->slot_count ? i + 1 : (uint32_t)SLOT_NONE;
    reader->first_free = 0;
    return true;
}

static uint64_t take_slot(struct nats_reader *reader, const char *reply, size_t bytes)
{
    const uint32_t at = reader->first_free;
    struct nats_slot *slot = &reader->slots[at];

    slot->reply = strdup(reply);
    if (slot->reply == NULL)
        return 0;
    reader->first_free = slot->next_free;
    slot->bytes = bytes;
    slot->generation++;
    reader->unsettled++;
    reader->unsettled_bytes += bytes;
    return (uint64_t)slot->generation << 32 | (at + UINT64_C(1));
}

static struct nats_slot *find_slot(struct nats_reader *reader, uint64_t handle)
{
    const uint64_t at = (handle & UINT32_MAX) - 1;

    if (at >= reader->slot_count || reader->slots[at].reply == NULL ||
        reader->slots[at].generation != handle >> 32)
        return NULL;
    return &reader->slots[at];
}

static void free_slot(struct nats_reader *reader, struct nats_slot *slot)
{
    reader->unsettled--;
    reader->unsettled_bytes -= slot->bytes;
    free(slot->reply);
    slot->reply = NULL;
    slot->next_free = reader->first_free;
    reader->first_free = (uint32_t)(slot - reader->slots);
}

static void drop_waiting(struct nats_reader *reader)
{
    while (reader->waiting != NULL) {
        struct nats_item *item = reader->waiting;

        reader->waiting = item->next;
        nats_item_free(item);
    }
    reader->waiting_last = NULL;
    reader->waiting_count = 0;
    reader->pull = 0;
}

void nats_reader_release(struct nats_reader *reader)
{
    drop_waiting(reader);
    for (uint32_t i = 0; i < reader->slot_count; i++)
        free(reader->slots[i].reply);
    free(reader->slots);
    free(reader->group);
    *reader = (struct nats_reader){ 0 };
}

/* ---- the consumer ---- */

static bool is_group(struct str group)
{
    for (size_t i = 0; i < group.len; i++) {
        const char c = group.data[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '_'))
            return false;
    }
    return group.len > 0 && group.len < GROUP_MAX;
}

/* Not by js_AddConsumer(): libnats 3.4 writes instants without the zeros behind their point, so
 * that reading would begin at 12:00:05.2 instead of 12:00:05.02, and what lies between would be
 * lost. */
static struct str consumer_request(struct nats_bus *bus, int64_t from_us)
{
    const struct bus_spec *spec = bus->link.parts.spec;
    char subject[NATS_SUBJECT_MAX];
    struct json_writer w;
    struct buf out;

    (void)nats_bus_subject(bus, -1, subject);
    buf_init(&out, &bus->scratch, REQUEST_MAX);
    json_writer_init(&w, &out);
    json_write_object(&w);
    json_write_member_str(&w, STR("stream_name"), spec->stream);
    json_write_name(&w, STR("config"));
    json_write_object(&w);
    json_write_member_str(&w, STR("durable_name"), str_of(bus->reader.group));
    json_write_member_str(&w, STR("ack_policy"), STR("explicit"));
    json_write_member_i64(&w, STR("ack_wait"), spec->read.hold_us * NS_PER_US);
    json_write_member_i64(&w, STR("max_ack_pending"), (int64_t)bus->reader.flow.messages_max);
    json_write_member_str(&w, STR("filter_subject"), str_of(subject));
    json_write_member_str(&w, STR("replay_policy"), STR("instant"));
    if (from_us > 0) {
        json_write_member_str(&w, STR("deliver_policy"), STR("by_start_time"));
        json_write_member_instant(&w, STR("opt_start_time"), from_us);
    } else
        json_write_member_str(&w, STR("deliver_policy"), STR("all"));
    json_write_end(&w);
    json_write_end(&w);
    json_writer_finish(&w);
    return out.failed ? (struct str){ 0 } : buf_str(&out);
}

static bool read_reply(struct nats_bus *bus, natsMsg *reply, struct error *err)
{
    const struct str text = { natsMsg_GetData(reply), (size_t)natsMsg_GetDataLength(reply) };
    struct nats_ack answer;

    if (!nats_reply_read(&bus->scratch, text, &answer))
        return error_set(err, ERROR_TRANSIENT, "bus.lost",
                         "make the consumer: the answer of NATS is not one");
    return !answer.is_error ||
           nats_fault_stream(err, NATS_ERR, (jsErrCode)answer.err_code, "make the consumer");
}

static bool add_consumer(struct nats_bus *bus, int64_t from_us,
                         const struct nats_deadline *deadline, struct error *err)
{
    const struct str request = consumer_request(bus, from_us);
    char subject[TEXT_MAX];
    natsMsg *reply = NULL;
    natsStatus status;
    bool ok;

    if (request.data == NULL)
        return error_set(err, ERROR_TRANSIENT, "bus.busy", "memory is short");
    (void)snprintf(subject, sizeof(subject), "$JS.API.CONSUMER.DURABLE.CREATE.%.*s.%s",
                   STR_ARG(bus->link.parts.spec->stream), bus->reader.group);
    status = natsConnection_Request(&reply, bus->link.nc, subject, request.data, (int)request.len,
                                    nats_link_left_ms(&bus->link, deadline));
    ok = status == NATS_OK ? read_reply(bus, reply, err)
                           : nats_fault(err, status, "make the consumer");
    natsMsg_Destroy(reply);
    arena_reset(&bus->scratch);
    return ok;
}

/* *info is NULL when there is none. */
static bool find_consumer(struct nats_bus *bus, const struct nats_deadline *deadline,
                          jsConsumerInfo **info, struct error *err)
{
    char stream[TEXT_MAX];
    jsOptions options;
    jsErrCode code = 0;
    natsStatus status;

    *info = NULL;
    (void)snprintf(stream, sizeof(stream), "%.*s", STR_ARG(bus->link.parts.spec->stream));
    (void)jsOptions_Init(&options);
    options.Wait = nats_link_left_ms(&bus->link, deadline);
    status = js_GetConsumerInfo(info, bus->link.js, stream, bus->reader.group, &options, &code);
    if (status == NATS_OK || status == NATS_NOT_FOUND || code == JSConsumerNotFoundErr)
        return true;
    return nats_fault_stream(err, status, code, "look at the consumer");
}

static struct nats_deadline own_deadline(struct nats_bus *bus)
{
    return nats_link_deadline(&bus->link, bus->link.parts.spec->publish_timeout_us, -1);
}

bool nats_bus_subscribe(struct bus *base, struct str group, const struct bus_flow *flow,
                        struct error *err)
{
    struct nats_bus *bus = nats_bus_of(base);
    const struct nats_deadline deadline = own_deadline(bus);
    jsConsumerInfo *info;

    if (!is_group(group))
        return error_set(err, ERROR_FATAL, "bus.spec",
                         "a group is letters, digits, - and _, at most %d", GROUP_MAX - 1);
    nats_reader_release(&bus->reader);
    bus->reader.flow = *flow;
    bus->reader.group = strndup(group.data, group.len);
    if (bus->reader.group == NULL)
        return error_set(err, ERROR_TRANSIENT, "bus.busy", "memory is short");
    if (!make_slots(&bus->reader, flow->messages_max, err) ||
        !nats_link_ready(&bus->link, &deadline, err) || !find_consumer(bus, &deadline, &info, err))
        return false;
    if (info != NULL) {
        jsConsumerInfo_Destroy(info);
        return true;
    }
    return add_consumer(bus, 0, &deadline, err);
}

/* ---- asking for messages ---- */

static bool pull(struct nats_bus *bus, const struct bus_poll *poll, int64_t left_us,
                 struct error *err)
{
    struct nats_reader *reader = &bus->reader;
    const size_t room = reader->flow.messages_max - reader->unsettled;
    const size_t batch = reader->is_single           ? 1
                         : poll->messages_max < room ? poll->messages_max
                                                     : room;
    const size_t bytes = reader->flow.bytes_max;
    char subject[TEXT_MAX], reply[LINK_INBOX_MAX + 64], body[256], limit[64] = "";
    natsStatus status;

    if (batch == 0 || (reader->unsettled > 0 && reader->unsettled_bytes >= bytes))
        return true; /* the caller must settle something first */
    if (!reader->is_single)
        (void)snprintf(limit, sizeof(limit), ",\"max_bytes\":%zu", bytes - reader->unsettled_bytes);
    reader->pull = ++reader->pulls;
    reader->pull_left = (int64_t)batch;
    reader->pull_until_us = clock_monotonic_us(bus->link.parts.clock) + left_us + PULL_GRACE_US;
    (void)snprintf(subject, sizeof(subject), "$JS.API.CONSUMER.MSG.NEXT.%.*s.%s",
                   STR_ARG(bus->link.parts.spec->stream), reader->group);
    (void)snprintf(reply, sizeof(reply), "%sr-%" PRId64, bus->link.prefix, reader->pull);
    if (left_us < NO_WAIT_US)
        (void)snprintf(body, sizeof(body), "{\"batch\":%zu,\"no_wait\":true%s}", batch, limit);
    else
        (void)snprintf(body, sizeof(body), "{\"batch\":%zu,\"expires\":%" PRId64 "%s}", batch,
                       left_us * NS_PER_US, limit);
    reader->is_single = false;
    status = natsConnection_PublishRequestString(bus->link.nc, subject, reply, body);
    if (status == NATS_OK)
        return true;
    reader->pull = 0;
    return nats_fault(err, status, "ask for messages");
}

/* The end of a request: "404 No Messages", "408 Request Timeout", "409 ...". */
static void end_pull(struct nats_reader *reader, natsMsg *msg)
{
    const struct str subject = str_of(natsMsg_GetSubject(msg));
    const char *description = NULL;
    size_t dash = subject.len;
    int64_t number;

    while (dash > 0 && subject.data[dash - 1] != '-')
        dash--;
    if (!str_to_i64(str_slice(subject, dash, subject.len), &number) || number != reader->pull)
        return;
    reader->pull = 0;
    if (natsMsgHeader_Get(msg, "Description", &description) == NATS_OK &&
        strstr(description, "MaxBytes") != NULL && reader->unsettled == 0)
        reader->is_single = true;
}

void nats_reader_take(struct nats_bus *bus, struct nats_item *item)
{
    struct nats_reader *reader = &bus->reader;

    item->next = NULL;
    if (str_starts(str_of(natsMsg_GetSubject(item->msg)), str_of(bus->link.prefix)) ||
        natsMsg_GetReply(item->msg) == NULL || reader->group == NULL) {
        end_pull(reader, item->msg);
        nats_item_free(item);
        return;
    }
    if (reader->pull != 0 && --reader->pull_left == 0)
        reader->pull = 0;
    if (reader->waiting_last != NULL)
        reader->waiting_last->next = item;
    else
        reader->waiting = item;
    reader->waiting_last = item;
    reader->waiting_count++;
}

/* Sorts what came, and returns how many of it are answers of this kind to the call under way. */
static size_t sort_news(struct nats_bus *bus, char kind)
{
    struct nats_item *item = nats_queue_take(bus->link.queue);
    size_t answers = 0, index;

    for (struct nats_item *next; item != NULL; item = next) {
        next = item->next;
        answers += nats_bus_index(bus, item->msg, kind, &index);
        nats_reader_take(bus, item);
    }
    return answers;
}

/* ---- handing out ---- */

static struct str header_of(struct arena *arena, natsMsg *msg, const char *name)
{
    const char *value = NULL;

    if (natsMsgHeader_Get(msg, name, &value) != NATS_OK)
        return STR("");
    return arena_copy(arena, str_of(value));
}

static bool is_own_header(const char *name)
{
    static const char *const own[] = { NATS_HEADER_ID,      NATS_HEADER_TYPE,  NATS_HEADER_KEY,
                                       NATS_HEADER_VERSION, NATS_HEADER_EPOCH, NATS_HEADER_STREAM,
                                       NATS_HEADER_LAST };

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strcmp(name, own[i]) == 0)
            return true;
    }
    return false;
}

static void read_attributes(struct arena *arena, natsMsg *msg, struct bus_message *message)
{
    struct bus_attribute *attributes;
    const char **keys = NULL;
    int count = 0;

    if (natsMsgHeader_Keys(msg, &keys, &count) != NATS_OK || count <= 0)
        return;
    attributes = ARENA_ARRAY(arena, struct bus_attribute, (size_t)count);
    for (int i = 0; attributes != NULL && i < count; i++) {
        if (is_own_header(keys[i]))
            continue;
        attributes[message->attribute_count].name = arena_copy(arena, str_of(keys[i]));
        attributes[message->attribute_count].value = header_of(arena, msg, keys[i]);
        message->attribute_count++;
    }
    message->attributes = attributes;
    free((void *)keys);
}

static bool read_delivery(struct nats_bus *bus, struct arena *arena, natsMsg *msg,
                          struct bus_delivery *delivery, struct error *err)
{
    struct bus_message *message = &delivery->message;
    const struct str body = { natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg) };
    const char *reply = natsMsg_GetReply(msg);
    struct nats_delivery_mark mark;
    struct str version;

    *delivery = (struct bus_delivery){ 0 };
    if (!nats_delivery_mark_read(str_of(reply), &mark))
        return error_set(err, ERROR_TRANSIENT, "bus.lost",
                         "a message of NATS does not say how it is acknowledged");
    message->event_id = header_of(arena, msg, NATS_HEADER_ID);
    message->content_type = header_of(arena, msg, NATS_HEADER_TYPE);
    message->key = url_decode(arena, header_of(arena, msg, NATS_HEADER_KEY), URL_PATH);
    version = header_of(arena, msg, NATS_HEADER_VERSION);
    (void)str_to_i64(version, &message->version);
    message->lane =
        nats_subject_lane(bus->link.parts.spec->subject, str_of(natsMsg_GetSubject(msg)));
    message->body = arena_copy(arena, body);
    read_attributes(arena, msg, message);
    delivery->bus_id = arena_printf(arena, "%" PRId64, mark.sequence);
    delivery->published_us = mark.published_us;
    delivery->attempt = mark.attempt;
    if (arena->failed)
        return arena_error(arena, err);
    delivery->handle = take_slot(&bus->reader, reply, body.len);
    return delivery->handle != 0 || error_set(err, ERROR_TRANSIENT, "bus.busy", "memory is short");
}

static bool hand_out(struct nats_bus *bus, struct arena *arena, const struct bus_poll *poll,
                     struct bus_delivery_list *list, struct error *err)
{
    struct nats_reader *reader = &bus->reader;
    size_t most =
        reader->waiting_count < poll->messages_max ? reader->waiting_count : poll->messages_max;
    size_t bytes = 0;

    if (most > reader->slot_count - reader->unsettled)
        most = reader->slot_count - reader->unsettled;
    if (most == 0)
        return true;
    list->items = ARENA_ARRAY(arena, struct bus_delivery, most);
    if (list->items == NULL)
        return arena_error(arena, err);
    while (list->count < most && (list->count == 0 || bytes < poll->bytes_max)) {
        struct nats_item *item = reader->waiting;

        if (!read_delivery(bus, arena, item->msg, &list->items[list->count], err))
            return list->count > 0; /* it waits, for the next poll */
        bytes += list->items[list->count].message.body.len;
        list->count++;
        reader->waiting = item->next;
        reader->waiting_count--;
        if (reader->waiting == NULL)
            reader->waiting_last = NULL;
        nats_item_free(item);
    }
    return true;
}

/* After a new connection: what the old one was asked for never comes. */
static bool ready(struct nats_bus *bus, const struct nats_deadline *deadline, struct error *err)
{
    const int64_t before = bus->link.made;

    if (!nats_link_ready(&bus->link, deadline, err))
        return false;
    if (bus->link.made != before)
        drop_waiting(&bus->reader);
    return true;
}

static int64_t pull_time(const struct bus_poll *poll, int64_t left_us)
{
    if (poll->timeout_us < NO_WAIT_US)
        return 0;
    return left_us < PULL_MAX_US ? left_us : PULL_MAX_US;
}

/* Until there is news, or the request must have ended: then it was lost, with its server or between
 * two consumers of one name. False: the poll is over. */
static bool wait_for_pull(struct nats_bus *bus, const struct nats_deadline *deadline)
{
    const struct nats_reader *reader = &bus->reader;
    struct nats_deadline until = *deadline;

    if (reader->pull != 0 && reader->pull_until_us < until.at_us)
        until.at_us = reader->pull_until_us;
    switch (nats_link_wait(&bus->link, &until)) {
    case NATS_NEWS:
        return true;
    case NATS_LATE:
        return until.at_us < deadline->at_us;
    case NATS_WOKEN:
        break;
    }
    return false;
}

bool nats_bus_poll(struct bus *base, struct arena *arena, const struct bus_poll *poll,
                   struct bus_delivery_list *list, struct error *err)
{
    struct nats_bus *bus = nats_bus_of(base);
    struct nats_reader *reader = &bus->reader;
    struct nats_deadline deadline = nats_link_deadline(&bus->link, poll->timeout_us, poll->wake_fd);
    bool has_asked = false;

    if (reader->group == NULL)
        return error_set(err, ERROR_FATAL, "bus.spec", "poll before subscribe");
    if (!ready(bus, &deadline, err))
        return false;
    if (poll->timeout_us < NO_WAIT_US) /* the time that an answer to "now?" may take */
        deadline.at_us += NO_WAIT_US - poll->timeout_us;
    for (;;) {
        const int64_t now_us = clock_monotonic_us(bus->link.parts.clock);

        (void)sort_news(bus, 'r');
        if (!hand_out(bus, arena, poll, list, err))
            return false;
        if (list->count > 0)
            return true;
        if (nats_link_is_lost(&bus->link))
            return error_set(err, ERROR_TRANSIENT, "bus.lost",
                             "read from NATS: the connection broke");
        if (nats_queue_is_denied(bus->link.queue)) {
            nats_link_drop(&bus->link);
            return error_set(err, ERROR_FATAL, "bus.auth",
                             "the server forbids this user to read there");
        }
        if (deadline.at_us <= now_us ||
            (has_asked && poll->timeout_us < NO_WAIT_US && reader->pull == 0))
            return true;
        if ((reader->pull == 0 || now_us >= reader->pull_until_us) &&
            !pull(bus, poll, pull_time(poll, deadline.at_us - now_us), err))
            return false;
        has_asked = true;
        if (!wait_for_pull(bus, &deadline))
            return true;
    }
}

/* ---- settling ---- */

static const char *word_of(enum bus_verdict verdict)
{
    return verdict == BUS_ACK ? "+ACK" : verdict == BUS_NACK ? "-NAK" : "+WPI";
}

/* The server confirms each acknowledgement; so, when this returns, it has them. */
static bool await_confirmations(struct nats_bus *bus, size_t wanted,
                                const struct nats_deadline *deadline, struct error *err)
{
    while (wanted > 0) {
        const size_t answers = sort_news(bus, 'a');

        wanted -= answers < wanted ? answers : wanted;
        if (wanted == 0)
            return true;
        if (nats_link_is_lost(&bus->link))
            return error_set(err, ERROR_TRANSIENT, "bus.lost",
                             "acknowledge to NATS: the connection broke");
        if (nats_link_wait(&bus->link, deadline) != NATS_NEWS)
            return error_set(err, ERROR_TRANSIENT, "bus.timeout",
                             "acknowledge to NATS: no answer in time");
    }
    return true;
}

bool nats_bus_settle(struct bus *base, const struct bus_settlement *settlements, size_t count,
                     struct error *err)
{
    struct nats_bus *bus = nats_bus_of(base);
    const struct nats_deadline deadline = own_deadline(bus);
    char reply[LINK_INBOX_MAX + 64];
    natsStatus status = NATS_OK;
    size_t wanted = 0;

    if (!ready(bus, &deadline, err))
        return false;
    bus->calls++;
    for (size_t i = 0; i < count && status == NATS_OK; i++) {
        struct nats_slot *slot = find_slot(&bus->reader, settlements[i].handle);

        if (slot == NULL)
            continue; /* settled before: it may come again, which the reader expects */
        (void)snprintf(reply, sizeof(reply), "%sa-%" PRId64 "-%zu", bus->link.prefix, bus->calls,
                       i);
        if (settlements[i].verdict == BUS_ACK) {
            status = natsConnection_PublishRequestString(bus->link.nc, slot->reply, reply,
                                                         word_of(BUS_ACK));
            wanted++;
        } else
            status = natsConnection_PublishString(bus->link.nc, slot->reply,
                                                  word_of(settlements[i].verdict));
        if (status == NATS_OK && settlements[i].verdict != BUS_HOLD)
            free_slot(&bus->reader, slot);
    }
    if (status != NATS_OK)
        return nats_fault(err, status, "settle messages of NATS");
    return await_confirmations(bus, wanted, &deadline, err);
}

/* ---- going back, and how far it is ---- */

static bool delete_consumer(struct nats_bus *bus, const struct nats_deadline *deadline,
                            struct error *err)
{
    char stream[TEXT_MAX];
    jsOptions options;
    jsErrCode code = 0;
    natsStatus status;

    (void)snprintf(stream, sizeof(stream), "%.*s", STR_ARG(bus->link.parts.spec->stream));
    (void)jsOptions_Init(&options);
    options.Wait = nats_link_left_ms(&bus->link, deadline);
    status = js_DeleteConsumer(bus->link.js, stream, bus->reader.group, &options, &code);
    if (status != NATS_OK && status != NATS_NOT_FOUND && code != JSConsumerNotFoundErr)
        return nats_fault_stream(err, status, code, "end the consumer");
    (void)sort_news(bus, 'r');
    drop_waiting(&bus->reader); /* they belong to the one that has ended */
    return true;
}

bool nats_bus_seek(struct bus *base, int64_t at_us, struct error *err)
{
    struct nats_bus *bus = nats_bus_of(base);
    const struct nats_deadline deadline = own_deadline(bus);

    if (bus->reader.group == NULL)
        return error_set(err, ERROR_FATAL, "bus.spec", "seek before subscribe");
    return ready(bus, &deadline, err) && delete_consumer(bus, &deadline, err) &&
           add_consumer(bus, at_us > 0 ? at_us : 0, &deadline, err);
}

bool nats_bus_forget(struct bus *base, struct error *err)
{
    struct nats_bus *bus = nats_bus_of(base);
    const struct nats_deadline deadline = own_deadline(bus);

    if (bus->reader.group == NULL)
        return true;
    if (!ready(bus, &deadline, err) || !delete_consumer(bus, &deadline, err))
        return false;
    nats_reader_release(&bus->reader);
    return true;
}

bool nats_bus_lag(struct bus *base, struct bus_lag *lag, struct error *err)
{
    struct nats_bus *bus = nats_bus_of(base);
    const struct nats_deadline deadline = own_deadline(bus);
    jsConsumerInfo *info;

    if (bus->reader.group == NULL)
        return true; /* unknown */
    if (!ready(bus, &deadline, err) || !find_consumer(bus, &deadline, &info, err))
        return false;
    if (info == NULL)
        return true;
    lag->is_known = true;
    lag->messages = (int64_t)info->NumPending + info->NumAckPending;
    jsConsumerInfo_Destroy(info);
    return true;
}
