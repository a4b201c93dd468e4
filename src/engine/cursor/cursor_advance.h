/* cursor_advance: moves a cursor as far as the finished tasks allow, and no further.
 *
 *      task ends --commit--> cursor_advance(its namespace) --commit--> the next trigger
 *
 * An executor calls it after each task that has ended, however it ended; a planner at the start of
 * each trigger. Nothing is handed over but the name: what the cursor may move to is read anew,
 * under the lock of the namespace, from the tasks that have ended. So it may be called any number
 * of times, by any number of processes at once, and a call that never came (a crash between the
 * task's commit and this) is made good by the next one, whoever's it is. There is one history.
 *
 * What the cursor means, and how it moves:
 *
 *      TIME    everything before it is complete. It moves to the low watermark (core/watermark.h):
 *              slices finish in any order, and the first that did not succeed holds it back. The
 *              same for HARVEST, for UPDATE by time, and for a BACKFILL campaign: that one goes
 *              from the newest slice to the oldest, so its cursor rests at the campaign's first
 *              instant until the oldest slice is done, and then passes all that are done already.
 *      ID      a walk over a list. It moves to the candidate that the caller brings (the last id of
 *              the batches done, core/watermark.h); a candidate behind the cursor is recorded as
 *              NO_FORWARD and moves nothing.
 *      TOKEN   has no order: the candidate replaces it. One that replaces a token which the
 *              source no longer takes is recorded as TOKEN_COMPENSATE.
 *
 * UPDATE and METRICS by id, and REPLAY, have no cursor (cursor_key is ''): for them this does
 * nothing. Nor does it start a TIME cursor: the planner does, together with the first plan.
 *
 * The event is written first, then the value moves by compare-and-set, both in one transaction.
 * Under the lock nobody else can have moved it; should it happen all the same, the transaction is
 * undone and tried again, at most CURSOR_RETRIES_MAX times, and then left to the next call: the
 * other one has moved it as far. A call that finds nothing to do writes nothing.
 */
#ifndef PATRA_ENGINE_CURSOR_CURSOR_ADVANCE_H
#define PATRA_ENGINE_CURSOR_CURSOR_ADVANCE_H

#include "core/window_decision.h"
#include "port/store_cursor.h"
#include "port/store_lineage.h"
#include "port/store_task.h"

struct cursor_advance_request {
    struct coverage_namespace of;         /* with late_us: how far triggers look back */
    enum slice_dimension dimension;       /* what its plans are cut by: TIME, PAGE */
    struct lineage lineage;               /* of what has ended; 0 where nothing has */
    int64_t batch_no;                     /* the last of its run; 0: none */
    struct str expr_hash;                 /* '' keeps the cursor's */
    struct maybe_instant observed_max;    /* TIME: the latest record seen, for lag */
    const struct cursor_value *candidate; /* ID and TOKEN; NULL for TIME */
    bool is_compensation;                 /* TOKEN: the old one is no longer taken */
    int64_t now_us;
};

struct cursor_advance_result {
    bool has_cursor;           /* false: none follows, or it has not begun */
    bool moved;                /* cursor.advance.count */
    bool no_forward;           /* cursor.no_forward.count */
    bool compensated;          /* cursor.token.compensate.count */
    int64_t conflicts;         /* cursor.cas.conflict.count */
    struct cursor_value value; /* as it stands now */
};

/* The request of an executor whose run of the task has ended and is committed. */
struct cursor_advance_request cursor_advance_of(const struct task *task, int64_t run_id,
                                                int64_t now_us);

/* Outside of any transaction. L1: nothing has happened, or all of it (store.commit_unknown); call
 * again, or leave it to the next one. L4 "cursor.type": the cursor is of another type. */
bool cursor_advance(struct store *store, struct arena *arena,
                    const struct cursor_advance_request *request,
                    struct cursor_advance_result *result, struct error *err) MUST_CHECK;

#endif
