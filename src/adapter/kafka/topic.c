/* Making the topic that is published to. */
#include <inttypes.h>
#include <stdio.h>

#include "adapter/kafka/kafka.h"

static rd_kafka_NewTopic_t *describe(const struct kafka *kafka, struct error *err)
{
    const struct bus_create *create = &kafka->parts.spec->create;
    char why[256], keep_ms[32];
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(kafka->topic, (int)create->partitions,
                                                       (int)create->replicas, why, sizeof(why));

    if (topic == NULL) {
        (void)error_set(err, ERROR_FATAL, "bus.spec", "topic %s: %s", kafka->topic, why);
        return NULL;
    }
    (void)snprintf(keep_ms, sizeof(keep_ms), "%" PRId64, create->keep_us / US_PER_MS);
    (void)rd_kafka_NewTopic_set_config(topic, "retention.ms", keep_ms);
    return topic;
}

static bool read_result(const struct kafka *kafka, rd_kafka_event_t *event, bool *made,
                        struct error *err)
{
    rd_kafka_resp_err_t result = rd_kafka_event_error(event);
    const char *why = rd_kafka_event_error_string(event);
    const rd_kafka_topic_result_t **topics;
    size_t count = 0;

    if (result == RD_KAFKA_RESP_ERR_NO_ERROR) {
        topics =
            rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
        result = count == 1 ? rd_kafka_topic_result_error(topics[0]) : result;
        why = count == 1 ? rd_kafka_topic_result_error_string(topics[0]) : why;
    }
    *made = result == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (*made || result == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
        return true;
    return error_set(err, kafka_fault(result).level, kafka_fault(result).code,
                     "make the topic %s: %s", kafka->topic, why != NULL ? why : "");
}

static rd_kafka_event_t *request(rd_kafka_t *rk, rd_kafka_NewTopic_t *topic, int timeout_ms)
{
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(rk, RD_KAFKA_ADMIN_OP_CREATETOPICS);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    rd_kafka_event_t *event;

    /* Until every broker knows it. */
    (void)rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, NULL, 0);
    (void)rd_kafka_AdminOptions_set_operation_timeout(options, timeout_ms, NULL, 0);
    rd_kafka_CreateTopics(rk, &topic, 1, options, queue);
    event = rd_kafka_queue_poll(queue, timeout_ms);
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    return event;
}

bool kafka_create(struct bus *bus, int64_t timeout_us, bool *made, struct error *err)
{
    struct kafka *kafka = (struct kafka *)bus;
    const int timeout_ms = kafka_left_ms(kafka_until(timeout_us, -1), INT32_MAX) + 1;
    rd_kafka_NewTopic_t *topic;
    rd_kafka_event_t *event;
    bool ok;

    if (!kafka_producer_open(kafka, &kafka->producer, (struct str){ 0 }, err))
        return false;
    topic = describe(kafka, err);
    if (topic == NULL)
        return false;
    event = request(kafka->producer.rk, topic, timeout_ms);
    rd_kafka_NewTopic_destroy(topic);
    ok = event != NULL ? read_result(kafka, event, made, err)
                       : error_set(err, ERROR_TRANSIENT, "bus.timeout",
                                   "no answer to the request to make the topic %s", kafka->topic);
    if (event != NULL)
        rd_kafka_event_destroy(event);
    if (kafka->lanes != NULL)
        kafka_producer_close(&kafka->producer); /* lanes have their own */
    return ok;
}
