/* How much of a plan becomes tasks now: room in the queue, and the pace. */
#include "engine/plan_draft.h"
#include "port/store_task.h"

/* A plan by pages is queued whole or not at all: without all of its pages it covers nothing. */
static void keep_whole(struct plan_draft *draft)
{
    struct slice_request request = draft_slices(draft);
    const int64_t pages = request.pages.to - request.pages.from;
    const int64_t slices = (pages + request.pages_per_slice - 1) / request.pages_per_slice;

    if (draft->budget.tasks_left < slices)
        draft->budget.tasks_left = draft->queued > 0 ? 0 : slices;
}

/* A tenth above what the gate will allow: estimates err, and a queue that runs dry wastes time. */
static struct spread spread_of(const struct plan_draft *draft)
{
    const struct spec_rate *rate = &draft->spec.endpoint.rate;
    const double alone = rate->limit.per_second;
    const double with = rate->with_credential.per_second;
    const double cost = rate->cost > 0 ? (double)rate->cost : 1;

    return (struct spread){
        .start_us = draft->request->now_us,
        .micro_per_second = (int64_t)((alone > with ? alone : with) / cost * 1.1e6),
        .burst = rate->limit.burst > 1 ? rate->limit.burst : 1,
    };
}

bool draft_spend(struct store *store, struct plan_draft *draft, struct error *err)
{
    const struct task_partition partition = { draft->plan.source, draft->plan.endpoint,
                                              draft->plan.operation };

    if (!store_task_queued(store, &partition, &draft->queued, err))
        return false;
    draft->budget = (struct budget){
        .tasks_left = budget_room(draft->queued, draft->spec.operation.queued_max),
        .requests_left = BUDGET_UNLIMITED,
        .records_left = BUDGET_UNLIMITED,
    };
    draft->spread = spread_of(draft);
    if (draft->spec.operation.slice_by == SLICE_PAGE)
        keep_whole(draft);
    return true;
}
