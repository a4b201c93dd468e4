/* task: tasks, and one with its runs and batches, as people and programs see them. */
#ifndef PATRA_VIEW_TASK_H
#define PATRA_VIEW_TASK_H

#include "data/json_write.h"
#include "port/store_task.h"
#include "view/reader.h"
#include "view/run.h"

struct view_task_list {
    struct task *items; /* by id */
    size_t count;
    bool is_full; /* as many as filter.limit allows: there may be later ones */
};

/* "plan.id" or "source.unknown" (L2) where the filter names one that does not exist. */
bool view_task_list(const struct view_reader *reader, const struct task_filter *filter,
                    struct view_task_list *list, struct error *err) MUST_CHECK;
void view_task_list_write(struct json_writer *w, const struct view_task_list *list);

struct view_task {
    struct task task;
    struct view_run_list runs;
    struct view_batch_list batches; /* of one run */
};

struct view_task_filter {
    int64_t id;
    int64_t run_id;      /* whose batches; 0: the last one's */
    int64_t batches_max; /* the first ones of the run; 0: none */
};

/* "task.unknown", "run.unknown" (L2) when there is no such task, or it has no such run. */
bool view_task(const struct view_reader *reader, const struct view_task_filter *filter,
               struct view_task *view, struct error *err) MUST_CHECK;
void view_task_write(struct json_writer *w, const struct view_task *view);

#endif
