/* trouble: tasks that ended with something missing, and whether it is still missing.
 *
 * A task whose slice was re-sliced, or whose window a later trigger has planned again, ended
 * PARTIAL or FAILED, but needs no attention. What counts is whether its window is covered
 * or under way by now. A window that failed every hour of a night is missing once: the last task
 * that tried it counts. Records chosen by id are chosen again by the next plan, or have their
 * signals back; they are missing until there is such a plan. A feed has one task at a time: what
 * its last task did not reach is missing.
 */
#ifndef PATRA_VIEW_TROUBLE_H
#define PATRA_VIEW_TROUBLE_H

#include "port/store_status.h"

struct trouble {
    struct ended_task ended;
    bool is_missing; /* neither covered nor under way, and no later task counts for it */
    bool has_holes;  /* ids without a record, or fewer records than the source says */
    bool is_feed;    /* of a cursor by id or token: it has no window */
};

struct trouble_list {
    struct trouble *items; /* the latest first */
    size_t count;
    int64_t missing; /* how many of them are missing */
    int64_t holes;   /* how many of them have holes */
};

struct trouble_filter {
    struct str source;
    const struct task_partition *partition; /* NULL: all of the source */
    int64_t since_us;
    bool with_held; /* and those left to a person, whenever they ended */
    int64_t limit;
};

bool trouble_list(struct store *store, struct arena *arena, const struct trouble_filter *filter,
                  struct trouble_list *list, struct error *err) MUST_CHECK;

/* Whether something of it is left that a person should see. */
static inline bool trouble_is_open(const struct trouble *trouble)
{
    return trouble->is_missing || trouble->has_holes;
}

/* It ended where it would end again: the source is not as its file says, or workers die of it. */
static inline bool trouble_is_held(const struct trouble *trouble)
{
    return trouble->ended.has_reason && (trouble->ended.reason == PARTIAL_DEAD_END ||
                                         trouble->ended.reason == PARTIAL_OVER_BUDGET ||
                                         trouble->ended.reason == PARTIAL_CRASHED);
}

/* What to do about it, in a sentence. `takes_signals`: an update of its source takes signals. */
const char *trouble_advice(const struct trouble *trouble, bool takes_signals);

#endif
