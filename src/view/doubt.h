/* doubt: slices that are complete by all signs, which are not enough to be certain. */
#ifndef PATRA_VIEW_DOUBT_H
#define PATRA_VIEW_DOUBT_H

#include "engine/fetch/fetch.h"
#include "port/store_status.h"

struct view_doubt {
    int64_t slices;  /* 0: none has it */
    int64_t task_id; /* of the last of them */
};

/* What is doubtful, to follow the number of slices. */
const char *view_doubt_text(enum fetch_doubt doubt);

/* Adds up the runs by doubt. Names that are not known are left out. */
void view_doubts_sum(const struct doubted_runs_list *runs, struct view_doubt sums[FETCH_DOUBTS]);

#endif
