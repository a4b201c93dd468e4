/* Cursors together with the planner that starts them and plans by them. */
#include "cursoring.h"
#include "engine/cursor/cursor_event.h"
#include "engine/cursor/cursor_reset.h"
#include "engine/cursor/cursor_view.h"
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

/* ---- records that turn up late ---- */

static const struct planning_source LOOKS_BACK = {
    .window = "align: day, max: 1d, min: 1h, lag: 0, lookback: 1d"
};

static struct plan_result harvest_to(struct store *store, const char *to)
{
    struct plan_request request = planning_request("harvest");

    request.from = maybe("2025-12-27");
    request.to = maybe(to);
    return planning_trigger(store, &request);
}

/* The task of a day that waits; it ends so. */
static void end_day(struct store *store, const char *day, enum task_status status)
{
    const struct task_list tasks = planning_tasks(store);

    for (size_t i = 0; i < tasks.count; i++) {
        if (tasks.items[i].status == TASK_QUEUED && tasks.items[i].window.from_us == at(day)) {
            planning_end(store, tasks.items[i].id, status, NULL);
            return;
        }
    }
    CHECK(false, day);
}

TEST(the_cursor_waits_for_a_lookback_that_failed)
{
    struct store *store = contract_store();
    struct cursor_view view;
    struct cursor cursor;
    struct error err = { 0 };

    planning_apply(store, &LOOKS_BACK);
    CHECK_EQ(harvest_to(store, "2025-12-29").slices, 2, "the 27th and the 28th");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(harvest_to(store, "2025-12-30").slices, 2, "the 28th once more, and the 29th");
    CHECK_EQ(the_cursor(store).value.instant_us, at("2025-12-29"), "two days are complete");
    end_day(store, "2025-12-28", TASK_FAILED);
    end_day(store, "2025-12-29", TASK_SUCCEEDED);
    cursor = the_cursor(store);
    REQUIRE_OK(cursor_view(store, contract_arena(), &cursor, 1, &view, &err), err);
    CHECK(view.looks_back, "what holds it back lies before it");
    CHECK(view.has_holder, "and is known");
    CHECK_EQ(view.holder.status, TASK_FAILED, "by its end");
    CHECK_EQ(view.holder.window.from_us, at("2025-12-28"), "and its day");
    CHECK_EQ(harvest_to(store, "2025-12-31").slices, 3, "the 28th is not forgotten");
    CHECK_EQ(the_cursor(store).value.instant_us, at("2025-12-29"), "or it would be, beyond here");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(harvest_to(store, "2025-12-31").slices, 1, "the youngest is looked at every time");
    CHECK_EQ(the_cursor(store).value.instant_us, at("2025-12-31"), "all is complete");
    contract_end();
}

TEST(what_was_read_after_a_slice_that_failed_is_read_again)
{
    struct store *store = contract_store();

    planning_apply(store, &LOOKS_BACK);
    CHECK_EQ(harvest_to(store, "2025-12-30").slices, 3, "three days");
    end_day(store, "2025-12-27", TASK_FAILED);
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(harvest_to(store, "2025-12-31").slices, 3,
             "what failed, the day that was young then, and a new one; not the day between");
    end_day(store, "2025-12-27", TASK_SUCCEEDED);
    end_day(store, "2025-12-30", TASK_SUCCEEDED);
    CHECK_EQ(harvest_to(store, "2025-12-31").slices, 1, "the youngest; the other is under way");
    CHECK_EQ(the_cursor(store).value.instant_us, at("2025-12-30"), "a day before what is owed");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(harvest_to(store, "2025-12-31").slices, 1, "the youngest is looked at every time");
    CHECK_EQ(the_cursor(store).value.instant_us, at("2025-12-31"), "all is complete");
    contract_end();
}
