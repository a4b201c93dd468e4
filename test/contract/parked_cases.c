/* Parked keys and dead letters over every store: what was passed over, tried, given up, redriven.
 */
#include "contract.h"
#include "offset_rig.h"
#include "port/store_parked.h"
#include "stream_rig.h"

static struct parked parked_key(const char *id, int64_t head)
{
    return (struct parked){ .aggregate_type = STR("crossref/works"),
                            .aggregate_id = str_of(id),
                            .record_id = 17,
                            .lane = 5,
                            .head_version = head,
                            .seen_version = head,
                            .policy = POLICY_WAIT,
                            .next_retry_us = NOW_US + 10,
                            .last_error = STR("too large"),
                            .parked_us = NOW_US };
}

static struct parked_list parked_of(struct store *store, const char *id)
{
    struct parked_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_parked_list(store, contract_arena(),
                                 &(struct parked_query){ OFFSET_KEY, str_of(id), 100 }, &list,
                                 &err),
               err);
    return list;
}

static bool pass(struct store *store, const char *id, int64_t seen)
{
    const struct parked_pass one = { STR("crossref/works"), str_of(id), seen, seen };
    struct error err = { 0 };
    bool all;

    REQUIRE_OK(store_parked_pass(store, &OFFSET_KEY, &one, 1, &all, &err), err);
    return all;
}

TEST(a_parked_key_remembers_what_was_passed_over)
{
    struct store *store = contract_store();
    struct parked a = parked_key("10.1/a", 4);
    struct parked_list list;
    struct error err = { 0 };
    int64_t count;
    bool ok;

    offset_rig_subscribe(false);
    CHECK(!pass(store, "10.1/a", 5), "not parked yet");
    REQUIRE_OK(store_parked_put(store, &OFFSET_KEY, &a, &err), err);
    CHECK(pass(store, "10.1/a", 6), "passed over");
    CHECK(pass(store, "10.1/a", 5), "an earlier one, once more");
    list = parked_of(store, "");
    REQUIRE(list.count == 1, "one key");
    CHECK_EQ(list.items[0].head_version, 4, "head");
    CHECK_EQ(list.items[0].seen_version, 6, "seen never goes back");
    CHECK_EQ(list.items[0].record_id, 17, "record");
    CHECK_EQ((int)list.items[0].policy, POLICY_WAIT, "policy");
    CHECK_STR(list.items[0].last_error, STR("too large"), "error");
    a.head_version = 2;
    a.seen_version = 9;
    REQUIRE_OK(store_parked_put(store, &OFFSET_KEY, &a, &err), err);
    list = parked_of(store, "10.1/a");
    CHECK_EQ(list.items[0].head_version, 2, "all that waits");
    CHECK_EQ(list.items[0].seen_version, 9, "with what was seen since");
    CHECK_STR(list.items[0].last_error, STR("too large"), "the rest of the row stays");
    CHECK_EQ(parked_of(store, "10.1/b").count, 0, "another key");
    REQUIRE_OK(store_parked_count(store, &OFFSET_KEY, &count, &err), err);
    CHECK_EQ(count, 1, "counted");
    CHECK(pass(store, "10.1/a", 1), "the lane was moved back");
    CHECK_EQ(parked_of(store, "").items[0].head_version, 1, "that one waits too");
    a = list.items[0];
    a.seen_version = 8;
    REQUIRE_OK(store_parked_remove(store, &OFFSET_KEY, &a, &ok, &err), err);
    CHECK(!ok, "a later event waits");
    a.seen_version = 9;
    REQUIRE_OK(store_parked_remove(store, &OFFSET_KEY, &a, &ok, &err), err);
    CHECK(ok, "nothing waits any more");
    CHECK(!pass(store, "10.1/a", 10), "its next event is delivered");
    contract_end();
}

TEST(a_try_is_written_down_before_and_after)
{
    struct store *store = contract_store();
    struct parked a = parked_key("10.1/a", 4);
    struct parked_list list;
    struct error err = { 0 };
    int64_t count;
    bool found;

    offset_rig_subscribe(false);
    REQUIRE_OK(store_parked_put(store, &OFFSET_KEY, &a, &err), err);
    CHECK(pass(store, "10.1/a", 8), "more wait");
    a.next_retry_us = NOW_US + 100;
    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(store_parked_begin(store, &OFFSET_KEY, &a, &found, &err), err);
        CHECK(found, "begun");
    }
    list = parked_of(store, "");
    CHECK_EQ(list.items[0].attempts_begun, 2, "two were begun");
    CHECK_EQ(list.items[0].attempts_ended, 0, "none has ended");
    CHECK_EQ(list.items[0].next_retry_us, NOW_US + 100, "not at once again");
    a.head_version = 6;
    a.last_error = STR("still too large");
    REQUIRE_OK(store_parked_end(store, &OFFSET_KEY, &a, &found, &err), err);
    CHECK(found, "4 and 5 were delivered");
    list = parked_of(store, "");
    CHECK_EQ(list.items[0].head_version, 6, "head");
    CHECK_EQ(list.items[0].attempts_begun, 0, "version 6 has its own");
    CHECK_EQ(list.items[0].attempts_ended, 0, "likewise");
    CHECK_STR(list.items[0].last_error, STR("still too large"), "error");
    a.head_version = 4;
    REQUIRE_OK(store_parked_begin(store, &OFFSET_KEY, &a, &found, &err), err);
    CHECK(!found, "it is further than that");
    REQUIRE_OK(store_parked_end(store, &OFFSET_KEY, &a, &found, &err), err);
    CHECK(!found, "and never goes back");
    a.head_version = 6;
    REQUIRE_OK(store_parked_begin(store, &OFFSET_KEY, &a, &found, &err), err);
    REQUIRE_OK(store_parked_retry(store, &(struct parked_query){ OFFSET_KEY, STR("10.1/a"), 0 },
                                  NOW_US + 1, &count, &err),
               err);
    CHECK_EQ(count, 1, "by a person");
    list = parked_of(store, "");
    CHECK_EQ(list.items[0].next_retry_us, NOW_US + 1, "now");
    CHECK_EQ(list.items[0].attempts_ended, 1, "nothing is held against it");
    contract_end();
}

TEST(versions_of_a_parked_key_are_read_back)
{
    struct store *store = contract_store();
    struct stream_place places[OUTBOX_LANES];
    struct stream_event_list all, list;
    struct parked parked = { 0 };
    struct error err = { 0 };

    (void)stream_rig_write(store, "a", 3);
    for (int i = 0; i < 5; i++) {
        REQUIRE_OK(store_begin(store, &err), err);
        stream_rig_change(store, "a", 1);
        REQUIRE_OK(store_commit(store, &err), err);
    }
    offset_rig_publish(store);
    for (int i = 0; i < OUTBOX_LANES; i++)
        places[i] = (struct stream_place){ i, 0 };
    all = offset_rig_read(store, &(struct stream_read){ places, OUTBOX_LANES, 100, 1 << 20 });
    for (size_t i = 0; i < all.count; i++) {
        if (all.items[i].stored.event.version == 6)
            parked.record_id = all.items[i].record_id;
    }
    REQUIRE(parked.record_id > 0, "six versions");
    REQUIRE_OK(store_parked_events(store, contract_arena(),
                                   &(struct parked_events){ &parked, 2, 5, 3 }, &list, &err),
               err);
    REQUIRE(list.count == 3, "up to the limit");
    for (size_t i = 0; i < list.count; i++) {
        CHECK_EQ(list.items[i].stored.event.version, (int64_t)i + 2, "in order");
        CHECK_STR(list.items[i].stored.provider_id, STR("a00001"), "of the key");
        CHECK(list.items[i].stored.event.body.len > 0, "with bodies");
    }
    contract_end();
}

TEST(a_dead_letter_is_kept_once)
{
    const char *dsn = contract_ready_database();
    struct store *store = contract_open(dsn);
    const struct dead_letter letter = { .event_id = STR("01890000-0000-7000-8000-000000000001"),
                                        .aggregate_type = STR("crossref/works"),
                                        .aggregate_id = STR("10.1/a"),
                                        .version = 4,
                                        .reason = STR("too large"),
                                        .attempts = 3,
                                        .envelope = STR("{}"),
                                        .dead_us = NOW_US };
    struct error err = { 0 };
    uint64_t once;

    REQUIRE_OK(store_parked_bury(store, &OFFSET_KEY, &letter, &err), err);
    once = contract_digest();
    REQUIRE_OK(store_parked_bury(store, &OFFSET_KEY, &letter, &err), err);
    CHECK(contract_digest() == once, "once");
    store_close(store);
    contract_end();
}

/* ---- seeking ---- */

/* With its parked keys, events of these keys that are delivered again would wait for themselves. */
TEST(a_seek_overtakes_the_owner_and_forgets_parked_keys)
{
    struct store *store = contract_store();
    const struct parked a = parked_key("10.1/a", 4);
    struct parked b = parked_key("10.1/b", 4);
    struct offset_seek seek = { OFFSET_KEY, 5, 2, STR("again"), STR("ann"), NOW_US };
    struct offset_lane_list list;
    struct error err = { 0 };
    bool found;

    offset_rig_subscribe(false);
    list = offset_rig_claim(store, "one", NOW_US, OUTBOX_LANES);
    CHECK(offset_rig_save(store, &list.items[5], 9, NOW_US), "at 9");
    REQUIRE_OK(store_parked_put(store, &OFFSET_KEY, &a, &err), err);
    b.lane = 6;
    REQUIRE_OK(store_parked_put(store, &OFFSET_KEY, &b, &err), err);
    REQUIRE_OK(store_offset_seek(store, &seek, &found, &err), err);
    CHECK(found, "moved back");
    CHECK(!offset_rig_save(store, &list.items[5], 10, NOW_US), "its owner is overtaken");
    list = offset_rig_claim(store, "two", NOW_US, OUTBOX_LANES);
    REQUIRE(list.count == 1, "that lane is free");
    CHECK_EQ(list.items[0].pos, 2, "from there");
    CHECK_EQ(list.items[0].ack_id.len, 0, "what the bus has is unknown");
    CHECK_EQ(parked_of(store, "10.1/a").count, 0, "its parked keys are forgotten");
    CHECK_EQ(parked_of(store, "10.1/b").count, 1, "those of other lanes are not");
    seek.key.subscription = STR("other");
    REQUIRE_OK(store_offset_seek(store, &seek, &found, &err), err);
    CHECK(!found, "no such subscription");
    contract_end();
}

/* ---- dead letters ---- */

TEST(a_dead_letter_is_kept_and_redriven_once)
{
    struct store *store = contract_store();
    const struct dead_letter dead = { .event_id = STR("01890000-0000-7000-8000-000000000001"),
                                      .aggregate_type = STR("crossref/works"),
                                      .aggregate_id = STR("10.1/a"),
                                      .version = 4,
                                      .reason = STR("too large"),
                                      .attempts = 3,
                                      .envelope = STR("{}"),
                                      .dead_us = NOW_US };
    struct letter_query query = { .key = OFFSET_KEY, .limit = 10 };
    struct dead_letter again = dead;
    struct letter_list list;
    struct redrive redrive = {
        .key = OFFSET_KEY, .record_id = 17, .lane = 5, .by = STR("ann"), .now_us = NOW_US + 5
    };
    struct error err = { 0 };
    int64_t count;
    bool done;

    offset_rig_subscribe(false);
    REQUIRE_OK(store_parked_bury(store, &OFFSET_KEY, &dead, &err), err);
    REQUIRE_OK(store_parked_letters(store, contract_arena(), &query, &list, &err), err);
    REQUIRE(list.count == 1, "one");
    CHECK_STR(list.items[0].dead.event_id, dead.event_id, "event");
    CHECK_STR(list.items[0].dead.reason, STR("too large"), "reason");
    CHECK_STR(list.items[0].dead.envelope, STR("{}"), "envelope");
    CHECK_EQ(list.items[0].dead.attempts, 3, "attempts");
    CHECK_EQ(list.items[0].dead.dead_us, NOW_US, "since");
    redrive.letter = &list.items[0];
    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(store_begin(store, &err), err);
        REQUIRE_OK(store_parked_redrive(store, &redrive, &done, &err), err);
        REQUIRE_OK(store_commit(store, &err), err);
        CHECK_EQ(done, i == 0, "once");
    }
    REQUIRE(parked_of(store, "").count == 1, "its key waits");
    CHECK_EQ(parked_of(store, "").items[0].head_version, 4, "for this version");
    CHECK_EQ(parked_of(store, "").items[0].next_retry_us, NOW_US + 5, "to be tried at once");
    REQUIRE_OK(store_parked_letter_count(store, &OFFSET_KEY, &count, &err), err);
    CHECK_EQ(count, 0, "none is left");
    REQUIRE_OK(store_parked_letters(store, contract_arena(), &query, &list, &err), err);
    CHECK_EQ(list.count, 0, "not listed");
    query.has_redriven = true;
    REQUIRE_OK(store_parked_letters(store, contract_arena(), &query, &list, &err), err);
    REQUIRE(list.count == 1, "but kept");
    CHECK_STR(list.items[0].redriven_by, STR("ann"), "by whom");
    CHECK_EQ(list.items[0].redriven_us, NOW_US + 5, "when");
    again.reason = STR("still too large");
    REQUIRE_OK(store_parked_bury(store, &OFFSET_KEY, &again, &err), err);
    query.has_redriven = false;
    REQUIRE_OK(store_parked_letters(store, contract_arena(), &query, &list, &err), err);
    REQUIRE(list.count == 1, "dead again");
    CHECK_STR(list.items[0].dead.reason, STR("still too large"), "for this reason");
    contract_end();
}

TEST(a_redriven_version_joins_what_waits_for_its_key)
{
    struct store *store = contract_store();
    struct parked a = parked_key("10.1/a", 9);
    struct letter letter = { .id = 1,
                             .dead = { .event_id = STR("01890000-0000-7000-8000-000000000001"),
                                       .aggregate_type = STR("crossref/works"),
                                       .aggregate_id = STR("10.1/a"),
                                       .version = 4,
                                       .reason = STR("x"),
                                       .envelope = STR("{}"),
                                       .dead_us = NOW_US } };
    struct redrive redrive = {
        .key = OFFSET_KEY, .letter = &letter, .lane = 5, .by = STR("ann"), .now_us = NOW_US
    };
    struct letter_list list;
    struct error err = { 0 };
    bool done;

    offset_rig_subscribe(false);
    REQUIRE_OK(store_parked_put(store, &OFFSET_KEY, &a, &err), err);
    REQUIRE_OK(store_parked_bury(store, &OFFSET_KEY, &letter.dead, &err), err);
    REQUIRE_OK(store_parked_letters(store, contract_arena(),
                                    &(struct letter_query){ .key = OFFSET_KEY, .limit = 1 }, &list,
                                    &err),
               err);
    letter.id = list.items[0].id;
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_parked_redrive(store, &redrive, &done, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(parked_of(store, "").items[0].head_version, 4, "from it");
    CHECK_EQ(parked_of(store, "").items[0].seen_version, 9, "to the last");
    contract_end();
}
