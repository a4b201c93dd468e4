/* Plans, tasks and cursors for the tests of cursors. */
#include "cursoring.h"

#include "data/json.h"
#include "engine/cursor/cursor_event.h"
#include "engine/cursor/cursor_verify.h"

enum { LIST_MAX = 100000 };

/* ---- rows ---- */

struct cursor_name cursoring_name(const struct plan *plan)
{
    const struct coverage_namespace of = plan_namespace(plan);

    return cursor_name_of(&of);
}

static void start_cursor(struct store *store, const struct plan *plan)
{
    const struct cursor cursor = { .name = cursoring_name(plan) };
    const struct cursor_move move = { .to = { .type = CURSOR_TIME, .instant_us = HOUR(0) },
                                      .lineage = { .plan_id = plan->id },
                                      .expr_hash = plan->expr_proto_hash,
                                      .now_us = NOW_US };
    struct cursor_event event = { .reason = CURSOR_EVENT_ADVANCE,
                                  .next = move.to,
                                  .window = plan->window,
                                  .lineage = move.lineage,
                                  .expr_hash = move.expr_hash,
                                  .remarks = STR("{}"),
                                  .created_us = NOW_US };
    struct error err = { 0 };
    bool moved;

    REQUIRE_OK(cursor_event_record(store, contract_arena(), &cursor, &event, &err), err);
    REQUIRE_OK(store_cursor_move(store, &cursor, &move, &moved, &err), err);
    REQUIRE(moved, "the cursor starts");
}

static int64_t last_task(struct store *store)
{
    struct task_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_task_list(store, contract_arena(), &(struct task_filter){ .limit = LIST_MAX },
                               &list, &err),
               err);
    return list.count > 0 ? list.items[list.count - 1].id : 0;
}

void cursoring_add(struct store *store, const struct plan *plan, int64_t first, int64_t count)
{
    int64_t serial = last_task(store); /* keys must differ, and be the same in the same history */
    struct plan_slice *slices = ARENA_ARRAY(contract_arena(), struct plan_slice, (size_t)count);
    struct task *tasks = ARENA_ARRAY(contract_arena(), struct task, (size_t)count);
    int64_t *ids = ARENA_ARRAY(contract_arena(), int64_t, (size_t)count);
    struct error err = { 0 };
    int64_t added = 0;

    REQUIRE(slices != NULL && tasks != NULL && ids != NULL, "memory");
    for (int64_t i = 0; i < count; i++) {
        slices[i] = rows_slice(plan->id, ++serial);
        slices[i].window = (struct window){ HOUR(first + i), HOUR(first + i + 1) };
    }
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_slice_add(store, slices, (size_t)count, ids, &added, &err), err);
    for (int64_t i = 0; i < count; i++) {
        tasks[i] = rows_task(plan, ids[i], serial - count + i + 1);
        tasks[i].window = slices[i].window;
    }
    REQUIRE_OK(store_task_add(store, tasks, (size_t)count, &added, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(added, count, "all tasks are new");
}

struct plan cursoring_like(enum operation operation)
{
    struct plan plan = rows_plan(0);

    plan.operation = operation;
    plan.cursor_key = operation == OPERATION_UPDATE || operation == OPERATION_METRICS
                          ? STR("works.refresh_checked_at")
                          : STR("works.indexed");
    if (operation != OPERATION_HARVEST) {
        plan.scope = NAMESPACE_CUSTOM;
        plan.namespace_key = STR(HASH_B);
    }
    return plan;
}

struct plan cursoring_plan(struct store *store, const struct plan *like, int64_t hours)
{
    const struct schedule_instance schedule = rows_schedule();
    struct error err = { 0 };
    struct plan plan;
    int64_t id = 0;

    REQUIRE_OK(store_schedule_add(store, &schedule, &id, &err), err);
    plan = like != NULL ? *like : cursoring_like(OPERATION_HARVEST);
    plan.schedule_instance_id = id;
    plan.window = (struct window){ HOUR(0), HOUR(hours) };
    REQUIRE_OK(store_plan_add(store, &plan, &plan.id, &err), err);
    start_cursor(store, &plan);
    cursoring_add(store, &plan, 0, hours);
    return plan;
}

/* ---- ending tasks ---- */

static bool is_meant(const struct task *task, const struct plan *plan, int64_t hour)
{
    return task->operation == plan->operation && str_eq(task->cursor_key, plan->cursor_key) &&
           str_eq(task->namespace_key, plan->namespace_key) && task->window.from_us == HOUR(hour);
}

static void end(struct store *store, const struct task *task, enum task_status status,
                struct window covered)
{
    const struct task_end end = { .lease = { task->id, task->lease_epoch },
                                  .status = status,
                                  .has_reason = status == TASK_PARTIAL,
                                  .reason = PARTIAL_CUT_SHORT,
                                  .covered = covered,
                                  .now_us = NOW_US };
    struct error err = { 0 };
    bool held;

    REQUIRE_OK(store_lease_start(store, end.lease, NOW_US, &held, &err), err);
    REQUIRE_OK(store_lease_finish(store, &end, &held, &err), err);
    REQUIRE(held, "the lease");
}

static void end_with(struct store *store, const struct plan *plan, int64_t hour,
                     enum task_status status, struct window covered)
{
    const struct task_claim claim = {
        .owner = STR("test"), .now_us = INSTANT_MAX, .until_us = INSTANT_MAX, .limit = LIST_MAX
    };
    struct task_list list;
    struct error err = { 0 };
    bool held, is_found = false;

    REQUIRE_OK(store_task_claim(store, contract_arena(), &claim, &list, &err), err);
    for (size_t i = 0; i < list.count; i++) {
        const struct task *task = &list.items[i];

        if (!is_found && is_meant(task, plan, hour)) {
            end(store, task, status, covered);
            is_found = true;
            continue;
        }
        REQUIRE_OK(store_lease_release(store,
                                       &(struct lease_release){
                                           .lease = (struct lease){ task->id, task->lease_epoch },
                                           .scheduled_us = task->scheduled_us,
                                           .reason = STR(""),
                                           .now_us = NOW_US },
                                       &held, &err),
                   err);
    }
    REQUIRE(is_found, "a task of this hour that is live");
}

void cursoring_end(struct store *store, const struct plan *plan, int64_t hour,
                   enum task_status status)
{
    end_with(store, plan, hour, status, (struct window){ 0 });
}

void cursoring_end_part(struct store *store, const struct plan *plan, int64_t hour,
                        struct window covered)
{
    end_with(store, plan, hour, TASK_PARTIAL, covered);
}

/* ---- cursors ---- */

struct cursor_advance_request cursoring_request(const struct plan *plan)
{
    return (struct cursor_advance_request){ .of = plan_namespace(plan),
                                            .dimension = SLICE_TIME,
                                            .lineage = { 1, plan->id, 3, 4, 5, 0 },
                                            .expr_hash = STR(HASH_B),
                                            .now_us = NOW_US };
}

struct cursor_advance_result cursoring_advance(struct store *store, const struct plan *plan)
{
    const struct cursor_advance_request request = cursoring_request(plan);
    struct cursor_advance_result result;
    struct error err = { 0 };

    REQUIRE_OK(cursor_advance(store, contract_arena(), &request, &result, &err), err);
    return result;
}

struct cursor cursoring_cursor(struct store *store, const struct plan *plan)
{
    const struct cursor_name name = cursoring_name(plan);
    struct cursor cursor;
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_cursor_load(store, contract_arena(), &name, &cursor, &found, &err), err);
    REQUIRE(found, "the cursor");
    return cursor;
}

struct cursor_event_list cursoring_events(struct store *store, const struct plan *plan)
{
    const struct cursor_name name = cursoring_name(plan);
    struct cursor_event_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_cursor_event_list(store, contract_arena(), &name,
                                       (struct store_page){ .limit = LIST_MAX }, &list, &err),
               err);
    return list;
}

struct str cursoring_remark(const struct cursor_event *event, const char *name)
{
    struct json_doc doc;
    struct json_node node;
    struct error err = { 0 };

    REQUIRE_OK(json_parse(&doc, contract_arena(), event->remarks, &err), err);
    node = json_get(&doc, json_root(&doc), str_of(name));
    if (!json_exists(node))
        return STR("");
    return json_type(&doc, node) == JSON_STRING ? json_string_raw(&doc, node)
                                                : json_raw(&doc, node);
}

void cursoring_check_replay(struct store *store, const struct plan *plan, const char *label)
{
    const struct cursor_name name = cursoring_name(plan);
    struct cursor_check_list list;
    struct error err = { 0 };
    bool is_found = false;

    REQUIRE_OK(cursor_verify(store, contract_arena(), plan->source, &list, &err), err);
    for (size_t i = 0; i < list.count; i++) {
        CHECK(list.items[i].agrees, label);
        CHECK_EQ(list.items[i].gaps, 0, label);
        is_found |= list.items[i].name.operation == name.operation;
    }
    CHECK(is_found, label);
}
