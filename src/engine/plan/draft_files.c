/* The plan of an endpoint of role bulk: all of its files, unless some are under way. */
#include "core/limits.h"
#include "engine/plan/draft.h"
#include "port/store_task.h"
#include "spec/file_names.h"

bool draft_is_of_files(const struct plan_draft *draft)
{
    return draft->spec->operation.slice_by == SLICE_FILE;
}

bool draft_decide_files(struct store *store, struct arena *arena, struct plan_draft *draft,
                        struct error *err)
{
    const struct task_partition partition = { draft->plan.source, draft->plan.endpoint,
                                              draft->plan.operation };
    const struct spec_endpoint *endpoint = &draft->spec->endpoint;
    struct task_list live;

    draft->decision = (struct window_decision){ .empty = WINDOW_EMPTY_NOT };
    draft->plan.window = (struct window){ 0 };
    if (!store_task_live(store, arena, &partition, (struct store_page){ .limit = 1 }, &live, err))
        return false;
    draft->files = (struct plan_files){
        .count = file_names_count(endpoint->files, endpoint->file_count),
        .live_task_id = live.count > 0 ? live.items[0].id : 0,
    };
    if (draft->files.count > PLAN_SLICES_MAX)
        return error_set(err, ERROR_REQUEST, "plan.request", "there are more than %d files",
                         PLAN_SLICES_MAX);
    return true;
}
