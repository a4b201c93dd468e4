/* patra work: runs workers until it is stopped. */
#include "cmd/work.h"

#include "cli/log_option.h"
#include "cli/session.h"
#include "engine/source/source_store.h"
#include "worker/notifying.h"
#include "worker/stop.h"
#include "worker/tracing.h"
#include "worker/workers.h"

static void do_nothing(struct workers_turn *turn, bool is_ending)
{
    (void)turn;
    (void)is_ending;
}

static bool work_until_stopped(struct session *session, struct workers_settings *settings,
                               struct error *err)
{
    struct workers_turn turn = { do_nothing };
    struct notifying *notifying = NULL;
    struct workers *workers;
    struct stop stop;
    bool ok = false;

    if (!stop_open(&stop, err))
        return false;
    stop_watch_store(&stop, session->store, settings->log);
    settings->wake_fd = stop.fd;
    if (notifying_start(&notifying, session, &stop, err) &&
        workers_start(&workers, session, settings, err)) {
        log_event(settings->log, LOG_INFO, "work begins", LOG_I64("workers", settings->count));
        workers_attend(workers, &stop, &session->clock, &turn);
        ok = workers_join(workers, err);
        log_event(settings->log, LOG_INFO, "work ended", LOG_BOOL("well", ok));
    }
    stop_request(&stop);
    notifying_join(notifying);
    stop_close(&stop);
    return ok;
}

/* Without this, a misspelled name would be waited for forever. */
static bool is_source(struct session *session, struct str name, struct error *err)
{
    struct source source;

    return name.len == 0 || source_load(session->store, &session->arena, name,
                                        clock_now_us(&session->clock), &source, err);
}

static bool work(const struct invocation *invocation, struct session *session, enum exit_code *code,
                 struct error *err)
{
    struct workers_settings settings = {
        .executor = { .source = str_of(invocation_value(invocation, "source")),
                      .is_draining = invocation_flag(invocation, "drain") },
    };
    struct tracing *tracing;
    struct log log;
    bool ok;

    (void)code;
    if (!workers_count(invocation, &settings.count, err) ||
        !workers_lease(invocation, &settings.executor.lease_us, err) ||
        !log_option_read(&log, invocation, &session->clock, err))
        return false;
    settings.log = &log;
    if (!is_source(session, settings.executor.source, err) ||
        !tracing_start(&tracing, session, &log, NULL, err))
        return false;
    settings.tracer = tracing_tracer(tracing);
    ok = work_until_stopped(session, &settings, err);
    tracing_join(tracing);
    return ok;
}

static enum exit_code cmd_work(const struct invocation *invocation)
{
    return session_run(invocation, work);
}

const struct command COMMAND_WORK = {
    .name = "work",
    .summary = "run queued tasks",
    .operands_max = 0,
    .description =
        "Takes tasks from the queue and runs them until it is stopped. On SIGTERM or SIGINT it\n"
        "finishes the current batches, gives its tasks back, and exits with 0; a second signal\n"
        "also ends the requests under way. Any number of processes on any number of hosts may\n"
        "work on one store. See docs/operate.md.",
    .options = { { "source", "SOURCE", "Only run tasks of this source." },
                 WORKERS_OPTION,
                 { "drain", NULL, "Exit when no task is left that could run." },
                 LEASE_OPTION,
                 LOG_OPTIONS,
                 SESSION_OPTION },
    .run = cmd_work,
};
