/* Opens and drives the world of shape_world.h. */
#include "shape_world.h"

#include <stdio.h>
#include <string.h>

#include "contract.h"
#include "data/xml.h"
#include "engine/plan/plan.h"
#include "engine/source/source_store.h"
#include "port/store_pause.h"
#include "spec/check.h"
#include "test.h"

enum { STEPS_MAX = 20000 };

/* ---- opening ---- */

static void see(struct executor_watch *watch, const struct executor_event *event)
{
    struct shape_world *w =
        (struct shape_world *)((char *)watch - offsetof(struct shape_world, watch));

    if (event->kind == EXECUTOR_ENDED && event->ending->status != TASK_SUCCEEDED)
        (void)snprintf(w->reason, sizeof(w->reason), "%s", event->ending->text);
}

static void open_executor(struct shape_world *w)
{
    struct error err = { 0 };

    REQUIRE_OK(store_another(w->store, &w->session, &err), err);
    REQUIRE_OK(store_another(w->store, &w->gate_session, &err), err);
    REQUIRE_OK(gate_pool_open(&w->gates, &err), err);
    REQUIRE_OK(partitions_open(&w->partitions, &err), err);
    REQUIRE_OK(
        executor_open(&w->executor,
                      &(struct executor_parts){ .store = w->session,
                                                .http = &w->api.http.http,
                                                .gates = w->gates,
                                                .gate_store = w->gate_session,
                                                .partitions = w->partitions,
                                                .clock = &w->clock.clock,
                                                .random = &w->chance.source,
                                                .secrets = &w->secrets.source,
                                                .xml = &xml_module,
                                                .watch = &w->watch,
                                                .wake_fd = CLOCK_NO_WAKE },
                      &(struct executor_settings){ .owner = STR("shapes"), .is_draining = true },
                      &err),
        err);
}

static void apply_source(struct shape_world *w, struct str text)
{
    struct fault_list faults;
    struct source rows;
    struct source_applied applied;
    struct error err = { 0 };

    fault_list_init(&faults, &w->arena);
    if (!source_lint(&w->arena, &xml_module, &(struct source_text){ .file = text }, &faults,
                     &rows)) {
        for (size_t i = 0; i < faults.count; i++)
            test_note("%.*s", STR_ARG(faults.items[i].message));
        test_note("%.*s", STR_ARG(text));
        REQUIRE(false, "a source without faults");
    }
    REQUIRE_OK(
        source_apply(w->store, &w->arena, &rows, SHAPE_START_US - US_PER_DAY, &applied, &err), err);
}

void shape_world_open(struct shape_world *w, const struct shape *shape, uint64_t seed)
{
    memset(w, 0, sizeof(*w));
    w->watch.see = see;
    virtual_clock_init(&w->clock, SHAPE_START_US + SHAPE_DAYS * US_PER_DAY + US_PER_HOUR);
    seeded_random_init(&w->chance, seed);
    fixed_secrets_init(&w->secrets, NULL, 0);
    shape_api_init(&w->api, shape, &w->clock.clock);
    arena_init(&w->arena, (size_t)256 << 20);
    w->dsn = contract_ready_database();
    w->store = contract_open(w->dsn);
    open_executor(w);
    apply_source(w, shape_source(shape, &w->arena));
}

void shape_world_close(struct shape_world *w)
{
    executor_close(w->executor);
    partitions_close(w->partitions);
    gate_pool_close(w->gates);
    store_close(w->gate_session);
    store_close(w->session);
    store_close(w->store);
    arena_release(&w->arena);
    shape_api_release(&w->api);
}

/* ---- time ---- */

struct window shape_day(int day)
{
    return (struct window){ SHAPE_START_US + day * US_PER_DAY,
                            SHAPE_START_US + (day + 1) * US_PER_DAY };
}

struct window shape_slice(int day, int slice)
{
    const int64_t length_us = US_PER_DAY / SHAPE_SLICES;
    const int64_t from_us = shape_day(day).from_us + slice * length_us;

    return (struct window){ from_us, from_us + length_us };
}

/* ---- work ---- */

bool shape_world_harvest(struct shape_world *w, int day)
{
    const struct window window = shape_day(day);
    struct plan_result result;
    struct error err = { 0 };

    REQUIRE_OK(plan_trigger(w->store, &w->arena,
                            &(struct plan_request){ .source = STR("demo"),
                                                    .operation = STR("harvest"),
                                                    .now_us = clock_now_us(&w->clock.clock),
                                                    .trigger = TRIGGER_MANUAL,
                                                    .from = { true, window.from_us },
                                                    .to = { true, window.to_us } },
                            &result, &err),
               err);
    for (int i = 0; i < STEPS_MAX; i++) {
        enum executor_did did;
        int64_t next_us;

        REQUIRE_OK(executor_step(w->executor, &did, &next_us, &err), err);
        if (did == EXECUTOR_DRAINED)
            return true;
        if (did == EXECUTOR_NOTHING)
            virtual_clock_advance(&w->clock, US_PER_SECOND);
    }
    return false;
}

void shape_world_resume(struct shape_world *w)
{
    struct error err = { 0 };
    bool removed;

    REQUIRE_OK(
        store_pause_remove(w->store, STR("demo"), (struct str){ 0 }, PAUSE_STOPPED, &removed, &err),
        err);
    virtual_clock_advance(&w->clock, US_PER_HOUR); /* past every circuit and delay */
}
