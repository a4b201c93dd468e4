/* Kafka: the broker that $PATRA_KAFKA names (scripts/kafka starts one), or else the mock cluster of
 * librdkafka within this process.
 *
 * The mock shows that what the adapter sends is understood, and kept once in order; what it has is
 * read by a consumer of this file's own. Its groups take seconds to form, it keeps no transactions,
 * knows no instants and does not fence, so reading by the adapter and fences are left out there:
 * only scripts/kafka shows them.
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "adapter/kafka/kafka.h"
#include "adapter/system/system.h"
#include "bus_contract.h"

#ifdef KAFKA_FENCE
#define HAS_FENCE true
#define NAME "kafka, with a fence"
#else
#define HAS_FENCE false
#define NAME "kafka"
#endif

enum { PARTITIONS = 3, LARGE = 1 << 20 };

const struct bus_fixture bus_fixture = {
    .name = NAME,
    .traits = BUS_CAN_STOP | BUS_DIALS | BUS_REFUSES_LARGE | BUS_HOLDS_SHORT,
    .large = LARGE,
    .secret = "swordfish",
};

static struct {
    rd_kafka_t *mock_client;
    rd_kafka_mock_cluster_t *mock;
    char name[64];
    char topic[64];
    char server[64];
    char elsewhere[64];
    struct str addresses[2];
    struct bus_spec spec;
    struct bus_spec other;
    struct clock clock;
    struct system_secrets secrets;
} fixture;

static void start_mock(void)
{
    char why[256];
    rd_kafka_conf_t *conf;

    if (HAS_FENCE)
        TEST_SKIP("transactions need a real broker: make kafka");
    if (fixture.mock != NULL)
        return;
    conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, NULL);
    fixture.mock_client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));
    REQUIRE(fixture.mock_client != NULL, why);
    fixture.mock = rd_kafka_mock_cluster_new(fixture.mock_client, 1);
    REQUIRE(fixture.mock != NULL, "a mock cluster");
    test_note("against librdkafka's mock cluster; make kafka uses a real broker");
}

__attribute__((destructor)) static void stop_mock(void)
{
    if (fixture.mock == NULL)
        return;
    rd_kafka_mock_cluster_destroy(fixture.mock);
    rd_kafka_destroy(fixture.mock_client);
}

static void describe(struct bus_spec *spec, const struct str *address)
{
    *spec = (struct bus_spec){
        .name = str_of(fixture.name),
        .type = BUS_TYPE_KAFKA,
        .addresses = address,
        .address_count = 1,
        .topic = str_of(fixture.topic),
        .allow_plain = true,
        .order = BUS_ORDER_LANE,
        .fence = HAS_FENCE,
        .read = { .hold_us = 6 * US_PER_SECOND },
        .create = { .replicas = 1, .partitions = PARTITIONS, .keep_us = US_PER_HOUR },
    };
}

void bus_contract_begin(void)
{
    static int number;
    const char *server = getenv("PATRA_KAFKA");
    struct bus *bus;
    struct error err;
    bool made;

    if (server == NULL)
        start_mock();
    (void)snprintf(fixture.server, sizeof(fixture.server), "%s",
                   server != NULL ? server : rd_kafka_mock_cluster_bootstraps(fixture.mock));
    (void)snprintf(fixture.name, sizeof(fixture.name), "bus-%d-%d", (int)getpid(), ++number);
    (void)snprintf(fixture.topic, sizeof(fixture.topic), "works-%d-%d", (int)getpid(), number);
    fixture.addresses[0] = str_of(fixture.server);
    fixture.clock = system_clock();
    system_secrets_init(&fixture.secrets, NULL);
    describe(&fixture.spec, &fixture.addresses[0]);
    if (server == NULL) {
        (void)rd_kafka_mock_topic_create(fixture.mock, fixture.topic, PARTITIONS, 1);
        return;
    }
    bus = bus_contract_open();
    REQUIRE_OK(bus_create(bus, 20 * US_PER_SECOND, &made, &err), err);
    CHECK(made, "the topic was made");
    REQUIRE_OK(bus_create(bus, 20 * US_PER_SECOND, &made, &err), err);
    CHECK(!made, "it is there already");
    bus_close(bus);
}

void bus_contract_end(void)
{
}

static struct bus *open_with(const struct bus_spec *spec)
{
    struct bus *bus;
    struct error err;

    REQUIRE_OK(kafka_open(&(struct bus_parts){ .spec = spec,
                                               .secrets = &fixture.secrets.source,
                                               .clock = &fixture.clock },
                          &bus, &err),
               err);
    if (fixture.mock != NULL)
        bus->capabilities &= ~(unsigned)(BUS_READ | BUS_SEEK_TIME);
    return bus;
}

struct bus *bus_contract_open(void)
{
    return open_with(&fixture.spec);
}

/* With a credential, which must not be shown. */
struct bus *bus_contract_open_at(int port)
{
    (void)snprintf(fixture.elsewhere, sizeof(fixture.elsewhere), "127.0.0.1:%d", port);
    (void)setenv("PATRA_TEST_KAFKA_PASSWORD", bus_fixture.secret, 1);
    fixture.addresses[1] = str_of(fixture.elsewhere);
    describe(&fixture.other, &fixture.addresses[1]);
    fixture.other.auth = (struct bus_auth){ .user = STR("patra"),
                                            .password = STR("env:PATRA_TEST_KAFKA_PASSWORD"),
                                            .mechanism = BUS_MECHANISM_SCRAM_SHA_256 };
    return open_with(&fixture.other);
}

/* Of the broker that scripts/kafka started. */
static const char *broker_file(const char *name)
{
    static char path[300];
    const char *folder = getenv("PATRA_KAFKA_FOLDER");

    if (folder == NULL)
        TEST_SKIP("%s: no broker to kill: make kafka", bus_fixture.name);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

void bus_contract_stop(void)
{
    struct str pid;
    int64_t number;

    if (fixture.mock != NULL) {
        REQUIRE(rd_kafka_mock_broker_set_down(fixture.mock, 1) == RD_KAFKA_RESP_ERR_NO_ERROR,
                "down");
        return;
    }
    pid = test_read(broker_file("pid"));
    REQUIRE(str_to_i64(str_trim(pid), &number) && number > 1, "the broker's process");
    REQUIRE(kill((pid_t)number, SIGKILL) == 0, "it is killed");
}

/* Until it answers: it reads its log first. */
void bus_contract_start(void)
{
    struct bus *bus;
    struct error err;
    bool is_up = false;

    if (fixture.mock != NULL) {
        REQUIRE(rd_kafka_mock_broker_set_up(fixture.mock, 1) == RD_KAFKA_RESP_ERR_NO_ERROR, "up");
        return;
    }
    REQUIRE(system(broker_file("start")) == 0, "it is started again");
    for (int tries = 0; !is_up && tries < 60; tries++) {
        bus = bus_contract_open();
        is_up = bus_check(bus, US_PER_SECOND, &err);
        bus_close(bus);
    }
    REQUIRE_OK(is_up, err);
}

/* Partition by partition, from the beginning to the end, without a group. */
static size_t read_partition(rd_kafka_t *rk, int partition, struct arena *arena,
                             struct bus_delivery *items)
{
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, fixture.topic, NULL);
    rd_kafka_message_t *record;
    struct error err;
    size_t count = 0;

    REQUIRE(rd_kafka_consume_start(topic, partition, RD_KAFKA_OFFSET_BEGINNING) == 0, "start");
    for (;;) {
        record = rd_kafka_consume(topic, partition, 20000);
        REQUIRE(record != NULL, "records, or the end");
        if (record->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
            break;
        REQUIRE(record->err == RD_KAFKA_RESP_ERR_NO_ERROR, "a record");
        REQUIRE_OK(kafka_delivery_read(arena, record, &items[count++], &err), err);
        rd_kafka_message_destroy(record);
    }
    rd_kafka_message_destroy(record);
    (void)rd_kafka_consume_stop(topic, partition);
    rd_kafka_topic_destroy(topic);
    return count;
}

size_t bus_contract_received(struct arena *arena, struct bus_delivery **items)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char why[256];
    rd_kafka_t *rk;
    size_t count = 0;

    *items = ARENA_ARRAY(arena, struct bus_delivery, 4096);
    REQUIRE(*items != NULL, "memory");
    REQUIRE(rd_kafka_conf_set(conf, "bootstrap.servers", fixture.server, why, sizeof(why)) ==
                RD_KAFKA_CONF_OK,
            why);
    (void)rd_kafka_conf_set(conf, "enable.partition.eof", "true", why, sizeof(why));
    rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof(why));
    REQUIRE(rk != NULL, why);
    for (int partition = 0; partition < PARTITIONS; partition++)
        count += read_partition(rk, partition, arena, *items + count);
    rd_kafka_destroy(rk);
    return count;
}
