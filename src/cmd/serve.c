/* patra serve: fires schedules and runs workers until it is stopped. */
#include "cmd/serve.h"

#include <inttypes.h>

#include "adapter/system/system.h"
#include "cli/log_option.h"
#include "cli/session.h"
#include "cli/who.h"
#include "cmd/publish.h"
#include "engine/housekeeping/housekeeping.h"
#include "engine/schedule/fire.h"
#include "engine/session/store_retry.h"
#include "engine/session/store_time.h"
#include "worker/alerting.h"
#include "worker/alive.h"
#include "worker/importing.h"
#include "worker/listening.h"
#include "worker/meter_table.h"
#include "worker/notifying.h"
#include "worker/plan_trace.h"
#include "worker/projection_sink.h"
#include "worker/publishing.h"
#include "worker/readers.h"
#include "worker/relay_bus.h"
#include "worker/retaining.h"
#include "worker/stop.h"
#include "worker/tracing.h"
#include "worker/workers.h"

/* The planner looks again after at most this long, because sources are added and changed. */
#define TURN_MAX_US (5 * US_PER_SECOND)
/* ... and not sooner than this, even if a schedule is due earlier. */
#define TURN_MIN_US (US_PER_SECOND / 2)

enum { RECLAIM_MAX = 1000, RESLICE_MAX = 1000 };

struct serve {
    struct workers_turn turn; /* first */
    struct schedule_listener listener;
    struct session *session;
    struct log *log;
    struct alive alive;
    bool is_planner;
    bool is_executor;
    bool is_publisher;
    bool is_consumer;
    bool is_api;
    struct listening_settings listen;
    struct meters *meters;
    struct tracing *tracing; /* NULL: nobody wants spans */
    int64_t keep_us;         /* of events */
    int64_t alerts_us;       /* the period of alerts; 0: off */
    const char *retention;   /* a folder; NULL: off */
    char owner[WHO_PROCESS_MAX];
    int64_t next_us; /* monotonic: of the planner's turns */
    struct plan_trace plans;
    bool is_failing; /* the planner, at its last turn */
    enum clock_jump jump;
    struct schedule_memory schedules;
    struct store_retry retry;
    struct relay_bus_parts bus;
    struct projection_sink_parts sink;
};

/* ---- the planner ---- */

/* A period that the cursor has passed and that nothing covers. */
static void log_gap(struct log *log, const struct schedule_fired *fired)
{
    char from[INSTANT_TEXT_MAX] = "", to[INSTANT_TEXT_MAX] = "";

    if (window_is_valid(fired->gap)) {
        (void)instant_format(fired->gap.from_us, from);
        (void)instant_format(fired->gap.to_us, to);
    }
    if (fired->err != NULL)
        log_event(log, LOG_WARN, "gap not replayed", LOG_STR("source", fired->source),
                  LOG_STR("from", str_of(from)), LOG_STR("to", str_of(to)),
                  LOG_STR("code", str_of(fired->err->code)),
                  LOG_STR("error", str_of(fired->err->text)));
    else
        log_event(log, LOG_WARN, "gap replayed", LOG_STR("source", fired->source),
                  LOG_STR("from", str_of(from)), LOG_STR("to", str_of(to)),
                  LOG_I64("plan", fired->result->plan_id),
                  LOG_I64("slices", fired->result->slices));
}

static void log_fired(struct schedule_listener *listener, const struct schedule_fired *fired)
{
    struct serve *serve = (struct serve *)((char *)listener - offsetof(struct serve, listener));
    char tick[INSTANT_TEXT_MAX];
    const size_t len = instant_format(fired->tick_us, tick);

    plan_trace_end(&serve->plans, &(struct plan_traced){ fired->source, fired->operation,
                                                         fired->result, fired->err });
    if (fired->is_gap)
        log_gap(serve->log, fired);
    else if (fired->err != NULL)
        log_event(
            serve->log, LOG_WARN, "schedule failed", LOG_STR("source", fired->source),
            LOG_STR("operation", fired->operation), LOG_STR("tick", ((struct str){ tick, len })),
            LOG_STR("code", str_of(fired->err->code)), LOG_STR("error", str_of(fired->err->text)));
    else
        log_event(
            serve->log, LOG_INFO, "schedule fired", LOG_STR("source", fired->source),
            LOG_STR("operation", fired->operation), LOG_STR("tick", ((struct str){ tick, len })),
            LOG_I64("plan", fired->result->plan_id), LOG_I64("slices", fired->result->slices));
}

/* When it is noticed, and when it is over. */
static void log_jump(struct serve *serve, const struct store_time *time)
{
    if (serve->jump != time->jump && time->jump == CLOCK_AHEAD)
        log_event(serve->log, LOG_WARN, "clock set ahead", LOG_I64("by_us", time->by_us),
                  LOG_STR("hint", STR("patra goes on by the time before that; set the clock right, "
                                      "or run: patra clock accept")));
    else if (serve->jump != time->jump)
        log_event(serve->log, LOG_INFO, "clock right again", LOG_I64("by_us", time->by_us));
    serve->jump = time->jump;
}

static bool plan_turn(struct serve *serve, int64_t *next_in_us, struct error *err)
{
    struct store *store = serve->session->store;
    const struct str owner = str_of(serve->owner);
    struct schedule_fire_result fired;
    struct housekeeping_request chores = { .owner = owner,
                                           .leases_max = RECLAIM_MAX,
                                           .tickets_max = RESLICE_MAX,
                                           .specs = serve->session->specs };
    struct housekeeping_result done;
    struct store_time time;
    int64_t now_us;

    if (!store_retry_ready(&serve->retry, err) ||
        !store_time(store, &serve->session->clock, &time, err))
        return false;
    log_jump(serve, &time);
    plan_trace_begin(&serve->plans);
    chores.now_us = now_us = time.now_us;
    if (!housekeeping_run(store, &chores, &done, err) ||
        !schedule_fire_due(
            store,
            &(struct schedule_fire_request){ .owner = owner,
                                             .now_us = now_us,
                                             .memory = &serve->schedules,
                                             .listener = &serve->listener,
                                             .specs = serve->session->specs,
                                             .secrets = &serve->session->secrets.source,
                                             .random = &serve->session->random,
                                             .watch = plan_trace_watch(&serve->plans) },
            &fired, err))
        return false;
    if (done.leases > 0)
        log_event(serve->log, LOG_WARN, "leases expired", LOG_I64("tasks", done.leases));
    if (done.tickets > 0)
        log_event(serve->log, LOG_INFO, "slices re-sliced", LOG_I64("slices", done.tickets),
                  LOG_I64("pieces", done.children));
    *next_in_us = TURN_MAX_US;
    if (fired.next.is_set && fired.next.at_us - now_us < TURN_MAX_US)
        *next_in_us = fired.next.at_us - now_us;
    return true;
}

/* A failure is retried at the next turn. It is logged when it begins and when it is over. */
static void serve_turn(struct workers_turn *turn, bool is_ending)
{
    struct serve *serve = (struct serve *)turn;
    const int64_t monotonic_us = clock_monotonic_us(&serve->session->clock);
    int64_t next_in_us = TURN_MAX_US;
    struct error err;

    alive_beat(&serve->alive, &serve->session->clock, serve->log);
    if (is_ending || !serve->is_planner || monotonic_us < serve->next_us)
        return;
    if (plan_turn(serve, &next_in_us, &err)) {
        if (serve->is_failing)
            log_event(serve->log, LOG_INFO, "planner recovered",
                      LOG_STR("owner", str_of(serve->owner)));
        serve->is_failing = false;
    } else {
        (void)store_retry_failed(&serve->retry, &err);
        if (!serve->is_failing)
            log_event(serve->log, LOG_ERROR, "planner failed", LOG_STR("code", str_of(err.code)),
                      LOG_STR("errorLevel", str_of(error_level_name(err.level))),
                      LOG_STR("error", str_of(err.text)));
        serve->is_failing = true;
    }
    serve->next_us = monotonic_us + (next_in_us < TURN_MIN_US ? TURN_MIN_US : next_in_us);
}

/* ---- from start to end ---- */

/* The publisher, and the relays beside it. */
static bool start_publishing(struct serve *serve, struct stop *stop, struct publishing **publishing,
                             struct readers **relays, struct error *err)
{
    const struct readers_settings settings = { .kind = &RELAY_READERS,
                                               .log = serve->log,
                                               .meters = serve->meters,
                                               .tracer = tracing_tracer(serve->tracing),
                                               .stop = stop,
                                               .context = &serve->bus };

    if (!serve->is_publisher)
        return true;
    serve->bus =
        (struct relay_bus_parts){ &serve->session->secrets.source, &serve->session->clock };
    return publishing_start(publishing,
                            &(struct publishing_parts){ .session = serve->session,
                                                        .log = serve->log,
                                                        .stop = stop,
                                                        .keep_us = serve->keep_us },
                            err) &&
           readers_start(relays, serve->session, &settings, err);
}

static bool start_consuming(struct serve *serve, struct stop *stop, struct readers **consumers,
                            struct error *err)
{
    const struct readers_settings settings = { .kind = &PROJECTION_READERS,
                                               .log = serve->log,
                                               .meters = serve->meters,
                                               .tracer = tracing_tracer(serve->tracing),
                                               .stop = stop,
                                               .context = &serve->sink };

    serve->sink = (struct projection_sink_parts){ .secrets = &serve->session->secrets.source };
    return !serve->is_consumer || readers_start(consumers, serve->session, &settings, err);
}

static bool serve_until_stopped(struct serve *serve, struct workers_settings *settings,
                                struct error *err)
{
    struct publishing *publishing = NULL;
    struct notifying *notifying = NULL;
    struct importing *importing = NULL;
    struct readers *relays = NULL;
    struct readers *consumers = NULL;
    struct workers *workers = NULL;
    struct listening *listening = NULL;
    struct alerting *alerting = NULL;
    struct retaining *retaining = NULL;
    struct error later;
    struct stop stop;
    bool ok;

    if (!stop_open(&stop, err))
        return false;
    stop_watch_store(&stop, serve->session->store, serve->log);
    settings->wake_fd = stop.fd;
    ok = alive_begin(&serve->alive, &serve->session->clock, err) &&
         listening_start(&listening, &serve->listen,
                         &(struct listening_parts){ serve->session, serve->log, serve->meters },
                         err) &&
         notifying_start(&notifying, serve->session, &stop, err) &&
         (!serve->is_publisher ||
          importing_start(&importing, serve->session, serve->log, &stop, err)) &&
         start_publishing(serve, &stop, &publishing, &relays, err) &&
         start_consuming(serve, &stop, &consumers, err) &&
         (!serve->is_planner || serve->alerts_us == 0 ||
          alerting_start(&alerting,
                         &(struct alerting_parts){ serve->session, serve->log, &stop,
                                                   serve->alerts_us, serve->meters },
                         err)) &&
         (serve->retention == NULL ||
          retaining_start(
              &retaining,
              &(struct retaining_parts){ serve->session, serve->log, &stop, serve->retention },
              err)) &&
         (!serve->is_executor || workers_start(&workers, serve->session, settings, err));
    if (ok) {
        log_event(serve->log, LOG_INFO, "serving", LOG_STR("store", serve->session->dsn),
                  LOG_BOOL("planner", serve->is_planner),
                  LOG_I64("workers", serve->is_executor ? settings->count : 0),
                  LOG_BOOL("publisher", serve->is_publisher),
                  LOG_BOOL("consumer", serve->is_consumer), LOG_BOOL("api", serve->is_api));
        workers_attend(workers, &stop, &serve->session->clock, &serve->turn);
        ok = workers_join(workers, err);
    }
    stop_request(&stop);
    listening_stop(listening);
    readers_join(consumers);
    readers_join(relays);
    ok = publishing_join(publishing, ok ? err : &later) && ok;
    alerting_join(alerting);
    retaining_join(retaining);
    importing_join(importing);
    notifying_join(notifying);
    alive_end(&serve->alive);
    log_event(serve->log, LOG_INFO, "served", LOG_BOOL("well", ok));
    stop_close(&stop);
    return ok;
}

static bool read_roles(const struct invocation *invocation, struct serve *serve, struct error *err)
{
    const char *given = invocation_value(invocation, "role");
    struct str rest = str_of(given != NULL ? given : "planner,executor,publisher,consumer");

    serve->is_api = given == NULL && invocation_value(invocation, "listen") != NULL;

    do {
        const struct str role = str_trim(str_cut(&rest, ','));

        if (str_eq(role, STR("planner")))
            serve->is_planner = true;
        else if (str_eq(role, STR("executor")))
            serve->is_executor = true;
        else if (str_eq(role, STR("publisher")))
            serve->is_publisher = true;
        else if (str_eq(role, STR("consumer")))
            serve->is_consumer = true;
        else if (str_eq(role, STR("api")))
            serve->is_api = true;
        else
            return command_misused(
                err, "--role: '%.*s' is not planner, executor, publisher, consumer or api",
                STR_ARG(role));
    } while (rest.len > 0);
    return true;
}

static bool read_options(const struct invocation *invocation, struct serve *serve,
                         struct workers_settings *settings, struct error *err)
{
    return read_roles(invocation, serve, err) &&
           listening_read(invocation, serve->is_api, &serve->listen, err) &&
           publish_keep(invocation, &serve->keep_us, err) &&
           alerting_period(invocation, &serve->alerts_us, err) &&
           workers_count(invocation, &settings->count, err) &&
           workers_lease(invocation, &settings->executor.lease_us, err);
}

static bool serve(const struct invocation *invocation, struct session *session,
                  enum exit_code *code, struct error *err)
{
    struct serve serve = { .turn = { serve_turn },
                           .listener = { log_fired },
                           .session = session,
                           .retry = { .store = session->store } };
    struct random_source random = system_random();
    struct workers_settings settings = { 0 };
    struct log log;
    bool ok;

    (void)code;
    if (!read_options(invocation, &serve, &settings, err) ||
        !log_option_read(&log, invocation, &session->clock, err) ||
        !worker_meters_open(&serve.meters, err))
        return false;
    if (!tracing_start(&serve.tracing, session, &log, serve.meters, err)) {
        meters_close(serve.meters);
        return false;
    }
    who_process(serve.owner, random_source_u64(&random), "planner");
    serve.alive.path = invocation_value(invocation, "alive-file");
    serve.retention = invocation_value(invocation, "retention");
    serve.log = settings.log = &log;
    settings.meters = serve.meters;
    settings.tracer = tracing_tracer(serve.tracing);
    plan_trace_init(&serve.plans, &(struct plan_trace_parts){ tracing_tracer(serve.tracing),
                                                              &session->clock, &session->random });
    schedule_memory_init(&serve.schedules);
    ok = serve_until_stopped(&serve, &settings, err);
    schedule_memory_release(&serve.schedules);
    tracing_join(serve.tracing);
    meters_close(serve.meters);
    return ok;
}

/* Checks the options first, so that nothing is created for a misspelled one. */
static bool init(const struct invocation *invocation, struct error *err)
{
    struct workers_settings settings;
    struct session session = { 0 };
    struct serve options = { 0 };
    struct session_made made;
    const bool ok = read_options(invocation, &options, &settings, err) &&
                    session_init(&session, invocation, &made, err);

    session_close(&session);
    return ok;
}

static enum exit_code cmd_serve(const struct invocation *invocation)
{
    struct error err;

    if (invocation_flag(invocation, "init") && !init(invocation, &err))
        return command_failed(invocation, &err);
    return session_run(invocation, serve);
}

const struct command COMMAND_SERVE = {
    .name = "serve",
    .summary = "run as a service: fire schedules, run tasks",
    .operands_max = 0,
    .description =
        "Runs until it is stopped. The planner fires operations that have `every` or a cron line\n"
        "when they are due, re-slices what executors asked for, puts back the tasks of dead\n"
        "workers, and sends alerts (patra alert). The executor runs tasks. The publisher gives\n"
        "events their place in the stream and hands them on to each bus (patra bus apply). The\n"
        "consumer applies them to projections (patra projection apply). The api answers HTTP: see\n"
        "docs/api.md. Any number of processes may serve one store: each tick fires once, each\n"
        "alert is sent by one of them, each task belongs to one\n"
        "worker, one publisher is at work while the others wait, and relays and consumers share\n"
        "the lanes of the stream. On SIGTERM or SIGINT it finishes the current batches, gives\n"
        "its tasks back, and exits with 0. If it cannot start, the exit code is 3 when the store\n"
        "is unreachable, and 4 when it does not exist or has another schema. See\n"
        "docs/operate.md.",
    .options = { { "role", "ROLES",
                   "One or more of planner, executor, publisher, consumer (all of these), api." },
                 { "init", NULL, "First create or migrate the store, as patra init does." },
                 LISTENING_OPTIONS,
                 WORKERS_OPTION,
                 LEASE_OPTION,
                 ALIVE_OPTION,
                 PUBLISH_KEEP_OPTION,
                 ALERTING_OPTION,
                 RETAINING_OPTION,
                 LOG_OPTIONS,
                 SESSION_OPTION },
    .run = cmd_serve,
};
