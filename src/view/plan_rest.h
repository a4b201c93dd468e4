/* plan_rest: what became of the rest of a plan that is PARTIAL.
 *
 * A limit stopped the planner, and a later trigger makes another plan for the rest. The first one
 * stays PARTIAL, so people need to see whether something is still to be done.
 */
#ifndef PATRA_VIEW_PLAN_REST_H
#define PATRA_VIEW_PLAN_REST_H

#include "data/json_write.h"
#include "port/store_plan.h"
#include "view/reader.h"

enum plan_rest_state {
    PLAN_REST_NONE,      /* the plan is not PARTIAL */
    PLAN_REST_OPEN,      /* the next trigger plans it */
    PLAN_REST_UNDER_WAY, /* all of it is covered or has tasks that wait or run */
    PLAN_REST_FINISHED,  /* all of its window is covered; by id: a later plan chose again and ended
                          */
};

struct plan_rest {
    enum plan_rest_state state;
    int64_t plan_id; /* the newest later plan with a part of it; 0: there is none */
};

bool view_plan_rest(const struct view_reader *reader, const struct plan *plan,
                    struct plan_rest *rest, struct error *err) MUST_CHECK;

/* A sentence; '' for PLAN_REST_NONE. */
struct str plan_rest_text(struct arena *arena, const struct plan_rest *rest);

/* A member "rest", unless there is none. */
void plan_rest_write(struct json_writer *w, const struct plan_rest *rest);

#endif
