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
