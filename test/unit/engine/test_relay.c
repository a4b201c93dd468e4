/* The relay on SQLite and a bus in RAM, in virtual time: what it does when the bus is down, when a
 * key is refused, by each policy, and when an event kills it. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "contract.h"
#include "engine/lanes/give_up.h"
#include "engine/relay/relay_run.h"
#include "ram_bus.h"
#include "rows.h"
#include "seeded_random.h"
#include "stream_rig.h"
#include "virtual_clock.h"

enum { KEYS = 30 };

static const struct offset_key KEY = { STR_INIT("patra"), STR_INIT("works") };

struct rig {
    struct virtual_clock clock;
    struct seeded_random random;
    struct store *store;
    struct subscription subscription;
    struct ram_bus *bus;
    struct relay_target target; /* but for its bus */
    struct relay *relay;
    struct relay_settings settings;
    struct lanes_round sum;
};

static bool open_bus(void *context, const struct subscription *subscription,
                     struct relay_target *target, struct error *err)
{
    struct rig *rig = context;

    (void)subscription;
    (void)err;
    *target = rig->target;
    target->bus = ram_bus_connect(rig->bus);
    return true;
}

static struct relay_parts parts_of(struct rig *rig)
{
    return (struct relay_parts){ .store = rig->store,
                                 .clock = &rig->clock.clock,
                                 .random = &rig->random.source,
                                 .wake_fd = CLOCK_NO_WAKE,
                                 .open = open_bus,
                                 .context = rig };
}

static void open_relay(struct rig *rig, const char *owner)
{
    const struct relay_parts parts = parts_of(rig);
    struct error err = { 0 };

    rig->settings.lanes.subscription = &rig->subscription;
    rig->settings.lanes.owner = str_of(owner);
    REQUIRE_OK(relay_open(&rig->relay, &parts, &rig->settings, &err), err);
}

static void publish_all(struct rig *rig)
{
    stream_rig_publish(rig->store, clock_now_us(&rig->clock.clock));
}

static void change(struct rig *rig, int key, int times)
{
    stream_rig_change_often(rig->store, "k", key, times);
    publish_all(rig);
}

/* KEYS records of one version, in the stream. */
static void begin(struct rig *rig, enum subscription_policy policy)
{
    memset(rig, 0, sizeof(*rig));
    virtual_clock_init(&rig->clock, NOW_US);
    seeded_random_init(&rig->random, 3);
    rig->store = contract_store();
    rig->bus = ram_bus_new(3, &rig->clock.clock);
    rig->subscription =
        stream_rig_subscribe(rig->store, KEY.subscription, SUBSCRIPTION_RELAY, policy);
    (void)stream_rig_write(rig->store, "k", KEYS);
    publish_all(rig);
    open_relay(rig, "one");
}

static void end(struct rig *rig)
{
    CHECK(ram_bus_complaint(rig->bus) == NULL, "promises of callers");
    relay_close(rig->relay);
    ram_bus_free(rig->bus);
    contract_end();
}

static struct lanes_round round_of(struct rig *rig)
{
    struct lanes_round round;
    struct error err = { 0 };

    REQUIRE_OK(relay_round(rig->relay, clock_now_us(&rig->clock.clock), &round, &err), err);
    return round;
}

/* Rounds until nothing is left that can be tried now. */
static struct lanes_round run(struct rig *rig)
{
    struct lanes_round sum = { 0 }, round;

    do {
        round = round_of(rig);
        sum.delivered += round.delivered;
        sum.passed += round.passed;
        sum.parked += round.parked;
        sum.returned += round.returned;
        sum.is_stopped |= round.is_stopped;
    } while (round.has_more && !round.is_stopped);
    sum.lanes = round.lanes;
    return sum;
}

static struct parked_list parked(struct rig *rig)
{
    struct parked_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_parked_list(rig->store, contract_arena(),
                                 &(struct parked_query){ KEY, STR(""), 100 }, &list, &err),
               err);
    return list;
}

/* The versions of a key, each as it arrived for the first time: "1 2 3". */
static struct str first_versions(struct rig *rig, const char *key)
{
    bool has_come[100] = { false };
    struct buf out;

    buf_init(&out, contract_arena(), 1 << 16);
    for (size_t i = 0; i < ram_bus_count(rig->bus); i++) {
        const struct ram_arrival *a = &ram_bus_arrivals(rig->bus)[i];

        if (strstr(a->key, key) == NULL || has_come[a->version])
            continue;
        has_come[a->version] = true;
        buf_printf(&out, "%s%lld", buf_str(&out).len > 0 ? " " : "", (long long)a->version);
    }
    return buf_str(&out);
}

/* All of them, with those that came again: "1 2 2 3". */
static struct str versions(struct rig *rig, const char *key)
{
    struct buf out;

    buf_init(&out, contract_arena(), 1 << 16);
    for (size_t i = 0; i < ram_bus_count(rig->bus); i++) {
        const struct ram_arrival *a = &ram_bus_arrivals(rig->bus)[i];

        if (strstr(a->key, key) != NULL)
            buf_printf(&out, "%s%lld", buf_str(&out).len > 0 ? " " : "", (long long)a->version);
    }
    return buf_str(&out);
}

/* ---- how it should be ---- */

TEST(every_event_is_handed_on_once_and_in_order)
{
    struct rig rig;
    struct lanes_round sum;

    begin(&rig, POLICY_WAIT);
    change(&rig, 4, 5);
    sum = run(&rig);
    CHECK_EQ(sum.delivered, KEYS + 5, "all");
    CHECK_EQ(sum.lanes, OUTBOX_LANES, "by itself");
    CHECK_STR(versions(&rig, "k00004"), STR("1 2 3 4 5 6"), "one after the other");
    CHECK_EQ(run(&rig).delivered, 0, "once");
    change(&rig, 4, 1);
    CHECK_EQ(run(&rig).delivered, 1, "the next one");
    end(&rig);
}

static bool takes_changes(void *context, const struct stream_event *event)
{
    (void)context;
    return event->stored.event.version > 1;
}

TEST(what_is_not_wanted_is_passed_over)
{
    struct offset_state_list lanes;
    struct error err = { 0 };
    struct lanes_round sum;
    struct rig rig;

    begin(&rig, POLICY_WAIT);
    rig.target.takes = takes_changes;
    change(&rig, 4, 2);
    sum = run(&rig);
    CHECK_EQ(sum.delivered, 2, "two");
    CHECK_EQ(sum.passed, KEYS, "the others are not sent");
    REQUIRE_OK(store_offset_states(rig.store, contract_arena(), &KEY, &lanes, &err), err);
    for (size_t i = 0; i < lanes.count; i++)
        CHECK_EQ(lanes.items[i].pos, lanes.items[i].last_pos, "and not looked at again");
    end(&rig);
}

TEST(relays_share_the_lanes_and_take_over)
{
    struct rig rig;
    struct relay *one, *two;
    struct error err = { 0 };

    begin(&rig, POLICY_WAIT);
    one = rig.relay;
    CHECK_EQ(run(&rig).lanes, 64, "alone");
    open_relay(&rig, "two");
    two = rig.relay;
    CHECK_EQ(run(&rig).lanes, 0, "none is free");
    virtual_clock_advance(&rig.clock, 6 * US_PER_SECOND);
    rig.relay = one;
    CHECK_EQ(run(&rig).lanes, 32, "it gives half of them back");
    virtual_clock_advance(&rig.clock, 6 * US_PER_SECOND);
    rig.relay = two;
    CHECK_EQ(run(&rig).lanes, 32, "which the other one takes");
    change(&rig, 4, 3);
    rig.relay = one;
    (void)run(&rig);
    rig.relay = two;
    (void)run(&rig);
    CHECK_STR(versions(&rig, "k00004"), STR("1 2 3 4"), "once");
    relay_close(one); /* it dies */
    virtual_clock_advance(&rig.clock, 16 * US_PER_SECOND);
    CHECK_EQ(run(&rig).lanes, 64, "its leases have ended");
    change(&rig, 4, 1);
    CHECK_EQ(run(&rig).delivered, 1, "taken over");
    REQUIRE_OK(relay_release(two, &err), err);
    end(&rig);
}

/* ---- a bus that is down ---- */

struct hour {
    struct rig *rig;
    int wake_fd;
    size_t wanted;
};

/* Before each publish: when all have arrived, the loop is ended with this call. */
static void end_when_all_came(void *context)
{
    const struct hour *hour = context;
    const uint64_t n = 1;

    if (ram_bus_count(hour->rig->bus) + 1 >= hour->wanted)
        REQUIRE(write(hour->wake_fd, &n, sizeof(n)) == sizeof(n), "wake");
}

TEST(a_bus_that_is_down_for_an_hour_loses_nothing_and_catches_up_in_order)
{
    struct rig rig;
    struct relay_parts parts;
    struct offset_state_list lanes;
    struct lanes_total total;
    struct error err = { 0 };
    struct hour hour = { .rig = &rig, .wake_fd = eventfd(0, EFD_CLOEXEC) };
    const int64_t hour_us = 3600 * US_PER_SECOND;

    begin(&rig, POLICY_STOP); /* nobody is stopped for that */
    change(&rig, 4, 40);
    ram_bus_set_down_until(rig.bus, NOW_US + hour_us);
    hour.wanted = KEYS + 40;
    ram_bus_on_publish(rig.bus, end_when_all_came, &hour);
    parts = parts_of(&rig);
    parts.wake_fd = hour.wake_fd;
    REQUIRE_OK(relay_run(&parts,
                         &(struct relay_run){ .relay.lanes = { .subscription = &rig.subscription,
                                                               .owner = STR("loop") } },
                         &total, &err),
               err);
    CHECK_EQ(ram_bus_count(rig.bus), KEYS + 40, "all");
    CHECK_EQ(total.delivered, KEYS + 40, "once");
    CHECK_EQ(total.parked, 0, "no key is to blame");
    CHECK(str_starts(versions(&rig, "k00004"), STR("1 2 3 4 5 6 7 8 9 10 11")), "in order");
    CHECK(clock_now_us(&rig.clock.clock) >= NOW_US + hour_us, "after an hour");
    CHECK(clock_now_us(&rig.clock.clock) < NOW_US + hour_us + 120 * US_PER_SECOND, "and soon");
    CHECK(ram_bus_calls(rig.bus) < 300, "it was not asked all the time");
    REQUIRE_OK(store_offset_states(rig.store, contract_arena(), &KEY, &lanes, &err), err);
    for (size_t i = 0; i < lanes.count; i++) {
        CHECK_EQ(lanes.items[i].crashes, 0, "nor did it lose its lanes meanwhile");
        CHECK_EQ(lanes.items[i].owner.len, 0, "they are given back");
    }
    (void)close(hour.wake_fd);
    end(&rig);
}

TEST(a_bus_that_is_down_is_seen_in_the_store_and_stops_nobody_else)
{
    struct rig rig;
    struct reader_state_list readers;
    struct error err = { 0 };
    struct lanes_round round;

    begin(&rig, POLICY_WAIT);
    ram_bus_set_down(rig.bus, true);
    round = round_of(&rig);
    REQUIRE(round.trouble != NULL, "failed");
    CHECK(!round.has_more, "nothing can be done now");
    (void)round_of(&rig);
    REQUIRE_OK(store_offset_readers(rig.store, contract_arena(), &KEY, &readers, &err), err);
    REQUIRE(readers.count == 1, "itself");
    CHECK_STR(readers.items[0].error, STR("the bus is down"), "and why it waits");
    ram_bus_set_down(rig.bus, false);
    virtual_clock_advance(&rig.clock, 60 * US_PER_SECOND);
    CHECK_EQ(run(&rig).delivered, KEYS, "then");
    (void)round_of(&rig);
    REQUIRE_OK(store_offset_readers(rig.store, contract_arena(), &KEY, &readers, &err), err);
    CHECK_EQ(readers.items[0].error.len, 0, "it works");
    end(&rig);
}

TEST(a_lost_answer_is_asked_for_again_under_the_same_id)
{
    struct rig rig;

    begin(&rig, POLICY_WAIT);
    (void)run(&rig);
    change(&rig, 4, 1);
    ram_bus_set_faults(rig.bus, &(struct ram_bus_faults){ .drop_ack = 1000 });
    CHECK(round_of(&rig).trouble != NULL, "no answer");
    ram_bus_set_faults(rig.bus, &(struct ram_bus_faults){ 0 });
    virtual_clock_advance(&rig.clock, US_PER_SECOND);
    CHECK_EQ(run(&rig).delivered, 1, "again");
    CHECK_STR(versions(&rig, "k00004"), STR("1 2 2"), "it had arrived");
    CHECK(round_of(&rig).trouble == NULL, "works");
    end(&rig);
}

/* With nothing to send, only asking tells that it is back. */
TEST(a_bus_that_is_back_is_noticed_without_an_event)
{
    struct rig rig;
    struct error err = { 0 };

    begin(&rig, POLICY_WAIT);
    ram_bus_set_down(rig.bus, true);
    CHECK(round_of(&rig).trouble != NULL, "down");
    for (int i = 0; i < OUTBOX_LANES; i++) {
        struct offset_seek seek = { KEY, i, KEYS, STR("not these"), STR("ann"), NOW_US };
        bool found;

        REQUIRE_OK(store_offset_seek(rig.store, &seek, &found, &err), err);
    }
    virtual_clock_advance(&rig.clock, 60 * US_PER_SECOND);
    (void)round_of(&rig); /* finds that it was overtaken */
    CHECK(round_of(&rig).trouble != NULL, "still down");
    ram_bus_set_down(rig.bus, false);
    virtual_clock_advance(&rig.clock, 60 * US_PER_SECOND);
    CHECK(round_of(&rig).trouble == NULL, "it was asked");
    CHECK_EQ(ram_bus_count(rig.bus), 0, "and nothing sent");
    end(&rig);
}

/* ---- refused ---- */

TEST(a_refused_key_waits_and_others_go_on)
{
    struct rig rig;
    struct lanes_round sum;
    struct parked_list list;

    begin(&rig, POLICY_WAIT);
    change(&rig, 4, 3);
    ram_bus_refuse(rig.bus, "k00004", 2);
    sum = run(&rig);
    CHECK_EQ(sum.delivered, KEYS, "the first versions");
    CHECK_EQ(sum.parked, 1, "one key");
    list = parked(&rig);
    REQUIRE(list.count == 1, "one row");
    CHECK_EQ(list.items[0].head_version, 2, "from the refused one");
    CHECK_EQ(list.items[0].seen_version, 4, "with all that were behind it");
    CHECK_STR(list.items[0].last_error, STR("not this one"), "why");
    change(&rig, 4, 2);
    change(&rig, 5, 1);
    sum = run(&rig);
    CHECK_EQ(sum.delivered, 1, "the other key");
    CHECK_EQ(sum.passed, 2, "these wait, too");
    CHECK_EQ(parked(&rig).items[0].seen_version, 6, "seen");
    for (int i = 0; i < 5; i++) {
        virtual_clock_advance(&rig.clock, 400 * US_PER_SECOND);
        (void)run(&rig);
    }
    list = parked(&rig);
    CHECK(list.items[0].attempts_ended >= 4, "it is tried again and again");
    CHECK_EQ(list.items[0].attempts_begun, list.items[0].attempts_ended, "each try ended");
    CHECK_STR(versions(&rig, "k00004"), STR("1"), "never ahead of the refused one");
    ram_bus_refuse(rig.bus, "k00004", 5);
    virtual_clock_advance(&rig.clock, 400 * US_PER_SECOND);
    (void)run(&rig);
    CHECK_STR(versions(&rig, "k00004"), STR("1 2 3 4"), "as far as it goes");
    CHECK_EQ(parked(&rig).items[0].head_version, 5, "from there on");
    ram_bus_refuse(rig.bus, NULL, 0);
    virtual_clock_advance(&rig.clock, 400 * US_PER_SECOND);
    CHECK_EQ(run(&rig).returned, 1, "all delivered");
    CHECK_STR(versions(&rig, "k00004"), STR("1 2 3 4 5 6"), "in order");
    CHECK_EQ(parked(&rig).count, 0, "no key waits");
    change(&rig, 4, 1);
    CHECK_EQ(run(&rig).delivered, 1, "as before");
    end(&rig);
}

/* A try takes 64 events of a key: one less, just as many, one more, and two tries of them. */
TEST(however_many_events_of_a_key_wait_each_is_delivered_once)
{
    static const int COUNTS[] = { 63, 64, 65, 128 };

    for (size_t i = 0; i < sizeof(COUNTS) / sizeof(COUNTS[0]); i++) {
        struct rig rig;
        struct lanes_round sum;

        begin(&rig, POLICY_WAIT);
        (void)run(&rig);
        ram_bus_refuse(rig.bus, "k0000", 2);
        change(&rig, 4, COUNTS[i]);
        change(&rig, 5, 3);
        CHECK_EQ(run(&rig).parked, 2, "two keys wait");
        ram_bus_refuse(rig.bus, NULL, 0);
        virtual_clock_advance(&rig.clock, 400 * US_PER_SECOND);
        sum = run(&rig);
        CHECK_EQ(sum.returned, 2, "both go on");
        CHECK_EQ(sum.delivered, COUNTS[i] + 3, "each event once");
        CHECK_EQ(parked(&rig).count, 0, "no key waits");
        CHECK_EQ(run(&rig).delivered, 0, "nothing comes again");
        end(&rig);
    }
}

TEST(a_key_that_skips_to_its_latest_event_leaves_out_the_others)
{
    struct rig rig;

    begin(&rig, POLICY_SKIP_TO_LATEST);
    change(&rig, 4, 3);
    ram_bus_refuse(rig.bus, "k00004", 2);
    (void)run(&rig);
    change(&rig, 4, 2);
    (void)run(&rig);
    ram_bus_refuse(rig.bus, NULL, 0);
    virtual_clock_advance(&rig.clock, 400 * US_PER_SECOND);
    CHECK_EQ(run(&rig).returned, 1, "delivered");
    CHECK_STR(versions(&rig, "k00004"), STR("1 6"), "events carry the state: the latest is all");
    end(&rig);
}

TEST(a_subscription_that_stops_stands_before_the_refused_event)
{
    struct rig rig;
    struct subscription after;
    struct lanes_round sum;
    struct error err = { 0 };
    bool found;

    begin(&rig, POLICY_STOP);
    change(&rig, 4, 3);
    ram_bus_refuse(rig.bus, "k00004", 3);
    sum = run(&rig);
    CHECK(sum.is_stopped, "stopped");
    REQUIRE_OK(store_subscription_find(rig.store, contract_arena(), KEY.subscription, &after,
                                       &found, &err),
               err);
    CHECK_EQ((int)after.state, SUBSCRIPTION_STOPPED, "for everybody");
    CHECK_STR(after.state_reason, STR("version 3 of crossref/works/k00004: not this one"), "why");
    CHECK_EQ(parked(&rig).count, 0, "nothing is parked");
    CHECK_STR(versions(&rig, "k00004"), STR("1 2"), "up to it");
    ram_bus_refuse(rig.bus, NULL, 0);
    REQUIRE_OK(relay_release(rig.relay, &err), err);
    relay_close(rig.relay);
    open_relay(&rig, "two");
    (void)run(&rig);
    CHECK_STR(versions(&rig, "k00004"), STR("1 2 3 4"), "and goes on there");
    end(&rig);
}

static bool make_some(void *context, struct arena *arena, const struct stream_event *event,
                      struct bus_message *message, struct error *err)
{
    if (str_eq(event->stored.provider_id, STR("k00004")))
        return error_set(err, ERROR_DATA, "event.body", "not an object");
    return relay_message_make(context, arena, event, message, err);
}

TEST(an_event_that_is_not_a_message_parks_its_key)
{
    struct rig rig;
    struct lanes_round sum;

    begin(&rig, POLICY_WAIT);
    rig.target.make = make_some;
    sum = run(&rig);
    CHECK_EQ(sum.delivered, KEYS - 1, "the others");
    REQUIRE(parked(&rig).count == 1, "one");
    CHECK_STR(parked(&rig).items[0].last_error, STR("not an object"), "why");
    end(&rig);
}

TEST(what_is_given_up_is_a_dead_letter_and_the_key_goes_on)
{
    struct give_up request = {
        .key = KEY, .aggregate_id = STR("k00004"), .reason = STR("by ann"), .now_us = NOW_US
    };
    struct given_up given;
    struct error err = { 0 };
    struct rig rig;

    begin(&rig, POLICY_WAIT);
    request.store = request.stream = rig.store;
    change(&rig, 4, 3);
    ram_bus_refuse(rig.bus, "k00004", 2);
    (void)run(&rig);
    ram_bus_refuse(rig.bus, NULL, 0);
    REQUIRE_OK(give_up(&request, &given, &err), err);
    CHECK_EQ(given.keys, 1, "one");
    CHECK_EQ(given.events, 3, "versions 2 to 4");
    /* The relay does not know yet: it passes over, finds the key gone, and delivers. */
    change(&rig, 4, 1);
    (void)run(&rig);
    CHECK_STR(versions(&rig, "k00004"), STR("1 5"), "the next one");
    REQUIRE_OK(give_up(&request, &given, &err), err);
    CHECK_EQ(given.keys, 0, "nothing waits");
    end(&rig);
}

/* ---- events that kill ---- */

static jmp_buf death;
static const char *deadly; /* the key */

static bool make_deadly(void *context, struct arena *arena, const struct stream_event *event,
                        struct bus_message *message, struct error *err)
{
    if (deadly != NULL && str_eq(event->stored.provider_id, str_of(deadly)) &&
        event->stored.event.version == 2)
        longjmp(death, 1);
    return relay_message_make(context, arena, event, message, err);
}

/* How often it died until nothing is left. */
static int live_and_die(struct rig *rig)
{
    volatile int deaths = 0;
    volatile int lives = 0;
    static char owner[16];

    for (;;) {
        lives++;
        REQUIRE(lives < 30, "it comes to an end");
        relay_close(rig->relay);
        (void)snprintf(owner, sizeof(owner), "life%d", (int)lives);
        open_relay(rig, owner);
        if (setjmp(death) == 0) {
            (void)run(rig);
            return (int)deaths;
        }
        store_rollback(rig->store);
        deaths++;
        virtual_clock_advance(&rig->clock, 20 * US_PER_SECOND);
    }
}

TEST(an_event_that_kills_its_reader_is_parked_and_others_go_on)
{
    struct rig rig;
    struct parked_list list;
    int deaths;

    begin(&rig, POLICY_WAIT);
    rig.target.make = make_deadly;
    change(&rig, 4, 3);
    change(&rig, 7, 2);
    deadly = "k00004";
    deaths = live_and_die(&rig);
    CHECK(deaths > LANES_CRASHES && deaths <= 3 * (LANES_CRASHES + 1), "after some deaths");
    list = parked(&rig);
    REQUIRE(list.count == 1, "the key that killed, no other");
    CHECK_STR(list.items[0].aggregate_id, STR("k00004"), "which");
    CHECK_EQ(list.items[0].head_version, 2, "at that event");
    CHECK_EQ(list.items[0].seen_version, 4, "what is behind it waits");
    CHECK_STR(first_versions(&rig, "k00007"), STR("1 2 3"), "others go on");
    /* Each try kills again: after some it is left alone. */
    for (int i = 0; i < 6; i++) {
        virtual_clock_advance(&rig.clock, 1000 * US_PER_SECOND);
        (void)live_and_die(&rig);
    }
    list = parked(&rig);
    CHECK_EQ(list.items[0].attempts_begun - list.items[0].attempts_ended, LANES_TRIES_LOST_MAX,
             "tries that never ended");
    deadly = NULL; /* mended; a person asks */
    {
        struct error err = { 0 };
        int64_t count;

        REQUIRE_OK(store_parked_retry(rig.store, &(struct parked_query){ KEY, STR(""), 0 },
                                      clock_now_us(&rig.clock.clock), &count, &err),
                   err);
    }
    virtual_clock_advance(&rig.clock, 20 * US_PER_SECOND);
    (void)run(&rig);
    CHECK_STR(first_versions(&rig, "k00004"), STR("1 2 3 4"), "in order");
    end(&rig);
}
