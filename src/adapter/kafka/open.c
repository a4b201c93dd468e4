/* The handle: opened, checked, closed; and how it waits. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "adapter/kafka/kafka.h"
#include "base/buf.h"

enum { OPTIONS_BYTES_MAX = 1 << 16 };

/* However long a call may take, the library's queues are looked at this often: a wake-up that is
 * lost must not cost more. */
enum { WAIT_MAX_MS = 500 };

int64_t kafka_now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

struct kafka_until kafka_until(int64_t timeout_us, int wake_fd)
{
    return (struct kafka_until){ kafka_now_us() + (timeout_us > 0 ? timeout_us : 0), wake_fd };
}

bool kafka_is_over(struct kafka_until until)
{
    struct pollfd wake = { .fd = until.wake_fd, .events = POLLIN };

    if (kafka_now_us() >= until.at_us)
        return true;
    return until.wake_fd >= 0 && poll(&wake, 1, 0) > 0;
}

int kafka_left_ms(struct kafka_until until, int max_ms)
{
    const int64_t left_ms = (until.at_us - kafka_now_us() + US_PER_MS - 1) / US_PER_MS;

    if (left_ms <= 0)
        return 0;
    return left_ms < max_ms ? (int)left_ms : max_ms;
}

void kafka_wait(const struct kafka *kafka, struct kafka_until until)
{
    struct pollfd fds[2] = { { .fd = kafka->event_fd, .events = POLLIN },
                             { .fd = until.wake_fd, .events = POLLIN } };

    (void)poll(fds, until.wake_fd >= 0 ? 2 : 1, kafka_left_ms(until, WAIT_MAX_MS));
}

void kafka_watch(const struct kafka *kafka, rd_kafka_queue_t *queue)
{
    static const uint64_t ONE = 1;

    rd_kafka_queue_io_event_enable(queue, kafka->event_fd, &ONE, sizeof(ONE));
}

void kafka_calm(const struct kafka *kafka)
{
    uint64_t count;

    if (read(kafka->event_fd, &count, sizeof(count)) < 0)
        return; /* nothing was written: the same */
}

bool kafka_error(rd_kafka_error_t *error, const char *doing, struct error *err)
{
    const struct kafka_fault fault = kafka_fault(rd_kafka_error_code(error));

    (void)error_set(err, fault.level, fault.code, "%s: %s", doing, rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    return false;
}

/* ---- check ---- */

rd_kafka_resp_err_t kafka_topic_result(const struct rd_kafka_metadata *metadata)
{
    return metadata->topic_cnt == 1 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
}

static bool topic_is_there(const struct kafka *kafka, rd_kafka_resp_err_t result,
                           const struct rd_kafka_metadata *metadata, struct error *err)
{
    const struct kafka_client *producer = &kafka->producer;
    struct kafka_fault fault;

    if (result == RD_KAFKA_RESP_ERR_NO_ERROR)
        result = kafka_topic_result(metadata);
    if (result == RD_KAFKA_RESP_ERR_NO_ERROR)
        return true;
    fault = kafka_fault_worse(kafka_fault(result), producer->fault);
    return error_set(err, fault.level, fault.code, "topic %s: %s%s%s", kafka->topic,
                     rd_kafka_err2str(result), producer->fault.level != ERROR_NONE ? ": " : "",
                     producer->fault.level != ERROR_NONE ? producer->reason : "");
}

static bool check(struct bus *bus, int64_t timeout_us, struct error *err)
{
    struct kafka *kafka = (struct kafka *)bus;
    const struct kafka_until until = kafka_until(timeout_us, -1);
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *topic;
    rd_kafka_resp_err_t result;
    bool ok;

    if (!kafka_producer_open(kafka, &kafka->producer, (struct str){ 0 }, err))
        return false;
    topic = rd_kafka_topic_new(kafka->producer.rk, kafka->topic, NULL);
    if (topic == NULL)
        return error_set(err, ERROR_FATAL, "bus.spec", "librdkafka refuses the topic %s",
                         kafka->topic);
    result =
        rd_kafka_metadata(kafka->producer.rk, 0, topic, &metadata, kafka_left_ms(until, INT32_MAX));
    (void)rd_kafka_poll(kafka->producer.rk, 0); /* what the library has to report */
    ok = topic_is_there(kafka, result, metadata, err);
    if (metadata != NULL)
        rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(topic);
    kafka->producer.fault.level = ERROR_NONE;
    if (kafka->lanes != NULL)
        kafka_producer_close(&kafka->producer); /* lanes have their own */
    return ok;
}

/* ---- open and close ---- */

static void close_bus(struct bus *bus)
{
    struct kafka *kafka = (struct kafka *)bus;

    kafka_reader_close(&kafka->reader);
    kafka_producer_close(&kafka->producer);
    for (size_t i = 0; kafka->lanes != NULL && i < OUTBOX_LANES; i++)
        kafka_producer_close(&kafka->lanes[i].producer);
    free(kafka->lanes);
    if (kafka->event_fd >= 0)
        (void)close(kafka->event_fd);
    arena_release(&kafka->arena);
    free(kafka);
}

static const struct bus_ops OPS = {
    .close = close_bus,
    .check = check,
    .create = kafka_create,
    .publish = kafka_publish,
    .subscribe = kafka_subscribe,
    .poll = kafka_poll,
    .settle = kafka_settle,
    .seek = kafka_seek,
    .lag = kafka_lag,
};

static const char *join_addresses(struct arena *arena, const struct bus_spec *spec)
{
    struct buf out;
    struct error err;

    buf_init(&out, arena, OPTIONS_BYTES_MAX);
    for (size_t i = 0; i < spec->address_count; i++) {
        if (i > 0)
            buf_add_char(&out, ',');
        buf_add(&out, spec->addresses[i]);
    }
    buf_add_char(&out, '\0');
    return buf_ok(&out, &err) ? out.data : NULL;
}

static bool prepare(struct kafka *kafka, struct error *err)
{
    const struct bus_spec *spec = kafka->parts.spec;
    rd_kafka_conf_t *conf;

    kafka->message_bytes_max =
        spec->message_bytes_max > 0 ? spec->message_bytes_max : KAFKA_MESSAGE_BYTES_MAX;
    kafka->topic = arena_copy(&kafka->arena, spec->topic).data;
    kafka->servers = join_addresses(&kafka->arena, spec);
    if (kafka->topic == NULL || kafka->servers == NULL)
        return arena_error(&kafka->arena, err);
    if (!kafka_settings(kafka, &conf, err))
        return false;
    rd_kafka_conf_destroy(conf); /* it was good: faults in settings are found when it is opened */
    kafka->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (spec->fence)
        kafka->lanes = calloc(OUTBOX_LANES, sizeof(*kafka->lanes));
    if (kafka->event_fd < 0 || (spec->fence && kafka->lanes == NULL))
        return error_set(err, ERROR_TRANSIENT, "bus.lost",
                         "this machine lacks memory or descriptors for a Kafka client");
    return true;
}

bool kafka_open(const struct bus_parts *parts, struct bus **bus, struct error *err)
{
    struct kafka *kafka;

    *bus = NULL;
    if (!kafka_settings_check(parts->spec, err))
        return false;
    kafka = calloc(1, sizeof(*kafka));
    if (kafka == NULL)
        return error_set(err, ERROR_TRANSIENT, "bus.lost", "no memory for a Kafka client");
    kafka->bus = (struct bus){
        .ops = &OPS,
        .capabilities = BUS_SEEK_TIME | BUS_ORDER | BUS_READ | BUS_CREATE |
                        (parts->spec->fence ? BUS_FENCE : 0u),
    };
    kafka->parts = *parts;
    kafka->event_fd = -1;
    arena_init(&kafka->arena, OPTIONS_BYTES_MAX);
    if (prepare(kafka, err)) {
        *bus = &kafka->bus;
        return true;
    }
    close_bus(&kafka->bus);
    return false;
}
