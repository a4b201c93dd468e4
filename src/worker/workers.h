/* workers: the executors of this process, each in a thread of its own.
 *
 *      session.store ─┬─ another: the executor's       thread 1 ─ executor ─ gate ─ http
 *                     ├─ another: its gate's
 *                     ╰─ ...                           thread N
 *      shared by all: partitions, gate pool, tokens, secrets, clock, random, log
 *
 * The owner of their leases is this process (cli/who.h) and the thread's number:
 * "host:4711:7f3a9c2e/1". The random number in it keeps a restarted process apart from the one
 * before.
 *
 * They end when settings.wake_fd becomes readable (they finish their batch and give the task back),
 * when draining and no task is left, or when the store has another schema than this program.
 */
#ifndef PATRA_WORKER_WORKERS_H
#define PATRA_WORKER_WORKERS_H

#include "base/log.h"
#include "base/meter.h"
#include "base/span.h"
#include "cli/session.h"
#include "engine/execute/executor.h"
#include "worker/stop.h"

enum { WORKERS_DEFAULT = 4, WORKERS_MAX = 64 };

struct workers_settings {
    int count;
    struct executor_settings executor; /* its owner is set by workers_start */
    int wake_fd;
    struct log *log;       /* NULL: none */
    struct meters *meters; /* what goes into the log is counted, too; NULL: it is not */
    struct tracer *tracer; /* what a watch sees becomes spans, as requests do; NULL: it does not */
    /* Returns the watch of a worker; NULL: events go into the log (worker/task_log.h). */
    struct executor_watch *(*watch)(void *context, int worker);
    void *context;
};

struct workers;

/* What `settings` points to must outlive them. On failure nothing runs. */
bool workers_start(struct workers **workers, struct session *session,
                   const struct workers_settings *settings, struct error *err) MUST_CHECK;

/* Returns when they have ended. Until then it calls `turn` fifty times a second, also while they
 * are ending. The first signal (worker/stop.h) makes them end, the second interrupts their
 * requests. Without workers (NULL) it returns at the first signal. */
struct workers_turn {
    void (*turn)(struct workers_turn *turn, bool is_ending); /* embed it first */
};
void workers_attend(struct workers *workers, struct stop *stop, struct clock *clock,
                    struct workers_turn *turn);

/* Waits for their end and frees them. False with the first failure. Accepts NULL. */
bool workers_join(struct workers *workers, struct error *err) MUST_CHECK;

/* Options of commands that have workers. */
#define WORKERS_OPTION                                                        \
    {                                                                         \
        "workers", "N", "Run N tasks at a time in this process, 1 to 64 (4)." \
    }
#define LEASE_OPTION                                                                   \
    {                                                                                  \
        "lease", "DURATION",                                                           \
            "Take a task from a worker without progress for this long, 1s to 1h (1m)." \
    }
bool workers_count(const struct invocation *invocation, int *count, struct error *err) MUST_CHECK;
bool workers_lease(const struct invocation *invocation, int64_t *lease_us,
                   struct error *err) MUST_CHECK;

#endif
