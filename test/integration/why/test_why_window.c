/* Where a record is missing up to its window: the source, plans, tasks. */
#include "engine/retire/retire.h"
#include "port/store_lease.h"
#include "port/store_pause.h"
#include "port/store_run.h"
#include "why_rig.h"

static void nothing(struct store *store)
{
    (void)store;
}

static void removed(struct store *store)
{
    struct retire_result result;
    struct error err = { 0 };

    REQUIRE_OK(retire_source(store, contract_arena(), STR("demo"), NOW_US - 1, &result, &err), err);
}

static void harvested(struct store *store)
{
    why_number = why_harvest(store);
    planning_end_all(store, TASK_SUCCEEDED);
}

static void other_query(struct store *store)
{
    why_plant_covered(store);
    planning_apply(store, &(struct planning_source){ .window = "align: day, max: 1d, lag: 1h",
                                                     .query = "      kind: article\n" });
}

static void budget_ended(struct store *store)
{
    planning_apply(store, &(struct planning_source){
                              .window = "align: day, max: 1d, lag: 1h",
                              .operations = "  harvest: { endpoint: works }\n"
                                            "  backfill: { endpoint: works, queued_max: 1 }\n"
                                            "  update: { endpoint: work }\n" });
    (void)planning_trigger(store, &(struct plan_request){ .source = STR("demo"),
                                                          .operation = STR("backfill"),
                                                          .now_us = NOW_US,
                                                          .trigger = TRIGGER_MANUAL,
                                                          .from = maybe("2025-12-01"),
                                                          .to = maybe("2025-12-03") });
    planning_end_all(store, TASK_SUCCEEDED);
}

static void by_pages(struct store *store, enum task_status status)
{
    planning_apply(store,
                   &(struct planning_source){
                       .window = "align: day, lag: 1h",
                       .page = "cap: 1000",
                       .operations =
                           "  harvest: { endpoint: works }\n"
                           "  backfill: { endpoint: works, slice: { by: page, pages: 5 } }\n" });
    (void)planning_trigger(store, &(struct plan_request){ .source = STR("demo"),
                                                          .operation = STR("backfill"),
                                                          .now_us = NOW_US,
                                                          .trigger = TRIGGER_MANUAL,
                                                          .from = maybe("2025-12-01"),
                                                          .to = maybe("2025-12-03") });
    if (status != TASK_QUEUED)
        planning_end_all(store, status);
}

static void pages_wait(struct store *store)
{
    by_pages(store, TASK_QUEUED);
}

static void pages_covered(struct store *store)
{
    by_pages(store, TASK_SUCCEEDED);
}

static void leased(struct store *store, int64_t until_us)
{
    const struct task_claim claim = {
        .owner = STR("w"), .now_us = INSTANT_MAX, .until_us = until_us, .limit = 2
    };
    struct task_list list;
    struct error err = { 0 };

    why_plant_backfill(store);
    REQUIRE_OK(store_task_claim(store, contract_arena(), &claim, &list, &err), err);
    REQUIRE(list.count == 2, "both days");
}

static void running(struct store *store)
{
    leased(store, WHY_LATE_US);
}

static void worker_died(struct store *store)
{
    leased(store, NOW_US - 1);
}

static void failed_harvest(struct store *store)
{
    why_number = why_harvest(store);
    planning_end(store, why_number, TASK_FAILED, NULL);
}

static void failed_backfill(struct store *store)
{
    why_plant_backfill(store);
    planning_end(store, why_number, TASK_FAILED, NULL);
}

static void cancelled(struct store *store)
{
    struct error err = { 0 };
    bool changed;

    why_number = why_harvest(store);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_task_cancel(store, &(struct task_cancel){ why_number, STR("not now"), NOW_US },
                                 &changed, &err),
               err);
    REQUIRE_OK(store_commit(store, &err), err);
}

static void cut_short(struct store *store)
{
    const struct window later = { at("2025-12-01T18:00:00Z"), at("2025-12-02") };

    why_plant_backfill(store);
    planning_end(store, why_number, TASK_PARTIAL, &later);
}

static void covered_in_part(struct store *store)
{
    const struct window early = { at("2025-12-01"), at("2025-12-01T18:00:00Z") };

    why_plant_backfill(store);
    planning_end(store, why_number, TASK_PARTIAL, &early);
}

static void dead_end(struct store *store)
{
    cut_short(store);
    why_sql("UPDATE ing_task SET partial_reason_code = 'DEAD_END', last_error = 'the same page'"
            " WHERE id = %lld",
            (long long)why_number);
}

static void resliced(struct store *store)
{
    struct error err = { 0 };
    struct task task;
    bool found, added;

    cut_short(store);
    REQUIRE_OK(store_task_get(store, contract_arena(), why_number, &task, &found, &err), err);
    REQUIRE_OK(store_reslice_add(store,
                                 &(struct reslice_ticket){ .task_id = why_number,
                                                           .slice_id = task.slice_id,
                                                           .reason = RESLICE_TOO_DEEP,
                                                           .remaining = task.window,
                                                           .detail = STR("{}"),
                                                           .created_us = NOW_US },
                                 &added, &err),
               err);
}

static void set_back(struct store *store)
{
    harvested(store);
    why_sql("UPDATE ing_task SET reset_at = created_at");
}

static void other_ids(struct store *store)
{
    why_plant_covered(store);
    why_sql("UPDATE ing_task SET ids_from = 100, ids_to = 200");
}

static void pause_demo(struct store *store, enum pause_kind kind)
{
    const struct pause pause = { .source = STR("demo"),
                                 .endpoint = STR(""),
                                 .kind = kind,
                                 .reason = STR("maintenance"),
                                 .created_by = STR("ada"),
                                 .created_us = NOW_US };
    struct error err = { 0 };
    bool added;

    REQUIRE_OK(store_pause_add(store, &pause, &added, &err), err);
}

static void paused(struct store *store)
{
    why_plant_backfill(store);
    pause_demo(store, PAUSE_PAUSED);
}

static void stopped(struct store *store)
{
    pause_demo(store, PAUSE_STOPPED);
}

/* ---- the table ---- */

#define BY_ID "echo w1 | patra update demo --ids -"
#define WORK "patra work --drain --source demo"
#define REPLAY "patra replay demo --from 2025-12-01T00:00:00Z --to 2025-12-02T00:00:00Z"
#define BACKFILL "patra backfill demo --from 2025-12-01T00:00:00Z --to 2025-12-02T00:00:00Z"

static const struct why_case CASES[] = {
    { "never fetched", nothing, NULL, "plan", "plan.never", "patra harvest demo" },
    { "out of force", removed, NULL, "source", "source.removed",
      "patra source apply sources/demo.yaml" },
    { "no plan at all", nothing, WHY_DATE, "plan", "plan.none", BACKFILL },
    { "before what was asked for", why_plant_covered, "2025-11-20", "plan", "plan.none",
      "patra backfill demo --from 2025-11-20T00:00:00Z --to 2025-11-21T00:00:00Z" },
    { "after the cursor", harvested, "2025-12-10", "plan", "plan.later", "patra harvest demo" },
    { "too new", harvested, "2200-01-01", "plan", "plan.lag", "patra harvest demo" },
    { "another query", other_query, WHY_DATE, "plan", "plan.former", BACKFILL },
    { "the planner stopped before it", budget_ended, WHY_DATE, "plan", "plan.partial",
      "patra backfill demo --from 2025-12-01T00:00:00Z --to 2025-12-03T00:00:00Z" },
    { "pages wait", pages_wait, WHY_DATE, "window", "window.waiting", WORK },
    { "pages are done", pages_covered, WHY_DATE, "request", "source.silent", REPLAY },
    { "queued", why_plant_backfill, WHY_DATE, "window", "window.waiting", WORK },
    { "queued, date not known", why_plant_backfill, NULL, "window", "window.waiting", WORK },
    { "running", running, WHY_DATE, "window", "window.running", "patra task show #" },
    { "its worker died", worker_died, WHY_DATE, "window", "window.waiting", WORK },
    { "a harvest failed", failed_harvest, WHY_DATE, "window", "window.failed",
      "patra harvest demo" },
    { "a backfill failed", failed_backfill, WHY_DATE, "window", "window.failed", REPLAY },
    { "cancelled", cancelled, WHY_DATE, "window", "window.cancelled", "patra harvest demo" },
    { "cut short", cut_short, WHY_DATE, "window", "window.partial", REPLAY },
    { "cut short after it", covered_in_part, WHY_DATE, "request", "source.silent", BY_ID },
    { "dead end", dead_end, WHY_DATE, "window", "window.held", REPLAY },
    { "to be re-sliced", resliced, WHY_DATE, "window", "window.resliced", WORK },
    { "cursor set back", set_back, WHY_DATE, "window", "window.reset", "patra harvest demo" },
    { "other ids of the day", other_ids, WHY_DATE, "plan", "plan.none", BACKFILL },
    { "not listed", why_plant_covered, WHY_DATE, "request", "source.silent", BY_ID },
    { "not listed, date not known", why_plant_covered, NULL, "request", "source.silent", BY_ID },
    { "paused", paused, WHY_DATE, "source", "source.paused", "patra resume demo" },
    { "stopped", stopped, NULL, "source", "source.stopped", "patra resume demo" },
};

TEST(a_window_is_named_with_the_command_that_fetches_it)
{
    why_check("demo", WHY_ID, CASES, ARRAY_LEN(CASES));
}
