/* Cursors together with the planner that starts them and plans by them. */
#include "cursoring.h"
#include "engine/cursor/cursor_event.h"
#include "engine/cursor/cursor_reset.h"
#include "planning.h"

static const struct planning_source BY_DAY = { .window = "align: day, max: 1d, min: 1h, lag: 0" };

static struct plan_result harvest(struct store *store)
{
    struct plan_request request = planning_request("harvest");

    request.from = maybe("2025-12-27");
    return planning_trigger(store, &request);
}

static struct cursor the_cursor(struct store *store)
{
    struct cursor_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_cursor_list(store, contract_arena(), STR("demo"), &list, &err), err);
    REQUIRE(list.count == 1, "one cursor");
    return list.items[0];
}

TEST(a_trigger_makes_good_what_a_dead_executor_left_out)
{
    struct store *store = contract_store();
    struct cursor_event_list events;
    struct cursor cursor;
    struct error err = { 0 };

    planning_apply(store, &BY_DAY);
    CHECK_EQ(harvest(store).slices, 5, "five days");
    CHECK_EQ(the_cursor(store).value.instant_us, at("2025-12-27"), "where it begins");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(harvest(store).slices, 0, "nothing is left");
    cursor = the_cursor(store);
    CHECK_EQ(cursor.value.instant_us, NOW_US, "the cursor has caught up");
    REQUIRE_OK(store_cursor_event_last(store, contract_arena(), &cursor.name, 1, &events, &err),
               err);
    CHECK_STR(cursoring_remark(&events.items[0], "caughtUp"), STR("true"), "and tells");
    contract_end();
}

TEST(a_plan_by_pages_moves_the_cursor_when_all_pages_are_done)
{
    struct store *store = contract_store();
    struct cursor_advance_result result;
    struct task_list tasks;
    struct error err = { 0 };

    planning_apply(store,
                   &(struct planning_source){ .window = BY_DAY.window,
                                              .page = "max_pages: 25",
                                              .operations = "  harvest: { endpoint: works,"
                                                            " slice: { by: page, pages: 10 } }" });
    CHECK_EQ(harvest(store).slices, 3, "25 pages by ten");
    tasks = planning_tasks(store);
    for (size_t i = 0; i < tasks.count; i++) {
        const struct cursor_advance_request request = cursor_advance_of(&tasks.items[i], 1, NOW_US);

        planning_end(store, tasks.items[i].id, TASK_SUCCEEDED, NULL);
        REQUIRE_OK(cursor_advance(store, contract_arena(), &request, &result, &err), err);
        CHECK_EQ(result.moved, i + 1 == tasks.count, "with the last page");
    }
    CHECK_EQ(the_cursor(store).value.instant_us, NOW_US, "to the window's end");
    contract_end();
}

static int64_t reset_to(struct store *store, const char *to)
{
    const struct cursor_reset_request request = {
        .name = the_cursor(store).name,
        .to = { .type = CURSOR_TIME, .instant_us = at(to) },
        .who = STR("joe"),
        .now_us = NOW_US,
    };
    struct cursor_reset_result result;
    struct error err = { 0 };

    REQUIRE_OK(cursor_reset(store, contract_arena(), &request, &result, &err), err);
    return result.tasks;
}

TEST(after_a_reset_back_the_planner_fetches_again_from_there)
{
    struct store *store = contract_store();
    struct task_list tasks;

    planning_apply(store, &BY_DAY);
    CHECK_EQ(harvest(store).slices, 5, "five days");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(harvest(store).slices, 0, "all done");
    CHECK_EQ(reset_to(store, "2025-12-29"), 3, "three days lose their coverage");
    CHECK_EQ(harvest(store).slices, 3, "and are planned again");
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 8, "five and three");
    for (size_t i = 5; i < 8; i++)
        CHECK_EQ(tasks.items[i].window.from_us, tasks.items[i - 3].window.from_us, "the same days");
    CHECK_EQ(harvest(store).slices, 0, "once");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(harvest(store).slices, 0, "no gap, nothing twice");
    CHECK_EQ(the_cursor(store).value.instant_us, NOW_US, "at the end again");
    contract_end();
}

/* By pages it takes the whole plan again. */
TEST(after_a_reset_back_pages_are_walked_again)
{
    struct store *store = contract_store();

    planning_apply(store,
                   &(struct planning_source){ .window = BY_DAY.window,
                                              .page = "max_pages: 25",
                                              .operations = "  harvest: { endpoint: works,"
                                                            " slice: { by: page, pages: 10 } }" });
    CHECK_EQ(harvest(store).slices, 3, "25 pages by ten");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(harvest(store).slices, 0, "all done");
    CHECK_EQ(reset_to(store, "2025-12-29"), 3, "all of its tasks");
    CHECK_EQ(harvest(store).slices, 3, "again");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(harvest(store).slices, 0, "and no more");
    CHECK_EQ(the_cursor(store).value.instant_us, NOW_US, "at the end again");
    contract_end();
}
