/* Google Pub/Sub: a fake of its documented rules (test/support/pubsub_fake.h), or with
 * PUBSUB_EMULATOR Google's own emulator, where it is installed.
 *
 * A subscription gets what is published after it was made, so those that the cases read by are made
 * at the beginning. What the emulator does not do is left out by its traits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/pubsub/pubsub.h"
#include "adapter/system/system.h"
#include "bus_contract.h"
#ifdef PUBSUB_EMULATOR
#include "pubsub_emulator.h"
#else
#include "pubsub_fake.h"
#endif

#ifdef PUBSUB_LANES
#define ORDER BUS_ORDER_LANE
#define LABEL ", by lanes"
#else
#define ORDER BUS_ORDER_KEY
#define LABEL ""
#endif

const struct bus_fixture bus_fixture = {
#ifdef PUBSUB_EMULATOR
    .name = "Google's Pub/Sub emulator" LABEL,
#else
    .name = "a fake of Pub/Sub" LABEL,
#endif
#ifdef PUBSUB_EMULATOR
    .traits = BUS_DIALS | BUS_REFUSES_LARGE | BUS_HOLDS_SHORT,
#else
    .traits = BUS_CAN_STOP | BUS_DIALS | BUS_REFUSES_LARGE | BUS_HOLDS_SHORT,
#endif
    .large = 10 << 20,
};

static struct {
#ifdef PUBSUB_EMULATOR
    struct pubsub_emulator emulator;
#else
    struct pubsub_fake *fake;
#endif
    char address[64];
    char elsewhere[64];
    char topic[64];
    char project[64];
    struct str addresses[2];
    struct bus_spec spec;
    struct bus_spec other;
    struct clock clock;
    struct system_secrets secrets;
} fixture;

static void describe(struct bus_spec *spec, const struct str *address)
{
    *spec = (struct bus_spec){
        .name = STR("bus"),
        .type = BUS_TYPE_PUBSUB,
        .addresses = address,
        .address_count = 1,
        .project = str_of(fixture.project),
        .topic = str_of(fixture.topic),
        .allow_plain = true,
        .order = ORDER,
        .read = { .hold_us = 10 * US_PER_SECOND },
        .create = { .keep_us = US_PER_HOUR },
    };
}

static struct bus *open_with(const struct bus_spec *spec)
{
    struct bus *bus;
    struct error err;

    REQUIRE_OK(pubsub_open(&(struct bus_parts){ .spec = spec,
                                                .secrets = &fixture.secrets.source,
                                                .clock = &fixture.clock },
                           NULL, &bus, &err),
               err);
#ifdef PUBSUB_EMULATOR
    bus->capabilities &= ~(unsigned)BUS_SEEK_TIME; /* not of ordered subscriptions */
#endif
    return bus;
}

struct bus *bus_contract_open(void)
{
    return open_with(&fixture.spec);
}

struct bus *bus_contract_open_at(int port)
{
    (void)snprintf(fixture.elsewhere, sizeof(fixture.elsewhere), "127.0.0.1:%d", port);
    fixture.addresses[1] = str_of(fixture.elsewhere);
    describe(&fixture.other, &fixture.addresses[1]);
    return open_with(&fixture.other);
}

static void make_subscription(const char *group)
{
    char name[128];
    struct bus_spec spec = fixture.spec;
    struct bus *bus;
    struct error err;
    bool made;

    (void)snprintf(name, sizeof(name), "%s.%s", fixture.topic, group);
    spec.subscription = str_of(name);
    bus = open_with(&spec);
    REQUIRE_OK(bus_create(bus, 20 * US_PER_SECOND, &made, &err), err);
    CHECK(made, "it was made");
    bus_close(bus);
}

static void start_server(void)
{
#ifdef PUBSUB_EMULATOR
    if (fixture.address[0] != '\0')
        return;
    if (!pubsub_emulator_start(&fixture.emulator))
        TEST_SKIP("Google's Pub/Sub emulator is not installed");
    (void)snprintf(fixture.address, sizeof(fixture.address), "%s", fixture.emulator.address);
#else
    fixture.fake = pubsub_fake_start();
    REQUIRE(fixture.fake != NULL, "the fake starts");
    (void)snprintf(fixture.address, sizeof(fixture.address), "127.0.0.1:%d",
                   pubsub_fake_port(fixture.fake));
#endif
}

void bus_contract_begin(void)
{
    static const char *const GROUPS[] = { "g", "first", "second" };
    static int number;
    char all[32];

    start_server();
    number++; /* projects keep tests apart */
    (void)snprintf(fixture.project, sizeof(fixture.project), "patra-test-%d", number);
    (void)snprintf(fixture.topic, sizeof(fixture.topic), "works.events");
    fixture.addresses[0] = str_of(fixture.address);
    fixture.clock = system_clock();
    system_secrets_init(&fixture.secrets, NULL);
    describe(&fixture.spec, &fixture.addresses[0]);
    for (size_t i = 0; i < ARRAY_LEN(GROUPS); i++)
        make_subscription(GROUPS[i]);
    for (int i = 1; i <= 12; i++) { /* bus_rig_all() counts them through all tests */
        (void)snprintf(all, sizeof(all), "all-%d", i);
        make_subscription(all);
    }
}

void bus_contract_end(void)
{
#ifndef PUBSUB_EMULATOR
    pubsub_fake_stop(fixture.fake);
    fixture.fake = NULL;
#endif
}

#ifdef PUBSUB_EMULATOR
__attribute__((destructor)) static void stop_emulator(void)
{
    if (fixture.address[0] != '\0')
        pubsub_emulator_stop(&fixture.emulator);
}
#endif

void bus_contract_stop(void)
{
#ifndef PUBSUB_EMULATOR
    pubsub_fake_halt(fixture.fake);
#endif
}

void bus_contract_start(void)
{
#ifndef PUBSUB_EMULATOR
    pubsub_fake_resume(fixture.fake);
#endif
}

size_t bus_contract_received(struct arena *arena, struct bus_delivery **items)
{
    (void)arena;
    *items = NULL;
    return 0;
}
