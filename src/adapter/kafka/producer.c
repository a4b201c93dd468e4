/* One producer of librdkafka. */
#include <stdio.h>
#include <string.h>

#include "adapter/kafka/kafka.h"

void kafka_take_error(rd_kafka_t *rk, int result, const char *reason, void *opaque)
{
    struct kafka_client *client = opaque;
    const struct kafka_fault fault = kafka_fault((rd_kafka_resp_err_t)result);

    (void)rk;
    if (fault.level <= client->fault.level)
        return;
    client->fault = fault;
    (void)snprintf(client->reason, sizeof(client->reason), "%s", reason);
}

static bool set_producer(const struct kafka *kafka, rd_kafka_conf_t *conf, struct str id,
                         struct error *err)
{
    char bytes_max[32];

    (void)snprintf(bytes_max, sizeof(bytes_max), "%lld", (long long)kafka->message_bytes_max);
    if (!kafka_set(conf, "enable.idempotence", STR("true"), err) ||
        !kafka_set(conf, "acks", STR("all"), err) ||
        !kafka_set(conf, "message.max.bytes", str_of(bytes_max), err) ||
        !kafka_set(conf, "linger.ms", STR("2"), err) || /* a call's messages go out together */
        !kafka_set(conf, "message.timeout.ms", STR("600000"), err) || /* calls end earlier */
        !kafka_set(conf, "partitioner", STR("murmur2_random"), err))
        return false;
    return id.len == 0 || (kafka_set(conf, "transactional.id", id, err) &&
                           kafka_set(conf, "transaction.timeout.ms", STR("600000"), err));
}

static void set_callbacks(struct kafka_client *producer, rd_kafka_conf_t *conf)
{
    rd_kafka_topic_conf_t *topic;

    rd_kafka_conf_set_opaque(conf, producer);
    rd_kafka_conf_set_dr_msg_cb(conf, kafka_report);
    rd_kafka_conf_set_error_cb(conf, kafka_take_error);
    if (producer->kafka->parts.spec->order != BUS_ORDER_LANE)
        return;
    topic = rd_kafka_conf_get_default_topic_conf(conf);
    rd_kafka_topic_conf_set_partitioner_cb(topic, kafka_partition_of_lane);
}

bool kafka_producer_open(struct kafka *kafka, struct kafka_client *producer, struct str id,
                         struct error *err)
{
    rd_kafka_conf_t *conf;
    char why[256];

    if (producer->rk != NULL)
        return true;
    if (!kafka_settings(kafka, &conf, err))
        return false;
    if (!set_producer(kafka, conf, id, err)) {
        rd_kafka_conf_destroy(conf);
        return false;
    }
    *producer = (struct kafka_client){ .kafka = kafka };
    set_callbacks(producer, conf);
    producer->rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));
    if (producer->rk == NULL) {
        rd_kafka_conf_destroy(conf);
        return error_set(err, ERROR_FATAL, "bus.spec", "librdkafka: %s", why);
    }
    producer->queue = rd_kafka_queue_get_main(producer->rk);
    kafka_watch(kafka, producer->queue);
    return true;
}

void kafka_producer_close(struct kafka_client *producer)
{
    if (producer->rk == NULL)
        return;
    (void)rd_kafka_purge(producer->rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    (void)rd_kafka_poll(producer->rk, 0); /* reports of what was purged: receipts may still live */
    rd_kafka_queue_destroy(producer->queue);
    rd_kafka_destroy(producer->rk);
    producer->rk = NULL;
    producer->queue = NULL;
}
