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
#include "engine/plan/cancel.h"
#include "fault_store.h"
#include "page_need.h"
#include "port/store_mark.h"
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

/* Of a slice whose total shows its end. */
static int64_t pages_of(int64_t records)
{
    return page_need(&(struct page_need){
        .paging = NEED_OFFSET, .records = records, .size = API_PAGE, .shows_end = true });
}

/* Returns the pages that are needed: those of what has changed since the trigger before. */
static int64_t live_through(struct world *w)
{
    int64_t need = 0;

    for (int round = 0; round < ROUNDS; round++) {
        const int64_t changes = random_between(&w->random, 0, 60);
        struct plan_result result;
        struct error ignored; /* what fails is tried again by the next one */

        change_records(w, changes);
        need += pages_of(changes);
        w->api.fault_percent = random_chance(&w->random, 70) ? 15 : 0;
        (void)!world_trigger(w, &result, &ignored);
        for (int64_t n = random_between(&w->random, 0, 12); n > 0; n--) {
            if (random_chance(&w->random, 60))
                arm(w);
            (void)world_step(w, (int)(n % EXECUTORS));
            (void)fault_store_disarm(w->store);
        }
    }
    return need;
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
    int64_t records = 0, requests = 0, good = 0, needed = 0;
    int deaths = 0;

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        const size_t failed = test_failures();
        int64_t need;

        world_init(&w, seed);
        need = live_through(&w);
        come_to_rest(&w, US_PER_DAY);
        check_truth(&w, US_PER_DAY);
        records += w.api.count;
        requests += w.api.requests;
        good += w.api.requests - w.api.spoiled;
        needed += need;
        CHECK(w.api.requests - w.api.spoiled <= NEED_FACTOR_MAX * need,
              "too many requests, even with what was read again after a death");
        deaths += w.deaths;
        world_release(&w);
        if (test_failures() > failed) {
            test_note("seed %llu: PATRA_SEED runs it again", (unsigned long long)seed);
            return;
        }
    }
    test_note("%lld records, %lld requests, %d executors died", (long long)records,
              (long long)requests, deaths);
    page_need_check("histories", good, needed);
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
    int64_t records = 0, requests = 0, good = 0, needed = 0, parts = 0;
    int deaths = 0;

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        const size_t failed = test_failures();

        world_open(&w, seed, UPSTREAM_SOURCE_BY_DAY);
        needed += live_through(&w);
        come_to_rest(&w, 2 * US_PER_DAY);
        check_truth(&w, 2 * US_PER_DAY);
        records += w.api.count;
        requests += w.api.requests;
        good += w.api.requests - w.api.spoiled;
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
    /* Where a part ends is found by halving the ids. */
    page_need_check("histories by id", good,
                    needed + records / UPSTREAM_CAP * UPSTREAM_ID_HALVINGS);
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

static void be_silent(void *context, struct upstream *api)
{
    struct world *w = context;

    if (api->requests != 3)
        return;
    for (int64_t passed_us = 0; passed_us < 2 * LEASE_US; passed_us += US_PER_SECOND) {
        virtual_clock_advance(&w->clock, US_PER_SECOND);
        api->watch->waits(api->watch);
    }
    CHECK_EQ(world_step(w, 1), EXECUTOR_NOTHING, "the other one finds nothing to take over");
}

TEST(a_response_that_is_waited_for_keeps_the_lease)
{
    static struct world w;
    struct plan_result result;
    struct error err = { 0 };

    world_init(&w, 1);
    for (int i = 0; i < 45; i++)
        upstream_change(&w.api, START_US + i * US_PER_MINUTE);
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    w.api.before = be_silent;
    w.api.context = &w;
    REQUIRE(world_step(&w, 0) == EXECUTOR_WORKED, "there was a task");
    CHECK(!w.last_was_overtaken, "which stayed with the one that waited");
    for (int i = 0; i < w.api.count; i++)
        world_check_record(&w, i);
    world_release(&w);
}

/* ---- when a record was observed ---- */

static int64_t sent_us;

/* The response leaves the source at once, and takes ten seconds to come. */
static void answer_late(void *context, struct upstream *api)
{
    struct world *w = context;

    (void)api;
    sent_us = world_now(w);
    virtual_clock_advance(&w->clock, 10 * US_PER_SECOND);
}

TEST(a_record_is_observed_when_its_request_is_sent)
{
    const struct record_key key = { STR("demo"), STR("works"), STR("r0") };
    static struct world w;
    struct stored_record record;
    struct plan_result result;
    struct error err = { 0 };
    bool found;

    world_init(&w, 1);
    upstream_change(&w.api, START_US);
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    virtual_clock_advance(&w.clock, US_PER_SECOND); /* a monotonic 0 means: not sent */
    w.api.before = answer_late;
    w.api.context = &w;
    REQUIRE(world_step(&w, 0) == EXECUTOR_WORKED, "one task");
    REQUIRE(w.api.requests == 1, "one page");
    REQUIRE_OK(store_record_get(w.store, &w.arena, &key, &record, &found, &err), err);
    REQUIRE(found, "its record");
    CHECK_EQ(record.observed_us, sent_us, "what changed while it came is not in it");
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
/* The same with the mark of the store. */
static const struct store_mark_ops *marks_before;

static bool database_mark(struct store *store, struct store_mark *mark, bool *has_server,
                          int64_t *server_us, struct error *err)
{
    if (!marks_before->load(store, mark, has_server, server_us, err))
        return false;
    *has_server = true;
    return database_clock(store, 0, server_us, err);
}

static void give_database_clock(struct world *w)
{
    static struct store_mark_ops marks;
    static struct store_rate_ops ops;

    clock_world = w;
    database_offset_us = world_now(w) - clock_monotonic_us(&w->clock.clock);
    for (int i = 0; i < EXECUTORS; i++) {
        ops = *w->workers[i].session->rate;
        ops.clock = database_clock;
        w->workers[i].session->rate = &ops;
        if (w->workers[i].session->mark != &marks)
            marks_before = w->workers[i].session->mark;
        marks = *marks_before;
        marks.load = database_mark;
        w->workers[i].session->mark = &marks;
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

/* ---- a source that is not as its file says ---- */

static int64_t count_over_budget(struct world *w)
{
    const struct task_filter filter = { .source = STR("demo"), .limit = 100000 };
    struct task_list tasks;
    struct error err = { 0 };
    int64_t count = 0;

    REQUIRE_OK(store_task_list(w->store, &w->arena, &filter, &tasks, &err), err);
    for (size_t i = 0; i < tasks.count; i++)
        count += str_find(tasks.items[i].last_error, STR("re-slices included")) <
                 tasks.items[i].last_error.len;
    return count;
}

/* All queries have the same total, above the cap: halving the window would never help. */
TEST(a_source_that_ignores_the_window_does_not_multiply_requests)
{
    enum { PAGES = 20, REQUESTS_MAX = 4 * PAGES + 32 };
    static struct world w;
    struct plan_result result;
    struct error err = { 0 };

    world_init(&w, 1);
    for (w.api.count = 0; w.api.count < PAGES * API_PAGE; w.api.count++)
        w.api.records[w.api.count] =
            (struct api_record){ START_US + w.api.count * US_PER_MINUTE, 1 };
    w.api.ignores_window = true;
    w.is_scheduled = true;
    virtual_clock_set(&w.clock, START_US + US_PER_DAY + US_PER_HOUR / 6);
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    CHECK_EQ(result.slices, 1, "one day");
    world_drain(&w);
    test_note("%lld requests", (long long)w.api.requests);
    CHECK(w.api.requests <= REQUESTS_MAX + EXECUTORS, "no more than its pages justify");
    CHECK(count_over_budget(&w) > 0, "and why");

    virtual_clock_set(&w.clock, START_US + US_PER_DAY + US_PER_HOUR / 6);
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    CHECK_EQ(result.slices, 0, "the schedule leaves it alone");
    CHECK_EQ(result.idle, PLAN_IDLE_HELD, "and says so");
    virtual_clock_advance(&w.clock, 2 * US_PER_HOUR);
    w.api.ignores_window = false;
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    CHECK(result.slices > 0, "later it is tried again");
    world_drain(&w);
    for (int i = 0; i < w.api.count; i++)
        world_check_record(&w, i);
    world_release(&w);
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

/* ---- a task that a person cancels ---- */

static struct task task_from(struct world *w, int64_t from_us)
{
    const struct task_filter filter = { .source = STR("demo"), .limit = 100 };
    struct task_list tasks;
    struct error err = { 0 };

    REQUIRE_OK(store_task_list(w->store, &w->arena, &filter, &tasks, &err), err);
    for (size_t i = 0; i < tasks.count; i++) {
        if (tasks.items[i].window.from_us == from_us)
            return tasks.items[i];
    }
    REQUIRE(false, "a task that begins there");
    return (struct task){ 0 };
}

static enum task_cancel_result cancel_of(struct store *store, int64_t id)
{
    const struct task_cancel_request request = { .id = id, .reason = STR("too big") };
    enum task_cancel_result result;
    struct error err = { 0 };

    REQUIRE_OK(task_cancel(store, &request, &result, &err), err);
    return result;
}

TEST(the_cursor_stops_at_a_slice_that_was_cancelled_and_a_later_trigger_heals_it)
{
    static struct world w;
    const struct window third = { START_US + 2 * US_PER_DAY, START_US + 3 * US_PER_DAY };
    struct plan_result result;
    struct cursor cursor;
    struct error err = { 0 };

    world_init(&w, 1);
    fill_days(&w, 5);
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    CHECK_EQ(cancel_of(w.store, task_from(&w, third.from_us).id), TASK_IS_CANCELLED, "it waited");
    CHECK_EQ(cancel_of(w.store, task_from(&w, third.from_us).id), TASK_HAD_ENDED, "once");
    world_drain(&w);
    REQUIRE(world_cursor(&w, &cursor), "a cursor");
    CHECK_EQ(cursor.value.instant_us, third.from_us, "it waits where the cancelled slice begins");
    CHECK_STR(task_from(&w, third.from_us).last_error, STR("cancelled by a person: too big"),
              "the reason");
    for (int i = 0; i < w.api.count; i++)
        CHECK_EQ(w.api.fetched[i], i / 10 != 2, "the others were fetched");
    virtual_clock_set(&w.clock, START_US + 5 * US_PER_DAY + US_PER_HOUR);
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    CHECK_EQ(result.slices, 1, "only what is missing is planned");
    world_drain(&w);
    REQUIRE(world_cursor(&w, &cursor), "a cursor");
    CHECK(cursor.value.instant_us >= START_US + 5 * US_PER_DAY, "it passes all that is covered");
    for (int i = 0; i < w.api.count; i++)
        CHECK_EQ(w.api.fetched[i], 1, "nothing was fetched twice");
    world_release(&w);
}

/* The third request is under way. Then time passes, so that the run looks around again. */
static void cancel_under_way(void *context, struct upstream *api)
{
    struct world *w = context;

    if (api->requests != 3)
        return;
    CHECK_EQ(cancel_of(w->store, only_task(w).id), TASK_WILL_STOP, "it is under way");
    CHECK_EQ(only_task(w).status, TASK_EXECUTING, "and stays so");
    virtual_clock_advance(&w->clock, 2 * US_PER_SECOND);
}

TEST(a_task_that_is_cancelled_under_way_stops_between_two_batches_and_covers_nothing)
{
    static struct world w;
    struct plan_result result;
    struct cursor cursor;
    struct error err = { 0 };

    world_init(&w, 1);
    for (int i = 0; i < 55; i++)
        w.api.records[w.api.count++] =
            (struct api_record){ .updated_us = START_US + i * US_PER_MINUTE, .revision = 1 };
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    w.api.before = cancel_under_way;
    w.api.context = &w;
    REQUIRE(world_step(&w, 0) == EXECUTOR_WORKED, "there was a task");
    CHECK_EQ(only_task(&w).status, TASK_CANCELLED, "it has ended");
    CHECK_STR(only_task(&w).last_error, STR("cancelled by a person: too big"), "the reason");
    CHECK(w.api.requests <= 4, "the batch under way, and what was prefetched, are the last");
    for (int i = 0; i < 20; i++)
        world_check_record(&w, i);
    if (world_cursor(&w, &cursor))
        CHECK(cursor.value.instant_us <= START_US, "nothing is covered");
    w.api.before = NULL;
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    CHECK_EQ(result.slices, 1, "it is planned again");
    world_drain(&w);
    for (int i = 0; i < w.api.count; i++)
        world_check_record(&w, i);
    world_release(&w);
}

/* A task that is given back for later, and was cancelled meanwhile, is not waited for. */
static void cancel_and_refuse(void *context, struct upstream *api)
{
    struct world *w = context;

    if (api->requests == 1)
        CHECK_EQ(cancel_of(w->store, only_task(w).id), TASK_WILL_STOP, "it is under way");
}

TEST(a_task_that_is_cancelled_is_not_put_off)
{
    static struct world w;
    struct plan_result result;
    struct error err = { 0 };

    world_init(&w, 1);
    upstream_change(&w.api, START_US);
    w.api.wait_s = 7200;
    REQUIRE_OK(world_trigger(&w, &result, &err), err);
    w.api.before = cancel_and_refuse;
    w.api.context = &w;
    REQUIRE(world_step(&w, 0) == EXECUTOR_WORKED, "there was a task");
    CHECK_EQ(only_task(&w).status, TASK_CANCELLED, "it has ended");
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

/* Of slices of a day; the last one has begun. */
static int64_t need_of_days(const struct world *w)
{
    const int64_t days = w->api.count / 10;

    return (days + 1) * pages_of(10);
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
    page_need_check("harvests, a day each", w[0].api.requests, need_of_days(&w[0]));
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
