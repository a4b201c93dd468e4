/* A cluster that loses its nodes, one after the other, the leader among them, while events are
 * published. */
#include "bus_rig.h"
#include "nats_fixture.h"

enum { KEYS = 40, VERSIONS = 20 };

static struct bus_rig rig;
static struct bus_seen_list seen;

TEST(a_leader_that_dies_under_load_loses_nothing)
{
    struct nats_servers *servers;
    struct bus *bus;
    int node = 0;

    bus_rig_begin(&rig);
    servers = nats_fixture_servers();
    bus = bus_contract_open();
    rig.timeout_us = 5 * US_PER_SECOND;
    for (int64_t version = 1; version <= VERSIONS; version++) {
        for (int key = 0; key < KEYS; key++)
            (void)bus_rig_add(&rig, key, version);
        if (version % 6 == 3)
            nats_node_kill(servers, node); /* each of the three is killed once: one is the leader */
        if (version % 6 == 0 && version > 3)
            nats_node_start(servers, node++);
        bus_rig_persist(&rig, bus);
    }
    CHECK_EQ(node, 3, "all three died");
    bus_close(bus);
    rig.timeout_us = RIG_TIMEOUT_US;
    nats_fixture_await_leader();
    bus_rig_all(&rig, (size_t)KEYS * VERSIONS, &seen);
    CHECK_EQ(bus_rig_in_order(&seen), KEYS * VERSIONS, "all of them, in order");
    /* Seen once: 36 more deliveries than messages. Whether the cluster kept them twice or delivered
     * them again is not known; both are within at least once (port/bus.h). */
    test_note("%zu deliveries more than messages", seen.count - (size_t)KEYS * VERSIONS);
    bus_rig_end(&rig);
}
