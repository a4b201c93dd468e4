/* How far a cursor moves, and what it leaves behind. */
#include "cursoring.h"

TEST(a_cursor_stops_where_the_first_slice_failed)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_plan(store, NULL, 5);

    cursoring_end(store, &plan, 4, TASK_SUCCEEDED);
    CHECK(!cursoring_advance(store, &plan).moved, "the last slice moves nothing");
    cursoring_end(store, &plan, 0, TASK_SUCCEEDED);
    CHECK(cursoring_advance(store, &plan).moved, "the first does");
    CHECK_EQ(cursoring_cursor(store, &plan).value.instant_us, HOUR(1), "to its end");
    cursoring_end(store, &plan, 1, TASK_SUCCEEDED);
    (void)cursoring_advance(store, &plan);
    cursoring_end(store, &plan, 2, TASK_FAILED);
    (void)cursoring_advance(store, &plan);
    cursoring_end(store, &plan, 3, TASK_SUCCEEDED);
    (void)cursoring_advance(store, &plan);
    CHECK_EQ(cursoring_cursor(store, &plan).value.instant_us, HOUR(2), "where the third begins");
    cursoring_add(store, &plan, 2, 1);
    cursoring_end(store, &plan, 2, TASK_SUCCEEDED);
    CHECK(cursoring_advance(store, &plan).moved, "healed");
    CHECK_EQ(cursoring_cursor(store, &plan).value.instant_us, HOUR(5), "past all that waited");
    CHECK_EQ(cursoring_events(store, &plan).count, 4, "the start and three moves, no more");
    cursoring_check_replay(store, &plan, "events and value");
    contract_end();
}

TEST(an_event_tells_who_and_from_where_to_where)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_plan(store, NULL, 3);
    struct cursor_event_list events;
    struct cursor cursor;

    cursoring_end(store, &plan, 0, TASK_SUCCEEDED);
    cursoring_end(store, &plan, 2, TASK_SUCCEEDED);
    (void)cursoring_advance(store, &plan);
    events = cursoring_events(store, &plan);
    REQUIRE(events.count == 2, "the start, and one move");
    CHECK_EQ(events.items[1].prev.instant_us, HOUR(0), "from");
    CHECK_EQ(events.items[1].next.instant_us, HOUR(1), "to");
    CHECK_EQ(events.items[1].window.from_us, HOUR(0), "window");
    CHECK_EQ(events.items[1].window.to_us, HOUR(1), "window");
    CHECK_EQ(events.items[1].reason, CURSOR_EVENT_ADVANCE, "reason");
    CHECK_EQ(events.items[1].direction, DIRECTION_FORWARD, "direction");
    CHECK_EQ(events.items[1].lineage.run_id, 5, "run");
    CHECK_STR(cursoring_remark(&events.items[1], "beyond"), STR("1"), "what waits behind a gap");
    CHECK_STR(cursoring_remark(&events.items[1], "reason"), STR("HARVEST"), "what it was for");
    cursor = cursoring_cursor(store, &plan);
    CHECK_EQ(cursor.lineage.task_id, 4, "the cursor knows its task");
    CHECK_STR(cursor.expr_hash, STR(HASH_B), "and its expression");
    contract_end();
}

TEST(a_call_that_finds_nothing_to_do_leaves_nothing)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_plan(store, NULL, 2);

    cursoring_end(store, &plan, 0, TASK_SUCCEEDED);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(cursoring_advance(store, &plan).moved, i == 0, "once");
    CHECK_EQ(cursoring_events(store, &plan).count, 2, "events");
    CHECK_EQ(cursoring_cursor(store, &plan).version, 2, "version");
    contract_end();
}

TEST(the_finished_part_of_a_slice_counts)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_plan(store, NULL, 2);
    const struct window part = { HOUR(0), HOUR(0) + 1000 };

    cursoring_end_part(store, &plan, 0, part);
    (void)cursoring_advance(store, &plan);
    CHECK_EQ(cursoring_cursor(store, &plan).value.instant_us, part.to_us, "to the part's end");
    contract_end();
}

TEST(a_namespace_without_a_cursor_is_left_alone)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct cursor_advance_request request = cursoring_request(&plan);
    struct cursor_advance_result result;
    struct error err = { 0 };

    rows_add_tasks(store, &plan, 1);
    cursoring_end(store, &plan, 0, TASK_SUCCEEDED);
    CHECK(!cursoring_advance(store, &plan).has_cursor, "the planner starts cursors, nobody else");
    request.of.cursor_key = STR("");
    REQUIRE_OK(cursor_advance(store, contract_arena(), &request, &result, &err), err);
    CHECK(!result.has_cursor, "no cursor follows");
    CHECK_EQ(cursoring_events(store, &plan).count, 0, "events");
    contract_end();
}

TEST(what_was_seen_is_kept_while_the_cursor_is_held_back)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_plan(store, NULL, 3);
    struct cursor_advance_request request = cursoring_request(&plan);
    struct cursor_advance_result result;
    struct error err = { 0 };

    cursoring_end(store, &plan, 1, TASK_SUCCEEDED);
    request.observed_max = (struct maybe_instant){ true, HOUR(2) + 500000 };
    REQUIRE_OK(cursor_advance(store, contract_arena(), &request, &result, &err), err);
    CHECK(!result.moved, "held back");
    CHECK_STR(cursoring_cursor(store, &plan).observed_max, STR("2026-01-01T02:00:00.500000Z"),
              "seen");
    cursoring_end(store, &plan, 0, TASK_SUCCEEDED);
    request.observed_max.at_us = HOUR(2);
    REQUIRE_OK(cursor_advance(store, contract_arena(), &request, &result, &err), err);
    CHECK(result.moved, "moves");
    CHECK_STR(cursoring_cursor(store, &plan).observed_max, STR("2026-01-01T02:00:00.500000Z"),
              "what is earlier does not count");
    contract_end();
}
