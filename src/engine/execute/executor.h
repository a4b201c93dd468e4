/* executor: takes tasks from the queue and carries them out, one at a time.
 *
 *      choose a partition ─ claim a task ─ run ─ batch, batch, ... ─ end ─ cursor
 *            ▲                              │                       │
 *            │     housekeeping returns it  ╰── the lease is lost ──┤ nothing is written
 *            │     to the queue             ╰── may succeed later ──┤ given back, with a time
 *            ╰──────────────────────────────────────────────────────╯
 *
 * The promises:
 *
 * Once. A task is one executor's at a time, by a lease with an epoch. Every transaction of a run
 * checks the epoch first, so an executor that was paused and overtaken commits nothing.
 *
 * Nothing lost. A batch is one transaction (commit.h); what was fetched and not committed is
 * fetched again. After a crash the next run continues after the last batch that was committed.
 *
 * Nothing pretended. A slice that could not be proven complete ends PARTIAL or FAILED, with its
 * reason, and covers no more than what was proven; the cursor follows coverage (cursor_advance.h).
 *
 * Patience. A store that is out of reach is waited for. A source that fails is left alone for a
 * while (core/health.h); one that refuses the credentials or has changed its schema is stopped
 * until a person resumes it (`patra resume`).
 *
 * Threads. An executor is used by one thread, and has a store session and an http handle of its
 * own. The executors of a process share the state of the partitions. When wake_fd becomes readable
 * they stop: the current batch is finished, the task given back, and executor_run returns.
 */
#ifndef PATRA_ENGINE_EXECUTE_EXECUTOR_H
#define PATRA_ENGINE_EXECUTE_EXECUTOR_H

#include "base/log.h"
#include "engine/execute/commit.h"
#include "engine/execute/ending.h"
#include "engine/fetch/fetch.h"
#include "engine/source/spec_cache.h"
#include "port/body_packer.h"
#include "port/store_task.h"

/* ---- what the executors of one process share (partitions.h) ---- */

struct partitions;
bool partitions_open(struct partitions **partitions, struct error *err) MUST_CHECK;
void partitions_close(struct partitions *partitions); /* accepts NULL */

/* ---- what is seen from outside ---- */

struct cursor_advance_result; /* engine/cursor/cursor_advance.h */

enum executor_event_kind {
    EXECUTOR_STARTED, /* a task */
    EXECUTOR_WAITING, /* for a permit, or between two attempts: until until_us, and why */
    EXECUTOR_BATCH,   /* was committed; or, with err and without commit, was not received */
    EXECUTOR_ENDED,   /* a task */
    EXECUTOR_CURSOR,  /* after a task: the cursor moved, or did not */
    EXECUTOR_IDLE,    /* nothing may run before until_us, and why; until_us 0: nothing waits */
    EXECUTOR_TROUBLE, /* the store is out of reach; err says why */
};

struct executor_event { /* views, valid during the call; what does not apply is 0 or NULL */
    enum executor_event_kind kind;
    const struct task *task;
    int64_t run_id;
    int64_t now_us;
    struct str traceparent;                 /* STARTED: of the run; its requests have this trace */
    int64_t until_us;                       /* 0: unknown */
    enum wait_reason reason;                /* WAITING, IDLE */
    const struct task_partition *partition; /* IDLE: whose tasks wait; NULL: of none */
    const struct fetch_batch *batch;
    const struct commit_result *commit;
    const struct ending *ending;
    const struct cursor_advance_result *cursor;
    const struct error *err;
};

struct executor_watch { /* called in the executor's thread; embed it first */
    void (*see)(struct executor_watch *watch, const struct executor_event *event);
};

/* ---- an executor ---- */

struct executor_parts {  /* all must outlive the executor */
    struct store *store; /* a session only for this executor */
    struct http *http;   /* a handle only for this executor */
    struct gate_pool *gates;
    struct store *gate_store; /* a session only for the rate gate */
    struct partitions *partitions;
    struct spec_cache *specs; /* NULL: none */
    struct clock *clock;
    struct random_source *random;
    struct secret_source *secrets;
    const struct xml *xml;        /* NULL: loaded when it is needed */
    struct executor_watch *watch; /* may be NULL */
    struct log *log;              /* may be NULL */
    int wake_fd;                  /* CLOCK_NO_WAKE: none */
    /* For sources that archive their responses or pack their records; NULL: none does. */
    bool (*packer_open)(struct body_packer **packer, struct error *err);
};

struct executor_settings {
    struct str owner;   /* of leases: random per start of a process, another for each executor */
    struct str source;  /* only tasks of this source; '' = of all */
    bool has_partition; /* ... and of this endpoint and operation */
    struct str endpoint;
    enum operation operation;
    int64_t lease_us;      /* 0: a minute */
    int64_t poll_us;       /* how often an empty queue is looked at; 0: a second */
    int64_t batch_records; /* at most, in one transaction; 0: FETCH_RECORDS_MAX */
    bool is_draining;      /* executor_run ends when no task is left that could run */
};

struct executor;
bool executor_open(struct executor **executor, const struct executor_parts *parts,
                   const struct executor_settings *settings, struct error *err) MUST_CHECK;
void executor_close(struct executor *executor); /* accepts NULL */

enum executor_did {
    EXECUTOR_WORKED,  /* on a task, however it ended */
    EXECUTOR_NOTHING, /* no task may run before next_us */
    EXECUTOR_DRAINED, /* if settings.is_draining: no task waits that could run at all, and none is
                         under way */
};

/* Runs one task, or none. False when the executor cannot continue at all: the store is not one
 * that this program can use (L4). All other failures belong to tasks and end in their rows. */
bool executor_step(struct executor *executor, enum executor_did *did, int64_t *next_us,
                   struct error *err) MUST_CHECK;

/* Steps until wake_fd is readable, or, draining, until nothing is left. */
bool executor_run(struct executor *executor, struct error *err) MUST_CHECK;

#endif
