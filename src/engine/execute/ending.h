/* ending: decides what becomes of a task when its run is over. task_end.c writes the rows.
 *
 *      complete, proven or without a total      SUCCEEDED
 *      complete but for ids without a record    PARTIAL (holes), covers its window: each is known
 *      complete but for ids that the source     PARTIAL (holes), covers nothing: the next trigger
 *      fails on (5xx)                           tries again. Where all of them failed in an earlier
 *                                               task too: covers its window, as above
 *      fewer than the source says, or moving    PARTIAL (holes), covers nothing
 *      cut short by a limit                     PARTIAL (cut short), re-sliced where possible
 *      its pages loop or lead nowhere           PARTIAL (dead end): narrower slices would meet it
 *      many more requests than pages            PARTIAL (over budget), and never re-sliced
 *      too deep, over a cap                     PARTIAL (cut short), re-sliced; covers what it has
 *      L1                                       given back for later; FAILED after too many runs
 *                                               without progress
 *      a walk that is lost repeatedly           given back as well; after too many runs re-sliced,
 *                                               else FAILED: its first pages are not progress
 *      L2, L3                                   re-sliced after the first page, else FAILED
 *      L4                                       FAILED, and the source is stopped
 *      the process stops, or a pause            given back for now
 *      plan or task cancelled                   CANCELLED
 *      overtaken                                nothing: another executor has the task by now
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
    bool needs_reslice;    /* add a ticket for the rest of the slice */
    enum reslice_reason reslice;
    bool is_stop;   /* the source must not go on */
    bool is_outage; /* the source fails: a failure for core/health.h */
    int64_t retry_at_us;
    enum wait_reason retry_reason; /* LATER: what is waited for until then */
    char text[ERROR_TEXT_MAX];     /* for people; the error's text after a failure */
};

struct ending_input {
    const struct slice *slice;
    const struct retry_policy *retry; /* of the source */
    bool can_reslice;
    bool is_over_budget;  /* its family has sent so many requests that pieces must not be walked */
    int64_t batches;      /* committed by this run */
    int64_t idle_runs;    /* runs before this one, in a row, that committed none */
    int64_t runs;         /* of the task, with this one */
    int64_t failed_again; /* ids that the source failed on, in this run and in an earlier task */
    int64_t retry_at_us;  /* as the walk says; 0: unknown */
    enum wait_reason retry_reason;
    int64_t now_us;
    uint64_t random;
};

struct ending ending_of_verdict(const struct fetch_verdict *verdict,
                                const struct ending_input *input);
struct ending ending_of_failure(const struct error *err, const struct ending_input *input);

/* The store's failure: not the fault of the source, nor (L1, L4) of the task. */
struct ending ending_of_store(const struct error *err, const struct ending_input *input);

/* The store refuses the end itself (L2, L3): the task ends without details. */
struct ending ending_unstorable(const struct error *err);

/* Before the first request: too many workers have died with it. */
struct ending ending_crashed(const struct ending_input *input, int64_t crashes);

/* Between two batches. */
struct ending ending_stopped(const struct ending_input *input);
struct ending ending_paused(const struct ending_input *input);
struct ending ending_plan_cancelled(void);
struct ending ending_task_cancelled(struct str reason);
struct ending ending_overtaken(void);

#endif
