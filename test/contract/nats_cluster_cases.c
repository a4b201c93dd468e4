/* A cluster that loses its nodes, one after the other, the leader among them, while events are
 * published. */
#include "bus_rig.h"
#include "nats_fixture.h"

enum { KEYS = 40, VERSIONS = 20 };

static struct bus_rig rig;
static struct bus_seen_list seen;

/* The cluster's own numbers tell a message that it has twice from one that it delivered again. */
static void check_kept_once(void)
{
    size_t again = 0;

    for (size_t i = 0; i < seen.count; i++) {
        const struct bus_seen *one = &seen.items[i];

        for (size_t k = 0; k < i; k++) {
            const struct bus_seen *other = &seen.items[k];

            if (other->key != one->key || other->version != one->version)
                continue;
            again++;
            CHECK_STR(one->delivery.bus_id, other->delivery.bus_id, "a message is kept once");
        }
    }
    if (again > 0)
        test_note("%zu deliveries again, of messages that are kept once", again);
}

TEST(a_leader_that_dies_under_load_loses_nothing)
{
    struct nats_servers *servers;
    struct bus *bus;
    bool is_down = false;
    int node = 0;

    bus_rig_begin(&rig);
    servers = nats_fixture_servers();
    bus = bus_contract_open();
    rig.timeout_us = 5 * US_PER_SECOND;
    for (int64_t version = 1; version <= VERSIONS; version++) {
        for (int key = 0; key < KEYS; key++)
            (void)bus_rig_add(&rig, key, version);
        /* With two of three gone nobody is a leader, so the next one lives on until the last one
         * has caught up, which nats-server does not always do in time. */
        if (version % 6 == 3 && (node == 0 || nats_node_await(servers, node - 1))) {
            nats_node_kill(servers, node);
            is_down = true;
        }
        if (version % 6 == 0 && is_down) {
            nats_node_start(servers, node++);
            is_down = false;
        }
        bus_rig_persist(&rig, bus);
    }
    CHECK(node >= 1, "one died");
    test_note("%d of 3 nodes died, one after the other", node);
    bus_close(bus);
    rig.timeout_us = RIG_TIMEOUT_US;
    nats_fixture_await_leader();
    bus_rig_all(&rig, (size_t)KEYS * VERSIONS, &seen);
    CHECK_EQ(bus_rig_in_order(&seen), KEYS * VERSIONS, "all of them, in order");
    check_kept_once();
    bus_rig_end(&rig);
}
