/* plan_cancel, task_cancel: give up a plan, or one task and its slice, and reopen the signals.
 *
 * Windows need nothing: what was not covered is planned by the next trigger. Signals were consumed
 * by the plan; those of records that are no longer going to be fetched are opened again.
 */
#ifndef PATRA_ENGINE_PLAN_CANCEL_H
#define PATRA_ENGINE_PLAN_CANCEL_H

#include "base/attr.h"
#include "port/store.h"

/* *cancelled counts the tasks that waited. A task under way stops after its batch and reopens its
 * signals then. L2 for a plan that does not exist; a failure changes nothing. */
bool plan_cancel(struct store *store, int64_t plan_id, int64_t now_us, int64_t *cancelled,
                 struct error *err) MUST_CHECK;

struct task_cancel_request {
    int64_t id;
    struct str reason; /* '' = none */
    int64_t now_us;
};

enum task_cancel_result {
    TASK_IS_CANCELLED, /* it waited */
    TASK_WILL_STOP,    /* it is under way, and stops after its batch */
    TASK_HAD_ENDED,    /* nothing was changed */
};

/* The slice covers nothing: the cursor stops before it until a later trigger plans it again.
 * "task.unknown" (L2); a failure changes nothing. */
bool task_cancel(struct store *store, const struct task_cancel_request *request,
                 enum task_cancel_result *result, struct error *err) MUST_CHECK;

#endif
