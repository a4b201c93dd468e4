/* Feedback of a source: for the threads of this process at once, for all others through the store.
 */
#include <assert.h>
#include <string.h>

#include "engine/gate/degraded.h"
#include "engine/gate/quota_left.h"
#include "engine/gate/worker.h"

/* How often a success is written. */
#define REPORT_OK_US US_PER_SECOND
/* When a source says that its quota is used up, but not until when. */
#define PARK_US US_PER_HOUR

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
    key->flights--;
}

static bool must_report(const struct gate_key *key, int64_t now_us)
{
    if (degraded_is_on(key, now_us) || !key->feedback.is_any)
        return false;
    return key->feedback.has_bad || key->feedback.park_until_us != 0 ||
           now_us - key->reported_at_us >= REPORT_OK_US;
}

void worker_feedback(struct permit_gate *port, const struct permit_feedback *feedback)
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
        worker_report(gate, target);
    if (slot.id != 0)
        slot_release(gate, target, slot);
}
