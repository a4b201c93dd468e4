/* A round of the relay, and what it does when its bus does not answer. */
#include "engine/relay/relay.h"

#include <stdlib.h>
#include <string.h>

#include "engine/relay/relay_internal.h"
#include "engine/relay/relay_run.h"

static struct relay_settings with_defaults(const struct relay_settings *given, int64_t lease_us)
{
    struct relay_settings s = *given;

    if (s.timeout_us == 0)
        s.timeout_us = RELAY_TIMEOUT_US;
    if (s.timeout_us > lease_us * 2 / 3) /* what is left after lanes_keep() */
        s.timeout_us = lease_us * 2 / 3;
    if (s.reconnect.attempts_max == 0) {
        s.reconnect = retry_default();
        s.reconnect.delay_min_us = US_PER_SECOND / 10;
        s.reconnect.delay_max_us = 30 * US_PER_SECOND;
    }
    return s;
}

bool relay_open(struct relay **out, const struct relay_parts *parts,
                const struct relay_settings *settings, struct error *err)
{
    const struct lanes_parts lanes = { .store = parts->store,
                                       .stream = parts->store,
                                       .clock = parts->clock,
                                       .random = parts->random,
                                       .log = parts->log,
                                       .watch = parts->watch };
    struct relay *r = calloc(1, sizeof(*r));

    *out = r;
    if (r == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a relay");
    r->parts = *parts;
    lanes_init(&r->lanes, &lanes, &settings->lanes);
    r->settings = with_defaults(settings, r->lanes.settings.lease_us);
    return true;
}

static void close_bus(struct relay *r)
{
    if (!r->is_open)
        return;
    r->is_open = false;
    if (r->target.close != NULL)
        r->target.close(&r->target);
    else
        bus_close(r->target.bus);
    r->target = (struct relay_target){ 0 };
}

void relay_close(struct relay *r)
{
    if (r == NULL)
        return;
    close_bus(r);
    lanes_release(&r->lanes);
    free(r);
}

bool relay_release(struct relay *r, struct error *err)
{
    return lanes_leave(&r->lanes, err);
}

/* ---- the bus ---- */

static bool is_fenced(const struct error *err)
{
    return strcmp(err->code, "bus.fenced") == 0;
}

/* A bus that is overtaken or busy answers; another one may have lost its connection. */
void relay_bus_failed(struct relay *r, const struct error *err)
{
    const uint64_t random = random_source_u64(r->parts.random);
    const bool is_person = err->level == ERROR_FATAL; /* nothing will change soon */
    int64_t delay_us;

    if (!is_fenced(err) && strcmp(err->code, "bus.busy") != 0)
        close_bus(r);
    if (is_fenced(err)) {
        for (int i = 0; i < OUTBOX_LANES; i++)
            r->lanes.items[i].ack_id[0] = '\0';
    }
    if (r->bus_failures < INT16_MAX)
        r->bus_failures++;
    if (r->parts.log != NULL && (r->bus_failures == 1 || strcmp(r->bus_error.code, err->code) != 0))
        log_event(r->parts.log, LOG_WARN, "relay waits for its bus",
                  LOG_STR("subscription", r->lanes.key.subscription),
                  LOG_STR("code", str_of(err->code)),
                  LOG_STR("errorLevel", str_of(error_level_name(err->level))),
                  LOG_STR("error", str_of(err->text)));
    r->bus_error = *err;
    r->lanes.error = str_of(r->bus_error.text);
    delay_us = retry_delay_us(&r->settings.reconnect, is_person ? 60 : r->bus_failures, random, 0);
    r->bus_retry_us = lanes_now_us(&r->lanes) + delay_us;
    lanes_report(&r->lanes, (struct lanes_event){ .kind = LANES_PUT_OFF, .delay_us = delay_us });
    r->lanes.attend_us = INT64_MIN; /* says so in the store */
}

static bool bus_is_ready(struct relay *r)
{
    struct error failed = { 0 };

    if (r->bus_failures > 0 && lanes_now_us(&r->lanes) < r->bus_retry_us)
        return false;
    if (r->is_open)
        return true;
    r->target = (struct relay_target){ 0 };
    r->is_open =
        r->parts.open(r->parts.context, r->settings.lanes.subscription, &r->target, &failed);
    if (!r->is_open)
        relay_bus_failed(r, &failed);
    return r->is_open;
}

static void bus_works(struct relay *r)
{
    if (r->bus_failures == 0)
        return;
    r->bus_failures = 0;
    r->lanes.error = STR("");
    r->lanes.attend_us = INT64_MIN;
    if (r->parts.log != NULL)
        log_event(r->parts.log, LOG_INFO, "relay has its bus again",
                  LOG_STR("subscription", r->lanes.key.subscription));
}

/* With nothing to send, only asking tells. */
static void ask_bus(struct relay *r)
{
    struct error failed = { 0 };

    if (bus_check(r->target.bus, r->settings.timeout_us, &failed))
        bus_works(r);
    else
        relay_bus_failed(r, &failed);
}

/* ---- the round ---- */

static struct lanes_filter filter_of(const struct relay *r)
{
    return (struct lanes_filter){ r->target.takes, r->target.context };
}

static bool send_batch(struct relay *r, struct lanes_round *round, struct error *err)
{
    const struct lanes_filter filter = filter_of(r);
    struct delivery d;
    bool saved;

    if (!lanes_next(&r->lanes, &filter, &d, err) ||
        (!d.is_lost && !relay_send(r, &d, true, round, err)) ||
        !lanes_settle(&r->lanes, &d, NULL, round, &saved, err))
        return false;
    round->has_more |= lanes_has_more(&r->lanes);
    return true;
}

static bool send_parked(struct relay *r, struct lanes_round *round, struct error *err)
{
    const struct lanes_filter filter = filter_of(r);
    struct trying trying;
    bool saved;

    if (!lanes_due(&r->lanes, &filter, LANES_RETRY_KEYS, &trying, round, err))
        return false;
    return trying.count == 0 || (relay_send(r, &trying.delivery, false, round, err) &&
                                 lanes_tried(&r->lanes, &trying, NULL, round, &saved, err));
}

static bool deliver(struct relay *r, struct lanes_round *round, struct error *err)
{
    const int failures = r->bus_failures;

    if (r->lanes.count == 0 || !bus_is_ready(r))
        return true;
    if (!send_batch(r, round, err))
        return false;
    if (r->bus_failures == failures && r->lanes.count > 0 && !round->is_stopped &&
        !send_parked(r, round, err))
        return false;
    if (r->bus_failures == 0 || r->bus_failures != failures)
        return true;
    if (round->delivered > 0)
        bus_works(r);
    else if (!round->has_more)
        ask_bus(r);
    return true;
}

static int64_t earlier(int64_t a_us, int64_t b_us)
{
    return a_us < b_us ? a_us : b_us;
}

/* Not before the round itself: what is due at once has no time. */
static int64_t next_us(const struct relay *r)
{
    const int64_t due_us = r->bus_failures > 0 ? r->bus_retry_us : lanes_due_us(&r->lanes);
    const int64_t next = earlier(due_us, r->lanes.attend_us);

    return next > r->lanes.now_us ? next : r->lanes.now_us;
}

bool relay_round(struct relay *r, int64_t now_us, struct lanes_round *round, struct error *err)
{
    bool ok;

    *round = (struct lanes_round){ 0 };
    lanes_begin(&r->lanes, now_us);
    ok = lanes_attend(&r->lanes, round, err) && deliver(r, round, err);
    if (!ok && lanes_error_is_halt(err)) {
        relay_bus_failed(r, err); /* a person must look: the state says so */
        ok = true;
    }
    if (!ok)
        lanes_forget(&r->lanes);
    round->lanes = r->lanes.count;
    round->next_us = next_us(r);
    round->trouble = r->bus_failures > 0 ? &r->bus_error : NULL;
    round->has_more = round->has_more && r->bus_failures == 0;
    return ok;
}

/* ---- round after round ---- */

static bool one_round(void *context, int64_t now_us, struct lanes_round *round, struct error *err)
{
    return relay_round(context, now_us, round, err);
}

bool relay_run(const struct relay_parts *parts, const struct relay_run *run,
               struct lanes_total *total, struct error *err)
{
    struct lanes_run loop = { .what = "relay",
                              .name = run->relay.lanes.subscription->name,
                              .owner = run->relay.lanes.owner,
                              .store = parts->store,
                              .stream = parts->store,
                              .clock = parts->clock,
                              .random = parts->random,
                              .log = parts->log,
                              .wake = parts->wake,
                              .wake_fd = parts->wake_fd,
                              .is_draining = run->is_draining,
                              .round = one_round };
    struct relay *relay;
    struct error ignored;
    bool ok;

    if (!relay_open(&relay, parts, &run->relay, err))
        return false;
    loop.context = relay;
    ok = lanes_run(&loop, total, err);
    /* If that fails, the leases end by themselves. */
    (void)!relay_release(relay, &ignored);
    relay_close(relay);
    return ok;
}
