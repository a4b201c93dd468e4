/* Publishing and reading, the same for every bus. */
#include "bus_rig.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int64_t bus_rig_now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

static void see(const struct error *err)
{
    const struct str text = str_of(err->text);

    if (bus_fixture.secret != NULL && err->level != ERROR_NONE)
        CHECK(str_find(text, str_of(bus_fixture.secret)) == text.len, "no credential in an error");
}

void bus_rig_begin(struct bus_rig *rig)
{
    memset(rig, 0, sizeof(*rig));
    arena_init(&rig->arena, (size_t)256 << 20);
    rig->timeout_us = RIG_TIMEOUT_US;
    rig->wake_fd = -1;
    bus_rig_own(rig, 1);
    bus_contract_begin();
}

void bus_rig_end(struct bus_rig *rig)
{
    bus_contract_end();
    arena_release(&rig->arena);
}

void bus_rig_own(struct bus_rig *rig, int64_t epoch)
{
    for (int i = 0; i < RIG_LANES; i++)
        rig->fences[i] = (struct bus_fence){ .lane = i, .lease_epoch = epoch };
}

struct bus_message *bus_rig_add(struct bus_rig *rig, int key, int64_t version)
{
    static const struct bus_attribute attributes[] = {
        { STR_INIT("event_type"), STR_INIT("RecordUpdated") },
        { STR_INIT("schema_version"), STR_INIT("1") },
    };
    struct bus_message *message = &rig->messages[rig->count++];

    REQUIRE(rig->count <= RIG_MESSAGES_MAX, "messages");
    *message = (struct bus_message){
        .event_id = arena_printf(&rig->arena, "%08x-0000-7000-8000-%012" PRIx64, (unsigned)key,
                                 (uint64_t)version),
        .key = arena_printf(&rig->arena, "test/k%d", key),
        .lane = key % RIG_LANES,
        .version = version,
        .attributes = attributes,
        .attribute_count = ARRAY_LEN(attributes),
        .content_type = STR("application/json"),
        .body = arena_printf(&rig->arena, "{\"key\":%d,\"version\":%" PRId64 "}", key, version),
    };
    return message;
}

void bus_rig_clear(struct bus_rig *rig)
{
    rig->count = 0;
}

/* Only fences of lanes that the call has messages of. */
static size_t fences_of(const struct bus_rig *rig, struct bus_fence fences[RIG_LANES])
{
    size_t count = 0;

    for (int lane = 0; lane < RIG_LANES; lane++) {
        for (size_t i = 0; i < rig->count; i++) {
            if (rig->messages[i].lane != lane)
                continue;
            fences[count++] = rig->fences[lane];
            break;
        }
    }
    return count;
}

/* As the relay does: of the lane's acknowledged messages, the last one that the call has. A number
 * is compared as one, because messages of a call may be kept in any order. */
static void remember(struct bus_rig *rig)
{
    for (size_t i = 0; i < rig->count; i++) {
        struct bus_fence *fence = &rig->fences[rig->messages[i].lane];
        int64_t old, new;

        if (rig->receipts[i].outcome != BUS_ACKED)
            continue;
        if (str_to_i64(fence->ack_id, &old) && str_to_i64(rig->receipts[i].ack_id, &new) &&
            new < old)
            continue;
        fence->ack_id = arena_copy(&rig->arena, rig->receipts[i].ack_id);
    }
}

bool bus_rig_try(struct bus_rig *rig, struct bus *bus)
{
    struct bus_fence fences[RIG_LANES];
    const size_t fence_count = fences_of(rig, fences);
    const int64_t started_us = bus_rig_now_us();
    bool ok;

    rig->err = (struct error){ 0 };
    ok = bus_publish(bus, &rig->arena,
                     &(struct bus_publish){ .messages = rig->messages,
                                            .count = rig->count,
                                            .fences = fences,
                                            .fence_count = fence_count,
                                            .timeout_us = rig->timeout_us,
                                            .wake_fd = rig->wake_fd },
                     rig->receipts, &rig->err);
    CHECK(bus_rig_now_us() - started_us < rig->timeout_us + (TEST_IS_SLOW ? 5 : 2) * US_PER_SECOND,
          "a call ends in time");
    see(&rig->err);
    for (size_t i = 0; i < rig->count; i++) {
        const struct bus_receipt *receipt = &rig->receipts[i];

        if (bus_fixture.secret != NULL)
            CHECK(str_find(receipt->reason, str_of(bus_fixture.secret)) == receipt->reason.len,
                  "no credential in a reason");
        if (receipt->outcome != BUS_ACKED && receipt->outcome != BUS_NOT_TRIED)
            CHECK(receipt->reason.len > 0, "what was not acknowledged has a reason");
    }
    remember(rig);
    return ok;
}

void bus_rig_publish(struct bus_rig *rig, struct bus *bus)
{
    REQUIRE_OK(bus_rig_try(rig, bus), rig->err);
    for (size_t i = 0; i < rig->count; i++) {
        if (rig->receipts[i].outcome != BUS_ACKED)
            test_fail(__FILE__, __LINE__, "message %zu is not acknowledged: %.*s", i,
                      STR_ARG(rig->receipts[i].reason));
    }
    bus_rig_clear(rig);
}

static void keep_unacked(struct bus_rig *rig)
{
    size_t kept = 0;

    for (size_t i = 0; i < rig->count; i++) {
        if (rig->receipts[i].outcome != BUS_ACKED)
            rig->messages[kept++] = rig->messages[i];
    }
    rig->count = kept;
}

void bus_rig_persist(struct bus_rig *rig, struct bus *bus)
{
    const int64_t until_us = bus_rig_now_us() + 2 * RIG_TIMEOUT_US;

    while (rig->count > 0) {
        if (!bus_rig_try(rig, bus)) {
            if (rig->err.level != ERROR_TRANSIENT || bus_rig_now_us() > until_us)
                REQUIRE_OK(false, rig->err);
            (void)usleep(50000); /* a back-off: nothing tells when a cluster has a leader again */
        }
        keep_unacked(rig);
    }
}

void bus_rig_publish_keys(struct bus_rig *rig, struct bus *bus, int keys, int64_t from, int64_t to)
{
    for (int64_t version = from; version <= to; version++) {
        for (int key = 0; key < keys; key++)
            (void)bus_rig_add(rig, key, version);
        bus_rig_publish(rig, bus);
    }
}

/* ---- reading ---- */

struct bus *bus_rig_reader(struct bus_rig *rig, const char *group, size_t messages_max)
{
    struct bus *bus = bus_contract_open();

    REQUIRE_OK(bus_subscribe(bus, str_of(group),
                             &(struct bus_flow){ messages_max, (size_t)64 << 20 }, &rig->err),
               rig->err);
    return bus;
}

static void append(struct bus_rig *rig, struct bus_seen_list *list,
                   const struct bus_delivery *delivery)
{
    struct bus_seen *seen = &list->items[list->count++];

    REQUIRE(list->count <= RIG_MESSAGES_MAX, "deliveries");
    *seen = (struct bus_seen){ .version = delivery->message.version,
                               .attempt = delivery->attempt,
                               .handle = delivery->handle,
                               .delivery = *delivery };
    if (sscanf(arena_copy(&rig->arena, delivery->message.key).data, "test/k%d", &seen->key) != 1)
        seen->key = -1;
}

void bus_rig_read(struct bus_rig *rig, struct bus *bus, const struct bus_wish *wish,
                  struct bus_seen_list *list)
{
    const int64_t until_us = bus_rig_now_us() + wish->within_us;
    const size_t wanted = list->count + wish->count;
    int64_t left_us = wish->within_us;

    for (; list->count < wanted && left_us >= 0; left_us = until_us - bus_rig_now_us()) {
        struct bus_delivery_list page;

        REQUIRE_OK(bus_poll(bus, &rig->arena,
                            &(struct bus_poll){ .messages_max = wanted - list->count,
                                                .bytes_max = (size_t)64 << 20,
                                                .timeout_us = left_us,
                                                .wake_fd = rig->wake_fd },
                            &page, &rig->err),
                   rig->err);
        for (size_t i = 0; i < page.count; i++) {
            const struct bus_settlement settlement = { page.items[i].handle, wish->verdict };

            append(rig, list, &page.items[i]);
            if (wish->settle)
                REQUIRE_OK(bus_settle(bus, &settlement, 1, &rig->err), rig->err);
        }
    }
}

void bus_rig_all(struct bus_rig *rig, size_t at_least, struct bus_seen_list *list)
{
    static int groups;
    struct bus_delivery *items;
    struct bus *bus = bus_contract_open();
    const bool can_read = (bus->capabilities & BUS_READ) != 0;
    char group[32];
    size_t count;

    list->count = 0;
    bus_close(bus);
    if (!can_read) {
        count = bus_contract_received(&rig->arena, &items);
        for (size_t i = 0; i < count; i++)
            append(rig, list, &items[i]);
        return;
    }
    (void)snprintf(group, sizeof(group), "all-%d", ++groups);
    bus = bus_rig_reader(rig, group, RIG_MESSAGES_MAX);
    bus_rig_read(
        rig, bus,
        &(struct bus_wish){
            .count = at_least, .within_us = RIG_TIMEOUT_US, .settle = true, .verdict = BUS_ACK },
        list);
    bus_rig_read(rig, bus,
                 &(struct bus_wish){ .count = RIG_MESSAGES_MAX - list->count,
                                     .within_us = US_PER_SECOND / 2,
                                     .settle = true,
                                     .verdict = BUS_ACK },
                 list);
    bus_close(bus);
}

size_t bus_rig_in_order(const struct bus_seen_list *list)
{
    size_t different = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct bus_seen *seen = &list->items[i];
        bool is_first = true;
        int64_t last = 0;

        for (size_t j = 0; j < i; j++) {
            if (list->items[j].key != seen->key)
                continue;
            is_first &= list->items[j].version != seen->version;
            if (list->items[j].version > last)
                last = list->items[j].version;
        }
        different += is_first;
        if (is_first && seen->version != last + 1)
            test_fail(__FILE__, __LINE__, "key %d: version %" PRId64 " comes after %" PRId64,
                      seen->key, seen->version, last);
    }
    return different;
}

size_t bus_rig_times(const struct bus_seen_list *list, int key, int64_t version)
{
    size_t times = 0;

    for (size_t i = 0; i < list->count; i++)
        times += list->items[i].key == key && list->items[i].version == version;
    return times;
}

void bus_rig_failed(const struct bus_rig *rig, const char *code, const char *label)
{
    see(&rig->err);
    CHECK_STR(str_of(rig->err.code), str_of(code), label);
}
