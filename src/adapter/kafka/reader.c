/* Reading: a consumer group, offsets committed when all before is settled.
 *
 *      poll     records → deliveries, noted per partition (track.h)
 *      settle   acks → offsets to commit; nacks → back to the first of them
 *
 * While as much is unsettled as the flow allows, the partitions are paused and the library is still
 * called, so that the group does not take us for dead.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/kafka/kafka.h"

/* A handle is partition and offset; 2^48 offsets are 9 years of a million records a second. */
enum { HANDLE_OFFSET_BITS = 48, PARTITIONS_MAX = 1 << 15 };
/* Calls that have no timeout of their own. */
#define CALL_US (10 * US_PER_SECOND)
/* A topic that was just made is not known to every broker. The library says once that it is
 * missing. */
#define MISSING_US (5 * US_PER_SECOND)

static uint64_t handle_of(int32_t partition, int64_t offset)
{
    return (uint64_t)partition << HANDLE_OFFSET_BITS | (uint64_t)offset;
}

static struct kafka_partition *partition_find(struct kafka_reader *reader, int32_t id)
{
    for (size_t i = 0; i < reader->partition_count; i++) {
        if (reader->partitions[i].id == id)
            return &reader->partitions[i];
    }
    return NULL;
}

static struct kafka_partition *partition_take(struct kafka_reader *reader, int32_t id)
{
    struct kafka_partition *found = partition_find(reader, id);
    struct kafka_partition *grown;

    if (found != NULL)
        return found;
    grown = realloc(reader->partitions, (reader->partition_count + 1) * sizeof(*grown));
    if (grown == NULL)
        return NULL;
    reader->partitions = grown;
    found = &grown[reader->partition_count++];
    *found = (struct kafka_partition){ .id = id };
    track_init(&found->track);
    return found;
}

static void drop_kept(struct kafka_reader *reader)
{
    if (reader->kept != NULL)
        rd_kafka_message_destroy(reader->kept);
    reader->kept = NULL;
}

/* Within rd_kafka_consumer_poll(). What was delivered of a lost partition is somebody else's. */
static void rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t event,
                      rd_kafka_topic_partition_list_t *list, void *opaque)
{
    struct kafka_client *client = opaque;
    struct kafka_reader *reader = &client->kafka->reader;
    const bool is_gain = event == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;

    for (int i = 0; i < list->cnt; i++) {
        struct kafka_partition *partition = partition_take(reader, list->elems[i].partition);

        if (partition == NULL)
            continue;
        track_reset(&partition->track);
        partition->is_assigned = is_gain;
    }
    drop_kept(reader);
    reader->is_paused = false;
    if (is_gain && list->cnt > 0)
        reader->missing_since_us = 0;
    (void)rd_kafka_assign(rk, is_gain ? list : NULL);
}

/* ---- subscribing ---- */

/* A reader that died keeps its messages for so long: what brokers allow by default. */
static int64_t session_ms(const struct kafka *kafka)
{
    const int64_t hold_ms = kafka->parts.spec->read.hold_us / US_PER_MS;

    if (hold_ms == 0)
        return 30000;
    return hold_ms < 6000 ? 6000 : hold_ms > 1800000 ? 1800000 : hold_ms;
}

static bool set_session(const struct kafka *kafka, rd_kafka_conf_t *conf, struct error *err)
{
    char session[32], poll[32];

    (void)snprintf(session, sizeof(session), "%" PRId64, session_ms(kafka));
    (void)snprintf(poll, sizeof(poll), "%" PRId64,
                   session_ms(kafka) > 300000 ? session_ms(kafka) : INT64_C(300000));
    return kafka_set(conf, "session.timeout.ms", str_of(session), err) &&
           kafka_set(conf, "heartbeat.interval.ms", STR("2000"), err) &&
           kafka_set(conf, "max.poll.interval.ms", str_of(poll), err);
}

static bool set_reader(const struct bus_flow *flow, rd_kafka_conf_t *conf, struct str group,
                       struct error *err)
{
    char kbytes[32];

    /* What is fetched ahead is bounded by what may be delivered. */
    (void)snprintf(kbytes, sizeof(kbytes), "%zu",
                   flow->bytes_max / 1024 < 1024        ? (size_t)1024
                   : flow->bytes_max / 1024 > (1 << 20) ? (size_t)1 << 20
                                                        : flow->bytes_max / 1024);
    return kafka_set(conf, "group.id", group, err) &&
           kafka_set(conf, "enable.auto.commit", STR("false"), err) &&
           kafka_set(conf, "enable.auto.offset.store", STR("false"), err) &&
           kafka_set(conf, "enable.partition.eof", STR("true"), err) &&
           kafka_set(conf, "auto.offset.reset", STR("earliest"), err) &&
           kafka_set(conf, "isolation.level", STR("read_committed"), err) &&
           kafka_set(conf, "fetch.wait.max.ms", STR("100"), err) &&
           kafka_set(conf, "queued.max.messages.kbytes", str_of(kbytes), err);
}

static bool join_group(struct kafka *kafka, struct error *err)
{
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_resp_err_t result;

    rd_kafka_topic_partition_list_add(topics, kafka->topic, RD_KAFKA_PARTITION_UA);
    result = rd_kafka_subscribe(kafka->reader.client.rk, topics);
    rd_kafka_topic_partition_list_destroy(topics);
    if (result == RD_KAFKA_RESP_ERR_NO_ERROR)
        return true;
    return error_set(err, kafka_fault(result).level, kafka_fault(result).code, "subscribe: %s",
                     rd_kafka_err2str(result));
}

bool kafka_subscribe(struct bus *bus, struct str group, const struct bus_flow *flow,
                     struct error *err)
{
    struct kafka *kafka = (struct kafka *)bus;
    struct kafka_client *client = &kafka->reader.client;
    rd_kafka_conf_t *conf;
    char why[256];

    assert(client->rk == NULL);
    if (!kafka_settings(kafka, &conf, err))
        return false;
    if (!set_session(kafka, conf, err) || !set_reader(flow, conf, group, err)) {
        rd_kafka_conf_destroy(conf);
        return false;
    }
    kafka->reader = (struct kafka_reader){ .client = { .kafka = kafka }, .flow = *flow };
    rd_kafka_conf_set_opaque(conf, client);
    rd_kafka_conf_set_error_cb(conf, kafka_take_error);
    rd_kafka_conf_set_rebalance_cb(conf, rebalance);
    client->rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof(why));
    if (client->rk == NULL) {
        rd_kafka_conf_destroy(conf);
        return error_set(err, ERROR_FATAL, "bus.spec", "librdkafka: %s", why);
    }
    (void)rd_kafka_poll_set_consumer(client->rk);
    client->queue = rd_kafka_queue_get_consumer(client->rk);
    kafka_watch(kafka, client->queue);
    return join_group(kafka, err);
}

void kafka_reader_close(struct kafka_reader *reader)
{
    drop_kept(reader);
    if (reader->client.rk != NULL) {
        (void)rd_kafka_consumer_close(reader->client.rk); /* leaves the group */
        drop_kept(reader);
        rd_kafka_queue_destroy(reader->client.queue);
        rd_kafka_destroy(reader->client.rk);
    }
    for (size_t i = 0; i < reader->partition_count; i++)
        track_release(&reader->partitions[i].track);
    free(reader->partitions);
    *reader = (struct kafka_reader){ 0 };
}

/* ---- polling ---- */

/* How much more may be delivered. */
static struct bus_flow room_of(const struct kafka_reader *reader)
{
    struct bus_flow used = { 0 };

    for (size_t i = 0; i < reader->partition_count; i++) {
        used.messages_max += reader->partitions[i].track.out_count;
        used.bytes_max += reader->partitions[i].track.out_bytes;
    }
    return (struct bus_flow){
        .messages_max = reader->flow.messages_max > used.messages_max
                            ? reader->flow.messages_max - used.messages_max
                            : 0,
        .bytes_max =
            reader->flow.bytes_max > used.bytes_max ? reader->flow.bytes_max - used.bytes_max : 0,
    };
}

static void pause(struct kafka_reader *reader, bool is_on)
{
    rd_kafka_topic_partition_list_t *list = NULL;

    if (reader->is_paused == is_on ||
        rd_kafka_assignment(reader->client.rk, &list) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    if (is_on)
        (void)rd_kafka_pause_partitions(reader->client.rk, list);
    else
        (void)rd_kafka_resume_partitions(reader->client.rk, list);
    rd_kafka_topic_partition_list_destroy(list);
    reader->is_paused = is_on;
}

static bool fault_of_record(const rd_kafka_message_t *record, struct error *err)
{
    const struct kafka_fault fault = kafka_fault(record->err);

    return error_set(err, fault.level, fault.code, "read: %s", rd_kafka_message_errstr(record));
}

/* Asked when it is about to be delivered: since it was fetched it may have been acknowledged, by an
 * earlier delivery. */
static bool is_wanted(struct kafka_reader *reader, const rd_kafka_message_t *record)
{
    const struct kafka_partition *partition = partition_find(reader, record->partition);

    return partition != NULL && partition->is_assigned &&
           track_wants(&partition->track, record->offset);
}

/* The next record to deliver, or NULL if there is none now. Errors of the group are the call's. */
static bool next_record(struct kafka_reader *reader, rd_kafka_message_t **record, struct error *err)
{
    struct kafka_partition *partition;
    bool ok = true;

    while (ok) {
        *record = reader->kept;
        reader->kept = NULL;
        if (*record == NULL)
            *record = rd_kafka_consumer_poll(reader->client.rk, 0);
        if (*record == NULL)
            return true;
        partition = partition_find(reader, (*record)->partition);
        if ((*record)->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            if (is_wanted(reader, *record))
                return true;
        } else if ((*record)->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
            if (reader->missing_since_us == 0)
                reader->missing_since_us = kafka_now_us();
        } else if ((*record)->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            ok = fault_of_record(*record, err);
        } else if (partition != NULL) {
            track_end(&partition->track, (*record)->offset);
        }
        rd_kafka_message_destroy(*record);
        *record = NULL;
    }
    return false;
}

/* A list that is being filled. */
struct filling {
    struct arena *arena;
    struct bus_delivery_list *list;
    struct bus_flow room;
};

static bool fits(const struct filling *filling, const rd_kafka_message_t *record)
{
    return filling->list->count < filling->room.messages_max &&
           (record->len <= filling->room.bytes_max || filling->list->count == 0);
}

static bool deliver(struct kafka_reader *reader, struct filling *filling,
                    const rd_kafka_message_t *record, struct error *err)
{
    struct kafka_partition *partition = partition_find(reader, record->partition);
    struct bus_delivery *delivery = &filling->list->items[filling->list->count];

    if (record->partition >= PARTITIONS_MAX || record->offset >> HANDLE_OFFSET_BITS != 0)
        return error_set(err, ERROR_FATAL, "bus.spec", "partition or offset is too large");
    if (!kafka_delivery_read(filling->arena, record, delivery, err))
        return false;
    delivery->handle = handle_of(record->partition, record->offset);
    if (!track_deliver(&partition->track, record->offset, record->len))
        return error_set(err, ERROR_TRANSIENT, "bus.lost", "no memory for a delivery");
    filling->room.bytes_max -=
        record->len < filling->room.bytes_max ? record->len : filling->room.bytes_max;
    filling->list->count++;
    return true;
}

/* What is there now. A record that cannot be delivered is kept for the next call. */
static bool fill(struct kafka_reader *reader, struct filling *filling, struct error *err)
{
    rd_kafka_message_t *record;

    while (filling->list->count < filling->room.messages_max) {
        if (!next_record(reader, &record, err))
            return filling->list->count > 0; /* the error comes again, if it lasts */
        if (record == NULL)
            return true;
        if (!fits(filling, record)) {
            reader->kept = record;
            return true;
        }
        if (!deliver(reader, filling, record, err)) {
            reader->kept = record;
            return filling->list->count > 0 && arena_error_is_limit(err);
        }
        rd_kafka_message_destroy(record);
    }
    return true;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* While nothing more may be delivered: only what the group wants of us. */
static bool keep_alive(struct kafka_reader *reader)
{
    rd_kafka_message_t *record;

    pause(reader, true);
    record = reader->kept == NULL ? rd_kafka_consumer_poll(reader->client.rk, 0) : NULL;
    if (record != NULL && record->err == RD_KAFKA_RESP_ERR_NO_ERROR)
        reader->kept = record; /* it was fetched before the pause */
    else if (record != NULL)
        rd_kafka_message_destroy(record);
    return true;
}

static bool is_broken(struct kafka_reader *reader, struct error *err)
{
    struct kafka_client *client = &reader->client;

    if (reader->missing_since_us != 0 && kafka_now_us() - reader->missing_since_us > MISSING_US) {
        (void)error_set(err, ERROR_FATAL, "bus.missing", "read: there is no topic %s",
                        client->kafka->topic);
        return true;
    }
    if (client->fault.level != ERROR_FATAL)
        return false;
    (void)error_set(err, client->fault.level, client->fault.code, "read: %s", client->reason);
    client->fault.level = ERROR_NONE;
    return true;
}

bool kafka_poll(struct bus *bus, struct arena *arena, const struct bus_poll *poll,
                struct bus_delivery_list *list, struct error *err)
{
    struct kafka *kafka = (struct kafka *)bus;
    struct kafka_reader *reader = &kafka->reader;
    const struct kafka_until until = kafka_until(poll->timeout_us, poll->wake_fd);
    const struct bus_flow room = room_of(reader);
    struct filling filling = {
        .arena = arena,
        .list = list,
        .room = { .messages_max = least(poll->messages_max, room.messages_max),
                  .bytes_max = least(poll->bytes_max, room.bytes_max) },
    };
    const bool is_full = filling.room.messages_max == 0 || room.bytes_max == 0;

    list->items = ARENA_ARRAY(arena, struct bus_delivery, filling.room.messages_max);
    if (list->items == NULL)
        return arena_error(arena, err);
    if (!is_full)
        pause(reader, false);
    for (;;) {
        kafka_calm(kafka);
        if (is_full ? !keep_alive(reader) : !fill(reader, &filling, err))
            return false;
        if (list->count > 0)
            return true;
        if (is_broken(reader, err))
            return false;
        if (kafka_is_over(until))
            return true;
        kafka_wait(kafka, until);
    }
}

/* ---- settling ---- */

static bool commit(struct kafka_reader *reader, const rd_kafka_topic_partition_list_t *offsets,
                   struct error *err)
{
    const struct kafka_until until = kafka_until(CALL_US, -1);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(reader->client.rk);
    rd_kafka_event_t *event = NULL;
    rd_kafka_resp_err_t result =
        rd_kafka_commit_queue(reader->client.rk, offsets, queue, NULL, NULL);

    if (result == RD_KAFKA_RESP_ERR_NO_ERROR) {
        event = rd_kafka_queue_poll(queue, kafka_left_ms(until, INT32_MAX));
        result = event != NULL ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
    }
    if (event != NULL)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    if (result == RD_KAFKA_RESP_ERR_NO_ERROR || result == RD_KAFKA_RESP_ERR__NO_OFFSET)
        return true;
    return error_set(err, kafka_fault(result).level, kafka_fault(result).code, "commit offsets: %s",
                     rd_kafka_err2str(result));
}

static bool go_back(struct kafka_reader *reader, rd_kafka_topic_partition_list_t *offsets,
                    struct error *err)
{
    rd_kafka_error_t *error;

    if (offsets->cnt == 0)
        return true;
    drop_kept(reader); /* it is read again, or fetched again by the library */
    error = rd_kafka_seek_partitions(reader->client.rk, offsets, (int)(CALL_US / US_PER_MS));
    return error == NULL || kafka_error(error, "go back", err);
}

static void settle_one(struct kafka_reader *reader, const struct bus_settlement *settlement)
{
    const int64_t offset =
        (int64_t)(settlement->handle & ((UINT64_C(1) << HANDLE_OFFSET_BITS) - 1));
    struct kafka_partition *partition =
        partition_find(reader, (int32_t)(settlement->handle >> HANDLE_OFFSET_BITS));

    if (partition == NULL || !partition->is_assigned)
        return; /* lost by a rebalance: it is delivered to somebody else */
    if (settlement->verdict == BUS_ACK)
        (void)track_ack(&partition->track, offset);
    if (settlement->verdict == BUS_NACK)
        (void)track_nack(&partition->track, offset);
}

static bool settle_partitions(struct kafka *kafka, rd_kafka_topic_partition_list_t *commits,
                              rd_kafka_topic_partition_list_t *backs, struct error *err)
{
    struct kafka_reader *reader = &kafka->reader;
    const char *topic = kafka->topic;

    for (size_t i = 0; i < reader->partition_count; i++) {
        struct kafka_partition *partition = &reader->partitions[i];
        const int64_t back = track_back(&partition->track);

        if (!partition->is_assigned)
            continue;
        if (track_advance(&partition->track))
            rd_kafka_topic_partition_list_add(commits, topic, partition->id)->offset =
                partition->track.next;
        if (back >= 0)
            rd_kafka_topic_partition_list_add(backs, topic, partition->id)->offset = back;
    }
    /* A kept record of another partition would be lost with a seek: it is read again as well. */
    if (backs->cnt > 0 && reader->kept != NULL &&
        rd_kafka_topic_partition_list_find(backs, topic, reader->kept->partition) == NULL)
        rd_kafka_topic_partition_list_add(backs, topic, reader->kept->partition)->offset =
            reader->kept->offset;
    return (commits->cnt == 0 || commit(reader, commits, err)) && go_back(reader, backs, err);
}

bool kafka_settle(struct bus *bus, const struct bus_settlement *settlements, size_t count,
                  struct error *err)
{
    struct kafka *kafka = (struct kafka *)bus;
    rd_kafka_topic_partition_list_t *commits, *backs;
    bool ok;

    if (kafka->reader.client.rk == NULL)
        return true;
    for (size_t i = 0; i < count; i++)
        settle_one(&kafka->reader, &settlements[i]);
    commits = rd_kafka_topic_partition_list_new((int)kafka->reader.partition_count);
    backs = rd_kafka_topic_partition_list_new((int)kafka->reader.partition_count);
    ok = settle_partitions(kafka, commits, backs, err);
    rd_kafka_topic_partition_list_destroy(commits);
    rd_kafka_topic_partition_list_destroy(backs);
    return ok;
}

/* ---- seeking ---- */

/* The group gives us partitions while we poll. A record that comes meanwhile is kept. */
static bool await_assignment(struct kafka *kafka, struct error *err)
{
    const struct kafka_until until = kafka_until(CALL_US, -1);
    struct kafka_reader *reader = &kafka->reader;

    for (;;) {
        kafka_calm(kafka);
        if (reader->kept == NULL && !next_record(reader, &reader->kept, err))
            return false;
        for (size_t i = 0; i < reader->partition_count; i++) {
            if (reader->partitions[i].is_assigned)
                return true;
        }
        if (kafka_is_over(until))
            return error_set(err, ERROR_TRANSIENT, "bus.timeout",
                             "the group has given this reader no partition yet");
        kafka_wait(kafka, until);
    }
}

/* The end is where nothing of after the instant is. */
static bool find_ends(struct kafka_reader *reader, rd_kafka_topic_partition_list_t *offsets,
                      struct error *err)
{
    for (int i = 0; i < offsets->cnt; i++) {
        rd_kafka_topic_partition_t *one = &offsets->elems[i];
        int64_t low, high;
        rd_kafka_resp_err_t result = one->err;

        if (result == RD_KAFKA_RESP_ERR_NO_ERROR && one->offset >= 0)
            continue;
        if (result == RD_KAFKA_RESP_ERR_NO_ERROR)
            result = rd_kafka_query_watermark_offsets(reader->client.rk, one->topic, one->partition,
                                                      &low, &high, (int)(CALL_US / US_PER_MS));
        if (result != RD_KAFKA_RESP_ERR_NO_ERROR)
            return error_set(err, kafka_fault(result).level, kafka_fault(result).code,
                             "find the place of an instant: %s", rd_kafka_err2str(result));
        one->offset = high;
    }
    return true;
}

static bool seek_all(struct kafka_reader *reader, rd_kafka_topic_partition_list_t *offsets,
                     int64_t at_us, struct error *err)
{
    rd_kafka_resp_err_t result;

    for (int i = 0; i < offsets->cnt; i++)
        offsets->elems[i].offset = at_us > 0 ? at_us / US_PER_MS : 0;
    result = rd_kafka_offsets_for_times(reader->client.rk, offsets, (int)(CALL_US / US_PER_MS));
    if (result != RD_KAFKA_RESP_ERR_NO_ERROR)
        return error_set(err, kafka_fault(result).level, kafka_fault(result).code,
                         "find the place of an instant: %s", rd_kafka_err2str(result));
    if (!find_ends(reader, offsets, err) || !go_back(reader, offsets, err))
        return false;
    for (size_t i = 0; i < reader->partition_count; i++)
        track_reset(&reader->partitions[i].track);
    return commit(reader, offsets, err); /* so that the group stays there */
}

bool kafka_seek(struct bus *bus, int64_t at_us, struct error *err)
{
    struct kafka *kafka = (struct kafka *)bus;
    rd_kafka_topic_partition_list_t *offsets = NULL;
    rd_kafka_resp_err_t result;
    bool ok;

    if (!await_assignment(kafka, err))
        return false;
    result = rd_kafka_assignment(kafka->reader.client.rk, &offsets);
    if (result != RD_KAFKA_RESP_ERR_NO_ERROR)
        return error_set(err, kafka_fault(result).level, kafka_fault(result).code, "seek: %s",
                         rd_kafka_err2str(result));
    ok = seek_all(&kafka->reader, offsets, at_us, err);
    rd_kafka_topic_partition_list_destroy(offsets);
    return ok;
}

/* ---- lag ---- */

static bool list_partitions(struct kafka *kafka, rd_kafka_topic_partition_list_t **list,
                            struct error *err)
{
    rd_kafka_t *rk = kafka->reader.client.rk;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, kafka->topic, NULL);
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t result =
        rd_kafka_metadata(rk, 0, topic, &metadata, (int)(CALL_US / US_PER_MS));

    rd_kafka_topic_destroy(topic);
    if (result == RD_KAFKA_RESP_ERR_NO_ERROR)
        result = kafka_topic_result(metadata);
    if (result == RD_KAFKA_RESP_ERR_NO_ERROR) {
        *list = rd_kafka_topic_partition_list_new(metadata->topics[0].partition_cnt);
        rd_kafka_topic_partition_list_add_range(*list, kafka->topic, 0,
                                                metadata->topics[0].partition_cnt - 1);
    }
    if (metadata != NULL)
        rd_kafka_metadata_destroy(metadata);
    return result == RD_KAFKA_RESP_ERR_NO_ERROR ||
           error_set(err, kafka_fault(result).level, kafka_fault(result).code, "lag: %s",
                     rd_kafka_err2str(result));
}

static rd_kafka_resp_err_t lag_of(struct kafka_reader *reader,
                                  const rd_kafka_topic_partition_t *one, int64_t *lag)
{
    struct kafka_partition *own = partition_find(reader, one->partition);
    int64_t low = 0, high = 0, from = one->offset;
    const rd_kafka_resp_err_t result = rd_kafka_query_watermark_offsets(
        reader->client.rk, one->topic, one->partition, &low, &high, (int)(CALL_US / US_PER_MS));

    if (own != NULL && own->is_assigned && own->track.next > from)
        from = own->track.next; /* markers behind the last record need no commit */
    if (from < low)
        from = low;
    *lag = high > from ? high - from : 0;
    return result;
}

bool kafka_lag(struct bus *bus, struct bus_lag *lag, struct error *err)
{
    struct kafka *kafka = (struct kafka *)bus;
    struct kafka_reader *reader = &kafka->reader;
    rd_kafka_topic_partition_list_t *list;
    rd_kafka_resp_err_t result;

    if (reader->client.rk == NULL)
        return true; /* unknown */
    if (!list_partitions(kafka, &list, err))
        return false;
    result = rd_kafka_committed(reader->client.rk, list, (int)(CALL_US / US_PER_MS));
    for (int i = 0; result == RD_KAFKA_RESP_ERR_NO_ERROR && i < list->cnt; i++) {
        int64_t one;

        result = lag_of(reader, &list->elems[i], &one);
        lag->messages += one;
    }
    rd_kafka_topic_partition_list_destroy(list);
    /* Markers of transactions have offsets, too: then the sum is only known to be too large. */
    lag->is_known =
        result == RD_KAFKA_RESP_ERR_NO_ERROR && (!kafka->parts.spec->fence || lag->messages == 0);
    return result == RD_KAFKA_RESP_ERR_NO_ERROR ||
           error_set(err, kafka_fault(result).level, kafka_fault(result).code, "lag: %s",
                     rd_kafka_err2str(result));
}
