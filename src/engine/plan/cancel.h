/* plan_cancel: a plan is given up, and what it had taken up goes back.
 *
 * Windows need no word: what was not covered is planned by the next trigger. Signals do, because
 * the plan had taken them up: those of records that nobody will look at now are open again.
 */
#ifndef PATRA_ENGINE_PLAN_CANCEL_H
#define PATRA_ENGINE_PLAN_CANCEL_H

#include "base/attr.h"
#include "port/store.h"

/* *cancelled counts the tasks that waited. A task under way stops after its batch, and gives its
 * signals back then. L2 for a plan that does not exist; a failure leaves all as it was. */
bool plan_cancel(struct store *store, int64_t plan_id, int64_t now_us, int64_t *cancelled,
                 struct error *err) MUST_CHECK;

#endif
