/* The loop around the sequencer. */
#include "engine/publish/publisher.h"

#include <inttypes.h>

#include "engine/session/pace.h"
#include "engine/session/store_retry.h"
#include "port/store_rate.h"

/* A lost store: from a tenth of a second to some seconds. */
#define BACKOFF_MIN_US (US_PER_SECOND / 10)
#define BACKOFF_MAX_US (5 * US_PER_SECOND)

struct publisher {
    const struct publisher_parts *parts;
    const struct publisher_settings *settings;
    struct sequencer *sequencer;
    struct waiter *waiter;
    struct store_retry retry;
    struct store_backoff backoff;
    struct retention retention;
    int64_t wait_us; /* the next one, without chance; 0: none */
    int64_t appended;
    bool was_held;
    bool is_over;
};

static void report(void *context, const struct error *err)
{
    const struct publisher *p = context;

    if (p->parts->log != NULL)
        log_event(p->parts->log, LOG_WARN, "publisher waits for the store",
                  LOG_STR("code", str_of(err->code)), LOG_STR("error", str_of(err->text)));
}

static void log_lease(struct publisher *p, const struct sequencer_round *round)
{
    struct log *log = p->parts->log;
    const struct str owner = p->settings->sequencer.owner;

    if (log != NULL && round->was_overtaken)
        log_event(log, LOG_WARN, "stream taken over by another publisher", LOG_STR("owner", owner));
    else if (log != NULL && round->is_held && !p->was_held)
        log_event(log, LOG_INFO, "publishing", LOG_STR("owner", owner));
    p->was_held = round->is_held;
}

static int64_t next_wait_us(const struct publisher *p, const struct sequencer_round *round)
{
    const int64_t lease_us = p->settings->sequencer.lease_us;
    const int64_t most_us = lease_us > 0 && lease_us / 4 < PACE_MAX_US ? lease_us / 4 : PACE_MAX_US;

    if (round->is_held && (round->appended > 0 || round->has_more))
        return 0;
    if (round->is_held && round->gaps > 0)
        return PACE_MIN_US;
    return pace_longer_us(p->wait_us, most_us);
}

static bool remove_old(struct publisher *p, int64_t now_us, struct error *err)
{
    int64_t removed;

    if (p->settings->is_draining)
        return true;
    if (!retention_turn(&p->retention, p->parts->store, now_us, clock_monotonic_us(p->parts->clock),
                        &removed, err))
        return false;
    if (removed >= PRUNE_EVENTS_MAX && p->wait_us > RETENTION_AGAIN_US)
        p->wait_us = RETENTION_AGAIN_US;
    if (removed > 0 && p->parts->log != NULL)
        log_event(p->parts->log, LOG_INFO, "old events removed", LOG_I64("events", removed));
    return true;
}

static bool turn(struct publisher *p, struct error *err)
{
    struct sequencer_round round;
    int64_t now_us;

    if (!store_clock(p->parts->store, clock_now_us(p->parts->clock), &now_us, err) ||
        !sequencer_round(p->sequencer, now_us, &round, err))
        return false;
    log_lease(p, &round);
    p->appended += round.appended;
    if (round.appended > 0)
        wake_tell(p->parts->wake, WAKE_STREAM);
    p->wait_us = next_wait_us(p, &round);
    if (round.is_held && !remove_old(p, now_us, err))
        return false;
    if (!p->settings->is_draining)
        return true;
    if (!round.is_held)
        return error_set(err, ERROR_TRANSIENT, "publish.held",
                         "another publisher is at work: patra outbox status names it");
    p->is_over = round.appended == 0 && round.gaps == 0 && !round.has_more;
    return true;
}

/* After a failed turn: whether to go on. Too many gaps are waited for, as a store is. */
static bool wait_for_store(struct publisher *p, struct error *err)
{
    if (err->level == ERROR_TRANSIENT && !store_error_is_own(err) && !p->settings->is_draining) {
        report(p, err);
        p->wait_us = PACE_MAX_US;
        return true;
    }
    return store_retry_wait(&p->retry, &p->backoff, err);
}

/* Notes are for who holds the lease. */
static bool wait(struct publisher *p)
{
    const int64_t pause_us = pace_with_chance_us(p->parts->random, p->wait_us);
    enum waiter_end end;

    if (!p->was_held && p->wait_us > 0)
        return waiter_sleep(p->waiter, pause_us);
    end = waiter_wait(p->waiter, pause_us);
    if (end == WAITER_WOKEN)
        p->wait_us = 0; /* look, and look again soon */
    return end != WAITER_STOPPED;
}

static bool loop(struct publisher *p, struct error *err)
{
    while (!p->is_over) {
        if (!wait(p))
            return true;
        if (turn(p, err))
            p->retry.failures = 0;
        else if (!wait_for_store(p, err))
            return !clock_sleep_us(p->parts->clock, 0, p->parts->wake_fd); /* stopped meanwhile */
    }
    return true;
}

bool publisher_run(const struct publisher_parts *parts, const struct publisher_settings *settings,
                   int64_t *appended, struct error *err)
{
    struct publisher p = { .parts = parts,
                           .settings = settings,
                           .retry = { .store = parts->store },
                           .retention = { .keep_us = settings->keep_us },
                           .backoff = { .delay_min_us = BACKOFF_MIN_US,
                                        .delay_max_us = BACKOFF_MAX_US,
                                        .clock = parts->clock,
                                        .random = parts->random,
                                        .wake_fd = parts->wake_fd,
                                        .report = report } };
    struct error ignored;
    bool ok;

    p.backoff.context = &p;
    if (!sequencer_open(&p.sequencer, parts->store, &settings->sequencer, err))
        return false;
    if (!waiter_open(&p.waiter,
                     &(struct waiter_parts){ .wake = parts->wake,
                                             .store = parts->store,
                                             .clock = parts->clock,
                                             .log = parts->log,
                                             .channel = WAKE_OUTBOX,
                                             .stop_fd = parts->wake_fd },
                     err)) {
        sequencer_close(p.sequencer);
        return false;
    }
    ok = loop(&p, err);
    waiter_close(p.waiter);
    /* If that fails, the lease ends by itself. */
    (void)!sequencer_release(p.sequencer, &ignored);
    sequencer_close(p.sequencer);
    if (appended != NULL)
        *appended = p.appended;
    return ok;
}
