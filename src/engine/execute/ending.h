/* ending: what becomes of a task when its run is over. A decision, and nothing but: the rows are
 * written by task_end.c.
 *
 *      all came, proven or without a total      SUCCEEDED
 *      all came but ids that have no record     PARTIAL (holes), covers its window: each is known
 *      fewer than the source says, or moving    PARTIAL (holes), covers nothing
 *      cut short by a limit                     PARTIAL (cut short), and cut again where it can be
 *      too deep, over a cap                     PARTIAL (cut short), cut again; covers what it has
 *      L1                                       given back for later; FAILED when nothing has moved
 *                                               for too many runs
 *      a walk that is lost again and again      given back as well; after too many runs cut again,
 *                                               else FAILED: its first pages are no progress
 *      L2, L3                                   cut again behind the first page, else FAILED
 *      L4                                       FAILED, and the source is stopped
 *      told to stop, paused                     given back for now
 *      plan cancelled                           CANCELLED
 *      overtaken                                nothing: it is somebody else's by now
 */
#ifndef PATRA_ENGINE_EXECUTE_ENDING_H
#define PATRA_ENGINE_EXECUTE_ENDING_H

#include "core/codes.h"
#include "core/window.h"
#include "engine/fetch/fetch.h"

/* Runs of a task in a row that committed no batch: then it has failed for good. */
enum { ENDING_IDLE_RUNS_MAX = 5 };

enum ending_kind {
    ENDING_FINAL,     /* `status` is the task's last */
    ENDING_LATER,     /* back into the queue, not before retry_at_us */
    ENDING_OVERTAKEN, /* write nothing */
};

struct ending {
    enum ending_kind kind;
    enum task_status status;
    bool has_reason; /* PARTIAL */
    enum partial_reason reason;
    struct window covered; /* PARTIAL: what was finished; not valid: nothing */
    bool needs_reslice;    /* ask for its rest to be cut again */
    enum reslice_reason reslice;
    bool is_stop;   /* the source must not go on */
    bool is_outage; /* the source fails: a failure for core/health.h */
    int64_t retry_at_us;
    enum wait_why why;         /* LATER: what is waited for until then */
    char text[ERROR_TEXT_MAX]; /* for people; of a failure the error's words */
};

struct ending_input {
    const struct slice *slice;
    const struct retry_policy *retry; /* of the source */
    bool can_reslice;
    int64_t batches;     /* committed by this run */
    int64_t idle_runs;   /* runs before this one, in a row, that committed none */
    int64_t runs;        /* of the task, with this one */
    int64_t retry_at_us; /* as the walk tells; 0: nobody knows */
    enum wait_why retry_why;
    int64_t now_us;
    uint64_t random;
};

struct ending ending_of_verdict(const struct fetch_verdict *verdict,
                                const struct ending_input *ask);
struct ending ending_of_failure(const struct error *err, const struct ending_input *ask);

/* The store's failure: no fault of the source, nor (L1, L4) of the task. */
struct ending ending_of_store(const struct error *err, const struct ending_input *ask);

/* The store refuses the end itself (L2, L3): then it is an end without particulars. */
struct ending ending_unstorable(const struct error *err);

/* Between two batches. */
struct ending ending_told_to_stop(const struct ending_input *ask);
struct ending ending_paused(const struct ending_input *ask);
struct ending ending_cancelled(void);
struct ending ending_overtaken(void);

#endif
