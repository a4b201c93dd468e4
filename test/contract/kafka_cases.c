/* Kafka beyond the promises of every bus. */
#include <stdlib.h>
#include <string.h>

#include "adapter/kafka/kafka.h"
#include "bus_rig.h"

static struct bus_rig rig;
static struct bus_seen_list seen;

/* A claim whose owner slept before it had published anything: nothing of its producer is there that
 * could be ended, only the epoch that Kafka keeps. */
TEST(an_owner_that_comes_late_is_refused_and_disturbs_nobody)
{
    struct bus *late, *owner;

    bus_rig_begin(&rig);
    late = bus_contract_open();
    owner = bus_contract_open();
    if ((owner->capabilities & BUS_FENCE) == 0) {
        bus_close(late);
        bus_close(owner);
        bus_rig_end(&rig);
        TEST_SKIP("%s: has no fence", bus_fixture.name);
    }
    bus_rig_own(&rig, 2);
    bus_rig_publish_keys(&rig, owner, 2, 1, 1);
    bus_rig_own(&rig, 1);
    (void)bus_rig_add(&rig, 0, 9);
    CHECK(!bus_rig_try(&rig, late), "refused");
    bus_rig_failed(&rig, "bus.fenced", rig.err.text);
    CHECK_EQ(rig.receipts[0].outcome, BUS_RETRY, "not kept");
    CHECK(!bus_rig_try(&rig, late), "and again");
    bus_rig_failed(&rig, "bus.fenced", rig.err.text);
    bus_rig_clear(&rig);
    bus_rig_own(&rig, 2);
    bus_rig_publish_keys(&rig, owner, 2, 2, 2); /* by the same producers: no new claim */
    bus_rig_own(&rig, 3);
    bus_rig_publish_keys(&rig, late, 2, 3, 3); /* a claim of its own makes it the owner */
    bus_rig_all(&rig, 6, &seen);
    CHECK_EQ(seen.count, 6, "nothing of before");
    CHECK_EQ(bus_rig_in_order(&seen), 6, "in order");
    bus_close(late);
    bus_close(owner);
    bus_rig_end(&rig);
}

/* As `patra bus test` does: it owns no lane, and must not end the producer of who does. */
TEST(a_call_without_fences_disturbs_no_owner)
{
    struct bus *owner, *probe;

    bus_rig_begin(&rig);
    owner = bus_contract_open();
    probe = bus_contract_open();
    bus_rig_publish_keys(&rig, owner, 1, 1, 1);
    (void)bus_rig_add(&rig, 0, 2);
    REQUIRE_OK(bus_publish(probe, &rig.arena,
                           &(struct bus_publish){ .messages = rig.messages,
                                                  .count = 1,
                                                  .timeout_us = RIG_TIMEOUT_US,
                                                  .wake_fd = -1 },
                           rig.receipts, &rig.err),
               rig.err);
    CHECK_EQ(rig.receipts[0].outcome, BUS_ACKED, "it is kept");
    bus_rig_clear(&rig);
    bus_rig_publish_keys(&rig, owner, 1, 3, 3);
    bus_rig_all(&rig, 3, &seen);
    CHECK_EQ(bus_rig_in_order(&seen), 3, "all of them");
    bus_close(probe);
    bus_close(owner);
    bus_rig_end(&rig);
}

/* Polls for more than there can be, until so many are there; all of them stay unsettled. */
static void read_some(struct bus *bus, size_t count)
{
    const struct bus_poll poll = { .messages_max = 10,
                                   .bytes_max = (size_t)1 << 20,
                                   .timeout_us = RIG_TIMEOUT_US,
                                   .wake_fd = -1 };
    struct bus_delivery_list page;

    for (seen.count = 0; seen.count < count;) {
        REQUIRE_OK(bus_poll(bus, &rig.arena, &poll, &page, &rig.err), rig.err);
        REQUIRE(page.count > 0, "in time");
        for (size_t i = 0; i < page.count; i++)
            seen.items[seen.count++] = (struct bus_seen){ .version = page.items[i].message.version,
                                                          .handle = page.items[i].handle };
    }
    REQUIRE(seen.count == count, "and no more");
}

static void settle(struct bus *bus, uint64_t handle, enum bus_verdict verdict)
{
    REQUIRE_OK(bus_settle(bus, &(struct bus_settlement){ handle, verdict }, 1, &rig.err), rig.err);
}

/* Going back to the first message fetches the second once more, which did not fit and was kept for
 * later; meanwhile the reader has acknowledged its first delivery. */
TEST(what_was_acknowledged_while_it_was_kept_is_not_delivered_again)
{
    static char body[500];
    struct bus *bus, *reader;
    uint64_t first, second;

    memset(body, 'x', sizeof(body));
    bus_rig_begin(&rig);
    bus = bus_contract_open();
    for (int i = 0; i < 3; i++) /* of one lane, in one call: they are fetched together */
        bus_rig_add(&rig, i * RIG_LANES, i + 1)->body = (struct str){ body, sizeof(body) };
    bus_rig_publish(&rig, bus);
    reader = bus_contract_open();
    REQUIRE_OK(
        bus_subscribe(reader, STR("kept"), &(struct bus_flow){ 10, 2 * sizeof(body) }, &rig.err),
        rig.err);
    read_some(reader, 2);
    first = seen.items[0].handle;
    second = seen.items[1].handle;
    settle(reader, first, BUS_NACK);
    read_some(reader, 1);
    CHECK_EQ(seen.items[0].version, 1, "again");
    settle(reader, second, BUS_ACK);
    read_some(reader, 1);
    CHECK_EQ(seen.items[0].version, 3, "and not the second");
    bus_close(reader);
    bus_close(bus);
    bus_rig_end(&rig);
}

/* Brokers make topics by themselves, unless they are asked not to. */
TEST(a_topic_that_is_missing_is_an_error_of_a_person_and_stays_missing)
{
    struct kafka *kafka;
    struct bus *bus;

    if (getenv("PATRA_KAFKA") == NULL)
        TEST_SKIP("the mock makes every topic: make kafka");
    bus_rig_begin(&rig);
    bus = bus_contract_open();
    kafka = (struct kafka *)bus;
    kafka->topic = arena_copy(&kafka->arena, STR("nowhere")).data;
    for (int i = 0; i < 2; i++) {
        CHECK(!bus_check(bus, RIG_TIMEOUT_US, &rig.err), "the check says so");
        bus_rig_failed(&rig, "bus.missing", rig.err.text);
        (void)bus_rig_add(&rig, 0, 1);
        CHECK(!bus_rig_try(&rig, bus), "nothing to publish to");
        CHECK(rig.receipts[0].outcome != BUS_ACKED, "not kept");
        bus_rig_failed(&rig, "bus.missing", rig.err.text);
        bus_rig_clear(&rig);
    }
    bus_close(bus);
    bus_rig_end(&rig);
}

TEST(a_password_is_not_sent_without_tls)
{
    static const struct str address = STR_INIT("127.0.0.1:1");
    struct bus_spec spec = {
        .name = STR("x"),
        .type = BUS_TYPE_KAFKA,
        .addresses = &address,
        .address_count = 1,
        .topic = STR("works"),
        .allow_plain = true,
        .auth = { .user = STR("u"), .password = STR("env:P"), .mechanism = BUS_MECHANISM_PLAIN },
    };
    struct bus *bus;
    struct error err;

    CHECK(!kafka_open(&(struct bus_parts){ .spec = &spec }, &bus, &err), "refused");
    CHECK_STR(str_of(err.code), STR("bus.spec"), err.text);
    spec.auth.password = STR("swordfish");
    spec.auth.mechanism = BUS_MECHANISM_SCRAM_SHA_256;
    CHECK(!kafka_open(&(struct bus_parts){ .spec = &spec }, &bus, &err), "not by reference");
    CHECK_STR(str_of(err.code), STR("bus.spec"), err.text);
    CHECK(strstr(err.text, "swordfish") == NULL, err.text);
}
