/* Messages to records, and the library's reports to receipts. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "adapter/kafka/kafka.h"

/* A message on its way. */
struct outgoing {
    int64_t lane;
    bool is_sent; /* in the library's hands */
    bool is_done;
    rd_kafka_resp_err_t result;
    int32_t partition;
    int64_t offset;
};

struct batch {
    struct kafka *kafka;
    const struct bus_publish *publish;
    struct bus_receipt *receipts;
    struct outgoing *out;
    struct kafka_until until;
};

/* ---- callbacks of the library ---- */

void kafka_report(rd_kafka_t *rk, const rd_kafka_message_t *record, void *opaque)
{
    struct outgoing *out = record->_private;

    (void)rk;
    (void)opaque;
    out->is_done = true;
    out->result = record->err;
    out->partition = record->partition;
    out->offset = record->offset;
}

int32_t kafka_partition_of_lane(const rd_kafka_topic_t *topic, const void *key, size_t key_len,
                                int32_t partitions, void *opaque, void *message_opaque)
{
    const struct outgoing *out = message_opaque;

    (void)topic;
    (void)key;
    (void)key_len;
    (void)opaque;
    return (int32_t)(out->lane % partitions);
}

/* ---- sending ---- */

static rd_kafka_resp_err_t produce(const struct kafka *kafka, struct kafka_client *producer,
                                   const struct bus_message *message, struct outgoing *out)
{
    rd_kafka_headers_t *headers = kafka_headers_of(message);
    rd_kafka_resp_err_t result;

    if (headers == NULL)
        return RD_KAFKA_RESP_ERR__QUEUE_FULL;
    result = rd_kafka_producev(producer->rk, RD_KAFKA_V_TOPIC(kafka->topic),
                               RD_KAFKA_V_KEY(message->key.data, message->key.len),
                               RD_KAFKA_V_VALUE((void *)message->body.data, message->body.len),
                               RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(out), RD_KAFKA_V_END);
    if (result != RD_KAFKA_RESP_ERR_NO_ERROR)
        rd_kafka_headers_destroy(headers); /* they are still ours */
    return result;
}

static void serve(const struct batch *batch)
{
    struct kafka *kafka = batch->kafka;

    kafka_calm(kafka);
    if (kafka->producer.rk != NULL)
        (void)rd_kafka_poll(kafka->producer.rk, 0);
    for (size_t i = 0; kafka->lanes != NULL && i < OUTBOX_LANES; i++) {
        if (kafka->lanes[i].producer.rk != NULL)
            (void)rd_kafka_poll(kafka->lanes[i].producer.rk, 0);
    }
}

/* Into the library's queue; while that is full, waits for reports. */
static void send_one(const struct batch *batch, struct kafka_client *producer, size_t at)
{
    struct outgoing *out = &batch->out[at];

    for (;;) {
        out->result = produce(batch->kafka, producer, &batch->publish->messages[at], out);
        if (out->result != RD_KAFKA_RESP_ERR__QUEUE_FULL || kafka_is_over(batch->until))
            break;
        serve(batch);
        kafka_wait(batch->kafka, batch->until);
    }
    out->is_sent = out->result == RD_KAFKA_RESP_ERR_NO_ERROR;
    out->is_done = !out->is_sent;
}

static bool is_waiting(const struct batch *batch)
{
    for (size_t i = 0; i < batch->publish->count; i++) {
        if (batch->out[i].is_sent && !batch->out[i].is_done)
            return true;
    }
    return false;
}

/* True if a client has met what waiting does not mend. */
static bool is_hopeless(const struct batch *batch)
{
    const struct kafka *kafka = batch->kafka;

    if (kafka->producer.fault.level == ERROR_FATAL)
        return true;
    for (size_t i = 0; kafka->lanes != NULL && i < OUTBOX_LANES; i++) {
        if (kafka->lanes[i].producer.fault.level == ERROR_FATAL)
            return true;
    }
    return false;
}

static void await_reports(const struct batch *batch)
{
    for (;;) {
        serve(batch);
        if (!is_waiting(batch) || kafka_is_over(batch->until) || is_hopeless(batch))
            return;
        kafka_wait(batch->kafka, batch->until);
    }
}

/* ---- receipts ---- */

static void acknowledge(struct arena *arena, struct bus_receipt *receipt,
                        const struct outgoing *out)
{
    receipt->outcome = BUS_ACKED;
    receipt->ack_id = arena_printf(arena, "%" PRId32 "/%" PRId64, out->partition, out->offset);
}

static bool is_acked(const struct outgoing *out)
{
    return out->is_sent && out->is_done && out->result == RD_KAFKA_RESP_ERR_NO_ERROR;
}

static bool is_refused(const struct outgoing *out)
{
    return out->is_done && out->result != RD_KAFKA_RESP_ERR_NO_ERROR &&
           kafka_fault(out->result).is_of_message;
}

static void fail_one(struct arena *arena, struct bus_receipt *receipt, enum bus_outcome outcome,
                     const char *reason)
{
    receipt->outcome = outcome;
    receipt->reason = arena_copy(arena, str_of(reason));
}

/* The fault of the call, so far, with that of one message. */
static void blame(struct kafka_fault *worst, const char **why, struct kafka_fault fault,
                  const char *reason)
{
    if (worst->level != ERROR_NONE && fault.level <= worst->level)
        return;
    *worst = fault;
    *why = reason;
}

/* ---- without a fence ---- */

static bool judge(const struct batch *batch, struct arena *arena, struct error *err)
{
    struct kafka_client *producer = &batch->kafka->producer;
    struct kafka_fault worst = { 0 };
    const char *why = NULL;

    for (size_t i = 0; i < batch->publish->count; i++) {
        const struct outgoing *out = &batch->out[i];
        const rd_kafka_resp_err_t result =
            out->is_done ? out->result : RD_KAFKA_RESP_ERR__TIMED_OUT;

        if (is_acked(out)) {
            acknowledge(arena, &batch->receipts[i], out);
        } else if (is_refused(out)) {
            fail_one(arena, &batch->receipts[i], BUS_REFUSED, rd_kafka_err2str(result));
        } else {
            fail_one(arena, &batch->receipts[i], BUS_RETRY, rd_kafka_err2str(result));
            blame(&worst, &why, kafka_fault(result), rd_kafka_err2str(result));
        }
    }
    if (worst.level == ERROR_NONE)
        return true;
    /* What the library says of its connections explains a timeout. */
    if (producer->fault.level != ERROR_NONE && producer->fault.level >= worst.level)
        return error_set(err, producer->fault.level, producer->fault.code, "publish: %s",
                         producer->reason);
    return error_set(err, worst.level, worst.code, "publish: %s", why);
}

static bool publish_plain(const struct batch *batch, struct arena *arena, struct error *err)
{
    struct kafka_client *producer = &batch->kafka->producer;
    char why[8];
    bool ok;

    if (!kafka_producer_open(batch->kafka, producer, (struct str){ 0 }, err))
        return false;
    producer->fault.level = ERROR_NONE;
    for (size_t i = 0; i < batch->publish->count; i++)
        send_one(batch, producer, i);
    await_reports(batch);
    ok = judge(batch, arena, err);
    /* What is still in the queue must not follow later, and a dead producer is replaced. */
    if (is_waiting(batch) ||
        rd_kafka_fatal_error(producer->rk, why, sizeof(why)) != RD_KAFKA_RESP_ERR_NO_ERROR)
        kafka_producer_close(producer);
    return ok;
}

/* ---- with a fence ---- */

static void send_lane(const struct batch *batch, const struct bus_fence *fence)
{
    for (size_t i = 0; i < batch->publish->count; i++) {
        if (batch->publish->messages[i].lane == fence->lane)
            send_one(batch, &batch->kafka->lanes[fence->lane].producer, i);
    }
}

/* Everything of a lane that has no outcome yet. */
static void retry_lane(const struct batch *batch, struct arena *arena, int64_t lane,
                       const struct error *why)
{
    for (size_t i = 0; i < batch->publish->count; i++) {
        if (batch->publish->messages[i].lane == lane && batch->receipts[i].outcome == BUS_NOT_TRIED)
            fail_one(arena, &batch->receipts[i], BUS_RETRY, why->text);
    }
}

static bool open_lane(const struct batch *batch, const struct bus_fence *fence, struct error *err)
{
    struct kafka_lane *lane = &batch->kafka->lanes[fence->lane];

    if (!kafka_lane_open(batch->kafka, fence, batch->until, err))
        return false;
    lane->producer.fault.level = ERROR_NONE;
    if (kafka_lane_begin(lane, err))
        return true;
    kafka_producer_close(&lane->producer); /* a transaction of before went wrong */
    return false;
}

/* Refuses what was refused; counts what was reported to be kept, and what was not. */
static void count_lane(const struct batch *batch, struct arena *arena, int64_t lane, size_t *good,
                       size_t *bad)
{
    *good = *bad = 0;
    for (size_t i = 0; i < batch->publish->count; i++) {
        const struct outgoing *out = &batch->out[i];

        if (batch->publish->messages[i].lane != lane)
            continue;
        if (is_refused(out))
            fail_one(arena, &batch->receipts[i], BUS_REFUSED, rd_kafka_err2str(out->result));
        if (is_acked(out))
            ++*good;
        else if (!is_refused(out) || out->is_sent) /* refused by the broker: no commit with it */
            ++*bad;
    }
}

/* True, with the error, if a message of the lane failed for what a person must mend. */
static bool lane_is_hopeless(const struct batch *batch, int64_t lane, struct error *err)
{
    for (size_t i = 0; i < batch->publish->count; i++) {
        const struct outgoing *out = &batch->out[i];

        if (out->lane != lane || !out->is_done || kafka_fault(out->result).level != ERROR_FATAL ||
            out->result == RD_KAFKA_RESP_ERR_NO_ERROR)
            continue;
        (void)error_set(err, ERROR_FATAL, kafka_fault(out->result).code, "publish: %s",
                        rd_kafka_err2str(out->result));
        return true;
    }
    return false;
}

static bool end_lane(const struct batch *batch, struct arena *arena, const struct bus_fence *fence,
                     struct error *err)
{
    struct kafka_lane *lane = &batch->kafka->lanes[fence->lane];
    size_t good, bad;

    count_lane(batch, arena, fence->lane, &good, &bad);
    if (good > 0 && bad == 0) {
        if (!kafka_lane_commit(batch->kafka, fence, batch->until, err))
            return false;
        for (size_t i = 0; i < batch->publish->count; i++) {
            if (batch->publish->messages[i].lane == fence->lane && is_acked(&batch->out[i]))
                acknowledge(arena, &batch->receipts[i], &batch->out[i]);
        }
        return true;
    }
    if (bad > 0 && lane_is_hopeless(batch, fence->lane, err)) {
        kafka_producer_close(&lane->producer);
        return false;
    }
    if (bad > 0 && lane->producer.rk != NULL) {
        /* The commit fails, and says why. */
        if (kafka_lane_commit(batch->kafka, fence, batch->until, err))
            return error_set(err, ERROR_TRANSIENT, "bus.lost", "a message has no receipt");
        return false;
    }
    kafka_lane_abort(lane); /* nothing was sent */
    return true;
}

static bool publish_fenced(const struct batch *batch, struct arena *arena, struct error *err)
{
    const struct bus_publish *publish = batch->publish;
    bool *is_open = ARENA_ARRAY(arena, bool, publish->fence_count + 1);
    struct error failure;
    bool ok = true;

    if (is_open == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < publish->fence_count; i++) {
        is_open[i] = open_lane(batch, &publish->fences[i], &failure);
        if (is_open[i]) {
            send_lane(batch, &publish->fences[i]);
            continue;
        }
        retry_lane(batch, arena, publish->fences[i].lane, &failure);
        if (ok || failure.level > err->level)
            *err = failure;
        ok = false;
        if (strcmp(failure.code, "bus.fenced") != 0)
            break; /* it is not the lane: the others would fail, too */
    }
    await_reports(batch);
    for (size_t i = 0; i < publish->fence_count; i++) {
        if (!is_open[i] || end_lane(batch, arena, &publish->fences[i], &failure))
            continue;
        retry_lane(batch, arena, publish->fences[i].lane, &failure);
        if (ok || failure.level > err->level)
            *err = failure;
        ok = false;
    }
    return ok;
}

static bool has_its_fence(const struct bus_publish *publish, const struct bus_message *message)
{
    for (size_t i = 0; i < publish->fence_count; i++) {
        if (publish->fences[i].lane == message->lane)
            return true;
    }
    return false;
}

static bool check_lanes(const struct kafka *kafka, const struct bus_publish *publish,
                        struct error *err)
{
    for (size_t i = 0; i < publish->count; i++) {
        const struct bus_message *message = &publish->messages[i];

        if (message->lane < 0 || message->lane >= OUTBOX_LANES)
            return error_set(err, ERROR_FATAL, "bus.spec", "there is no lane %" PRId64,
                             message->lane);
        if (kafka->lanes != NULL && publish->fence_count > 0 && !has_its_fence(publish, message))
            return error_set(err, ERROR_FATAL, "bus.spec", "lane %" PRId64 " has no fence",
                             message->lane);
    }
    return true;
}

bool kafka_publish(struct bus *bus, struct arena *arena, const struct bus_publish *publish,
                   struct bus_receipt *receipts, struct error *err)
{
    struct kafka *kafka = (struct kafka *)bus;
    struct batch batch = {
        .kafka = kafka,
        .publish = publish,
        .receipts = receipts,
        .out = ARENA_ARRAY(arena, struct outgoing, publish->count),
        .until = kafka_until(publish->timeout_us, publish->wake_fd),
    };

    if (batch.out == NULL)
        return arena_error(arena, err);
    if (!check_lanes(kafka, publish, err))
        return false;
    for (size_t i = 0; i < publish->count; i++)
        batch.out[i].lane = publish->messages[i].lane;
    /* A call without fences is nobody's who owns lanes (patra bus test): it must not end theirs. */
    if (kafka->lanes != NULL && publish->fence_count > 0)
        return publish_fenced(&batch, arena, err);
    return publish_plain(&batch, arena, err);
}
