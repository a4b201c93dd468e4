/* Executors in threads: opened, started, attended and joined. */
#include "worker/workers.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "adapter/auth/auth_http.h"
#include "adapter/curl/curl_http.h"
#include "adapter/pack/pack.h"
#include "adapter/system/system.h"
#include "adapter/trace/trace_http.h"
#include "base/duration.h"
#include "cli/who.h"
#include "engine/gate/gate.h"
#include "worker/meters.h"
#include "worker/task_log.h"
#include "worker/thread.h"
#include "worker/trace_watch.h"

#define TURN_US (US_PER_SECOND / 50) /* a harvest notices its end this late */
#define LAST_TURN_US US_PER_MS       /* the first after that: threads without a task end at once */

#define LEASE_MIN_US US_PER_SECOND
#define LEASE_MAX_US US_PER_HOUR

struct worker {
    struct workers *all;
    char owner[WHO_PROCESS_MAX];
    struct store *store;
    struct store *gate_store;
    struct http *http;
    struct executor *executor;
    struct task_log task_log;
    struct meter_watch meter_watch;
    struct trace_watch trace_watch;
    pthread_t thread;
    bool has_thread;
    bool ok;
    struct error err;
};

struct workers {
    struct clock *clock; /* the session's */
    struct random_source random;
    struct system_secrets secrets;
    struct auth_tokens *tokens;
    struct gate_pool *gates;
    struct partitions *partitions;
    struct spec_cache *specs; /* the session's */
    atomic_int running;
    int count;
    struct worker worker[WORKERS_MAX];
};

/* ---- one of them ---- */

static bool open_http(struct worker *worker, struct tracer *tracer, struct error *err)
{
    struct workers *all = worker->all;
    struct http *inner;

    if (!curl_http_open(NULL, &inner, err))
        return false;
    if (!auth_http_open(&(struct auth_http_parts){ .inner = inner,
                                                   .tokens = all->tokens,
                                                   .secrets = &all->secrets.source,
                                                   .clock = all->clock },
                        &worker->http, err)) {
        http_close(inner);
        return false;
    }
    /* Outside of the credentials: a span never has one. */
    return tracer == NULL ||
           trace_http_open(&(struct trace_http_parts){ worker->http, all->clock, tracer },
                           &worker->http, err);
}

/* The watch of the settings, else one that writes the log; what it sees becomes spans. */
static struct executor_watch *watch_of(struct worker *worker,
                                       const struct workers_settings *settings, int number)
{
    struct executor_watch *watch = NULL;

    if (settings->watch != NULL)
        watch = settings->watch(settings->context, number);
    else if (settings->log != NULL)
        watch = meter_watch_init(&worker->meter_watch, settings->meters,
                                 task_log_init(&worker->task_log, settings->log, number + 1));
    return watch != NULL ? trace_watch_init(&worker->trace_watch, settings->tracer, watch) : NULL;
}

static bool open_executor(struct worker *worker, const struct workers_settings *settings,
                          int number, struct error *err)
{
    struct workers *all = worker->all;
    struct executor_settings own = settings->executor;

    own.owner = str_of(worker->owner);
    return executor_open(&worker->executor,
                         &(struct executor_parts){ .store = worker->store,
                                                   .http = worker->http,
                                                   .gates = all->gates,
                                                   .gate_store = worker->gate_store,
                                                   .partitions = all->partitions,
                                                   .specs = all->specs,
                                                   .clock = all->clock,
                                                   .random = &all->random,
                                                   .secrets = &all->secrets.source,
                                                   .watch = watch_of(worker, settings, number),
                                                   .log = settings->log,
                                                   .wake_fd = settings->wake_fd,
                                                   .packer_open = body_packer_open },
                         &own, err);
}

static bool open_worker(struct worker *worker, struct session *session,
                        const struct workers_settings *settings, int number, struct error *err)
{
    return store_another(session->store, &worker->store, err) &&
           store_another(session->store, &worker->gate_store, err) &&
           open_http(worker, settings->tracer, err) && open_executor(worker, settings, number, err);
}

static void close_worker(struct worker *worker)
{
    executor_close(worker->executor);
    http_close(worker->http);
    store_close(worker->gate_store);
    store_close(worker->store);
}

static void *work(void *context)
{
    struct worker *worker = context;

    worker->ok = executor_run(worker->executor, &worker->err);
    atomic_fetch_sub(&worker->all->running, 1);
    return NULL;
}

/* ---- all of them ---- */

static bool open_shared(struct workers *all, struct session *session,
                        const struct workers_settings *settings, struct error *err)
{
    all->clock = &session->clock;
    all->random = system_random();
    system_secrets_init(&all->secrets, settings->log);
    return auth_tokens_open(&all->tokens, err) && gate_pool_open(&all->gates, err) &&
           partitions_open(&all->partitions, err);
}

static bool open_all(struct workers *all, struct session *session,
                     const struct workers_settings *settings, struct error *err)
{
    uint64_t start;

    all->specs = session->specs;
    if (!open_shared(all, session, settings, err))
        return false;
    start = random_source_u64(&all->random);
    for (int i = 0; i < settings->count; i++) {
        struct worker *worker = &all->worker[all->count++];
        char part[16];

        worker->all = all;
        worker->ok = true;
        (void)snprintf(part, sizeof(part), "%d", i + 1);
        who_process(worker->owner, start, part);
        if (!open_worker(worker, session, settings, i, err))
            return false;
    }
    return true;
}

static void close_all(struct workers *all)
{
    for (int i = 0; i < all->count; i++)
        close_worker(&all->worker[i]);
    partitions_close(all->partitions);
    gate_pool_close(all->gates);
    auth_tokens_close(all->tokens);
    free(all);
}

/* If a thread cannot be started, those before it still work; only the first one is required. */
static bool start_threads(struct workers *all, struct error *err)
{
    for (int i = 0; i < all->count; i++) {
        struct worker *worker = &all->worker[i];

        atomic_fetch_add(&all->running, 1);
        worker->has_thread = thread_start(&worker->thread, work, worker, err);
        if (worker->has_thread)
            continue;
        atomic_fetch_sub(&all->running, 1);
        if (i == 0)
            return false;
    }
    return true;
}

bool workers_start(struct workers **out, struct session *session,
                   const struct workers_settings *settings, struct error *err)
{
    struct workers *all = calloc(1, sizeof(*all));

    assert(settings->count > 0 && settings->count <= WORKERS_MAX);
    *out = all;
    if (all == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for workers");
    if (open_all(all, session, settings, err) && start_threads(all, err))
        return true;
    close_all(all);
    *out = NULL;
    return error_wrap(err, "start %d workers", settings->count);
}

/* Threads that have not ended. */
static int count_running(const struct workers *workers)
{
    return atomic_load(&workers->running);
}

/* Requests under way may end by themselves for so long after the first signal. What is given up is
 * requested again by whoever has the task next. */
#define PATIENT_US US_PER_SECOND

/* Also ends the requests under way. */
static void interrupt(struct workers *workers)
{
    for (int i = 0; i < workers->count; i++)
        http_interrupt(workers->worker[i].http);
}

void workers_attend(struct workers *workers, struct stop *stop, struct clock *clock,
                    struct workers_turn *turn)
{
    int64_t patient_us;
    int64_t turn_us = LAST_TURN_US;
    bool is_urgent = false;

    while (!stop_is_requested(stop) && (workers == NULL || count_running(workers) > 0)) {
        turn->turn(turn, false);
        (void)clock_sleep_us(clock, TURN_US, stop->fd);
    }
    stop_request(stop);
    patient_us = clock_monotonic_us(clock) + PATIENT_US;
    while (workers != NULL && count_running(workers) > 0) {
        if (!is_urgent && (stop_is_urgent(stop) || clock_monotonic_us(clock) >= patient_us)) {
            is_urgent = true;
            interrupt(workers);
        }
        turn->turn(turn, true);
        (void)clock_sleep_us(clock, turn_us, is_urgent ? CLOCK_NO_WAKE : stop->now_fd);
        turn_us = 2 * turn_us < TURN_US ? 2 * turn_us : TURN_US;
    }
}

bool workers_join(struct workers *all, struct error *err)
{
    bool ok = true;

    if (all == NULL)
        return true;
    for (int i = 0; i < all->count; i++) {
        struct worker *worker = &all->worker[i];

        if (worker->has_thread)
            (void)pthread_join(worker->thread, NULL);
        if (ok && !worker->ok) {
            ok = false;
            *err = worker->err;
        }
    }
    close_all(all);
    return ok;
}

bool workers_count(const struct invocation *invocation, int *count, struct error *err)
{
    int64_t number;

    if (!invocation_number(invocation, "workers",
                           (struct option_range){ 1, WORKERS_MAX, WORKERS_DEFAULT }, &number, err))
        return false;
    *count = (int)number;
    return true;
}

bool workers_lease(const struct invocation *invocation, int64_t *lease_us, struct error *err)
{
    const char *given = invocation_value(invocation, "lease");

    *lease_us = 0; /* the executor's default */
    if (given == NULL)
        return true;
    if (!invocation_duration(invocation, "lease", lease_us, err))
        return false;
    return (*lease_us >= LEASE_MIN_US && *lease_us <= LEASE_MAX_US) ||
           command_misused(err, "--lease: '%s' is not between 1s and 1h", given);
}
