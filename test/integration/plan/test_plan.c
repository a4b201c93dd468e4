/* Triggers, one after the other, as a store shows them afterwards. Now is 2026-01-01T00:00:00Z; the
 * source lags ten minutes where nothing else is said. */
#include <string.h>

#include "base/instant.h"
#include "data/hash.h"
#include "engine/source/source_store.h"
#include "planning.h"
#include "port/store_cursor.h"
#include "port/store_pause.h"
#include "port/store_schedule.h"

static const struct planning_source BY_DAY = { .window = "align: day, max: 1d, min: 1d, lag: 0" };

/* ---- the first harvest ---- */

TEST(a_harvest_without_cursor_plans_its_window_and_starts_the_cursor)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct cursor_list cursors;
    struct plan_result result;
    struct task_list tasks;
    struct error err = { 0 };

    planning_apply(store, &BY_DAY);
    request.from = maybe("2025-12-29");
    result = planning_trigger(store, &request);
    CHECK_EQ(result.status, PLAN_READY, "all slices became tasks");
    CHECK_EQ(result.slices, 3, "one a day");
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 3, "a task for each");
    for (size_t i = 0; i < 3; i++) {
        const struct task *task = &tasks.items[i];

        CHECK_EQ(task->window.from_us, at("2025-12-29") + (int64_t)i * US_PER_DAY, "from");
        CHECK_EQ(task->window.to_us, task->window.from_us + US_PER_DAY, "to");
        CHECK_EQ(task->status, TASK_QUEUED, "it waits");
        CHECK_EQ(task->priority, 10, "HARVEST's");
        CHECK_EQ(task->plan_id, result.plan_id, "lineage");
        CHECK_EQ(task->schedule_instance_id, result.schedule_instance_id, "lineage");
        CHECK_STR(task->cursor_key, STR("works.updated"), "the endpoint's own");
    }
    REQUIRE_OK(store_cursor_list(store, contract_arena(), STR("demo"), &cursors, &err), err);
    REQUIRE(cursors.count == 1, "a cursor");
    CHECK_EQ(cursors.items[0].value.instant_us, at("2025-12-29"), "where coverage begins");
    CHECK_EQ(cursors.items[0].lineage.plan_id, result.plan_id, "by this plan");
    contract_end();
}

TEST(rows_agree_with_each_other_and_with_their_hashes)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct plan_slice_list slices;
    struct task_list tasks;
    struct plan_result result;
    struct plan plan;
    struct error err = { 0 };
    bool found;

    planning_apply(store, &BY_DAY);
    request.from = maybe("2025-12-30");
    result = planning_trigger(store, &request);
    REQUIRE_OK(store_plan_get(store, contract_arena(), result.plan_id, &plan, &found, &err), err);
    REQUIRE(found, "the plan");
    slices = planning_slices(store, result.plan_id);
    tasks = planning_tasks(store);
    REQUIRE(slices.count == 2 && tasks.count == 2, "two days");
    for (size_t i = 0; i < 2; i++) {
        const struct plan_slice *slice = &slices.items[i];
        struct hash_sum sum;
        char hex[HASH_HEX_MAX];

        CHECK_EQ(slice->number, (int64_t)i + 1, "numbered from one");
        CHECK_EQ(slice->status, SLICE_READY, "ready");
        REQUIRE_OK(hash_of(slice->expr_snapshot, &sum, &err), err);
        hash_hex(&sum, hex);
        CHECK_STR(slice->expr_hash, str_of(hex), "the hash of the expression");
        CHECK_STR(planning_value(slice->expr_snapshot, "proto"), plan.expr_proto_hash, "proto");
        CHECK_STR(planning_value(slice->spec, "dimension"), STR("TIME"), "dimension");
        CHECK_STR(planning_value(slice->spec, "window.watermarkKey"), STR("updated"), "key");
        CHECK_EQ(tasks.items[i].slice_id, slice->id, "one task per slice");
        CHECK_STR(tasks.items[i].expr_hash, slice->expr_hash, "the same expression");
    }
    CHECK_STR(planning_value(slices.items[0].expr_snapshot, "window.from"),
              STR("2025-12-30T00:00:00Z"), "what is asked for");
    CHECK_STR(planning_value(plan.expr_proto_snapshot, "source"), STR("demo"), "the snapshot");
    CHECK_STR(planning_value(plan.remarks, "sliceCount"), STR("2"), "remarks");
    CHECK_STR(planning_value(plan.remarks, "decision.from.rule"), STR("USER_FROM"), "the audit");
    CHECK_STR(planning_value(plan.remarks, "decision.inputs.now"), STR("2026-01-01T00:00:00Z"),
              "its inputs");
    contract_end();
}

/* ---- what is covered or under way ---- */

TEST(the_same_trigger_again_finds_everything_under_way)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct plan_result first, again;

    planning_apply(store, &BY_DAY);
    request.from = maybe("2025-12-01");
    first = planning_trigger(store, &request);
    CHECK_EQ(first.slices, 31, "December");
    for (int i = 0; i < 5; i++) {
        again = planning_trigger(store, &request);
        CHECK_EQ(again.slices, 0, "nothing left");
        CHECK_EQ(again.idle, PLAN_IDLE_COVERED, "and it says why");
        CHECK_EQ(again.status, PLAN_READY, "an empty plan is a plan");
    }
    CHECK_EQ(planning_tasks(store).count, 31, "each once");
    contract_end();
}

TEST(a_later_trigger_plans_what_has_come_since)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct plan_result result;
    struct task_list tasks;

    planning_apply(store, &BY_DAY);
    (void)planning_trigger(store, &request);
    request.now_us = NOW_US + 2 * US_PER_DAY + US_PER_HOUR;
    result = planning_trigger(store, &request);
    CHECK_EQ(result.slices, 2, "two days have passed");
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 3, "one and two");
    CHECK_EQ(tasks.items[0].window.to_us, tasks.items[1].window.from_us, "no gap");
    CHECK_EQ(tasks.items[2].window.to_us, NOW_US + 2 * US_PER_DAY, "to the calendar's boundary");
    contract_end();
}

TEST(an_empty_window_is_a_plan_with_a_reason)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct plan_result result;
    struct plan plan;
    struct error err = { 0 };
    bool found;

    planning_apply(store, &BY_DAY);
    request.from = maybe("2026-02-01");
    result = planning_trigger(store, &request);
    CHECK_EQ(result.slices, 0, "nothing");
    CHECK_EQ(result.idle, PLAN_IDLE_WINDOW, "the window");
    CHECK_EQ(result.decision.empty, WINDOW_EMPTY_FUTURE, "it has not come yet");
    REQUIRE_OK(store_plan_get(store, contract_arena(), result.plan_id, &plan, &found, &err), err);
    REQUIRE(found, "the plan");
    CHECK(!window_is_valid(plan.window), "no window");
    CHECK_STR(planning_value(plan.remarks, "decision.empty"), STR("FUTURE"), "in its remarks");
    contract_end();
}

/* ---- too much at once ---- */

TEST(a_full_queue_makes_the_plan_partial)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct plan_result result;
    struct plan plan;
    struct error err = { 0 };
    bool found;

    planning_apply(store, &(struct planning_source){
                              .window = BY_DAY.window,
                              .operations = "  harvest: { endpoint: works, queued_max: 10 }" });
    request.from = maybe("2025-12-01");
    result = planning_trigger(store, &request);
    CHECK_EQ(result.slices, 10, "as many as there is room for");
    CHECK_EQ(result.status, PLAN_PARTIAL, "not all");
    CHECK_EQ(result.stop, BUDGET_STOP_INVENTORY, "why");
    REQUIRE_OK(store_plan_get(store, contract_arena(), result.plan_id, &plan, &found, &err), err);
    CHECK_EQ(plan.status, PLAN_PARTIAL, "as stored");
    CHECK_STR(planning_value(plan.remarks, "budget.stop"), STR("INVENTORY"), "in its remarks");
    result = planning_trigger(store, &request);
    CHECK_EQ(result.slices, 0, "still full");
    CHECK_EQ(result.status, PLAN_PARTIAL, "and it waits");
    CHECK_EQ(result.idle, PLAN_IDLE_BUDGET, "why");
    contract_end();
}

TEST(tasks_fall_due_at_the_pace_of_the_rate)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct task_list tasks;

    planning_apply(store, &(struct planning_source){ .window = BY_DAY.window,
                                                     .top = "rate: { per_second: 1, burst: 5 }" });
    request.from = maybe("2025-12-01");
    (void)planning_trigger(store, &request);
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 31, "December");
    for (size_t i = 1; i < tasks.count; i++)
        CHECK(tasks.items[i].scheduled_us > tasks.items[i - 1].scheduled_us, "in their order");
    CHECK_EQ(tasks.items[5].scheduled_us, NOW_US + 5, "the burst is due at once");
    CHECK(tasks.items[6].scheduled_us > NOW_US + US_PER_SECOND / 2, "the rest is not");
    /* 25 requests after the burst, at 1.1 a second */
    CHECK_EQ(tasks.items[30].scheduled_us, NOW_US + 30 + 25 * US_PER_SECOND * 10 / 11, "the last");
    contract_end();
}

/* ---- campaigns ---- */

TEST(a_backfill_goes_from_the_newest_to_the_oldest_below_the_forward_watermark)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct cursor_list cursors;
    struct plan_result result;
    struct task_list tasks;
    struct error err = { 0 };

    planning_apply(store, &BY_DAY);
    request.from = maybe("2025-12-20");
    (void)planning_trigger(store, &request);
    request = planning_request("backfill");
    request.from = maybe("2025-12-15");
    result = planning_trigger(store, &request);
    CHECK_EQ(result.slices, 5, "up to where HARVEST began");
    CHECK_EQ(result.decision.to.rule, WINDOW_RULE_FORWARD, "that is its anchor");
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 12 + 5, "both");
    CHECK_EQ(tasks.items[12].window.from_us, at("2025-12-19"), "the newest first");
    CHECK_EQ(tasks.items[16].window.from_us, at("2025-12-15"), "the oldest last");
    CHECK_EQ(tasks.items[12].priority, 90, "BACKFILL's");
    CHECK_EQ(tasks.items[12].scope, NAMESPACE_CUSTOM, "a namespace of its own");
    REQUIRE_OK(store_cursor_list(store, contract_arena(), STR("demo"), &cursors, &err), err);
    REQUIRE(cursors.count == 2, "two cursors");
    for (size_t i = 0; i < 2; i++) {
        if (cursors.items[i].name.operation == OPERATION_HARVEST)
            CHECK_EQ(cursors.items[i].value.instant_us, at("2025-12-20"), "has not moved");
        else
            CHECK_EQ(cursors.items[i].value.instant_us, at("2025-12-15"), "the campaign's");
    }
    contract_end();
}

TEST(a_campaign_is_known_by_its_bounds_or_by_its_name)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("backfill");

    planning_apply(store, &BY_DAY);
    request.from = maybe("2025-11-01");
    request.to = maybe("2025-11-11");
    CHECK_EQ(planning_trigger(store, &request).slices, 10, "the first");
    CHECK_EQ(planning_trigger(store, &request).slices, 0, "the same");
    request.campaign = STR("again");
    CHECK_EQ(planning_trigger(store, &request).slices, 10, "another by name");
    request.from = maybe(NULL);
    request.to = maybe(NULL);
    CHECK_EQ(planning_trigger(store, &request).slices, 0, "the name is enough");
    CHECK_EQ(planning_tasks(store).count, 20, "two campaigns");
    contract_end();
}

/* Its first end is kept: HARVEST has moved on, and what it has fetched is its own. */
TEST(a_campaign_keeps_its_first_end)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("backfill");
    struct plan_result result;

    planning_apply(store, &BY_DAY);
    request.from = maybe("2025-12-29");
    CHECK_EQ(planning_trigger(store, &request).slices, 3, "up to now");
    request.now_us = NOW_US + 5 * US_PER_DAY;
    result = planning_trigger(store, &request);
    CHECK_EQ(result.slices, 0, "not up to the new now");
    CHECK_EQ(result.decision.window.to_us, NOW_US, "its end");
    CHECK_EQ(result.decision.to.rule, WINDOW_RULE_CAMPAIGN_TO, "and why");
    contract_end();
}

TEST(a_replay_needs_no_operation_and_touches_no_cursor)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("replay");
    struct cursor_list cursors;
    struct plan_result result;
    struct error err = { 0 };

    planning_apply(store, &BY_DAY);
    request.from = maybe("2025-12-01");
    request.to = maybe("2025-12-11");
    result = planning_trigger(store, &request);
    CHECK_EQ(result.slices, 10, "ten days");
    CHECK_EQ(planning_trigger(store, &request).slices, 0, "it is under way");
    REQUIRE_OK(store_cursor_list(store, contract_arena(), STR("demo"), &cursors, &err), err);
    CHECK_EQ(cursors.count, 0, "no cursor");
    contract_end();
}

/* ---- no plan ---- */

TEST(a_source_that_does_not_compile_makes_no_plan_and_every_fault_is_recorded)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct schedule_instance instance;
    struct plan_filter filter = { .limit = 10 };
    struct plan_list plans;
    struct plan_result result;
    struct error err = { 0 };
    bool found;

    /* max below min, an align longer than max, an endpoint that is not there, a lag on an id. */
    planning_apply(store,
                   &(struct planning_source){ .window = "align: day, max: 1h, min: 2h",
                                              .operations = "  harvest: { endpoint: works }\n"
                                                            "  backfill: { endpoint: nowhere }" });
    CHECK(!plan_trigger(store, contract_arena(), &request, &result, &err), "refused");
    CHECK_EQ(err.level, ERROR_REQUEST, "L2");
    CHECK_STR(str_of(err.code), STR("spec.invalid"), "the code");
    CHECK_EQ(result.plan_id, 0, "no plan");
    REQUIRE_OK(store_plan_list(store, contract_arena(), &filter, &plans, &err), err);
    CHECK_EQ(plans.count, 0, "none at all");
    CHECK_EQ(planning_tasks(store).count, 0, "no tasks");
    REQUIRE_OK(store_schedule_get(store, contract_arena(), result.schedule_instance_id, &instance,
                                  &found, &err),
               err);
    REQUIRE(found, "the trigger is recorded");
    for (size_t i = 0; i < 3; i++) {
        static const char *const CODES[] = { "spec.window.max-below-min", "spec.window.align",
                                             "spec.operation.unknown-endpoint" };

        CHECK(str_find(instance.remarks, str_of(CODES[i])) < instance.remarks.len, CODES[i]);
    }
    CHECK_STR(planning_value(instance.remarks, "error.code"), STR("spec.invalid"), "why");
    contract_end();
}

static const struct {
    const char *label, *operation, *path, *value, *code;
} refusals[] = {
    { "an operation that is not there", "havest", NULL, NULL, "source.operation" },
    { "an unknown setting", "harvest", "window.maximum", "1d", "spec.override" },
    { "a setting triggers may not change", "harvest", "http.base_url", "https://x.org",
      "spec.override" },
    { "two settings that contradict each other", "harvest", "window.max", "1h", "spec.invalid" },
    { "a page larger than the provider gives", "harvest", "page.size", "1001", "spec.invalid" },
};

TEST(a_request_that_can_not_be_met_is_refused_and_recorded)
{
    struct store *store = contract_store();

    planning_apply(store,
                   &(struct planning_source){ .window = BY_DAY.window, .page = "size_max: 1000" });
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        const struct override override = { str_of(refusals[i].path), str_of(refusals[i].value) };
        struct plan_request request = planning_request(refusals[i].operation);
        struct plan_result result;
        struct error err = { 0 };

        if (refusals[i].path != NULL)
            request.overrides = (struct override_list){ &override, 1 };
        CHECK(!plan_trigger(store, contract_arena(), &request, &result, &err), refusals[i].label);
        CHECK_STR(str_of(err.code), str_of(refusals[i].code), refusals[i].label);
        CHECK(result.schedule_instance_id > 0, refusals[i].label);
        CHECK_EQ(result.plan_id, 0, refusals[i].label);
    }
    contract_end();
}

TEST(an_unknown_source_leaves_no_row)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct plan_result result;
    struct error err = { 0 };

    CHECK(!plan_trigger(store, contract_arena(), &request, &result, &err), "refused");
    CHECK_STR(str_of(err.code), STR("source.unknown"), "the code");
    CHECK_EQ(result.schedule_instance_id, 0, "nothing is recorded");
    contract_end();
}

TEST(what_is_paused_or_disabled_is_not_planned)
{
    struct store *store = contract_store();
    struct pause pause = { .source = STR("demo"),
                           .endpoint = STR("work"),
                           .reason = STR("moved"),
                           .created_by = STR("ann"),
                           .created_us = NOW_US };
    struct plan_request request = planning_request("harvest");
    struct plan_result result;
    struct error err = { 0 };
    bool done;

    planning_apply(store, &BY_DAY);
    REQUIRE_OK(store_pause_add(store, &pause, &done, &err), err);
    CHECK_EQ(planning_trigger(store, &request).slices, 1, "another endpoint is paused");
    pause.endpoint = STR("");
    REQUIRE_OK(store_pause_add(store, &pause, &done, &err), err);
    CHECK(!plan_trigger(store, contract_arena(), &request, &result, &err), "the source is paused");
    CHECK_STR(str_of(err.code), STR("plan.paused"), "the code");
    CHECK(str_find(str_of(err.text), STR("patra resume demo")) < strlen(err.text), "what to do");
    REQUIRE_OK(store_pause_remove(store, STR("demo"), STR(""), PAUSE_PAUSED, &done, &err), err);
    planning_apply(store,
                   &(struct planning_source){ .window = BY_DAY.window, .top = "enabled: false" });
    CHECK(!plan_trigger(store, contract_arena(), &request, &result, &err), "it is disabled");
    CHECK_STR(str_of(err.code), STR("plan.disabled"), "the code");
    contract_end();
}

/* ---- overrides ---- */

TEST(a_trigger_overrides_settings_for_its_own_plan)
{
    struct store *store = contract_store();
    const struct override longer = { STR("window.max"), STR("7d") };
    struct plan_request request = planning_request("harvest");

    planning_apply(store, &BY_DAY);
    request.from = maybe("2025-12-04");
    request.overrides = (struct override_list){ &longer, 1 };
    CHECK_EQ(planning_trigger(store, &request).slices, 4, "four weeks");
    contract_end();
}

/* ---- ticks ---- */

TEST(a_tick_makes_one_plan_however_many_fire_it)
{
    struct store *store = contract_store();
    const struct plan_tick tick = { STR("one"), NOW_US };
    const struct plan_tick same = { STR("two"), NOW_US };
    struct plan_request request = planning_request("harvest");
    struct schedule_instance instance;
    struct plan_result result;
    struct error err = { 0 };
    bool found;

    planning_apply(store, &BY_DAY);
    request.trigger = TRIGGER_SCHEDULE;
    request.tick = &tick;
    result = planning_trigger(store, &request);
    CHECK(result.is_fired && result.plan_id > 0, "the first");
    REQUIRE_OK(store_schedule_get(store, contract_arena(), result.schedule_instance_id, &instance,
                                  &found, &err),
               err);
    REQUIRE(found, "its trigger");
    CHECK_STR(instance.job_id, STR("demo/harvest"), "the job is the schedule");
    CHECK_STR(instance.log_id, STR("2026-01-01T00:00:00Z"), "its run is the tick");
    request.tick = &same;
    result = planning_trigger(store, &request);
    CHECK(!result.is_fired, "the second learns that it did not fire");
    CHECK_EQ(result.schedule_instance_id, 0, "and leaves nothing");
    contract_end();
}

/* ---- a preview ---- */

struct counter {
    struct plan_viewer viewer;
    int64_t now, later;
    struct window hull;
};

static void count_shown(struct plan_viewer *viewer, const struct plan_shown *shown)
{
    struct counter *counter = (struct counter *)viewer;

    counter->now += shown->is_now;
    counter->later += !shown->is_now;
    if (counter->now + counter->later == 1)
        counter->hull = shown->slice->window;
    counter->hull.to_us = shown->slice->window.to_us;
}

TEST(a_preview_shows_what_a_trigger_does_and_writes_nothing)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct counter counter = { .viewer = { count_shown } };
    struct plan_filter filter = { .limit = 10 };
    struct plan_result shown, done;
    struct plan_list plans;
    struct error err = { 0 };

    planning_apply(store, &(struct planning_source){
                              .window = BY_DAY.window,
                              .operations = "  harvest: { endpoint: works, queued_max: 10 }" });
    request.from = maybe("2025-12-01");
    REQUIRE_OK(plan_preview(store, contract_arena(), &request, &counter.viewer, &shown, &err), err);
    CHECK_EQ(counter.now, 10, "those that have room");
    CHECK_EQ(counter.later, 21, "and the rest");
    CHECK_EQ(counter.hull.from_us, at("2025-12-01"), "from");
    CHECK_EQ(counter.hull.to_us, at("2026-01-01"), "to");
    REQUIRE_OK(store_plan_list(store, contract_arena(), &filter, &plans, &err), err);
    CHECK_EQ(plans.count, 0, "no plan");
    done = planning_trigger(store, &request);
    CHECK_EQ(done.slices, shown.slices, "the same slices");
    CHECK_EQ(done.status, shown.status, "the same status");
    contract_end();
}

/* ---- remarks ---- */

static const char TWO_LISTS[] =
    "source: demo\n"
    "http: { base_url: https://api.example.org }\n"
    "endpoints:\n"
    "  works:\n"
    "    role: search\n"
    "    path: /works\n"
    "    query: { since: \"${window.from}\", until: \"${window.to}\", offset: \"${page.offset}\","
    " rows: \"${page.size}\" }\n"
    "    page: { type: offset, size: 100 }\n"
    "    window: { key: updated }\n"
    "    response: { items: $.items, id: $.id, updated_at: $.updated, total: $.total }\n"
    "    fields: { title: $.title }\n"
    "  bare:\n"
    "    role: search\n"
    "    path: /bare\n"
    "    query: { since: \"${window.from}\", until: \"${window.to}\", offset: \"${page.offset}\","
    " rows: \"${page.size}\" }\n"
    "    page: { type: offset, size: 100 }\n"
    "    window: { key: updated }\n"
    "    response: { items: $.items, id: $.id }\n"
    "    fields: { title: $.title }\n"
    "operations:\n"
    "  harvest: { endpoint: works }\n"
    "  sweep: { operation: harvest, endpoint: bare }\n";

TEST(a_plan_has_no_remarks_about_other_endpoints)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("harvest");
    struct source_applied applied;
    struct plan_result result;
    struct fault_list faults;
    struct source source;
    struct error err = { 0 };

    fault_list_init(&faults, contract_arena());
    REQUIRE(source_read(contract_arena(), &(struct source_text){ .file = str_of(TWO_LISTS) },
                        &faults, &source),
            "the source");
    REQUIRE_OK(source_apply(store, contract_arena(), &source, NOW_US - 1, &applied, &err), err);
    result = planning_trigger(store, &request);
    CHECK_STR(planning_value(result.remarks, "degradation"), STR("[]"), "works lacks nothing");
    CHECK_STR(planning_value(result.remarks, "warnings"), STR("[]"), "nothing to warn of");
    request = planning_request("sweep");
    result = planning_trigger(store, &request);
    CHECK(str_find(result.remarks, STR("noCount")) < result.remarks.len, "bare has no total");
    CHECK(str_find(result.remarks, STR("changesByContentHash")) < result.remarks.len,
          "and no dates");
    contract_end();
}
