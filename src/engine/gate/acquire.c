/* One permit, from the request to its use:
 *
 *      ┌────────── lost: late, or silence meanwhile ─────────┐
 *      ▼                                                     │
 *   find ─ taken along by another thread ──▶ wait ─ look ─ wait ──▶ ALLOW
 *      ├── the store ──────────────────────▶  ▲ until due
 *      ├── degraded ───────────────────────▶──┘
 *      ├── no slot, or the store fails: again in a moment
 *      └── not in time ──▶ REJECT, or WAIT where the caller must not wait
 */
#include <assert.h>

#include "engine/gate/degraded.h"
#include "engine/gate/worker.h"

#define WAIT_DEFAULT_US US_PER_MINUTE
/* The row is read so long before a permit is due: time enough for one read. */
#define LOOK_LEAD_US (10 * US_PER_MS)
/* A thread that waits for a slot tries again after this and a random time of up to as much again.
 */
#define SLOT_POLL_US (15 * US_PER_MS)

#define UNKNOWN_US INT64_MAX
#define LOST_US (INT64_MIN / 2) /* when a permit is due that must not be used */

/* Permits that were lost in a row because the thread was woken too late. On a machine that is late
 * every time, the next one may be twice as late as the last one was, at the expense of the rate. */
enum { LATE_IN_ROW = 4 };
#define SLACK_MAX_US (US_PER_SECOND / 2)

/* ---- the session ---- */

static bool call_look(struct gate *gate, void *argument, struct error *err)
{
    return shared_look(&gate->shared, argument, err);
}

struct taking {
    const struct shared_request *request;
    struct shared_result *result;
};

static bool call_take(struct gate *gate, void *argument, struct error *err)
{
    const struct taking *taking = argument;

    taking->result->slot.id = 0;
    if (shared_take(&gate->shared, taking->request, taking->result, err))
        return true;
    if (store_error_is_unknown(err)) /* it may be ours: the next attempt takes another one */
        slot_owe(gate, taking->result->slot.id);
    return false;
}

/* ---- finding a permit ---- */

struct attempt {
    struct gate *gate;
    const struct target *target;
    struct permit_waiter *waiter; /* may be NULL */
    bool may_wait;
    int64_t start_us;
    int64_t deadline_us;
    struct gate_slot slot;
    bool has_slot;
    struct gate_permit permit;
    int late_in_row;
    int64_t late_us; /* how late it was for the last permit */
    enum { FOUND, AGAIN, NOT_IN_TIME } found;
    int64_t at_us; /* NOT_IN_TIME: when it would have been due; 0: unknown */
    enum wait_reason reason;
    bool is_reported;
    int64_t reported_us; /* until when it waits, as reported last */
    enum wait_reason reported_reason;
};

static void take_result(struct attempt *attempt, const struct shared_result *result)
{
    attempt->reason = result->reason;
    switch (result->kind) {
    case SHARED_TAKEN:
        attempt->found = FOUND;
        attempt->permit = result->permit;
        if (result->slot.id != 0) {
            attempt->slot = result->slot;
            attempt->has_slot = true;
        }
        return;
    case SHARED_LATER:
        attempt->found = NOT_IN_TIME;
        attempt->at_us = result->at_us;
        return;
    case SHARED_AGAIN:
        attempt->found = AGAIN;
        return;
    }
}

static struct shared_request request_of(const struct attempt *attempt, int64_t now_us)
{
    struct shared_request request = worker_request(attempt->gate, attempt->target);

    request.wait_us = attempt->deadline_us > now_us ? attempt->deadline_us - now_us : 0;
    request.needs_slot = attempt->target->limit.concurrency > 0 && !attempt->has_slot;
    if (attempt->late_in_row >= LATE_IN_ROW)
        request.slack_us =
            attempt->late_us < SLACK_MAX_US / 2 ? 2 * attempt->late_us : SLACK_MAX_US;
    return request;
}

/* Without the store. Under the lock; false: the store is needed. */
static bool find_here(struct attempt *attempt, struct shared_request *request, int64_t now_us)
{
    struct gate_key *key = attempt->target->key;
    const enum quota_class rank = quota_class_of(request->operation);
    struct shared_result result;

    if (gate_key_silence(key) > attempt->deadline_us) {
        attempt->found = NOT_IN_TIME;
        attempt->at_us = gate_key_silence(key);
        attempt->reason = gate_key_silence_reason(key);
        return true;
    }
    if (request->needs_slot && slot_inherit(key, now_us, &attempt->slot)) {
        attempt->has_slot = true;
        request->needs_slot = false;
    }
    attempt->found = FOUND;
    attempt->reason = WAIT_RATE;
    if (!request->needs_slot && request->slack_us == 0 &&
        gate_key_pop(key, &attempt->target->limit, rank, now_us, &attempt->permit))
        return true;
    if (degraded_is_on(key, now_us)) {
        degraded_take(request, now_us, &result);
        take_result(attempt, &result);
        return true;
    }
    if (!attempt->may_wait && key->is_seen && key->line_until_us > now_us) {
        attempt->found = NOT_IN_TIME; /* others wait in line */
        attempt->at_us = key->line_until_us;
        return true;
    }
    return false;
}

static bool find_in_store(struct attempt *attempt, struct shared_request *request,
                          struct error *err)
{
    struct gate *gate = attempt->gate;
    struct gate_key *key = attempt->target->key;
    struct shared_result result;
    bool ok, is_block;

    gate_key_lock(key);
    is_block = !key->is_taking && !request->needs_slot && request->slack_us == 0;
    if (is_block) {
        key->is_taking = true;
        request->count = gate_key_block(key, &attempt->target->limit, worker_now(gate));
    }
    gate_key_unlock(key);
    ok = worker_store(gate, call_take, &(struct taking){ request, &result }, err);
    gate_key_lock(key);
    if (is_block)
        key->is_taking = false;
    if (!ok && err->level == ERROR_TRANSIENT) {
        degraded_note(key, &attempt->target->limit, worker_now(gate));
        *request = request_of(attempt, worker_now(gate));
        degraded_take(request, worker_now(gate), &result);
        ok = true;
    }
    gate_key_unlock(key);
    if (ok)
        take_result(attempt, &result);
    return ok;
}

static bool find(struct attempt *attempt, struct error *err)
{
    struct gate_key *key = attempt->target->key;
    const int64_t now_us = worker_now(attempt->gate);
    struct shared_request request = request_of(attempt, now_us);
    bool is_found;

    gate_key_lock(key);
    is_found = find_here(attempt, &request, now_us);
    gate_key_unlock(key);
    return is_found || find_in_store(attempt, &request, err);
}

/* ---- waiting for it ---- */

/* Once for each reason and instant, which is monotonic. */
static void report_wait(struct attempt *attempt, int64_t until_us)
{
    const int64_t now_us = worker_now(attempt->gate);
    struct clock *clock = attempt->gate->parts.clock;

    if (attempt->waiter == NULL || until_us <= now_us ||
        (attempt->is_reported && attempt->reported_us == until_us &&
         attempt->reported_reason == attempt->reason))
        return;
    attempt->is_reported = true;
    attempt->reported_us = until_us;
    attempt->reported_reason = attempt->reason;
    attempt->waiter->wait(attempt->waiter,
                          until_us == UNKNOWN_US ? 0 : clock_now_us(clock) + (until_us - now_us),
                          attempt->reason);
}

static bool sleep_until(const struct attempt *attempt, int64_t until_us, struct error *err)
{
    const struct gate_parts *parts = &attempt->gate->parts;

    if (clock_sleep_until_us(parts->clock, until_us, parts->wake_fd))
        return true;
    return permit_wait_cancelled(err);
}

static bool wait_a_moment(struct attempt *attempt, struct error *err)
{
    struct gate_key *key = attempt->target->key;
    const int64_t chance_us =
        (int64_t)(random_source_u64(attempt->gate->parts.random) % (uint64_t)SLOT_POLL_US);
    bool ok;

    report_wait(attempt, UNKNOWN_US);
    gate_key_lock(key);
    key->slot_waiters++;
    gate_key_unlock(key);
    ok = sleep_until(attempt, worker_now(attempt->gate) + SLOT_POLL_US + chance_us, err);
    gate_key_lock(key);
    key->slot_waiters--;
    gate_key_unlock(key);
    return ok;
}

/* The row was read too long ago for a permit of that instant. */
static bool must_look(struct gate_key *key, const struct gate_permit *permit)
{
    bool must;

    gate_key_lock(key);
    must = !permit->is_degraded && permit->due_us - key->seen_at_us > GATE_LOOK_AGE_US;
    gate_key_unlock(key);
    return must;
}

static bool look(struct attempt *attempt, struct error *err)
{
    struct gate_key *key = attempt->target->key;

    if (!must_look(key, &attempt->permit))
        return true;
    if (!sleep_until(attempt, attempt->permit.due_us - LOOK_LEAD_US, err))
        return false;
    if (!must_look(key, &attempt->permit) || worker_store(attempt->gate, call_look, key, err))
        return true;
    if (err->level != ERROR_TRANSIENT)
        return false;
    gate_key_lock(key);
    degraded_note(key, &attempt->target->limit, worker_now(attempt->gate));
    attempt->permit.due_us = LOST_US; /* the source may have demanded silence meanwhile */
    gate_key_unlock(key);
    return true;
}

/* Now, if it is still good. */
static bool use(struct attempt *attempt)
{
    struct gate_key *key = attempt->target->key;
    const struct gate_limit *limit = &attempt->target->limit;
    const struct gate_permit *permit = &attempt->permit;
    const int64_t now_us = worker_now(attempt->gate);
    bool is_late, is_good;

    gate_key_lock(key);
    is_late = gate_permit_is_over(permit, limit, now_us);
    is_good = now_us >= gate_key_silence(key) && !is_late;
    if (!is_good) {
        gate_key_lose(key, permit);
    } else {
        gate_key_count_use(key, now_us);
        key->flights++;
        if (permit->is_degraded)
            degraded_count(key, limit, permit->rank);
    }
    gate_key_unlock(key);
    if (is_late && permit->due_us != LOST_US) {
        attempt->late_in_row++;
        attempt->late_us = now_us - permit->due_us;
    }
    return is_good;
}

static bool wait_and_use(struct attempt *attempt, bool *is_used, struct error *err)
{
    struct gate_key *key = attempt->target->key;

    *is_used = false;
    report_wait(attempt, attempt->permit.due_us);
    if (!look(attempt, err) ||
        (worker_now(attempt->gate) <
             attempt->permit.due_us && /* otherwise the source may already demand silence */
         !sleep_until(attempt, attempt->permit.due_us, err))) {
        gate_key_lock(key);
        if (attempt->permit.is_degraded)
            gate_key_lose(key, &attempt->permit);
        else
            gate_key_push(key, &attempt->permit); /* another thread may be in time for it */
        gate_key_unlock(key);
        return false;
    }
    *is_used = use(attempt);
    return true;
}

/* ---- the port ---- */

static int64_t wait_max_of(const struct gate *gate)
{
    const int64_t wait_us = gate->task.wait_max_us > 0 ? gate->task.wait_max_us : WAIT_DEFAULT_US;

    return wait_us < GATE_WAIT_MAX_US ? wait_us : GATE_WAIT_MAX_US;
}

static void refuse(const struct attempt *attempt, struct permit *permit)
{
    struct clock *clock = attempt->gate->parts.clock;
    const int64_t now_us = worker_now(attempt->gate);

    permit->decision = attempt->may_wait ? RATE_REJECT : RATE_WAIT;
    permit->reason = attempt->reason;
    if (attempt->at_us > now_us)
        permit->retry_at_us = clock_now_us(clock) + (attempt->at_us - now_us);
}

static void allow(struct attempt *attempt, struct permit *permit)
{
    struct gate *gate = attempt->gate;

    permit->decision = RATE_ALLOW;
    assert(gate->held_count < HELD_MAX);
    gate->held[gate->held_count++] = (struct held){ attempt->target->key, attempt->slot };
}

/* Until a permit is used (FOUND) or none is due in time. */
static bool run(struct attempt *attempt, struct error *err)
{
    bool is_used = false;

    while (!is_used) {
        if (!find(attempt, err))
            return false;
        if (attempt->found == AGAIN &&
            (!attempt->may_wait || worker_now(attempt->gate) >= attempt->deadline_us)) {
            attempt->found = NOT_IN_TIME;
            attempt->at_us = 0;
        }
        if (attempt->found == NOT_IN_TIME)
            return true;
        if (attempt->found == AGAIN ? !wait_a_moment(attempt, err)
                                    : !wait_and_use(attempt, &is_used, err))
            return false;
    }
    return true;
}

/* What the batch row has of it, whatever was decided. */
static void describe(const struct attempt *attempt, struct permit *permit)
{
    struct gate *gate = attempt->gate;
    const struct target *target = attempt->target;
    int64_t silence_us;

    permit->endpoint = target->endpoint;
    permit->waited_us = worker_now(gate) - attempt->start_us;
    permit->key = target->key->name;
    permit->cost = target->limit.cost / MICRO;
    permit->burst = target->limit.config.burst;
    gate_key_lock(target->key);
    permit->rate = target->key->rate;
    silence_us = gate_key_silence(target->key) - worker_now(gate);
    gate_key_unlock(target->key);
    if (silence_us > 0)
        permit->cooldown_until_us = clock_now_us(gate->parts.clock) + silence_us;
}

/* One credential, or none. */
static bool acquire_one(struct attempt *attempt, struct permit *permit, struct error *err)
{
    bool ok;

    attempt->has_slot = slot_resume(attempt->gate, attempt->target, &attempt->slot);
    ok = run(attempt, err);
    describe(attempt, permit);
    if (ok && attempt->found == FOUND) {
        allow(attempt, permit);
        return true;
    }
    if (attempt->has_slot)
        slot_release(attempt->gate, attempt->target, attempt->slot);
    slot_sweep(attempt->gate, attempt->target->key);
    if (ok)
        refuse(attempt, permit);
    return ok;
}

/* ---- several credentials ----
 *
 * They are tried in their order, in which the first is preferred. One whose quota is used up is
 * passed over until there is quota again, and so is one that was refused, until a person readmits
 * it. Waits for the rate are kept: a credential that is busy is not used up.
 */

/* How long what is known of such a credential is believed. */
#define PASS_OVER_US (5 * US_PER_SECOND)

static bool is_refused(struct gate *gate, struct target *target)
{
    const int64_t now_us = worker_now(gate);
    struct error ignored; /* it stays as it was */
    bool refused, is_seen;

    gate_key_lock(target->key);
    refused = target->key->is_refused;
    is_seen = target->key->is_seen;
    gate_key_unlock(target->key);
    if ((!refused && is_seen) || now_us < target->refused_look_us)
        return refused;
    target->refused_look_us = now_us + PASS_OVER_US;
    (void)worker_store(gate, call_look, target->key, &ignored);
    gate_key_lock(target->key);
    refused = target->key->is_refused;
    gate_key_unlock(target->key);
    return refused;
}

/* Those that have a value and were not refused. Without any, the first: its failure says why. */
static size_t usable(struct gate *gate, const struct spec_endpoint *endpoint,
                     struct target *targets[SPEC_CREDENTIALS_MAX], struct error *err)
{
    struct target *target;
    size_t count = 0;

    for (size_t i = 0; i < endpoint->variant_count && i < SPEC_CREDENTIALS_MAX; i++) {
        target = worker_target(gate, &endpoint->variants[i], err);
        if (target == NULL)
            return 0;
        if (target->limit.has_credential && !is_refused(gate, target))
            targets[count++] = target;
    }
    if (count == 0) {
        targets[0] = worker_target(gate, &endpoint->variants[0], err);
        count = targets[0] != NULL;
    }
    return count;
}

/* Remembers that the quota is used up, so that the next request does not ask the store again. */
static void note_quota(struct target *target, const struct attempt *attempt, int64_t now_us)
{
    target->quota_at_us = attempt->at_us;
    target->quota_gone_until_us = now_us + PASS_OVER_US;
    if (attempt->at_us > now_us && attempt->at_us < target->quota_gone_until_us)
        target->quota_gone_until_us = attempt->at_us;
}

static bool is_quota_gone(const struct attempt *attempt)
{
    return attempt->found == NOT_IN_TIME && attempt->reason == WAIT_QUOTA;
}

/* None has quota: until the first of them has. */
static void refuse_all(struct target *const *targets, size_t count, struct attempt *attempt,
                       struct permit *permit)
{
    attempt->found = NOT_IN_TIME;
    attempt->reason = WAIT_QUOTA;
    attempt->at_us = targets[0]->quota_at_us;
    for (size_t i = 1; i < count; i++) {
        if (targets[i]->quota_at_us < attempt->at_us)
            attempt->at_us = targets[i]->quota_at_us;
    }
    describe(attempt, permit);
    refuse(attempt, permit);
}

static bool acquire_any(const struct attempt *template, const struct spec_endpoint *endpoint,
                        struct permit *permit, struct error *err)
{
    struct target *targets[SPEC_CREDENTIALS_MAX];
    const size_t count = usable(template->gate, endpoint, targets, err);
    struct attempt attempt = *template;

    if (count == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        const int64_t now_us = worker_now(template->gate);

        attempt = *template;
        attempt.target = targets[i];
        if (now_us < targets[i]->quota_gone_until_us)
            continue;
        if (!acquire_one(&attempt, permit, err))
            return false;
        permit->has_other = count > 1;
        if (!is_quota_gone(&attempt))
            return true;
        note_quota(targets[i], &attempt, now_us);
    }
    attempt.target = targets[0];
    refuse_all(targets, count, &attempt, permit);
    return true;
}

bool worker_acquire(struct permit_gate *port, const struct permit_request *request,
                    struct permit *permit, struct error *err)
{
    struct gate *gate = (struct gate *)port;
    struct attempt attempt = { .gate = gate,
                               .waiter = request->waiter,
                               .may_wait = request->may_wait };

    *permit = (struct permit){ 0 };
    gate_tell(gate);
    attempt.start_us = worker_now(gate);
    attempt.deadline_us = attempt.start_us + (request->may_wait ? wait_max_of(gate) : 0);
    if (request->endpoint->variant_count > 0)
        return acquire_any(&attempt, request->endpoint, permit, err);
    attempt.target = worker_target(gate, request->endpoint, err);
    return attempt.target != NULL && acquire_one(&attempt, permit, err);
}
