/* One worker's gate: its endpoints, its calls to the store, slots, feedback, opening and closing.
 * acquire.c takes its permits. */
#include "engine/gate/gate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/gate/degraded.h"
#include "engine/gate/worker.h"
#include "engine/source/rate_key.h"
#include "port/store_rate.h"

/* Far more than a rate key has. */
enum { NAME_BYTES_MAX = 65536 };
/* A slot is handed on only when this much of its time is left. */
#define SLOT_REST_US (10 * US_PER_MINUTE)
/* A worker keeps its slot between requests for so long. The shortest lease is longer: a worker that
 * lost its lease lost its slot, too (store_lease_reclaim), and must not use it. */
#define SLOT_KEEP_US (200 * US_PER_MS)
/* How often a success is written. */
#define REPORT_OK_US US_PER_SECOND
/* When a source says that its quota is used up, but not until when. */
#define PARK_US US_PER_HOUR

/* ---- endpoints ---- */

static bool has_credential(struct gate *gate, const struct spec_endpoint *endpoint)
{
    const struct str reference = credential_of(&endpoint->auth);
    struct error ignored; /* an optional credential that is not set counts as none */
    bool is_there;

    if (reference.len == 0)
        return false;
    if (!secret_is_reference(reference))
        return true;
    is_there = gate->parts.secrets != NULL &&
               secret_get(gate->parts.secrets, reference, &gate->secret, &ignored);
    if (is_there)
        secret_wipe(&gate->secret);
    return is_there;
}

static bool target_make(struct gate *gate, const struct spec_endpoint *endpoint,
                        struct target *target, struct error *err)
{
    struct arena arena;
    struct str name;
    bool ok;

    arena_init(&arena, NAME_BYTES_MAX);
    ok = rate_key(&arena, gate->task.source, endpoint, &name, err);
    if (ok)
        *target = (struct target){
            .endpoint = endpoint,
            .rate = endpoint->rate,
            .key = gate_pool_key(gate->parts.pool, name),
            .limit = gate_limit_of(&endpoint->rate, has_credential(gate, endpoint)),
        };
    arena_release(&arena);
    if (ok && target->key == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory", "no memory for a rate key");
    return ok;
}

struct target *worker_target(struct gate *gate, const struct spec_endpoint *endpoint,
                             struct error *err)
{
    struct target *target;

    for (size_t i = 0; i < gate->target_count; i++) {
        if (gate->targets[i].endpoint == endpoint)
            return &gate->targets[i];
    }
    if (gate->target_count == TARGETS_MAX)
        gate->target_count = 0;
    target = &gate->targets[gate->target_count];
    if (!target_make(gate, endpoint, target, err))
        return NULL;
    gate->target_count++;
    return target;
}

struct shared_request worker_request(const struct gate *gate, const struct target *target)
{
    return (struct shared_request){
        .key = target->key,
        .limit = &target->limit,
        .rate = &target->rate,
        .operation = gate->task.operation,
        .count = 1,
    };
}

/* ---- the session ---- */

bool worker_store(struct gate *gate, worker_call *call, void *argument, struct error *err)
{
    for (int attempts = 0; attempts < 2; attempts++) {
        if (!store_retry_ready(&gate->retry, err))
            return false;
        if (call(gate, argument, err))
            return true;
        if (!store_retry_failed(&gate->retry, err))
            return false;
    }
    return false;
}

static bool call_report(struct gate *gate, void *argument, struct error *err)
{
    return shared_report(&gate->shared, argument, err);
}

void worker_report(struct gate *gate, struct shared_request *request)
{
    struct error failure; /* feedback that could not be written is written later */

    if (worker_store(gate, call_report, request, &failure))
        return;
    gate_key_lock(request->key);
    if (failure.level == ERROR_TRANSIENT)
        degraded_note(request->key, request->limit, worker_now(gate));
    gate_key_unlock(request->key);
}

static void report(struct gate *gate, const struct target *target)
{
    struct shared_request request = worker_request(gate, target);

    worker_report(gate, &request);
}

/* ---- slots: requests under way, over all processes; threads of a process pass them on ---- */

bool slot_inherit(struct gate_key *key, int64_t now_us, struct gate_slot *slot)
{
    for (size_t i = 0; i < key->slot_count; i++) {
        if (key->slots[i].until_us - now_us < SLOT_REST_US)
            continue;
        *slot = key->slots[i];
        slot->is_spare = false; /* it ends with the lease of the worker that took it */
        key->slots[i] = key->slots[--key->slot_count];
        return true;
    }
    return false;
}

static bool call_return(struct gate *gate, void *argument, struct error *err)
{
    return store_slot_return(gate->parts.store, *(int64_t *)argument, err);
}

void slot_owe(struct gate *gate, int64_t id)
{
    if (id != 0 && gate->owed_count < OWED_MAX)
        gate->owed[gate->owed_count++] = id;
}

/* A slot that cannot be returned now is returned later; if the process dies before, it is free
 * again when its time is over. The first failure ends the round: the store is asked again soon. */
static void slot_return(struct gate *gate, int64_t id)
{
    struct error ignored;

    slot_owe(gate, id);
    while (gate->owed_count > 0 &&
           worker_store(gate, call_return, &gate->owed[gate->owed_count - 1], &ignored))
        gate->owed_count--;
}

void slot_release(struct gate *gate, const struct target *target, struct gate_slot slot)
{
    struct gate_key *key = target->key;
    bool is_kept = false;

    gate_key_lock(key);
    slot.uses++;
    if (slot.id != 0 && key->slot_waiters > (int64_t)key->slot_count &&
        slot.uses < target->limit.quantum && key->slot_count < GATE_SLOTS_MAX) {
        key->slots[key->slot_count++] = slot;
        is_kept = true;
    }
    gate_key_unlock(key);
    if (!is_kept)
        slot_return(gate, slot.id);
}

/* Taking and returning a slot are two transactions, which cost as much as storing the page. So a
 * worker whose requests follow each other keeps its slot between them, as long as others are free;
 * whoever comes then finds it returned after SLOT_KEEP_US. */
static bool may_keep(const struct gate *gate, struct gate_key *key, const struct gate_slot *slot)
{
    const int64_t now_us = worker_now(gate);
    bool is_wanted;

    if (slot->id == 0 || !slot->is_spare || gate->kept.slot.id != 0 || gate->last_key != key ||
        now_us - gate->last_us > SLOT_KEEP_US || now_us - slot->taken_us > SLOT_KEEP_US)
        return false;
    gate_key_lock(key);
    is_wanted = key->slot_waiters == 0 && gate_key_is_busy(key, now_us);
    gate_key_unlock(key);
    return is_wanted;
}

void slot_settle(struct gate *gate, const struct target *target, struct gate_slot slot)
{
    struct gate_key *key = target->key;

    if (may_keep(gate, key, &slot))
        gate->kept = (struct held){ key, slot };
    else if (slot.id != 0)
        slot_release(gate, target, slot);
    gate->last_key = key;
    gate->last_us = worker_now(gate);
}

bool slot_resume(struct gate *gate, const struct target *target, struct gate_slot *slot)
{
    const struct held kept = gate->kept;

    if (kept.slot.id == 0)
        return false;
    gate->kept = (struct held){ 0 };
    *slot = kept.slot;
    if (kept.key == target->key && worker_now(gate) - kept.slot.taken_us <= SLOT_KEEP_US)
        return true;
    slot_return(gate, kept.slot.id);
    return false;
}

void gate_end(struct gate *gate)
{
    const struct held kept = gate->kept;

    gate->kept = (struct held){ 0 };
    if (kept.slot.id != 0)
        slot_return(gate, kept.slot.id);
}

void slot_sweep(struct gate *gate, struct gate_key *key)
{
    struct gate_slot slot = { 0 };

    gate_key_lock(key);
    if ((int64_t)key->slot_count > key->slot_waiters)
        slot = key->slots[--key->slot_count];
    gate_key_unlock(key);
    slot_return(gate, slot.id);
}

struct keeping {
    int64_t id;
    int64_t until_us; /* by the store's clock */
};

static bool call_keep(struct gate *gate, void *argument, struct error *err)
{
    const struct keeping *keeping = argument;

    return store_slot_keep(gate->parts.store, keeping->id, keeping->until_us, err);
}

/* The server may still be working on the request, so it counts. If the store does not hear of that,
 * the slot is kept until its time is over. */
static void slot_keep(struct gate *gate, struct gate_key *key, int64_t id, int64_t busy_us)
{
    struct keeping keeping = { .id = id };
    struct error ignored;

    gate_key_lock(key);
    keeping.until_us = worker_now(gate) + key->offset_us + busy_us;
    gate_key_unlock(key);
    (void)worker_store(gate, call_keep, &keeping, &ignored);
}

/* ---- feedback: for the threads of this process at once, for all others through the store ---- */

static struct gate_slot held_slot(struct gate *gate, const struct gate_key *key)
{
    for (size_t i = 0; i < gate->held_count; i++) {
        const struct gate_slot slot = gate->held[i].slot;

        if (gate->held[i].key != key)
            continue;
        gate->held_count--;
        memmove(gate->held + i, gate->held + i + 1, (gate->held_count - i) * sizeof(gate->held[0]));
        return slot;
    }
    assert(!"feedback is for a permit that was given");
    return (struct gate_slot){ 0 };
}

static int64_t park_until(const struct permit_feedback *feedback)
{
    const struct bucket_signal *signal = &feedback->signal;
    const struct spec_rate *rate = &feedback->endpoint->rate;

    if (signal->retry_after_us > 0)
        return signal->now_us + signal->retry_after_us;
    if (signal->reset_at_us > signal->now_us)
        return signal->reset_at_us;
    if (rate->quota_hour > 0)
        return quota_end_us(QUOTA_HOUR, signal->now_us);
    if (rate->quota_day > 0)
        return quota_end_us(QUOTA_DAY, signal->now_us);
    return signal->now_us + PARK_US;
}

/* Until when the source demands silence, by its own calendar; 0: it does not. */
static int64_t silence_of(const struct permit_feedback *feedback)
{
    const struct bucket_signal *signal = &feedback->signal;

    if (feedback->is_quota)
        return park_until(feedback);
    if (signal->retry_after_us > 0)
        return signal->now_us + signal->retry_after_us;
    if (signal->has_remaining && signal->remaining <= 0 && signal->reset_at_us > signal->now_us)
        return signal->reset_at_us;
    return 0;
}

/* Converts instants to the monotonic clock: what is written later must not depend on a calendar
 * that was set meanwhile. */
static struct bucket_signal monotonic_of(const struct bucket_signal *signal, int64_t now_us)
{
    const int64_t shift_us = now_us - signal->now_us;
    struct bucket_signal shifted = *signal;

    shifted.now_us = now_us;
    shifted.sent_at_us += shift_us;
    if (shifted.reset_at_us != 0)
        shifted.reset_at_us += shift_us;
    return shifted;
}

static struct gate_feedback pending_of(const struct gate *gate, const struct target *target,
                                       const struct permit_feedback *feedback, int64_t now_us)
{
    const bool is_bad = feedback->signal.outcome != BUCKET_OK || silence_of(feedback) != 0;
    struct gate_feedback pending = { .is_any = true };

    if (feedback->is_quota) {
        pending.park_until_us = park_until(feedback) + now_us - feedback->signal.now_us;
    } else if (is_bad) {
        pending.has_bad = true;
        pending.bad = monotonic_of(&feedback->signal, now_us);
    } else if (feedback->requests > 0) {
        pending.has_ok = true;
        pending.ok = monotonic_of(&feedback->signal, now_us);
    }
    if (feedback->is_refused)
        pending.refused_status = feedback->status;
    pending.used[quota_class_of(gate->task.operation)] = feedback->requests - 1;
    if (feedback->requests > 1) /* under one permit: the others are taken later */
        pending.debit = (feedback->requests - 1) * target->limit.cost;
    return pending;
}

/* For all threads of the process, before it is in the store. Under the lock. */
static void add_feedback(struct gate *gate, const struct target *target,
                         const struct permit_feedback *feedback)
{
    struct gate_key *key = target->key;
    const int64_t now_us = worker_now(gate);
    const struct gate_feedback pending = pending_of(gate, target, feedback, now_us);
    const int64_t silence_us = silence_of(feedback);
    const int64_t until_us = now_us + (silence_us - feedback->signal.now_us);

    gate_key_add(key, &pending);
    key->limit = target->limit;
    key->settings = target->rate;
    if (key->is_degraded) {
        key->degraded.tokens -= pending.debit;
        if (key->feedback.debit > target->limit.config.burst) /* see degraded_count() */
            key->feedback.debit = target->limit.config.burst;
    }
    if (silence_us != 0 && until_us > key->received_until_us)
        key->received_until_us = until_us;
    if (feedback->is_quota && until_us > key->parked_until_us)
        key->parked_until_us = until_us;
    if (pending.has_bad)
        degraded_feedback(key, &pending.bad, now_us);
    key->is_refused |= feedback->is_refused;
    key->flights--;
}

static bool must_report(const struct gate_key *key, int64_t now_us)
{
    if (degraded_is_on(key, now_us) || !key->feedback.is_any)
        return false;
    return gate_key_is_untold(key) || now_us - key->reported_at_us >= REPORT_OK_US;
}

static void give_feedback(struct permit_gate *port, const struct permit_feedback *feedback)
{
    struct gate *gate = (struct gate *)port;
    struct error ignored;
    struct target *target = worker_target(gate, feedback->endpoint, &ignored);
    struct gate_slot slot;
    bool is_due;

    assert(target != NULL);
    slot = held_slot(gate, target->key);
    gate_key_lock(target->key);
    add_feedback(gate, target, feedback);
    is_due = must_report(target->key, worker_now(gate));
    gate_key_unlock(target->key);
    if (is_due)
        report(gate, target);
    if (slot.id != 0 && feedback->busy_us > 0)
        slot_keep(gate, target->key, slot.id, feedback->busy_us);
    else
        slot_settle(gate, target, slot);
}

/* ---- opening and closing ---- */

bool gate_open(struct gate **gate, const struct gate_parts *parts, struct error *err)
{
    struct gate *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory", "no memory for a gate");
    made->port = (struct permit_gate){ worker_acquire, give_feedback };
    made->parts = *parts;
    made->retry = (struct store_retry){ .store = parts->store };
    made->shared = (struct shared){ parts->store, parts->clock, parts->random, parts->owner };
    *gate = made;
    return true;
}

void gate_begin(struct gate *gate, const struct gate_task *task)
{
    assert(gate->held_count == 0 && gate->kept.slot.id == 0);
    gate->task = *task;
    gate->target_count = 0;
}

struct permit_gate *gate_port(struct gate *gate)
{
    return &gate->port;
}

void gate_close(struct gate *gate)
{
    if (gate == NULL)
        return;
    gate_end(gate);
    for (size_t i = 0; i < gate->held_count; i++)
        slot_return(gate, gate->held[i].slot.id);
    for (size_t i = 0; i < gate->target_count; i++) {
        struct gate_key *key = gate->targets[i].key;
        bool is_any;

        slot_sweep(gate, key);
        gate_key_lock(key);
        is_any = key->feedback.is_any && !key->is_degraded;
        gate_key_unlock(key);
        if (is_any)
            report(gate, &gate->targets[i]);
    }
    gate_tell(gate);
    free(gate);
}
