/* The transactional producers of lanes.
 *
 *      claim of a lane, epoch e                     another owner, epoch e + 1
 *      open: is a larger epoch kept? no
 *      init_transactions
 *      is a larger epoch kept? no
 *      begin, records, keep e, commit
 *      begin, records, commit ...
 *                                                   open: 5? no; init_transactions: ends the other
 *      begin, records, commit: fenced
 *      refused until the claim's epoch grows
 *
 * The second look closes the gap between the first one and init_transactions: after that nobody
 * with an older producer can commit, so what is kept then stays until this producer writes.
 */
#include <inttypes.h>
#include <stdio.h>

#include "adapter/kafka/kafka.h"

/* The library's blocking calls are cut into pieces, so that wake_fd is looked at; they resume. */
enum { PIECE_MS = 250, ASK_MS = 1000, ID_MAX = 512 };

static struct str group_name(const struct kafka *kafka, int64_t lane, char text[ID_MAX])
{
    const int len =
        snprintf(text, ID_MAX, "%.*s.fence.%" PRId64, STR_ARG(kafka->parts.spec->name), lane);

    return (struct str){ text, len > 0 && len < ID_MAX ? (size_t)len : 0 };
}

static bool overtaken(struct kafka_lane *lane, const struct bus_fence *fence, struct error *err)
{
    kafka_producer_close(&lane->producer);
    lane->is_overtaken = true;
    lane->lease_epoch = fence->lease_epoch;
    return error_set(err, ERROR_TRANSIENT, "bus.fenced",
                     "lane %" PRId64
                     " was published to by a later owner than that of epoch %" PRId64,
                     fence->lane, fence->lease_epoch);
}

/* ---- the epoch that Kafka keeps: an offset of a group without members ---- */

static rd_kafka_topic_partition_list_t *epoch_place(const struct kafka *kafka, int64_t epoch)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

    rd_kafka_topic_partition_list_add(list, kafka->topic, 0)->offset = epoch;
    return list;
}

/* A client that only asks: a member of the group it never becomes. The admin call for the same
 * (ListConsumerGroupOffsets) crashes librdkafka 2.0.2 when the coordinator is out of reach. */
static bool open_asker(const struct kafka *kafka, int64_t lane, rd_kafka_t **asker,
                       struct error *err)
{
    rd_kafka_conf_t *conf;
    char group[ID_MAX], why[256];

    if (!kafka_settings(kafka, &conf, err))
        return false;
    if (!kafka_set(conf, "group.id", group_name(kafka, lane, group), err) ||
        !kafka_set(conf, "enable.auto.commit", STR("false"), err) ||
        !kafka_set(conf, "isolation.level", STR("read_committed"), err)) {
        rd_kafka_conf_destroy(conf);
        return false;
    }
    *asker = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof(why));
    if (*asker != NULL)
        return true;
    rd_kafka_conf_destroy(conf);
    return error_set(err, ERROR_FATAL, "bus.spec", "librdkafka: %s", why);
}

/* *epoch is negative if none is kept. */
static bool kept_epoch(struct kafka *kafka, const struct bus_fence *fence, rd_kafka_t *asker,
                       struct kafka_until until, int64_t *epoch, struct error *err)
{
    struct kafka_client *producer = &kafka->lanes[fence->lane].producer;
    rd_kafka_topic_partition_list_t *place = epoch_place(kafka, RD_KAFKA_OFFSET_INVALID);
    rd_kafka_resp_err_t result;

    do {
        result = rd_kafka_committed(asker, place, kafka_left_ms(until, ASK_MS) + 1);
        (void)rd_kafka_poll(producer->rk, 0); /* so that a refused credential is seen */
    } while ((result == RD_KAFKA_RESP_ERR__TIMED_OUT || result == RD_KAFKA_RESP_ERR__WAIT_COORD) &&
             producer->fault.level != ERROR_FATAL && !kafka_is_over(until));
    if (result == RD_KAFKA_RESP_ERR_NO_ERROR)
        result = place->elems[0].err;
    *epoch = place->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(place);
    if (result == RD_KAFKA_RESP_ERR_NO_ERROR)
        return true;
    if (producer->fault.level == ERROR_FATAL)
        return error_set(err, ERROR_FATAL, producer->fault.code, "read the epoch of the fence: %s",
                         producer->reason);
    return error_set(err, kafka_fault(result).level, kafka_fault(result).code,
                     "read the epoch of the fence: %s", rd_kafka_err2str(result));
}

static bool keep_epoch(struct kafka *kafka, const struct bus_fence *fence, struct kafka_until until,
                       struct error *err)
{
    rd_kafka_topic_partition_list_t *place = epoch_place(kafka, fence->lease_epoch);
    char group[ID_MAX];
    rd_kafka_consumer_group_metadata_t *metadata;
    rd_kafka_error_t *error;

    (void)group_name(kafka, fence->lane, group);
    metadata = rd_kafka_consumer_group_metadata_new(group);
    error = rd_kafka_send_offsets_to_transaction(kafka->lanes[fence->lane].producer.rk, place,
                                                 metadata, kafka_left_ms(until, 60000) + 1);
    rd_kafka_consumer_group_metadata_destroy(metadata);
    rd_kafka_topic_partition_list_destroy(place);
    return error == NULL || kafka_error(error, "keep the epoch of the fence", err);
}

/* ---- opening ---- */

static bool init(struct kafka_lane *lane, struct kafka_until until, struct error *err)
{
    rd_kafka_error_t *error;

    for (;;) {
        error = rd_kafka_init_transactions(lane->producer.rk, kafka_left_ms(until, PIECE_MS) + 1);
        if (error == NULL)
            return true;
        (void)rd_kafka_poll(lane->producer.rk, 0); /* so that a refused credential is seen */
        if (!rd_kafka_error_is_retriable(error) || kafka_is_over(until) ||
            lane->producer.fault.level == ERROR_FATAL)
            break;
        rd_kafka_error_destroy(error);
    }
    (void)kafka_error(error, "open the lane's producer", err);
    if (lane->producer.fault.level > err->level)
        (void)error_set(err, lane->producer.fault.level, lane->producer.fault.code,
                        "open the lane's producer: %s", lane->producer.reason);
    return false;
}

static bool claim_with(struct kafka *kafka, const struct bus_fence *fence, rd_kafka_t *asker,
                       struct kafka_until until, struct error *err)
{
    struct kafka_lane *lane = &kafka->lanes[fence->lane];
    int64_t kept;

    if (!kept_epoch(kafka, fence, asker, until, &kept, err))
        return false;
    if (kept > fence->lease_epoch)
        return overtaken(lane, fence, err);
    if (!init(lane, until, err) || !kept_epoch(kafka, fence, asker, until, &kept, err))
        return false;
    return kept <= fence->lease_epoch || overtaken(lane, fence, err);
}

static bool claim(struct kafka *kafka, const struct bus_fence *fence, struct kafka_until until,
                  struct error *err)
{
    rd_kafka_t *asker;
    bool ok;

    if (!open_asker(kafka, fence->lane, &asker, err))
        return false;
    ok = claim_with(kafka, fence, asker, until, err);
    rd_kafka_destroy_flags(asker, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    return ok;
}

bool kafka_lane_open(struct kafka *kafka, const struct bus_fence *fence, struct kafka_until until,
                     struct error *err)
{
    struct kafka_lane *lane = &kafka->lanes[fence->lane];
    char id[ID_MAX];
    int len;

    if (lane->is_overtaken && fence->lease_epoch <= lane->lease_epoch)
        return overtaken(lane, fence, err);
    if (lane->producer.rk != NULL && fence->lease_epoch == lane->lease_epoch)
        return true;
    if (lane->producer.rk != NULL && fence->lease_epoch < lane->lease_epoch)
        return error_set(err, ERROR_TRANSIENT, "bus.fenced",
                         "lane %" PRId64 " was claimed again since epoch %" PRId64, fence->lane,
                         fence->lease_epoch);
    kafka_producer_close(&lane->producer);
    *lane = (struct kafka_lane){ .lease_epoch = fence->lease_epoch };
    len = snprintf(id, sizeof(id), "%.*s.lane.%" PRId64, STR_ARG(kafka->parts.spec->name),
                   fence->lane);
    if (len < 0 || len >= ID_MAX)
        return error_set(err, ERROR_FATAL, "bus.spec", "the name of the bus is too long");
    if (!kafka_producer_open(kafka, &lane->producer, (struct str){ id, (size_t)len }, err))
        return false;
    if (claim(kafka, fence, until, err))
        return true;
    kafka_producer_close(&lane->producer);
    return false;
}

/* ---- transactions ---- */

bool kafka_lane_begin(struct kafka_lane *lane, struct error *err)
{
    rd_kafka_error_t *error = rd_kafka_begin_transaction(lane->producer.rk);

    return error == NULL || kafka_error(error, "begin a transaction", err);
}

static bool commit(struct kafka_lane *lane, struct kafka_until until, struct error *err)
{
    rd_kafka_error_t *error;

    for (;;) {
        error = rd_kafka_commit_transaction(lane->producer.rk, kafka_left_ms(until, PIECE_MS) + 1);
        if (error == NULL)
            return true;
        if (!rd_kafka_error_is_retriable(error) || kafka_is_over(until))
            return kafka_error(error, "commit a transaction", err);
        rd_kafka_error_destroy(error);
    }
}

/* The library hides behind a general code why its producer cannot go on. */
static bool is_fenced(const struct kafka_lane *lane, const struct error *err)
{
    char why[8];
    const rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(lane->producer.rk, why, sizeof(why));

    return str_eq(str_of(err->code), STR("bus.fenced")) ||
           str_eq(str_of(kafka_fault(fatal).code), STR("bus.fenced"));
}

bool kafka_lane_commit(struct kafka *kafka, const struct bus_fence *fence, struct kafka_until until,
                       struct error *err)
{
    struct kafka_lane *lane = &kafka->lanes[fence->lane];

    if ((lane->is_noted || keep_epoch(kafka, fence, until, err)) && commit(lane, until, err)) {
        lane->is_noted = true;
        return true;
    }
    if (is_fenced(lane, err))
        return overtaken(lane, fence, err);
    /* Committed or not: the next producer of this lane waits for it or aborts it. */
    kafka_producer_close(&lane->producer);
    return false;
}

void kafka_lane_abort(struct kafka_lane *lane)
{
    rd_kafka_error_t *error;

    if (lane->producer.rk == NULL)
        return;
    error = rd_kafka_abort_transaction(lane->producer.rk, PIECE_MS);
    if (error == NULL)
        return;
    rd_kafka_error_destroy(error);
    kafka_producer_close(&lane->producer);
}
