/* bus_rig: what the cases of a bus share: messages, publishing by waves, reading until something is
 * there. Every error that comes by is searched for the credential of the fixture. */
#ifndef PATRA_TEST_BUS_RIG_H
#define PATRA_TEST_BUS_RIG_H

#include "base/instant.h"
#include "bus_contract.h"

enum { RIG_MESSAGES_MAX = 1024, RIG_LANES = 4 };

#define RIG_TIMEOUT_US (20 * US_PER_SECOND)

struct bus_rig {
    struct arena arena;
    struct bus_message messages[RIG_MESSAGES_MAX];
    struct bus_receipt receipts[RIG_MESSAGES_MAX];
    struct bus_fence fences[RIG_LANES];
    size_t count;
    int64_t timeout_us;
    int wake_fd;
    struct error err;
};

void bus_rig_begin(struct bus_rig *rig); /* and the fixture */
void bus_rig_end(struct bus_rig *rig);

/* Adds a message of "test/kN" to the next call. Its id says key and version; so does its body,
 * unless it is set afterwards. */
struct bus_message *bus_rig_add(struct bus_rig *rig, int key, int64_t version);
void bus_rig_clear(struct bus_rig *rig);

/* Who publishes: lanes are fenced by this epoch from now on, and nothing is known of them. */
void bus_rig_own(struct bus_rig *rig, int64_t epoch);

/* Publishes what was added, and remembers the acknowledgements for the fences. The second demands
 * that everything is acknowledged, and clears. */
bool bus_rig_try(struct bus_rig *rig, struct bus *bus);
void bus_rig_publish(struct bus_rig *rig, struct bus *bus);

/* The same as a relay would: what is not acknowledged is published again while that may help. */
void bus_rig_persist(struct bus_rig *rig, struct bus *bus);

/* Keys 0 ..., versions from..., one call per version. */
void bus_rig_publish_keys(struct bus_rig *rig, struct bus *bus, int keys, int64_t from, int64_t to);

/* ---- reading ---- */

struct bus_seen {
    int key;
    int64_t version;
    int64_t attempt;
    uint64_t handle;
    struct bus_delivery delivery;
};

struct bus_seen_list {
    struct bus_seen items[RIG_MESSAGES_MAX];
    size_t count;
};

/* A handle that is subscribed. */
struct bus *bus_rig_reader(struct bus_rig *rig, const char *group, size_t messages_max);

/* Polls until so many are there or the time is over, appending; settles each with the verdict where
 * settle is true. */
struct bus_wish {
    size_t count;
    int64_t within_us;
    bool settle;
    enum bus_verdict verdict;
};
void bus_rig_read(struct bus_rig *rig, struct bus *bus, const struct bus_wish *wish,
                  struct bus_seen_list *list);

/* What the bus has, of all, by a new group; or what the other end received. */
void bus_rig_all(struct bus_rig *rig, size_t at_least, struct bus_seen_list *list);

/* Checks that the first deliveries of each key are in order: version v comes first after v - 1
 * came. Returns the number of different messages. */
size_t bus_rig_in_order(const struct bus_seen_list *list);

size_t bus_rig_times(const struct bus_seen_list *list, int key, int64_t version);

/* The error of a call has this code, and no credential. */
void bus_rig_failed(const struct bus_rig *rig, const char *code, const char *label);

int64_t bus_rig_now_us(void); /* monotonic */

#endif
