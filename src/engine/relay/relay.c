/* A round of the relay, and what it does when its bus does not answer. */
#include "engine/relay/relay.h"

#include <stdlib.h>
#include <string.h>

#include "engine/relay/relay_internal.h"

static struct retry_policy policy_or(struct retry_policy given, int64_t min_us, int64_t max_us)
{
    struct retry_policy policy = retry_default();

    if (given.attempts_max > 0)
        return given;
    policy.delay_min_us = min_us;
    policy.delay_max_us = max_us;
    return policy;
}

static struct relay_settings with_defaults(const struct relay_settings *given)
{
    struct relay_settings s = *given;

    if (s.lease_us == 0)
        s.lease_us = RELAY_LEASE_US;
    if (s.batch_max == 0)
        s.batch_max = RELAY_BATCH;
    if (s.bytes_max == 0)
        s.bytes_max = RELAY_BYTES;
    if (s.timeout_us == 0)
        s.timeout_us = RELAY_TIMEOUT_US;
    if (s.timeout_us > s.lease_us * 2 / 3) /* what is left after relay_keep() */
        s.timeout_us = s.lease_us * 2 / 3;
    if (s.parked_max == 0)
        s.parked_max = RELAY_PARKED_MAX;
    s.retry = policy_or(s.retry, US_PER_SECOND, 300 * US_PER_SECOND);
    s.reconnect = policy_or(s.reconnect, US_PER_SECOND / 10, 30 * US_PER_SECOND);
    return s;
}

bool relay_open(struct relay **out, const struct relay_parts *parts,
                const struct relay_settings *settings, struct error *err)
{
    struct relay *r = calloc(1, sizeof(*r));

    *out = r;
    if (r == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a relay");
    r->parts = *parts;
    r->settings = with_defaults(settings);
    r->key = (struct offset_key){ SUBSCRIPTION_GROUP, settings->subscription->name };
    r->attend_us = INT64_MIN;
    arena_init(&r->arena, RELAY_BYTES_MAX);
    park_init(&r->park);
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
    park_release(&r->park);
    arena_release(&r->arena);
    free(r);
}

void relay_forget(struct relay *r)
{
    for (int i = 0; i < OUTBOX_LANES; i++)
        r->lanes[i] = (struct relay_lane){ 0 };
    r->lane_count = 0;
    r->must_leave = true;
    r->must_load = true;
    r->attend_us = INT64_MIN;
}

bool relay_release(struct relay *r, struct error *err)
{
    relay_forget(r);
    return store_offset_leave(r->parts.store, &r->key, r->settings.owner, err);
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

    if (!is_fenced(err) && strcmp(err->code, "bus.busy") != 0)
        close_bus(r);
    if (is_fenced(err)) {
        for (int i = 0; i < OUTBOX_LANES; i++)
            r->lanes[i].ack_id[0] = '\0';
    }
    if (r->bus_failures < INT16_MAX)
        r->bus_failures++;
    if (r->parts.log != NULL && (r->bus_failures == 1 || strcmp(r->bus_error.code, err->code) != 0))
        log_event(r->parts.log, LOG_WARN, "relay waits for its bus",
                  LOG_STR("subscription", r->key.subscription), LOG_STR("code", str_of(err->code)),
                  LOG_STR("errorLevel", str_of(error_level_name(err->level))),
                  LOG_STR("error", str_of(err->text)));
    r->bus_error = *err;
    r->bus_retry_us = relay_now_us(r) + retry_delay_us(&r->settings.reconnect,
                                                       is_person ? 60 : r->bus_failures, random, 0);
    r->attend_us = INT64_MIN; /* says so in the store */
}

static bool bus_is_ready(struct relay *r)
{
    struct error failed = { 0 };

    if (r->bus_failures > 0 && relay_now_us(r) < r->bus_retry_us)
        return false;
    if (r->is_open)
        return true;
    r->target = (struct relay_target){ 0 };
    r->is_open = r->parts.open(r->parts.context, r->settings.subscription, &r->target, &failed);
    if (!r->is_open)
        relay_bus_failed(r, &failed);
    return r->is_open;
}

static void bus_works(struct relay *r)
{
    if (r->bus_failures == 0)
        return;
    r->bus_failures = 0;
    r->attend_us = INT64_MIN;
    if (r->parts.log != NULL)
        log_event(r->parts.log, LOG_INFO, "relay has its bus again",
                  LOG_STR("subscription", r->key.subscription));
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

static bool deliver(struct relay *r, struct relay_round *round, struct error *err)
{
    const int failures = r->bus_failures;

    if (r->lane_count == 0 || !bus_is_ready(r))
        return true;
    if (!relay_batch(r, round, err)) {
        if (strcmp(err->code, "relay.gap") != 0)
            return false;
        relay_bus_failed(r, err); /* a person must look: the state says so */
        return true;
    }
    if (r->bus_failures == failures && r->lane_count > 0 && !round->is_stopped &&
        !relay_parked(r, round, err))
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
    const int64_t due_us = r->bus_failures > 0 ? r->bus_retry_us : relay_parked_due_us(r);
    const int64_t next = earlier(due_us, r->attend_us);

    return next > r->now_us ? next : r->now_us;
}

bool relay_round(struct relay *r, int64_t now_us, struct relay_round *round, struct error *err)
{
    bool ok;

    *round = (struct relay_round){ 0 };
    arena_reset(&r->arena);
    r->now_us = now_us;
    r->began_us = clock_monotonic_us(r->parts.clock);
    ok = relay_attend(r, round, err) && deliver(r, round, err);
    if (!ok)
        relay_forget(r);
    round->lanes = r->lane_count;
    round->next_us = next_us(r);
    round->bus_error = r->bus_failures > 0 ? &r->bus_error : NULL;
    round->has_more = round->has_more && r->bus_failures == 0;
    return ok;
}
