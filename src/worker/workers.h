/* workers: executors of this process, each in a thread of its own.
 *
 *      session.store ─┬─ another: the executor's       thread 1 ─ executor ─ gate ─ http
 *                     ├─ another: its gate's
 *                     ╰─ ...                           thread N
 *      shared by all: crew, gate pool, tokens, secrets, clock, chance, log
 *
 * The owner of their leases is this process (cli/who.h) and each thread's number:
 * "host:4711:7f3a9c2e/1". The number made by chance in it keeps a process that was restarted from
 * taking itself for the one before.
 *
 * They end when settings.wake_fd becomes readable (the batch at hand is finished, its task given
 * back), when draining and nothing is left, or when the store is not what this program needs.
 */
#ifndef PATRA_WORKER_WORKERS_H
#define PATRA_WORKER_WORKERS_H

#include "base/log.h"
#include "cli/session.h"
#include "engine/execute/executor.h"
#include "worker/stop.h"

enum { WORKERS_DEFAULT = 4, WORKERS_MAX = 64 };

struct workers_settings {
    int count;
    struct executor_settings executor; /* the owner is made here */
    int wake_fd;
    struct log *log; /* NULL: nobody reads */
    /* Gives each worker its watch; NULL: what they do goes into the log (worker/task_log.h). */
    struct executor_watch *(*watch)(void *context, int worker);
    void *context;
};

struct workers;

/* What `settings` points to must outlive them. On failure nothing runs. */
bool workers_start(struct workers **workers, struct session *session,
                   const struct workers_settings *settings, struct error *err) MUST_CHECK;

/* Looks after them until they have ended or were told to: `turn` is called ten times a second, and
 * on while they end. The first signal (worker/stop.h) makes them end, the second interrupts them.
 * Without workers (NULL) it lasts until the first signal. */
struct workers_turn {
    void (*turn)(struct workers_turn *turn, bool is_ending); /* embed it first */
};
void workers_attend(struct workers *workers, struct stop *stop, struct clock *clock,
                    struct workers_turn *turn);

/* Waits for their end, and frees all. False with the first failure; accepts NULL. */
bool workers_join(struct workers *workers, struct error *err) MUST_CHECK;

/* Options that such commands have, and their reading. */
#define WORKERS_OPTION                                                  \
    {                                                                   \
        "workers", "N", "Tasks at a time in this process, 1 to 64 (4)." \
    }
#define LEASE_OPTION                                                                       \
    {                                                                                      \
        "lease", "DURATION",                                                               \
            "A worker that shows no progress for this long loses its task, 1s to 1h (1m)." \
    }
bool workers_count(const struct invocation *invocation, int *count, struct error *err) MUST_CHECK;
bool workers_lease(const struct invocation *invocation, int64_t *lease_us,
                   struct error *err) MUST_CHECK;

#endif
