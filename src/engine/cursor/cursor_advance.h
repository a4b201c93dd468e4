/* cursor_advance: moves a cursor as far as the finished tasks allow, and no further.
 *
 *      task ends --commit--> cursor_advance(its namespace) --commit--> the next trigger
 *
 * An executor calls it after each task that has ended, however it ended; a planner at the start of
 * each trigger. The caller passes only the name: where the cursor may move to is read from the
 * tasks that have ended, under the lock of the namespace. So any number of processes may call it
 * at once, any number of times. A call that was never made (a crash after the task's commit) is
 * made up by the next one.
 *
 * What the cursor means, and how it moves:
 *
 *      TIME    everything before it is complete. It moves to the low watermark (core/watermark.h):
 *              slices finish in any order, and the first that did not succeed holds it back. The
 *              same for HARVEST, for UPDATE by time, and for a BACKFILL campaign: that one goes
 *              from the newest slice to the oldest, so its cursor rests at the campaign's first
 *              instant until the oldest slice is done, and then passes all that are done already.
 *      ID      everything up to it is stored. It moves to the candidate that the caller brings
 *              (cursor_feed.h); a candidate before the cursor is recorded as NO_FORWARD and moves
 *              nothing.
 *      TOKEN   has no order: the candidate replaces it. One that replaces a token which the
 *              source no longer accepts is recorded as TOKEN_COMPENSATE.
 *
 * UPDATE and METRICS by id, and REPLAY, have no cursor (cursor_key is ''): for them this does
 * nothing. Nor does it start a TIME cursor: the planner does, together with the first plan.
 *
 * observed_max. A cursor has the latest updated_at that any run has seen, for lag. The event of a
 * move has the latest that the runs of the slices saw which the move passes, whichever worker ran
 * them and however long ago.
 *
 * The event is written first, then the value moves by compare-and-set, both in one transaction.
 * Under the lock no other process can have moved it. If it was moved all the same, the transaction
 * is rolled back and repeated, at most CURSOR_RETRIES_MAX times, and then left to the next call. A
 * call that finds nothing to do writes nothing.
 */
#ifndef PATRA_ENGINE_CURSOR_CURSOR_ADVANCE_H
#define PATRA_ENGINE_CURSOR_CURSOR_ADVANCE_H

#include "core/window_decision.h"
#include "engine/cursor/cursor_members.h"
#include "port/store_cursor.h"
#include "port/store_lineage.h"
#include "port/store_task.h"

struct cursor_advance_request {
    struct coverage_namespace of;         /* with late_us: how far triggers look back */
    enum slice_dimension dimension;       /* what its plans are cut by: TIME, PAGE */
    struct cursor_sharing sharing;        /* TIME: with which other endpoints */
    struct lineage lineage;               /* of what has ended; 0 where nothing has */
    int64_t batch_no;                     /* the last of its run; 0: none */
    struct str expr_hash;                 /* '' keeps the cursor's */
    struct maybe_instant observed_max;    /* TIME: the latest record that the caller saw, for lag */
    struct str observed_id;               /* ID: the highest id that the source has; '' = unknown */
    const struct cursor_value *candidate; /* ID and TOKEN; NULL for TIME */
    bool has_base;        /* ID and TOKEN: moves only a cursor of this version, or ... */
    int64_t base_version; /* ... one that the same task has moved; 0: there was none */
    bool is_compensation; /* TOKEN: the old one is no longer accepted */
    int64_t unseen;       /* TOKEN: records that the full sync did not have; for the event */
    bool is_stuck;        /* the source does not go forward: the candidate is only recorded */
    int64_t now_us;
};

struct cursor_advance_result {
    bool has_cursor;           /* false: none follows, or it has not begun */
    bool moved;                /* cursor.advance.count */
    bool no_forward;           /* cursor.no_forward.count */
    bool compensated;          /* cursor.token.compensate.count */
    int64_t conflicts;         /* cursor.cas.conflict.count */
    int64_t distance_us;       /* TIME: how far it moved */
    struct cursor_value value; /* the current one */
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
