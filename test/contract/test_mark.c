/* The latest time that a store has seen, and what is mended when that was wrong. */
#include "contract.h"
#include "engine/session/store_time.h"
#include "port/store_alert.h"
#include "port/store_mark.h"
#include "port/store_rate.h"
#include "port/store_schedule.h"
#include "rows.h"
#include "virtual_clock.h"

#define DAY US_PER_DAY

static struct store_mark mark_at(int64_t seen_us)
{
    return (struct store_mark){ .is_there = true, .seen_us = seen_us, .boot = "b", .up_us = 7 };
}

static struct store_mark load(struct store *store)
{
    struct store_mark mark;
    int64_t server_us;
    bool has_server;
    struct error err = { 0 };

    REQUIRE_OK(store_mark_load(store, &mark, &has_server, &server_us, &err), err);
    return mark;
}

TEST(a_mark_only_goes_back_when_a_person_says_so)
{
    struct store *store = contract_store();
    struct store_mark mark = mark_at(NOW_US);
    struct error err = { 0 };

    CHECK(!load(store).is_there, "a new store has seen nothing");
    REQUIRE_OK(store_mark_save(store, &mark, false, &err), err);
    CHECK_EQ(load(store).seen_us, NOW_US, "seen");
    CHECK_STR(str_of(load(store).boot), STR("b"), "where");
    CHECK_EQ(load(store).up_us, 7, "up");
    mark = mark_at(NOW_US - DAY);
    REQUIRE_OK(store_mark_save(store, &mark, false, &err), err);
    CHECK_EQ(load(store).seen_us, NOW_US, "not back");
    REQUIRE_OK(store_mark_save(store, &mark, true, &err), err);
    CHECK_EQ(load(store).seen_us, NOW_US - DAY, "but on purpose");
    contract_end();
}

/* The time of a server is its own; a test cannot set it. */
TEST(a_time_before_the_mark_is_refused)
{
    struct store *store = contract_store();
    struct virtual_clock clock;
    struct store_time time;
    struct store_mark mark;
    struct error err = { 0 };

    virtual_clock_init(&clock, NOW_US);
    REQUIRE_OK(store_time(store, &clock.clock, &time, &err), err);
    mark = time.at;
    CHECK_EQ(load(store).seen_us, time.now_us, "it is noted");
    mark.seen_us = time.now_us + 2 * DAY;
    REQUIRE_OK(store_mark_save(store, &mark, false, &err), err);
    CHECK(!store_time(store, &clock.clock, &time, &err), "two days before it");
    CHECK_STR(str_of(err.code), STR("store.clock"), "named");
    CHECK_EQ(err.level, ERROR_TRANSIENT, "and waited for");
    REQUIRE_OK(store_time_look(store, &clock.clock, &time, &err), err);
    CHECK_EQ(time.jump, CLOCK_BEHIND, "shown");
    contract_end();
}

static void host_since_start(struct clock *clock, struct clock_host *host)
{
    *host = (struct clock_host){ .boot = "this start",
                                 .up_us = clock_monotonic_us(clock),
                                 .calendar_us = clock_now_us(clock) };
}

/* Observations are compared by their times: two that follow each other must not have the same. */
TEST(after_a_start_of_the_host_a_little_before_the_mark_the_time_goes_on)
{
    struct store *store = contract_store();
    struct store_mark mark = mark_at(NOW_US + 2 * US_PER_MINUTE); /* of an earlier start */
    struct store_time first, then;
    struct virtual_clock clock;
    struct error err = { 0 };
    int64_t server_us;
    bool has_server;

    REQUIRE_OK(store_mark_load(store, &(struct store_mark){ 0 }, &has_server, &server_us, &err),
               err);
    if (has_server) {
        contract_end();
        test_skip("the time is the server's");
    }
    virtual_clock_init(&clock, NOW_US);
    clock.clock.host = host_since_start;
    REQUIRE_OK(store_mark_save(store, &mark, false, &err), err);
    REQUIRE_OK(store_time(store, &clock.clock, &first, &err), err);
    CHECK_EQ(first.now_us, mark.seen_us, "not before what was seen");
    virtual_clock_advance(&clock, US_PER_MINUTE);
    REQUIRE_OK(store_time(store, &clock.clock, &then, &err), err);
    CHECK_EQ(then.now_us, first.now_us + US_PER_MINUTE / 2, "at half its speed");
    virtual_clock_advance(&clock, 3 * US_PER_MINUTE);
    REQUIRE_OK(store_time(store, &clock.clock, &then, &err), err);
    CHECK_EQ(then.now_us, NOW_US + 4 * US_PER_MINUTE, "until the calendar has caught up");
    contract_end();
}

static int64_t take_slot(struct store *store, int64_t now_us, int64_t until_us)
{
    const struct rate_slot slot = {
        .rate_key = STR("k"), .owner = STR("x"), .now_us = now_us, .until_us = until_us, .max = 1
    };
    struct error err = { 0 };
    int64_t id;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_slot_take(store, &slot, &id, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    return id;
}

TEST(what_was_written_for_later_is_brought_back)
{
    struct store *store = contract_store();
    const struct schedule_tick tick = { STR("s"), STR("harvest"), NOW_US + 2 * DAY };
    struct alert_turn turn = { STR("x"), NOW_US + 2 * DAY - 1, 1 };
    struct store_mark_mended mended;
    struct error err = { 0 };
    int64_t last_us;
    bool is_so;

    REQUIRE_OK(store_tick_claim(store, &tick, STR("x"), NOW_US + 2 * DAY, &is_so, &err), err);
    REQUIRE(take_slot(store, NOW_US + 2 * DAY, NOW_US + 3 * DAY) != 0, "the one slot");
    REQUIRE_OK(store_alert_turn(store, &turn, &is_so, &err), err);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_mark_mend(store,
                               &(struct store_mark_mending){ .seen_us = NOW_US + 2 * DAY,
                                                             .now_us = NOW_US,
                                                             .with_rates = true },
                               &mended, &err),
               err);
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(mended.ticks, 1, "a tick that has not come yet");
    REQUIRE_OK(store_tick_last(store, tick.source, tick.schedule, &last_us, &is_so, &err), err);
    CHECK(!is_so, "it can fire again");
    CHECK_EQ(mended.others, 2, "a slot, and whose turn it is to look for alerts");
    turn.owner = STR("another");
    turn.now_us = NOW_US + 2;
    REQUIRE_OK(store_alert_turn(store, &turn, &is_so, &err), err);
    CHECK(is_so, "which another process can take");
    CHECK_EQ(take_slot(store, NOW_US + DAY - 1, NOW_US + 9 * DAY), 0, "is kept as long as before");
    CHECK(take_slot(store, NOW_US + DAY + 1, NOW_US + 9 * DAY) != 0, "and no longer");
    contract_end();
}

/* Where a host's mark is moved, rates and slots move with it, and keep their distance. */
TEST(rates_are_shifted_and_what_was_never_set_stays)
{
    struct store *store = contract_store();
    struct rate_gate row, before;
    struct error err = { 0 };
    bool saved;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_rate_load(store, STR("k"), &before, &err), err);
    before.bucket.rate = 1000000;
    before.bucket.refilled_at_us = NOW_US;
    before.bucket.cooldown_until_us = NOW_US + DAY;
    before.bucket.started_at_us = NOW_US;
    before.bucket.raised_at_us = NOW_US;
    REQUIRE_OK(store_rate_save(store, STR("k"), &before, NOW_US, &saved, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE(take_slot(store, NOW_US, NOW_US + DAY) != 0, "the one slot");
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_mark_shift(store, -2 * DAY, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_rate_peek(store, STR("k"), &row, &err), err);
    CHECK_EQ(row.bucket.refilled_at_us, NOW_US - 2 * DAY, "filled");
    CHECK_EQ(row.bucket.cooldown_until_us, NOW_US - DAY, "silent until");
    CHECK_EQ(row.parked_until_us, before.parked_until_us, "never parked");
    CHECK_EQ(row.bucket.demoted_at_us, before.bucket.demoted_at_us, "never slowed down");
    CHECK_EQ(take_slot(store, NOW_US - DAY - 1, NOW_US), 0, "the slot is kept as long as before");
    CHECK(take_slot(store, NOW_US - DAY + 1, NOW_US) != 0, "and no longer");
    contract_end();
}
