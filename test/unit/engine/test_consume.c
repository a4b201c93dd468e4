/* The consumer on SQLite, in virtual time, with a table that refuses on demand: what takes effect,
 * how often, and what is done with events at fault. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "contract.h"
#include "effect_log.h"
#include "engine/consume/consumer.h"
#include "engine/lanes/redrive.h"
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
    struct effect_log log;
    struct consumer *consumer;
    struct lanes_settings settings;
    struct log *lines; /* NULL: nobody reads them */
};

static struct consumer_parts parts_of(struct rig *rig)
{
    return (struct consumer_parts){ .sink = rig->store,
                                    .stream = rig->store,
                                    .clock = &rig->clock.clock,
                                    .random = &rig->random.source,
                                    .wake_fd = CLOCK_NO_WAKE,
                                    .log = rig->lines,
                                    .target = effect_log_target(&rig->log) };
}

static void open_consumer(struct rig *rig, const char *owner)
{
    const struct consumer_parts parts = parts_of(rig);
    struct error err = { 0 };

    rig->settings.subscription = &rig->subscription;
    rig->settings.owner = str_of(owner);
    REQUIRE_OK(consumer_open(&rig->consumer, &parts, &rig->settings, &err), err);
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
    const char *dsn = contract_ready_database();

    memset(rig, 0, sizeof(*rig));
    virtual_clock_init(&rig->clock, NOW_US);
    seeded_random_init(&rig->random, 3);
    effect_log_make(dsn);
    rig->store = contract_open(dsn);
    rig->log.sink = rig->store;
    rig->subscription =
        stream_rig_subscribe(rig->store, KEY.subscription, SUBSCRIPTION_PROJECTION, policy);
    (void)stream_rig_write(rig->store, "k", KEYS);
    publish_all(rig);
    open_consumer(rig, "one");
}

static void end(struct rig *rig)
{
    consumer_close(rig->consumer);
    store_close(rig->store);
    contract_end();
}

static struct lanes_round round_of(struct rig *rig)
{
    struct lanes_round round;
    struct error err = { 0 };

    REQUIRE_OK(consumer_round(rig->consumer, clock_now_us(&rig->clock.clock), &round, &err), err);
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
        sum.dead += round.dead;
        sum.is_stopped |= round.is_stopped;
    } while (round.has_more && !round.is_stopped);
    sum.lanes = round.lanes;
    sum.trouble = round.trouble;
    return sum;
}

static struct str versions(struct rig *rig, const char *id)
{
    return effect_log_versions(rig->store, contract_arena(), id);
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

static struct letter_list letters(struct rig *rig, bool has_redriven)
{
    struct letter_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_parked_letters(
                   rig->store, contract_arena(),
                   &(struct letter_query){ .key = KEY, .has_redriven = has_redriven, .limit = 100 },
                   &list, &err),
               err);
    return list;
}

static struct redriven redrive_all(struct rig *rig)
{
    const struct redrive_request request = { .store = rig->store,
                                             .stream = rig->store,
                                             .key = KEY,
                                             .by = STR("ann"),
                                             .now_us = clock_now_us(&rig->clock.clock) };
    struct redriven redriven;
    struct error err = { 0 };

    REQUIRE_OK(redrive(&request, &redriven, &err), err);
    return redriven;
}

/* Until the next try of whatever is parked. */
static void later(struct rig *rig)
{
    virtual_clock_advance(&rig->clock, 1000 * US_PER_SECOND);
}

/* ---- how it should be ---- */

TEST(every_event_takes_effect_once_and_in_order)
{
    struct rig rig;
    struct lanes_round sum;

    begin(&rig, POLICY_WAIT);
    change(&rig, 4, 5);
    sum = run(&rig);
    CHECK_EQ(sum.delivered, KEYS + 5, "all");
    CHECK_EQ(sum.lanes, OUTBOX_LANES, "by itself");
    CHECK_EQ(rig.log.writes, 1, "in one transaction");
    CHECK_STR(versions(&rig, "k00004"), STR("1 2 3 4 5 6"), "one after the other");
    CHECK_EQ(run(&rig).delivered, 0, "once");
    change(&rig, 4, 1);
    CHECK_EQ(run(&rig).delivered, 1, "the next one");
    end(&rig);
}

TEST(a_batch_has_so_many_events_and_bytes)
{
    struct rig rig;

    begin(&rig, POLICY_WAIT);
    consumer_close(rig.consumer);
    rig.settings.batch_max = 10;
    open_consumer(&rig, "two");
    virtual_clock_advance(&rig.clock, 20 * US_PER_SECOND);
    CHECK(round_of(&rig).delivered <= OUTBOX_LANES, "one of each lane");
    (void)run(&rig);
    CHECK_EQ(effect_log_read(rig.store, contract_arena()).count, KEYS, "all, at last");
    end(&rig);
}

/* ---- events at fault ---- */

TEST(a_batch_is_halved_until_the_event_at_fault_stands_alone)
{
    struct rig rig;
    struct lanes_round sum;
    struct parked_list list;

    begin(&rig, POLICY_WAIT);
    change(&rig, 4, 3);
    rig.log.refuse = "k00004";
    rig.log.refuse_from = 2;
    sum = run(&rig);
    CHECK_EQ(sum.delivered, KEYS, "all others");
    CHECK_EQ(sum.parked, 1, "the key");
    CHECK_EQ(sum.passed, 2, "what is behind it");
    CHECK(rig.log.writes <= 20, "some halvings, not a transaction per event");
    CHECK_EQ(effect_log_read(rig.store, contract_arena()).count, KEYS, "each once");
    list = parked(&rig);
    REQUIRE(list.count == 1, "one");
    CHECK_STR(list.items[0].aggregate_id, STR("k00004"), "which");
    CHECK_EQ(list.items[0].head_version, 2, "head");
    CHECK_EQ(list.items[0].seen_version, 4, "seen");
    CHECK_STR(list.items[0].last_error, STR("a table refuses a row"), "why");
    rig.log.refuse = NULL;
    later(&rig);
    CHECK_EQ(run(&rig).returned, 1, "mended");
    CHECK_STR(versions(&rig, "k00004"), STR("1 2 3 4"), "in order");
    CHECK_EQ(parked(&rig).count, 0, "nothing waits");
    end(&rig);
}

TEST(events_that_cannot_be_made_into_rows_are_parked_without_halving)
{
    struct rig rig;
    struct lanes_round sum;

    begin(&rig, POLICY_WAIT);
    rig.log.unfit = "k0000"; /* ten of the keys */
    sum = run(&rig);
    CHECK_EQ(sum.delivered, KEYS - 10, "others");
    CHECK_EQ(sum.parked, 10, "these");
    CHECK(rig.log.writes <= 11, "a transaction between two of them");
    rig.log.unfit = NULL;
    later(&rig);
    CHECK_EQ(run(&rig).delivered, 10, "all");
    CHECK_EQ(effect_log_read(rig.store, contract_arena()).count, KEYS, "each once");
    end(&rig);
}

static int64_t no_time(void *context)
{
    (void)context;
    return NOW_US;
}

static int count_in(FILE *file, const char *text)
{
    char line[1024];
    int count = 0;

    rewind(file);
    while (fgets(line, sizeof(line), file) != NULL)
        count += strstr(line, text) != NULL;
    return count;
}

/* As when a column has a type that no event fits. */
TEST(the_log_has_the_first_keys_and_how_many_there_were_more)
{
    FILE *file = tmpfile();
    struct log log = { .fd = fileno(file), .level = LOG_WARN, .now_us = no_time };
    struct rig rig;

    begin(&rig, POLICY_WAIT);
    consumer_close(rig.consumer);
    rig.lines = &log;
    open_consumer(&rig, "two");
    (void)stream_rig_write(rig.store, "m", 100);
    publish_all(&rig);
    rig.log.unfit = "0";
    CHECK_EQ(run(&rig).parked, 100 + KEYS, "all");
    end(&rig);
    CHECK_EQ(count_in(file, "key parked"), 50, "some of them");
    CHECK_EQ(count_in(file, "not logged one by one subscription=works lines=80"), 1, "the rest");
    (void)fclose(file);
}

TEST(of_what_waits_as_much_is_applied_as_is_well)
{
    struct rig rig;

    begin(&rig, POLICY_WAIT);
    change(&rig, 4, 7);
    rig.log.refuse = "k00004";
    rig.log.refuse_from = 2;
    (void)run(&rig);
    rig.log.refuse_from = 5;
    later(&rig);
    (void)run(&rig);
    CHECK_STR(versions(&rig, "k00004"), STR("1 2 3 4"), "up to the next one");
    CHECK_EQ(parked(&rig).items[0].head_version, 5, "there it waits");
    CHECK_EQ(parked(&rig).items[0].seen_version, 8, "with what is behind");
    rig.log.refuse = NULL;
    later(&rig);
    (void)run(&rig);
    CHECK_STR(versions(&rig, "k00004"), STR("1 2 3 4 5 6 7 8"), "all");
    end(&rig);
}

TEST(skip_to_latest_applies_the_last_version_alone)
{
    struct rig rig;

    begin(&rig, POLICY_SKIP_TO_LATEST);
    change(&rig, 4, 3);
    rig.log.refuse = "k00004";
    rig.log.refuse_from = 2;
    (void)run(&rig);
    rig.log.refuse = NULL;
    later(&rig);
    (void)run(&rig);
    CHECK_STR(versions(&rig, "k00004"), STR("1 4"), "the last");
    end(&rig);
}

TEST(stop_stops_the_subscription_before_the_event)
{
    struct rig rig;
    struct subscription row;
    struct error err = { 0 };
    bool found;

    begin(&rig, POLICY_STOP);
    rig.log.refuse = "k00004";
    rig.log.refuse_from = 1;
    CHECK(run(&rig).is_stopped, "stopped");
    REQUIRE_OK(
        store_subscription_find(rig.store, contract_arena(), KEY.subscription, &row, &found, &err),
        err);
    CHECK_EQ(row.state, SUBSCRIPTION_STOPPED, "for all");
    CHECK(memmem(row.state_reason.data, row.state_reason.len, "k00004", 6) != NULL, "and why");
    CHECK_EQ(parked(&rig).count, 0, "nothing is parked");
    CHECK_STR(versions(&rig, "k00004"), STR(""), "it did not take effect");
    rig.log.refuse = NULL;
    (void)run(&rig);
    CHECK_EQ(effect_log_read(rig.store, contract_arena()).count, KEYS, "each once");
    end(&rig);
}

/* ---- dead letters ---- */

TEST(after_so_many_attempts_an_event_is_a_dead_letter_and_its_key_goes_on)
{
    struct rig rig;
    struct letter_list list;

    begin(&rig, POLICY_WAIT);
    consumer_close(rig.consumer);
    rig.settings.attempts_max = 3;
    open_consumer(&rig, "two");
    change(&rig, 4, 3);
    rig.log.unfit = "k00004";
    (void)run(&rig);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(letters(&rig, false).count, 0, "not yet");
        later(&rig);
        (void)run(&rig);
    }
    list = letters(&rig, false);
    REQUIRE(list.count == 1, "the first");
    CHECK_EQ(list.items[0].dead.version, 1, "which");
    CHECK_EQ(list.items[0].dead.attempts, 3, "how often it was tried");
    CHECK_STR(list.items[0].dead.reason, STR("k00004 does not fit"), "why");
    CHECK(list.items[0].dead.envelope.len > 0, "what it was");
    rig.log.unfit = NULL; /* the others are well */
    later(&rig);
    (void)run(&rig);
    CHECK_STR(versions(&rig, "k00004"), STR("2 3 4"), "later versions go on");
    CHECK_EQ(parked(&rig).count, 0, "nothing waits");
    end(&rig);
}

TEST(a_dead_letter_is_redriven_and_what_comes_waits_for_it)
{
    struct rig rig;
    struct letter_list list;

    begin(&rig, POLICY_WAIT);
    consumer_close(rig.consumer);
    rig.settings.attempts_max = 1;
    open_consumer(&rig, "two");
    rig.log.unfit = "k00004";
    (void)run(&rig);
    later(&rig);
    (void)run(&rig);
    REQUIRE(letters(&rig, false).count == 1, "one");
    CHECK_EQ(redrive_all(&rig).events, 1, "redriven");
    CHECK_EQ(redrive_all(&rig).events, 0, "once");
    list = letters(&rig, true);
    REQUIRE(list.count == 1 && letters(&rig, false).count == 0, "it stays, marked");
    CHECK_STR(list.items[0].redriven_by, STR("ann"), "by whom");
    /* Still at fault: it is a dead letter again, and so is the next one. */
    later(&rig);
    change(&rig, 4, 1);
    (void)run(&rig);
    CHECK_STR(versions(&rig, "k00004"), STR(""), "neither");
    CHECK_EQ(letters(&rig, false).count, 2, "dead again, and not redriven");
    rig.log.unfit = NULL;
    CHECK_EQ(redrive_all(&rig).events, 2, "once more");
    later(&rig);
    (void)run(&rig);
    CHECK_STR(versions(&rig, "k00004"), STR("1 2"), "in order");
    CHECK_EQ(letters(&rig, false).count, 0, "no letter is left");
    end(&rig);
}

/* ---- the sink ---- */

TEST(a_sink_that_a_person_must_mend_is_waited_for)
{
    struct reader_state_list readers;
    struct error err = { 0 };
    struct rig rig;

    begin(&rig, POLICY_WAIT);
    rig.log.is_broken = true;
    CHECK(run(&rig).trouble != NULL, "it cannot go on");
    CHECK_EQ(parked(&rig).count, 0, "no event is at fault");
    CHECK_EQ(rig.log.writes, 1, "it waits");
    virtual_clock_advance(&rig.clock, US_PER_SECOND);
    (void)run(&rig);
    CHECK_EQ(rig.log.writes, 1, "for a while");
    REQUIRE_OK(store_offset_readers(rig.store, contract_arena(), &KEY, &readers, &err), err);
    REQUIRE(readers.count == 1, "a reader");
    CHECK_STR(readers.items[0].error, STR("no such table"), "which says why");
    rig.log.is_broken = false;
    virtual_clock_advance(&rig.clock, 20 * US_PER_SECOND);
    CHECK_EQ(run(&rig).delivered, KEYS, "mended");
    virtual_clock_advance(&rig.clock, 20 * US_PER_SECOND);
    (void)run(&rig);
    REQUIRE_OK(store_offset_readers(rig.store, contract_arena(), &KEY, &readers, &err), err);
    CHECK_STR(readers.items[0].error, STR(""), "and says so");
    end(&rig);
}

/* ---- events that kill ---- */

static jmp_buf death;
static bool is_deadly;

/* Dies of a batch with the key. */
static bool make_deadly(void *context, struct arena *arena, const struct project_event *events,
                        size_t count, const void **made, size_t *failed, struct error *err)
{
    struct consume_target plain = effect_log_target(context);

    for (size_t i = 0; i < count; i++) {
        if (is_deadly && str_eq(events[i].aggregate_id, STR("k00004")))
            longjmp(death, 1);
    }
    return plain.make(context, arena, events, count, made, failed, err);
}

TEST(an_event_that_kills_its_consumer_is_parked_and_others_go_on)
{
    struct rig rig;
    struct consumer_parts parts;
    struct error err = { 0 };
    volatile int deaths = 0;
    static char owner[16];
    struct parked_list list;

    begin(&rig, POLICY_WAIT);
    is_deadly = true;
    parts = parts_of(&rig);
    parts.target.make = make_deadly;
    for (volatile bool is_over = false; !is_over;) {
        REQUIRE(deaths < 40, "it comes to an end");
        consumer_close(rig.consumer);
        (void)snprintf(owner, sizeof(owner), "life%d", (int)deaths);
        rig.settings.owner = str_of(owner);
        REQUIRE_OK(consumer_open(&rig.consumer, &parts, &rig.settings, &err), err);
        if (setjmp(death) == 0) {
            (void)run(&rig);
            is_over = true;
        } else {
            store_rollback(rig.store);
            deaths++;
            virtual_clock_advance(&rig.clock, 20 * US_PER_SECOND);
        }
    }
    is_deadly = false;
    CHECK(deaths > LANES_CRASHES && deaths <= 3 * (LANES_CRASHES + 1), "after some deaths");
    list = parked(&rig);
    REQUIRE(list.count == 1, "the key that killed, no other");
    CHECK_STR(list.items[0].aggregate_id, STR("k00004"), "which");
    CHECK_EQ(effect_log_read(rig.store, contract_arena()).count, KEYS - 1, "others, each once");
    end(&rig);
}
