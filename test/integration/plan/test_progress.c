/* What becomes of slices, and what the next trigger makes of it. */
#include <string.h>

#include "base/instant.h"
#include "planning.h"
#include "port/store_cursor.h"
#include "port/store_run.h"
#include "port/store_signal.h"

static const struct planning_source BY_DAY = { .window = "align: day, max: 1d, min: 1h, lag: 0" };

static struct plan_result harvest(struct store *store, const char *from)
{
    struct plan_request request = planning_request("harvest");

    request.from = maybe(from);
    return planning_trigger(store, &request);
}

/* ---- success and failure ---- */

TEST(what_failed_is_planned_again_as_a_new_task)
{
    struct store *store = contract_store();
    struct task_list tasks;

    planning_apply(store, &BY_DAY);
    (void)harvest(store, "2025-12-29");
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 3, "three days");
    planning_end(store, tasks.items[0].id, TASK_SUCCEEDED, NULL);
    planning_end(store, tasks.items[1].id, TASK_FAILED, NULL);
    CHECK_EQ(harvest(store, "2025-12-29").slices, 1, "the second day");
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 4, "one more");
    CHECK_EQ(tasks.items[3].window.from_us, tasks.items[1].window.from_us, "its window");
    CHECK_STR(tasks.items[3].expr_hash, tasks.items[1].expr_hash, "the same expression");
    CHECK(!str_eq(tasks.items[3].idempotent_key, tasks.items[1].idempotent_key), "another task");
    planning_end(store, tasks.items[3].id, TASK_FAILED, NULL);
    CHECK_EQ(harvest(store, "2025-12-29").slices, 1, "and again");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(harvest(store, "2025-12-29").slices, 0, "until all is covered");
    contract_end();
}

TEST(what_a_partial_task_finished_is_covered)
{
    struct store *store = contract_store();
    struct window done = { at("2025-12-31"), at("2025-12-31T06:00:00Z") };
    struct task_list tasks;

    planning_apply(store, &BY_DAY);
    (void)harvest(store, "2025-12-31");
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 1, "one day");
    planning_end(store, tasks.items[0].id, TASK_PARTIAL, &done);
    CHECK_EQ(harvest(store, "2025-12-31").slices, 1, "the rest");
    tasks = planning_tasks(store);
    CHECK_EQ(tasks.items[1].window.from_us, done.to_us, "from where it stopped");
    CHECK_EQ(tasks.items[1].window.to_us, NOW_US, "to its end");
    contract_end();
}

TEST(a_partial_plan_is_resumed_by_the_next_trigger)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct task_list tasks;
    int64_t slices = 0;

    planning_apply(store, &(struct planning_source){
                              .window = BY_DAY.window,
                              .operations = "  harvest: { endpoint: works, queued_max: 7 }" });
    request.from = maybe("2025-12-01");
    for (int i = 0; i < 4; i++) {
        const struct plan_result result = planning_trigger(store, &request);

        CHECK_EQ(result.slices, 7, "seven at a time");
        CHECK_EQ(result.status, PLAN_PARTIAL, "there is more");
        slices += result.slices;
        planning_end_all(store, TASK_SUCCEEDED);
    }
    CHECK_EQ(planning_trigger(store, &request).slices, 31 - slices, "the last three");
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 31, "December, each day once");
    for (size_t i = 0; i < tasks.count; i++)
        CHECK_EQ(tasks.items[i].window.from_us, at("2025-12-01") + (int64_t)i * US_PER_DAY, "day");
    contract_end();
}

static void move_cursor(struct store *store, enum operation operation, int64_t to_us)
{
    struct cursor_list cursors;
    struct cursor_move move = { .to = { .type = CURSOR_TIME, .instant_us = to_us },
                                .now_us = NOW_US };
    struct error err = { 0 };
    bool moved = false;

    REQUIRE_OK(store_cursor_list(store, contract_arena(), STR("demo"), &cursors, &err), err);
    for (size_t i = 0; i < cursors.count; i++) {
        if (cursors.items[i].name.operation == operation)
            REQUIRE_OK(store_cursor_move(store, &cursors.items[i], &move, &moved, &err), err);
    }
    REQUIRE(moved, "the cursor");
}

TEST(lookback_reads_again_what_lies_before_the_cursor)
{
    struct store *store = contract_store();
    struct plan_result result;
    struct task_list tasks;

    planning_apply(
        store, &(struct planning_source){ .window = "align: day, max: 1d, lag: 0, lookback: 2d" });
    (void)harvest(store, "2025-12-22");
    planning_end_all(store, TASK_SUCCEEDED);
    move_cursor(store, OPERATION_HARVEST, NOW_US);
    result = harvest(store, NULL);
    CHECK_EQ(result.slices, 2, "two days");
    CHECK_EQ(result.decision.from.rule, WINDOW_RULE_CURSOR_LOOKBACK, "because of the lookback");
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 12, "ten and two");
    CHECK_EQ(tasks.items[10].window.from_us, at("2025-12-30"), "the last two");
    CHECK_EQ(harvest(store, NULL).slices, 0, "they are under way");
    contract_end();
}

TEST(a_replay_that_is_complete_begins_anew)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("replay");
    struct task_list tasks;

    planning_apply(store, &BY_DAY);
    request.from = maybe("2025-12-01");
    request.to = maybe("2025-12-04");
    CHECK_EQ(planning_trigger(store, &request).slices, 3, "three days");
    tasks = planning_tasks(store);
    planning_end(store, tasks.items[0].id, TASK_SUCCEEDED, NULL);
    planning_end(store, tasks.items[1].id, TASK_FAILED, NULL);
    CHECK_EQ(planning_trigger(store, &request).slices, 1, "what failed, while it is under way");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(planning_trigger(store, &request).slices, 3, "all of it once more");
    contract_end();
}

/* ---- history ---- */

/* All live tasks succeed at the first attempt, each having been given `records`. */
static void succeed_with(struct store *store, int records)
{
    const struct task_list tasks = planning_tasks(store);

    for (size_t i = 0; i < tasks.count; i++) {
        const struct task *task = &tasks.items[i];
        struct run run = { .task_id = task->id,
                           .source = task->source,
                           .operation = task->operation,
                           .lease_owner = STR("test"),
                           .status = RUN_SUCCEEDED,
                           .window = task->window,
                           .stats = arena_printf(contract_arena(), "{\"retCount\":%d}", records),
                           .started_us = NOW_US,
                           .finished_us = NOW_US + 1 };
        struct error err = { 0 };

        if (task->status != TASK_QUEUED)
            continue;
        REQUIRE_OK(store_begin(store, &err), err);
        REQUIRE_OK(store_run_add(store, &run, &err), err);
        REQUIRE_OK(store_commit(store, &err), err);
    }
    planning_end_all(store, TASK_SUCCEEDED);
}

TEST(slices_keep_below_the_cap_by_what_was_found_before)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct plan_result result;
    struct task_list tasks;
    struct plan plan;
    struct error err = { 0 };
    bool found;

    planning_apply(store, &(struct planning_source){ .window = "align: hour, max: 8d, lag: 0",
                                                     .page = "cap: 8000" });
    request.from = maybe("2025-12-16");
    result = planning_trigger(store, &request);
    CHECK_EQ(result.slices, 2, "sixteen days by eight, while nothing is known");
    CHECK_EQ(result.requests, 2, "one for each at least");
    succeed_with(store, 24000); /* 3,000 a day */
    request.now_us = NOW_US + 8 * US_PER_DAY;
    result = planning_trigger(store, &request);
    CHECK_EQ(result.slices, 4, "6,000 records are three quarters of the cap: two days");
    CHECK_EQ(result.requests, 4 * 60, "of a hundred records each");
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 6, "two and four");
    for (size_t i = 2; i < 6; i++)
        CHECK_EQ(window_length_us(tasks.items[i].window), 2 * US_PER_DAY, "two days");
    REQUIRE_OK(store_plan_get(store, contract_arena(), result.plan_id, &plan, &found, &err), err);
    CHECK_STR(planning_value(plan.remarks, "history.records"), STR("48000"), "the audit: found");
    CHECK_STR(planning_value(plan.remarks, "totalEstimated"), STR("24000"), "and expected");
    contract_end();
}

TEST(slices_keep_to_their_budget_by_what_was_found_before)
{
    static const char *const BUDGETS[] = { "requests: 40", "records: 4000" };

    for (size_t i = 0; i < ARRAY_LEN(BUDGETS); i++) {
        struct store *store = contract_store();
        struct plan_request request = planning_request("harvest");
        struct planning_source source = { .window = "align: hour, max: 8d, lag: 0" };

        source.operations =
            arena_printf(contract_arena(), "  harvest: { endpoint: works, budget: { %s } }",
                         BUDGETS[i])
                .data;
        planning_apply(store, &source);
        request.from = maybe("2025-12-24");
        CHECK_EQ(planning_trigger(store, &request).slices, 1, "while nothing is known");
        succeed_with(store, 24000); /* 3,000 a day; a slice may have 4,000 and aims at 3,000 */
        request.now_us = NOW_US + 8 * US_PER_DAY;
        CHECK_EQ(planning_trigger(store, &request).slices, 8, BUDGETS[i]);
        contract_end();
    }
}

TEST(what_was_found_before_is_booked_with_the_quota)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct plan_result result;

    planning_apply(store,
                   &(struct planning_source){ .window = "align: day, max: 1d, lag: 0",
                                              .top = "rate: { quota: { day: 100, margin: 0 } }" });
    request.from = maybe("2025-12-30");
    CHECK_EQ(planning_trigger(store, &request).slices, 2, "two days");
    succeed_with(store, 950); /* ten pages a day */
    request.now_us = NOW_US + 30 * US_PER_DAY;
    result = planning_trigger(store, &request);
    CHECK_EQ(result.slices, 10, "ten days of ten requests use up the quota");
    CHECK_EQ(result.stop, BUDGET_STOP_REQUESTS, "and that is why");
    contract_end();
}

/* ---- pages ---- */

TEST(a_plan_by_pages_covers_its_window_when_all_pages_are_done)
{
    struct store *store = contract_store();
    struct plan_slice_list slices;
    struct plan_result result;
    struct task_list tasks;

    planning_apply(store,
                   &(struct planning_source){ .window = BY_DAY.window,
                                              .page = "max_pages: 25",
                                              .operations = "  harvest: { endpoint: works,"
                                                            " slice: { by: page, pages: 10 } }" });
    result = harvest(store, "2025-12-30");
    CHECK_EQ(result.slices, 3, "25 pages by ten");
    slices = planning_slices(store, result.plan_id);
    REQUIRE(slices.count == 3, "three slices");
    CHECK_STR(planning_value(slices.items[2].spec, "bounds.page.fromPage"), STR("20"), "the last");
    CHECK_STR(planning_value(slices.items[2].spec, "bounds.page.toPage"), STR("25"), "the last");
    CHECK_STR(planning_value(slices.items[2].spec, "pagination.initial.offset"), STR("2000"),
              "where it begins");
    CHECK_EQ(harvest(store, "2025-12-30").slices, 0, "under way");
    tasks = planning_tasks(store);
    for (size_t i = 0; i < 3; i++)
        planning_end(store, tasks.items[i].id, i < 2 ? TASK_SUCCEEDED : TASK_FAILED, NULL);
    CHECK_EQ(harvest(store, "2025-12-30").slices, 3, "a record may be on any page");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(harvest(store, "2025-12-30").slices, 0, "covered");
    contract_end();
}

/* ---- re-slicing ---- */

static void ask(struct store *store, const struct task *task, enum reslice_reason reason,
                const struct window *remaining, const char *detail)
{
    const struct reslice_ticket ticket = { .task_id = task->id,
                                           .slice_id = task->slice_id,
                                           .reason = reason,
                                           .remaining = remaining != NULL ? *remaining
                                                                          : (struct window){ 0 },
                                           .detail = str_of(detail),
                                           .created_us = NOW_US };
    struct error err = { 0 };
    bool added;

    REQUIRE_OK(store_reslice_add(store, &ticket, &added, &err), err);
}

static struct plan_reslice_result reslice_all(struct store *store)
{
    const struct plan_reslice_request request = { .owner = STR("test"),
                                                  .now_us = NOW_US,
                                                  .limit = 100 };
    struct plan_reslice_result result;
    struct error err = { 0 };

    REQUIRE_OK(plan_reslice(store, &request, &result, &err), err);
    return result;
}

TEST(children_cover_exactly_what_a_slice_has_left)
{
    struct store *store = contract_store();
    const struct window done = { at("2025-12-31"), at("2025-12-31T08:00:00Z") };
    const struct window rest = { done.to_us, NOW_US };
    struct plan_slice_list slices;
    struct plan_reslice_result result;
    struct task_list tasks;
    int64_t plan_id, next_us;

    planning_apply(store, &BY_DAY);
    plan_id = harvest(store, "2025-12-31").plan_id;
    tasks = planning_tasks(store);
    ask(store, &tasks.items[0], RESLICE_SLOW, &rest, "{}");
    planning_end(store, tasks.items[0].id, TASK_PARTIAL, &done);
    result = reslice_all(store);
    CHECK_EQ(result.tickets, 1, "one ticket");
    CHECK_EQ(result.children, 2, "two halves");
    slices = planning_slices(store, plan_id);
    tasks = planning_tasks(store);
    REQUIRE(slices.count == 3 && tasks.count == 3, "the parent and its children");
    CHECK_EQ(slices.items[0].status, SLICE_PARTIAL, "the parent");
    next_us = rest.from_us;
    for (size_t i = 1; i < 3; i++) {
        CHECK_EQ(slices.items[i].parent_id, slices.items[0].id, "lineage");
        CHECK_EQ(slices.items[i].window.from_us, next_us, "no gap");
        CHECK_EQ(tasks.items[i].window.from_us, slices.items[i].window.from_us, "its task");
        next_us = slices.items[i].window.to_us;
    }
    CHECK_EQ(next_us, rest.to_us, "to the end");
    CHECK_EQ(reslice_all(store).tickets, 0, "each ticket once");
    CHECK_EQ(harvest(store, "2025-12-31").slices, 0, "nothing is left to plan");
    contract_end();
}

TEST(a_total_far_above_the_cap_is_cut_into_many_at_once)
{
    struct store *store = contract_store();
    struct task_list tasks;

    planning_apply(store,
                   &(struct planning_source){ .window = BY_DAY.window, .page = "cap: 1000" });
    (void)harvest(store, "2025-12-31");
    tasks = planning_tasks(store);
    ask(store, &tasks.items[0], RESLICE_OVER_CAP, NULL, "{\"total\":6000}");
    planning_end(store, tasks.items[0].id, TASK_PARTIAL, NULL);
    CHECK_EQ(reslice_all(store).children, 8, "6000 by 750 at most");
    contract_end();
}

TEST(what_can_not_be_cut_goes_on_as_it_is_and_says_so)
{
    struct store *store = contract_store();
    struct task_list tasks;

    planning_apply(store, &(struct planning_source){
                              .window = "align: day, granularity: day, max: 1d, min: 1d, lag: 0" });
    (void)harvest(store, "2025-12-31");
    tasks = planning_tasks(store);
    ask(store, &tasks.items[0], RESLICE_OVER_CAP, NULL, "{\"total\":6000}");
    planning_end(store, tasks.items[0].id, TASK_PARTIAL, NULL);
    CHECK_EQ(reslice_all(store).children, 1, "one child");
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 2, "and its task");
    CHECK_EQ(window_length_us(tasks.items[1].window), US_PER_DAY, "all of it");
    CHECK_STR(planning_value(tasks.items[1].params, "lastResort"), STR("true"), "says so");
    contract_end();
}

TEST(a_trigger_that_was_faster_than_the_ticket_is_respected)
{
    struct store *store = contract_store();
    const struct window rest = { at("2025-12-31T08:00:00Z"), NOW_US };
    const struct window done = { at("2025-12-31"), rest.from_us };
    struct task_list tasks;

    planning_apply(store, &BY_DAY);
    (void)harvest(store, "2025-12-31");
    tasks = planning_tasks(store);
    ask(store, &tasks.items[0], RESLICE_SLOW, &rest, "{}");
    planning_end(store, tasks.items[0].id, TASK_PARTIAL, &done);
    CHECK_EQ(harvest(store, "2025-12-31").slices, 1, "the trigger plans the rest");
    CHECK_EQ(reslice_all(store).children, 0, "and nobody else does");
    contract_end();
}

TEST(a_ticket_that_can_not_be_served_does_not_stand_in_the_way)
{
    struct store *store = contract_store();
    const struct plan_reslice_request request = { .owner = STR("test"),
                                                  .now_us = NOW_US,
                                                  .limit = 100 };
    struct plan_reslice_result result;
    struct task_list tasks;
    struct error err = { 0 };
    struct plan plan;
    bool found, moved;

    planning_apply(store, &BY_DAY);
    (void)harvest(store, "2025-12-30");
    tasks = planning_tasks(store);
    ask(store, &tasks.items[0], RESLICE_SLOW, NULL, "[1]");
    ask(store, &tasks.items[1], RESLICE_SLOW, NULL, "{}");
    planning_end_all(store, TASK_PARTIAL);
    CHECK_EQ(reslice_all(store).tickets, 2, "a detail that says nothing is no fault");
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 6, "two and four");
    /* A plan that is over has no children; its ticket is done all the same. */
    ask(store, &tasks.items[2], RESLICE_SLOW, NULL, "{}");
    planning_end(store, tasks.items[2].id, TASK_PARTIAL, NULL);
    REQUIRE_OK(store_plan_get(store, contract_arena(), tasks.items[2].plan_id, &plan, &found, &err),
               err);
    REQUIRE_OK(store_plan_move(
                   store,
                   &(struct plan_move){ plan.id, plan.status, PLAN_CANCELLED, STR(""), NOW_US },
                   &moved, &err),
               err);
    REQUIRE_OK(plan_reslice(store, &request, &result, &err), err);
    CHECK_EQ(result.tickets, 1, "taken");
    CHECK_EQ(result.children, 0, "without children");
    contract_end();
}
