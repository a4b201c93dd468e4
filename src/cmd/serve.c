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
#include "port/store_rate.h"
#include "worker/alive.h"
#include "worker/importing.h"
#include "worker/notifying.h"
#include "worker/projection_sink.h"
#include "worker/publishing.h"
#include "worker/readers.h"
#include "worker/relay_bus.h"
#include "worker/stop.h"
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
    int64_t keep_us; /* of events */
    char owner[WHO_PROCESS_MAX];
    int64_t next_us; /* monotonic: of the planner's turns */
    bool is_failing; /* the planner, at its last turn */
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
    const struct serve *serve =
        (const struct serve *)((const char *)listener - offsetof(struct serve, listener));
    char tick[INSTANT_TEXT_MAX];
    const size_t len = instant_format(fired->tick_us, tick);

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
    int64_t now_us;

    if (!store_retry_ready(&serve->retry, err) ||
        !store_clock(store, clock_now_us(&serve->session->clock), &now_us, err))
        return false;
    chores.now_us = now_us;
    if (!housekeeping_run(store, &chores, &done, err) ||
        !schedule_fire_due(
            store,
            &(struct schedule_fire_request){ .owner = owner,
                                             .now_us = now_us,
                                             .listener = &serve->listener,
                                             .specs = serve->session->specs,
                                             .secrets = &serve->session->secrets.source,
                                             .random = &serve->session->random },
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
    const struct readers_settings settings = {
        .kind = &RELAY_READERS, .log = serve->log, .stop = stop, .context = &serve->bus
    };

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
    const struct readers_settings settings = {
        .kind = &PROJECTION_READERS, .log = serve->log, .stop = stop, .context = &serve->sink
    };

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
    struct error later;
    struct stop stop;
    bool ok;

    if (!stop_open(&stop, err))
        return false;
    settings->wake_fd = stop.fd;
    ok = alive_begin(&serve->alive, &serve->session->clock, err) &&
         notifying_start(&notifying, serve->session, &stop, err) &&
         (!serve->is_publisher ||
          importing_start(&importing, serve->session, serve->log, &stop, err)) &&
         start_publishing(serve, &stop, &publishing, &relays, err) &&
         start_consuming(serve, &stop, &consumers, err) &&
         (!serve->is_executor || workers_start(&workers, serve->session, settings, err));
    if (ok) {
        log_event(serve->log, LOG_INFO, "serving", LOG_STR("store", serve->session->dsn),
                  LOG_BOOL("planner", serve->is_planner),
                  LOG_I64("workers", serve->is_executor ? settings->count : 0),
                  LOG_BOOL("publisher", serve->is_publisher),
                  LOG_BOOL("consumer", serve->is_consumer));
        workers_attend(workers, &stop, &serve->session->clock, &serve->turn);
        ok = workers_join(workers, err);
    }
    stop_request(&stop);
    readers_join(consumers);
    readers_join(relays);
    ok = publishing_join(publishing, ok ? err : &later) && ok;
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
            return command_misused(err, "--role: this patra has no api yet; the roles are planner, "
                                        "executor, publisher and consumer");
        else
            return command_misused(err,
                                   "--role: '%.*s' is not planner, executor, publisher or consumer",
                                   STR_ARG(role));
    } while (rest.len > 0);
    return true;
}

static bool read_options(const struct invocation *invocation, struct serve *serve,
                         struct workers_settings *settings, struct error *err)
{
    return read_roles(invocation, serve, err) && publish_keep(invocation, &serve->keep_us, err) &&
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

    (void)code;
    if (!read_options(invocation, &serve, &settings, err) ||
        !log_option_read(&log, invocation, &session->clock, err))
        return false;
    who_process(serve.owner, random_source_u64(&random), "planner");
    serve.alive.path = invocation_value(invocation, "alive-file");
    serve.log = settings.log = &log;
    return serve_until_stopped(&serve, &settings, err);
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
        "Runs until it is stopped. The planner fires operations that have `every` or a cron\n"
        "line when they are due, re-slices what executors asked for, and puts back the tasks of\n"
        "dead workers. The executor runs tasks. The publisher gives events their place in the\n"
        "stream and hands them on to each bus (patra bus apply). The consumer applies them to\n"
        "projections (patra projection apply). Any number of processes may serve one store: each\n"
        "tick fires once, each task belongs to one worker, one publisher is at work while the\n"
        "others wait, and relays and consumers share the lanes of the stream. On SIGTERM\n"
        "or SIGINT it finishes the current batches, gives its tasks back, and exits with 0. If\n"
        "it cannot start, the exit code is 3 when the store is unreachable, and 4 when it does\n"
        "not exist or has another schema. See docs/operate.md.",
    .options = { { "role", "ROLES",
                   "One or more of planner, executor, publisher, consumer (all)." },
                 { "init", NULL, "First create or migrate the store, as patra init does." },
                 WORKERS_OPTION,
                 LEASE_OPTION,
                 ALIVE_OPTION,
                 PUBLISH_KEEP_OPTION,
                 LOG_OPTIONS,
                 SESSION_OPTION },
    .run = cmd_serve,
};
