/* The same trigger from many processes at once. */
#include "base/instant.h"
#include "engine/schedule/fire.h"
#include "planning.h"
#include "port/store_signal.h"

enum { PROCESSES = 8, TRIGGERS = 13 }; /* 104 in all */

static const struct planning_source BY_DAY = { .window = "align: day, max: 1d, lag: 0" };

/* Each opens a session of its own and fires; returns how many slices it made. */
static int storm(const char *dsn, const struct plan_request *request)
{
    struct store *store = contract_open(dsn);
    struct arena arena;
    int64_t slices = 0;

    arena_init(&arena, 64 << 20);
    for (int i = 0; i < TRIGGERS; i++) {
        struct plan_result result;
        struct error err = { 0 };

        arena_reset(&arena);
        if (!plan_trigger(store, &arena, request, &result, &err)) {
            test_fail(__FILE__, __LINE__, "trigger %d: %s", i, err.text);
            return -1;
        }
        slices += result.slices;
    }
    arena_release(&arena);
    store_close(store);
    return (int)slices;
}

static int harvest(int index, const char *dsn)
{
    struct plan_request request = planning_request("harvest");

    (void)index;
    request.from = maybe("2025-12-01");
    return storm(dsn, &request);
}

static bool has_duplicates(const struct task_list *tasks)
{
    for (size_t i = 0; i < tasks->count; i++) {
        for (size_t k = i + 1; k < tasks->count; k++) {
            if (window_is_valid(window_intersect(tasks->items[i].window, tasks->items[k].window)) ||
                str_eq(tasks->items[i].idempotent_key, tasks->items[k].idempotent_key))
                return true;
        }
    }
    return false;
}

TEST(a_hundred_triggers_at_once_from_eight_processes_make_one_plans_worth_of_tasks)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    struct plan_filter filter = { .limit = 1000 };
    struct plan_list plans;
    struct task_list tasks;
    struct error err = { 0 };

    planning_apply(store, &BY_DAY);
    CHECK_EQ(contract_processes(PROCESSES, harvest, dsn), 31, "slices made by all of them");
    tasks = planning_tasks(store);
    CHECK_EQ(tasks.count, 31, "December, each day once");
    CHECK(!has_duplicates(&tasks), "nothing twice");
    REQUIRE_OK(store_plan_list(store, contract_arena(), &filter, &plans, &err), err);
    CHECK_EQ(plans.count, PROCESSES * TRIGGERS, "every trigger has its plan");
    store_close(store);
    contract_end();
}

/* The clock runs on while they fire: every trigger has another end, and still nothing overlaps. */
static int moving(int index, const char *dsn)
{
    struct plan_request request = planning_request("harvest");

    request.from = maybe("2025-12-01");
    request.now_us = NOW_US + index * US_PER_HOUR;
    return storm(dsn, &request);
}

TEST(triggers_at_once_with_different_ends_leave_no_gap_and_no_overlap)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    struct task_list tasks;
    int64_t length_us = 0;

    planning_apply(store, &(struct planning_source){ .window = "max: 1d, lag: 0" });
    CHECK(contract_processes(PROCESSES, moving, dsn) > 0, "no error");
    tasks = planning_tasks(store);
    CHECK(!has_duplicates(&tasks), "no overlap");
    for (size_t i = 0; i < tasks.count; i++)
        length_us += window_length_us(tasks.items[i].window);
    CHECK_EQ(length_us, 31 * US_PER_DAY + (PROCESSES - 1) * US_PER_HOUR, "no gap");
    store_close(store);
    contract_end();
}

static int update(int index, const char *dsn)
{
    const struct plan_request request = planning_request("update");

    (void)index;
    return storm(dsn, &request);
}

TEST(updates_at_once_take_each_record_once)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    struct signal signals[100];
    struct error err = { 0 };
    int64_t added;

    planning_apply(store, &BY_DAY);
    for (int i = 0; i < 100; i++)
        signals[i] = (struct signal){ .source = STR("demo"),
                                      .endpoint = STR("works"),
                                      .provider_id = arena_printf(contract_arena(), "id%d", i),
                                      .reason = STR("x"),
                                      .created_by = STR("x"),
                                      .created_us = NOW_US };
    REQUIRE_OK(store_signal_add(store, signals, 100, &added, &err), err);
    CHECK_EQ(contract_processes(PROCESSES, update, dsn), 1, "one slice of a hundred");
    CHECK_EQ(planning_tasks(store).count, 1, "one task");
    store_close(store);
    contract_end();
}

static int serve(int index, const char *dsn)
{
    struct store *store = contract_open(dsn);
    struct schedule_fire_result result;
    int64_t fired = 0;

    for (int hour = 0; hour < 10; hour++) {
        const struct schedule_fire_request request = {
            .owner = index % 2 == 0 ? STR("even") : STR("odd"),
            .now_us = NOW_US + hour * US_PER_HOUR + index,
        };
        struct error err = { 0 };

        if (!schedule_fire_due(store, &request, &result, &err) || result.failed > 0) {
            test_fail(__FILE__, __LINE__, "fire: %s", err.text);
            return -1;
        }
        fired += result.fired;
    }
    store_close(store);
    return (int)fired;
}

TEST(servers_at_once_fire_no_tick_twice)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    struct task_list tasks;
    int fired;

    planning_apply(store, &(struct planning_source){
                              .window = "align: hour, max: 1h, lag: 0",
                              .operations = "  harvest: { endpoint: works, every: 1h }" });
    fired = contract_processes(PROCESSES, serve, dsn);
    /* A server that is late finds a later tick fired by a faster one, and has nothing to do. */
    CHECK(fired >= 1 && fired <= 10, "each tick once at most");
    tasks = planning_tasks(store);
    CHECK(!has_duplicates(&tasks), "nothing is planned twice");
    store_close(store);
    contract_end();
}
