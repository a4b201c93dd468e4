/* Who was to fetch the record: the windows and plans that hold its date. Without a date, what of
 * the whole source is missing. */
#include "port/store_cursor.h"
#include "port/store_expr.h"
#include "view/why_internal.h"

/* What ended longer ago than this has been planned again, or status shows it. */
#define REST_SINCE_US (7 * INT64_C(86400000000))
enum { REST_MAX = 100, PLANS_MAX = 100 };

/* ---- what a task does for the record ---- */

/* A task that has only some ids of its window says nothing about others. */
static bool has_id(const struct task *task, struct str provider_id)
{
    int64_t id;

    return !id_range_is_valid(task->ids) ||
           (str_to_i64(provider_id, &id) && id_range_has(task->ids, id));
}

static enum why_cover cover_of(const struct task *task, int64_t date_us)
{
    const struct window instant = { date_us, date_us + 1 };

    switch (task->status) {
    case TASK_QUEUED:
    case TASK_DISPATCHED:
    case TASK_EXECUTING:
        return WHY_LIVE;
    case TASK_SUCCEEDED:
        return task->is_reset ? WHY_LOST : WHY_COVERED;
    case TASK_PARTIAL:
        return !task->is_reset && window_contains(task->covered, instant) ? WHY_COVERED : WHY_LOST;
    case TASK_FAILED:
    case TASK_CANCELLED:
        break;
    }
    return WHY_LOST;
}

/* Whether another query than those in force asked. One that nobody has written down is in force. */
static bool is_former(const struct view_reader *reader, const struct view_why *why,
                      struct str expr_hash, bool *is, struct error *err)
{
    struct expr expr;
    bool found;

    *is = false;
    if (!store_expr_get(reader->store, reader->arena, expr_hash, &expr, &found, err))
        return false;
    for (size_t i = 0; found && i < why->source.operation_count; i++) {
        const struct str hash = why->source.operations[i].query_hash;

        if (hash.len == 0 || str_eq(hash, expr.query_hash))
            return true;
    }
    *is = found;
    return true;
}

/* ---- those that hold the date ---- */

/* A task's window is in that of its plan. */
static struct str expr_of(const struct trace_plan_list *plans, int64_t plan_id)
{
    for (size_t i = 0; i < plans->count; i++) {
        if (plans->items[i].id == plan_id)
            return plans->items[i].expr_hash;
    }
    return STR("");
}

static bool add_windows(const struct view_reader *reader, struct view_why *why,
                        const struct ended_task_list *tasks, const struct trace_plan_list *plans,
                        struct error *err)
{
    for (size_t i = 0; i < tasks->count; i++) {
        struct why_window *window;

        if (!has_id(&tasks->items[i].task, why->key.provider_id))
            continue;
        window = LIST_ADD(reader->arena, &why->windows);
        if (window == NULL)
            return arena_error(reader->arena, err);
        window->ended = tasks->items[i];
        window->cover = cover_of(&window->ended.task, why->date_us);
        if (!is_former(reader, why, expr_of(plans, window->ended.task.plan_id), &window->is_former,
                       err))
            return false;
    }
    return true;
}

static bool has_window_of(const struct view_why *why, int64_t plan_id)
{
    for (size_t i = 0; i < why->windows.count; i++) {
        if (why->windows.items[i].ended.task.plan_id == plan_id)
            return true;
    }
    return false;
}

/* All tasks of a plan by pages together cover its window. Other plans that have no task for the
 * date found it covered, or were stopped before they came to it: these are PARTIAL. */
static bool is_telling(const struct trace_plan *plan)
{
    return plan->is_by_pages || plan->status == PLAN_PARTIAL;
}

static bool plan_cover(const struct view_reader *reader, const struct trace_plan *plan,
                       enum why_cover *cover, struct error *err)
{
    struct plan_progress progress;
    const int64_t *tasks = progress.tasks;

    *cover = WHY_LOST;
    if (!plan->is_by_pages)
        return true;
    if (!store_plan_progress(reader->store, plan->id, &progress, err))
        return false;
    if (tasks[TASK_QUEUED] + tasks[TASK_DISPATCHED] + tasks[TASK_EXECUTING] > 0)
        *cover = WHY_LIVE;
    else if (plan->status != PLAN_PARTIAL && tasks[TASK_SUCCEEDED] == progress.slices)
        *cover = WHY_COVERED;
    return true;
}

static bool add_plans(const struct view_reader *reader, struct view_why *why,
                      const struct trace_plan_list *plans, struct error *err)
{
    for (size_t i = 0; i < plans->count && why->plans.count < WHY_ROWS_MAX; i++) {
        struct why_plan *plan;

        if (!is_telling(&plans->items[i]) || has_window_of(why, plans->items[i].id))
            continue;
        plan = LIST_ADD(reader->arena, &why->plans);
        if (plan == NULL)
            return arena_error(reader->arena, err);
        plan->plan = plans->items[i];
        if (!plan_cover(reader, &plan->plan, &plan->cover, err) ||
            !is_former(reader, why, plan->plan.expr_hash, &plan->is_former, err))
            return false;
    }
    return true;
}

/* The same endpoint may be requested by several operations. */
static bool is_repeated(const struct view_why *why, size_t at)
{
    const struct why_operation *operations = why->source.operations;

    for (size_t i = 0; i < at; i++) {
        if (str_eq(operations[i].endpoint, operations[at].endpoint))
            return true;
    }
    return false;
}

static bool read_dated(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    for (size_t i = 0; i < why->source.operation_count; i++) {
        struct trace_instant query = { .source = why->key.source,
                                       .endpoint = why->source.operations[i].endpoint,
                                       .at_us = why->date_us,
                                       .limit = PLANS_MAX };
        struct ended_task_list tasks;
        struct trace_plan_list plans;

        if (is_repeated(why, i))
            continue;
        if (!store_trace_plans(reader->store, reader->arena, &query, &plans, err))
            return false;
        query.limit = WHY_ROWS_MAX;
        if (!store_trace_windows(reader->store, reader->arena, &query, &tasks, err) ||
            !add_windows(reader, why, &tasks, &plans, err) || !add_plans(reader, why, &plans, err))
            return false;
        why->windows_are_full |= tasks.count == WHY_ROWS_MAX;
    }
    return true;
}

/* ---- the whole source ---- */

static bool read_rest(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    const struct trouble_filter filter = { .source = why->key.source,
                                           .since_us = reader->now_us - REST_SINCE_US,
                                           .with_held = true,
                                           .limit = REST_MAX };

    for (size_t i = 0; i < why->source.operation_count; i++) {
        const struct why_operation *operation = &why->source.operations[i];
        const struct task_partition partition = { why->key.source, operation->endpoint,
                                                  operation->operation };
        bool is_planned;
        int64_t queued;

        if (operation->is_by_id)
            continue;
        if (!store_trace_planned(reader->store, why->key.source, operation->endpoint, &is_planned,
                                 err) ||
            !store_task_queued(reader->store, &partition, &queued, err))
            return false;
        why->rest.has_plans |= is_planned;
        why->rest.queued += queued;
    }
    return !why->rest.has_plans ||
           trouble_list(reader->store, reader->arena, &filter, &why->rest.troubles, err);
}

static bool read_cursor(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    struct cursor_list cursors;

    if (!store_cursor_list(reader->store, reader->arena, why->key.source, &cursors, err))
        return false;
    for (size_t i = 0; i < cursors.count; i++) {
        const struct cursor *cursor = &cursors.items[i];

        if (cursor->name.operation != OPERATION_HARVEST || cursor->value.type != CURSOR_TIME)
            continue;
        if (!why->has_cursor || cursor->value.instant_us > why->cursor_us)
            why->cursor_us = cursor->value.instant_us;
        why->has_cursor = true;
    }
    return true;
}

bool why_windows_read(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    if (!why->source.is_in_force)
        return true;
    if (why->has_date && !read_dated(reader, why, err))
        return false;
    return why->has_record || (read_cursor(reader, why, err) && read_rest(reader, why, err));
}
