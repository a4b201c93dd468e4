/* What is covered, joined from rows of the store. */
#include "engine/coverage/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "core/coverage.h"

enum { PLANS_PER_PAGE = 50, ROWS_PER_PAGE = 500 };

struct id_list {
    int64_t *items;
    size_t count;
};

/* ---- by pages ---- */

static bool is_of(const struct plan *plan, const struct coverage_namespace *of)
{
    return str_eq(plan->endpoint, of->endpoint) && str_eq(plan->cursor_key, of->cursor_key) &&
           plan->scope == of->scope && str_eq(plan->namespace_key, of->namespace_key);
}

/* The slices that were re-sliced: what they did not finish belongs to their children. */
static bool list_parents(struct store *store, struct arena *arena, int64_t plan_id,
                         struct id_list *parents, struct error *err)
{
    struct store_page page = { .limit = ROWS_PER_PAGE };
    struct plan_slice_list slices;

    *parents = (struct id_list){ 0 };
    do {
        if (!store_slice_list(store, arena, plan_id, page, &slices, err))
            return false;
        for (size_t i = 0; i < slices.count; i++) {
            int64_t *id;

            page.after = slices.items[i].number;
            if (slices.items[i].parent_id == 0)
                continue;
            id = LIST_ADD(arena, parents);
            if (id == NULL)
                return arena_error(arena, err);
            *id = slices.items[i].parent_id;
        }
    } while (slices.count == ROWS_PER_PAGE);
    return true;
}

static bool is_done(const struct task *task, const struct id_list *parents)
{
    if (task->is_reset)
        return false;
    if (task->status == TASK_SUCCEEDED)
        return true;
    for (size_t i = 0; task->status == TASK_PARTIAL && i < parents->count; i++) {
        if (parents->items[i] == task->slice_id)
            return true;
    }
    return false;
}

static bool count_done(struct store *store, struct arena *arena, int64_t plan_id,
                       const struct id_list *parents, int64_t *done, struct error *err)
{
    struct task_filter filter = { .plan_id = plan_id, .limit = ROWS_PER_PAGE };
    struct task_list tasks;

    *done = 0;
    do {
        if (!store_task_list(store, arena, &filter, &tasks, err))
            return false;
        for (size_t i = 0; i < tasks.count; i++) {
            *done += is_done(&tasks.items[i], parents);
            filter.after_id = tasks.items[i].id;
        }
    } while (tasks.count == ROWS_PER_PAGE);
    return true;
}

static bool is_covered(struct store *store, struct arena *arena, const struct plan *plan,
                       const struct plan_progress *progress, bool *covered, struct error *err)
{
    struct id_list parents;
    int64_t done;

    *covered = false;
    if (plan->status != PLAN_READY || progress->slices == 0)
        return true;
    if (!list_parents(store, arena, plan->id, &parents, err) ||
        !count_done(store, arena, plan->id, &parents, &done, err))
        return false;
    *covered = done == progress->slices;
    return true;
}

static bool add_plan(struct store *store, struct arena *arena, const struct plan *plan,
                     struct coverage_list *list, struct error *err)
{
    struct plan_progress progress;
    struct window *window;
    bool is_live, covered = false;

    if (!store_plan_progress(store, plan->id, &progress, err))
        return false;
    is_live = progress.tasks[TASK_QUEUED] + progress.tasks[TASK_DISPATCHED] +
                  progress.tasks[TASK_EXECUTING] >
              0;
    if (!is_live && !is_covered(store, arena, plan, &progress, &covered, err))
        return false;
    if (!is_live && !covered)
        return true;
    window = LIST_ADD(arena, is_live ? &list->live : &list->covered);
    if (window == NULL)
        return arena_error(arena, err);
    *window = plan->window;
    return true;
}

static bool by_pages(struct store *store, struct arena *arena, const struct coverage_query *query,
                     struct coverage_list *list, struct error *err)
{
    const struct coverage_namespace *of = &query->of;
    struct plan_filter filter = { .source = of->source,
                                  .has_operation = true,
                                  .operation = of->operation,
                                  .limit = PLANS_PER_PAGE };
    struct plan_list plans;

    *list = (struct coverage_list){ 0 };
    do {
        if (!store_plan_list(store, arena, &filter, &plans, err))
            return false;
        for (size_t i = 0; i < plans.count; i++) {
            const struct plan *plan = &plans.items[i];

            filter.before_id = plan->id;
            if (is_of(plan, of) && plan->window.to_us > query->after_us &&
                !add_plan(store, arena, plan, list, err))
                return false;
        }
    } while (plans.count == PLANS_PER_PAGE);
    /* A plan by pages looks back as a whole: it has finished its lookback, or none of it. */
    list->settled = list->covered;
    return true;
}

/* ---- by ids ---- */

bool coverage_join(struct arena *arena, struct coverage_list *list, struct error *err)
{
    const size_t before = list->covered.count;

    id_parts_sort(list->parts.covered);
    id_parts_sort(list->parts.settled);
    id_parts_sort(list->parts.live);
    id_parts_sort(list->parts.lost);
    if (!id_parts_whole(arena, list->parts.covered, &list->covered, err) ||
        !id_parts_whole(arena, list->parts.settled, &list->settled, err))
        return false;
    list->joined = list->covered.count - before;
    for (size_t i = 0; i < list->parts.live.count; i++) {
        struct window *window = LIST_ADD(arena, &list->live);

        if (window == NULL)
            return arena_error(arena, err);
        *window = list->parts.live.items[i].window;
    }
    return true;
}

static bool holds_ids(struct arena *arena, const struct coverage_list *list, struct id_part part,
                      bool *holds, struct error *err)
{
    const struct id_part_list states[] = { list->parts.covered, list->parts.live };
    struct id_part_list held = { 0 };
    struct id_range_list missing;

    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        for (size_t k = 0; k < states[i].count; k++) {
            struct id_part *slot = LIST_ADD(arena, &held);

            if (slot == NULL)
                return arena_error(arena, err);
            *slot = states[i].items[k];
        }
    }
    id_parts_sort(held);
    if (!id_parts_missing(arena, held, part, &missing, err))
        return false;
    *holds = missing.count == 0;
    return true;
}

bool coverage_holds(struct arena *arena, const struct coverage_list *list, struct id_part part,
                    bool *holds, struct error *err)
{
    const bool is_part = id_range_is_valid(part.ids);
    /* Live siblings say nothing about a part. */
    const size_t live = list->live.count - (is_part ? list->parts.live.count : 0);
    struct window_list covered, under_way;

    *holds = false;
    if (is_part && !holds_ids(arena, list, part, holds, err))
        return false;
    if (*holds)
        return true;
    if (!coverage_of(arena, list->covered, &covered, err) ||
        !coverage_of(arena, (struct window_list){ list->live.items, live }, &under_way, err) ||
        !coverage_union(arena, covered, under_way, &covered, err))
        return false;
    *holds = coverage_contains(covered, part.window);
    return true;
}

/* ---- by time or by pages ---- */

bool coverage_load(struct store *store, struct arena *arena, const struct coverage_query *query,
                   struct coverage_list *list, struct error *err)
{
    if (query->dimension == SLICE_PAGE)
        return by_pages(store, arena, query, list, err);
    return store_coverage_list(store, arena, &query->of, query->after_us, list, err) &&
           coverage_join(arena, list, err);
}

/* ---- what has ended ---- */

static int compare_windows(const void *a, const void *b)
{
    const struct window *x = a, *y = b;

    if (x->from_us != y->from_us)
        return x->from_us < y->from_us ? -1 : 1;
    return (x->to_us > y->to_us) - (x->to_us < y->to_us);
}

bool coverage_ended(struct arena *arena, const struct coverage_list *list,
                    struct window_list *ended, struct error *err)
{
    /* A window that was joined is not the window of one task, so no task has ended with it. */
    const size_t covered = list->covered.count - list->joined;
    const size_t count = covered + list->lost.count;

    *ended = (struct window_list){ ARENA_ARRAY(arena, struct window, count), count };
    if (ended->items == NULL)
        return arena_error(arena, err);
    if (covered > 0)
        memcpy(ended->items, list->covered.items, covered * sizeof(*ended->items));
    if (list->lost.count > 0)
        memcpy(ended->items + covered, list->lost.items, list->lost.count * sizeof(*ended->items));
    qsort(ended->items, count, sizeof(*ended->items), compare_windows);
    return true;
}

/* The first place at which the window could be. */
static size_t first_of(struct window_list sorted, const struct window *window)
{
    size_t from = 0, to = sorted.count;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if (compare_windows(&sorted.items[middle], window) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

int64_t coverage_generation(struct window_list ended, struct window window)
{
    int64_t count = 0;

    for (size_t i = first_of(ended, &window);
         i < ended.count && compare_windows(&ended.items[i], &window) == 0; i++)
        count++;
    return count;
}
