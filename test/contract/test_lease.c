/* The queue as executors see it: each task to one of them, and a fence against the overtaken. */
#include <string.h>

#include "contract.h"
#include "port/store_lease.h"
#include "port/store_plan.h"
#include "port/store_rate.h"
#include "port/store_run.h"
#include "rows.h"

static const struct str ME = STR_INIT("me"), YOU = STR_INIT("you");

static struct task_claim claim_of(struct str owner, int64_t now_us, int64_t limit)
{
    return (struct task_claim){
        .partition = { STR("crossref"), STR("works"), OPERATION_HARVEST },
        .owner = owner,
        .now_us = now_us,
        .until_us = now_us + US_PER_MINUTE,
        .limit = limit,
    };
}

static struct task_list claims(struct store *store, struct task_claim claim)
{
    struct task_list list = { 0 };
    struct error err = { 0 };

    REQUIRE_OK(store_task_claim(store, contract_arena(), &claim, &list, &err), err);
    return list;
}

static struct lease lease_of(const struct task *task)
{
    return (struct lease){ task->id, task->lease_epoch };
}

static struct task get(struct store *store, int64_t id)
{
    struct task task = { 0 };
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_task_get(store, contract_arena(), id, &task, &found, &err), err);
    REQUIRE(found, "the task");
    return task;
}

/* Tasks 1..count, scheduled one microsecond after the other. */
static struct store *store_with(int64_t count)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);

    rows_add_tasks(store, &plan, count);
    return store;
}

TEST(tasks_are_claimed_in_the_order_of_the_queue)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    static const struct {
        int64_t priority;
        int64_t scheduled_us;
    } queue[] = { { 50, NOW_US }, { 10, NOW_US + 9 }, { 10, NOW_US + 5 },
                  { 90, NOW_US }, { 10, NOW_US + 5 }, { 10, NOW_US + 100 } };
    static const int wanted[] = { 2, 4, 1, 0, 3 }; /* the last one is not due */
    struct task tasks[ARRAY_LEN(queue)];
    struct task_list list;
    struct error err = { 0 };
    int64_t added;

    rows_add_tasks(store, &plan, 1);
    list = claims(store, claim_of(ME, NOW_US + 1, 1));
    for (size_t i = 0; i < ARRAY_LEN(queue); i++) {
        tasks[i] = rows_task(&plan, list.items[0].slice_id, 100 + (int64_t)i);
        tasks[i].priority = queue[i].priority;
        tasks[i].scheduled_us = queue[i].scheduled_us;
    }
    REQUIRE_OK(store_task_add(store, tasks, ARRAY_LEN(queue), &added, &err), err);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        struct task_claim claim = claim_of(ME, NOW_US + 50, 1);

        if (i % 2 == 1)
            claim.partition = (struct task_partition){ 0 }; /* whichever comes first */
        list = claims(store, claim);
        REQUIRE(list.count == 1, "one");
        CHECK_STR(list.items[0].idempotent_key, tasks[wanted[i]].idempotent_key, "the next");
    }
    CHECK_EQ(claims(store, claim_of(ME, NOW_US + 50, 10)).count, 0, "nothing is due");
    contract_end();
}

TEST(a_claim_gives_a_lease)
{
    struct store *store = store_with(3);
    struct task_list list = claims(store, claim_of(ME, NOW_US + 10, 2));
    struct task task;

    REQUIRE(list.count == 2, "two of three");
    for (size_t i = 0; i < 2; i++) {
        CHECK_EQ(list.items[i].status, TASK_DISPATCHED, "status");
        CHECK_STR(list.items[i].lease_owner, ME, "owner");
        CHECK_EQ(list.items[i].leased_until_us, NOW_US + 10 + US_PER_MINUTE, "until");
        CHECK_EQ(list.items[i].lease_count, 1, "count");
        CHECK_EQ(list.items[i].lease_epoch, 1, "epoch");
        task = get(store, list.items[i].id);
        CHECK_EQ(task.status, TASK_DISPATCHED, "as stored");
        CHECK_STR(task.lease_owner, ME, "as stored");
    }
    list = claims(store, claim_of(YOU, NOW_US + 10, 10));
    CHECK_EQ(list.count, 1, "the third");
    CHECK_EQ(claims(store, claim_of(YOU, NOW_US + 10, 10)).count, 0, "no more");
    contract_end();
}

TEST(a_partition_has_its_limit)
{
    struct store *store = store_with(6);
    struct task_claim claim = claim_of(ME, NOW_US + 10, 10);
    struct partition_list partitions;
    struct task_list list;
    struct error err = { 0 };
    bool held;

    claim.live_max = 4;
    list = claims(store, claim);
    REQUIRE(list.count == 4, "as many as may be under way");
    CHECK_EQ(claims(store, claim).count, 0, "no more");
    REQUIRE_OK(store_lease_finish(store,
                                  &(struct task_end){ .lease = lease_of(&list.items[0]),
                                                      .status = TASK_FAILED,
                                                      .now_us = NOW_US },
                                  &held, &err),
               err);
    CHECK_EQ(claims(store, claim).count, 1, "one is over, one may begin");
    claim.now_us = claim.until_us - 1;
    claim.until_us += US_PER_MINUTE;
    CHECK_EQ(claims(store, claim).count, 0, "to their last moment leases count");
    claim.now_us++;
    REQUIRE_OK(store_partition_list(store, contract_arena(), claim.now_us, &partitions, &err), err);
    REQUIRE(partitions.count == 1, "the partition");
    CHECK_EQ(partitions.items[0].live, 0, "expired leases do not count");
    CHECK_EQ(claims(store, claim).count, 1, "so what waits goes on at once");
    contract_end();
}

TEST(partitions_are_told_with_their_first_task)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct task tasks[6];
    struct task_list claimed;
    struct partition_list list;
    struct error err = { 0 };
    int64_t added;

    rows_add_tasks(store, &plan, 2);
    claimed = claims(store, claim_of(ME, NOW_US + 5, 2));
    for (int i = 0; i < 6; i++) {
        tasks[i] = rows_task(&plan, claimed.items[0].slice_id, 100 + i);
        tasks[i].source = i < 4 ? STR("crossref") : STR("Zenodo");
        tasks[i].operation = i == 3 ? OPERATION_BACKFILL : OPERATION_HARVEST;
        tasks[i].priority = i == 1 ? 5 : 10;
        tasks[i].scheduled_us = NOW_US + (i == 1 || i == 3 ? 1000 : i);
    }
    REQUIRE_OK(store_task_add(store, tasks, 6, &added, &err), err);
    REQUIRE_OK(store_partition_list(store, contract_arena(), NOW_US + 100, &list, &err), err);
    REQUIRE(list.count == 3, "three partitions wait");
    CHECK_STR(list.items[0].partition.source, STR("Zenodo"), "bytewise order");
    CHECK_EQ(list.items[0].plan_id, plan.id, "a plan of it");
    CHECK_EQ(list.items[0].live, 0, "nothing under way");
    CHECK(list.items[0].has_due, "one is due");
    CHECK_EQ(list.items[0].scheduled_us, NOW_US + 4, "its first");
    CHECK_EQ(list.items[1].partition.operation, OPERATION_BACKFILL, "by the operation's word");
    CHECK(!list.items[1].has_due, "not yet");
    CHECK_STR(list.items[2].partition.endpoint, STR("works"), "endpoint");
    CHECK_EQ(list.items[2].live, 2, "two under way");
    CHECK_EQ(list.items[2].priority, 10, "the urgent one is not due");
    CHECK_EQ(list.items[2].scheduled_us, NOW_US, "the first that is");
    REQUIRE_OK(store_partition_list(store, contract_arena(), NOW_US + 2000, &list, &err), err);
    CHECK_EQ(list.items[2].priority, 5, "now it is");
    contract_end();
}

TEST(every_partition_is_found_whatever_it_shares_with_the_one_before)
{
    static const struct {
        struct str source, endpoint;
        enum operation operation;
    } wanted[] = { /* in order */
                   { STR_INIT("a"), STR_INIT("x"), OPERATION_BACKFILL },
                   { STR_INIT("a"), STR_INIT("x"), OPERATION_HARVEST },
                   { STR_INIT("a"), STR_INIT("y"), OPERATION_BACKFILL },
                   { STR_INIT("b"), STR_INIT("w"), OPERATION_UPDATE },
                   { STR_INIT("b"), STR_INIT("x"), OPERATION_HARVEST },
                   { STR_INIT("c"), STR_INIT("x"), OPERATION_BACKFILL }
    };
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct task tasks[2 * ARRAY_LEN(wanted)];
    struct partition_list list;
    struct error err = { 0 };
    struct task_list first;
    int64_t added;

    rows_add_tasks(store, &plan, 1);
    first = claims(store, claim_of(ME, NOW_US + 5, 1));
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++) { /* two of each, the last one first */
        const size_t k = ARRAY_LEN(wanted) - 1 - i % ARRAY_LEN(wanted);

        tasks[i] = rows_task(&plan, first.items[0].slice_id, 100 + (int64_t)i);
        tasks[i].source = wanted[k].source;
        tasks[i].endpoint = wanted[k].endpoint;
        tasks[i].operation = wanted[k].operation;
    }
    REQUIRE_OK(store_task_add(store, tasks, ARRAY_LEN(tasks), &added, &err), err);
    REQUIRE_OK(store_partition_list(store, contract_arena(), NOW_US + 1000, &list, &err), err);
    REQUIRE(list.count == ARRAY_LEN(wanted), "all of them, each once");
    for (size_t i = 0; i < list.count; i++) {
        CHECK_STR(list.items[i].partition.source, wanted[i].source, "source");
        CHECK_STR(list.items[i].partition.endpoint, wanted[i].endpoint, "endpoint");
        CHECK_EQ(list.items[i].partition.operation, wanted[i].operation, "operation");
    }
    contract_end();
}

TEST(tasks_that_an_error_put_off_are_told_the_next_one_first)
{
    struct store *store = store_with(5);
    const struct task_claim claim = claim_of(ME, NOW_US + 5, 3);
    const struct task_list claimed = claims(store, claim);
    struct task_list list;
    struct error err = { 0 };
    bool held;

    REQUIRE(claimed.count == 3, "three were begun, two wait");
    for (size_t i = 0; i < 3; i++)
        REQUIRE_OK(store_lease_release(
                       store,
                       &(struct lease_release){ .lease = lease_of(&claimed.items[i]),
                                                .scheduled_us = NOW_US + 3000 - (int64_t)i * 1000,
                                                .reason = i == 1 ? STR("") : STR("status 503"),
                                                .now_us = NOW_US },
                       &held, &err),
                   err);
    REQUIRE_OK(store_task_put_off(store, contract_arena(), &claim.partition, NOW_US + 500, 10,
                                  &list, &err),
               err);
    REQUIRE(list.count == 2, "one has no error, two are due");
    CHECK_EQ(list.items[0].id, claimed.items[2].id, "due first");
    CHECK_STR(list.items[0].last_error, STR("status 503"), "why");
    CHECK_EQ(list.items[1].id, claimed.items[0].id, "due last");
    REQUIRE_OK(store_task_put_off(store, contract_arena(), &claim.partition, NOW_US + 1000, 10,
                                  &list, &err),
               err);
    CHECK_EQ(list.count, 1, "the first one is due");
    REQUIRE_OK(
        store_task_put_off(store, contract_arena(), &claim.partition, NOW_US + 500, 1, &list, &err),
        err);
    CHECK_EQ(list.count, 1, "no more than asked for");
    contract_end();
}

static int64_t take_slot(struct store *store, const char *owner)
{
    const struct rate_slot slot = { STR("key"), str_of(owner), NOW_US, NOW_US + US_PER_HOUR, 2 };
    struct error err = { 0 };
    int64_t id = -1;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_slot_take(store, &slot, &id, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    return id;
}

TEST(with_a_lease_that_ran_out_its_owner_s_slots_are_free)
{
    struct store *store = store_with(1);
    struct error err = { 0 };
    int64_t count;

    (void)claims(store, claim_of(ME, NOW_US + 10, 1));
    CHECK(take_slot(store, "me") != 0, "one for him whose lease will run out");
    CHECK(take_slot(store, "another") != 0, "and one for another");
    CHECK_EQ(take_slot(store, "third"), 0, "that is all");
    REQUIRE_OK(store_lease_reclaim(store, NOW_US + 10 + US_PER_MINUTE, 10, &count, &err), err);
    CHECK(take_slot(store, "third") != 0, "the dead one's is free");
    CHECK_EQ(take_slot(store, "fourth"), 0, "the other's is not");
    contract_end();
}

static struct run only_run(struct store *store, int64_t task_id)
{
    struct run_list runs;
    struct error err = { 0 };

    REQUIRE_OK(store_run_list(store, contract_arena(), task_id, &runs, &err), err);
    REQUIRE(runs.count == 1, "one run");
    return runs.items[0];
}

/* Its process died, nobody began it again, and a person cancels it: by its plan or alone. */
TEST(with_a_task_that_is_cancelled_in_the_queue_its_last_run_ends)
{
    for (int alone = 0; alone < 2; alone++) {
        struct store *store = store_with(1);
        struct task_list mine = claims(store, claim_of(ME, NOW_US + 10, 1));
        struct task *task = &mine.items[0];
        struct run run = { .task_id = task->id,
                           .source = task->source,
                           .operation = task->operation,
                           .lease_owner = STR("me"),
                           .lease_epoch = lease_of(task).epoch,
                           .status = RUN_RUNNING,
                           .window = task->window,
                           .stats = STR("{}"),
                           .started_us = NOW_US };
        const struct task_cancel cancel = { task->id, STR("not now"), NOW_US + US_PER_HOUR };
        struct error err = { 0 };
        int64_t count;
        bool held;

        REQUIRE_OK(store_begin(store, &err), err);
        REQUIRE_OK(store_lease_start(store, lease_of(task), NOW_US, &held, &err), err);
        REQUIRE_OK(store_run_add(store, &run, &err), err);
        REQUIRE_OK(store_commit(store, &err), err);
        REQUIRE_OK(store_lease_reclaim(store, NOW_US + 10 + US_PER_MINUTE, 10, &count, &err), err);
        CHECK_EQ(only_run(store, task->id).status, RUN_RUNNING, "for the next run to end");
        REQUIRE_OK(store_begin(store, &err), err);
        if (alone)
            REQUIRE_OK(store_task_cancel(store, &cancel, &held, &err), err);
        else
            REQUIRE_OK(store_plan_cancel(store, task->plan_id, cancel.now_us, &count, &err), err);
        REQUIRE_OK(store_commit(store, &err), err);
        CHECK_EQ(get(store, task->id).status, TASK_CANCELLED, "the task");
        CHECK_EQ(only_run(store, task->id).status, RUN_CANCELLED, alone ? "alone" : "by its plan");
        contract_end();
    }
}

TEST(who_was_overtaken_can_do_nothing)
{
    struct store *store = store_with(1);
    struct task_list mine = claims(store, claim_of(ME, NOW_US + 10, 1)), yours;
    const int64_t later_us = NOW_US + 10 + US_PER_MINUTE;
    struct lease lease = lease_of(&mine.items[0]);
    struct error err = { 0 };
    int64_t count;
    bool held;

    REQUIRE_OK(store_lease_start(store, lease, NOW_US, &held, &err), err);
    CHECK(held, "in time");
    REQUIRE_OK(store_lease_reclaim(store, later_us - 1, 10, &count, &err), err);
    CHECK_EQ(count, 0, "not yet");
    REQUIRE_OK(store_lease_reclaim(store, later_us, 10, &count, &err), err);
    CHECK_EQ(count, 1, "run out");
    CHECK_EQ(get(store, lease.task_id).status, TASK_QUEUED, "in the queue again");
    for (int round = 0; round < 2; round++) {
        REQUIRE_OK(store_lease_renew(store, lease, later_us * 2, later_us, &held, &err), err);
        CHECK(!held, "renew");
        REQUIRE_OK(store_lease_start(store, lease, later_us, &held, &err), err);
        CHECK(!held, "start");
        REQUIRE_OK(store_lease_release(store,
                                       &(struct lease_release){ .lease = lease,
                                                                .scheduled_us = later_us,
                                                                .reason = STR(""),
                                                                .now_us = later_us },
                                       &held, &err),
                   err);
        CHECK(!held, "release");
        REQUIRE_OK(
            store_lease_finish(
                store,
                &(struct task_end){ .lease = lease, .status = TASK_SUCCEEDED, .now_us = later_us },
                &held, &err),
            err);
        CHECK(!held, "finish");
        if (round == 0) {
            yours = claims(store, claim_of(YOU, later_us, 1));
            REQUIRE(yours.count == 1, "another one takes it");
            CHECK_EQ(yours.items[0].lease_epoch, 2, "a new epoch");
            CHECK_EQ(yours.items[0].lease_count, 2, "a second lease");
        }
    }
    REQUIRE_OK(
        store_lease_renew(store, lease_of(&yours.items[0]), later_us * 2, later_us, &held, &err),
        err);
    CHECK(held, "the other one goes on");
    contract_end();
}

TEST(leases_that_run_out_in_a_row_are_counted)
{
    struct store *store = store_with(1);
    struct error err = { 0 };
    int64_t count, now_us = NOW_US + 10;
    bool held;

    for (int i = 1; i <= 3; i++) {
        const struct task_list list = claims(store, claim_of(ME, now_us, 1));

        CHECK_EQ(list.items[0].crashes, i - 1, "so far");
        now_us += US_PER_MINUTE;
        REQUIRE_OK(store_lease_reclaim(store, now_us, 10, &count, &err), err);
        CHECK_EQ(get(store, list.items[0].id).crashes, i, "one more");
    }
    {
        const struct task_list list = claims(store, claim_of(ME, now_us, 1));

        REQUIRE_OK(store_lease_release(store,
                                       &(struct lease_release){ .lease = lease_of(&list.items[0]),
                                                                .scheduled_us = now_us,
                                                                .reason = STR("x"),
                                                                .now_us = now_us },
                                       &held, &err),
                   err);
        CHECK_EQ(get(store, list.items[0].id).crashes, 0, "who gives it back lives");
    }
    contract_end();
}

TEST(a_lease_is_made_longer_never_shorter)
{
    struct store *store = store_with(1);
    const struct task_list list = claims(store, claim_of(ME, NOW_US + 10, 1));
    const struct lease lease = lease_of(&list.items[0]);
    struct error err = { 0 };
    bool held;

    REQUIRE_OK(store_lease_renew(store, lease, NOW_US + US_PER_HOUR, NOW_US, &held, &err), err);
    REQUIRE_OK(store_lease_renew(store, lease, NOW_US, NOW_US, &held, &err), err);
    CHECK_EQ(get(store, lease.task_id).leased_until_us, NOW_US + US_PER_HOUR, "until");
    contract_end();
}

/* The third window was left to a person, with the settings of its plan. */
static void check_held(struct store *store, const struct coverage_namespace *of)
{
    struct held_query query = { .of = of, .after_us = INSTANT_MIN };
    struct held_window_list held;
    struct error err = { 0 };

    query.fingerprint = rows_plan(0).spec_fingerprint;
    REQUIRE_OK(store_coverage_held(store, contract_arena(), &query, &held, &err), err);
    REQUIRE(held.count == 1, "one of four");
    CHECK_EQ(held.items[0].window.from_us, NOW_US + 2 * US_PER_HOUR, "its window");
    CHECK_EQ(held.items[0].ended_us, NOW_US + 99, "its end");
    query.fingerprint = STR("of other settings");
    REQUIRE_OK(store_coverage_held(store, contract_arena(), &query, &held, &err), err);
    CHECK_EQ(held.count, 0, "a changed source is tried");
}

TEST(a_task_ends_with_what_it_covered)
{
    struct store *store = store_with(4);
    const struct task_list list = claims(store, claim_of(ME, NOW_US + 10, 4));
    struct coverage_namespace of;
    struct coverage_list coverage;
    struct error err = { 0 };
    struct task_end end;
    struct task task;
    bool held;

    REQUIRE(list.count == 4, "four");
    for (size_t i = 0; i < 4; i++) {
        end = (struct task_end){ .lease = lease_of(&list.items[i]), .now_us = NOW_US + 99 };
        task = list.items[i];
        switch (task.window.from_us - NOW_US) {
        case 0:
            end.status = TASK_SUCCEEDED;
            break;
        case US_PER_HOUR: /* from its end, as a source that sorts downwards does */
            end.status = TASK_PARTIAL;
            end.has_reason = true;
            end.reason = PARTIAL_CUT_SHORT;
            end.covered = (struct window){ task.window.from_us + 100, task.window.to_us };
            end.error = STR("over the cap");
            break;
        case 2 * US_PER_HOUR:
            end.status = TASK_PARTIAL;
            end.has_reason = true;
            end.reason = PARTIAL_DEAD_END;
            break;
        default:
            end.status = TASK_FAILED;
            break;
        }
        REQUIRE_OK(store_lease_finish(store, &end, &held, &err), err);
        CHECK(held, "mine");
        REQUIRE_OK(store_lease_finish(store, &end, &held, &err), err);
        CHECK(!held, "over");
        task = get(store, task.id);
        CHECK_EQ(task.status, end.status, "status");
        CHECK_EQ(task.lease_owner.len, 0, "nobody's");
        CHECK_STR(task.last_error, end.error, "error");
    }
    of = (struct coverage_namespace){ task.source,
                                      task.endpoint,
                                      task.operation,
                                      task.cursor_key,
                                      task.scope,
                                      task.namespace_key,
                                      0 };
    check_held(store, &of);
    REQUIRE_OK(store_coverage_list(store, contract_arena(), &of, INT64_MIN, &coverage, &err), err);
    CHECK_EQ(coverage.live.count, 0, "nothing under way");
    REQUIRE(coverage.covered.count == 2, "what succeeded, and the finished part of one");
    for (size_t i = 0; i < 2; i++) {
        const struct window window = coverage.covered.items[i];

        if (window.from_us == NOW_US)
            CHECK_EQ(window.to_us, NOW_US + US_PER_HOUR, "the whole");
        else
            CHECK_EQ(window.from_us, NOW_US + US_PER_HOUR + 100, "the part");
    }
    contract_end();
}

TEST(what_was_covered_lies_within_the_window)
{
    struct store *store = store_with(1);
    const struct task_list list = claims(store, claim_of(ME, NOW_US + 10, 1));
    const struct task *task = &list.items[0];
    struct error err = { 0 };
    bool held;

    CHECK(!store_lease_finish(
              store,
              &(struct task_end){ .lease = lease_of(task),
                                  .status = TASK_PARTIAL,
                                  .covered = { task->window.from_us, task->window.to_us + 1 },
                                  .now_us = NOW_US },
              &held, &err),
          "too much");
    CHECK_EQ(err.level, ERROR_REQUEST, err.text);
    CHECK(str_find(str_of(err.text), STR("ck_task_covered")) < strlen(err.text), err.text);
    CHECK_EQ(get(store, task->id).status, TASK_DISPATCHED, "as it was");
    contract_end();
}

TEST(a_task_given_back_waits_for_its_time)
{
    struct store *store = store_with(1);
    const struct task_list list = claims(store, claim_of(ME, NOW_US + 10, 1));
    struct error err = { 0 };
    bool held;

    REQUIRE_OK(store_lease_release(store,
                                   &(struct lease_release){ .lease = lease_of(&list.items[0]),
                                                            .scheduled_us = NOW_US + 500,
                                                            .reason = STR("no permit"),
                                                            .now_us = NOW_US + 20 },
                                   &held, &err),
               err);
    CHECK(held, "mine");
    CHECK_EQ(claims(store, claim_of(YOU, NOW_US + 499, 1)).count, 0, "not yet");
    CHECK_EQ(claims(store, claim_of(YOU, NOW_US + 500, 1)).count, 1, "now");
    CHECK_STR(get(store, list.items[0].id).last_error, STR("no permit"), "why");
    contract_end();
}

TEST(a_rolled_back_claim_was_none)
{
    struct store *store = store_with(2);
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    CHECK_EQ(claims(store, claim_of(ME, NOW_US + 10, 2)).count, 2, "claimed");
    store_rollback(store);
    CHECK_EQ(claims(store, claim_of(YOU, NOW_US + 10, 2)).count, 2, "free");
    contract_end();
}
