/* executor_internal: the parts of an executor. Only the .c files of this folder include it.
 *
 *      executor.c    choosing, claiming, housekeeping; the loop
 *      task_run.c    one task: from its lease to its end
 *      task_end.c    the end as rows, and what it means for others
 *      lease_gate.c  between the walk and the rate gate: keeps the lease, reports waits
 */
#ifndef PATRA_ENGINE_EXECUTE_EXECUTOR_INTERNAL_H
#define PATRA_ENGINE_EXECUTE_EXECUTOR_INTERNAL_H

#include "core/retry.h"
#include "engine/archive/archive.h"
#include "engine/execute/assignment.h"
#include "engine/execute/executor.h"
#include "engine/execute/partitions.h"
#include "engine/gate/gate.h"
#include "engine/session/store_retry.h"
#include "port/gate.h"

struct executor {
    struct executor_parts parts;
    struct executor_settings settings;
    struct gate *gate;
    struct arena arena;     /* of one step */
    struct arena batch;     /* of one commit */
    struct archive archive; /* without a packer until it is needed */
    struct arena archived;  /* the response that is archived with this batch */
    struct payload_pack pack;
    bool is_synced;
    int64_t synced_us;       /* what the store's clock said last, */
    int64_t synced_at_us;    /* and when: monotonic */
    int64_t housekeeping_us; /* monotonic: when it is due */
    int64_t lifted_us;       /* monotonic: when to look for silences that were lifted */
};

/* ---- executor.c ---- */

/* The time that all processes on the store share. It is read from the store at intervals and
 * follows the monotonic clock in between, so that setting this machine's clock moves no lease. */
int64_t executor_now_us(const struct executor *executor);

/* The same clock at an instant of this process's monotonic clock; 0 is now. Two processes disagree
 * by as much as their clocks were off when they last asked the store: the time of a round trip. */
int64_t executor_at_us(const struct executor *executor, int64_t monotonic_us);
bool executor_sync(struct executor *executor, struct error *err) MUST_CHECK;

/* Converts an instant of this machine's clock to the store's; 0 stays 0. */
int64_t executor_shared_us(const struct executor *executor, int64_t local_us);
void executor_report(const struct executor *executor, const struct executor_event *event);

/* Housekeeping for all processes on the store (engine/housekeeping). Tickets that could not be
 * served are logged: that is not a failure of this executor. */
struct executor_chores {
    bool leases;
    bool tickets;
};
bool executor_keep_house(struct executor *executor, struct executor_chores chores,
                         struct error *err) MUST_CHECK;

/* After a call to the store failed: reports the failure as an event and waits
 * (engine/session/store_retry.h). True when the call should be repeated. */
struct store_retry executor_retry(const struct executor *executor);
bool executor_retry_wait(struct executor *executor, struct store_retry *retry,
                         struct error *err) MUST_CHECK;

/* ---- lease_gate.c ---- */

struct task_run;
struct lease_gate {
    struct permit_gate gate; /* first */
    struct permit_gate *inner;
    struct task_run *run;
    int64_t renewed_us; /* monotonic */
};

/* The walk ended because another executor holds the task by now. */
bool lease_error_is_overtaken(const struct error *err);

struct run_watch {
    struct http_watch watch; /* first */
    struct lease_gate *gate;
};

struct run_waiter {
    struct permit_waiter waiter; /* first */
    const struct task_run *run;
};

/* ---- task_run.c ---- */

struct task_run {
    struct executor *executor;
    const struct task *task;
    struct lease lease;
    struct run run;
    struct archived_body body; /* of the response that is being stored */
    struct assignment assignment;
    struct retry_policy retry;
    struct lease_gate lease_gate;
    struct run_waiter waiter;
    struct run_watch watch;
    struct commit_context commit;
    char traceparent[64];
    int64_t batches;      /* committed */
    int64_t failed_again; /* ids that the source failed on, and whose signal was there before */
    int64_t batch_no;     /* the last of them */
    int64_t batch_id;     /* its row */
    int64_t committed_us; /* monotonic: the last of them, or the start */
    int64_t control_us;   /* monotonic: when pauses and cancelled plans are checked again */
    struct fetch_verdict verdict; /* its text is not kept */
    struct fetch_spending spending;
    int64_t next_page;    /* by page: the first that is not finished */
    bool is_circuit_open; /* after its end */
};

void lease_gate_init(struct task_run *run, struct permit_gate *inner);

/* Runs a claimed task to its end. False only when the executor itself must end. */
bool task_run(struct executor *executor, const struct task *task, struct error *err) MUST_CHECK;

static inline struct task_partition task_partition_of(const struct task *task)
{
    return (struct task_partition){ task->source, task->endpoint, task->operation };
}

/* ---- task_end.c ---- */

/* Writes the end in one transaction. *held is false, and nothing written, when the lease is lost.
 */
bool task_end(struct task_run *run, const struct ending *ending, bool *held,
              struct error *err) MUST_CHECK;

/* Before the end is written: its stats include whether the circuit is open. */
void task_note_outage(struct task_run *run, const struct ending *ending);

/* Once it is written. */
void task_after(struct task_run *run, const struct ending *ending);

#endif
