/* update_candidates: the records that an UPDATE or METRICS driven by ids looks at again, and the
 * slices they make.
 *
 *      signals        somebody says so: a person (--ids), an API, the quarantine
 *      old hashes     records that were read by an expression that is in force no more
 *      staleness      records not checked for long; of these one Nth each day
 *      METRICS        is stale where its own record is, or where there is none yet
 *
 * Candidates are read a page at a time and cut a batch at a time, so memory does not grow with
 * them. Within a batch they are divided by hash or by range; a slice holds its ids, in its
 * expression, so that it can be run and replayed without asking anybody what was stale then.
 *
 * Nothing is taken twice: ids of live tasks and ids taken already are in a filter (id_filter.h).
 * What it is not sure of is put off to the next trigger. A signal is consumed by the plan that
 * takes its record; the others stay open.
 */
#ifndef PATRA_ENGINE_UPDATE_CANDIDATES_H
#define PATRA_ENGINE_UPDATE_CANDIDATES_H

#include "engine/plan/cutter.h"

/* Cuts as far as the budget goes. With a writer the plan must have been added; ids of the trigger
 * become signals first, so that those that are not taken now are not lost. */
bool update_candidates_cut(struct store *store, struct arena *arena, struct plan_cutter *cutter,
                           struct error *err) MUST_CHECK;

/* The ids of a slice, out of its expression. */
bool update_candidates_ids(struct arena *arena, struct str expr_snapshot, struct str **ids,
                           size_t *count, struct error *err) MUST_CHECK;

#endif
