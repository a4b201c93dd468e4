/* The fixture of NATS: one server, or a cluster of NATS_NODES. */
#include <stdio.h>
#include <string.h>

#include "adapter/bus_open.h"
#include "adapter/system/system.h"
#include "bus_rig.h"
#include "fixed_secret.h"
#include "nats_fixture.h"
#include "spec/bus.h"

#ifndef NATS_NODES
#define NATS_NODES 1
#endif

enum { TEXT_MAX = 2048 };

const struct bus_fixture bus_fixture = {
    .name = NATS_NODES == 1 ? "nats" : "nats cluster",
    .traits = BUS_CAN_STOP | BUS_DIALS | BUS_SETTLES_ONE | BUS_HOLDS_SHORT | BUS_REFUSES_LARGE,
    .large = 100000,
    .secret = NATS_PASSWORD,
};

static const struct fixed_secret SECRETS[] = { { "env:NATS_PASSWORD", NATS_PASSWORD } };

static struct {
    struct nats_servers servers;
    struct fixed_secrets secrets;
    struct clock clock;
    struct arena arena;
    struct bus_spec spec;
    int streams;
} fixture;

struct nats_servers *nats_fixture_servers(void)
{
    return &fixture.servers;
}

static struct bus_spec *make_spec(const char *address)
{
    struct bus_spec *spec = ARENA_NEW(&fixture.arena, struct bus_spec);
    struct fault_list faults;
    struct str text = arena_printf(
        &fixture.arena,
        "bus: test\ntype: nats\naddress: %s\nstream: T%d\nsubject: t%d.x.${lane}\n"
        "allow_plain: true\nauth: { user: " NATS_USER ", password: env:NATS_PASSWORD }\n"
        "timeout: { connect: 5s, publish: 20s }\nread: { hold: 1s }\n"
        "create: { replicas: %d, storage: file }\n",
        address, fixture.streams, fixture.streams, NATS_NODES);

    REQUIRE(spec != NULL && text.data != NULL, "memory");
    fault_list_init(&faults, &fixture.arena);
    if (!bus_read(&fixture.arena, text, &faults, spec))
        test_fail(__FILE__, __LINE__, "%.*s",
                  STR_ARG(faults.count > 0 ? faults.items[0].message : STR("?")));
    return spec;
}

static struct bus *open_spec(const struct bus_spec *spec)
{
    struct error err;
    struct bus *bus;

    REQUIRE_OK(
        bus_open(&(struct bus_parts){ spec, &fixture.secrets.source, &fixture.clock }, &bus, &err),
        err);
    return bus;
}

struct bus *bus_contract_open(void)
{
    return open_spec(make_spec(nats_fixture_addresses()));
}

const char *nats_fixture_addresses(void)
{
    static char text[TEXT_MAX];
    size_t len = (size_t)snprintf(text, sizeof(text), "[");

    for (int i = 0; i < fixture.servers.count; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%snats://127.0.0.1:%d",
                                i > 0 ? ", " : "", fixture.servers.nodes[i].port);
    (void)snprintf(text + len, sizeof(text) - len, "]");
    return text;
}

struct bus *bus_contract_open_at(int port)
{
    char address[64];

    (void)snprintf(address, sizeof(address), "nats://127.0.0.1:%d", port);
    return open_spec(make_spec(address));
}

/* A cluster needs a moment until it has a leader. */
static void create_stream(void)
{
    const int64_t until_us = bus_rig_now_us() + 60 * US_PER_SECOND;
    struct bus *bus = bus_contract_open();
    struct error err;
    bool made = false;

    while (!bus_create(bus, 5 * US_PER_SECOND, &made, &err)) {
        if (bus_rig_now_us() > until_us)
            REQUIRE_OK(false, err);
        (void)clock_sleep_us(&fixture.clock, US_PER_SECOND / 10, -1);
    }
    bus_close(bus);
}

void bus_contract_begin(void)
{
    if (!nats_servers_installed())
        TEST_SKIP("nats-server is not installed");
    if (fixture.servers.count == 0) {
        fixture.clock = system_clock();
        fixed_secrets_init(&fixture.secrets, SECRETS, ARRAY_LEN(SECRETS));
        nats_servers_start(&fixture.servers, NATS_NODES, NULL);
    }
    arena_init(&fixture.arena, (size_t)4 << 20);
    fixture.streams++;
    create_stream();
}

void bus_contract_end(void)
{
    arena_release(&fixture.arena);
}

void bus_contract_stop(void)
{
    for (int i = 0; i < fixture.servers.count; i++)
        nats_node_kill(&fixture.servers, i);
}

/* With a leader of the stream again, too. */
void bus_contract_start(void)
{
    for (int i = 0; i < fixture.servers.count; i++)
        nats_node_start(&fixture.servers, i);
    nats_fixture_await_leader();
}

void nats_fixture_await_leader(void)
{
    const int64_t until_us = bus_rig_now_us() + 60 * US_PER_SECOND;
    struct error err;

    while (bus_rig_now_us() < until_us) {
        struct bus *bus = bus_contract_open();
        struct bus_lag lag;
        const bool ok = bus_check(bus, 2 * US_PER_SECOND, &err) &&
                        bus_subscribe(bus, STR("leader"), &(struct bus_flow){ 1, 1024 }, &err) &&
                        bus_lag(bus, &lag, &err);

        bus_close(bus);
        if (ok)
            break;
        (void)clock_sleep_us(&fixture.clock, US_PER_SECOND / 10, -1);
    }
}

size_t bus_contract_received(struct arena *arena, struct bus_delivery **items)
{
    (void)arena;
    *items = NULL;
    return 0;
}
