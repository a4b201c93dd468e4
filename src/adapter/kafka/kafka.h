/* kafka: the bus port over Apache Kafka, by librdkafka, in a module of its own (patra-kafka.so).
 *
 * Publishing. The producer is idempotent and waits for all replicas. A record's key is the
 * message's key. BUS_ORDER_LANE puts a lane into partition "lane mod partitions", so that a lane is
 * read by one reader; BUS_ORDER_KEY hashes the key as Java's clients do. Both keep the order of a
 * key as long as the number of partitions stays. A message that is without an answer at the end of
 * a call is taken out of the library's queue, so that it cannot follow later.
 *
 * Fence. Without it, or in a call without fences, one producer serves all lanes. With it each lane
 * that this handle publishes to has a transactional producer of its own, opened by the first
 * message of a claim; opening it ends the one that another process has. That is a producer (some
 * threads) per lane, because a transactional id belongs to one producer, and lanes change their
 * owners one by one. The epoch of the claim is kept by Kafka as the offset of the group
 * "NAME.fence.LANE", written in the lane's first transaction: an owner that comes late finds a
 * larger one, and is refused.
 *
 * Reading. A consumer group with read_committed. The offset of a partition is committed when all
 * before it is settled. BUS_NACK goes back to the message, and what follows it is delivered again,
 * but not what was acknowledged. There is no deadline, so BUS_HOLD has nothing to do.
 *
 * Secrets are read when a producer or reader is opened. TLS is on unless the spec allows plain
 * connections, and always verified, name included.
 *
 *      open.c       the handle, check
 *      topic.c      making the topic
 *      settings.c   options → the library's settings
 *      producer.c   one producer: opened, watched, ended
 *      fence.c      the transactional producers of lanes
 *      publish.c    messages → records, reports → receipts
 *      reader.c     subscribe, poll, settle, seek, lag
 *      headers.c    what a message has beside key and body
 *      track.c      what of a partition is not settled
 *      fault.c      results → errors
 *
 * librdkafka has threads of its own. They wake the handle's thread through an eventfd, and
 * everything else happens in the handle's thread, but for the lines of its log.
 */
#ifndef PATRA_ADAPTER_KAFKA_KAFKA_H
#define PATRA_ADAPTER_KAFKA_KAFKA_H

#include <librdkafka/rdkafka.h>

#include "adapter/kafka/fault.h"
#include "adapter/kafka/track.h"
#include "core/limits.h"
#include "port/bus_parts.h"

enum { KAFKA_MESSAGE_BYTES_MAX = 1000000 }; /* what brokers take by default */

struct kafka;

/* When a call has to end, and what ends it earlier. */
struct kafka_until {
    int64_t at_us; /* monotonic */
    int wake_fd;
};

/* A producer or a consumer of the library, and its opaque pointer. */
struct kafka_client {
    struct kafka *kafka;
    rd_kafka_t *rk; /* NULL: not open */
    rd_kafka_queue_t *queue;
    struct kafka_fault fault; /* what the library reported since the last call; level 0: nothing */
    char reason[256];
};

/* A lane's own producer, where there is a fence. */
struct kafka_lane {
    struct kafka_client producer;
    int64_t lease_epoch; /* of the claim that it was opened or refused for */
    bool is_overtaken;
    bool is_noted; /* the epoch is kept by Kafka */
};

struct kafka_partition {
    int32_t id;
    bool is_assigned;
    struct track track;
};

struct kafka_reader {
    struct kafka_client client; /* not open: not subscribed */
    struct bus_flow flow;
    struct kafka_partition *partitions;
    size_t partition_count;
    rd_kafka_message_t *kept; /* did not fit into the last list */
    bool is_paused;
    int64_t missing_since_us; /* monotonic: the topic is not there; 0: it is */
};

struct kafka {
    struct bus bus; /* first */
    struct arena arena;
    struct bus_parts parts;
    const char *topic; /* in the arena, as what follows */
    const char *servers;
    int64_t message_bytes_max;
    int event_fd; /* librdkafka wakes us */
    struct kafka_client producer;
    struct kafka_lane *lanes; /* OUTBOX_LANES of them, or NULL */
    struct kafka_reader reader;
};

bool kafka_open(const struct bus_parts *parts, struct bus **bus, struct error *err) MUST_CHECK;

/* ---- settings ---- */

/* What all clients have in common. The caller owns *conf. */
bool kafka_settings(const struct kafka *kafka, rd_kafka_conf_t **conf,
                    struct error *err) MUST_CHECK;
bool kafka_set(rd_kafka_conf_t *conf, const char *name, struct str value,
               struct error *err) MUST_CHECK;
bool kafka_settings_check(const struct bus_spec *spec, struct error *err) MUST_CHECK;

/* ---- waiting ---- */

int64_t kafka_now_us(void);
struct kafka_until kafka_until(int64_t timeout_us, int wake_fd);
bool kafka_is_over(struct kafka_until until); /* the time is, or wake_fd is readable */
int kafka_left_ms(struct kafka_until until, int max_ms);
/* Until the library has something, or the call has to end. */
void kafka_wait(const struct kafka *kafka, struct kafka_until until);
/* Has the library wake us for this queue. */
void kafka_watch(const struct kafka *kafka, rd_kafka_queue_t *queue);
void kafka_calm(const struct kafka *kafka); /* before a queue is emptied */

/* ---- producers ---- */

/* The library's error callback: keeps the worst. Within rd_kafka_poll(), so in our thread. */
void kafka_take_error(rd_kafka_t *rk, int result, const char *reason, void *opaque);
/* The library's callbacks of publish.c: what became of a message, and where it goes. */
void kafka_report(rd_kafka_t *rk, const rd_kafka_message_t *record, void *opaque);
int32_t kafka_partition_of_lane(const rd_kafka_topic_t *topic, const void *key, size_t key_len,
                                int32_t partitions, void *opaque, void *message_opaque);

/* With a transactional id, or without one if it is empty. Does nothing if it is open. */
bool kafka_producer_open(struct kafka *kafka, struct kafka_client *producer, struct str id,
                         struct error *err) MUST_CHECK;
/* Gives up what is not acknowledged. Accepts one that is not open. */
void kafka_producer_close(struct kafka_client *producer);

/* ---- fences ---- */

/* Opens the lane's producer if this claim has none, or fails with "bus.fenced". */
bool kafka_lane_open(struct kafka *kafka, const struct bus_fence *fence, struct kafka_until until,
                     struct error *err) MUST_CHECK;
bool kafka_lane_begin(struct kafka_lane *lane, struct error *err) MUST_CHECK;
/* Also keeps the claim's epoch, the first time. After a failure the producer is closed. */
bool kafka_lane_commit(struct kafka *kafka, const struct bus_fence *fence, struct kafka_until until,
                       struct error *err) MUST_CHECK;
void kafka_lane_abort(struct kafka_lane *lane);

/* What an answer to a question for one topic says of it. */
rd_kafka_resp_err_t kafka_topic_result(const struct rd_kafka_metadata *metadata);

/* An error of the port from one of the library, which is destroyed. */
bool kafka_error(rd_kafka_error_t *error, const char *doing, struct error *err);

/* ---- ops ---- */

bool kafka_publish(struct bus *bus, struct arena *arena, const struct bus_publish *publish,
                   struct bus_receipt *receipts, struct error *err);
bool kafka_create(struct bus *bus, int64_t timeout_us, bool *made, struct error *err);
bool kafka_subscribe(struct bus *bus, struct str group, const struct bus_flow *flow,
                     struct error *err);
bool kafka_poll(struct bus *bus, struct arena *arena, const struct bus_poll *poll,
                struct bus_delivery_list *list, struct error *err);
bool kafka_settle(struct bus *bus, const struct bus_settlement *settlements, size_t count,
                  struct error *err);
bool kafka_seek(struct bus *bus, int64_t at_us, struct error *err);
bool kafka_lag(struct bus *bus, struct bus_lag *lag, struct error *err);
void kafka_reader_close(struct kafka_reader *reader);

/* ---- headers ---- */

/* NULL: no memory. The caller owns them. */
rd_kafka_headers_t *kafka_headers_of(const struct bus_message *message);
/* Everything in the arena. */
bool kafka_delivery_read(struct arena *arena, const rd_kafka_message_t *record,
                         struct bus_delivery *delivery, struct error *err) MUST_CHECK;

#endif
