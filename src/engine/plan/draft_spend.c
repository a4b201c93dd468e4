/* How much of a plan becomes tasks now: room in the queue. */
#include "engine/plan/draft.h"
#include "port/store_task.h"

/* A plan by pages is queued whole or not at all: it covers nothing without all of its pages. */
static void keep_whole(struct plan_draft *draft)
{
    struct slice_request request = draft_slices(draft);
    const int64_t pages = request.pages.to - request.pages.from;
    const int64_t slices = (pages + request.pages_per_slice - 1) / request.pages_per_slice;

    if (draft->budget.tasks_left < slices)
        draft->budget.tasks_left = draft->queued > 0 ? 0 : slices;
}

bool draft_spend(struct store *store, struct plan_draft *draft, struct error *err)
{
    const struct task_partition partition = { draft->plan.source, draft->plan.endpoint,
                                              draft->plan.operation };

    if (!store_task_queued(store, &partition, &draft->queued, err))
        return false;
    draft->budget = (struct budget){
        .tasks_left = budget_room(draft->queued, draft->spec->operation.queued_max),
        .requests_left = BUDGET_UNLIMITED,
        .records_left = BUDGET_UNLIMITED,
    };
    if (draft->spec->operation.slice_by == SLICE_PAGE)
        keep_whole(draft);
    if (draft_is_of_files(draft)) /* the next trigger would begin with the first file again */
        draft->budget.tasks_left = draft->files.count;
    return true;
}
