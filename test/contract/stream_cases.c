/* The stream over every store: the lease, its fence, positions; and the sequencer on top of it. */
#include <stdio.h>
#include <string.h>

#include "contract.h"
#include "engine/publish/sequencer.h"
#include "fault_store.h"
#include "port/store_record.h"
#include "rows.h"
#include "stream_rig.h"
#include "stream_sql.h"

static struct stream_lease claim_at(struct store *store, const char *owner, int64_t now_us,
                                    bool *held)
{
    const struct stream_claim claim = { str_of(owner), now_us, now_us + US_PER_SECOND };
    struct stream_lease lease;
    struct error err = { 0 };

    REQUIRE_OK(store_stream_claim(store, &claim, &lease, held, &err), err);
    return lease;
}

static bool append(struct store *store, const struct stream_append *append)
{
    struct error err = { 0 };
    bool held;

    REQUIRE_OK(store_stream_append(store, append, &held, &err), err);
    return held;
}

TEST(one_sequencer_at_a_time_has_the_lease)
{
    struct store *store = contract_store();
    struct stream_lease one, two;
    struct error err = { 0 };
    bool held;

    one = claim_at(store, "one", NOW_US, &held);
    CHECK(held, "nobody had it");
    CHECK_EQ(one.cursor_id, 0, "from the beginning");
    (void)claim_at(store, "two", NOW_US + US_PER_SECOND - 1, &held);
    CHECK(!held, "the lease has not ended");
    CHECK_EQ(claim_at(store, "one", NOW_US, &held).epoch, one.epoch + 1, "from itself");
    CHECK(held, "at any time");
    one.epoch++;
    REQUIRE_OK(store_stream_renew(store, one.epoch, NOW_US + 5 * US_PER_SECOND, &held, &err), err);
    CHECK(held, "renewed");
    (void)claim_at(store, "two", NOW_US + 3 * US_PER_SECOND, &held);
    CHECK(!held, "it is longer now");
    two = claim_at(store, "two", NOW_US + 6 * US_PER_SECOND, &held);
    CHECK(held && two.epoch > one.epoch, "taken over, with a higher epoch");
    REQUIRE_OK(store_stream_renew(store, one.epoch, NOW_US + 9 * US_PER_SECOND, &held, &err), err);
    CHECK(!held, "the first one has lost it");
    REQUIRE_OK(store_stream_release(store, one.epoch, &err), err);
    (void)claim_at(store, "three", NOW_US + 6 * US_PER_SECOND, &held);
    CHECK(!held, "and cannot give it back");
    REQUIRE_OK(store_stream_release(store, two.epoch, &err), err);
    (void)claim_at(store, "three", NOW_US + 6 * US_PER_SECOND, &held);
    CHECK(held, "the second one can");
    contract_end();
}

TEST(an_overtaken_sequencer_writes_nothing)
{
    struct store *store = contract_store();
    const struct stream_entry entries[] = { { { 1, 5 }, 1 }, { { 2, 7 }, 1 }, { { 3, 5 }, 2 } };
    struct stream_append first = { .now_us = NOW_US,
                                   .until_us = NOW_US + US_PER_SECOND,
                                   .cursor_id = 3,
                                   .horizon_id = 3,
                                   .entries = entries,
                                   .count = 3 };
    uint64_t before;
    bool held;

    first.epoch = claim_at(store, "one", NOW_US, &held).epoch;
    (void)claim_at(store, "two", NOW_US + 2 * US_PER_SECOND, &held);
    before = contract_digest();
    CHECK(!append(store, &first), "overtaken");
    CHECK(contract_digest() == before, "nothing is written, not even the lease");
    first.epoch++;
    CHECK(append(store, &first), "the one with the epoch");
    CHECK(!append(store, &first), "these positions are taken: somebody else was here");
    contract_end();
}

TEST(positions_follow_on_each_other_in_each_lane)
{
    struct store *store = contract_store();
    const struct stream_entry first[] = { { { 10, 5 }, 1 }, { { 12, 63 }, 1 }, { { 13, 5 }, 2 } };
    const struct stream_entry second[] = { { { 11, 5 }, 3 }, { { 20, 0 }, 1 } };
    struct stream_append more = { .now_us = NOW_US,
                                  .until_us = NOW_US + US_PER_SECOND,
                                  .cursor_id = 13,
                                  .horizon_id = 10,
                                  .entries = first,
                                  .count = 3 };
    struct stream_status status;
    struct stream_lease lease;
    struct stream_ids ids;
    struct error err = { 0 };
    bool held;

    more.epoch = claim_at(store, "one", NOW_US, &held).epoch;
    CHECK(append(store, &more), "three");
    more.cursor_id = 20;
    more.horizon_id = 13;
    more.entries = second;
    more.count = 2;
    CHECK(append(store, &more), "two more, one of them late");
    lease = claim_at(store, "one", NOW_US, &held);
    CHECK_EQ(lease.last_pos[5], 3, "lane 5");
    CHECK_EQ(lease.last_pos[63], 1, "lane 63");
    CHECK_EQ(lease.last_pos[0], 1, "lane 0");
    CHECK_EQ(lease.last_pos[1], 0, "no event");
    CHECK_EQ(lease.cursor_id, 20, "cursor");
    CHECK_EQ(lease.horizon_id, 13, "horizon");
    REQUIRE_OK(store_stream_taken(store, contract_arena(), 13, &ids, &err), err);
    REQUIRE(ids.count >= 1, "above 13");
    CHECK_EQ(ids.items[ids.count - 1], 20, "the last one");
    REQUIRE_OK(store_stream_status(store, contract_arena(), &status, &err), err);
    CHECK_EQ(status.last_pos[5], 3, "for people, too");
    CHECK_STR(status.lease_owner, STR("one"), "who");
    contract_end();
}

/* A part of a gap, or all of it, is found again; what is beyond the cursor up to the limit. */
TEST(a_scan_finds_what_is_new_and_what_was_passed_over)
{
    struct store *store = contract_store();
    const int64_t base = stream_rig_write(store, "a", 8) - 8; /* the id before them */
    const struct gap gaps[] = { { base + 1, base + 1 }, { base + 3, base + 4 } };
    const struct stream_scan scan = { base + 5, gaps, 2, 2 };
    struct outbox_ref_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_stream_scan(store, contract_arena(), &scan, &list, &err), err);
    REQUIRE(list.count == 5, "three in gaps, two beyond the cursor");
    CHECK_EQ(list.items[0].id, base + 1, "by id");
    CHECK_EQ(list.items[1].id, base + 3, "by id");
    CHECK_EQ(list.items[2].id, base + 4, "by id");
    CHECK_EQ(list.items[3].id, base + 6, "by id");
    CHECK_EQ(list.items[4].id, base + 7, "by id");
    contract_end();
}

TEST(everything_that_was_committed_comes_into_the_stream_once)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    struct sequencer *one, *two;
    struct error err = { 0 };

    one = stream_rig_sequencer(store, "one");
    two = stream_rig_sequencer(store, "two");
    (void)stream_rig_write(store, "a", 250);
    CHECK_EQ(stream_rig_round(one, NOW_US).appended, 250, "all of them");
    CHECK(!stream_rig_round(two, NOW_US).is_held, "the other one waits");
    (void)stream_rig_write(store, "b", 30);
    CHECK_EQ(stream_rig_round(two, NOW_US + US_PER_HOUR).appended, 30, "and takes over");
    (void)stream_rig_write(store, "c", 3);
    CHECK(stream_rig_round(one, NOW_US + US_PER_HOUR).was_overtaken, "the first one notices");
    CHECK_EQ(stream_rig_round(two, NOW_US + US_PER_HOUR).appended, 3, "the rest");
    stream_sql_check(dsn);
    REQUIRE_OK(sequencer_release(two, &err), err);
    CHECK(stream_rig_round(one, NOW_US + US_PER_HOUR).is_held, "given back");
    sequencer_close(one);
    sequencer_close(two);
    store_close(store);
    contract_end();
}

TEST(a_lease_is_given_back_after_a_round_that_failed)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn), *other = contract_open(dsn);
    struct sequencer *one, *two;
    struct sequencer_round round;
    struct error err = { 0 };

    fault_store_wrap(store);
    one = stream_rig_sequencer(store, "one");
    two = stream_rig_sequencer(other, "two");
    CHECK(stream_rig_round(one, NOW_US).is_held, "the lease");
    fault_store_arm(store, &(struct store_fault){ .effect = FAULT_BEFORE, .number = 1 });
    CHECK(!sequencer_round(one, NOW_US, &round, &err), "a round fails");
    CHECK(fault_store_disarm(store), "hit");
    if (store_error_is_lost(&err))
        REQUIRE_OK(store_reconnect(store, &err), err);
    else
        store_rollback(store);
    CHECK(!stream_rig_round(two, NOW_US).is_held, "nobody else has it");
    REQUIRE_OK(sequencer_release(one, &err), err);
    CHECK(stream_rig_round(two, NOW_US).is_held, "given back");
    REQUIRE_OK(sequencer_release(one, &err), err);
    CHECK(!stream_rig_round(one, NOW_US).is_held, "what is not its own is not given back");
    sequencer_close(one);
    sequencer_close(two);
    store_close(store);
    store_close(other);
    contract_end();
}
