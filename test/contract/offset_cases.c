/* Offsets and parked keys over every store: leases, epochs, reading the stream, keys that wait. */
#include <stdio.h>
#include <string.h>

#include "contract.h"
#include "fault_store.h"
#include "port/store_parked.h"
#include "port/store_subscription.h"
#include "rows.h"
#include "stream_rig.h"

static const struct offset_key KEY = { STR_INIT("patra"), STR_INIT("works") };

static void subscribe(struct store *store, bool from_latest)
{
    struct subscription_applied applied;
    struct error err = { 0 };

    (void)store;
    REQUIRE_OK(store_subscription_apply(contract_owner(),
                                        &(struct subscription_apply){ .name = KEY.subscription,
                                                                      .kind = SUBSCRIPTION_RELAY,
                                                                      .spec = STR("{}"),
                                                                      .spec_hash = STR(HASH_A),
                                                                      .from_latest = from_latest,
                                                                      .applied_by = STR("ann"),
                                                                      .now_us = NOW_US },
                                        &applied, &err),
               err);
    REQUIRE(applied.is_new, "new");
}

static struct offset_lane_list claim(struct store *store, const char *owner, int64_t now_us,
                                     int64_t limit)
{
    const struct offset_claim request = { KEY, str_of(owner), now_us, now_us + US_PER_SECOND,
                                          limit };
    struct offset_lane_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_offset_claim(store, contract_arena(), &request, &list, &err), err);
    return list;
}

static bool save(struct store *store, const struct offset_lane *lane, int64_t pos, int64_t now_us)
{
    const struct offset_move move = { lane->lane, lane->epoch,  pos,
                                      STR("a1"),  STR("event"), now_us - 5 };
    const struct offset_save request = {
        KEY, STR("one"), now_us, now_us + US_PER_SECOND, &move, 1
    };
    struct error err = { 0 };
    bool held;

    REQUIRE_OK(store_offset_save(store, &request, &held, &err), err);
    return held;
}

static bool renew(struct store *store, const struct offset_lane *lanes, size_t count,
                  int64_t until_us)
{
    struct offset_held held[OUTBOX_LANES];
    struct error err = { 0 };
    bool all;

    for (size_t i = 0; i < count; i++)
        held[i] = (struct offset_held){ lanes[i].lane, lanes[i].epoch, false };
    REQUIRE_OK(
        store_offset_renew(store, &(struct offset_renew){ KEY, until_us, held, count }, &all, &err),
        err);
    return all;
}

static void publish_all(struct store *store)
{
    struct sequencer *sequencer = stream_rig_sequencer(store, "sequencer");
    struct error err = { 0 };

    while (stream_rig_round(sequencer, NOW_US).appended > 0)
        continue;
    REQUIRE_OK(sequencer_release(sequencer, &err), err);
    sequencer_close(sequencer);
}

/* ---- leases ---- */

TEST(a_lane_has_one_owner_until_its_lease_ends)
{
    struct store *store = contract_store();
    struct offset_lane_list one, two;

    subscribe(store, false);
    one = claim(store, "one", NOW_US, 10);
    CHECK_EQ(one.count, 10, "as many as were asked for");
    two = claim(store, "two", NOW_US, 100);
    CHECK_EQ(two.count, OUTBOX_LANES - 10, "the rest");
    CHECK_EQ(claim(store, "three", NOW_US + US_PER_SECOND, 100).count, 0, "all are held");
    CHECK(renew(store, one.items, one.count, NOW_US + 3 * US_PER_SECOND), "renewed");
    two = claim(store, "three", NOW_US + 2 * US_PER_SECOND, 100);
    CHECK_EQ(two.count, OUTBOX_LANES - 10, "those of two, which has not renewed");
    CHECK_EQ(two.items[0].crashes, 1, "it did not give them back");
    CHECK(save(store, &one.items[0], 1, NOW_US), "one still holds its own");
    contract_end();
}

TEST(a_lane_that_is_given_back_was_not_left_by_a_crash)
{
    struct store *store = contract_store();
    struct offset_held held;
    struct offset_lane_list list;
    struct error err = { 0 };

    subscribe(store, false);
    list = claim(store, "one", NOW_US, 1);
    CHECK_EQ(list.items[0].crashes, 0, "nobody was there");
    list = claim(store, "two", NOW_US + 2 * US_PER_SECOND, 1);
    list = claim(store, "three", NOW_US + 4 * US_PER_SECOND, 1);
    CHECK_EQ(list.items[0].crashes, 2, "two leases ran out");
    held = (struct offset_held){ list.items[0].lane, list.items[0].epoch, false };
    REQUIRE_OK(store_offset_release(store, &(struct offset_renew){ KEY, 0, &held, 1 }, &err), err);
    list = claim(store, "four", NOW_US + 4 * US_PER_SECOND, 1);
    CHECK_EQ(list.items[0].lane, held.lane, "at once");
    CHECK_EQ(list.items[0].crashes, 0, "given back");
    CHECK(!save(store, &(struct offset_lane){ .lane = held.lane, .epoch = held.epoch }, 9, NOW_US),
          "who gave it back has nothing to say");
    (void)claim(store, "five", NOW_US + 6 * US_PER_SECOND, 1);
    list = claim(store, "six", NOW_US + 8 * US_PER_SECOND, 1);
    CHECK_EQ(list.items[0].crashes, 2, "again");
    held = (struct offset_held){ list.items[0].lane, list.items[0].epoch, true };
    CHECK(true, "a renewal of a lane that has nothing to read");
    {
        bool all;

        REQUIRE_OK(store_offset_renew(
                       store, &(struct offset_renew){ KEY, NOW_US + 9 * US_PER_SECOND, &held, 1 },
                       &all, &err),
                   err);
        CHECK(all, "held");
    }
    list = claim(store, "seven", NOW_US + 10 * US_PER_SECOND, 1);
    CHECK_EQ(list.items[0].crashes, 1, "counts from there");
    contract_end();
}

TEST(an_overtaken_owner_saves_nothing)
{
    struct store *store = contract_store();
    struct offset_lane_list one, two;
    struct offset_move moves[2];
    struct error err = { 0 };
    uint64_t before;
    bool held;

    subscribe(store, false);
    one = claim(store, "one", NOW_US, 2);
    CHECK(save(store, &one.items[1], 5, NOW_US + US_PER_SECOND), "its lease is longer now");
    two = claim(store, "two", NOW_US + 3 * US_PER_SECOND / 2, 1);
    CHECK_EQ(two.items[0].lane, one.items[0].lane, "the other one was taken over");
    before = contract_digest();
    for (int i = 0; i < 2; i++)
        moves[i] = (struct offset_move){
            one.items[i].lane, one.items[i].epoch, 7, STR(""), STR(""), NOW_US
        };
    REQUIRE_OK(store_offset_save(store,
                                 &(struct offset_save){ KEY, STR("one"), NOW_US,
                                                        NOW_US + 9 * US_PER_SECOND, moves, 2 },
                                 &held, &err),
               err);
    CHECK(!held, "one of its lanes is another's");
    CHECK(!renew(store, one.items, 2, NOW_US + 9 * US_PER_SECOND), "nor renewed");
    CHECK(contract_digest() == before, "nothing is written");
    CHECK(!save(store, &one.items[1], 5, NOW_US), "not to where it is");
    CHECK(!save(store, &one.items[1], 4, NOW_US), "never back");
    contract_end();
}

TEST(what_was_saved_is_claimed)
{
    struct store *store = contract_store();
    struct offset_lane_list list;
    struct error err = { 0 };

    subscribe(store, false);
    list = claim(store, "one", NOW_US, 1);
    CHECK(save(store, &list.items[0], 12, NOW_US), "saved");
    REQUIRE_OK(store_offset_leave(store, &KEY, STR("one"), &err), err);
    list = claim(store, "two", NOW_US, 1);
    CHECK_EQ(list.items[0].pos, 12, "position");
    CHECK_STR(list.items[0].ack_id, STR("a1"), "what the bus called it");
    CHECK_EQ(list.items[0].crashes, 0, "left by itself");
    contract_end();
}

TEST(readers_are_counted_while_they_are_alive)
{
    struct store *store = contract_store();
    struct offset_attend one = { KEY, STR("one"), NOW_US, NOW_US + 10, STR("bus.lost") };
    struct offset_attend two = { KEY, STR("two"), NOW_US + 5, NOW_US + 30, STR("") };
    struct reader_state_list list;
    struct error err = { 0 };
    int64_t readers;

    subscribe(store, false);
    REQUIRE_OK(store_offset_attend(store, &one, &readers, &err), err);
    CHECK_EQ(readers, 1, "itself");
    REQUIRE_OK(store_offset_attend(store, &two, &readers, &err), err);
    CHECK_EQ(readers, 2, "both");
    one.now_us = NOW_US + 9;
    one.until_us = NOW_US + 12;
    REQUIRE_OK(store_offset_attend(store, &one, &readers, &err), err);
    REQUIRE_OK(store_offset_readers(store, contract_arena(), &KEY, &list, &err), err);
    REQUIRE(list.count == 2, "two rows");
    CHECK_STR(list.items[0].error, STR("bus.lost"), "what stops it");
    CHECK_EQ(list.items[0].error_since_us, NOW_US, "since the first time");
    two.now_us = NOW_US + 13;
    REQUIRE_OK(store_offset_attend(store, &two, &readers, &err), err);
    CHECK_EQ(readers, 1, "the other one has died");
    REQUIRE_OK(store_offset_leave(store, &KEY, STR("two"), &err), err);
    REQUIRE_OK(store_offset_readers(store, contract_arena(), &KEY, &list, &err), err);
    CHECK_EQ(list.count, 0, "nobody");
    contract_end();
}

/* The limit holds for each of two sessions that claim in the middle of each other's transaction. */
TEST(two_who_claim_at_once_share_the_lanes)
{
    struct store *store = contract_store(), *other;
    struct offset_lane_list one, two;
    struct error err = { 0 };
    bool taken[OUTBOX_LANES] = { false };

    subscribe(store, false);
    other = contract_another(store);
    REQUIRE_OK(store_begin(store, &err), err);
    one = claim(store, "one", NOW_US, 32);
    CHECK_EQ(one.count, 32, "half");
    REQUIRE_OK(store_commit(store, &err), err);
    two = claim(other, "two", NOW_US, 32);
    CHECK_EQ(two.count, 32, "half");
    for (size_t i = 0; i < 32; i++) {
        CHECK(!taken[one.items[i].lane], "once");
        taken[one.items[i].lane] = true;
        CHECK(!taken[two.items[i].lane], "once");
        taken[two.items[i].lane] = true;
    }
    contract_end();
}

TEST(one_that_begins_with_the_latest_skips_what_is_there)
{
    struct store *store = contract_store();
    int64_t ends[OUTBOX_LANES];
    struct offset_lane_list list;
    struct error err = { 0 };
    int64_t sum = 0;

    (void)stream_rig_write(store, "a", 100);
    publish_all(store);
    subscribe(store, true);
    REQUIRE_OK(store_stream_ends(store, ends, &err), err);
    list = claim(store, "one", NOW_US, OUTBOX_LANES);
    for (size_t i = 0; i < list.count; i++) {
        CHECK_EQ(list.items[i].pos, ends[list.items[i].lane], "at the end of its lane");
        sum += list.items[i].pos;
    }
    CHECK_EQ(sum, 100, "of all events");
    contract_end();
}

/* Events that are not kept any more cannot be delivered. */
TEST(one_that_begins_with_the_earliest_begins_with_what_is_kept)
{
    const char *dsn = contract_ready_database();
    struct store *store = contract_open(dsn);
    int64_t before[OUTBOX_LANES], ends[OUTBOX_LANES];
    struct offset_lane_list list;
    struct error err = { 0 };

    (void)stream_rig_write(store, "a", 300);
    publish_all(store);
    REQUIRE_OK(store_stream_ends(store, ends, &err), err);
    contract_sql(dsn, "DELETE FROM ing_stream"); /* all that is there so far */
    (void)stream_rig_write(store, "b", 300);
    publish_all(store);
    REQUIRE_OK(store_stream_begins(store, before, &err), err);
    subscribe(store, false);
    list = claim(store, "one", NOW_US, OUTBOX_LANES);
    for (size_t i = 0; i < list.count; i++) {
        CHECK_EQ(list.items[i].pos, ends[list.items[i].lane], "after what was removed");
        CHECK_EQ(before[list.items[i].lane], ends[list.items[i].lane], "asked for by itself");
    }
    store_close(store);
    contract_end();
}

/* Two rounds a second apart, so that an instant is between them. */
TEST(places_are_found_by_time_and_by_event)
{
    struct store *store = contract_store();
    int64_t first[OUTBOX_LANES] = { 0 }, ends[OUTBOX_LANES] = { 0 }, at[OUTBOX_LANES] = { 0 };
    struct sequencer *sequencer = stream_rig_sequencer(store, "sequencer");
    struct stream_place place = { 0, 0 };
    struct stream_event_list events;
    struct error err = { 0 };
    bool found;

    (void)stream_rig_write(store, "a", 300);
    CHECK_EQ(stream_rig_round(sequencer, NOW_US).appended, 300, "a round");
    REQUIRE_OK(store_stream_ends(store, first, &err), err);
    (void)stream_rig_write(store, "b", 300);
    CHECK_EQ(stream_rig_round(sequencer, NOW_US + US_PER_SECOND).appended, 300, "another");
    REQUIRE_OK(store_stream_ends(store, ends, &err), err);
    sequencer_close(sequencer);
    REQUIRE_OK(store_stream_since(store, NOW_US, at, &err), err);
    CHECK(memcmp(at, (int64_t[OUTBOX_LANES]){ 0 }, sizeof(at)) == 0, "the first and all");
    REQUIRE_OK(store_stream_since(store, NOW_US + 1, at, &err), err);
    CHECK(memcmp(at, first, sizeof(at)) == 0, "those of the second round");
    REQUIRE_OK(store_stream_since(store, NOW_US + 2 * US_PER_SECOND, at, &err), err);
    CHECK(memcmp(at, ends, sizeof(at)) == 0, "events to come");
    for (place.lane = 0; place.lane < OUTBOX_LANES; place.lane++) {
        const struct stream_place beginning = { place.lane, 0 };

        REQUIRE_OK(store_stream_read(store, contract_arena(),
                                     &(struct stream_read){ &beginning, 1, 1000, 1 << 30 }, &events,
                                     &err),
                   err);
        for (size_t i = 0; i < events.count; i += 7) {
            struct stream_place is;

            REQUIRE_OK(store_stream_place_of(store, events.items[i].stored.event.event_id, &is,
                                             &found, &err),
                       err);
            CHECK(found, "it is there");
            CHECK_EQ(is.lane, place.lane, "its lane");
            CHECK_EQ(is.pos, events.items[i].pos, "its position");
        }
    }
    REQUIRE_OK(store_stream_place_of(store, STR("01890000-0000-7000-8000-000000000009"), &place,
                                     &found, &err),
               err);
    CHECK(!found, "nobody's");
    contract_end();
}

/* An owner that was there before the subscription was removed cannot write to its successor. */
TEST(epochs_go_on_growing_when_a_subscription_is_made_again)
{
    struct store *store = contract_store();
    struct offset_lane_list before;
    struct error err = { 0 };
    bool removed;

    subscribe(store, false);
    before = claim(store, "one", NOW_US, 1);
    REQUIRE_OK(store_subscription_remove(contract_owner(), KEY.subscription, &removed, &err), err);
    CHECK(!save(store, &before.items[0], 3, NOW_US), "there is no such lane");
    {
        struct subscription_applied applied;

        REQUIRE_OK(store_subscription_apply(
                       contract_owner(),
                       &(struct subscription_apply){ .name = KEY.subscription,
                                                     .kind = SUBSCRIPTION_RELAY,
                                                     .spec = STR("{}"),
                                                     .spec_hash = STR(HASH_A),
                                                     .applied_by = STR("ann"),
                                                     .now_us = NOW_US + US_PER_SECOND },
                       &applied, &err),
                   err);
    }
    CHECK(claim(store, "two", NOW_US, 1).items[0].epoch > before.items[0].epoch, "higher");
    CHECK(!save(store, &before.items[0], 3, NOW_US), "nor now");
    contract_end();
}

/* ---- reading ---- */

static struct stream_event_list read_lanes(struct store *store, const struct stream_read *read)
{
    struct stream_event_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_stream_read(store, contract_arena(), read, &list, &err), err);
    return list;
}

TEST(a_lane_is_read_from_a_position_up_to_a_count_and_bytes)
{
    struct store *store = contract_store();
    struct stream_place places[OUTBOX_LANES];
    struct stream_read read = { places, OUTBOX_LANES, 1000, 1 << 20 };
    struct stream_event_list all, list;
    struct error err = { 0 };
    int64_t next[OUTBOX_LANES] = { 0 };
    size_t bytes;

    for (int i = 0; i < 3; i++) {
        char prefix[2] = { (char)('a' + i), '\0' };

        (void)stream_rig_write(store, prefix, 200);
        publish_all(store); /* several parts of each lane */
    }
    REQUIRE_OK(store_begin(store, &err), err);
    stream_rig_change(store, "a", 7);
    REQUIRE_OK(store_commit(store, &err), err);
    publish_all(store);
    for (int i = 0; i < OUTBOX_LANES; i++)
        places[i] = (struct stream_place){ OUTBOX_LANES - 1 - i, 0 };
    all = read_lanes(store, &read);
    CHECK_EQ(all.count, 601, "everything");
    for (size_t i = 0; i < all.count; i++) {
        const struct stream_event *event = &all.items[i];

        CHECK_EQ(event->pos, ++next[event->lane], "without gaps");
        CHECK(i == 0 || event->lane <= all.items[i - 1].lane, "in the order of the places");
        CHECK_STR(event->stored.source, STR("crossref"), "whose");
        CHECK(event->record_id > 0 && event->stored.provider_id.len > 0, "its record");
        CHECK_EQ(event->sequenced_us, NOW_US, "when");
        CHECK_EQ(event->stored.event.event_id.len, 36, "its id");
        CHECK(event->stored.event.body.len > 0, "its body");
    }
    read.lane_max = 2;
    for (int i = 0; i < OUTBOX_LANES; i++)
        places[i].pos = 3;
    list = read_lanes(store, &read);
    CHECK_EQ(list.items[0].pos, 4, "after the position");
    CHECK_EQ(list.items[1].pos, 5, "up to a count");
    CHECK(list.count <= (size_t)2 * OUTBOX_LANES, "of each");
    CHECK_EQ(list.items[2].lane, places[1].lane, "then the next place");
    bytes = list.items[0].stored.event.body.len;
    read.bytes_max = (int64_t)bytes;
    CHECK_EQ(read_lanes(store, &read).count, 1, "as many as fit");
    read.bytes_max = 1;
    CHECK_EQ(read_lanes(store, &read).count, 1, "one at least");
    read.bytes_max = (int64_t)bytes + 1;
    CHECK_EQ(read_lanes(store, &read).count, 2, "the one that exceeds it is the last");
    contract_end();
}

TEST(states_show_positions_and_who_holds_them)
{
    struct store *store = contract_store();
    struct offset_state_list list;
    struct offset_lane_list held;
    struct error err = { 0 };
    int64_t waiting = 0;

    (void)stream_rig_write(store, "a", 300);
    publish_all(store);
    subscribe(store, false);
    held = claim(store, "one", NOW_US, 1);
    CHECK(save(store, &held.items[0], 1, NOW_US), "one event");
    REQUIRE_OK(store_offset_states(store, contract_arena(), &KEY, &list, &err), err);
    REQUIRE(list.count == OUTBOX_LANES, "a row for each lane");
    for (size_t i = 0; i < list.count; i++) {
        waiting += list.items[i].last_pos - list.items[i].pos;
        CHECK(list.items[i].has_next == (list.items[i].last_pos > list.items[i].pos), "next");
    }
    CHECK_EQ(waiting, 299, "events wait");
    CHECK_STR(list.items[0].owner, STR("one"), "who");
    CHECK_EQ(list.items[1].owner.len, 0, "nobody");
    contract_end();
}

/* ---- parked keys ---- */

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
                                 &(struct parked_query){ KEY, str_of(id), 100 }, &list, &err),
               err);
    return list;
}

static bool pass(struct store *store, const char *id, int64_t seen)
{
    const struct parked_pass one = { STR("crossref/works"), str_of(id), seen, seen };
    struct error err = { 0 };
    bool all;

    REQUIRE_OK(store_parked_pass(store, &KEY, &one, 1, &all, &err), err);
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

    subscribe(store, false);
    CHECK(!pass(store, "10.1/a", 5), "not parked yet");
    REQUIRE_OK(store_parked_put(store, &KEY, &a, &err), err);
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
    REQUIRE_OK(store_parked_put(store, &KEY, &a, &err), err);
    list = parked_of(store, "10.1/a");
    CHECK_EQ(list.items[0].head_version, 2, "all that waits");
    CHECK_EQ(list.items[0].seen_version, 9, "with what was seen since");
    CHECK_STR(list.items[0].last_error, STR("too large"), "the rest of the row stays");
    CHECK_EQ(parked_of(store, "10.1/b").count, 0, "another key");
    REQUIRE_OK(store_parked_count(store, &KEY, &count, &err), err);
    CHECK_EQ(count, 1, "counted");
    CHECK(pass(store, "10.1/a", 1), "the lane was moved back");
    CHECK_EQ(parked_of(store, "").items[0].head_version, 1, "that one waits too");
    a = list.items[0];
    a.seen_version = 8;
    REQUIRE_OK(store_parked_remove(store, &KEY, &a, &ok, &err), err);
    CHECK(!ok, "a later event waits");
    a.seen_version = 9;
    REQUIRE_OK(store_parked_remove(store, &KEY, &a, &ok, &err), err);
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

    subscribe(store, false);
    REQUIRE_OK(store_parked_put(store, &KEY, &a, &err), err);
    CHECK(pass(store, "10.1/a", 8), "more wait");
    a.next_retry_us = NOW_US + 100;
    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(store_parked_begin(store, &KEY, &a, &found, &err), err);
        CHECK(found, "begun");
    }
    list = parked_of(store, "");
    CHECK_EQ(list.items[0].attempts_begun, 2, "two were begun");
    CHECK_EQ(list.items[0].attempts_ended, 0, "none has ended");
    CHECK_EQ(list.items[0].next_retry_us, NOW_US + 100, "not at once again");
    a.head_version = 6;
    a.last_error = STR("still too large");
    REQUIRE_OK(store_parked_end(store, &KEY, &a, &found, &err), err);
    CHECK(found, "4 and 5 were delivered");
    list = parked_of(store, "");
    CHECK_EQ(list.items[0].head_version, 6, "head");
    CHECK_EQ(list.items[0].attempts_begun, 0, "version 6 has its own");
    CHECK_EQ(list.items[0].attempts_ended, 0, "likewise");
    CHECK_STR(list.items[0].last_error, STR("still too large"), "error");
    a.head_version = 4;
    REQUIRE_OK(store_parked_begin(store, &KEY, &a, &found, &err), err);
    CHECK(!found, "it is further than that");
    REQUIRE_OK(store_parked_end(store, &KEY, &a, &found, &err), err);
    CHECK(!found, "and never goes back");
    a.head_version = 6;
    REQUIRE_OK(store_parked_begin(store, &KEY, &a, &found, &err), err);
    REQUIRE_OK(store_parked_retry(store, &(struct parked_query){ KEY, STR("10.1/a"), 0 },
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
    publish_all(store);
    for (int i = 0; i < OUTBOX_LANES; i++)
        places[i] = (struct stream_place){ i, 0 };
    all = read_lanes(store, &(struct stream_read){ places, OUTBOX_LANES, 100, 1 << 20 });
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

    REQUIRE_OK(store_parked_bury(store, &KEY, &letter, &err), err);
    once = contract_digest();
    REQUIRE_OK(store_parked_bury(store, &KEY, &letter, &err), err);
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
    struct offset_seek seek = { KEY, 5, 2, STR("again"), STR("ann"), NOW_US };
    struct offset_lane_list list;
    struct error err = { 0 };
    bool found;

    subscribe(store, false);
    list = claim(store, "one", NOW_US, OUTBOX_LANES);
    CHECK(save(store, &list.items[5], 9, NOW_US), "at 9");
    REQUIRE_OK(store_parked_put(store, &KEY, &a, &err), err);
    b.lane = 6;
    REQUIRE_OK(store_parked_put(store, &KEY, &b, &err), err);
    REQUIRE_OK(store_offset_seek(store, &seek, &found, &err), err);
    CHECK(found, "moved back");
    CHECK(!save(store, &list.items[5], 10, NOW_US), "its owner is overtaken");
    list = claim(store, "two", NOW_US, OUTBOX_LANES);
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

/* ---- lost commits ---- */

/* After a commit whose outcome is unknown, saving the same again tells nothing: the position may be
 * there. Leaving and claiming again does. */
TEST(after_a_lost_commit_a_new_claim_tells_how_far_it_is)
{
    struct store *store = contract_store();
    struct offset_lane_list list;
    struct offset_move move;
    struct error err = { 0 };
    bool held;

    subscribe(store, false);
    list = claim(store, "one", NOW_US, 1);
    fault_store_wrap(store);
    for (int i = 0; i < 2; i++) {
        const struct offset_save request = { KEY,   STR("one"), NOW_US, NOW_US + US_PER_SECOND,
                                             &move, 1 };

        move = (struct offset_move){
            list.items[0].lane, list.items[0].epoch, 5 + i, STR(""), STR(""), NOW_US
        };
        fault_store_arm(store, &(struct store_fault){ .effect = i == 0 ? FAULT_AFTER : FAULT_BEFORE,
                                                      .call = FAULT_COMMIT });
        CHECK(!store_offset_save(store, &request, &held, &err), "lost");
        CHECK(store_error_is_lost(&err), "unknown");
        CHECK(fault_store_disarm(store), "hit");
        REQUIRE_OK(store_reconnect(store, &err), err);
        REQUIRE_OK(store_offset_leave(store, &KEY, STR("one"), &err), err);
        list = claim(store, "one", NOW_US, 1);
        CHECK_EQ(list.items[0].pos, 5, i == 0 ? "it was committed" : "it was not");
        CHECK_EQ(list.items[0].crashes, 0, "no crash");
    }
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
    struct letter_query query = { .key = KEY, .limit = 10 };
    struct dead_letter again = dead;
    struct letter_list list;
    struct redrive redrive = {
        .key = KEY, .record_id = 17, .lane = 5, .by = STR("ann"), .now_us = NOW_US + 5
    };
    struct error err = { 0 };
    int64_t count;
    bool done;

    subscribe(store, false);
    REQUIRE_OK(store_parked_bury(store, &KEY, &dead, &err), err);
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
    REQUIRE_OK(store_parked_letter_count(store, &KEY, &count, &err), err);
    CHECK_EQ(count, 0, "none is left");
    REQUIRE_OK(store_parked_letters(store, contract_arena(), &query, &list, &err), err);
    CHECK_EQ(list.count, 0, "not listed");
    query.has_redriven = true;
    REQUIRE_OK(store_parked_letters(store, contract_arena(), &query, &list, &err), err);
    REQUIRE(list.count == 1, "but kept");
    CHECK_STR(list.items[0].redriven_by, STR("ann"), "by whom");
    CHECK_EQ(list.items[0].redriven_us, NOW_US + 5, "when");
    again.reason = STR("still too large");
    REQUIRE_OK(store_parked_bury(store, &KEY, &again, &err), err);
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
        .key = KEY, .letter = &letter, .lane = 5, .by = STR("ann"), .now_us = NOW_US
    };
    struct letter_list list;
    struct error err = { 0 };
    bool done;

    subscribe(store, false);
    REQUIRE_OK(store_parked_put(store, &KEY, &a, &err), err);
    REQUIRE_OK(store_parked_bury(store, &KEY, &letter.dead, &err), err);
    REQUIRE_OK(store_parked_letters(store, contract_arena(),
                                    &(struct letter_query){ .key = KEY, .limit = 1 }, &list, &err),
               err);
    letter.id = list.items[0].id;
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_parked_redrive(store, &redrive, &done, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(parked_of(store, "").items[0].head_version, 4, "from it");
    CHECK_EQ(parked_of(store, "").items[0].seen_version, 9, "to the last");
    contract_end();
}

/* ---- offsets that another database has ---- */

TEST(what_a_reader_of_another_database_tells_only_grows)
{
    struct store *store = contract_store();
    struct stream_place places[] = { { 5, 7 }, { 6, 3 } };
    const struct offset_tell tell = { KEY, NOW_US, places, ARRAY_LEN(places) };
    struct offset_state_list states;
    struct error err = { 0 };

    subscribe(store, false);
    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(store_begin(store, &err), err);
        REQUIRE_OK(store_offset_tell(store, &tell, &err), err);
        REQUIRE_OK(store_commit(store, &err), err);
        places[0].pos = 2; /* late */
    }
    REQUIRE_OK(store_offset_states(store, contract_arena(), &KEY, &states, &err), err);
    CHECK_EQ(states.items[5].pos, 7, "told");
    CHECK_EQ(states.items[6].pos, 3, "likewise");
    CHECK_EQ(states.items[7].pos, 0, "not told");
    contract_end();
}
