/* Days that hold more than the source hands out, cut by ids: what covers them, and what does not.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/instant.h"
#include "engine/cursor/cursor_advance.h"
#include "engine/cursor/cursor_reset.h"
#include "planning.h"
#include "port/store_cursor.h"
#include "port/store_signal.h"

#define ID_QUERY                        \
    "      min_id: \"${slice.from}\"\n" \
    "      max_id: \"${slice.last}\"\n"

static const struct planning_source BY_IDS = {
    .window = "align: day, granularity: day, max: 1d, min: 1d, lag: 0",
    .page = "cap: 1000, id_min: 1, id_max: 8000",
    .query = ID_QUERY,
};

static struct plan_result harvest(struct store *store, const char *from)
{
    struct plan_request request = planning_request("harvest");

    request.from = maybe(from);
    return planning_trigger(store, &request);
}

/* The executor's part: the task ends PARTIAL, and asks to be cut. */
static void ask(struct store *store, const struct task *task, int64_t total)
{
    char detail[64];
    const int len = snprintf(detail, sizeof(detail), "{\"total\":%lld}", (long long)total);
    const struct reslice_ticket ticket = { .task_id = task->id,
                                           .slice_id = task->slice_id,
                                           .reason = RESLICE_OVER_CAP,
                                           .remaining = task->window,
                                           .detail = { detail, (size_t)len },
                                           .created_us = NOW_US };
    struct error err = { 0 };
    bool added;

    REQUIRE_OK(store_reslice_add(store, &ticket, &added, &err), err);
    planning_end(store, task->id, TASK_PARTIAL, NULL);
}

static int64_t reslice_all(struct store *store)
{
    const struct plan_reslice_request request = { .owner = STR("test"),
                                                  .now_us = NOW_US,
                                                  .limit = 100 };
    struct plan_reslice_result result;
    struct error err = { 0 };

    REQUIRE_OK(plan_reslice(store, &request, &result, &err), err);
    return result.children;
}

static int by_slice(const void *left, const void *right)
{
    const struct task *a = left, *b = right;

    return (a->slice_id > b->slice_id) - (a->slice_id < b->slice_id);
}

/* In the order in which they were cut. */
static struct task_list live(struct store *store)
{
    const struct task_partition of = { STR("demo"), STR("works"), OPERATION_HARVEST };
    struct task_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_task_live(store, contract_arena(), &of, (struct store_page){ .limit = 10000 },
                               &list, &err),
               err);
    qsort(list.items, list.count, sizeof(list.items[0]), by_slice);
    return list;
}

/* They are parts of that day, and hold the range and nothing twice. */
static void check_parts(struct task_list parts, const char *day, struct id_range range)
{
    int64_t next = range.from;

    for (size_t i = 0; i < parts.count; i++) {
        CHECK_EQ(parts.items[i].window.from_us, at(day), "the day");
        CHECK_EQ(window_length_us(parts.items[i].window), US_PER_DAY, "all of it");
        CHECK_EQ(parts.items[i].ids.from, next, "no gap, nothing twice");
        next = parts.items[i].ids.to;
    }
    CHECK_EQ(next, range.to, "to the end");
}

static const struct id_range ALL = { ID_LOWEST, ID_HIGHEST };

/* As an executor does after a task. */
static int64_t cursor_us(struct store *store, const struct task *task)
{
    const struct cursor_advance_request request = cursor_advance_of(task, 0, NOW_US);
    struct cursor_advance_result result;
    struct error err = { 0 };

    REQUIRE_OK(cursor_advance(store, contract_arena(), &request, &result, &err), err);
    return result.value.instant_us;
}

TEST(a_day_above_the_cap_is_cut_by_ids_and_covered_when_its_parts_hold_all)
{
    struct store *store = contract_store();
    struct task_list parts;
    struct plan_slice_list slices;
    struct task first;
    struct window day;
    int64_t plan_id;

    planning_apply(store, &BY_IDS);
    plan_id = harvest(store, "2025-12-30").plan_id;
    first = live(store).items[0];
    planning_end(store, live(store).items[1].id, TASK_SUCCEEDED, NULL);
    CHECK(!id_range_is_valid(first.ids), "a task has all ids");
    ask(store, &first, 4000);
    CHECK_EQ(cursor_us(store, &first), at("2025-12-30"), "nothing is covered");
    CHECK_EQ(reslice_all(store), 8, "4,000 by 750 at most");
    parts = live(store);
    REQUIRE(parts.count == 8, "as many tasks");
    check_parts(parts, "2025-12-30", ALL);
    CHECK_EQ(parts.items[0].ids.to, 1001, "an eighth of the source's ids");
    slices = planning_slices(store, plan_id);
    CHECK_STR(planning_value(slices.items[2].spec, "bounds.id.to"), STR("1001"), "the slice's");
    CHECK_STR(planning_value(slices.items[2].spec, "bounds.id.from"), STR(""), "an open end");
    CHECK_STR(planning_value(slices.items[3].spec, "bounds.id.from"), STR("1001"), "the next one");
    CHECK_STR(planning_value(slices.items[3].expr_snapshot, "idRange.to"), STR("2001"), "asked");
    CHECK_EQ(slices.items[3].parent_id, slices.items[0].id, "lineage");
    CHECK_STR(planning_value(parts.items[1].params, "fromId"), STR("1001"), "stored");
    CHECK_EQ(harvest(store, "2025-12-30").slices, 0, "under way");
    day = parts.items[0].window;
    for (size_t i = 0; i < parts.count; i++) {
        CHECK_EQ(cursor_us(store, &first), at("2025-12-30"), "not before all are done");
        /* Ids without a record are known: such a part is covered, too. */
        planning_end(store, parts.items[i].id, i == 2 ? TASK_PARTIAL : TASK_SUCCEEDED,
                     i == 2 ? &day : NULL);
    }
    CHECK_EQ(cursor_us(store, &first), NOW_US, "the day, and the next one");
    CHECK_EQ(harvest(store, "2025-12-30").slices, 0, "nothing is left");
    contract_end();
}

TEST(a_part_above_the_cap_is_re_sliced_and_one_id_is_the_last)
{
    struct store *store = contract_store();
    struct task_list parts;
    struct task big;
    int rounds = 0;

    planning_apply(store, &BY_IDS);
    (void)harvest(store, "2025-12-31");
    big = live(store).items[0];
    /* All are in one corner, as if one id had them all. */
    for (; rounds < 20 && planning_value(big.params, "lastResort").len == 0; rounds++) {
        const struct id_range range = rounds > 0 ? big.ids : ALL;

        ask(store, &big, 1200);
        (void)reslice_all(store);
        parts = live(store);
        REQUIRE(parts.count > 0, "children");
        check_parts(parts, "2025-12-31", range);
        for (size_t i = 0; i + 1 < parts.count; i++)
            planning_end(store, parts.items[i].id, TASK_SUCCEEDED, NULL);
        big = parts.items[parts.count - 1];
        CHECK_EQ(cursor_us(store, &big), at("2025-12-31"), "not before all are done");
    }
    CHECK(rounds <= 14, "8,000 ids have thirteen binary digits");
    CHECK_STR(planning_value(big.params, "lastResort"), STR("true"), "it must go through as it is");
    CHECK_EQ(big.ids.from, 8000, "the greatest id there can be");
    CHECK_EQ(big.ids.to, ID_HIGHEST, "and what should not be there");
    planning_end(store, big.id, TASK_PARTIAL, NULL);
    CHECK_EQ(cursor_us(store, &big), at("2025-12-31"), "the cursor does not pass it");
    contract_end();
}

TEST(what_failed_of_a_day_is_all_that_is_asked_for_again)
{
    struct store *store = contract_store();
    struct task_list parts;
    struct task lost;

    planning_apply(store, &BY_IDS);
    (void)harvest(store, "2025-12-31");
    ask(store, &live(store).items[0], 4000);
    (void)reslice_all(store);
    parts = live(store);
    lost = parts.items[3];
    for (size_t i = 0; i < parts.count; i++)
        planning_end(store, parts.items[i].id, i == 3 ? TASK_FAILED : TASK_SUCCEEDED, NULL);
    CHECK_EQ(cursor_us(store, &lost), at("2025-12-31"), "a hole");
    CHECK_EQ(harvest(store, "2025-12-31").slices, 1, "the day is planned");
    REQUIRE(live(store).count == 1, "once");
    ask(store, &live(store).items[0], 4000);
    CHECK_EQ(reslice_all(store), 1, "one part of it is missing");
    check_parts(live(store), "2025-12-31", lost.ids);
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(cursor_us(store, &lost), NOW_US, "it is healed");
    contract_end();
}

TEST(a_second_look_at_a_day_is_not_spared_by_the_first)
{
    struct store *store = contract_store();
    struct planning_source source = BY_IDS;

    source.window = "align: day, granularity: day, max: 1d, min: 1d, lag: 0, lookback: 1d";
    planning_apply(store, &source);
    (void)harvest(store, "2025-12-31");
    ask(store, &live(store).items[0], 4000);
    (void)reslice_all(store);
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(cursor_us(store, &planning_tasks(store).items[0]), NOW_US, "covered");
    CHECK_EQ(harvest(store, NULL).slices, 1, "the lookback");
    ask(store, &live(store).items[0], 4000);
    CHECK_EQ(reslice_all(store), 8, "all of it again");
    check_parts(live(store), "2025-12-31", ALL);
    contract_end();
}

/* The same for a slice that time can cut. */
TEST(a_second_look_that_is_cut_by_time_is_not_spared_either)
{
    struct store *store = contract_store();

    planning_apply(store, &(struct planning_source){
                              .window = "align: day, max: 1d, min: 1h, lag: 0, lookback: 1d" });
    (void)harvest(store, "2025-12-31");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(cursor_us(store, &planning_tasks(store).items[0]), NOW_US, "covered");
    CHECK_EQ(harvest(store, NULL).slices, 1, "the lookback");
    ask(store, &live(store).items[0], 0);
    CHECK_EQ(reslice_all(store), 2, "both halves");
    contract_end();
}

TEST(a_trigger_that_was_faster_than_a_cut_by_ids_is_respected)
{
    struct store *store = contract_store();

    planning_apply(store, &BY_IDS);
    (void)harvest(store, "2025-12-31");
    ask(store, &live(store).items[0], 4000);
    CHECK_EQ(harvest(store, "2025-12-31").slices, 1, "the trigger plans the day");
    CHECK_EQ(reslice_all(store), 0, "and nobody else does");
    ask(store, &live(store).items[0], 4000);
    CHECK_EQ(reslice_all(store), 8, "until it asks itself");
    check_parts(live(store), "2025-12-31", ALL);
    contract_end();
}

TEST(a_cursor_that_is_set_back_uncovers_the_parts_of_a_day)
{
    struct store *store = contract_store();
    struct cursor_reset_request reset = {
        .to = { .type = CURSOR_TIME }, .who = STR("test"), .reason = STR("again"), .now_us = NOW_US
    };
    struct cursor_reset_result result;
    struct cursor_list cursors;
    struct error err = { 0 };

    planning_apply(store, &BY_IDS);
    for (int round = 0; round < 3; round++) {
        CHECK_EQ(harvest(store, "2025-12-31").slices, 1, "planned, as a task of its own");
        ask(store, &live(store).items[0], 4000);
        CHECK_EQ(reslice_all(store), 8, "cut");
        planning_end_all(store, TASK_SUCCEEDED);
        CHECK_EQ(cursor_us(store, &planning_tasks(store).items[0]), NOW_US, "covered");
        REQUIRE_OK(store_cursor_list(store, contract_arena(), STR("demo"), &cursors, &err), err);
        reset.name = cursors.items[0].name;
        reset.to.instant_us = at("2025-12-31");
        REQUIRE_OK(cursor_reset(store, contract_arena(), &reset, &result, &err), err);
        CHECK(result.is_moved, "back");
    }
    contract_end();
}
