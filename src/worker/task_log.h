/* task_log: events of executors as lines of a log, for `patra work` and `patra serve`.
 *
 *      info   task taken         by which worker, under which lease, and its window
 *      info   batch committed    sampled, always the first (cli/log_option.h)
 *      warn   batch failed       level, code, the request, and the hash of what came; L4: error
 *      warn   rate lowered, pages made smaller, slice to be re-sliced: what patra does about it
 *      info   task succeeded     with its sums; task given back: stopped, or paused
 *      warn   task partial, task failed, task put off (until when), task overtaken
 *      info   waiting for a permit  until when and why; not below TASK_LOG_WAIT_MIN_US
 *      warn   circuit open       until when; once
 *      error  source stopped     an L4: nothing of it runs until patra resume
 *      warn   store out of reach once, until it answers again: store answers (info)
 *
 * Every line of a task has its lineage: source, endpoint, operation, schedule, plan, slice, task,
 * run, and the correlation that its requests carry. Texts are those of errors, which hold no
 * secrets; the log masks personal data (base/log.h).
 */
#ifndef PATRA_WORKER_TASK_LOG_H
#define PATRA_WORKER_TASK_LOG_H

#include "base/log.h"
#include "engine/execute/executor.h"

#define TASK_LOG_WAIT_MIN_US (5 * US_PER_SECOND)

struct task_log {                /* one per worker; the zero value with a log */
    struct executor_watch watch; /* first */
    struct log *log;
    int worker;
    int64_t started_us;
    int64_t batch_no; /* the last one */
    int64_t batches, requests, created, updated, deleted, quarantined;
    int64_t rest_us; /* until when the circuit logged last is open */
    bool is_troubled;
};

/* Returns its watch. Both must outlive the worker, whose number is logged where there is no task.
 */
struct executor_watch *task_log_init(struct task_log *task_log, struct log *log, int worker);

#endif
