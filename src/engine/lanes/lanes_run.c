/* The loop around the rounds of a reader: when to look again, and what ends it. */
#include "engine/lanes/lanes_run.h"

#include "engine/session/pace.h"
#include "engine/session/store_retry.h"
#include "port/store_rate.h"

/* A lost store: from a tenth of a second to some seconds. */
#define BACKOFF_MIN_US (US_PER_SECOND / 10)
#define BACKOFF_MAX_US (5 * US_PER_SECOND)

struct running {
    const struct lanes_run *run;
    struct waiter *waiter;
    bool is_in_trouble;
    struct store_retry retry;
    struct store_retry stream; /* of the other session, if there are two */
    struct store_backoff backoff;
    int64_t wait_us; /* the next one; 0: none */
    struct lanes_total total;
    bool is_over;
};

static void report(void *context, const struct error *err)
{
    const struct running *x = context;

    if (x->run->log != NULL)
        log_event(x->run->log, LOG_WARN, "reader waits for the store",
                  LOG_STR("reader", str_of(x->run->what)), LOG_STR("subscription", x->run->name),
                  LOG_STR("code", str_of(err->code)), LOG_STR("error", str_of(err->text)));
}

static int64_t next_wait_us(const struct running *x, const struct lanes_round *round,
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
    if (x->run->log != NULL)
        log_event(x->run->log, LOG_WARN, "lanes taken over by another reader",
                  LOG_STR("subscription", x->run->name), LOG_STR("owner", x->run->owner));
}

static bool drained(struct running *x, const struct lanes_round *round, struct error *err)
{
    if (round->trouble != NULL) {
        *err = *round->trouble;
        return error_wrap(err, "%s %.*s", x->run->what, STR_ARG(x->run->name));
    }
    if (round->has_more || round->was_overtaken || round->delivered > 0 || round->passed > 0)
        return true;
    x->is_over = round->lanes == OUTBOX_LANES;
    return x->is_over || error_set(err, ERROR_TRANSIENT, "publish.held",
                                   "another %s of %.*s is at work: patra outbox status names it",
                                   x->run->what, STR_ARG(x->run->name));
}

static bool turn(struct running *x, struct error *err)
{
    struct lanes_round round;
    int64_t now_us;

    if (!store_retry_ready(&x->stream, err) ||
        !store_clock(x->run->store, clock_now_us(x->run->clock), &now_us, err) ||
        !x->run->round(x->run->context, now_us, &round, err))
        return false;
    if (round.was_overtaken)
        log_overtaken(x);
    x->total.delivered += round.delivered;
    x->total.parked += round.parked;
    x->total.dead += round.dead;
    x->total.is_stopped |= round.is_stopped;
    x->is_over = round.is_stopped;
    x->is_in_trouble = round.trouble != NULL;
    x->wait_us = next_wait_us(x, &round, now_us);
    return !x->run->is_draining || drained(x, &round, err);
}

/* False: stopped. */
static bool wait(struct running *x)
{
    const int64_t pause_us = pace_with_chance_us(x->run->random, x->wait_us);
    enum waiter_end end;

    if (x->is_in_trouble)
        return waiter_sleep(x->waiter, pause_us);
    end = waiter_wait(x->waiter, pause_us);
    if (end == WAITER_WOKEN)
        x->wait_us = 0; /* look, and look again soon */
    return end != WAITER_STOPPED;
}

/* Which of two sessions failed is not known: both are opened again. */
static bool repeat(struct running *x, struct error *err)
{
    if (x->run->stream != x->run->store)
        (void)store_retry_failed(&x->stream, err);
    return store_retry_wait(&x->retry, &x->backoff, err);
}

static bool loop(struct running *x, struct error *err)
{
    while (!x->is_over) {
        if (!wait(x))
            return true;
        if (turn(x, err))
            x->retry.failures = 0;
        else if (!repeat(x, err))
            return !clock_sleep_us(x->run->clock, 0, x->run->wake_fd); /* stopped meanwhile */
    }
    return true;
}

bool lanes_run(const struct lanes_run *run, struct lanes_total *total, struct error *err)
{
    struct running x = { .run = run,
                         .retry = { .store = run->store },
                         .stream = { .store = run->stream },
                         .backoff = { .delay_min_us = BACKOFF_MIN_US,
                                      .delay_max_us = BACKOFF_MAX_US,
                                      .clock = run->clock,
                                      .random = run->random,
                                      .wake_fd = run->wake_fd,
                                      .report = report } };
    bool ok;

    x.backoff.context = &x;
    ok = waiter_open(&x.waiter,
                     &(struct waiter_parts){ .wake = run->wake,
                                             .store = run->stream,
                                             .clock = run->clock,
                                             .log = run->log,
                                             .channel = WAKE_STREAM,
                                             .stop_fd = run->wake_fd },
                     err) &&
         loop(&x, err);
    waiter_close(x.waiter);
    if (total != NULL)
        *total = x.total;
    return ok;
}
