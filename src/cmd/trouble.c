#include "cmd/trouble.h"

#include "engine/plan_coverage.h"

static bool is_covered(struct store *store, struct arena *arena, const struct task *task,
                       bool *covered, struct error *err)
{
    const struct coverage_namespace of = { task->source,     task->endpoint, task->operation,
                                           task->cursor_key, task->scope,    task->namespace_key };
    struct coverage_list coverage;

    return store_coverage_list(store, arena, &of, task->window.from_us, &coverage, err) &&
           coverage_join(arena, &coverage, err) &&
           coverage_holds(arena, &coverage, (struct id_part){ task->window, task->ids }, covered,
                          err);
}

/* What was cut again is missing only where its pieces are, and these tell of themselves. */
static bool judge(struct store *store, struct arena *arena, struct trouble *trouble,
                  struct error *err)
{
    const struct ended_task *ended = &trouble->ended;
    bool covered = ended->is_cut;

    if (!covered && window_is_valid(ended->task.window) &&
        !is_covered(store, arena, &ended->task, &covered, err))
        return false;
    trouble->is_missing = !covered;
    trouble->has_holes = ended->has_reason && ended->reason == PARTIAL_HOLES;
    return true;
}

static bool is_of(const struct task_partition *partition, const struct task *task)
{
    return partition == NULL ||
           (partition->operation == task->operation && str_eq(partition->endpoint, task->endpoint));
}

bool trouble_list(struct store *store, struct arena *arena, const struct trouble_ask *ask,
                  struct trouble_list *list, struct error *err)
{
    struct ended_task_list ended;

    *list = (struct trouble_list){ 0 };
    if (!store_status_troubled(store, arena, ask->source, ask->since_us, ask->limit, &ended, err))
        return false;
    for (size_t i = 0; i < ended.count; i++) {
        struct trouble *trouble;

        if (!is_of(ask->partition, &ended.items[i].task))
            continue;
        trouble = LIST_ADD(arena, list);
        if (trouble == NULL)
            return arena_error(arena, err);
        trouble->ended = ended.items[i];
        if (!judge(store, arena, trouble, err))
            return error_wrap(err, "task %lld", (long long)trouble->ended.task.id);
        list->missing += trouble->is_missing;
        list->holes += trouble->has_holes;
    }
    return true;
}

const char *trouble_advice(const struct trouble *trouble)
{
    if (!trouble->is_missing)
        return trouble->has_holes ? "the ids without a record are signals: patra update looks at "
                                    "them again"
                                  : "nothing to do: it is covered or under way by now";
    if (!window_is_valid(trouble->ended.task.window))
        return "the records stay as they were; the next update chooses them again";
    return "mend what the reason names; the next trigger plans this window again";
}
