/* trouble: tasks that ended with something missing, and whether it is missing still.
 *
 * A slice that was cut again, or whose window a later trigger has planned once more, ended PARTIAL
 * or FAILED all the same; nobody needs to look at it. What counts is whether its window is covered
 * or under way by now. A window that failed every hour of a night is one that is missing, told by
 * the last task that tried. What was chosen by id is chosen again by the next plan, or has its
 * signals back: it is missing until there is one.
 */
#ifndef PATRA_VIEW_TROUBLE_H
#define PATRA_VIEW_TROUBLE_H

#include "port/store_status.h"

struct trouble {
    struct ended_task ended;
    bool is_missing; /* neither covered nor under way, and no later task tells of it */
    bool has_holes;  /* ids without a record, or fewer records than the source says */
};

struct trouble_list {
    struct trouble *items; /* the latest first */
    size_t count;
    int64_t missing; /* of them */
    int64_t holes;
};

/* Of the source, since then; of one partition where `partition` is not NULL. */
struct trouble_ask {
    struct str source;
    const struct task_partition *partition;
    int64_t since_us;
    int64_t limit;
};

bool trouble_list(struct store *store, struct arena *arena, const struct trouble_ask *ask,
                  struct trouble_list *list, struct error *err) MUST_CHECK;

/* Whether there is something left of it that one should see. */
static inline bool trouble_is_open(const struct trouble *trouble)
{
    return trouble->is_missing || trouble->has_holes;
}

/* What a person does about it, in a sentence; an update of its source looks at signals, or not. */
const char *trouble_advice(const struct trouble *trouble, bool takes_signals);

#endif
