/* Events of executors as lines of a log. */
#include "worker/task_log.h"

#include <inttypes.h>
#include <stdio.h>

enum { WINDOW_MAX = 2 * INSTANT_TEXT_MAX + 4, NEXT_MAX = 256 };

/* In the order in which a person reads them. The correlation is that of the requests of the batch
 * with this number. */
#define LINEAGE(event, batch_no)                                                            \
    LOG_STR("source", (event)->task->source), LOG_STR("endpoint", (event)->task->endpoint), \
        LOG_STR("operation", code_of(&OPERATION_CODES, (int)(event)->task->operation)),     \
        LOG_I64("schedule", (event)->task->schedule_instance_id),                           \
        LOG_I64("plan", (event)->task->plan_id), LOG_I64("slice", (event)->task->slice_id), \
        LOG_I64("task", (event)->task->id), LOG_I64("run", (event)->run_id),                \
        LOG_STR("correlationId",                                                            \
                correlation_text(&(struct correlation){ "" }, (event)->run_id, batch_no))

struct correlation {
    char text[64];
};

/* As the header of the request has it. */
static struct str correlation_text(struct correlation *correlation, int64_t run_id,
                                   int64_t batch_no)
{
    const int len = snprintf(correlation->text, sizeof(correlation->text),
                             "ing-%" PRId64 "-%" PRId64, run_id, batch_no);

    return (struct str){ correlation->text, (size_t)len };
}

static struct str window_text(struct window window, char text[WINDOW_MAX])
{
    char from[INSTANT_TEXT_MAX], to[INSTANT_TEXT_MAX];

    if (!window_is_valid(window))
        return STR("-");
    (void)instant_format(window.from_us, from);
    (void)instant_format(window.to_us, to);
    (void)snprintf(text, WINDOW_MAX, "%s..%s", from, to);
    return str_of(text);
}

/* ---- waiting ---- */

struct until {
    char text[INSTANT_TEXT_MAX];
};

static struct str until_text(struct until *until, int64_t at_us)
{
    return at_us > 0 ? (struct str){ until->text, instant_format(at_us, until->text) }
                     : STR("unknown");
}

static struct str reason_text(enum wait_reason reason)
{
    return WAIT_REASON_CODES.items[reason].meaning;
}

static void log_waiting(const struct task_log *mine, const struct executor_event *event)
{
    struct until until;

    if (event->until_us - event->now_us >= TASK_LOG_WAIT_MIN_US)
        log_event(mine->log, LOG_INFO, "waiting for a permit", LINEAGE(event, mine->batch_no + 1),
                  LOG_STR("until", until_text(&until, event->until_us)),
                  LOG_STR("reason", reason_text(event->reason)));
}

/* Every idle worker finds it once a second; it is logged once. */
static void log_circuit(struct task_log *mine, const struct executor_event *event)
{
    struct until until;

    if (event->reason != WAIT_CIRCUIT || event->until_us <= mine->rest_us)
        return;
    mine->rest_us = event->until_us;
    log_event(mine->log, LOG_WARN, "circuit open", LOG_I64("worker", mine->worker),
              LOG_STR("source", event->partition->source),
              LOG_STR("endpoint", event->partition->endpoint),
              LOG_STR("operation", code_of(&OPERATION_CODES, (int)event->partition->operation)),
              LOG_STR("healing", STR("circuitOpen")),
              LOG_STR("until", until_text(&until, event->until_us)));
}

/* ---- batches ---- */

/* The hash of the response's beginning, as the batch row has it: to be compared, not to be read. */
static struct str sample_of(struct str digest)
{
    static const struct str name = STR_INIT("\"sample\":\"");
    struct str rest = str_slice(digest, str_find(digest, name), digest.len);

    return rest.len > name.len ? (rest = str_slice(rest, name.len, rest.len), str_cut(&rest, '"'))
                               : STR("");
}

static void log_failed(const struct task_log *mine, const struct executor_event *event)
{
    const struct error *err = event->err;

    log_event(mine->log, err->level == ERROR_FATAL ? LOG_ERROR : LOG_WARN, "batch failed",
              LINEAGE(event, event->batch->batch_no),
              LOG_STR("errorLevel", str_of(error_level_name(err->level))),
              LOG_STR("code", str_of(err->code)), LOG_STR("error", str_of(err->text)),
              LOG_I64("status", event->batch->counts.status),
              LOG_STR("sample", sample_of(event->batch->response_digest)),
              LOG_I64("requests", event->batch->counts.requests));
}

static void log_stored(const struct task_log *mine, const struct executor_event *event)
{
    const struct commit_result *commit = event->commit;
    const struct fetch_counts *counts = &event->batch->counts;

    log_sampled(mine->log, LOG_INFO, "batch committed", LINEAGE(event, event->batch->batch_no),
                LOG_I64("batch", commit->batch_id), LOG_I64("items", counts->items),
                LOG_I64("created", commit->created), LOG_I64("updated", commit->updated),
                LOG_I64("deleted", commit->deleted), LOG_I64("quarantined", commit->quarantined),
                LOG_I64("status", counts->status), LOG_I64("latency_us", counts->latency_us),
                LOG_I64("waited_us", counts->waited_us), LOG_I64("retries", counts->retries));
}

/* What was decided about trouble, whether or not the batch came to be. */
static void log_healing(const struct task_log *mine, const struct executor_event *event)
{
    const struct fetch_counts *counts = &event->batch->counts;

    if (counts->slowed > 0)
        log_event(mine->log, LOG_WARN, "rate lowered", LINEAGE(event, event->batch->batch_no),
                  LOG_STR("healing", STR("qpsDownshift")), LOG_I64("times", counts->slowed),
                  LOG_I64("throttled", counts->throttled));
    if (counts->page_shrunk)
        log_event(mine->log, LOG_WARN, "pages made smaller", LINEAGE(event, event->batch->batch_no),
                  LOG_STR("healing", STR("pageSizeShrink")),
                  LOG_I64("page_size", event->batch->page_size));
}

static void log_batch(struct task_log *mine, const struct executor_event *event)
{
    const struct commit_result *commit = event->commit;

    mine->batch_no = event->batch->batch_no;
    mine->requests += event->batch->counts.requests;
    log_healing(mine, event);
    if (event->err != NULL) {
        log_failed(mine, event);
        return;
    }
    mine->batches++;
    mine->created += commit->created;
    mine->updated += commit->updated;
    mine->deleted += commit->deleted;
    mine->quarantined += commit->quarantined;
    log_stored(mine, event);
}

/* ---- ends ---- */

static void log_stop(const struct task_log *mine, const struct executor_event *event)
{
    const struct str source = event->task->source;
    char next[NEXT_MAX];

    (void)snprintf(next, sizeof(next), "fix the cause, then run: patra resume %.*s",
                   STR_ARG(source));
    log_event(mine->log, LOG_ERROR, "source stopped", LINEAGE(event, mine->batch_no),
              LOG_STR("errorLevel", STR("L4")), LOG_STR("reason", str_of(event->ending->text)),
              LOG_STR("next", str_of(next)));
}

static void log_final(const struct task_log *mine, const struct executor_event *event)
{
    const struct ending *ending = event->ending;
    const bool is_well = ending->status == TASK_SUCCEEDED || ending->status == TASK_CANCELLED;
    const char *what = ending->status == TASK_SUCCEEDED   ? "task succeeded"
                       : ending->status == TASK_CANCELLED ? "task cancelled"
                       : ending->status == TASK_PARTIAL   ? "task partial"
                                                          : "task failed";
    char window[WINDOW_MAX];

    log_event(mine->log, is_well ? LOG_INFO : LOG_WARN, what, LINEAGE(event, mine->batch_no),
              LOG_STR("window", window_text(event->task->window, window)),
              LOG_I64("batches", mine->batches), LOG_I64("requests", mine->requests),
              LOG_I64("created", mine->created), LOG_I64("updated", mine->updated),
              LOG_I64("deleted", mine->deleted), LOG_I64("quarantined", mine->quarantined),
              LOG_I64("took_us", event->now_us - mine->started_us),
              LOG_BOOL("resliced", ending->needs_reslice), LOG_STR("reason", str_of(ending->text)));
    if (ending->needs_reslice)
        log_event(mine->log, LOG_WARN, "slice to be re-sliced", LINEAGE(event, mine->batch_no),
                  LOG_STR("healing", STR("reslice")), LOG_STR("reason", str_of(ending->text)));
    if (ending->is_stop)
        log_stop(mine, event);
}

/* A task that may be taken again at once is given back: the worker was stopped, or it is paused. */
static void log_later(const struct task_log *mine, const struct executor_event *event)
{
    const struct ending *ending = event->ending;
    struct until until;

    if (ending->retry_at_us > event->now_us)
        log_event(mine->log, ending->is_outage ? LOG_WARN : LOG_INFO, "task put off",
                  LINEAGE(event, mine->batch_no), LOG_I64("batches", mine->batches),
                  LOG_STR("until", until_text(&until, ending->retry_at_us)),
                  LOG_STR("waiting_for", reason_text(ending->retry_reason)),
                  LOG_STR("reason", str_of(ending->text)));
    else
        log_event(mine->log, ending->is_outage ? LOG_WARN : LOG_INFO, "task given back",
                  LINEAGE(event, mine->batch_no), LOG_I64("batches", mine->batches),
                  LOG_STR("reason", str_of(ending->text)));
}

static void log_ended(const struct task_log *mine, const struct executor_event *event)
{
    const struct ending *ending = event->ending;

    switch (ending->kind) {
    case ENDING_FINAL:
        log_final(mine, event);
        return;
    case ENDING_LATER:
        log_later(mine, event);
        return;
    case ENDING_OVERTAKEN:
        log_event(mine->log, LOG_WARN, "task overtaken", LINEAGE(event, mine->batch_no),
                  LOG_STR("reason", str_of(ending->text)));
        return;
    }
}

/* ---- the store ---- */

/* Any other event shows that the store answers. */
static void log_trouble(struct task_log *mine, const struct executor_event *event)
{
    const bool is_trouble = event->kind == EXECUTOR_TROUBLE;

    if (is_trouble && !mine->is_troubled)
        log_event(mine->log, LOG_WARN, "store out of reach", LOG_I64("worker", mine->worker),
                  LOG_STR("code", str_of(event->err->code)),
                  LOG_STR("error", str_of(event->err->text)));
    else if (!is_trouble && mine->is_troubled)
        log_event(mine->log, LOG_INFO, "store answers", LOG_I64("worker", mine->worker));
    mine->is_troubled = is_trouble;
}

/* ---- all of them ---- */

static void begin(struct task_log *mine, const struct executor_event *event)
{
    const struct task *task = event->task;
    char window[WINDOW_MAX];
    struct until until;

    *mine = (struct task_log){ .watch = mine->watch,
                               .log = mine->log,
                               .worker = mine->worker,
                               .rest_us = mine->rest_us,
                               .started_us = event->now_us };
    log_event(mine->log, LOG_INFO, "task taken", LINEAGE(event, mine->batch_no),
              LOG_I64("worker", mine->worker), LOG_STR("owner", task->lease_owner),
              LOG_I64("epoch", task->lease_epoch), LOG_I64("leases", task->lease_count),
              LOG_STR("leased_until", until_text(&until, task->leased_until_us)),
              LOG_STR("window", window_text(task->window, window)),
              LOG_I64("attempt", task->attempts));
}

static void see(struct executor_watch *watch, const struct executor_event *event)
{
    struct task_log *mine = (struct task_log *)watch;

    if (event->kind != EXECUTOR_WAITING) /* the gate may wait without the store */
        log_trouble(mine, event);
    switch (event->kind) {
    case EXECUTOR_STARTED:
        begin(mine, event);
        return;
    case EXECUTOR_BATCH:
        log_batch(mine, event);
        return;
    case EXECUTOR_ENDED:
        log_ended(mine, event);
        return;
    case EXECUTOR_WAITING:
        log_waiting(mine, event);
        return;
    case EXECUTOR_IDLE:
        log_circuit(mine, event);
        return;
    case EXECUTOR_CURSOR:
    case EXECUTOR_TROUBLE:
        return;
    }
}

struct executor_watch *task_log_init(struct task_log *task_log, struct log *log, int worker)
{
    *task_log = (struct task_log){ .watch = { see }, .log = log, .worker = worker };
    return &task_log->watch;
}
