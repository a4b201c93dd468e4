/* judge: what the store shows as done, against the truth of the upstream.
 *
 * Read by SQL of its own. A record is shown as done when its date is before the cursor, in the
 * window of a task that SUCCEEDED, or in the covered part of one that did not.
 */
#ifndef PATRA_TEST_SIM_SHAPES_JUDGE_H
#define PATRA_TEST_SIM_SHAPES_JUDGE_H

#include "shape_world.h"

struct judgement {
    int records;    /* of the upstream, in the windows that were asked about */
    int missing;    /* of these, not in the store as they should be */
    int pretended;  /* of these, shown as done */
    int doubted;    /* of these, neither in quarantine nor signalled, but a run has a doubt */
    int unlisted;   /* of these, not even that */
    int strangers;  /* in the store, and not of the upstream */
    int undone;     /* tasks that ended otherwise than SUCCEEDED, or have not ended */
    char first[64]; /* the first id of the unlisted, or else of the missing */
};

/* Of the records of this window. A run's doubt counts if it is one of `doubts` (damage_doubts()).
 */
struct judgement judge(struct shape_world *w, struct window window, unsigned doubts);

#endif
