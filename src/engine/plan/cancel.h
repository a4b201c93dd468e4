/* plan_cancel: gives a plan up and reopens its signals.
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

#endif
