/* Plans and tasks as views, read from a store. */
#include "port/store_run.h"
#include "view/plan.h"
#include "view/task.h"
#include "view_rig.h"

TEST(plans_are_listed_newest_first_with_the_state_of_their_tasks)
{
    struct store *store = view_rig_store();
    const struct view_reader reader = view_rig(store);
    const struct plan_result first = view_rig_harvest(store), second = view_rig_harvest(store);
    struct plan_filter filter = { .source = STR("demo"), .limit = 2 };
    struct view_rig_json json;
    struct view_plan_list list;
    struct error err = { 0 };
    struct str text;

    REQUIRE_OK(view_plan_list(&reader, &filter, &list, &err), err);
    REQUIRE(list.count == 2, "both");
    CHECK_EQ(list.items[0].plan.id, second.plan_id, "the newest first");
    CHECK_EQ(list.items[1].progress.tasks[TASK_QUEUED], 3, "the tasks of the first");
    CHECK(list.is_full, "there may be more");
    view_plan_list_write(view_rig_begin(&json), &list);
    text = view_rig_end(&json);
    CHECK(view_rig_has(text, "\"sliceCount\":3,\"tasks\":{\"QUEUED\":3,"), "as JSON");
    filter.before_id = second.plan_id;
    REQUIRE_OK(view_plan_list(&reader, &filter, &list, &err), err);
    REQUIRE(list.count == 1, "the next page");
    CHECK_EQ(list.items[0].plan.id, first.plan_id, "the next page");
    CHECK(!list.is_full, "the last page");
    contract_end();
}

TEST(a_source_that_does_not_exist_is_refused_and_one_without_plans_is_not)
{
    struct store *store = view_rig_store();
    const struct view_reader reader = view_rig(store);
    struct plan_filter filter = { .source = STR("demo"), .limit = 2 };
    struct view_plan_list list;
    struct error err = { 0 };

    REQUIRE_OK(view_plan_list(&reader, &filter, &list, &err), err);
    CHECK_EQ(list.count, 0, "none yet");
    filter.source = STR("dmeo");
    CHECK(!view_plan_list(&reader, &filter, &list, &err), "misspelled");
    CHECK_STR(str_of(err.code), STR("source.unknown"), "code");
    contract_end();
}

TEST(a_plan_has_its_slices_by_page_and_says_why_it_is_empty)
{
    struct store *store = view_rig_store();
    const struct view_reader reader = view_rig(store);
    const struct plan_result first = view_rig_harvest(store), second = view_rig_harvest(store);
    struct view_plan_filter filter = { .id = first.plan_id, .slices_max = 2 };
    struct view_rig_json json;
    struct view_plan view;
    struct error err = { 0 };

    REQUIRE_OK(view_plan(&reader, &filter, &view, &err), err);
    CHECK_EQ(view.slices.count, 2, "a page");
    CHECK_EQ(view.progress.slices, 3, "of three");
    CHECK(!view.slices.has_ids, "each has all of its window");
    CHECK_EQ(view.remarks.idle.len, 0, "it is not empty");
    filter.after_number = view.slices.items[1].slice.number;
    REQUIRE_OK(view_plan(&reader, &filter, &view, &err), err);
    REQUIRE(view.slices.count == 1, "the next page");
    CHECK_EQ(view.slices.items[0].slice.window.to_us, at("2025-01-04"), "the last day");
    view_plan_write(view_rig_begin(&json), &view);
    CHECK(view_rig_has(
              view_rig_end(&json),
              "\"number\":3,\"status\":\"READY\",\"window\":{\"from\":\"2025-01-03T00:00:00Z\","
              "\"to\":\"2025-01-04T00:00:00Z\"}"),
          "as JSON");
    filter = (struct view_plan_filter){ .id = second.plan_id, .slices_max = 2 };
    REQUIRE_OK(view_plan(&reader, &filter, &view, &err), err);
    CHECK_STR(view.remarks.idle, STR("COVERED"), "all of it is under way");
    filter.id = 99;
    CHECK(!view_plan(&reader, &filter, &view, &err), "no such plan");
    CHECK_STR(str_of(err.code), STR("plan.id"), "code");
    contract_end();
}

static struct run add_run(struct store *store, const struct task *task, const char *stats)
{
    struct run run = { .task_id = task->id,
                       .source = task->source,
                       .operation = task->operation,
                       .lease_owner = STR("me"),
                       .lease_epoch = 1,
                       .status = RUN_RUNNING,
                       .window = task->window,
                       .stats = str_of(stats),
                       .started_us = NOW_US };
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_run_add(store, &run, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    return run;
}

static void add_batch(struct store *store, const struct run *run, const struct task *task,
                      int64_t number)
{
    const struct batch batch = {
        .run_id = run->id,
        .task_id = task->id,
        .slice_id = task->slice_id,
        .plan_id = task->plan_id,
        .number = number,
        .has_page = true,
        .page_no = number,
        .page_size = 100,
        .expr_hash = STR("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"),
        .idempotent_key =
            arena_printf(contract_arena(), "%lld-%lld", (long long)run->id, (long long)number),
        .status = BATCH_SUCCEEDED,
        .request_digest = STR("{\"url\":\"https://api.example.org/works\"}"),
        .response_digest = STR("{\"status\":200}"),
        .stats = STR("{}"),
        .created_us = NOW_US + number,
    };
    struct error err = { 0 };
    struct batch_added added;

    REQUIRE_OK(store_batch_add(store, contract_arena(), &batch, &added, &err), err);
    REQUIRE(added.is_new, "a new batch");
}

TEST(tasks_are_listed_page_by_page)
{
    struct store *store = view_rig_store();
    const struct view_reader reader = view_rig(store);
    struct task_filter filter = { .plan_id = view_rig_harvest(store).plan_id, .limit = 2 };
    struct view_rig_json json;
    struct view_task_list list;
    struct error err = { 0 };

    REQUIRE_OK(view_task_list(&reader, &filter, &list, &err), err);
    CHECK_EQ(list.count, 2, "a page");
    CHECK(list.is_full, "there may be more");
    filter.after_id = list.items[1].id;
    REQUIRE_OK(view_task_list(&reader, &filter, &list, &err), err);
    CHECK_EQ(list.count, 1, "the rest");
    CHECK(!list.is_full, "the last page");
    view_task_list_write(view_rig_begin(&json), &list);
    CHECK(view_rig_has(view_rig_end(&json), "\"status\":\"QUEUED\",\"window\":{\"from\":"),
          "as JSON");
    filter = (struct task_filter){ .plan_id = 99, .limit = 2 };
    CHECK(!view_task_list(&reader, &filter, &list, &err), "no such plan");
    CHECK_STR(str_of(err.code), STR("plan.id"), "code");
    contract_end();
}

TEST(a_task_has_its_runs_and_the_batches_of_the_last)
{
    struct store *store = view_rig_store();
    const struct view_reader reader = view_rig(store);
    struct view_task_filter filter = { .batches_max = 1 };
    struct view_rig_json json;
    struct view_task view;
    struct error err = { 0 };
    struct task task;
    struct run last;
    struct str text;

    (void)view_rig_harvest(store);
    task = planning_tasks(store).items[0];
    add_batch(store, &(struct run){ .id = add_run(store, &task, "{}").id }, &task, 1);
    last = add_run(store, &task, "{\"reqCount\":7,\"retryCount\":0,\"retCount\":512}");
    add_batch(store, &last, &task, 1);
    add_batch(store, &last, &task, 2);
    filter.id = task.id;
    REQUIRE_OK(view_task(&reader, &filter, &view, &err), err);
    REQUIRE(view.runs.count == 2 && view.batches.count == 1, "two runs, one batch of the last");
    CHECK_EQ(view.runs.items[0].numbers.requests, -1, "its stats do not say");
    CHECK_EQ(view.runs.items[1].numbers.records, 512, "from its stats");
    CHECK_EQ(view.batches.items[0].run_id, last.id, "of the last");
    CHECK(view.batches.is_full, "there may be more");
    view_task_write(view_rig_begin(&json), &view);
    text = view_rig_end(&json);
    CHECK(view_rig_has(text, "\"runs\":[{\"id\":") && view_rig_has(text, "\"attempt\":2,"), "runs");
    CHECK(view_rig_has(text, "\"request\":{\"url\":\"https://api.example.org/works\"},"
                             "\"response\":{\"status\":200}"),
          "batches");
    filter.id = 99;
    CHECK(!view_task(&reader, &filter, &view, &err), "no such task");
    CHECK_STR(str_of(err.code), STR("task.unknown"), "code");
    contract_end();
}
