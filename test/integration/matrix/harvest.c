/* Planner and executor in this process, on a clock that leaps instead of sleeping. */
#include "harvest.h"

#include <stdio.h>
#include <string.h>

#include "adapter/curl/curl_http.h"
#include "adapter/store_open.h"
#include "data/date.h"
#include "data/xml.h"
#include "engine/cursor/cursor_reset.h"
#include "engine/source/source_store.h"
#include "port/store_mark.h"
#include "port/store_pause.h"
#include "port/store_rate.h"
#include "spec/check.h"
#include "test.h"

#define ARENA_MAX ((size_t)1 << 30)
#define POLL_US (20 * US_PER_MS)

enum { STEPS_MAX = 100000, EDITS_MAX = 24 };

/* ---- time that leaps ---- */

static int64_t leap_now(struct clock *clock)
{
    struct leap_clock *self = (struct leap_clock *)clock;

    return (self->is_still ? self->still_now_us : clock_now_us(&self->inner)) + self->leapt_us;
}

static int64_t leap_monotonic(struct clock *clock)
{
    struct leap_clock *self = (struct leap_clock *)clock;

    return (self->is_still ? self->still_monotonic_us : clock_monotonic_us(&self->inner)) +
           self->leapt_us;
}

static bool leap_sleep(struct clock *clock, int64_t monotonic_us, int wake_fd)
{
    struct leap_clock *self = (struct leap_clock *)clock;
    const int64_t left_us = monotonic_us - leap_monotonic(clock);

    (void)wake_fd;
    if (left_us > 0)
        self->leapt_us += left_us;
    return true;
}

/* ---- the stage ---- */

static const struct fixed_secret secrets[] = {
    { "env:PATRA_CONTACT", "someone@example.org" },
    { "env:OPENALEX_API_KEY", "0p3n-s3cr3t" },
};

void stage_open(struct stage *stage, const char *const *options)
{
    struct auth_http_parts parts;
    struct error err;

    memset(stage, 0, sizeof(*stage));
    arena_init(&stage->keep, ARENA_MAX);
    stage->clock = (struct leap_clock){ .clock = { .now_us = leap_now,
                                                   .monotonic_us = leap_monotonic,
                                                   .sleep_until_us = leap_sleep },
                                        .inner = system_clock() };
    stage->random = system_random();
    fixed_secrets_init(&stage->secrets, secrets, ARRAY_LEN(secrets));
    REQUIRE(sim_start(&stage->sim, options), "patra-sim starts");
    REQUIRE_OK(curl_http_open(NULL, &stage->http, &err), err);
    REQUIRE_OK(auth_tokens_open(&stage->tokens, &err), err);
    parts = (struct auth_http_parts){ .tokens = stage->tokens,
                                      .secrets = &stage->secrets.source,
                                      .clock = &stage->clock.clock };
    REQUIRE_OK(curl_http_open(NULL, &parts.inner, &err), err);
    REQUIRE_OK(auth_http_open(&parts, &stage->worker, &err), err);
}

void stage_still(struct stage *stage)
{
    struct leap_clock *clock = &stage->clock;

    clock->still_now_us = clock_now_us(&clock->inner);
    clock->still_monotonic_us = clock_monotonic_us(&clock->inner);
    clock->is_still = true;
}

void stage_close(struct stage *stage)
{
    http_close(stage->worker);
    http_close(stage->http);
    auth_tokens_close(stage->tokens);
    sim_stop(&stage->sim);
    arena_release(&stage->keep);
}

const struct sim_truth *stage_truth(struct stage *stage, const struct sim_shape *shape)
{
    struct sim_truth *truth = &stage->truths[shape - sim_shapes];
    const struct str path =
        arena_printf(&stage->keep, "/_sim/truth?protocol=%s&limit=100000&from=%s&to=%s",
                     shape->protocol, SIM_FROM, shape->to);

    if (truth->count == 0)
        sim_truth_read(truth, &stage->keep,
                       sim_ask(stage->http, &stage->keep, &stage->sim, "GET", path.data, NULL));
    return truth;
}

/* ---- a source on an empty database ---- */

static void see(struct executor_watch *watch, const struct executor_event *event)
{
    struct harvest *h = (struct harvest *)((char *)watch - offsetof(struct harvest, watch));

    if (event->kind == EXECUTOR_BATCH) {
        h->counts.batches++;
        h->counts.records += (int64_t)event->batch->record_count;
        h->counts.requests += event->batch->counts.requests;
        h->counts.retries += event->batch->counts.retries;
    }
    if (event->kind == EXECUTOR_ENDED && event->ending->kind == ENDING_FINAL) {
        h->counts.tasks[event->ending->status]++;
        if (event->ending->status != TASK_SUCCEEDED)
            (void)snprintf(h->counts.reason, sizeof(h->counts.reason), "%s", event->ending->text);
    }
}

static int64_t instant_of(const char *text)
{
    struct date date = { 0 };
    struct error err;

    REQUIRE_OK(date_parse(date_format_find(STR("rfc3339")), str_of(text), &date, &err), err);
    return date.at_us;
}

/* The shape's own changes, and those that make a shipped source as quick as the others. */
static struct edit_list edits_of(struct harvest *h, const struct edit_list *more)
{
    static const struct edit quick[] = {
        { STR_INIT("rate.per_second"), STR_INIT("1000") },
        { STR_INIT("rate.burst"), STR_INIT("1000") },
        { STR_INIT("rate.provider_limit"), STR_INIT("1000") },
    };
    static const struct edit timeout = { STR_INIT("http.read_timeout"), STR_INIT("300ms") };
    const struct edit_list shape = sim_shape_edits(&h->arena, &h->stage->sim, h->shape, true);
    struct edit *edits = ARENA_ARRAY(&h->arena, struct edit, EDITS_MAX);
    size_t count = 0;

    REQUIRE(edits != NULL, "memory");
    for (size_t i = 0; i < shape.count; i++)
        edits[count++] = shape.items[i];
    edits[count++] = timeout;
    for (size_t i = 0; i < ARRAY_LEN(quick) && strncmp(h->shape->file, "sources/", 8) == 0; i++)
        edits[count++] = quick[i];
    for (size_t i = 0; more != NULL && i < more->count; i++)
        edits[count++] = more->items[i];
    return (struct edit_list){ edits, count };
}

static void apply(struct harvest *h, const struct edit_list *more)
{
    const struct source_text text = { test_read(h->shape->file), edits_of(h, more) };
    struct source_applied applied;
    struct fault_list faults;
    struct source rows;
    struct error err = { 0 };

    fault_list_init(&faults, &h->arena);
    if (!source_lint(&h->arena, &xml_module, &text, &faults, &rows)) {
        for (size_t i = 0; i < faults.count; i++)
            test_note("%s: %.*s", h->shape->name, STR_ARG(faults.items[i].message));
        REQUIRE(false, "the source has faults");
    }
    REQUIRE_OK(source_apply(h->store, &h->arena, &rows,
                            clock_now_us(&h->stage->clock.clock) - US_PER_MINUTE, &applied, &err),
               err);
}

/* A server's clock does not leap: every store goes by that of its caller, as a file does. */
static bool local_clock(struct store *store, int64_t local_us, int64_t *now_us, struct error *err)
{
    (void)store;
    (void)err;
    *now_us = local_us;
    return true;
}

static const struct store_mark_ops *marks_of_store;

static bool local_mark(struct store *store, struct store_mark *mark, bool *has_server,
                       int64_t *server_us, struct error *err)
{
    const bool ok = marks_of_store->load(store, mark, has_server, server_us, err);

    *has_server = false;
    return ok;
}

static void open_sessions(struct harvest *h)
{
    static struct store_rate_ops leaping;
    static struct store_mark_ops marks;
    struct error err = { 0 };

    REQUIRE_OK(store_open(str_of(h->dsn), NULL, &h->store, &err), err);
    REQUIRE_OK(store_another(h->store, &h->session, &err), err);
    REQUIRE_OK(store_another(h->store, &h->gate_session, &err), err);
    leaping = *h->store->rate;
    leaping.clock = local_clock;
    h->session->rate = &leaping;
    h->gate_session->rate = &leaping;
    marks_of_store = h->store->mark;
    marks = *marks_of_store;
    marks.load = local_mark;
    h->session->mark = &marks;
    h->gate_session->mark = &marks;
}

void harvest_between(struct harvest *h, const char *from, const char *to)
{
    h->from = from;
    h->to = to;
    h->window = (struct window){ instant_of(from), instant_of(to) };
}

void harvest_open(struct harvest *h, struct stage *stage, const char *dsn,
                  const struct sim_shape *shape, const struct edit_list *more)
{
    struct error err = { 0 };

    *h = (struct harvest){ .stage = stage, .shape = shape, .dsn = dsn, .watch = { see } };
    harvest_between(h, SIM_FROM, shape->to);
    stage->cases++;
    arena_init(&h->arena, ARENA_MAX);
    open_sessions(h);
    REQUIRE_OK(gate_pool_open(&h->gates, &err), err);
    REQUIRE_OK(partitions_open(&h->partitions, &err), err);
    REQUIRE_OK(executor_open(&h->executor,
                             &(struct executor_parts){ .store = h->session,
                                                       .http = stage->worker,
                                                       .gates = h->gates,
                                                       .gate_store = h->gate_session,
                                                       .partitions = h->partitions,
                                                       .clock = &stage->clock.clock,
                                                       .random = &stage->random,
                                                       .secrets = &stage->secrets.source,
                                                       .xml = &xml_module,
                                                       .watch = &h->watch,
                                                       .wake_fd = CLOCK_NO_WAKE },
                             &(struct executor_settings){
                                 .owner = STR("matrix"), .poll_us = POLL_US, .is_draining = true },
                             &err),
               err);
    apply(h, more);
}

void harvest_close(struct harvest *h)
{
    executor_close(h->executor);
    partitions_close(h->partitions);
    gate_pool_close(h->gates);
    store_close(h->gate_session);
    store_close(h->session);
    store_close(h->store);
    arena_release(&h->arena);
}

/* ---- work ---- */

void harvest_fire(struct harvest *h, const char *operation)
{
    struct plan_result result;
    struct error err = { 0 };
    const bool is_by_id = strcmp(operation, "update") == 0 || h->shape->feed != CURSOR_TIME;

    REQUIRE_OK(plan_trigger(h->store, &h->arena,
                            &(struct plan_request){ .source = str_of(h->shape->source),
                                                    .operation = str_of(operation),
                                                    .now_us = clock_now_us(&h->stage->clock.clock),
                                                    .trigger = TRIGGER_MANUAL,
                                                    .from = { !is_by_id, h->window.from_us },
                                                    .to = { !is_by_id, h->window.to_us } },
                            &result, &err),
               err);
}

void harvest_again(struct harvest *h)
{
    struct cursor_reset_request request = {
        .to = { .type = h->shape->feed, .text = h->shape->feed == CURSOR_ID ? STR("0") : STR("") },
        .who = STR("matrix"),
        .now_us = clock_now_us(&h->stage->clock.clock),
    };
    struct cursor_reset_result result;
    struct cursor_list cursors;
    struct error err = { 0 };

    if (h->shape->feed == CURSOR_TIME) {
        harvest_fire(h, "backfill");
        return;
    }
    REQUIRE_OK(store_cursor_list(h->store, &h->arena, str_of(h->shape->source), &cursors, &err),
               err);
    if (cursors.count > 0) {
        request.name = cursors.items[0].name;
        REQUIRE_OK(cursor_reset(h->store, &h->arena, &request, &result, &err), err);
    }
    harvest_fire(h, "harvest");
}

bool harvest_drain(struct harvest *h)
{
    struct error err = { 0 };

    for (int i = 0; i < STEPS_MAX; i++) {
        enum executor_did did;
        int64_t next_us;

        REQUIRE_OK(executor_step(h->executor, &did, &next_us, &err), err);
        if (did == EXECUTOR_DRAINED)
            return true;
        if (did == EXECUTOR_NOTHING)
            (void)clock_sleep_us(&h->stage->clock.clock, POLL_US, CLOCK_NO_WAKE);
    }
    return false;
}

bool harvest_lift(struct harvest *h)
{
    struct error err = { 0 };
    bool removed;

    REQUIRE_OK(store_pause_remove(h->store, str_of(h->shape->source), (struct str){ 0 },
                                  PAUSE_STOPPED, &removed, &err),
               err);
    return removed;
}
