#include "engine/plan_coverage.h"

enum { PLANS_PER_PAGE = 50 };

static bool is_same(const struct plan *a, const struct plan *b)
{
    return str_eq(a->endpoint, b->endpoint) && str_eq(a->cursor_key, b->cursor_key) &&
           a->scope == b->scope && str_eq(a->namespace_key, b->namespace_key);
}

/* Where a plan by pages belongs; NULL where it covers nothing. */
static struct window_list *list_for(const struct plan *plan, const struct plan_progress *progress,
                                    struct coverage_list *list)
{
    const int64_t live = progress->tasks[TASK_QUEUED] + progress->tasks[TASK_DISPATCHED] +
                         progress->tasks[TASK_EXECUTING];

    if (live > 0)
        return &list->live;
    if (plan->status != PLAN_READY || progress->slices == 0)
        return NULL;
    return progress->tasks[TASK_SUCCEEDED] == progress->slices ? &list->covered : NULL;
}

static bool add_plan(struct store *store, struct arena *arena, const struct plan *plan,
                     struct coverage_list *list, struct error *err)
{
    struct plan_progress progress;
    struct window_list *to;
    struct window *window;

    if (!store_plan_progress(store, plan->id, &progress, err))
        return false;
    to = list_for(plan, &progress, list);
    if (to == NULL)
        return true;
    window = LIST_ADD(arena, to);
    if (window == NULL)
        return arena_error(arena, err);
    *window = plan->window;
    return true;
}

static bool by_pages(struct store *store, struct arena *arena, const struct plan *of,
                     int64_t after_us, struct coverage_list *list, struct error *err)
{
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
            if (is_same(plan, of) && plan->window.to_us > after_us &&
                !add_plan(store, arena, plan, list, err))
                return false;
        }
    } while (plans.count == PLANS_PER_PAGE);
    return true;
}

bool plan_coverage(struct store *store, struct arena *arena, const struct plan *plan,
                   enum slice_dimension dimension, int64_t after_us, struct coverage_list *list,
                   struct error *err)
{
    const struct coverage_namespace namespace = { .source = plan->source,
                                                  .endpoint = plan->endpoint,
                                                  .operation = plan->operation,
                                                  .cursor_key = plan->cursor_key,
                                                  .scope = plan->scope,
                                                  .namespace_key = plan->namespace_key };

    if (dimension == SLICE_PAGE)
        return by_pages(store, arena, plan, after_us, list, err);
    return store_coverage_list(store, arena, &namespace, after_us, list, err);
}
