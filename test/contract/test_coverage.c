/* Coverage that a reset takes back, and whose tasks it is. */
#include <stdlib.h>

#include "contract.h"
#include "port/store_lease.h"
#include "port/store_run.h"
#include "rows.h"

static int by_id(const void *left, const void *right)
{
    const struct task *a = left, *b = right;

    return (a->id > b->id) - (a->id < b->id);
}

/* Claims all, starts a run of each, and ends the first `done` of them. */
static void work_on(struct store *store, size_t done)
{
    const struct task_claim claim = {
        .owner = STR("a"), .now_us = INSTANT_MAX, .until_us = INSTANT_MAX, .limit = 100
    };
    struct task_list list;
    struct error err = { 0 };
    bool held;

    REQUIRE_OK(store_task_claim(store, contract_arena(), &claim, &list, &err), err);
    qsort(list.items, list.count, sizeof(list.items[0]), by_id);
    for (size_t i = 0; i < list.count; i++) {
        const struct lease lease = { list.items[i].id, list.items[i].lease_epoch };
        const struct task_end end = { .lease = lease, .status = TASK_SUCCEEDED, .now_us = NOW_US };

        REQUIRE_OK(store_lease_start(store, lease, NOW_US, &held, &err), err);
        if (i < done)
            REQUIRE_OK(store_lease_finish(store, &end, &held, &err), err);
    }
}

TEST(coverage_that_is_reset_is_gone_and_what_waits_is_left)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    const struct coverage_namespace of = plan_namespace(&plan);
    struct coverage_namespace other = of;
    struct coverage_list list;
    struct task_list tasks;
    struct error err = { 0 };
    int64_t count;

    rows_add_tasks(store, &plan, 4);
    work_on(store, 3);
    other.namespace_key = STR(HASH_B);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_coverage_reset(store, &other, INSTANT_MIN, NOW_US, &count, &err), err);
    CHECK_EQ(count, 0, "another namespace");
    REQUIRE_OK(store_coverage_reset(store, &of, NOW_US + US_PER_HOUR + 1, NOW_US, &count, &err),
               err);
    CHECK_EQ(count, 3, "the second, which reaches beyond, the third, and the one under way");
    REQUIRE_OK(store_coverage_reset(store, &of, NOW_US + US_PER_HOUR + 1, NOW_US, &count, &err),
               err);
    CHECK_EQ(count, 0, "once");
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_coverage_list(store, contract_arena(), &of, INSTANT_MIN, &list, &err), err);
    REQUIRE(list.covered.count == 1, "what is left");
    CHECK_EQ(list.covered.items[0].from_us, NOW_US, "the first");
    CHECK_EQ(list.lost.count, 2, "they have ended all the same");
    CHECK_EQ(list.live.count, 1, "and this one has not");
    REQUIRE_OK(store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 10 },
                               &tasks, &err),
               err);
    for (size_t i = 0; i < tasks.count; i++)
        CHECK_EQ(tasks.items[i].is_reset, i > 0, "reset or not");
    contract_end();
}

TEST(a_reset_leaves_tasks_that_were_never_tried)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    const struct coverage_namespace of = plan_namespace(&plan);
    struct run run = { .task_id = 1,
                       .source = plan.source,
                       .lease_owner = STR("a"),
                       .status = RUN_RUNNING,
                       .stats = STR("{}"),
                       .started_us = NOW_US };
    struct task_list tasks;
    struct error err = { 0 };
    int64_t count;

    rows_add_tasks(store, &plan, 2);
    REQUIRE_OK(store_coverage_tasks(
                   store, contract_arena(),
                   &(struct window_query){ .of = &of, .window = plan.window, .limit = 10 }, &tasks,
                   &err),
               err);
    REQUIRE(tasks.count == 2, "both wait");
    run.task_id = tasks.items[0].id;
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_run_add(store, &run, &err), err);
    REQUIRE_OK(store_coverage_reset(store, &of, NOW_US, NOW_US, &count, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(count, 1, "the one that has pages from before");
    contract_end();
}

TEST(a_reset_reaches_tasks_by_page_through_their_plan)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    const struct coverage_namespace of = plan_namespace(&plan);
    struct plan_slice slice = rows_slice(plan.id, 1);
    struct error err = { 0 };
    struct task task;
    int64_t id, added, count;

    slice.dimension = SLICE_PAGE;
    slice.window = (struct window){ 0, 0 };
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_slice_add(store, &slice, 1, &id, &added, &err), err);
    task = rows_task(&plan, id, 1);
    task.window = slice.window;
    REQUIRE_OK(store_task_add(store, &task, 1, &added, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    work_on(store, 1);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_coverage_reset(store, &of, plan.window.to_us, NOW_US, &count, &err), err);
    CHECK_EQ(count, 0, "the plan ends there");
    REQUIRE_OK(store_coverage_reset(store, &of, plan.window.to_us - 1, NOW_US, &count, &err), err);
    CHECK_EQ(count, 1, "the plan reaches beyond");
    REQUIRE_OK(store_commit(store, &err), err);
    contract_end();
}

TEST(endpoints_that_share_a_cursor_are_listed)
{
    struct store *store = contract_store();
    struct plan plan = rows_add_plan(store);
    struct coverage_namespace of = plan_namespace(&plan);
    struct endpoint_list list;
    struct error err = { 0 };
    int64_t id;

    plan.endpoint = STR("authors");
    REQUIRE_OK(store_plan_add(store, &plan, &id, &err), err);
    REQUIRE_OK(store_plan_add(store, &plan, &id, &err), err);
    plan.endpoint = STR("elsewhere");
    plan.cursor_key = STR("elsewhere.updated_at");
    REQUIRE_OK(store_plan_add(store, &plan, &id, &err), err);
    of.endpoint = STR("");
    REQUIRE_OK(store_coverage_endpoints(store, contract_arena(), &of, &list, &err), err);
    REQUIRE(list.count == 2, "each once, and none of another cursor");
    CHECK_STR(list.items[0], STR("authors"), "by name");
    of.namespace_key = STR(HASH_B);
    REQUIRE_OK(store_coverage_endpoints(store, contract_arena(), &of, &list, &err), err);
    CHECK_EQ(list.count, 0, "none of another namespace");
    contract_end();
}

/* Two feeds with a task each, and one of another namespace. */
TEST(the_last_task_of_a_feed_is_found)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct coverage_namespace of = plan_namespace(&plan);
    struct error err = { 0 };
    struct task task, found_task;
    int64_t ids[2], added;
    bool found;

    rows_add_tasks(store, &plan, 2);
    REQUIRE_OK(store_task_last(store, contract_arena(), &of, &found_task, &found, &err), err);
    CHECK(!found, "tasks that cover a window are not of a feed");
    REQUIRE_OK(store_begin(store, &err), err);
    for (int i = 0; i < 2; i++) {
        struct plan_slice slice = rows_slice(plan.id, 10 + i);

        slice.dimension = SLICE_FEED;
        slice.window = (struct window){ 0, 0 };
        REQUIRE_OK(store_slice_add(store, &slice, 1, &ids[i], &added, &err), err);
        task = rows_task(&plan, ids[i], 10 + i);
        task.window = slice.window;
        REQUIRE_OK(store_task_add(store, &task, 1, &added, &err), err);
    }
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_task_last(store, contract_arena(), &of, &found_task, &found, &err), err);
    REQUIRE(found, "there is one");
    CHECK_EQ(found_task.slice_id, ids[1], "the newest");
    of.namespace_key = STR(HASH_B);
    REQUIRE_OK(store_task_last(store, contract_arena(), &of, &found_task, &found, &err), err);
    CHECK(!found, "none of another namespace");
    contract_end();
}

TEST(tasks_of_a_window_are_listed_newest_first)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    const struct coverage_namespace of = plan_namespace(&plan);
    const struct window window = { NOW_US + US_PER_HOUR, NOW_US + 3 * US_PER_HOUR };
    struct task_list list;
    struct error err = { 0 };

    rows_add_tasks(store, &plan, 5);
    REQUIRE_OK(store_coverage_tasks(
                   store, contract_arena(),
                   &(struct window_query){ .of = &of, .window = window, .limit = 10 }, &list, &err),
               err);
    REQUIRE(list.count == 2, "half-open on both ends");
    CHECK_EQ(list.items[0].window.to_us, window.to_us, "the newest");
    CHECK_EQ(list.items[1].window.from_us, window.from_us, "the older");
    REQUIRE_OK(store_coverage_tasks(
                   store, contract_arena(),
                   &(struct window_query){ .of = &of, .window = window, .limit = 1 }, &list, &err),
               err);
    CHECK_EQ(list.count, 1, "no more than asked for");
    contract_end();
}

static struct task_list open_tasks(struct store *store, const struct coverage_namespace *of,
                                   int64_t limit)
{
    const struct window_query query = { .of = of,
                                        .window = { INSTANT_MIN, NOW_US + 5 * US_PER_HOUR },
                                        .limit = limit };
    struct task_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_coverage_open(store, contract_arena(), &query, &list, &err), err);
    return list;
}

TEST(tasks_that_do_not_cover_their_window_are_found_the_newest_first)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    const struct coverage_namespace of = plan_namespace(&plan);
    const struct task_claim claim = {
        .owner = STR("a"), .now_us = INSTANT_MAX, .until_us = INSTANT_MAX, .limit = 100
    };
    struct task_list all, list;
    struct error err = { 0 };
    int64_t count;
    bool held;

    rows_add_tasks(store, &plan, 6); /* the last one is beyond what is asked for */
    CHECK_EQ(open_tasks(store, &of, 10).count, 0, "what waits has no trouble");
    REQUIRE_OK(store_task_claim(store, contract_arena(), &claim, &all, &err), err);
    qsort(all.items, all.count, sizeof(all.items[0]), by_id);
    for (size_t i = 0; i < all.count; i++) {
        const struct lease lease = { all.items[i].id, all.items[i].lease_epoch };
        const struct task_end end = { .lease = lease,
                                      .status = i == 1 || i == 5 ? TASK_FAILED : TASK_SUCCEEDED,
                                      .error = i == 1 || i == 5 ? STR("no") : STR(""),
                                      .now_us = NOW_US };

        REQUIRE_OK(store_lease_start(store, lease, NOW_US, &held, &err), err);
        REQUIRE_OK(store_lease_finish(store, &end, &held, &err), err);
    }
    list = open_tasks(store, &of, 10);
    REQUIRE(list.count == 1, "the one that failed");
    CHECK_EQ(list.items[0].id, all.items[1].id, "it");
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_coverage_reset(store, &of, NOW_US + 4 * US_PER_HOUR, NOW_US, &count, &err),
               err);
    REQUIRE_OK(store_commit(store, &err), err);
    list = open_tasks(store, &of, 10);
    REQUIRE(list.count == 2, "and the one that was reset");
    CHECK_EQ(list.items[0].id, all.items[4].id, "the newest first");
    CHECK_EQ(open_tasks(store, &of, 1).count, 1, "no more than asked for");
    contract_end();
}

TEST(parts_by_id_are_told_apart_from_whole_windows)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    const struct coverage_namespace of = plan_namespace(&plan);
    static const struct id_range ranges[] = { { ID_LOWEST, 5 },
                                              { 5, 9007199254740991 },
                                              { 9007199254740991, ID_HIGHEST } };
    struct coverage_list list;
    struct task_list tasks;
    struct error err = { 0 };
    struct task task;
    int64_t added;

    rows_add_tasks(store, &plan, 4);
    REQUIRE_OK(store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 10 },
                               &tasks, &err),
               err);
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
        static const struct str keys[] = { STR_INIT("part-0"), STR_INIT("part-1"),
                                           STR_INIT("part-2") };

        task = tasks.items[0];
        task.ids = ranges[i];
        task.idempotent_key = keys[i];
        REQUIRE_OK(store_task_add(store, &task, 1, &added, &err), err);
    }
    task.idempotent_key = STR("part-3");
    task.window = (struct window){ 0, 0 };
    CHECK(!store_task_add(store, &task, 1, &added, &err), "a part is one of a window");
    REQUIRE_OK(store_task_list(store, contract_arena(),
                               &(struct task_filter){ .after_id = tasks.items[3].id, .limit = 10 },
                               &tasks, &err),
               err);
    REQUIRE(tasks.count == 3, "the parts");
    for (size_t i = 0; i < tasks.count; i++) {
        CHECK_EQ(tasks.items[i].ids.from, ranges[i].from, "as it was written");
        CHECK_EQ(tasks.items[i].ids.to, ranges[i].to, "as it was written");
    }
    work_on(store, 6);
    REQUIRE_OK(store_coverage_list(store, contract_arena(), &of, INSTANT_MIN, &list, &err), err);
    CHECK_EQ(list.covered.count, 4, "whole windows");
    CHECK_EQ(list.parts.covered.count, 2, "parts");
    REQUIRE(list.parts.live.count == 1, "under way");
    CHECK_EQ(list.live.count, 0, "no whole window is");
    CHECK_EQ(list.parts.live.items[0].ids.to, ID_HIGHEST, "the last");
    CHECK_EQ(list.parts.live.items[0].window.from_us, NOW_US, "its window");
    contract_end();
}
