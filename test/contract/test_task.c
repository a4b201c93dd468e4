/* The queue as the planner sees it. */
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "rows.h"

TEST(a_task_comes_back_byte_by_byte)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct task_list list;
    struct task read, wanted;
    struct error err = { 0 };
    bool found;

    rows_add_tasks(store, &plan, 1);
    REQUIRE_OK(
        store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 10 }, &list, &err),
        err);
    REQUIRE(list.count == 1, "one task");
    REQUIRE_OK(store_task_get(store, contract_arena(), list.items[0].id, &read, &found, &err), err);
    REQUIRE(found, "it is there");
    wanted = rows_task(&plan, read.slice_id, 1);
    CHECK_EQ(read.schedule_instance_id, wanted.schedule_instance_id, "trigger");
    CHECK_EQ(read.plan_id, wanted.plan_id, "plan");
    CHECK_STR(read.source, wanted.source, "source");
    CHECK_STR(read.endpoint, wanted.endpoint, "endpoint");
    CHECK_EQ(read.operation, wanted.operation, "operation");
    CHECK_STR(read.credential, wanted.credential, "credential");
    CHECK_STR(read.cursor_key, wanted.cursor_key, "cursor_key");
    CHECK_EQ(read.scope, wanted.scope, "scope");
    CHECK_STR(read.namespace_key, wanted.namespace_key, "namespace_key");
    CHECK_EQ(read.window.from_us, wanted.window.from_us, "window");
    CHECK_EQ(read.window.to_us, wanted.window.to_us, "window");
    CHECK(!window_is_valid(read.covered), "nothing covered");
    CHECK_STR(read.params, wanted.params, "params");
    CHECK_STR(read.expr_hash, wanted.expr_hash, "expr_hash");
    CHECK_STR(read.idempotent_key, wanted.idempotent_key, "key");
    CHECK_EQ(read.status, TASK_QUEUED, "status");
    CHECK_EQ(read.priority, wanted.priority, "priority");
    CHECK_EQ(read.scheduled_us, wanted.scheduled_us, "scheduled");
    CHECK_EQ(read.lease_owner.len, 0, "nobody's");
    CHECK_EQ(read.created_us, wanted.created_us, "created");
    REQUIRE_OK(store_task_get(store, contract_arena(), read.id + 1, &read, &found, &err), err);
    CHECK(!found, "no other");
    contract_end();
}

TEST(a_task_is_added_once_per_key)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct task_partition partition = { plan.source, plan.endpoint, plan.operation };
    struct task tasks[4];
    struct task_list list;
    struct error err = { 0 };
    int64_t added = -1, queued = -1;

    rows_add_tasks(store, &plan, 2);
    REQUIRE_OK(
        store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 10 }, &list, &err),
        err);
    for (int i = 0; i < 3; i++)
        tasks[i] = rows_task(&plan, list.items[0].slice_id, i + 1);
    tasks[3] = tasks[2]; /* twice in one call */
    REQUIRE_OK(store_task_add(store, tasks, 4, &added, &err), err);
    CHECK_EQ(added, 1, "one of the four is new");
    REQUIRE_OK(store_task_add(store, tasks, 4, &added, &err), err);
    CHECK_EQ(added, 0, "none is new");
    REQUIRE_OK(store_task_add(store, tasks, 0, &added, &err), err);
    CHECK_EQ(added, 0, "none asked for");
    REQUIRE_OK(store_task_queued(store, &partition, &queued, &err), err);
    CHECK_EQ(queued, 3, "three wait");
    partition.operation = OPERATION_BACKFILL;
    REQUIRE_OK(store_task_queued(store, &partition, &queued, &err), err);
    CHECK_EQ(queued, 0, "none of another operation");
    contract_end();
}

TEST(tasks_that_can_not_be_are_refused_together)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct task_list list;
    struct task tasks[2];
    struct error err = { 0 };
    int64_t added = -1;

    rows_add_tasks(store, &plan, 1);
    REQUIRE_OK(
        store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 10 }, &list, &err),
        err);
    for (int i = 0; i < 5; i++) {
        tasks[0] = rows_task(&plan, list.items[0].slice_id, 8);
        tasks[1] = rows_task(&plan, list.items[0].slice_id, 9);
        switch (i) {
        case 0:
            tasks[1].priority = 1001;
            break;
        case 1:
            tasks[1].priority = -1;
            break;
        case 2:
            tasks[1].params = STR("{]");
            break;
        case 3:
            tasks[1].slice_id = 999;
            break;
        default:
            tasks[1].idempotent_key = STR("\xff");
            break;
        }
        CHECK(!store_task_add(store, tasks, 2, &added, &err), "refused");
        CHECK_EQ(err.level, i == 4 ? ERROR_DATA : ERROR_REQUEST, err.text);
        REQUIRE_OK(store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 10 },
                                   &list, &err),
                   err);
        CHECK_EQ(list.count, 1, "the good one was not added either");
    }
    contract_end();
}

TEST(tasks_are_listed_in_pages)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct task_filter filter = { .plan_id = plan.id, .limit = 7 };
    struct task_list list;
    struct error err = { 0 };
    int64_t seen = 0, last_id = 0;

    rows_add_tasks(store, &plan, 20);
    do {
        REQUIRE_OK(store_task_list(store, contract_arena(), &filter, &list, &err), err);
        for (size_t i = 0; i < list.count; i++) {
            CHECK(list.items[i].id > last_id, "ascending");
            last_id = list.items[i].id;
        }
        seen += (int64_t)list.count;
        filter.after_id = last_id;
    } while (list.count > 0);
    CHECK_EQ(seen, 20, "each once");
    filter = (struct task_filter){ .source = STR("pubmed"), .limit = 7 };
    REQUIRE_OK(store_task_list(store, contract_arena(), &filter, &list, &err), err);
    CHECK_EQ(list.count, 0, "of another source");
    filter = (struct task_filter){ .has_status = true, .status = TASK_FAILED, .limit = 7 };
    REQUIRE_OK(store_task_list(store, contract_arena(), &filter, &list, &err), err);
    CHECK_EQ(list.count, 0, "of another status");
    contract_end();
}

static int by_start(const void *left, const void *right)
{
    const struct window *a = left, *b = right;

    return (a->from_us > b->from_us) - (a->from_us < b->from_us);
}

TEST(live_tasks_are_those_of_the_partition_that_have_not_ended)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    const struct task_partition of = { plan.source, plan.endpoint, plan.operation };
    const struct task_partition other = { plan.source, plan.endpoint, OPERATION_REPLAY };
    struct task_list list;
    struct error err = { 0 };
    int64_t last, cancelled;

    rows_add_tasks(store, &plan, 5);
    REQUIRE_OK(store_task_live(store, contract_arena(), &of, (struct store_page){ .limit = 3 },
                               &list, &err),
               err);
    REQUIRE(list.count == 3, "a page");
    CHECK(list.items[0].id < list.items[1].id, "by id");
    CHECK_STR(list.items[0].params, STR("{\"z\":1,\"a\":1.0}"), "whole");
    last = list.items[2].id;
    REQUIRE_OK(store_task_live(store, contract_arena(), &of,
                               (struct store_page){ .after = last, .limit = 3 }, &list, &err),
               err);
    REQUIRE(list.count == 2, "the rest");
    CHECK(list.items[0].id > last, "after the last one");
    REQUIRE_OK(store_task_live(store, contract_arena(), &other, (struct store_page){ .limit = 3 },
                               &list, &err),
               err);
    CHECK_EQ(list.count, 0, "another partition");
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_plan_cancel(store, plan.id, NOW_US, &cancelled, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_task_live(store, contract_arena(), &of, (struct store_page){ .limit = 3 },
                               &list, &err),
               err);
    CHECK_EQ(list.count, 0, "they have ended");
    contract_end();
}

TEST(coverage_is_that_of_the_namespace_after_the_instant)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct coverage_namespace of = { plan.source,
                                     plan.endpoint,
                                     plan.operation,
                                     plan.cursor_key,
                                     plan.scope,
                                     plan.namespace_key,
                                     0 };
    struct coverage_list list;
    struct error err = { 0 };

    rows_add_tasks(store, &plan, 5);
    REQUIRE_OK(
        store_coverage_list(store, contract_arena(), &of, NOW_US + 2 * US_PER_HOUR, &list, &err),
        err);
    CHECK_EQ(list.covered.count, 0, "nothing has succeeded");
    REQUIRE(list.live.count == 3, "those that reach beyond");
    qsort(list.live.items, list.live.count, sizeof(list.live.items[0]), by_start);
    for (size_t i = 0; i < 3; i++) {
        CHECK_EQ(list.live.items[i].from_us, NOW_US + (int64_t)(i + 2) * US_PER_HOUR, "window");
        CHECK_EQ(list.live.items[i].to_us, NOW_US + (int64_t)(i + 3) * US_PER_HOUR, "window");
    }
    REQUIRE_OK(store_coverage_list(store, contract_arena(), &of, INT64_MIN, &list, &err), err);
    CHECK_EQ(list.live.count, 5, "all time");
    for (int i = 0; i < 5; i++) {
        struct coverage_namespace other = of;

        if (i == 0)
            other.source = STR("pubmed");
        else if (i == 1)
            other.endpoint = STR("journals");
        else if (i == 2)
            other.operation = OPERATION_REPLAY;
        else if (i == 3)
            other.scope = NAMESPACE_CUSTOM;
        else
            other.namespace_key = STR(HASH_B);
        REQUIRE_OK(store_coverage_list(store, contract_arena(), &other, INT64_MIN, &list, &err),
                   err);
        CHECK_EQ(list.live.count, 0, "another namespace");
    }
    contract_end();
}

TEST(coverage_tells_what_has_ended_without_success)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    const struct coverage_namespace of = { plan.source,
                                           plan.endpoint,
                                           plan.operation,
                                           plan.cursor_key,
                                           plan.scope,
                                           plan.namespace_key,
                                           0 };
    struct coverage_list list;
    struct error err = { 0 };
    int64_t cancelled;

    rows_add_tasks(store, &plan, 4);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_plan_cancel(store, plan.id, NOW_US, &cancelled, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_coverage_list(store, contract_arena(), &of, NOW_US + US_PER_HOUR, &list, &err),
               err);
    CHECK_EQ(list.covered.count, 0, "nothing has succeeded");
    CHECK_EQ(list.live.count, 0, "nothing waits");
    REQUIRE(list.lost.count == 3, "those that reach beyond");
    qsort(list.lost.items, list.lost.count, sizeof(list.lost.items[0]), by_start);
    CHECK_EQ(list.lost.items[0].from_us, NOW_US + US_PER_HOUR, "the whole window");
    CHECK_EQ(list.lost.items[2].to_us, NOW_US + 4 * US_PER_HOUR, "the whole window");
    contract_end();
}
