/* run: the attempts at a task and the batches of each, as people and programs see them. */
#ifndef PATRA_VIEW_RUN_H
#define PATRA_VIEW_RUN_H

#include "data/json_write.h"
#include "port/store_run.h"
#include "view/reader.h"

/* -1 where the run's stats do not have it: a run that has committed nothing has none. */
struct view_run_numbers {
    int64_t requests;
    int64_t retries;
    int64_t records;
    int64_t same_date; /* changed under the date they had */
    int64_t future;    /* have a date that is not believed */
};

struct view_run {
    struct run run;
    struct view_run_numbers numbers;
};

struct view_run_list {
    struct view_run *items; /* by attempt */
    size_t count;
};

bool view_run_list(const struct view_reader *reader, int64_t task_id, struct view_run_list *list,
                   struct error *err) MUST_CHECK;
void view_run_list_write(struct json_writer *w, const struct view_run_list *list);

struct view_batch_filter {
    int64_t run_id;
    int64_t after_number; /* from the first above this number */
    int64_t limit;
};

struct view_batch_list {
    struct batch *items; /* by number */
    size_t count;
    bool is_full; /* as many as filter.limit allows: there may be later ones */
};

bool view_batch_list(const struct view_reader *reader, const struct view_batch_filter *filter,
                     struct view_batch_list *list, struct error *err) MUST_CHECK;
void view_batch_list_write(struct json_writer *w, const struct view_batch_list *list);

#endif
