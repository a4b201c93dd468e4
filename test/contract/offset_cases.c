/* Offsets over every store: leases, epochs, where a subscription begins, who holds what. */
#include <string.h>

#include "contract.h"
#include "fault_store.h"
#include "offset_rig.h"
#include "port/store_subscription.h"
#include "rows.h"
#include "stream_rig.h"

/* ---- leases ---- */

TEST(a_lane_has_one_owner_until_its_lease_ends)
{
    struct store *store = contract_store();
    struct offset_lane_list one, two;

    offset_rig_subscribe(false);
    one = offset_rig_claim(store, "one", NOW_US, 10);
    CHECK_EQ(one.count, 10, "as many as were asked for");
    two = offset_rig_claim(store, "two", NOW_US, 100);
    CHECK_EQ(two.count, OUTBOX_LANES - 10, "the rest");
    CHECK_EQ(offset_rig_claim(store, "three", NOW_US + US_PER_SECOND, 100).count, 0,
             "all are held");
    CHECK(offset_rig_renew(store, one.items, one.count, NOW_US + 3 * US_PER_SECOND), "renewed");
    two = offset_rig_claim(store, "three", NOW_US + 2 * US_PER_SECOND, 100);
    CHECK_EQ(two.count, OUTBOX_LANES - 10, "those of two, which has not renewed");
    CHECK_EQ(two.items[0].crashes, 1, "it did not give them back");
    CHECK(offset_rig_save(store, &one.items[0], 1, NOW_US), "one still holds its own");
    contract_end();
}

TEST(a_lane_that_is_given_back_was_not_left_by_a_crash)
{
    struct store *store = contract_store();
    struct offset_held held;
    struct offset_lane_list list;
    struct error err = { 0 };

    offset_rig_subscribe(false);
    list = offset_rig_claim(store, "one", NOW_US, 1);
    CHECK_EQ(list.items[0].crashes, 0, "nobody was there");
    list = offset_rig_claim(store, "two", NOW_US + 2 * US_PER_SECOND, 1);
    list = offset_rig_claim(store, "three", NOW_US + 4 * US_PER_SECOND, 1);
    CHECK_EQ(list.items[0].crashes, 2, "two leases ran out");
    held = (struct offset_held){ list.items[0].lane, list.items[0].epoch, false };
    REQUIRE_OK(store_offset_release(store, &(struct offset_renew){ OFFSET_KEY, 0, &held, 1 }, &err),
               err);
    list = offset_rig_claim(store, "four", NOW_US + 4 * US_PER_SECOND, 1);
    CHECK_EQ(list.items[0].lane, held.lane, "at once");
    CHECK_EQ(list.items[0].crashes, 0, "given back");
    CHECK(!offset_rig_save(store, &(struct offset_lane){ .lane = held.lane, .epoch = held.epoch },
                           9, NOW_US),
          "who gave it back has nothing to say");
    (void)offset_rig_claim(store, "five", NOW_US + 6 * US_PER_SECOND, 1);
    list = offset_rig_claim(store, "six", NOW_US + 8 * US_PER_SECOND, 1);
    CHECK_EQ(list.items[0].crashes, 2, "again");
    held = (struct offset_held){ list.items[0].lane, list.items[0].epoch, true };
    CHECK(true, "a renewal of a lane that has nothing to read");
    {
        bool all;

        REQUIRE_OK(store_offset_renew(
                       store,
                       &(struct offset_renew){ OFFSET_KEY, NOW_US + 9 * US_PER_SECOND, &held, 1 },
                       &all, &err),
                   err);
        CHECK(all, "held");
    }
    list = offset_rig_claim(store, "seven", NOW_US + 10 * US_PER_SECOND, 1);
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

    offset_rig_subscribe(false);
    one = offset_rig_claim(store, "one", NOW_US, 2);
    CHECK(offset_rig_save(store, &one.items[1], 5, NOW_US + US_PER_SECOND),
          "its lease is longer now");
    two = offset_rig_claim(store, "two", NOW_US + 3 * US_PER_SECOND / 2, 1);
    CHECK_EQ(two.items[0].lane, one.items[0].lane, "the other one was taken over");
    before = contract_digest();
    for (int i = 0; i < 2; i++)
        moves[i] = (struct offset_move){
            one.items[i].lane, one.items[i].epoch, 7, STR(""), STR(""), NOW_US
        };
    REQUIRE_OK(store_offset_save(store,
                                 &(struct offset_save){ OFFSET_KEY, STR("one"), NOW_US,
                                                        NOW_US + 9 * US_PER_SECOND, moves, 2 },
                                 &held, &err),
               err);
    CHECK(!held, "one of its lanes is another's");
    CHECK(!offset_rig_renew(store, one.items, 2, NOW_US + 9 * US_PER_SECOND), "nor renewed");
    CHECK(contract_digest() == before, "nothing is written");
    CHECK(!offset_rig_save(store, &one.items[1], 5, NOW_US), "not to where it is");
    CHECK(!offset_rig_save(store, &one.items[1], 4, NOW_US), "never back");
    contract_end();
}

TEST(an_owner_hears_that_its_lane_was_taken_moved_or_given_back)
{
    struct store *store = contract_store();
    struct offset_seek seek = {
        .key = OFFSET_KEY, .reason = STR("again"), .by = STR("ann"), .now_us = NOW_US
    };
    struct offset_lane_list list;
    struct error err = { 0 };
    struct offset_held last;
    uint64_t before;
    bool found;

    offset_rig_subscribe(false);
    list = offset_rig_claim(store, "one", NOW_US, 4);
    before = contract_digest();
    CHECK(offset_rig_check(store, list.items, 4), "all are held");
    CHECK(offset_rig_check(store, list.items, 0), "none is missing of none");
    CHECK(contract_digest() == before, "nothing is written");
    seek.lane = list.items[1].lane;
    REQUIRE_OK(store_offset_seek(store, &seek, &found, &err), err);
    CHECK(offset_rig_check(store, &list.items[0], 1), "the lane before it");
    CHECK(!offset_rig_check(store, &list.items[1], 1), "moved by a person");
    CHECK(!offset_rig_check(store, list.items, 4), "one of all");
    last = (struct offset_held){ list.items[3].lane, list.items[3].epoch, false };
    REQUIRE_OK(store_offset_release(store, &(struct offset_renew){ OFFSET_KEY, 0, &last, 1 }, &err),
               err);
    CHECK(!offset_rig_check(store, &list.items[3], 1), "given back");
    (void)offset_rig_claim(store, "two", NOW_US + 2 * US_PER_SECOND, OUTBOX_LANES);
    CHECK(!offset_rig_check(store, &list.items[2], 1), "taken over");
    contract_end();
}

TEST(what_was_saved_is_claimed)
{
    struct store *store = contract_store();
    struct offset_lane_list list;
    struct error err = { 0 };

    offset_rig_subscribe(false);
    list = offset_rig_claim(store, "one", NOW_US, 1);
    CHECK(offset_rig_save(store, &list.items[0], 12, NOW_US), "saved");
    REQUIRE_OK(store_offset_leave(store, &OFFSET_KEY, STR("one"), &err), err);
    list = offset_rig_claim(store, "two", NOW_US, 1);
    CHECK_EQ(list.items[0].pos, 12, "position");
    CHECK_STR(list.items[0].ack_id, STR("a1"), "what the bus called it");
    CHECK_EQ(list.items[0].crashes, 0, "left by itself");
    contract_end();
}

TEST(readers_are_counted_while_they_are_alive)
{
    struct store *store = contract_store();
    struct offset_attend one = { OFFSET_KEY, STR("one"), NOW_US, NOW_US + 10, STR("bus.lost") };
    struct offset_attend two = { OFFSET_KEY, STR("two"), NOW_US + 5, NOW_US + 30, STR("") };
    struct reader_state_list list;
    struct error err = { 0 };
    int64_t readers;

    offset_rig_subscribe(false);
    REQUIRE_OK(store_offset_attend(store, &one, &readers, &err), err);
    CHECK_EQ(readers, 1, "itself");
    REQUIRE_OK(store_offset_attend(store, &two, &readers, &err), err);
    CHECK_EQ(readers, 2, "both");
    one.now_us = NOW_US + 9;
    one.until_us = NOW_US + 12;
    REQUIRE_OK(store_offset_attend(store, &one, &readers, &err), err);
    REQUIRE_OK(store_offset_readers(store, contract_arena(), &OFFSET_KEY, &list, &err), err);
    REQUIRE(list.count == 2, "two rows");
    CHECK_STR(list.items[0].error, STR("bus.lost"), "what stops it");
    CHECK_EQ(list.items[0].error_since_us, NOW_US, "since the first time");
    two.now_us = NOW_US + 13;
    REQUIRE_OK(store_offset_attend(store, &two, &readers, &err), err);
    CHECK_EQ(readers, 1, "the other one has died");
    REQUIRE_OK(store_offset_leave(store, &OFFSET_KEY, STR("two"), &err), err);
    REQUIRE_OK(store_offset_readers(store, contract_arena(), &OFFSET_KEY, &list, &err), err);
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

    offset_rig_subscribe(false);
    other = contract_another(store);
    REQUIRE_OK(store_begin(store, &err), err);
    one = offset_rig_claim(store, "one", NOW_US, 32);
    CHECK_EQ(one.count, 32, "half");
    REQUIRE_OK(store_commit(store, &err), err);
    two = offset_rig_claim(other, "two", NOW_US, 32);
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
    offset_rig_publish(store);
    offset_rig_subscribe(true);
    REQUIRE_OK(store_stream_ends(store, ends, &err), err);
    list = offset_rig_claim(store, "one", NOW_US, OUTBOX_LANES);
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
    offset_rig_publish(store);
    REQUIRE_OK(store_stream_ends(store, ends, &err), err);
    contract_sql(dsn, "DELETE FROM ing_stream"); /* all that is there so far */
    (void)stream_rig_write(store, "b", 300);
    offset_rig_publish(store);
    REQUIRE_OK(store_stream_begins(store, before, &err), err);
    offset_rig_subscribe(false);
    list = offset_rig_claim(store, "one", NOW_US, OUTBOX_LANES);
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

    offset_rig_subscribe(false);
    before = offset_rig_claim(store, "one", NOW_US, 1);
    REQUIRE_OK(store_subscription_remove(contract_owner(), OFFSET_KEY.subscription, &removed, &err),
               err);
    CHECK(!offset_rig_save(store, &before.items[0], 3, NOW_US), "there is no such lane");
    {
        struct subscription_applied applied;

        REQUIRE_OK(store_subscription_apply(
                       contract_owner(),
                       &(struct subscription_apply){ .name = OFFSET_KEY.subscription,
                                                     .kind = SUBSCRIPTION_RELAY,
                                                     .spec = STR("{}"),
                                                     .spec_hash = STR(HASH_A),
                                                     .applied_by = STR("ann"),
                                                     .now_us = NOW_US + US_PER_SECOND },
                       &applied, &err),
                   err);
    }
    CHECK(offset_rig_claim(store, "two", NOW_US, 1).items[0].epoch > before.items[0].epoch,
          "higher");
    CHECK(!offset_rig_save(store, &before.items[0], 3, NOW_US), "nor now");
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
    offset_rig_publish(store);
    offset_rig_subscribe(false);
    held = offset_rig_claim(store, "one", NOW_US, 1);
    CHECK(offset_rig_save(store, &held.items[0], 1, NOW_US), "one event");
    REQUIRE_OK(store_offset_states(store, contract_arena(), &OFFSET_KEY, &list, &err), err);
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

    offset_rig_subscribe(false);
    list = offset_rig_claim(store, "one", NOW_US, 1);
    fault_store_wrap(store);
    for (int i = 0; i < 2; i++) {
        const struct offset_save request = { OFFSET_KEY, STR("one"), NOW_US, NOW_US + US_PER_SECOND,
                                             &move,      1 };

        move = (struct offset_move){
            list.items[0].lane, list.items[0].epoch, 5 + i, STR(""), STR(""), NOW_US
        };
        fault_store_arm(store, &(struct store_fault){ .effect = i == 0 ? FAULT_AFTER : FAULT_BEFORE,
                                                      .call = FAULT_COMMIT });
        CHECK(!store_offset_save(store, &request, &held, &err), "lost");
        CHECK(store_error_is_lost(&err), "unknown");
        CHECK(fault_store_disarm(store), "hit");
        REQUIRE_OK(store_reconnect(store, &err), err);
        REQUIRE_OK(store_offset_leave(store, &OFFSET_KEY, STR("one"), &err), err);
        list = offset_rig_claim(store, "one", NOW_US, 1);
        CHECK_EQ(list.items[0].pos, 5, i == 0 ? "it was committed" : "it was not");
        CHECK_EQ(list.items[0].crashes, 0, "no crash");
    }
    contract_end();
}

/* ---- offsets that another database has ---- */

TEST(what_a_reader_of_another_database_tells_only_grows)
{
    struct store *store = contract_store();
    struct stream_place places[] = { { 5, 7 }, { 6, 3 } };
    const struct offset_tell tell = { OFFSET_KEY, NOW_US, places, ARRAY_LEN(places) };
    struct offset_state_list states;
    struct error err = { 0 };

    offset_rig_subscribe(false);
    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(store_begin(store, &err), err);
        REQUIRE_OK(store_offset_tell(store, &tell, &err), err);
        REQUIRE_OK(store_commit(store, &err), err);
        places[0].pos = 2; /* late */
    }
    REQUIRE_OK(store_offset_states(store, contract_arena(), &OFFSET_KEY, &states, &err), err);
    CHECK_EQ(states.items[5].pos, 7, "told");
    CHECK_EQ(states.items[6].pos, 3, "likewise");
    CHECK_EQ(states.items[7].pos, 0, "not told");
    contract_end();
}
