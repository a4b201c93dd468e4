/* The thread of alerts. */
#include "worker/alerting.h"

#include <stdlib.h>
#include <string.h>

#include "adapter/alert_open.h"
#include "adapter/system/system.h"
#include "cli/who.h"
#include "engine/alert/deliver.h"
#include "engine/alert/settle.h"
#include "engine/session/store_retry.h"
#include "port/store_rate.h"
#include "view/alert.h"
#include "worker/cursor_meters.h"
#include "worker/thread.h"

#define ARENA_BYTES_MAX ((size_t)256 << 20)
#define PERIOD_US US_PER_MINUTE
/* Between two looks at what is to be sent. */
#define SEND_PAUSE_US (5 * US_PER_SECOND)
/* What is gone for two looks is over, and who has not looked for three is dead. */
enum { CLEAR_PERIODS = 2, LEASE_PERIODS = 3 };
/* Sending many notices may take as long. */
#define LEASE_MIN_US (10 * US_PER_SECOND)

#define REPLAY_US US_PER_HOUR /* of all cursors: reads every event that is kept */

struct alerting {
    struct clock *clock; /* the session's */
    struct store *store;
    struct store_retry retry;
    struct alert_sender *sender;
    struct secret_source *secrets;
    struct log *log;
    struct stop *stop;
    struct arena arena;
    int64_t period_us;
    struct meters *meters;
    int64_t next_us;   /* monotonic: of the next look */
    int64_t replay_us; /* ... and of the next replay of all cursors */
    bool is_failing;   /* at its last turn */
    char owner[WHO_PROCESS_MAX];
    pthread_t thread;
};

bool alerting_period(const struct invocation *invocation, int64_t *period_us, struct error *err)
{
    const char *given = invocation_value(invocation, "alerts");

    *period_us = PERIOD_US;
    if (given != NULL && strcmp(given, "off") == 0) {
        *period_us = 0;
        return true;
    }
    if (!invocation_duration(invocation, "alerts", period_us, err))
        return false;
    return (*period_us >= US_PER_SECOND && *period_us <= US_PER_HOUR) ||
           command_misused(err, "--alerts: 1s to 1h, or off");
}

static bool look(struct alerting *a, struct error *err)
{
    const struct view_reader reader = { .store = a->store,
                                        .arena = &a->arena,
                                        .now_us = clock_now_us(a->clock),
                                        .clock = a->clock,
                                        .secrets = a->secrets };
    struct alert_settled settled;
    struct view_findings findings;

    if (!view_findings(&reader, &findings, err) ||
        !alert_settle(a->store, &a->arena,
                      &(struct alert_round){ .findings = &findings.list,
                                             .limits = &findings.limits,
                                             .now_us = findings.now_us,
                                             .clear_us = CLEAR_PERIODS * a->period_us },
                      &settled, err))
        return false;
    if (settled.fired + settled.resolved > 0)
        log_event(a->log, LOG_WARN, "alerts changed", LOG_I64("fired", settled.fired),
                  LOG_I64("resolved", settled.resolved), LOG_I64("notices", settled.notices));
    return true;
}

static bool turn(struct alerting *a, struct error *err)
{
    const int64_t monotonic_us = clock_monotonic_us(a->clock);
    const int64_t lease_us = LEASE_PERIODS * a->period_us;
    struct alert_delivered delivered;
    int64_t now_us;
    bool mine;

    if (!store_retry_ready(&a->retry, err) ||
        !store_clock(a->store, clock_now_us(a->clock), &now_us, err) ||
        !store_alert_turn(
            a->store,
            &(struct alert_turn){ .owner = str_of(a->owner),
                                  .now_us = now_us,
                                  .lease_us = lease_us > LEASE_MIN_US ? lease_us : LEASE_MIN_US },
            &mine, err))
        return false;
    if (!mine)
        return true;
    if (monotonic_us >= a->next_us) {
        if (!look(a, err))
            return false;
        a->next_us = monotonic_us + a->period_us;
    }
    if (monotonic_us >= a->replay_us) {
        if (!cursor_meters_replay(&(struct cursor_meters_parts){ .store = a->store,
                                                                 .arena = &a->arena,
                                                                 .clock = a->clock,
                                                                 .meters = a->meters,
                                                                 .log = a->log },
                                  err))
            return false;
        a->replay_us = monotonic_us + REPLAY_US;
    }
    return alert_deliver(&(struct alert_delivery){ .store = a->store,
                                                   .arena = &a->arena,
                                                   .sender = a->sender,
                                                   .now_us = now_us,
                                                   .log = a->log,
                                                   .stop_fd = a->stop->fd,
                                                   .clock = a->clock },
                         &delivered, err);
}

/* A failure is logged when it begins and when it is over. */
static void tell(struct alerting *a, bool ok, const struct error *err)
{
    if (!ok && !a->is_failing)
        log_event(a->log, LOG_ERROR, "alerts failed", LOG_STR("code", str_of(err->code)),
                  LOG_STR("errorLevel", str_of(error_level_name(err->level))),
                  LOG_STR("error", str_of(err->text)));
    if (ok && a->is_failing)
        log_event(a->log, LOG_INFO, "alerts recovered", LOG_STR("owner", str_of(a->owner)));
    a->is_failing = !ok;
}

static void *run(void *context)
{
    struct alerting *a = context;
    const int64_t pause_us = a->period_us < SEND_PAUSE_US ? a->period_us : SEND_PAUSE_US;

    do {
        struct error err = { 0 };
        const bool ok = turn(a, &err);

        if (!ok)
            (void)store_retry_failed(&a->retry, &err);
        tell(a, ok, &err);
        arena_reset(&a->arena);
    } while (clock_sleep_us(a->clock, pause_us, a->stop->fd));
    return NULL;
}

static void free_alerting(struct alerting *a)
{
    alert_sender_close(a->sender);
    store_close(a->store);
    arena_release(&a->arena);
    free(a);
}

bool alerting_start(struct alerting **out, const struct alerting_parts *parts, struct error *err)
{
    struct random_source random = system_random();
    struct alerting *a = calloc(1, sizeof(*a));

    *out = NULL;
    if (a == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for alerts");
    a->clock = &parts->session->clock;
    a->log = parts->log;
    a->stop = parts->stop;
    a->period_us = parts->period_us;
    a->meters = parts->meters;
    a->secrets = &parts->session->secrets.source;
    arena_init(&a->arena, ARENA_BYTES_MAX);
    who_process(a->owner, random_source_u64(&random), "alerts");
    if (store_another(parts->session->store, &a->store, err)) {
        a->retry.store = a->store;
        if (alert_sender_open(a->secrets, a->clock, &a->sender, err) &&
            thread_start(&a->thread, run, a, err)) {
            *out = a;
            return true;
        }
    }
    free_alerting(a);
    return error_wrap(err, "start the alerts");
}

void alerting_join(struct alerting *a)
{
    if (a == NULL)
        return;
    (void)pthread_join(a->thread, NULL);
    free_alerting(a);
}
