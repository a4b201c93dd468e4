/* A value against its events, the value rebuilt, and resets. */
#include "cursoring.h"
#include "engine/cursor/cursor_reset.h"
#include "engine/cursor/cursor_verify.h"

static struct cursor_check check(struct store *store, const struct plan *plan)
{
    struct cursor_check_list list;
    struct error err = { 0 };

    REQUIRE_OK(cursor_verify(store, contract_arena(), plan->source, &list, &err), err);
    REQUIRE(list.count == 1, "one namespace");
    return list.items[0];
}

static void set_without_event(struct store *store, const struct plan *plan, int64_t at_us)
{
    const struct cursor cursor = cursoring_cursor(store, plan);
    const struct cursor_move move = { .to = { .type = CURSOR_TIME, .instant_us = at_us },
                                      .expr_hash = cursor.expr_hash,
                                      .now_us = NOW_US };
    struct error err = { 0 };
    bool moved;

    REQUIRE_OK(store_cursor_set(store, &cursor, &move, &moved, &err), err);
}

static struct cursor_check rebuild(struct store *store, const struct plan *plan)
{
    const struct cursor_name name = cursoring_name(plan);
    struct cursor_check found;
    struct error err = { 0 };

    REQUIRE_OK(cursor_rebuild(store, contract_arena(), &name, NOW_US, &found, &err), err);
    return found;
}

/* Values without an event, on either side of the one that events give. */
TEST(a_value_that_its_events_do_not_give_is_found_and_rebuilt)
{
    static const int64_t hours[] = { 0, 1, 5 };

    for (size_t i = 0; i < ARRAY_LEN(hours); i++) {
        struct store *store = contract_store();
        const struct plan plan = cursoring_plan(store, NULL, 3);
        struct cursor_check found;

        cursoring_end(store, &plan, 0, TASK_SUCCEEDED);
        cursoring_end(store, &plan, 1, TASK_SUCCEEDED);
        (void)cursoring_advance(store, &plan);
        CHECK(check(store, &plan).agrees, "as it should be");
        set_without_event(store, &plan, HOUR(hours[i]));
        found = check(store, &plan);
        CHECK(!found.agrees, "rebuild required");
        CHECK_EQ(found.cursor.value.instant_us, HOUR(hours[i]), "the value in the row");
        CHECK_EQ(found.replay.instant_us, HOUR(2), "what the events give");
        CHECK(!rebuild(store, &plan).agrees, "found once more");
        CHECK_EQ(cursoring_cursor(store, &plan).value.instant_us, HOUR(2), "rebuilt");
        CHECK(rebuild(store, &plan).agrees, "twice is once");
        cursoring_end(store, &plan, 2, TASK_SUCCEEDED);
        CHECK(cursoring_advance(store, &plan).moved, "and it goes on");
        cursoring_check_replay(store, &plan, "events and value");
        contract_end();
    }
}

TEST(a_value_that_is_lost_is_made_from_its_events)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_like(OPERATION_HARVEST);
    const struct cursor_name name = cursoring_name(&plan);
    struct cursor_event event = { .name = name,
                                  .next = { .type = CURSOR_TIME },
                                  .expr_hash = STR(HASH_B),
                                  .remarks = STR("{}"),
                                  .created_us = NOW_US };
    struct cursor_check found;
    struct error err = { 0 };
    bool added;

    for (int64_t i = 0; i < 1200; i++) { /* more than a page of events */
        event.idempotent_key = arena_printf(contract_arena(), "event %" PRId64, i);
        event.prev = event.next;
        event.has_prev = i > 0;
        event.next.instant_us = HOUR(i);
        REQUIRE_OK(store_cursor_event_add(store, &event, &added, &err), err);
    }
    found = check(store, &plan);
    CHECK(!found.agrees, "rebuild required");
    CHECK(!found.has_cursor, "there is none");
    CHECK_EQ(found.events, 1200, "all of them were read");
    CHECK_EQ(found.gaps, 0, "without a gap");
    (void)rebuild(store, &plan);
    CHECK_EQ(cursoring_cursor(store, &plan).value.instant_us, HOUR(1199), "made");
    CHECK_EQ(cursoring_cursor(store, &plan).version, 1201, "no version is used twice");
    CHECK(check(store, &plan).agrees, "as it should be");
    contract_end();
}

TEST(without_events_nothing_can_be_rebuilt)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_like(OPERATION_HARVEST);
    const struct cursor cursor = { .name = cursoring_name(&plan) };
    const struct cursor_move move = { .to = { .type = CURSOR_TIME, .instant_us = NOW_US },
                                      .expr_hash = STR(HASH_B),
                                      .now_us = NOW_US };
    struct cursor_check found;
    struct error err = { 0 };
    bool moved;

    REQUIRE_OK(store_cursor_set(store, &cursor, &move, &moved, &err), err);
    CHECK(!check(store, &plan).agrees, "a value without an event");
    CHECK(!cursor_rebuild(store, contract_arena(), &cursor.name, NOW_US, &found, &err), "refused");
    CHECK_EQ(err.level, ERROR_REQUEST, "L2");
    CHECK_EQ(cursoring_cursor(store, &plan).version, 1, "nothing was written");
    contract_end();
}

/* ---- resets ---- */

static struct cursor_reset_request reset_request(const struct plan *plan, int64_t to_us)
{
    return (struct cursor_reset_request){ .name = cursoring_name(plan),
                                          .to = { .type = CURSOR_TIME, .instant_us = to_us },
                                          .who = STR("joe"),
                                          .reason = STR("the source \"mended\" its dates"),
                                          .now_us = HOUR(100) };
}

static struct cursor_reset_result reset(struct store *store, const struct plan *plan, int64_t to_us)
{
    const struct cursor_reset_request request = reset_request(plan, to_us);
    struct cursor_reset_result result;
    struct error err = { 0 };

    REQUIRE_OK(cursor_reset(store, contract_arena(), &request, &result, &err), err);
    return result;
}

TEST(a_reset_back_takes_coverage_back_and_is_recorded)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_plan(store, NULL, 5);
    struct cursor_reset_result result;
    struct cursor_event_list events;

    for (int64_t hour = 0; hour < 5; hour++) {
        if (hour != 3)
            cursoring_end(store, &plan, hour, TASK_SUCCEEDED);
    }
    (void)cursoring_advance(store, &plan);
    result = reset(store, &plan, HOUR(1));
    CHECK(result.is_moved, "done");
    CHECK_EQ(result.prev.instant_us, HOUR(3), "from where");
    CHECK_EQ(result.tasks, 3, "hours 1, 2 and 4; hour 3 waits and is left");
    CHECK(!cursoring_advance(store, &plan).moved, "nothing is covered there");
    events = cursoring_events(store, &plan);
    REQUIRE(events.count == 3, "start, move, reset");
    CHECK_EQ(events.items[2].reason, CURSOR_EVENT_RESET, "reason");
    CHECK_EQ(events.items[2].prev.instant_us, HOUR(3), "prev");
    CHECK_EQ(events.items[2].next.instant_us, HOUR(1), "next");
    CHECK_STR(cursoring_remark(&events.items[2], "by"), STR("joe"), "who");
    CHECK_STR(cursoring_remark(&events.items[2], "reason"),
              STR("the source \\\"mended\\\" its dates"), "why");
    cursoring_check_replay(store, &plan, "events and value");

    cursoring_add(store, &plan, 1, 2);
    cursoring_add(store, &plan, 4, 1);
    for (int64_t hour = 1; hour < 5; hour++)
        cursoring_end(store, &plan, hour, TASK_SUCCEEDED);
    CHECK(cursoring_advance(store, &plan).moved, "fetched again");
    CHECK_EQ(cursoring_cursor(store, &plan).value.instant_us, HOUR(5), "without a gap");
    cursoring_check_replay(store, &plan, "events and value");
    contract_end();
}

/* The same steps after a reset as before it, by the same hands: other events all the same. */
TEST(the_same_way_gone_again_after_a_reset_is_recorded_again)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_plan(store, NULL, 1);

    for (int i = 0; i < 3; i++) {
        if (i > 0)
            cursoring_add(store, &plan, 0, 1);
        cursoring_end(store, &plan, 0, TASK_SUCCEEDED);
        CHECK(cursoring_advance(store, &plan).moved, "to the end");
        cursoring_check_replay(store, &plan, "events and value");
        CHECK(reset(store, &plan, HOUR(0)).is_moved, "and back");
        cursoring_check_replay(store, &plan, "events and value");
    }
    CHECK_EQ(cursoring_events(store, &plan).count, 7, "each of them");
    contract_end();
}

TEST(a_reset_forward_gives_up_what_lies_between)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_plan(store, NULL, 4);

    cursoring_end(store, &plan, 0, TASK_SUCCEEDED);
    cursoring_end(store, &plan, 1, TASK_FAILED);
    cursoring_end(store, &plan, 2, TASK_SUCCEEDED);
    (void)cursoring_advance(store, &plan);
    CHECK_EQ(reset(store, &plan, HOUR(2)).tasks, 0, "no coverage is lost");
    CHECK(cursoring_advance(store, &plan).moved, "what waited after the gap");
    CHECK_EQ(cursoring_cursor(store, &plan).value.instant_us, HOUR(3), "is passed");
    cursoring_check_replay(store, &plan, "events and value");
    contract_end();
}

TEST(a_reset_that_can_not_be_is_refused)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_plan(store, NULL, 1);
    struct cursor_reset_request request = reset_request(&plan, HOUR(0));
    struct cursor_reset_result result;
    struct error err = { 0 };

    REQUIRE_OK(cursor_reset(store, contract_arena(), &request, &result, &err), err);
    CHECK(!result.is_moved, "it stands there");
    request.to.instant_us = request.now_us + 1;
    CHECK(!cursor_reset(store, contract_arena(), &request, &result, &err), "beyond now");
    CHECK_EQ(err.level, ERROR_REQUEST, "beyond now");
    request = reset_request(&plan, HOUR(0));
    request.to = (struct cursor_value){ .type = CURSOR_ID, .text = STR("1") };
    CHECK(!cursor_reset(store, contract_arena(), &request, &result, &err), "of another type");
    CHECK_EQ(err.level, ERROR_REQUEST, "of another type");
    request = reset_request(&plan, HOUR(0));
    request.name.operation = OPERATION_BACKFILL;
    CHECK(!cursor_reset(store, contract_arena(), &request, &result, &err), "unknown");
    CHECK_EQ(err.level, ERROR_REQUEST, "unknown");
    CHECK_EQ(cursoring_events(store, &plan).count, 1, "nothing was written");
    contract_end();
}
