/* The promises of port/bus.h, over every bus. */
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bus_rig.h"
#include "rude_server.h"

static struct bus_rig rig;
static struct bus_seen_list seen;

static void need_trait(unsigned trait, const char *what)
{
    if ((bus_fixture.traits & trait) == 0)
        TEST_SKIP("%s: %s", bus_fixture.name, what);
}

/* Begins with a handle that has these capabilities, or ends the test. */
static struct bus *begin_with(unsigned capabilities, const char *what)
{
    struct bus *bus;

    bus_rig_begin(&rig);
    bus = bus_contract_open();
    if ((bus->capabilities & capabilities) == capabilities)
        return bus;
    bus_close(bus);
    bus_rig_end(&rig);
    TEST_SKIP("%s: %s", bus_fixture.name, what);
}

static struct bus *begin(void)
{
    return begin_with(0, "");
}

static void end(struct bus *bus)
{
    bus_close(bus);
    bus_rig_end(&rig);
}

static struct bus_wish wish(size_t count, enum bus_verdict verdict)
{
    return (struct bus_wish){ count, RIG_TIMEOUT_US, true, verdict };
}

static struct bus_wish look(size_t count, int64_t within_us)
{
    return (struct bus_wish){ .count = count, .within_us = within_us };
}

/* ---- publishing ---- */

TEST(a_bus_that_is_there_passes_its_check)
{
    struct bus *bus = begin();

    REQUIRE_OK(bus_check(bus, RIG_TIMEOUT_US, &rig.err), rig.err);
    end(bus);
}

TEST(a_message_arrives_as_it_was_published)
{
    static const char bytes[] = "\x00\x01\xff{\"\xc3\xa4\":\"\r\n\"}";
    struct bus *bus = begin();
    struct bus_message *message = bus_rig_add(&rig, 3, 7);
    const struct bus_message *got;

    message->body = (struct str){ bytes, sizeof(bytes) - 1 };
    message->content_type = STR("application/octet-stream");
    message->key = STR("crossref/works/10.1000/\xc3\xa4 b%2F\"c\"");
    bus_rig_publish(&rig, bus);
    bus_rig_all(&rig, 1, &seen);
    REQUIRE(seen.count == 1, "it is there once");
    got = &seen.items[0].delivery.message;
    CHECK_STR(got->body, (struct str)((struct str){ bytes, sizeof(bytes) - 1 }), "the body");
    CHECK_STR(got->content_type, STR("application/octet-stream"), "its type");
    CHECK_STR(got->key, STR("crossref/works/10.1000/\xc3\xa4 b%2F\"c\""), "the key");
    CHECK_STR(got->event_id, STR("00000003-0000-7000-8000-000000000007"), "the id");
    CHECK_EQ(got->version, 7, "the version");
    REQUIRE(got->attribute_count == 2, "the attributes, and no more");
    for (size_t i = 0; i < 2; i++) {
        const bool is_type = str_eq(got->attributes[i].name, STR("event_type"));

        CHECK_STR(got->attributes[i].name, is_type ? STR("event_type") : STR("schema_version"),
                  "a name");
        CHECK_STR(got->attributes[i].value, is_type ? STR("RecordUpdated") : STR("1"), "a value");
    }
    end(bus);
}

TEST(messages_of_a_key_are_delivered_in_the_order_of_calls)
{
    struct bus *bus = begin();

    bus_rig_publish_keys(&rig, bus, 20, 1, 25);
    bus_rig_all(&rig, 500, &seen);
    CHECK_EQ(bus_rig_in_order(&seen), 500, "all of them");
    end(bus);
}

TEST(a_message_that_is_refused_harms_no_other)
{
    struct bus *bus;
    char *large;

    need_trait(BUS_REFUSES_LARGE, "no message is too large for it");
    bus = begin();
    large = arena_alloc(&rig.arena, bus_fixture.large);
    REQUIRE(large != NULL, "memory");
    memset(large, 'x', bus_fixture.large);
    for (int key = 0; key < 9; key++)
        (void)bus_rig_add(&rig, key, 1);
    rig.messages[4].body = (struct str){ large, bus_fixture.large };
    REQUIRE_OK(bus_rig_try(&rig, bus), rig.err);
    for (size_t i = 0; i < 9; i++)
        CHECK_EQ(rig.receipts[i].outcome, i == 4 ? BUS_REFUSED : BUS_ACKED, "each by itself");
    bus_rig_clear(&rig);
    bus_rig_publish_keys(&rig, bus, 4, 2, 3); /* and the lane goes on */
    bus_rig_all(&rig, 16, &seen);
    CHECK_EQ(seen.count, 16, "all but one");
    CHECK_EQ(bus_rig_times(&seen, 4, 1), 0, "the large one");
    end(bus);
}

TEST(a_message_that_is_published_twice_is_kept_once)
{
    struct bus *bus = begin_with(BUS_DEDUP, "does not know ids");

    bus_rig_publish_keys(&rig, bus, 8, 1, 1);
    bus_rig_publish_keys(&rig, bus, 8, 1, 1);
    bus_close(bus);
    bus = bus_contract_open();
    bus_rig_publish_keys(&rig, bus, 8, 1, 2);
    bus_rig_all(&rig, 16, &seen);
    CHECK_EQ(seen.count, 16, "each once");
    CHECK_EQ(bus_rig_in_order(&seen), 16, "in order");
    end(bus);
}

TEST(a_call_without_messages_is_nothing)
{
    struct bus *bus = begin();

    bus_rig_publish(&rig, bus);
    end(bus);
}

/* ---- fences ---- */

TEST(an_owner_that_was_overtaken_publishes_nothing)
{
    struct bus *old = begin_with(BUS_FENCE, "has no fence");
    struct bus *new = bus_contract_open();
    struct bus_fence fences[RIG_LANES];

    bus_rig_publish_keys(&rig, old, 4, 1, 1);
    memcpy(fences, rig.fences, sizeof(fences));
    bus_rig_own(&rig, 2);
    bus_rig_publish_keys(&rig, new, 4, 2, 2);
    memcpy(rig.fences, fences, sizeof(fences)); /* the old owner wakes up */
    for (int key = 0; key < 4; key++)
        (void)bus_rig_add(&rig, key, 9);
    CHECK(!bus_rig_try(&rig, old), "it fails");
    bus_rig_failed(&rig, "bus.fenced", "why");
    for (size_t i = 0; i < 4; i++)
        CHECK(rig.receipts[i].outcome == BUS_RETRY || rig.receipts[i].outcome == BUS_NOT_TRIED,
              "not acknowledged");
    bus_rig_own(&rig, 1); /* it tries again, as one that knows nothing */
    CHECK(!bus_rig_try(&rig, old), "it fails again");
    bus_rig_failed(&rig, "bus.fenced", "why");
    bus_rig_clear(&rig);
    bus_rig_own(&rig, 2);
    bus_rig_publish_keys(&rig, new, 4, 3, 3);
    bus_rig_all(&rig, 12, &seen);
    CHECK_EQ(seen.count, 12, "nothing of the old owner");
    CHECK_EQ(bus_rig_in_order(&seen), 12, "in order");
    bus_close(new);
    end(old);
}

/* Acknowledgements that were not saved before a crash: the bus is further than the owner knows. */
TEST(an_owner_goes_on_where_what_it_knows_is_old)
{
    struct bus *bus = begin_with(BUS_FENCE, "has no fence");
    struct bus_fence fences[RIG_LANES];

    bus_rig_publish_keys(&rig, bus, 4, 1, 1);
    memcpy(fences, rig.fences, sizeof(fences));
    bus_rig_publish_keys(&rig, bus, 4, 2, 2);
    bus_close(bus);
    for (int epoch = 1; epoch <= 2; epoch++) { /* the same owner, then its successor */
        bus = bus_contract_open();
        memcpy(rig.fences, fences, sizeof(fences));
        for (int lane = 0; lane < RIG_LANES; lane++)
            rig.fences[lane].lease_epoch = epoch;
        bus_rig_publish_keys(&rig, bus, 4, 2 + epoch, 2 + epoch);
        bus_close(bus);
    }
    bus_rig_all(&rig, 16, &seen);
    CHECK_EQ(bus_rig_in_order(&seen), 16, "in order");
    bus_rig_end(&rig);
}

/* ---- trouble ---- */

TEST(an_outage_loses_nothing_that_was_acknowledged)
{
    struct bus *bus;

    need_trait(BUS_CAN_STOP, "cannot be stopped");
    bus = begin();
    bus_rig_publish_keys(&rig, bus, 16, 1, 5);
    bus_contract_stop();
    rig.timeout_us = 2 * US_PER_SECOND;
    for (int key = 0; key < 16; key++)
        (void)bus_rig_add(&rig, key, 6);
    CHECK(!bus_rig_try(&rig, bus), "out of reach");
    CHECK_EQ(rig.err.level, ERROR_TRANSIENT, "L1");
    for (size_t i = 0; i < 16; i++)
        CHECK(rig.receipts[i].outcome == BUS_RETRY || rig.receipts[i].outcome == BUS_NOT_TRIED,
              "not acknowledged");
    bus_contract_start();
    rig.timeout_us = RIG_TIMEOUT_US;
    bus_rig_persist(&rig, bus); /* the same messages again, by the same handle */
    bus_rig_publish_keys(&rig, bus, 16, 7, 10);
    bus_rig_all(&rig, 160, &seen);
    CHECK_EQ(bus_rig_in_order(&seen), 160, "all of them, in order");
    end(bus);
}

static void meet(enum rudeness rudeness, struct str text, const char *label)
{
    struct rude_server *server = rude_server_start(rudeness, text);
    struct bus *bus = bus_contract_open_at(rude_server_port(server));

    bus_rig_own(&rig, 1);
    rig.timeout_us = US_PER_SECOND;
    (void)bus_rig_add(&rig, 1, 1);
    CHECK(!bus_rig_try(&rig, bus), label);
    CHECK_EQ(rig.err.level, ERROR_TRANSIENT, label);
    CHECK(rig.receipts[0].outcome != BUS_ACKED && rig.receipts[0].outcome != BUS_REFUSED, label);
    CHECK(!bus_check(bus, US_PER_SECOND, &rig.err), label);
    CHECK_EQ(rig.err.level, ERROR_TRANSIENT, label);
    bus_rig_clear(&rig);
    bus_close(bus);
    rude_server_stop(server);
}

TEST(a_server_that_answers_garbage_or_nothing_is_an_ordinary_error)
{
    need_trait(BUS_DIALS, "has no address");
    bus_rig_begin(&rig);
    meet(RUDE_GARBAGE, STR(""), "garbage");
    meet(RUDE_STALL, STR(""), "silence");
    meet(RUDE_RESET, STR(""), "reset");
    meet(RUDE_CLOSE, STR(""), "closed");
    bus_rig_end(&rig);
}

TEST(a_server_that_does_not_listen_is_an_ordinary_error)
{
    struct rude_server *server;
    struct bus *bus;
    int port;

    need_trait(BUS_DIALS, "has no address");
    bus_rig_begin(&rig);
    server = rude_server_start(RUDE_CLOSE, STR(""));
    port = rude_server_port(server);
    rude_server_stop(server);
    bus = bus_contract_open_at(port);
    (void)bus_rig_add(&rig, 1, 1);
    rig.timeout_us = US_PER_SECOND;
    CHECK(!bus_rig_try(&rig, bus), "out of reach");
    CHECK_EQ(rig.err.level, ERROR_TRANSIENT, "L1");
    end(bus);
}

TEST(a_call_ends_when_the_process_must_stop)
{
    struct rude_server *server;
    const int wake_fd = eventfd(1, EFD_CLOEXEC);
    int64_t started_us;
    struct bus *bus;

    need_trait(BUS_DIALS, "has no address");
    bus_rig_begin(&rig);
    server = rude_server_start(RUDE_STALL, STR(""));
    bus = bus_contract_open_at(rude_server_port(server));
    (void)bus_rig_add(&rig, 1, 1);
    rig.wake_fd = wake_fd;
    started_us = bus_rig_now_us();
    CHECK(!bus_rig_try(&rig, bus), "given up");
    CHECK(bus_rig_now_us() - started_us < 3 * US_PER_SECOND, "at once");
    rig.wake_fd = -1;
    bus_close(bus);
    rude_server_stop(server);
    (void)close(wake_fd);
    bus_rig_end(&rig);
}

/* ---- reading ---- */

TEST(what_is_acknowledged_does_not_come_again)
{
    struct bus *bus = begin_with(BUS_READ, "cannot be read");
    struct bus *reader = bus_rig_reader(&rig, "g", 100);

    bus_rig_publish_keys(&rig, bus, 5, 1, 2);
    seen.count = 0;
    bus_rig_read(&rig, reader, (struct bus_wish[]){ wish(10, BUS_ACK) }, &seen);
    CHECK_EQ(bus_rig_in_order(&seen), 10, "all");
    bus_close(reader);
    reader = bus_rig_reader(&rig, "g", 100);
    bus_rig_publish_keys(&rig, bus, 1, 3, 3);
    bus_rig_read(&rig, reader, (struct bus_wish[]){ wish(1, BUS_ACK) }, &seen);
    /* Longer than an unsettled message is held, where that is short. */
    bus_rig_read(&rig, reader, (struct bus_wish[]){ look(1, 3 * US_PER_SECOND / 2) }, &seen);
    CHECK_EQ(seen.count, 11, "only what is new");
    CHECK_EQ(bus_rig_times(&seen, 0, 3), 1, "which is this");
    bus_close(reader);
    end(bus);
}

TEST(an_empty_bus_is_polled_until_the_time_is_over)
{
    struct bus *bus = begin_with(BUS_READ, "cannot be read");
    struct bus *reader = bus_rig_reader(&rig, "g", 100);
    const int64_t started_us = bus_rig_now_us();

    seen.count = 0;
    bus_rig_read(&rig, reader, (struct bus_wish[]){ look(1, US_PER_SECOND / 5) }, &seen);
    CHECK_EQ(seen.count, 0, "nothing");
    CHECK(bus_rig_now_us() - started_us < 3 * US_PER_SECOND, "and no longer");
    bus_close(reader);
    end(bus);
}

TEST(a_poll_ends_when_the_process_must_stop)
{
    struct bus *bus = begin_with(BUS_READ, "cannot be read");
    struct bus *reader = bus_rig_reader(&rig, "g", 100);
    const int wake_fd = eventfd(1, EFD_CLOEXEC);
    const int64_t started_us = bus_rig_now_us();
    struct bus_delivery_list page;

    if (!bus_poll(reader, &rig.arena,
                  &(struct bus_poll){ 10, 1 << 20, 30 * US_PER_SECOND, wake_fd }, &page, &rig.err))
        CHECK_EQ(rig.err.level, ERROR_TRANSIENT, "an error is allowed, but an ordinary one");
    CHECK(bus_rig_now_us() - started_us < 5 * US_PER_SECOND, "at once");
    (void)close(wake_fd);
    bus_close(reader);
    end(bus);
}

/* How often the least seen of these keys was delivered. */
static size_t fewest_times(int keys)
{
    size_t fewest = SIZE_MAX;

    for (int key = 0; key < keys; key++) {
        const size_t times = bus_rig_times(&seen, key, 1);

        fewest = times < fewest ? times : fewest;
    }
    return fewest;
}

static void settle_last(struct bus *reader, enum bus_verdict verdict)
{
    REQUIRE(seen.count > 0, "a delivery");
    REQUIRE_OK(bus_settle(reader,
                          &(struct bus_settlement){ seen.items[seen.count - 1].handle, verdict }, 1,
                          &rig.err),
               rig.err);
}

TEST(what_is_given_back_comes_again)
{
    struct bus *bus = begin_with(BUS_READ, "cannot be read");
    struct bus *reader = bus_rig_reader(&rig, "g", 100);

    bus_rig_publish_keys(&rig, bus, 3, 1, 1);
    seen.count = 0;
    /* Each is given back once. That it comes before the others, or after them, is the bus's choice.
     */
    for (int i = 0; i < 10 && fewest_times(3) < 2; i++) {
        bus_rig_read(&rig, reader, (struct bus_wish[]){ look(1, RIG_TIMEOUT_US) }, &seen);
        settle_last(reader, bus_rig_times(&seen, seen.items[seen.count - 1].key, 1) == 1 ? BUS_NACK
                                                                                         : BUS_ACK);
    }
    CHECK(fewest_times(3) >= 2, "each of them again");
    if ((bus->capabilities & BUS_DELIVERY_COUNT) != 0) {
        CHECK_EQ(seen.items[0].attempt, 1, "the first");
        CHECK(seen.items[seen.count - 1].attempt >= 2, "a later one");
    }
    bus_close(reader);
    end(bus);
}

TEST(what_is_not_settled_comes_again)
{
    struct bus *bus;
    struct bus *reader;

    need_trait(BUS_HOLDS_SHORT, "holds too long for a test");
    bus = begin_with(BUS_READ, "cannot be read");
    reader = bus_rig_reader(&rig, "g", 100);
    bus_rig_publish_keys(&rig, bus, 2, 1, 1);
    seen.count = 0;
    bus_rig_read(&rig, reader, (struct bus_wish[]){ look(2, RIG_TIMEOUT_US) }, &seen);
    bus_close(reader); /* it died */
    reader = bus_rig_reader(&rig, "g", 100);
    bus_rig_read(&rig, reader, (struct bus_wish[]){ wish(2, BUS_ACK) }, &seen);
    CHECK_EQ(bus_rig_times(&seen, 0, 1), 2, "again");
    CHECK_EQ(bus_rig_times(&seen, 1, 1), 2, "again");
    bus_close(reader);
    end(bus);
}

TEST(a_delivery_can_be_held_longer)
{
    struct bus *bus;
    struct bus *reader;

    need_trait(BUS_HOLDS_SHORT, "holds too long for a test");
    bus = begin_with(BUS_READ | BUS_EXTEND, "cannot hold a delivery");
    reader = bus_rig_reader(&rig, "g", 100);
    bus_rig_publish_keys(&rig, bus, 1, 1, 1);
    seen.count = 0;
    bus_rig_read(&rig, reader, (struct bus_wish[]){ look(1, RIG_TIMEOUT_US) }, &seen);
    REQUIRE(seen.count == 1, "it is there");
    for (int i = 0; i < 8; i++) { /* twice as long as it is held without a word */
        REQUIRE_OK(bus_settle(reader, &(struct bus_settlement){ seen.items[0].handle, BUS_HOLD }, 1,
                              &rig.err),
                   rig.err);
        bus_rig_read(&rig, reader, (struct bus_wish[]){ look(1, US_PER_SECOND / 4) }, &seen);
    }
    CHECK_EQ(seen.count, 1, "it did not come again");
    REQUIRE_OK(
        bus_settle(reader, &(struct bus_settlement){ seen.items[0].handle, BUS_ACK }, 1, &rig.err),
        rig.err);
    bus_close(reader);
    end(bus);
}

TEST(no_more_is_delivered_than_may_be_unsettled)
{
    struct bus *bus = begin_with(BUS_READ, "cannot be read");
    struct bus *reader = bus_rig_reader(&rig, "g", 5);
    struct bus_settlement settlements[5];

    bus_rig_publish_keys(&rig, bus, 20, 1, 1);
    seen.count = 0;
    bus_rig_read(&rig, reader, (struct bus_wish[]){ look(20, US_PER_SECOND / 2) }, &seen);
    REQUIRE(seen.count == 5, "five, and no more");
    for (size_t i = 0; i < 5; i++)
        settlements[i] = (struct bus_settlement){ seen.items[i].handle, BUS_ACK };
    REQUIRE_OK(bus_settle(reader, settlements, 5, &rig.err), rig.err);
    bus_rig_read(&rig, reader, (struct bus_wish[]){ wish(15, BUS_ACK) }, &seen);
    CHECK_EQ(seen.count, 20, "all, in the end");
    bus_close(reader);
    end(bus);
}

TEST(groups_read_for_themselves)
{
    struct bus *bus = begin_with(BUS_READ, "cannot be read");

    bus_rig_publish_keys(&rig, bus, 10, 1, 1);
    for (int group = 0; group < 2; group++) {
        struct bus *reader = bus_rig_reader(&rig, group == 0 ? "first" : "second", 100);

        seen.count = 0;
        bus_rig_read(&rig, reader, (struct bus_wish[]){ wish(10, BUS_ACK) }, &seen);
        CHECK_EQ(seen.count, 10, "all");
        bus_close(reader);
    }
    end(bus);
}

TEST(reading_begins_again_from_an_instant)
{
    struct bus *bus = begin_with(BUS_READ | BUS_SEEK_TIME, "cannot go back");
    struct bus *reader = bus_rig_reader(&rig, "g", 100);
    int64_t at_us;

    bus_rig_publish_keys(&rig, bus, 5, 1, 1);
    seen.count = 0;
    bus_rig_read(&rig, reader, (struct bus_wish[]){ look(1, 0) }, &seen);
    (void)usleep(20000); /* so that the two lots have different instants, by any clock */
    bus_rig_publish_keys(&rig, bus, 5, 2, 2);
    bus_rig_read(&rig, reader, (struct bus_wish[]){ look(10 - seen.count, RIG_TIMEOUT_US) }, &seen);
    REQUIRE(seen.count == 10, "all");
    for (size_t i = 0; i < 10; i++) {
        REQUIRE_OK(bus_settle(reader, &(struct bus_settlement){ seen.items[i].handle, BUS_ACK }, 1,
                              &rig.err),
                   rig.err);
        CHECK(seen.items[i].delivery.published_us > 0, "when it was published");
    }
    at_us = INT64_MAX;
    for (size_t i = 0; i < 10; i++) {
        if (seen.items[i].version == 2 && seen.items[i].delivery.published_us < at_us)
            at_us = seen.items[i].delivery.published_us;
    }
    REQUIRE_OK(bus_seek(reader, at_us - 1000, &rig.err), rig.err);
    seen.count = 0;
    bus_rig_read(&rig, reader, (struct bus_wish[]){ wish(5, BUS_ACK) }, &seen);
    bus_rig_read(&rig, reader, (struct bus_wish[]){ look(1, US_PER_SECOND / 2) }, &seen);
    CHECK_EQ(seen.count, 5, "the later ones");
    for (int key = 0; key < 5; key++)
        CHECK_EQ(bus_rig_times(&seen, key, 2), 1, "again");
    bus_close(reader);
    end(bus);
}

/* An instant is a text to some buses, and the zeros behind its point were lost once. */
TEST(reading_begins_again_from_an_instant_early_in_a_second)
{
    struct bus *bus = begin_with(BUS_READ | BUS_SEEK_TIME, "cannot go back");
    struct bus *reader = bus_rig_reader(&rig, "g", 100);
    int64_t first_us, early_us;

    bus_rig_publish_keys(&rig, bus, 1, 1, 1);
    seen.count = 0;
    bus_rig_read(&rig, reader, (struct bus_wish[]){ wish(1, BUS_ACK) }, &seen);
    REQUIRE(seen.count == 1, "delivered");
    first_us = seen.items[0].delivery.published_us;
    early_us = first_us / US_PER_SECOND * US_PER_SECOND + 99900; /* not .999 */
    if (early_us > first_us)
        early_us -= US_PER_SECOND;
    REQUIRE_OK(bus_seek(reader, early_us, &rig.err), rig.err);
    seen.count = 0;
    bus_rig_read(&rig, reader, (struct bus_wish[]){ wish(1, BUS_ACK) }, &seen);
    CHECK_EQ(seen.count, 1, "it is of after that instant");
    bus_close(reader);
    end(bus);
}

TEST(the_lag_counts_what_is_not_settled)
{
    struct bus *bus = begin_with(BUS_READ, "cannot be read");
    struct bus *reader = bus_rig_reader(&rig, "g", 100);
    struct bus_lag lag;

    bus_rig_publish_keys(&rig, bus, 10, 1, 1);
    REQUIRE_OK(bus_lag(bus, &lag, &rig.err), rig.err);
    CHECK(!lag.is_known, "who has not subscribed has none");
    seen.count = 0;
    bus_rig_read(&rig, reader, (struct bus_wish[]){ wish(4, BUS_ACK) }, &seen);
    REQUIRE_OK(bus_lag(reader, &lag, &rig.err), rig.err);
    if (lag.is_known)
        CHECK_EQ(lag.messages, 6, "of ten");
    bus_close(reader);
    end(bus);
}
