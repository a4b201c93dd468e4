/* Planner, executors, rate gate and cursor together, on virtual time and a store in memory, against
 * an upstream that knows the truth.
 *
 * A history is made by chance: records change, triggers fire, executors work; replies break, calls
 * of the store fail, commits lose their answer, and executors die in the middle of a task (to a
 * process that dies a store which answers nothing any more is the same). Then the faults stop, and
 * one more trigger must bring everything in order:
 *
 *      store      every record of the upstream, in its latest revision, and no other
 *      outbox     one event per version of each record
 *      cursor     at the end of what was planned; its events replay to its value
 *      batches    no number, token or key twice within a run (the store's own keys)
 */
#include <stdio.h>
#include <string.h>

#include "adapter/memory/random.h"
#include "adapter/memory/secret.h"
#include "adapter/memory/store.h"
#include "base/instant.h"
#include "engine/execute/executor.h"
#include "engine/gate/gate.h"
#include "engine/plan.h"
#include "engine/source_store.h"
#include "played_api.h"
#include "port/store_cursor.h"
#include "port/store_outbox.h"
#include "port/store_rate.h"
#include "port/store_record.h"
#include "spec/check.h"
#include "test.h"

#define START_US INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */
#define LEASE_US US_PER_MINUTE

enum { HISTORIES = 60, ROUNDS = 12, EXECUTORS = 2 };

struct world {
    struct random random;
    struct memory_clock clock;
    struct memory_random chance;
    struct memory_secrets secrets;
    struct played_api api;
    struct store *store;
    struct gate_pool *gates;
    struct crew *crew;
    struct arena arena;
    struct hand {
        struct store *session;
        struct store *gate_session;
        struct executor *executor;
        char owner[16];
    } hands[EXECUTORS];
    int64_t batch_records; /* 0: a page is never too long */
    int deaths;
    int64_t update_ids; /* that an UPDATE was planned for */
    int64_t events;     /* that the watch was told */
    struct executor_watch watch;
    enum task_status last_status;
    bool last_was_overtaken;
};

/* ---- making it ---- */

static void see(struct executor_watch *watch, const struct executor_event *event)
{
    struct world *w = (struct world *)((char *)watch - offsetof(struct world, watch));

    w->events++;
    if (event->kind == EXECUTOR_ENDED) {
        w->last_status = event->ending->status;
        w->last_was_overtaken = event->ending->kind == ENDING_OVERTAKEN;
    }
}

static void open_hand(struct world *w, int i)
{
    struct hand *hand = &w->hands[i];
    struct error err = { 0 };

    (void)snprintf(hand->owner, sizeof(hand->owner), "owner-%d-%d", i, w->deaths);
    REQUIRE_OK(store_another(w->store, &hand->session, &err), err);
    REQUIRE_OK(store_another(w->store, &hand->gate_session, &err), err);
    REQUIRE_OK(executor_open(&hand->executor,
                             &(struct executor_parts){ .store = hand->session,
                                                       .http = &w->api.http.http,
                                                       .gates = w->gates,
                                                       .gate_store = hand->gate_session,
                                                       .crew = w->crew,
                                                       .clock = &w->clock.clock,
                                                       .random = &w->chance.source,
                                                       .secrets = &w->secrets.source,
                                                       .watch = &w->watch,
                                                       .wake_fd = CLOCK_NO_WAKE },
                             &(struct executor_settings){ .owner = str_of(hand->owner),
                                                          .lease_us = LEASE_US,
                                                          .batch_records = w->batch_records },
                             &err),
               err);
}

static void close_hand(struct hand *hand)
{
    executor_close(hand->executor);
    store_close(hand->session);
    store_close(hand->gate_session);
}

static void apply_source(struct world *w, const char *text)
{
    struct fault_list faults;
    struct source rows;
    struct source_applied applied;
    struct error err = { 0 };

    fault_list_init(&faults, &w->arena);
    if (!source_read(&w->arena, &(struct source_text){ .file = str_of(text) }, &faults, &rows))
        REQUIRE(fault_list_ok(&faults, &err), err.text);
    REQUIRE_OK(source_apply(w->store, &w->arena, &rows, START_US - US_PER_DAY, &applied, &err),
               err);
}

static void world_open(struct world *w, uint64_t seed, const char *source)
{
    struct error err = { 0 };
    int64_t taken;

    memset(w, 0, sizeof(*w));
    w->random.state = seed;
    w->watch.see = see;
    w->batch_records = seed % 2 == 0 ? 4 : 0; /* pages have ten */
    memory_clock_init(&w->clock, START_US + US_PER_DAY);
    memory_random_init(&w->chance, seed);
    memory_secrets_init(&w->secrets, NULL, 0);
    played_api_init(&w->api, &w->clock, seed ^ 0x5eed);
    arena_init(&w->arena, (size_t)256 << 20);
    REQUIRE_OK(memory_store_open(&w->store, &err), err);
    REQUIRE_OK(store_migrate(w->store, START_US, &taken, &err), err);
    REQUIRE_OK(gate_pool_open(&w->gates, &err), err);
    REQUIRE_OK(crew_open(&w->crew, &err), err);
    apply_source(w, source);
    for (int i = 0; i < EXECUTORS; i++)
        open_hand(w, i);
}

static void world_init(struct world *w, uint64_t seed)
{
    world_open(w, seed, PLAYED_SOURCE);
}

static void world_release(struct world *w)
{
    for (int i = 0; i < EXECUTORS; i++)
        close_hand(&w->hands[i]);
    crew_close(w->crew);
    gate_pool_close(w->gates);
    store_close(w->store);
    arena_release(&w->arena);
    played_api_release(&w->api);
}

/* ---- what happens in it ---- */

static int64_t now(struct world *w)
{
    return clock_now_us(&w->clock.clock);
}

static bool fire(struct world *w, const char *operation, struct plan_result *result,
                 struct error *err)
{
    return plan_trigger(w->store, &w->arena,
                        &(struct plan_request){ .source = STR("demo"),
                                                .operation = str_of(operation),
                                                .now_us = now(w),
                                                .trigger = TRIGGER_MANUAL },
                        result, err);
}

static bool trigger(struct world *w, struct plan_result *result, struct error *err)
{
    return fire(w, "harvest", result, err);
}

static void change_records(struct world *w, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        played_api_change(&w->api, now(w));
        memory_clock_advance(&w->clock, random_between(&w->random, 0, US_PER_HOUR / 4));
    }
}

/* Some call to come fails: an answer is lost, or with it the process that asked. */
static void arm(struct world *w)
{
    const int64_t call = random_between(&w->random, 1, 120);

    if (random_chance(&w->random, 30))
        memory_store_fail(
            w->store,
            &(struct memory_fault){ .call = call, .level = ERROR_FATAL, .code = "store.corrupt" });
    else if (random_chance(&w->random, 30))
        memory_store_fail(w->store,
                          &(struct memory_fault){ .call = random_between(&w->random, 1, 8),
                                                  .name = "commit",
                                                  .code = "store.commit_unknown",
                                                  .is_done = true });
    else
        memory_store_fail(w->store, &(struct memory_fault){ .call = call });
}

static void disarm(struct world *w)
{
    memory_store_fail(w->store, &(struct memory_fault){ .call = INT64_MAX });
}

/* One step of an executor; one that dies is replaced, and its lease runs out by itself. */
static enum executor_did step(struct world *w, int i)
{
    enum executor_did did = EXECUTOR_WORKED;
    struct error err = { 0 };
    int64_t next_us;

    if (executor_step(w->hands[i].executor, &did, &next_us, &err)) {
        if (did != EXECUTOR_WORKED)
            memory_clock_advance(&w->clock, US_PER_SECOND);
        return did;
    }
    CHECK_STR(str_of(err.code), STR("store.corrupt"), err.text);
    close_hand(&w->hands[i]);
    w->deaths++;
    open_hand(w, i);
    return EXECUTOR_WORKED;
}

static void drain(struct world *w)
{
    for (int i = 0; i < 100000; i++) {
        if (step(w, i % EXECUTORS) == EXECUTOR_DRAINED)
            return;
    }
    REQUIRE(false, "the queue never becomes empty");
}

static void live_through(struct world *w)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct plan_result result;
        struct error ignored; /* what fails is tried again by the next one */

        change_records(w, random_between(&w->random, 0, 60));
        w->api.fault_percent = random_chance(&w->random, 70) ? 15 : 0;
        (void)!trigger(w, &result, &ignored);
        for (int64_t n = random_between(&w->random, 0, 12); n > 0; n--) {
            if (random_chance(&w->random, 60))
                arm(w);
            (void)step(w, (int)(n % EXECUTORS));
            disarm(w);
        }
    }
}

/* No more faults: whatever was left undone is done now. */
static void come_to_rest(struct world *w, int64_t pause_us)
{
    struct plan_result result;
    struct error err = { 0 };

    w->api.fault_percent = 0;
    memory_clock_advance(&w->clock, pause_us);
    drain(w);
    /* Twice: slices that ended PARTIAL or FAILED under the last faults are planned once more. */
    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(trigger(w, &result, &err), err);
        drain(w);
    }
}

/* ---- the truth ---- */

static void check_record(struct world *w, int number)
{
    const struct api_record *truth = &w->api.records[number];
    struct stored_record record;
    struct outbox_event_list events;
    char id[16], wanted[128], date[INSTANT_TEXT_MAX];
    struct error err = { 0 };
    bool found;

    (void)snprintf(id, sizeof(id), "r%d", number);
    REQUIRE_OK(store_record_get(w->store, &w->arena,
                                &(struct record_key){ STR("demo"), STR("works"), str_of(id) },
                                &record, &found, &err),
               err);
    CHECK(found, id);
    if (!found)
        return;
    (void)instant_format(truth->updated_us, date);
    (void)snprintf(wanted, sizeof(wanted), "{\"id\":\"%s\",\"updated\":\"%s\",\"rev\":%d}", id,
                   date, truth->revision);
    CHECK_STR(record.payload, str_of(wanted), "the latest revision");
    REQUIRE_OK(store_outbox_of(w->store, &w->arena,
                               &(struct outbox_query){ STR("demo/works"), str_of(id), 0, 1000 },
                               &events, &err),
               err);
    CHECK_EQ(events.count, record.version, "one event per version");
    for (size_t i = 0; i < events.count; i++)
        CHECK_EQ(events.items[i].version, i + 1, "in order, none left out");
}

/* The forward cursor; false when there is none. */
static bool forward_cursor(struct world *w, struct cursor *cursor)
{
    struct cursor_list cursors;
    struct error err = { 0 };

    REQUIRE_OK(store_cursor_list(w->store, &w->arena, STR("demo"), &cursors, &err), err);
    for (size_t i = 0; i < cursors.count; i++) {
        *cursor = cursors.items[i];
        if (cursor->name.operation == OPERATION_HARVEST)
            return true;
    }
    return false;
}

static struct cursor_event_list events_of(struct world *w, const struct cursor *cursor)
{
    struct cursor_event_list events;
    struct error err = { 0 };

    REQUIRE_OK(
        store_cursor_event_list(w->store, &w->arena, &cursor->name, 0, 100000, &events, &err), err);
    return events;
}

static void check_cursor(struct world *w, int64_t at_least_us)
{
    struct cursor_event_list events;
    struct cursor_fold fold;
    struct cursor cursor;

    REQUIRE(forward_cursor(w, &cursor), "harvest has a cursor");
    CHECK(cursor.value.instant_us >= at_least_us, "the cursor has come to the end");
    events = events_of(w, &cursor);
    cursor_fold_init(&fold, CURSOR_TIME);
    for (size_t i = 0; i < events.count; i++)
        cursor_fold_add(&fold, events.items[i].has_prev ? &events.items[i].prev : NULL,
                        &events.items[i].next);
    CHECK(cursor_fold_agrees(&fold, &cursor.value), "replay(events) is the value");
}

static void check_truth(struct world *w, int64_t behind_us)
{
    for (int i = 0; i < w->api.count; i++)
        check_record(w, i);
    check_cursor(w, now(w) - behind_us);
}

TEST(after_any_history_of_faults_and_deaths_the_store_equals_the_upstream)
{
    static struct world w;
    const struct random_seeds seeds = random_seeds(HISTORIES);
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
            test_note("seed %llu: play it again with PATRA_SEED", (unsigned long long)seed);
            return;
        }
    }
    test_note("%lld records, %lld requests, %d executors died", (long long)records,
              (long long)requests, deaths);
    CHECK(seeds.is_one || deaths > HISTORIES / 2, "the faults have struck");
}

/* ---- days that hold more than the source hands out ---- */

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

TEST(after_any_history_days_that_were_cut_by_ids_equal_the_upstream)
{
    static struct world w;
    const struct random_seeds seeds = random_seeds(HISTORIES);
    int64_t records = 0, requests = 0, parts = 0;
    int deaths = 0;

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        const size_t failed = test_failures();

        world_open(&w, seed, PLAYED_SOURCE_BY_DAY);
        live_through(&w);
        come_to_rest(&w, 2 * US_PER_DAY);
        check_truth(&w, 2 * US_PER_DAY);
        records += w.api.count;
        requests += w.api.requests;
        parts += count_parts(&w);
        deaths += w.deaths;
        world_release(&w);
        if (test_failures() > failed) {
            test_note("seed %llu: play it again with PATRA_SEED", (unsigned long long)seed);
            return;
        }
    }
    test_note("%lld records, %lld requests, %lld parts by id, %d executors died",
              (long long)records, (long long)requests, (long long)parts, deaths);
    CHECK(seeds.is_one || parts > 10 * HISTORIES, "days were cut");
    CHECK(seeds.is_one || deaths > HISTORIES / 2, "the faults have struck");
}

/* ---- who was overtaken ---- */

static void overtake(void *context, struct played_api *api)
{
    struct world *w = context;

    if (api->requests != 3)
        return; /* two batches are committed, the third is being fetched */
    memory_clock_advance(&w->clock, LEASE_US + US_PER_SECOND);
    for (int i = 0; i < 100 && step(w, 1) != EXECUTOR_DRAINED; i++)
        ;
}

TEST(who_slept_longer_than_the_lease_commits_nothing)
{
    static struct world w;
    struct plan_result result;
    struct error err = { 0 };
    uint64_t before;

    world_init(&w, 1);
    for (int i = 0; i < 45; i++)
        played_api_change(&w.api, START_US + i * US_PER_MINUTE);
    REQUIRE_OK(trigger(&w, &result, &err), err);
    w.api.before = overtake;
    w.api.context = &w;
    REQUIRE(step(&w, 0) == EXECUTOR_WORKED, "the sleeper had a task");
    CHECK(w.last_was_overtaken, "and found it gone");
    before = memory_store_hash(w.store);
    CHECK_EQ(step(&w, 0), EXECUTOR_DRAINED, "the other one has done it");
    CHECK_EQ(memory_store_hash(w.store), before, "nothing is left to write");
    for (int i = 0; i < w.api.count; i++)
        check_record(&w, i);
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

TEST(a_task_whose_end_can_not_be_stored_ends_all_the_same)
{
    static const char *const calls[] = { "lease_finish", "slice_move", "run_save" };

    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        static struct world w;
        struct plan_result result;
        struct error err = { 0 };

        world_init(&w, 1);
        w.api.refused = (struct window){ 0, INT64_MAX };
        REQUIRE_OK(trigger(&w, &result, &err), err);
        memory_store_fail(w.store,
                          &(struct memory_fault){ .call = i == 2 ? 2 : 1, /* behind the batch's */
                                                  .name = calls[i],
                                                  .level = ERROR_DATA,
                                                  .code = "store.text" });
        CHECK_EQ(step(&w, 0), EXECUTOR_WORKED, "the executor goes on");
        CHECK_EQ(w.deaths, 0, "it does not die of it");
        CHECK_EQ(only_task(&w).status, TASK_FAILED, "the task has ended");
        CHECK(str_find(only_task(&w).last_error, STR("store.text")) < only_task(&w).last_error.len,
              "and why");
        world_release(&w);
    }
}

/* ---- clocks that are wrong ---- */

/* The database's clock: nobody sets it. */
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

/* From here on it is now there, whatever becomes of this machine's calendar. */
static void give_database_clock(struct world *w)
{
    static struct store_rate_ops ops;

    clock_world = w;
    database_offset_us = now(w) - clock_monotonic_us(&w->clock.clock);
    for (int i = 0; i < EXECUTORS; i++) {
        ops = *w->hands[i].session->rate;
        ops.clock = database_clock;
        w->hands[i].session->rate = &ops;
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

static void set_calendar(void *context, struct played_api *api)
{
    struct world *w = context;
    const struct task task = only_task(w);

    CHECK(task.leased_until_us > database_now(), "the lease holds");
    CHECK(task.leased_until_us <= database_now() + LEASE_US, "and no longer than it should");
    if (api->requests == 2)
        memory_clock_set(&w->clock, now(w) + jump_us);
    memory_clock_advance(&w->clock, LEASE_US / 2);
}

TEST(a_calendar_that_is_set_in_the_middle_of_a_run_moves_no_lease)
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
        REQUIRE_OK(trigger(&w, &result, &err), err);
        give_database_clock(&w);
        jump_us = jumps_us[i];
        w.api.before = set_calendar;
        w.api.context = &w;
        REQUIRE(step(&w, 0) == EXECUTOR_WORKED, "one task");
        CHECK(!w.last_was_overtaken && w.last_status == TASK_SUCCEEDED, "to its end");
        CHECK(w.api.requests >= 5, "over several pages");
        world_release(&w);
    }
}

TEST(a_wait_that_the_source_asks_for_is_told_by_the_clock_of_all)
{
    static const int64_t skews_us[] = { 0, 5 * US_PER_HOUR, -5 * US_PER_HOUR };

    for (size_t i = 0; i < ARRAY_LEN(skews_us); i++) {
        static struct world w;
        struct plan_result result;
        struct error err = { 0 };
        struct task task;

        world_init(&w, 1);
        played_api_change(&w.api, START_US);
        give_database_clock(&w);
        REQUIRE_OK(trigger(&w, &result, &err), err);
        memory_clock_set(&w.clock, database_now() - skews_us[i]);
        w.api.wait_s = 600;
        REQUIRE(step(&w, 0) == EXECUTOR_WORKED, "one task");
        task = only_task(&w);
        CHECK_EQ(task.status, TASK_QUEUED, "given back");
        CHECK(task.scheduled_us >= database_now() + 599 * US_PER_SECOND, "not before");
        CHECK(task.scheduled_us <= database_now() + 700 * US_PER_SECOND, "and not much later");
        CHECK_EQ(only_run(&w, &task).status, RUN_CANCELLED, "no failure");
        world_release(&w);
    }
}

/* ---- a slice that fails for good ---- */

/* Ten records on each of so many days; "now" is just behind the last. */
static void fill_days(struct world *w, int days)
{
    for (int i = 0; i < days * 10; i++)
        w->api.records[w->api.count++] = (struct api_record){
            .updated_us = START_US + i / 10 * US_PER_DAY + i % 10 * US_PER_HOUR, .revision = 1
        };
    memory_clock_set(&w->clock, START_US + days * US_PER_DAY + US_PER_HOUR);
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
    REQUIRE_OK(trigger(&w, &result, &err), err);
    drain(&w);
    REQUIRE(forward_cursor(&w, &cursor), "a cursor");
    CHECK_EQ(cursor.value.instant_us, third.from_us, "it waits where the third slice begins");
    for (int i = 0; i < w.api.count; i++)
        CHECK_EQ(w.api.fetched[i], i / 10 != 2, "the others were fetched");
    w.api.refused = (struct window){ 0, 0 };
    memory_clock_set(&w.clock, START_US + 5 * US_PER_DAY + US_PER_HOUR); /* no time has passed */
    REQUIRE_OK(trigger(&w, &result, &err), err);
    CHECK_EQ(result.slices, 1, "only what is missing is planned");
    drain(&w);
    REQUIRE(forward_cursor(&w, &cursor), "a cursor");
    CHECK(cursor.value.instant_us >= START_US + 5 * US_PER_DAY, "it passes all that is covered");
    for (int i = 0; i < w.api.count; i++)
        CHECK_EQ(w.api.fetched[i], 1, "nothing was fetched twice");
    world_release(&w);
}

/* ---- others beside HARVEST ---- */

/* The same harvests, a day each; with or without a BACKFILL and an UPDATE that work beside them. */
static void harvest_for_days(struct world *w, bool with_others)
{
    struct plan_result result;
    struct error err = { 0 };

    fill_days(w, 12);
    for (int day = 8; day <= 12; day++) {
        memory_clock_set(&w->clock, START_US + day * US_PER_DAY + US_PER_HOUR);
        REQUIRE_OK(trigger(w, &result, &err), err);
        if (with_others) {
            REQUIRE_OK(fire(w, "backfill", &result, &err), err);
            REQUIRE_OK(fire(w, "update", &result, &err), err);
            w->update_ids += result.ids;
        }
        drain(w);
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
        REQUIRE(forward_cursor(&w[i], &cursor), "a cursor");
        events[i] = events_of(&w[i], &cursor);
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
