/* The loop around the rounds of a relay: when to look again, and what ends it. */
#include "engine/relay/relay_run.h"

#include "engine/session/pace.h"
#include "engine/session/store_retry.h"
#include "port/store_rate.h"

/* A lost store: from a tenth of a second to some seconds. */
#define BACKOFF_MIN_US (US_PER_SECOND / 10)
#define BACKOFF_MAX_US (5 * US_PER_SECOND)

struct running {
    const struct relay_parts *parts;
    const struct relay_run *run;
    struct relay *relay;
    struct waiter *waiter;
    bool is_bus_down;
    struct store_retry retry;
    struct store_backoff backoff;
    int64_t wait_us; /* the next one; 0: none */
    struct relay_total total;
    bool is_over;
};

static void report(void *context, const struct error *err)
{
    const struct running *x = context;

    if (x->parts->log != NULL)
        log_event(x->parts->log, LOG_WARN, "relay waits for the store",
                  LOG_STR("subscription", x->run->relay.subscription->name),
                  LOG_STR("code", str_of(err->code)), LOG_STR("error", str_of(err->text)));
}

static int64_t next_wait_us(const struct running *x, const struct relay_round *round,
                            int64_t now_us)
{
    int64_t wait_us = pace_longer_us(x->wait_us, PACE_MAX_US);

    if (round->has_more || round->was_overtaken)
        return round->was_overtaken ? PACE_MIN_US : 0;
    if (round->delivered > 0 || round->passed > 0)
        return PACE_MIN_US;
    if (round->next_us - now_us < wait_us)
        wait_us = round->next_us > now_us + PACE_MIN_US ? round->next_us - now_us : PACE_MIN_US;
    return wait_us;
}

static void log_overtaken(const struct running *x)
{
    if (x->parts->log != NULL)
        log_event(x->parts->log, LOG_WARN, "lanes taken over by another relay",
                  LOG_STR("subscription", x->run->relay.subscription->name),
                  LOG_STR("owner", x->run->relay.owner));
}

static bool drained(struct running *x, const struct relay_round *round, struct error *err)
{
    if (round->bus_error != NULL) {
        *err = *round->bus_error;
        return error_wrap(err, "relay %.*s", STR_ARG(x->run->relay.subscription->name));
    }
    if (round->has_more || round->was_overtaken || round->delivered > 0 || round->passed > 0)
        return true;
    x->is_over = round->lanes == OUTBOX_LANES;
    return x->is_over || error_set(err, ERROR_TRANSIENT, "publish.held",
                                   "another relay of %.*s is at work: patra outbox status names it",
                                   STR_ARG(x->run->relay.subscription->name));
}

static bool turn(struct running *x, struct error *err)
{
    struct relay_round round;
    int64_t now_us;

    if (!store_clock(x->parts->store, clock_now_us(x->parts->clock), &now_us, err) ||
        !relay_round(x->relay, now_us, &round, err))
        return false;
    if (round.was_overtaken)
        log_overtaken(x);
    x->total.delivered += round.delivered;
    x->total.parked += round.parked;
    x->total.is_stopped |= round.is_stopped;
    x->is_over = round.is_stopped;
    x->is_bus_down = round.bus_error != NULL;
    x->wait_us = next_wait_us(x, &round, now_us);
    return !x->run->is_draining || drained(x, &round, err);
}

/* False: stopped. */
static bool wait(struct running *x)
{
    const int64_t pause_us = pace_with_chance_us(x->parts->random, x->wait_us);
    enum waiter_end end;

    if (x->is_bus_down)
        return waiter_sleep(x->waiter, pause_us);
    end = waiter_wait(x->waiter, pause_us);
    if (end == WAITER_WOKEN)
        x->wait_us = 0; /* look, and look again soon */
    return end != WAITER_STOPPED;
}

static bool loop(struct running *x, struct error *err)
{
    while (!x->is_over) {
        if (!wait(x))
            return true;
        if (turn(x, err))
            x->retry.failures = 0;
        else if (!store_retry_wait(&x->retry, &x->backoff, err))
            return !clock_sleep_us(x->parts->clock, 0, x->parts->wake_fd); /* stopped meanwhile */
    }
    return true;
}

bool relay_run(const struct relay_parts *parts, const struct relay_run *run,
               struct relay_total *total, struct error *err)
{
    struct running x = { .parts = parts,
                         .run = run,
                         .retry = { .store = parts->store },
                         .backoff = { .delay_min_us = BACKOFF_MIN_US,
                                      .delay_max_us = BACKOFF_MAX_US,
                                      .clock = parts->clock,
                                      .random = parts->random,
                                      .wake_fd = parts->wake_fd,
                                      .report = report } };
    struct error ignored;
    bool ok;

    x.backoff.context = &x;
    if (!relay_open(&x.relay, parts, &run->relay, err))
        return false;
    ok = waiter_open(&x.waiter,
                     &(struct waiter_parts){ .wake = parts->wake,
                                             .store = parts->store,
                                             .clock = parts->clock,
                                             .log = parts->log,
                                             .channel = WAKE_STREAM,
                                             .stop_fd = parts->wake_fd },
                     err) &&
         loop(&x, err);
    waiter_close(x.waiter);
    /* If that fails, the leases end by themselves. */
    (void)!relay_release(x.relay, &ignored);
    relay_close(x.relay);
    if (total != NULL)
        *total = x.total;
    return ok;
}
