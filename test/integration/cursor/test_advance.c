/* How far a cursor moves, and the events it adds. */
#include "cursoring.h"
#include "port/store_run.h"

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
    CHECK_STR(cursoring_remark(&events.items[1], "beyond"), STR("1"), "what waits after a gap");
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

    cursoring_add(store, &plan, 0, 1);
    cursoring_end(store, &plan, 0, TASK_SUCCEEDED);
    CHECK(!cursoring_advance(store, &plan).has_cursor, "only the planner starts cursors");
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

/* A run of the task of this hour, by one of several workers. */
static void add_run(struct store *store, int64_t hour, const char *worker, int64_t observed_us)
{
    struct task_list tasks;
    struct error err = { 0 };
    struct run run = { .lease_owner = str_of(worker),
                       .status = RUN_SUCCEEDED,
                       .stats = STR("{}"),
                       .observed_max = { observed_us != 0, observed_us },
                       .started_us = NOW_US,
                       .finished_us = NOW_US };

    REQUIRE_OK(store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 100 },
                               &tasks, &err),
               err);
    for (size_t i = 0; i < tasks.count; i++) {
        if (tasks.items[i].window.from_us == HOUR(hour)) {
            run.task_id = tasks.items[i].id;
            run.source = tasks.items[i].source;
            run.operation = tasks.items[i].operation;
        }
    }
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_run_add(store, &run, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
}

TEST(the_event_of_a_move_has_the_latest_record_of_all_slices_it_passes)
{
    struct store *store = contract_store();
    struct store *other = contract_another(store);
    const struct plan plan = cursoring_plan(store, NULL, 4);
    struct cursor_event_list events;

    /* Hours 1 and 2 end first, by another worker; hour 1 in two runs. Then hour 0 does. */
    add_run(other, 1, "b", HOUR(1) + 5);
    add_run(other, 1, "c", HOUR(1) + 3);
    add_run(other, 2, "b", HOUR(2) + 7);
    cursoring_end(other, &plan, 1, TASK_SUCCEEDED);
    CHECK(!cursoring_advance(other, &plan).moved, "hour 0 holds it back");
    cursoring_end(other, &plan, 2, TASK_SUCCEEDED);
    add_run(store, 0, "a", HOUR(0) + 9);
    cursoring_end(store, &plan, 0, TASK_SUCCEEDED);
    CHECK(cursoring_advance(store, &plan).moved, "moves over all three");
    events = cursoring_events(store, &plan);
    CHECK_STR(events.items[events.count - 1].observed_max, STR("2026-01-01T02:00:00.000007Z"),
              "of hour 2");
    CHECK_STR(cursoring_cursor(store, &plan).observed_max, STR("2026-01-01T02:00:00.000007Z"),
              "the cursor, too");
    /* An hour without records, and one whose latest is earlier than what is known. */
    cursoring_end(store, &plan, 3, TASK_SUCCEEDED);
    CHECK(cursoring_advance(store, &plan).moved, "moves over hour 3");
    events = cursoring_events(store, &plan);
    CHECK_STR(events.items[events.count - 1].observed_max, STR(""), "it has no records");
    cursoring_add(store, &plan, 4, 1);
    add_run(store, 4, "a", HOUR(1));
    cursoring_end(store, &plan, 4, TASK_SUCCEEDED);
    CHECK(cursoring_advance(store, &plan).moved, "moves over hour 4");
    events = cursoring_events(store, &plan);
    CHECK_STR(events.items[events.count - 1].observed_max, STR("2026-01-01T01:00:00Z"),
              "what hour 4 has");
    CHECK_STR(cursoring_cursor(store, &plan).observed_max, STR("2026-01-01T02:00:00.000007Z"),
              "the cursor keeps the latest");
    contract_end();
}

/* Two endpoints share the cursor. The one that is complete last moves it, and has the earlier
 * record. */
TEST(the_event_of_a_shared_cursor_has_the_latest_record_of_all_endpoints)
{
    struct store *store = contract_store();
    struct plan like = cursoring_like(OPERATION_HARVEST), works, authors;
    struct cursor_event_list events;
    struct error err = { 0 };

    like.cursor_key = STR("*.indexed");
    works = cursoring_plan(store, &like, 1);
    add_run(store, 0, "a", HOUR(0) + 9);
    authors = works;
    authors.endpoint = STR("authors");
    REQUIRE_OK(store_plan_add(store, &authors, &authors.id, &err), err);
    cursoring_end(store, &works, 0, TASK_SUCCEEDED);
    CHECK(!cursoring_advance(store, &works).moved, "the other has covered nothing");
    cursoring_add(store, &authors, 0, 1);
    add_run(store, 0, "b", HOUR(0) + 3);
    cursoring_end(store, &authors, 0, TASK_SUCCEEDED);
    CHECK(cursoring_advance(store, &authors).moved, "both are complete");
    events = cursoring_events(store, &authors);
    CHECK_STR(events.items[events.count - 1].observed_max, STR("2026-01-01T00:00:00.000009Z"),
              "of the other endpoint");
    contract_end();
}

TEST(an_executor_asks_with_its_task)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_plan(store, NULL, 1);
    struct cursor_advance_request request;
    struct cursor_advance_result result;
    struct task_list tasks;
    struct error err = { 0 };

    cursoring_end(store, &plan, 0, TASK_SUCCEEDED);
    REQUIRE_OK(
        store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 1 }, &tasks, &err),
        err);
    request = cursor_advance_of(&tasks.items[0], 77, NOW_US);
    REQUIRE_OK(cursor_advance(store, contract_arena(), &request, &result, &err), err);
    CHECK(result.moved, "moved");
    CHECK_EQ(result.value.instant_us, HOUR(1), "value");
    CHECK_EQ(cursoring_cursor(store, &plan).lineage.run_id, 77, "run");
    CHECK_EQ(cursoring_cursor(store, &plan).lineage.task_id, tasks.items[0].id, "task");
    contract_end();
}

/* ---- namespaces ---- */

TEST(a_campaign_moves_when_its_oldest_slice_is_done)
{
    struct store *store = contract_store();
    const struct plan like = cursoring_like(OPERATION_BACKFILL);
    const struct plan plan = cursoring_plan(store, &like, 4);
    struct cursor_event_list events;

    for (int64_t hour = 3; hour > 0; hour--) {
        cursoring_end(store, &plan, hour, TASK_SUCCEEDED);
        CHECK(!cursoring_advance(store, &plan).moved, "from the newest to the oldest");
    }
    cursoring_end(store, &plan, 0, TASK_SUCCEEDED);
    CHECK(cursoring_advance(store, &plan).moved, "the oldest");
    CHECK_EQ(cursoring_cursor(store, &plan).value.instant_us, HOUR(4), "past all of them");
    events = cursoring_events(store, &plan);
    REQUIRE(events.count == 2, "the start, and one move");
    CHECK_EQ(events.items[1].direction, DIRECTION_BACKFILL, "direction");
    contract_end();
}

static void work_on_harvest(struct store *store, const struct plan *plan, int64_t hour)
{
    cursoring_end(store, plan, hour, hour == 3 ? TASK_FAILED : TASK_SUCCEEDED);
    (void)cursoring_advance(store, plan);
}

TEST(backfill_and_update_leave_the_forward_history_as_it_is)
{
    static const int64_t order[] = { 1, 0, 4, 2, 3, 5 };
    struct cursor_event_list alone, beside;
    struct store *store = contract_store();
    struct plan harvest = cursoring_plan(store, NULL, 6);
    struct plan others[2], like;

    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        work_on_harvest(store, &harvest, order[i]);
    alone = cursoring_events(store, &harvest);

    store = contract_store();
    like = cursoring_like(OPERATION_BACKFILL);
    others[0] = cursoring_plan(store, &like, 6);
    harvest = cursoring_plan(store, NULL, 6);
    like = cursoring_like(OPERATION_UPDATE);
    others[1] = cursoring_plan(store, &like, 6);
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        cursoring_end(store, &others[0], 5 - (int64_t)i, TASK_SUCCEEDED);
        (void)cursoring_advance(store, &others[0]);
        work_on_harvest(store, &harvest, order[i]);
        cursoring_end(store, &others[1], (int64_t)i, TASK_SUCCEEDED);
        (void)cursoring_advance(store, &others[1]);
    }
    beside = cursoring_events(store, &harvest);
    REQUIRE(beside.count == alone.count, "as many events");
    CHECK_EQ(alone.count, 3, "0 with 1, then 2, then stopped");
    for (size_t i = 0; i < alone.count; i++) {
        CHECK_EQ(beside.items[i].prev.instant_us, alone.items[i].prev.instant_us, "prev");
        CHECK_EQ(beside.items[i].next.instant_us, alone.items[i].next.instant_us, "next");
        CHECK_EQ(beside.items[i].reason, alone.items[i].reason, "reason");
        CHECK_EQ(beside.items[i].direction, alone.items[i].direction, "direction");
    }
    CHECK_EQ(cursoring_cursor(store, &others[0]).value.instant_us, HOUR(6), "BACKFILL is done");
    CHECK_EQ(cursoring_cursor(store, &others[1]).value.instant_us, HOUR(6), "and so is UPDATE");
    CHECK_EQ(cursoring_cursor(store, &harvest).value.instant_us, HOUR(3), "HARVEST waits");
    contract_end();
}

/* ---- ids and tokens ---- */

static struct cursor_advance_result bring(struct store *store, const struct plan *plan,
                                          enum cursor_type type, const char *value,
                                          bool is_compensation, int64_t run_id)
{
    const struct cursor_value candidate = { .type = type, .text = str_of(value) };
    struct cursor_advance_request request = cursoring_request(plan);
    struct cursor_advance_result result;
    struct error err = { 0 };

    request.candidate = &candidate;
    request.is_compensation = is_compensation;
    request.lineage.run_id = run_id;
    REQUIRE_OK(cursor_advance(store, contract_arena(), &request, &result, &err), err);
    return result;
}

TEST(an_id_that_fell_back_is_recorded_and_moves_nothing)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_like(OPERATION_UPDATE);
    struct cursor_event_list events;

    CHECK(bring(store, &plan, CURSOR_ID, "9", false, 1).moved, "the first starts it");
    CHECK(bring(store, &plan, CURSOR_ID, "10", false, 2).moved, "ten is after nine");
    CHECK(!bring(store, &plan, CURSOR_ID, "010", false, 3).no_forward, "to stand is no event");
    CHECK(bring(store, &plan, CURSOR_ID, "2", false, 4).no_forward, "to fall back is one");
    CHECK_STR(cursoring_cursor(store, &plan).value.text, STR("10"), "value");
    (void)bring(store, &plan, CURSOR_ID, "2", false, 4);
    events = cursoring_events(store, &plan);
    REQUIRE(events.count == 3, "the same fall once");
    CHECK_EQ(events.items[2].reason, CURSOR_EVENT_NO_FORWARD, "reason");
    CHECK_STR(events.items[2].next.text, STR("10"), "from and to where it stands");
    CHECK_STR(cursoring_remark(&events.items[2], "candidate"), STR("2"), "what came");
    cursoring_check_replay(store, &plan, "events and value");
    contract_end();
}

TEST(a_token_is_replaced_and_one_that_expired_is_reported)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_like(OPERATION_HARVEST);
    struct cursor_event_list events;
    struct cursor_advance_result result;

    CHECK(bring(store, &plan, CURSOR_TOKEN, "b", false, 1).moved, "the first");
    CHECK(bring(store, &plan, CURSOR_TOKEN, "a", false, 2).moved, "tokens have no order");
    CHECK(!bring(store, &plan, CURSOR_TOKEN, "a", false, 3).moved, "the same");
    result = bring(store, &plan, CURSOR_TOKEN, "c", true, 4);
    CHECK(result.compensated, "expired");
    CHECK(bring(store, &plan, CURSOR_TOKEN, "a", false, 5).moved, "one that was there before");
    events = cursoring_events(store, &plan);
    REQUIRE(events.count == 4, "the four that moved");
    CHECK_EQ(events.items[2].reason, CURSOR_EVENT_COMPENSATE, "reason");
    CHECK_STR(cursoring_cursor(store, &plan).value.text, STR("a"), "the last one stands");
    cursoring_check_replay(store, &plan, "events and value");
    contract_end();
}

TEST(a_cursor_of_another_type_is_an_alarm)
{
    struct store *store = contract_store();
    const struct plan plan = cursoring_plan(store, NULL, 1);
    const struct cursor_value candidate = { .type = CURSOR_ID, .text = STR("1") };
    struct cursor_advance_request request = cursoring_request(&plan);
    struct cursor_advance_result result;
    struct error err = { 0 };

    request.candidate = &candidate;
    CHECK(!cursor_advance(store, contract_arena(), &request, &result, &err), "refused");
    CHECK_EQ(err.level, ERROR_FATAL, "L4");
    CHECK_EQ(cursoring_events(store, &plan).count, 1, "nothing was written");
    contract_end();
}
