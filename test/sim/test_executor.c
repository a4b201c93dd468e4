/* Planner, executors, rate gate and cursor together, in virtual time, against an upstream that
 * knows the truth.
 *
 * A history is made by chance: records change, triggers fire, executors work; responses break,
 * calls of the database fail, results of commits are lost, and executors die in the middle of a
 * task: from then on no call of theirs reaches the database. Then the faults stop, and one more
 * trigger must bring everything in order:
 *
 *      store      every record of the upstream, in its latest revision, and no other
 *      outbox     one event per version of each record
 *      cursor     at the end of what was planned; its events replay to its value
 *      batches    no number, token or key twice within a run (the store's own keys)
 */
#include "contract.h"
#include "fault_store.h"
#include "port/store_rate.h"
#include "sim_world.h"
#include "test.h"

enum { HISTORIES = 60, ROUNDS = 12, CALLS_MAX = 120 /* of the database by a step, roughly */ };

static void change_records(struct world *w, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        upstream_change(&w->api, world_now(w));
        virtual_clock_advance(&w->clock, random_between(&w->random, 0, US_PER_HOUR / 4));
    }
}

/* A call to come fails, or its result is lost, or it takes longer than a lease, or the process dies
 * in it. */
static void arm(struct world *w)
{
    struct store_fault fault = { .number = random_between(&w->random, 1, CALLS_MAX),
                                 .clock = &w->clock.clock,
                                 .slow_us = random_between(&w->random, 1, 2 * LEASE_US) };

    if (random_chance(&w->random, 30)) {
        fault.effect = FAULT_DEATH;
    } else if (random_chance(&w->random, 30)) {
        fault.effect = FAULT_AFTER;
        fault.call = FAULT_COMMIT;
        fault.number = random_between(&w->random, 1, 8);
    } else if (random_chance(&w->random, 30)) {
        fault.effect = random_chance(&w->random, 50) ? FAULT_AFTER : FAULT_SLOW;
    }
    fault_store_arm(w->store, &fault);
}

static void live_through(struct world *w)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct plan_result result;
        struct error ignored; /* what fails is tried again by the next one */

        change_records(w, random_between(&w->random, 0, 60));
        w->api.fault_percent = random_chance(&w->random, 70) ? 15 : 0;
        (void)!world_trigger(w, &result, &ignored);
        for (int64_t n = random_between(&w->random, 0, 12); n > 0; n--) {
            if (random_chance(&w->random, 60))
                arm(w);
            (void)world_step(w, (int)(n % EXECUTORS));
            (void)fault_store_disarm(w->store);
        }
    }
}

/* No more faults: everything left undone is done now. */
static void come_to_rest(struct world *w, int64_t pause_us)
{
    struct plan_result result;
    struct error err = { 0 };

    w->api.fault_percent = 0;
    virtual_clock_advance(&w->clock, pause_us);
    world_drain(w);
    /* Twice: slices that ended PARTIAL or FAILED under the last faults are planned once more. */
    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(world_trigger(w, &result, &err), err);
        world_drain(w);
    }
}

/* ---- the truth ---- */

static void check_cursor(struct world *w, int64_t at_least_us)
{
    struct cursor_event_list events;
    struct cursor_fold fold;
    struct cursor cursor;

    REQUIRE(world_cursor(w, &cursor), "harvest has a cursor");
    CHECK(cursor.value.instant_us >= at_least_us, "the cursor has come to the end");
    events = world_events(w, &cursor);
    cursor_fold_init(&fold, CURSOR_TIME);
    for (size_t i = 0; i < events.count; i++)
        cursor_fold_add(&fold, events.items[i].has_prev ? &events.items[i].prev : NULL,
                        &events.items[i].next);
    CHECK(cursor_fold_agrees(&fold, &cursor.value), "replay(events) is the value");
}

static void check_truth(struct world *w, int64_t behind_us)
{
    for (int i = 0; i < w->api.count; i++)
        world_check_record(w, i);
    check_cursor(w, world_now(w) - behind_us);
}

TEST(after_any_history_of_faults_and_deaths_the_store_equals_the_upstream)
{
    static struct world w;
    const int histories = contract_rounds(HISTORIES);
    const struct random_seeds seeds = random_seeds((uint64_t)histories);
    int64_t records = 0, requests = 0;
    int deaths = 0;

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        const size_t failed = test_failures();

        world_init(&w, seed);
        live_through(&w);
        come_to_rest(&w, US_PER_DAY);
        check_truth(&w, US_PER_DAY);
        records += w.api.count;
        requests += w.api.requests;
        deaths += w.deaths;
        world_release(&w);
        if (test_failures() > failed) {
            test_note("seed %llu: PATRA_SEED runs it again", (unsigned long long)seed);
            return;
        }
    }
    test_note("%lld records, %lld requests, %d executors died", (long long)records,
              (long long)requests, deaths);
    CHECK(seeds.is_one || deaths > histories / 2, "executors have died");
}

/* ---- days that hold more than the source returns ---- */

static int64_t count_parts(struct world *w)
{
    const struct task_filter filter = { .source = STR("demo"), .limit = 100000 };
    struct task_list tasks;
    struct error err = { 0 };
    int64_t count = 0;

    REQUIRE_OK(store_task_list(w->store, &w->arena, &filter, &tasks, &err), err);
    for (size_t i = 0; i < tasks.count; i++)
        count += id_range_is_valid(tasks.items[i].ids);
    return count;
}

TEST(after_any_history_days_that_were_sliced_by_ids_equal_the_upstream)
{
    static struct world w;
    const int histories = contract_rounds(HISTORIES);
    const struct random_seeds seeds = random_seeds((uint64_t)histories);
    int64_t records = 0, requests = 0, parts = 0;
    int deaths = 0;

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        const size_t failed = test_failures();

        world_open(&w, seed, UPSTREAM_SOURCE_BY_DAY);
        live_through(&w);
        come_to_rest(&w, 2 * US_PER_DAY);
        check_truth(&w, 2 * US_PER_DAY);
        records += w.api.count;
        requests += w.api.requests;
        parts += count_parts(&w);
        deaths += w.deaths;
        world_release(&w);
        if (test_failures() > failed) {
            test_note("seed %llu: PATRA_SEED runs it again", (unsigned long long)seed);
            return;
        }
    }
    test_note("%lld records, %lld requests, %lld parts by id, %d executors died",
              (long long)records, (long long)requests, (long long)parts, deaths);
    CHECK(seeds.is_one || parts > 10 * histories, "days were sliced");
    CHECK(seeds.is_one || deaths > histories / 2, "executors have died");
}

/* ---- a worker that was overtaken ---- */

static void overtake(void *context, struct upstream *api)
{
    struct world *w = context;

    if (api->requests != 3)
        return; /* two batches are committed, the third is being fetched */
    virtual_clock_advance(&w->clock, LEASE_US + US_PER_SECOND);
    for (int i = 0; i < 100 && world_step(w, 1) != EXECUTOR_DRAINED; i++)
        ;
}

TEST(a_worker_that_slept_longer_than_the_lease_commits_nothing)
{
    static struct world w;
    struct plan_result result;
    struct error err = { 0 };
    uint64_t before;

    world_init(&w, 1);
    for (int i = 0; i < 45; i++)
        upstream_change(&w.api, START_US + i * US_PER_MINUTE);
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    w.api.before = overtake;
    w.api.context = &w;
    REQUIRE(world_step(&w, 0) == EXECUTOR_WORKED, "the sleeper had a task");
    CHECK(w.last_was_overtaken, "and was overtaken");
    before = contract_digest();
    CHECK_EQ(world_step(&w, 0), EXECUTOR_DRAINED, "the other one has done it");
    CHECK_EQ(contract_digest(), before, "nothing is left to write");
    for (int i = 0; i < w.api.count; i++)
        world_check_record(&w, i);
    world_release(&w);
}

/* ---- a response that takes longer than the lease ---- */

static void drip(void *context, struct upstream *api)
{
    struct world *w = context;

    if (api->requests != 3)
        return;
    for (int64_t passed_us = 0; passed_us < 2 * LEASE_US; passed_us += US_PER_SECOND) {
        virtual_clock_advance(&w->clock, US_PER_SECOND);
        api->watch->moved(api->watch);
    }
    CHECK_EQ(world_step(w, 1), EXECUTOR_NOTHING, "the other one finds nothing to take over");
}

TEST(a_slow_response_that_keeps_arriving_keeps_the_lease)
{
    static struct world w;
    struct plan_result result;
    struct error err = { 0 };

    world_init(&w, 1);
    for (int i = 0; i < 45; i++)
        upstream_change(&w.api, START_US + i * US_PER_MINUTE);
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    w.api.before = drip;
    w.api.context = &w;
    REQUIRE(world_step(&w, 0) == EXECUTOR_WORKED, "there was a task");
    CHECK(!w.last_was_overtaken, "which stayed with the one that waited");
    for (int i = 0; i < w.api.count; i++)
        world_check_record(&w, i);
    world_release(&w);
}

/* ---- an end that the store refuses ---- */

static struct task only_task(struct world *w)
{
    const struct task_filter filter = { .source = STR("demo"), .limit = 10 };
    struct task_list tasks;
    struct error err = { 0 };

    REQUIRE_OK(store_task_list(w->store, &w->arena, &filter, &tasks, &err), err);
    REQUIRE(tasks.count > 0, "a task");
    return tasks.items[0];
}

TEST(a_task_whose_end_cannot_be_stored_ends_all_the_same)
{
    static const char *const texts[] = { "UPDATE ing_task SET status_code = :status",
                                         "UPDATE ing_plan_slice SET status_code",
                                         "UPDATE ing_task_run SET" };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        static struct world w;
        struct plan_result result;
        struct error err = { 0 };

        world_init(&w, 1);
        w.api.refused = (struct window){ 0, INT64_MAX };
        REQUIRE_OK(world_trigger(&w, &result, &err), err);
        fault_store_arm(w.store,
                        &(struct store_fault){ .number = i == 2 ? 2 : 1, /* after the batch's */
                                               .sql = texts[i],
                                               .level = ERROR_DATA,
                                               .code = "store.text" });
        CHECK_EQ(world_step(&w, 0), EXECUTOR_WORKED, "the executor goes on");
        CHECK(fault_store_disarm(w.store), "the store has refused it");
        CHECK_EQ(w.deaths, 0, "it does not die of it");
        CHECK_EQ(only_task(&w).status, TASK_FAILED, "the task has ended");
        CHECK(str_find(only_task(&w).last_error, STR("store.text")) < only_task(&w).last_error.len,
              "and why");
        world_release(&w);
    }
}

/* ---- clocks that are wrong ---- */

/* The database's clock, which is never set. */
static struct world *clock_world;
static int64_t database_offset_us; /* from the monotonic clock */

static bool database_clock(struct store *store, int64_t local_us, int64_t *now_us,
                           struct error *err)
{
    (void)store;
    (void)local_us;
    (void)err;
    *now_us = clock_monotonic_us(&clock_world->clock.clock) + database_offset_us;
    return true;
}

/* The database's clock shows the time of now, and keeps going when this machine's is set. */
static void give_database_clock(struct world *w)
{
    static struct store_rate_ops ops;

    clock_world = w;
    database_offset_us = world_now(w) - clock_monotonic_us(&w->clock.clock);
    for (int i = 0; i < EXECUTORS; i++) {
        ops = *w->workers[i].session->rate;
        ops.clock = database_clock;
        w->workers[i].session->rate = &ops;
    }
}

static int64_t database_now(void)
{
    struct error ignored;
    int64_t now_us;

    (void)!database_clock(NULL, 0, &now_us, &ignored);
    return now_us;
}

static struct run only_run(struct world *w, const struct task *task)
{
    struct run_list runs;
    struct error err = { 0 };

    REQUIRE_OK(store_run_list(w->store, &w->arena, task->id, &runs, &err), err);
    REQUIRE(runs.count == 1, "a run");
    return runs.items[0];
}

static int64_t jump_us;

static void set_calendar(void *context, struct upstream *api)
{
    struct world *w = context;
    const struct task task = only_task(w);

    CHECK(task.leased_until_us > database_now(), "the lease holds");
    CHECK(task.leased_until_us <= database_now() + LEASE_US, "and no longer than it should");
    if (api->requests == 2)
        virtual_clock_set(&w->clock, world_now(w) + jump_us);
    virtual_clock_advance(&w->clock, LEASE_US / 2);
}

TEST(setting_the_calendar_in_the_middle_of_a_run_moves_no_lease)
{
    static const int64_t jumps_us[] = { 5 * US_PER_HOUR, -5 * US_PER_HOUR };

    for (size_t i = 0; i < ARRAY_LEN(jumps_us); i++) {
        static struct world w;
        struct plan_result result;
        struct error err = { 0 };

        world_init(&w, 1);
        for (w.api.count = 0; w.api.count < 45; w.api.count++)
            w.api.records[w.api.count] =
                (struct api_record){ START_US + w.api.count * US_PER_MINUTE, 1 };
        REQUIRE_OK(world_trigger(&w, &result, &err), err);
        give_database_clock(&w);
        jump_us = jumps_us[i];
        w.api.before = set_calendar;
        w.api.context = &w;
        REQUIRE(world_step(&w, 0) == EXECUTOR_WORKED, "one task");
        CHECK(!w.last_was_overtaken && w.last_status == TASK_SUCCEEDED, "to its end");
        CHECK(w.api.requests >= 5, "over several pages");
        world_release(&w);
    }
}

TEST(a_wait_that_the_source_demands_is_kept_by_the_database_clock)
{
    static const int64_t skews_us[] = { 0, 5 * US_PER_HOUR, -5 * US_PER_HOUR };

    for (size_t i = 0; i < ARRAY_LEN(skews_us); i++) {
        static struct world w;
        struct plan_result result;
        struct error err = { 0 };
        struct task task;

        world_init(&w, 1);
        upstream_change(&w.api, START_US);
        give_database_clock(&w);
        REQUIRE_OK(world_trigger(&w, &result, &err), err);
        virtual_clock_set(&w.clock, database_now() - skews_us[i]);
        w.api.wait_s = 600;
        REQUIRE(world_step(&w, 0) == EXECUTOR_WORKED, "one task");
        task = only_task(&w);
        CHECK_EQ(task.status, TASK_QUEUED, "given back");
        CHECK(task.scheduled_us >= database_now() + 599 * US_PER_SECOND, "not before");
        CHECK(task.scheduled_us <= database_now() + 700 * US_PER_SECOND, "and not much later");
        CHECK_EQ(only_run(&w, &task).status, RUN_CANCELLED, "no failure");
        world_release(&w);
    }
}

/* ---- a slice that fails for good ---- */

/* Ten records on each of so many days; "now" is just after the last. */
static void fill_days(struct world *w, int days)
{
    for (int i = 0; i < days * 10; i++)
        w->api.records[w->api.count++] = (struct api_record){
            .updated_us = START_US + i / 10 * US_PER_DAY + i % 10 * US_PER_HOUR, .revision = 1
        };
    virtual_clock_set(&w->clock, START_US + days * US_PER_DAY + US_PER_HOUR);
}

TEST(the_cursor_stops_at_a_slice_that_failed_and_a_later_trigger_heals_it)
{
    static struct world w;
    const struct window third = { START_US + 2 * US_PER_DAY, START_US + 3 * US_PER_DAY };
    struct plan_result result;
    struct cursor cursor;
    struct error err = { 0 };

    world_init(&w, 1);
    fill_days(&w, 5);
    w.api.refused = third;
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    world_drain(&w);
    REQUIRE(world_cursor(&w, &cursor), "a cursor");
    CHECK_EQ(cursor.value.instant_us, third.from_us, "it waits where the third slice begins");
    for (int i = 0; i < w.api.count; i++)
        CHECK_EQ(w.api.fetched[i], i / 10 != 2, "the others were fetched");
    w.api.refused = (struct window){ 0, 0 };
    virtual_clock_set(&w.clock, START_US + 5 * US_PER_DAY + US_PER_HOUR); /* no time has passed */
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    CHECK_EQ(result.slices, 1, "only what is missing is planned");
    world_drain(&w);
    REQUIRE(world_cursor(&w, &cursor), "a cursor");
    CHECK(cursor.value.instant_us >= START_US + 5 * US_PER_DAY, "it passes all that is covered");
    for (int i = 0; i < w.api.count; i++)
        CHECK_EQ(w.api.fetched[i], 1, "nothing was fetched twice");
    world_release(&w);
}

/* ---- other operations beside HARVEST ---- */

/* The same harvests, a day each; with or without a BACKFILL and an UPDATE that work beside them. */
static void harvest_for_days(struct world *w, bool with_others)
{
    struct plan_result result;
    struct error err = { 0 };

    fill_days(w, 12);
    for (int day = 8; day <= 12; day++) {
        virtual_clock_set(&w->clock, START_US + day * US_PER_DAY + US_PER_HOUR);
        REQUIRE_OK(world_trigger(w, &result, &err), err);
        if (with_others) {
            REQUIRE_OK(world_fire(w, "backfill", &result, &err), err);
            REQUIRE_OK(world_fire(w, "update", &result, &err), err);
            w->update_ids += result.ids;
        }
        world_drain(w);
    }
}

TEST(backfill_and_update_beside_it_leave_the_forward_cursor_s_history_as_it_is)
{
    static struct world w[2];
    struct cursor_event_list events[2];
    struct cursor cursor;

    for (int i = 0; i < 2; i++) {
        world_init(&w[i], 1);
        harvest_for_days(&w[i], i == 1);
        REQUIRE(world_cursor(&w[i], &cursor), "a cursor");
        events[i] = world_events(&w[i], &cursor);
    }
    CHECK(w[1].api.requests > w[0].api.requests, "the others have worked");
    CHECK(w[1].update_ids > 0, "the update, too");
    CHECK_EQ(events[0].count, events[1].count, "as many moves");
    for (size_t i = 0; i < events[0].count && i < events[1].count; i++) {
        CHECK_EQ(events[1].items[i].next.instant_us, events[0].items[i].next.instant_us, "to here");
        CHECK_EQ(events[1].items[i].prev.instant_us, events[0].items[i].prev.instant_us, "from");
    }
    world_release(&w[0]);
    world_release(&w[1]);
}
