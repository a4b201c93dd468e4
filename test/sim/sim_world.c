/* Opens, drives and checks the world of sim_world.h. */
#include "sim_world.h"

#include <stdio.h>
#include <string.h>

#include "contract.h"
#include "engine/source/source_store.h"
#include "fault_store.h"
#include "port/store_outbox.h"
#include "port/store_record.h"
#include "spec/check.h"
#include "test.h"

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

static void open_worker(struct world *w, int i)
{
    struct worker *worker = &w->workers[i];
    struct error err = { 0 };

    (void)snprintf(worker->owner, sizeof(worker->owner), "owner-%d-%d", i, w->deaths);
    REQUIRE_OK(store_another(w->store, &worker->session, &err), err);
    fault_store_new_process(worker->session);
    REQUIRE_OK(store_another(worker->session, &worker->gate_session, &err), err);
    REQUIRE_OK(executor_open(&worker->executor,
                             &(struct executor_parts){ .store = worker->session,
                                                       .http = &w->api.http.http,
                                                       .gates = w->gates,
                                                       .gate_store = worker->gate_session,
                                                       .partitions = w->partitions,
                                                       .clock = &w->clock.clock,
                                                       .random = &w->chance.source,
                                                       .secrets = &w->secrets.source,
                                                       .watch = &w->watch,
                                                       .wake_fd = CLOCK_NO_WAKE },
                             &(struct executor_settings){ .owner = str_of(worker->owner),
                                                          .lease_us = LEASE_US,
                                                          .batch_records = w->batch_records,
                                                          .is_draining = true },
                             &err),
               err);
}

static void close_worker(struct worker *worker)
{
    executor_close(worker->executor);
    store_close(worker->session);
    store_close(worker->gate_session);
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

void world_open(struct world *w, uint64_t seed, const char *source)
{
    struct error err = { 0 };

    memset(w, 0, sizeof(*w));
    w->random.state = seed;
    w->watch.see = see;
    w->batch_records = seed % 2 == 0 ? 4 : 0; /* pages have ten */
    virtual_clock_init(&w->clock, START_US + US_PER_DAY);
    seeded_random_init(&w->chance, seed);
    fixed_secrets_init(&w->secrets, NULL, 0);
    upstream_init(&w->api, &w->clock, seed ^ 0x5eed);
    arena_init(&w->arena, (size_t)256 << 20);
    w->store = contract_store();
    fault_store_wrap(w->store);
    REQUIRE_OK(gate_pool_open(&w->gates, &err), err);
    REQUIRE_OK(partitions_open(&w->partitions, &err), err);
    apply_source(w, source);
    for (int i = 0; i < EXECUTORS; i++)
        open_worker(w, i);
}

void world_init(struct world *w, uint64_t seed)
{
    world_open(w, seed, UPSTREAM_SOURCE);
}

void world_release(struct world *w)
{
    for (int i = 0; i < EXECUTORS; i++)
        close_worker(&w->workers[i]);
    partitions_close(w->partitions);
    gate_pool_close(w->gates);
    contract_end();
    arena_release(&w->arena);
    upstream_release(&w->api);
}

/* ---- what happens in it ---- */

int64_t world_now(struct world *w)
{
    return clock_now_us(&w->clock.clock);
}

bool world_fire(struct world *w, const char *operation, struct plan_result *result,
                struct error *err)
{
    return plan_trigger(
        w->store, &w->arena,
        &(struct plan_request){ .source = STR("demo"),
                                .operation = str_of(operation),
                                .now_us = world_now(w),
                                .trigger = w->is_scheduled ? TRIGGER_SCHEDULE : TRIGGER_MANUAL },
        result, err);
}

bool world_trigger(struct world *w, struct plan_result *result, struct error *err)
{
    return world_fire(w, "harvest", result, err);
}

enum executor_did world_step(struct world *w, int i)
{
    enum executor_did did = EXECUTOR_WORKED;
    struct error err = { 0 };
    int64_t next_us;

    if (executor_step(w->workers[i].executor, &did, &next_us, &err)) {
        if (did != EXECUTOR_WORKED)
            virtual_clock_advance(&w->clock, US_PER_SECOND);
        return did;
    }
    CHECK_STR(str_of(err.code), STR("store.corrupt"), err.text);
    close_worker(&w->workers[i]);
    w->deaths++;
    open_worker(w, i);
    return EXECUTOR_WORKED;
}

void world_drain(struct world *w)
{
    for (int i = 0; i < 100000; i++) {
        if (world_step(w, i % EXECUTORS) == EXECUTOR_DRAINED)
            return;
    }
    REQUIRE(false, "the queue never becomes empty");
}

/* ---- the truth ---- */

void world_check_record(struct world *w, int number)
{
    const struct api_record *truth = &w->api.records[number];
    struct stored_record record;
    struct stored_event_list events;
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
    REQUIRE_OK(store_outbox_of(w->store, &w->arena, &(struct outbox_query){ record.id, 0, 1000 },
                               &events, &err),
               err);
    CHECK_EQ(events.count, record.version, "one event per version");
    for (size_t i = 0; i < events.count; i++)
        CHECK_EQ(events.items[i].event.version, i + 1, "in order, none left out");
}

bool world_cursor(struct world *w, struct cursor *cursor)
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

struct cursor_event_list world_events(struct world *w, const struct cursor *cursor)
{
    struct cursor_event_list events;
    struct error err = { 0 };

    REQUIRE_OK(store_cursor_event_list(w->store, &w->arena, &cursor->name,
                                       (struct store_page){ .limit = 100000 }, &events, &err),
               err);
    return events;
}
