/* work_log: what executors do, as lines of the log, for commands without a display.
 *
 * A worker that waits long, a circuit that opens, a task that is put off, a task that ends: each is
 * one line with its source, until when and why. Waits shorter than WORK_LOG_WAIT_MIN_US are routine
 * and not told; tasks that succeed are sampled (base/log.h).
 */
#ifndef PATRA_CMD_WORK_LOG_H
#define PATRA_CMD_WORK_LOG_H

#include "cmd/workers.h"

#define WORK_LOG_WAIT_MIN_US (5 * US_PER_SECOND)

struct work_log {
    struct log *log;
    struct work_log_watch {
        struct executor_watch watch; /* first */
        struct log *log;
        int worker;
        int64_t rest_us; /* the circuit that was told last is open until then */
    } watches[WORKERS_MAX];
};

/* Makes `settings` write into its log; `work_log` must outlive the workers. */
void work_log_init(struct work_log *work_log, struct workers_settings *settings);

#endif
