/* Removing old events: what goes, what stays, and for whom. */
#include <stdio.h>

#include "contract.h"
#include "port/store_offset.h"
#include "port/store_prune.h"
#include "port/store_record.h"
#include "port/store_stream.h"
#include "port/store_subscription.h"
#include "rows.h"
#include "sql.h"
#include "stream_rig.h"
#include "stream_sql.h"

#define LATER_US (NOW_US + US_PER_DAY)

struct site {
    const char *dsn;
    struct store *store;
    struct sequencer *sequencer;
};

/* 200 events, in the stream at NOW_US. */
static void begin(struct site *site)
{
    site->dsn = contract_migrated(contract_new_database());
    site->store = contract_open(site->dsn);
    site->sequencer = stream_rig_sequencer(site->store, "one");
    (void)stream_rig_write(site->store, "a", 200);
    CHECK_EQ(stream_rig_round(site->sequencer, NOW_US).appended, 200, "in the stream");
}

static void end(struct site *site)
{
    sequencer_close(site->sequencer);
    store_close(site->store);
    contract_end();
}

static int64_t prune(struct site *site, int64_t before_us)
{
    struct error err = { 0 };
    int64_t could, events;

    REQUIRE_OK(store_prune_count(site->store, before_us, &could, &err), err);
    REQUIRE_OK(store_prune_run(site->store, contract_arena(), before_us, &events, &err), err);
    CHECK_EQ(events, could, "as many as were counted");
    return events;
}

static void apply(struct site *site, const char *name, enum subscription_kind kind)
{
    const struct subscription_apply apply = { .name = str_of(name),
                                              .kind = kind,
                                              .spec = STR("{}"),
                                              .spec_hash = STR(HASH_A),
                                              .applied_by = STR("test"),
                                              .now_us = NOW_US };
    struct subscription_applied applied;
    struct store *owner = contract_open_owner(site->dsn);
    struct error err = { 0 };

    REQUIRE_OK(store_subscription_apply(owner, &apply, &applied, &err), err);
    store_close(owner);
}

TEST(old_events_go_and_younger_ones_stay)
{
    struct error err = { 0 };
    struct site site;
    int64_t first, last;

    begin(&site);
    first = sql_number(site.dsn, "SELECT max(id) FROM ing_outbox");
    (void)stream_rig_write(site.store, "b", 50);
    CHECK_EQ(stream_rig_round(site.sequencer, LATER_US).appended, 50, "a day later");
    CHECK_EQ(prune(&site, NOW_US), 0, "none entered before");
    REQUIRE_OK(store_prune_last(site.store, &last, &err), err);
    CHECK_EQ(last, 0, "none was removed");
    CHECK_EQ(prune(&site, NOW_US + 1), 200, "those of the first day");
    CHECK_EQ(prune(&site, NOW_US + 1), 0, "once");
    CHECK_EQ(sql_number(site.dsn, "SELECT count(*) FROM ing_outbox"), 50, "the rest");
    REQUIRE_OK(store_prune_last(site.store, &last, &err), err);
    CHECK_EQ(last, first, "how far events are gone");
    CHECK_EQ(sql_number(site.dsn, "SELECT sum(last_pos) FROM ing_stream_lane"), 250,
             "positions go on");
    CHECK_EQ(sql_number(site.dsn, "SELECT count(*) FROM ing_record"), 250, "records stay");
    (void)stream_rig_write(site.store, "c", 3);
    CHECK_EQ(stream_rig_round(site.sequencer, LATER_US).appended, 3, "it goes on");
    CHECK_EQ(prune(&site, LATER_US + 1), 53, "all of them");
    CHECK_EQ(sql_number(site.dsn, "SELECT count(*) FROM ing_stream"), 0, "no part is left");
    end(&site);
}

TEST(what_a_subscription_has_not_read_stays_also_if_it_is_paused)
{
    const struct subscription_change pause = {
        .name = STR("slow"), .state = SUBSCRIPTION_PAUSED, .reason = STR("a test"), .now_us = NOW_US
    };
    struct prune_held held;
    struct error err = { 0 };
    struct site site;
    int64_t read;
    bool changed;

    begin(&site);
    apply(&site, "slow", SUBSCRIPTION_RELAY);
    apply(&site, "fast", SUBSCRIPTION_PROJECTION);
    sql_run(site.dsn, "UPDATE ing_offset SET stream_pos = 1000 WHERE subscription = 'fast'");
    CHECK_EQ(prune(&site, LATER_US), 0, "slow has read nothing");
    sql_run(site.dsn,
            "UPDATE ing_offset SET stream_pos = (SELECT last_pos FROM ing_stream_lane AS l"
            " WHERE l.lane = ing_offset.lane)"
            " WHERE subscription = 'slow' AND lane < 20");
    REQUIRE_OK(store_subscription_set_state(site.store, &pause, &changed, &err), err);
    read = sql_number(site.dsn, "SELECT count(*) FROM ing_outbox WHERE lane < 20");
    REQUIRE(read > 0 && read < 200, "some lanes");
    CHECK_EQ(prune(&site, LATER_US), read, "the lanes that it has read");
    REQUIRE_OK(store_prune_held(site.store, contract_arena(), LATER_US, &held, &err), err);
    CHECK_EQ(held.events, 200 - read, "the others");
    CHECK_STR(held.subscription, STR("slow"), "who");
    CHECK_EQ(held.behind, 200 - read, "how far");
    sql_run(site.dsn, "UPDATE ing_offset SET stream_pos = 1000 WHERE subscription = 'slow'");
    CHECK_EQ(prune(&site, LATER_US), 200 - read, "the rest");
    end(&site);
}

TEST(imports_and_subscriptions_that_are_gone_hold_nothing)
{
    struct site site;

    begin(&site);
    apply(&site, "feed", SUBSCRIPTION_IMPORT);
    apply(&site, "gone", SUBSCRIPTION_RELAY);
    sql_run(site.dsn, "DELETE FROM ing_subscription WHERE name = 'gone'");
    CHECK_EQ(prune(&site, LATER_US), 200, "all of them");
    end(&site);
}

/* One that has no row for a lane has not read it. */
TEST(a_subscription_without_an_offset_has_read_nothing)
{
    struct site site;

    begin(&site);
    apply(&site, "new", SUBSCRIPTION_RELAY);
    sql_run(site.dsn, "DELETE FROM ing_offset");
    CHECK_EQ(prune(&site, LATER_US), 0, "nothing");
    end(&site);
}

static void park(struct site *site, const char *record, int64_t head)
{
    char sql[1024];

    (void)snprintf(
        sql, sizeof(sql),
        "INSERT INTO ing_parked (consumer_group, subscription, aggregate_type, aggregate_id,"
        " record_id, lane, head_version, seen_version, attempts_begun, attempts_ended, policy_code,"
        " next_retry_at, last_error, parked_at) SELECT 'patra', 'slow', 'crossref/works',"
        " r.provider_id, r.id, o.lane, %lld, 9, 1, 1, 'WAIT', o.occurred_at, '', o.occurred_at"
        " FROM ing_record AS r JOIN ing_outbox AS o ON o.record_id = r.id AND o.version = %lld"
        " WHERE r.provider_id = '%s'",
        (long long)head, (long long)head, record);
    sql_run(site->dsn, sql);
}

TEST(events_of_parked_keys_wait_for_them)
{
    struct error err = { 0 };
    struct site site;
    int64_t lane, later;

    begin(&site);
    REQUIRE_OK(store_begin(site.store, &err), err);
    stream_rig_change(site.store, "a", 7);
    REQUIRE_OK(store_commit(site.store, &err), err);
    (void)stream_rig_round(site.sequencer, NOW_US);
    park(&site, "a00007", 2);
    lane = sql_number(site.dsn, "SELECT lane FROM ing_parked");
    later = prune(&site, LATER_US);
    CHECK_EQ(later, 200, "all but the event that waits: the first of its lane is older");
    CHECK_EQ(sql_number(site.dsn, "SELECT version FROM ing_outbox"), 2, "that one");
    (void)stream_rig_write(site.store, "b", 300);
    (void)stream_rig_round(site.sequencer, NOW_US);
    (void)prune(&site, LATER_US);
    CHECK_EQ(sql_number(site.dsn, "SELECT count(DISTINCT lane) FROM ing_outbox"), 1, "its lane");
    CHECK_EQ(sql_number(site.dsn, "SELECT min(lane) FROM ing_outbox"), lane, "its lane");
    CHECK_EQ(sql_number(site.dsn, "SELECT min(version) FROM ing_outbox WHERE id ="
                                  " (SELECT min(id) FROM ing_outbox)"),
             2, "from there on");
    sql_run(site.dsn, "DELETE FROM ing_parked");
    CHECK(prune(&site, LATER_US) > 0, "and then it goes, too");
    CHECK_EQ(sql_number(site.dsn, "SELECT count(*) FROM ing_outbox"), 0, "all of it");
    end(&site);
}

TEST(many_events_go_in_several_steps)
{
    struct error err = { 0 };
    struct site site;
    int64_t events, steps = 0, sum = 0;

    begin(&site);
    for (int i = 0; i < 24; i++) {
        char prefix[8];

        (void)snprintf(prefix, sizeof(prefix), "m%d-", i);
        (void)stream_rig_write(site.store, prefix, 500);
    }
    while (stream_rig_round(site.sequencer, NOW_US).appended > 0)
        ;
    do {
        REQUIRE_OK(store_prune_run(site.store, contract_arena(), LATER_US, &events, &err), err);
        CHECK(events < PRUNE_EVENTS_MAX + SEQUENCER_ROUND_MAX, "a step is small");
        sum += events;
        steps++;
    } while (events > 0);
    CHECK_EQ(sum, 12200, "all of them");
    CHECK(steps > 2, "in steps");
    end(&site);
}

/* What is above the horizon must be found by the sequencer that takes over. */
TEST(what_is_above_the_horizon_stays)
{
    struct sequencer *other;
    struct site site;

    begin(&site);
    sql_run(site.dsn, "UPDATE ing_stream_head SET horizon_id ="
                      " (SELECT id FROM ing_outbox ORDER BY id LIMIT 1 OFFSET 99)");
    CHECK(prune(&site, LATER_US) <= 100, "below it");
    CHECK(sql_number(site.dsn, "SELECT count(*) FROM ing_outbox") >= 100, "above it");
    other = stream_rig_sequencer(site.store, "two");
    CHECK_EQ(stream_rig_round(other, LATER_US).appended, 0, "nothing twice");
    sequencer_close(other);
    end(&site);
}

/* What was removed is not waited for: a new subscription, and one that is moved back, begin with
 * the first event that is there. */
TEST(who_begins_later_begins_with_what_is_there)
{
    struct offset_seek seek = { .key = { STR("patra"), STR("late") },
                                .reason = STR("a test"),
                                .by = STR("test"),
                                .now_us = NOW_US };
    struct error err = { 0 };
    struct site site;
    bool found;

    begin(&site);
    CHECK_EQ(prune(&site, LATER_US), 200, "all of them");
    (void)stream_rig_write(site.store, "b", 100);
    CHECK_EQ(stream_rig_round(site.sequencer, LATER_US).appended, 100, "new ones");
    apply(&site, "late", SUBSCRIPTION_RELAY);
    CHECK_EQ(sql_number(site.dsn, "SELECT sum(stream_pos) FROM ing_offset"), 200,
             "after those that are gone");
    for (seek.lane = 0; seek.lane < OUTBOX_LANES; seek.lane++)
        REQUIRE_OK(store_offset_seek(site.store, &seek, &found, &err), err);
    CHECK_EQ(sql_number(site.dsn, "SELECT sum(stream_pos) FROM ing_offset"), 200,
             "to the beginning is not further back");
    CHECK_EQ(sql_number(site.dsn, "SELECT sum(new_pos) FROM ing_offset_reset"), 200, "as noted");
    end(&site);
}
