/* Schedules and quotas: when things are fired, and how much of them. */
#include <string.h>

#include "base/instant.h"
#include "engine/cursor/cursor_reset.h"
#include "engine/schedule/fire.h"
#include "engine/source/source_store.h"
#include "planning.h"
#include "port/store_cursor.h"
#include "port/store_pause.h"
#include "port/store_rate.h"
#include "port/store_schedule.h"

/* Comes into force an hour before NOW_US. */
static const struct planning_source HOURLY = {
    .window = "lag: 0, align: hour, max: 1h",
    .operations = "  harvest: { endpoint: works, every: 1h }\n"
                  "  nightly: { operation: backfill, endpoint: works, cron: \"30 2 * * *\" }\n"
                  "  asleep: { operation: replay, endpoint: works, every: 1m, enabled: false }"
};

struct ear {
    struct schedule_listener listener;
    int fired, failed;
    int64_t tick_us;
    char operation[32];
    char code[64];
};

static void hear(struct schedule_listener *listener, const struct schedule_fired *fired)
{
    struct ear *ear = (struct ear *)listener;

    ear->fired += fired->result != NULL && !fired->is_gap;
    ear->failed += fired->err != NULL;
    ear->tick_us = fired->tick_us;
    (void)snprintf(ear->operation, sizeof(ear->operation), "%.*s", STR_ARG(fired->operation));
    (void)snprintf(ear->code, sizeof(ear->code), "%s", fired->err != NULL ? fired->err->code : "");
}

static struct schedule_fire_result fire(struct store *store, int64_t now_us, struct ear *ear)
{
    const struct schedule_fire_request request = { .owner = STR("server"),
                                                   .now_us = now_us,
                                                   .listener = &ear->listener };
    struct schedule_fire_result result;
    struct error err = { 0 };

    *ear = (struct ear){ .listener = { hear } };
    REQUIRE_OK(schedule_fire_due(store, &request, &result, &err), err);
    CHECK_EQ(result.fired, ear->fired, "all are counted");
    CHECK_EQ(result.failed, ear->failed, "all are counted");
    return result;
}

static struct schedule_view_list views(struct store *store, int64_t now_us)
{
    struct schedule_view_list list;
    struct source source;
    struct error err = { 0 };

    REQUIRE_OK(source_load(store, contract_arena(), STR("demo"), now_us, &source, &err), err);
    REQUIRE_OK(schedule_view(store, contract_arena(), &source, now_us, &list, &err), err);
    return list;
}

TEST(ticks_that_did_not_fire_are_due_since_the_first_of_them)
{
    struct store *store = contract_store();
    struct schedule_view_list list;
    struct ear ear;

    planning_apply(store, &HOURLY);
    (void)fire(store, NOW_US, &ear);
    list = views(store, NOW_US + US_PER_MINUTE);
    REQUIRE(list.count == 2, "those that fire by themselves");
    CHECK_STR(list.items[0].operation, STR("harvest"), "by name");
    CHECK_STR(list.items[0].endpoint, STR("works"), "of");
    CHECK(list.items[0].has_last && !list.items[0].is_due, "fired");
    list = views(store, NOW_US + 5 * US_PER_HOUR + US_PER_MINUTE);
    CHECK(list.items[0].is_due, "nobody is there");
    CHECK_EQ(list.items[0].due_us, list.items[0].last_us + US_PER_HOUR, "since");
    contract_end();
}

TEST(an_interval_fires_at_its_ticks_and_once_each)
{
    struct store *store = contract_store();
    struct schedule_fire_result result;
    struct ear ear;

    planning_apply(store, &HOURLY);
    result = fire(store, NOW_US - 1, &ear);
    CHECK_EQ(result.fired, 0, "it came into force after the last tick");
    CHECK(result.next.is_set, "the next tick");
    CHECK_EQ(result.next.at_us, NOW_US, "is returned");
    result = fire(store, NOW_US + 5, &ear);
    CHECK_EQ(result.fired, 1, "the hour");
    CHECK_EQ(ear.tick_us, NOW_US, "its tick");
    CHECK_STR(str_of(ear.operation), STR("harvest"), "the operation");
    CHECK_EQ(result.next.at_us, NOW_US + US_PER_HOUR, "the next one");
    CHECK_EQ(fire(store, NOW_US + 6, &ear).fired, 0, "once");
    CHECK_EQ(fire(store, NOW_US + US_PER_HOUR, &ear).fired, 1, "an hour later");
    contract_end();
}

/* ---- what a look costs ---- */

static const struct store_registry_ops *real_registry;
static const struct store_schedule_ops *real_schedule;
static int loads, tick_looks;

static bool count_load(struct store *store, struct arena *arena, struct str code, int64_t at_us,
                       struct registry_source *source, struct error *err)
{
    loads++;
    return real_registry->load(store, arena, code, at_us, source, err);
}

static bool count_tick(struct store *store, struct str source, struct str schedule,
                       int64_t *tick_us, bool *found, struct error *err)
{
    tick_looks++;
    return real_schedule->tick_last(store, source, schedule, tick_us, found, err);
}

static int64_t fire_by(struct store *store, struct schedule_memory *memory, int64_t now_us)
{
    const struct schedule_fire_request request = { .owner = STR("server"),
                                                   .now_us = now_us,
                                                   .memory = memory };
    struct schedule_fire_result result;
    struct error err = { 0 };

    loads = tick_looks = 0;
    REQUIRE_OK(schedule_fire_due(store, &request, &result, &err), err);
    return result.fired;
}

TEST(while_nothing_changes_and_nothing_is_due_a_look_reads_no_source)
{
    struct store *store = contract_store();
    struct store *other = contract_another(store);
    struct store_registry_ops registry = *store->registry;
    struct store_schedule_ops schedule = *store->schedule;
    struct schedule_memory memory;
    struct ear ear;

    real_registry = store->registry;
    real_schedule = store->schedule;
    registry.load = count_load;
    schedule.tick_last = count_tick;
    store->registry = &registry;
    store->schedule = &schedule;
    schedule_memory_init(&memory);
    planning_apply(other, &HOURLY);
    CHECK_EQ(fire_by(store, &memory, NOW_US), 1, "the hour");
    CHECK(loads > 0, "read for its schedules");
    CHECK_EQ(fire_by(store, &memory, NOW_US + 1), 0, "fired already");
    CHECK_EQ(fire_by(store, &memory, NOW_US + 2), 0, "nothing is due");
    CHECK_EQ(loads, 0, "and nothing has changed");
    CHECK_EQ(tick_looks, 0, "not even a tick is asked for");
    CHECK_EQ(fire(other, NOW_US + US_PER_HOUR, &ear).fired, 1, "another server is faster");
    CHECK_EQ(fire_by(store, &memory, NOW_US + US_PER_HOUR + 1), 0, "no tick fires twice");
    planning_apply(other, &(struct planning_source){
                              .window = HOURLY.window,
                              .operations = "  harvest: { endpoint: works, every: 1m }" });
    CHECK_EQ(fire_by(store, &memory, NOW_US + US_PER_HOUR + US_PER_MINUTE), 1, "it has changed");
    CHECK(loads > 0, "so it was read");
    schedule_memory_release(&memory);
    store->registry = real_registry;
    store->schedule = real_schedule;
    contract_end();
}

TEST(missed_ticks_collapse_into_one)
{
    struct store *store = contract_store();
    struct ear ear;

    planning_apply(store, &HOURLY);
    (void)fire(store, NOW_US, &ear);
    CHECK_EQ(fire(store, NOW_US + 100 * US_PER_HOUR + 7, &ear).fired, 2,
             "the hourly and the nightly");
    (void)fire(store, NOW_US + 100 * US_PER_HOUR + 8, &ear);
    CHECK_EQ(ear.fired, 0, "all those hours are one");
    contract_end();
}

TEST(a_cron_line_fires_at_its_minute)
{
    struct store *store = contract_store();
    struct ear ear;

    planning_apply(store, &(struct planning_source){
                              .operations = "  nightly: { operation: harvest, endpoint: works,"
                                            " cron: \"30 2 * * *\" }" });
    CHECK_EQ(fire(store, NOW_US + 2 * US_PER_HOUR, &ear).fired, 0, "not yet");
    CHECK_EQ(fire(store, NOW_US + 150 * US_PER_MINUTE, &ear).fired, 1, "half past two");
    CHECK_EQ(ear.tick_us, NOW_US + 150 * US_PER_MINUTE, "exactly");
    contract_end();
}

TEST(what_rests_does_not_fire_and_catches_up_when_it_is_resumed)
{
    struct store *store = contract_store();
    const struct pause pause = { .source = STR("demo"), .created_us = NOW_US };
    struct error err = { 0 };
    struct ear ear;
    bool done;

    planning_apply(store, &HOURLY);
    REQUIRE_OK(store_pause_add(store, &pause, &done, &err), err);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(fire(store, NOW_US + i * US_PER_HOUR, &ear).fired, 0, "paused");
    REQUIRE_OK(store_pause_remove(store, STR("demo"), STR(""), PAUSE_PAUSED, &done, &err), err);
    CHECK_EQ(fire(store, NOW_US + 5 * US_PER_HOUR - 1, &ear).fired, 2, "once for each schedule");
    contract_end();
}

TEST(a_source_that_does_not_compile_fires_once_and_delays_no_other)
{
    struct store *store = contract_store();
    struct schedule_fire_result result;
    struct ear ear;

    planning_apply(store, &(struct planning_source){
                              .window = "max: 1h, min: 2h",
                              .operations = "  harvest: { endpoint: works, every: 1h }" });
    result = fire(store, NOW_US, &ear);
    CHECK_EQ(result.failed, 1, "refused");
    CHECK_STR(str_of(ear.code), STR("spec.invalid"), "why");
    result = fire(store, NOW_US + 1, &ear);
    CHECK_EQ(result.failed + result.fired, 0, "the tick is used up");
    contract_end();
}

/* ---- quota ---- */

static struct quota_count booked(struct store *store, enum quota_window window)
{
    const struct quota_key key = { STR("demo/works"), window, NOW_US };
    struct quota_count count;
    struct error err = { 0 };

    REQUIRE_OK(store_quota_load(store, &key, &count, &err), err);
    return count;
}

TEST(a_plan_books_what_it_expects_to_send)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");

    planning_apply(store,
                   &(struct planning_source){ .window = "lag: 0, align: day, max: 1d",
                                              .top = "rate: { quota: { day: 1000, hour: 500 } }" });
    request.from = maybe("2025-12-20");
    CHECK_EQ(planning_trigger(store, &request).slices, 12, "twelve days");
    CHECK_EQ(booked(store, QUOTA_DAY).booked[QUOTA_HARVEST], 12, "a request each, at least");
    CHECK_EQ(booked(store, QUOTA_HOUR).booked[QUOTA_HARVEST], 12, "by the hour as well");
    contract_end();
}

/* What the gate has learned of the source, as it would have saved it. */
static void learn_rate(struct store *store, int64_t rate, int64_t cooldown_until_us,
                       int64_t parked_until_us)
{
    const struct rate_gate gate = { .bucket = { .refilled_at_us = NOW_US,
                                                .rate = rate,
                                                .raised_at_us = NOW_US,
                                                .demoted_at_us = NOW_US,
                                                .cooldown_until_us = cooldown_until_us,
                                                .line_until_us = NOW_US,
                                                .started_at_us = NOW_US },
                                    .parked_until_us = parked_until_us };
    struct error err = { 0 };
    bool saved;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_rate_save(store, STR("demo/works"), &gate, NOW_US, &saved, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE(saved, "a new row");
}

#define LEARNING "rate: { per_second: 10, burst: 1, adaptive: true, increase: 1, cool_down: 60s"

/* A source that was asked too often: 20 days at 10 a second would all be due within two seconds. */
TEST(tasks_fall_due_at_the_pace_that_the_gate_has_learned)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct plan_result result;
    struct task_list tasks;

    planning_apply(store, &(struct planning_source){ .window = "lag: 0, align: day, max: 1d",
                                                     .top = LEARNING " }" });
    learn_rate(store, MICRO / 5, NOW_US + 30 * US_PER_SECOND, INT64_MIN);
    request.from = maybe("2025-12-12");
    result = planning_trigger(store, &request);
    REQUIRE(result.slices == 20, "twenty days");
    tasks = planning_tasks(store);
    CHECK_EQ(tasks.items[0].scheduled_us, NOW_US + 30 * US_PER_SECOND, "after the cool-down");
    /* On its way from 0.2 to 9.8 a second it is taken at their mean, 5, and a tenth more. */
    CHECK_EQ((tasks.items[19].scheduled_us - NOW_US) / US_PER_MS, 30000 + 18 * 1000 * 10 / 55,
             "at the learned pace");
    CHECK_STR(planning_value(result.remarks, "budget.gate.qps"), STR("0.2"), "as it was found");
    contract_end();
}

/* The gate knows that requests are sent without the optional credential. */
TEST(tasks_fall_due_at_the_rate_without_a_credential_where_none_is_set)
{
    const struct rate_gate gate = { .bucket = { .refilled_at_us = NOW_US,
                                                .rate = MICRO,
                                                .demoted_at_us = INT64_MIN,
                                                .started_at_us = NOW_US },
                                    .parked_until_us = INT64_MIN };
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct task_list tasks;
    struct error err = { 0 };
    bool saved;

    planning_apply(store, &(struct planning_source){
                              .window = "lag: 0, align: day, max: 1d",
                              .top = "auth: { type: api_key, name: X-Key, secret: env:KEY,"
                                     " optional: true }\n"
                                     "rate: { per_second: 1, burst: 1, adaptive: false,"
                                     " with_credential: { per_second: 10 } }" });
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_rate_save(store, STR("demo/works#env:KEY"), &gate, NOW_US, &saved, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    request.from = maybe("2025-12-12");
    REQUIRE(planning_trigger(store, &request).slices == 20, "twenty days");
    tasks = planning_tasks(store);
    CHECK(tasks.items[19].scheduled_us - tasks.items[0].scheduled_us > 15 * US_PER_SECOND,
          "about one a second, not ten");
    contract_end();
}

TEST(a_parked_source_is_planned_for_the_time_after)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct plan_result result;
    struct task_list tasks;

    planning_apply(store, &(struct planning_source){ .window = "lag: 0, align: day, max: 1d" });
    learn_rate(store, MICRO, 0, NOW_US + US_PER_HOUR);
    request.from = maybe("2025-12-30");
    result = planning_trigger(store, &request);
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 2, "two days");
    CHECK_EQ(tasks.items[0].scheduled_us, NOW_US + US_PER_HOUR, "not before");
    CHECK_STR(planning_value(result.remarks, "budget.gate.parkedUntil"),
              STR("2026-01-01T01:00:00Z"), "why");
    contract_end();
}

/* 1000 an hour are more than a learned rate can send in the hour: the next plan may have the rest.
 */
TEST(no_more_is_booked_than_the_gate_will_let_through)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");

    planning_apply(
        store, &(struct planning_source){
                   .window = "lag: 0, align: day, max: 1d",
                   .top = LEARNING ", demote: 2, min: 0.001, quota: { hour: 1000, margin: 0 } }" });
    learn_rate(store, MICRO / 1000, NOW_US + US_PER_HOUR - 10 * US_PER_SECOND, INT64_MIN);
    request.from = maybe("2025-10-01");
    CHECK_EQ(planning_trigger(store, &request).slices, 92, "there is quota for all days");
    CHECK_EQ(booked(store, QUOTA_HOUR).booked[QUOTA_HARVEST], 1 + 49,
             "the burst, and ten seconds at the mean of nothing and 9.8 a second");
    contract_end();
}

TEST(what_the_quota_does_not_allow_waits_and_harvest_keeps_its_share)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("backfill");
    struct plan_result result;

    planning_apply(store,
                   &(struct planning_source){ .window = "lag: 0, align: day, max: 1d",
                                              .top = "rate: { quota: { day: 100, margin: 0 } }" });
    request.from = maybe("2025-01-01");
    result = planning_trigger(store, &request);
    /* HARVEST's 60 and UPDATE's 30 are left alone. */
    CHECK_EQ(result.slices, 10, "a tenth is BACKFILL's");
    CHECK_EQ(result.status, PLAN_PARTIAL, "the rest waits");
    CHECK_EQ(result.stop, BUDGET_STOP_REQUESTS, "for the quota");
    request = planning_request("harvest");
    request.from = maybe("2025-10-01");
    result = planning_trigger(store, &request);
    CHECK_EQ(result.slices, 90, "HARVEST may have all that is left");
    CHECK_EQ(result.stop, BUDGET_STOP_REQUESTS, "and no more");
    request.now_us = NOW_US + US_PER_DAY;
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(planning_trigger(store, &request).slices, 3, "the next day goes on");
    contract_end();
}

TEST(an_operation_keeps_to_the_share_that_its_author_gave_it)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");

    planning_apply(
        store, &(struct planning_source){
                   .window = "lag: 0, align: day, max: 1d",
                   .top = "rate: { quota: { day: 100, margin: 0, shares: { harvest: 25 } } }" });
    request.from = maybe("2025-10-01");
    CHECK_EQ(planning_trigger(store, &request).slices, 25, "a quarter");
    contract_end();
}

/* ---- gaps ---- */

static const struct planning_source DAILY = {
    .window = "lag: 0, align: day, max: 1d, size: 10d",
    .operations = "  harvest: { endpoint: works, cron: \"0 0 * * *\" }\n",
};

static struct task task_of_day(struct store *store, const char *day, enum operation operation)
{
    const struct task_list tasks = planning_tasks(store);

    for (size_t i = 0; i < tasks.count; i++) {
        if (tasks.items[i].operation == operation && tasks.items[i].window.from_us == at(day))
            return tasks.items[i];
    }
    return (struct task){ 0 };
}

static int64_t replays_of(struct store *store)
{
    const struct task_list tasks = planning_tasks(store);
    int64_t count = 0;

    for (size_t i = 0; i < tasks.count; i++)
        count += tasks.items[i].operation == OPERATION_REPLAY;
    return count;
}

static struct cursor forward_cursor(struct store *store)
{
    struct cursor_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_cursor_list(store, contract_arena(), STR("demo"), &list, &err), err);
    REQUIRE(list.count == 1, "one cursor, however much is replayed");
    return list.items[0];
}

/* Ten days are harvested by the tick of NOW_US, and the cursor has passed them with the next. */
static const char *lost_in; /* the database */

static struct store *harvested(void)
{
    struct store *store;
    struct ear ear;

    lost_in = contract_ready_database();
    store = contract_open(lost_in);

    planning_apply(store, &DAILY);
    CHECK_EQ(fire(store, NOW_US, &ear).fired, 1, "ten days");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(fire(store, NOW_US + US_PER_DAY, &ear).fired, 1, "the day after");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(forward_cursor(store).value.instant_us, NOW_US, "it has passed ten days");
    CHECK_EQ(replays_of(store), 0, "nothing is missing");
    return store;
}

/* As after a restored backup: the row no longer says that the day was fetched. */
static void lose_day(struct store *store, const char *day)
{
    char sql[128];

    (void)snprintf(sql, sizeof(sql), "UPDATE ing_task SET status_code = 'FAILED' WHERE id = %lld",
                   (long long)task_of_day(store, day, OPERATION_HARVEST).id);
    contract_sql(lost_in, sql);
}

TEST(a_gap_that_the_cursor_has_passed_is_replayed_once_and_moves_no_forward_cursor)
{
    struct store *store = harvested();
    struct schedule_fire_result result;
    struct task replay;
    struct ear ear;

    lose_day(store, "2025-12-25");
    result = fire(store, NOW_US + 2 * US_PER_DAY, &ear);
    CHECK_EQ(result.gaps, 1, "it is found by the next tick");
    CHECK_EQ(replays_of(store), 1, "only that day is replayed");
    replay = task_of_day(store, "2025-12-25", OPERATION_REPLAY);
    REQUIRE(replay.id > 0, "that day");
    CHECK_EQ(replay.window.to_us, at("2025-12-26"), "and no more of it");
    CHECK_EQ(replay.scope, NAMESPACE_CUSTOM, "in a namespace of its own");
    CHECK_STR(replay.cursor_key, STR(""), "without a cursor");
    CHECK_EQ(forward_cursor(store).value.instant_us, NOW_US + US_PER_DAY, "which goes on");
    CHECK_EQ(fire(store, NOW_US + 3 * US_PER_DAY, &ear).gaps, 0, "it is under way");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(fire(store, NOW_US + 4 * US_PER_DAY, &ear).gaps, 0, "it is covered");
    CHECK_EQ(replays_of(store), 1, "once");
    store_close(store);
    contract_end();
}

TEST(a_replay_of_a_gap_that_failed_is_planned_again)
{
    struct store *store = harvested();
    struct ear ear;

    lose_day(store, "2025-12-25");
    CHECK_EQ(fire(store, NOW_US + 2 * US_PER_DAY, &ear).gaps, 1, "found");
    planning_end(store, task_of_day(store, "2025-12-25", OPERATION_REPLAY).id, TASK_FAILED, NULL);
    CHECK_EQ(fire(store, NOW_US + 3 * US_PER_DAY, &ear).gaps, 1, "it is still missing");
    CHECK_EQ(replays_of(store), 2, "once more");
    store_close(store);
    contract_end();
}

/* Skipped on purpose. */
TEST(what_a_person_has_skipped_is_not_a_gap)
{
    struct store *store = contract_store();
    struct cursor_reset_request reset = { .who = STR("ada"), .reason = STR("not needed") };
    struct cursor_reset_result done;
    struct error err = { 0 };
    struct ear ear;

    planning_apply(store, &DAILY);
    CHECK_EQ(fire(store, NOW_US, &ear).fired, 1, "ten days");
    planning_end(store, task_of_day(store, "2025-12-22", OPERATION_HARVEST).id, TASK_SUCCEEDED,
                 NULL);
    planning_end_all(store, TASK_FAILED);
    CHECK_EQ(fire(store, NOW_US + 1, &ear).fired, 0, "not yet");
    reset.name = forward_cursor(store).name;
    reset.now_us = NOW_US + 2;
    reset.to = (struct cursor_value){ .type = CURSOR_TIME, .instant_us = at("2025-12-31") };
    REQUIRE_OK(cursor_reset(store, contract_arena(), &reset, &done, &err), err);
    CHECK(done.is_moved, "forward");
    CHECK_EQ(fire(store, NOW_US + US_PER_DAY, &ear).gaps, 0, "what was skipped stays skipped");
    CHECK_EQ(replays_of(store), 0, "nothing is replayed");
    contract_end();
}
