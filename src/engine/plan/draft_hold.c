/* Windows that were left to a person. Their tasks ended where they would end again (DEAD_END,
 * OVER_BUDGET, CRASHED), so a schedule plans them only now and then, until the source file is
 * changed. A person who fires a trigger wants them tried now. */
#include "core/walk_budget.h"
#include "engine/plan/draft.h"
#include "port/store_task.h"

/* Another scheduler's triggers come by themselves, too. */
static bool is_by_hand(const struct plan_request *request)
{
    return request->trigger == TRIGGER_MANUAL && request->scheduler.len == 0;
}

static bool is_same_place(struct window a, struct window b)
{
    return window_is_valid(window_intersect(a, b));
}

/* When the window may be planned again: by the last task that ended in it, and by how many plans
 * did. */
static int64_t due_us(const struct held_window_list *list, const struct held_window *held)
{
    int64_t plans = 0, last_plan = 0, last_us = 0;

    for (size_t i = 0; i < list->count; i++) { /* by plan */
        const struct held_window *other = &list->items[i];

        if (!is_same_place(other->window, held->window))
            continue;
        plans += other->plan_id != last_plan;
        last_plan = other->plan_id;
        if (other->ended_us > last_us)
            last_us = other->ended_us;
    }
    return last_us + walk_budget_wait_us(plans);
}

bool draft_hold(struct store *store, struct arena *arena, struct plan_draft *draft,
                struct window_list *live, struct error *err)
{
    const struct coverage_namespace of = plan_namespace(&draft->plan);
    struct held_window_list list;

    if (is_by_hand(draft->request))
        return true;
    if (!store_coverage_held(store, arena,
                             &(struct held_query){ .of = &of,
                                                   .after_us = draft->decision.window.from_us,
                                                   .fingerprint = draft->plan.spec_fingerprint },
                             &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        const int64_t again_us = due_us(&list, &list.items[i]);
        struct window *window;

        if (again_us <= draft->request->now_us ||
            !is_same_place(list.items[i].window, draft->decision.window))
            continue;
        window = LIST_ADD(arena, live);
        if (window == NULL)
            return arena_error(arena, err);
        *window = list.items[i].window;
        if (!draft->held_until.is_set || again_us < draft->held_until.at_us)
            draft->held_until = (struct maybe_instant){ true, again_us };
    }
    return true;
}
