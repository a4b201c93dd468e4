#include "cmd/work_log.h"

struct until {
    char text[INSTANT_TEXT_MAX];
};

static struct str until_text(struct until *until, int64_t at_us)
{
    return at_us > 0 ? (struct str){ until->text, instant_format(at_us, until->text) }
                     : STR("unknown");
}

static struct str why_text(enum wait_why why)
{
    return WAIT_WHY_CODES.items[why].meaning;
}

static void tell_waiting(const struct work_log_watch *watch, const struct executor_event *event)
{
    struct until until;

    if (event->until_us - event->now_us >= WORK_LOG_WAIT_MIN_US)
        log_event(watch->log, LOG_INFO, "waiting for a permit",
                  LOG_STR("source", event->task->source), LOG_I64("task", event->task->id),
                  LOG_I64("worker", watch->worker),
                  LOG_STR("until", until_text(&until, event->until_us)),
                  LOG_STR("why", why_text(event->why)));
}

/* Every idle worker finds it once a second; it is told once. */
static void tell_circuit(struct work_log_watch *watch, const struct executor_event *event)
{
    struct until until;

    if (event->why != WAIT_CIRCUIT || event->until_us <= watch->rest_us)
        return;
    watch->rest_us = event->until_us;
    log_event(watch->log, LOG_WARN, "circuit open", LOG_I64("worker", watch->worker),
              LOG_STR("until", until_text(&until, event->until_us)));
}

static void tell_later(const struct work_log_watch *watch, const struct executor_event *event)
{
    const struct ending *ending = event->ending;
    struct until until;

    log_event(watch->log, ending->is_outage ? LOG_WARN : LOG_INFO, "task put off",
              LOG_STR("source", event->task->source), LOG_STR("endpoint", event->task->endpoint),
              LOG_I64("task", event->task->id), LOG_I64("run", event->run_id),
              LOG_STR("until", until_text(&until, ending->retry_at_us)),
              LOG_STR("why", why_text(ending->why)), LOG_STR("text", str_of(ending->text)));
}

static void tell_final(const struct work_log_watch *watch, const struct executor_event *event)
{
    const struct ending *ending = event->ending;
    const struct str status = code_of(&TASK_STATUS_CODES, (int)ending->status);

    if (ending->status == TASK_SUCCEEDED)
        log_sampled(watch->log, LOG_INFO, "task ended", LOG_STR("source", event->task->source),
                    LOG_STR("endpoint", event->task->endpoint), LOG_I64("task", event->task->id),
                    LOG_I64("run", event->run_id), LOG_STR("status", status));
    else
        log_event(
            watch->log, ending->status == TASK_FAILED ? LOG_ERROR : LOG_WARN, "task ended",
            LOG_STR("source", event->task->source), LOG_STR("endpoint", event->task->endpoint),
            LOG_I64("task", event->task->id), LOG_I64("run", event->run_id),
            LOG_STR("status", status), LOG_BOOL("cut_again", ending->is_cut),
            LOG_BOOL("source_stopped", ending->is_stop), LOG_STR("text", str_of(ending->text)));
}

static void see(struct executor_watch *port, const struct executor_event *event)
{
    struct work_log_watch *watch = (struct work_log_watch *)port;

    if (event->kind == EXECUTOR_WAITING)
        tell_waiting(watch, event);
    else if (event->kind == EXECUTOR_IDLE)
        tell_circuit(watch, event);
    else if (event->kind == EXECUTOR_TROUBLE && event->err != NULL)
        log_event(watch->log, LOG_WARN, "store out of reach", LOG_I64("worker", watch->worker),
                  LOG_STR("code", str_of(event->err->code)),
                  LOG_STR("why", str_of(event->err->text)));
    else if (event->kind == EXECUTOR_ENDED && event->ending->kind == ENDING_LATER)
        tell_later(watch, event);
    else if (event->kind == EXECUTOR_ENDED && event->ending->kind == ENDING_FINAL)
        tell_final(watch, event);
}

static struct executor_watch *watch_of(void *context, int worker)
{
    struct work_log *work_log = context;

    return &work_log->watches[worker].watch;
}

void work_log_init(struct work_log *work_log, struct workers_settings *settings)
{
    work_log->log = settings->log;
    for (int i = 0; i < WORKERS_MAX; i++)
        work_log->watches[i] =
            (struct work_log_watch){ .watch = { see }, .log = settings->log, .worker = i + 1 };
    settings->watch = watch_of;
    settings->context = work_log;
}
