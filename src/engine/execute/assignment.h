/* assignment: all that a run needs to know of its task, read from the rows of its plan.
 *
 *      task ── plan: the snapshot, read into a spec
 *           ── slice: what part, how much it may cost, whose records
 *           ── earlier runs: the last checkpoint, and how many runs have moved nothing
 *           ── phase one's ids, where there are any
 *           ── the cursor, where the slice may lie behind it
 */
#ifndef PATRA_ENGINE_EXECUTE_ASSIGNMENT_H
#define PATRA_ENGINE_EXECUTE_ASSIGNMENT_H

#include "core/slice.h"
#include "engine/slice/slice_read.h"
#include "engine/source/spec_cache.h"
#include "port/store_plan.h"
#include "port/store_task.h"
#include "spec/spec.h"

struct assignment {
    struct plan plan;
    const struct spec *spec;  /* held; NULL: it could not be read */
    struct spec_cache *specs; /* of which it is */
    struct slice slice;
    struct slice_limits limits;
    struct slice_family family; /* what it and its relatives have spent before */
    struct str endpoint;        /* under which the records are stored */
    bool can_reslice;           /* it may be re-sliced */
    bool can_reslice_ids;       /* against the source's cap it may be re-sliced by ids */
    const struct str *ids; /* by id: all of them; in two phases: those listed and stored so far */
    size_t id_count;
    struct str checkpoint; /* where to continue; '' = at the beginning */
    int64_t idle_runs;     /* in a row up to now, that ended by themselves and committed nothing */
    /* What is new or changed and dated before this arrived late: the cursor had passed it when the
     * run began. INT64_MAX: all of the slice. Not set: no slice looks back. */
    struct maybe_instant late_before;
};

/* Errors: those of the store; L4 where plan or slice are not complete: patra wrote them, and
 * everything that follows from them would be wrong too; L2 ("task.params") where only this task's
 * params cannot be read. */
struct assignment_parts {
    struct store *store;
    struct spec_cache *specs;
    struct arena *arena; /* for all but the spec */
};
bool assignment_load(const struct assignment_parts *parts, const struct task *task,
                     struct assignment *assignment, struct error *err) MUST_CHECK;

/* Also after a load that failed: the spec may have been read. Accepts the zero value. */
void assignment_release(struct assignment *assignment);

#endif
