/* One permit, from asking to using:
 *
 *      ┌────────── lost: late, or silence meanwhile ─────────┐
 *      ▼                                                     │
 *   find ─ taken along by another thread ──▶ wait ─ look ─ wait ──▶ ALLOW
 *      ├── the store ──────────────────────▶  ▲ until due
 *      ├── alone ──────────────────────────▶──┘
 *      ├── no slot: a little later again
 *      └── not in time ──▶ REJECT, or WAIT for one who may not wait
 */
#include "engine/gate/gate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/gate/alone.h"
#include "engine/gate/limit.h"
#include "engine/gate/pool.h"
#include "engine/gate/shared.h"
#include "engine/quota_left.h"
#include "engine/rate_key.h"
#include "port/store_rate.h"

#define WAIT_DEFAULT_US US_PER_MINUTE
/* The row is looked at so long before a permit falls due: time enough for one read. */
#define LOOK_LEAD_US (10 * US_PER_MS)
/* One who waits for a slot asks again after this, and chance up to as much again. */
#define SLOT_POLL_US (15 * US_PER_MS)
/* That all goes well is written so often. */
#define TELL_OK_US US_PER_SECOND
/* Where a source says that its quota is gone, and nobody knows until when. */
#define PARK_US US_PER_HOUR
/* A slot is handed on inside the process only when this much of its time is left. */
#define SLOT_REST_US (10 * US_PER_MINUTE)

/* Endpoints of one task, and requests under way: one, and one ahead of time. */
enum { TARGETS_MAX = 4, HELD_MAX = 8, NAME_BYTES_MAX = 65536 };

struct target { /* an endpoint, and what it means here */
    const struct spec_endpoint *endpoint;
    struct gate_key *key;
    struct gate_limit limit;
};

struct held {
    struct gate_key *key;
    struct gate_slot slot;
};

struct gate {
    struct fetch_gate port;
    struct gate_parts parts;
    struct shared shared;
    struct gate_task task;
    struct target targets[TARGETS_MAX];
    size_t target_count;
    struct held held[HELD_MAX];
    size_t held_count;
    bool is_lost; /* the session must connect again */
    struct secret secret;
};

/* ---- endpoints ---- */

static bool has_credential(struct gate *gate, const struct spec_endpoint *endpoint)
{
    const struct str reference = credential_of(&endpoint->auth);
    struct error ignored; /* an optional credential that is not there is none */
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
            .key = gate_pool_key(gate->parts.pool, name),
            .limit = gate_limit_of(&endpoint->rate, has_credential(gate, endpoint)),
        };
    arena_release(&arena);
    if (ok && target->key == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory", "no memory for a rate key");
    return ok;
}

static struct target *target_of(struct gate *gate, const struct spec_endpoint *endpoint,
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

static struct shared_ask ask_of(const struct gate *gate, const struct target *target)
{
    return (struct shared_ask){
        .key = target->key,
        .limit = &target->limit,
        .rate = &target->endpoint->rate,
        .operation = gate->task.operation,
        .count = 1,
    };
}

/* ---- the session ---- */

static bool is_lost(const struct error *err)
{
    return strcmp(err->code, "store.lost") == 0 || strcmp(err->code, "store.commit_unknown") == 0;
}

typedef bool store_call(struct gate *gate, void *argument, struct error *err);

/* A connection that broke is made again once, at once. */
static bool call_store(struct gate *gate, store_call *call, void *argument, struct error *err)
{
    for (int attempts = 0; attempts < 2; attempts++) {
        if (gate->is_lost && !store_reconnect(gate->parts.store, err))
            return false;
        gate->is_lost = false;
        if (call(gate, argument, err))
            return true;
        gate->is_lost = is_lost(err);
        if (!gate->is_lost)
            return false;
    }
    return false;
}

static bool call_tell(struct gate *gate, void *argument, struct error *err)
{
    return shared_tell(&gate->shared, argument, err);
}

static bool call_look(struct gate *gate, void *argument, struct error *err)
{
    return shared_look(&gate->shared, argument, err);
}

struct taking {
    const struct shared_ask *ask;
    struct shared_answer *answer;
};

static bool call_take(struct gate *gate, void *argument, struct error *err)
{
    const struct taking *taking = argument;

    return shared_take(&gate->shared, taking->ask, taking->answer, err);
}

/* ---- slots ---- */

/* One that another thread of the process has no more use for. Under the lock. */
static bool slot_inherit(struct gate_key *key, int64_t now_us, struct gate_slot *slot)
{
    for (size_t i = 0; i < key->slot_count; i++) {
        if (key->slots[i].until_us - now_us < SLOT_REST_US)
            continue;
        *slot = key->slots[i];
        key->slots[i] = key->slots[--key->slot_count];
        return true;
    }
    return false;
}

static bool call_return(struct gate *gate, void *argument, struct error *err)
{
    return store_slot_return(gate->parts.store, *(int64_t *)argument, err);
}

/* Lost ones come back by themselves when their time is over. */
static void slot_return(struct gate *gate, int64_t id)
{
    struct error ignored;

    if (id != 0)
        (void)call_store(gate, call_return, &id, &ignored);
}

/* To a thread that waits for one, but not for ever among ourselves: others wait too. */
static void slot_release(struct gate *gate, const struct target *target, struct gate_slot slot)
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

/* Those that nobody waits for any more. */
static void slots_sweep(struct gate *gate, struct gate_key *key)
{
    struct gate_slot slot = { 0 };

    gate_key_lock(key);
    if ((int64_t)key->slot_count > key->slot_waiters)
        slot = key->slots[--key->slot_count];
    gate_key_unlock(key);
    slot_return(gate, slot.id);
}

/* ---- finding a permit ---- */

struct attempt {
    struct gate *gate;
    const struct target *target;
    bool may_wait;
    int64_t start_us;
    int64_t deadline_us;
    struct gate_slot slot;
    bool has_slot;
    struct gate_permit permit;
    enum { FOUND, NO_SLOT, NOT_IN_TIME } found;
    int64_t at_us; /* NOT_IN_TIME: it would have been then; 0: nobody knows */
};

static int64_t now_of(const struct gate *gate)
{
    return clock_monotonic_us(gate->parts.clock);
}

static void take_answer(struct attempt *attempt, const struct shared_answer *answer)
{
    switch (answer->kind) {
    case SHARED_TAKEN:
        attempt->found = FOUND;
        attempt->permit = answer->permit;
        if (answer->slot.id != 0) {
            attempt->slot = answer->slot;
            attempt->has_slot = true;
        }
        return;
    case SHARED_LATER:
        attempt->found = NOT_IN_TIME;
        attempt->at_us = answer->at_us;
        return;
    case SHARED_NO_SLOT:
        attempt->found = NO_SLOT;
        return;
    }
}

static struct shared_ask ask_for(const struct attempt *attempt, int64_t now_us)
{
    struct shared_ask ask = ask_of(attempt->gate, attempt->target);

    ask.wait_us = attempt->deadline_us > now_us ? attempt->deadline_us - now_us : 0;
    ask.needs_slot = attempt->target->limit.concurrency > 0 && !attempt->has_slot;
    return ask;
}

/* Without the store. Under the lock; false: the store must be asked. */
static bool find_here(struct attempt *attempt, struct shared_ask *ask, int64_t now_us)
{
    struct gate_key *key = attempt->target->key;
    const enum quota_class rank = quota_class_of(ask->operation);
    struct shared_answer answer;

    if (gate_key_silence(key) > attempt->deadline_us) {
        attempt->found = NOT_IN_TIME;
        attempt->at_us = gate_key_silence(key);
        return true;
    }
    if (ask->needs_slot && slot_inherit(key, now_us, &attempt->slot)) {
        attempt->has_slot = true;
        ask->needs_slot = false;
    }
    attempt->found = FOUND;
    if (!ask->needs_slot &&
        gate_key_pop(key, &attempt->target->limit, rank, now_us, &attempt->permit))
        return true;
    if (alone_is_on(key, now_us)) {
        alone_take(ask, now_us, &answer);
        take_answer(attempt, &answer);
        return true;
    }
    if (!attempt->may_wait && key->is_seen && key->line_until_us > now_us) {
        attempt->found = NOT_IN_TIME; /* others stand in line */
        return true;
    }
    return false;
}

static bool find_in_store(struct attempt *attempt, struct shared_ask *ask, struct error *err)
{
    struct gate *gate = attempt->gate;
    struct gate_key *key = attempt->target->key;
    struct shared_answer answer;
    bool ok, is_block;

    gate_key_lock(key);
    is_block = !key->is_taking && attempt->target->limit.concurrency == 0;
    if (is_block) {
        key->is_taking = true;
        ask->count = gate_key_block(key, &attempt->target->limit, now_of(gate));
    }
    gate_key_unlock(key);
    ok = call_store(gate, call_take, &(struct taking){ ask, &answer }, err);
    gate_key_lock(key);
    if (is_block)
        key->is_taking = false;
    if (!ok && err->level == ERROR_TRANSIENT) {
        alone_begin(key, &attempt->target->limit, now_of(gate));
        *ask = ask_for(attempt, now_of(gate));
        alone_take(ask, now_of(gate), &answer);
        ok = true;
    }
    gate_key_unlock(key);
    if (ok)
        take_answer(attempt, &answer);
    return ok;
}

static bool find(struct attempt *attempt, struct error *err)
{
    struct gate_key *key = attempt->target->key;
    const int64_t now_us = now_of(attempt->gate);
    struct shared_ask ask = ask_for(attempt, now_us);
    bool is_found;

    gate_key_lock(key);
    is_found = find_here(attempt, &ask, now_us);
    gate_key_unlock(key);
    return is_found || find_in_store(attempt, &ask, err);
}

/* ---- waiting for it ---- */

static bool sleep_until(const struct attempt *attempt, int64_t until_us, struct error *err)
{
    const struct gate_parts *parts = &attempt->gate->parts;

    if (clock_sleep_until_us(parts->clock, until_us, parts->wake_fd))
        return true;
    return error_set(err, ERROR_TRANSIENT, "fetch.cancelled", "told to stop while waiting");
}

static bool poll_slot(struct attempt *attempt, struct error *err)
{
    struct gate_key *key = attempt->target->key;
    const int64_t chance_us =
        (int64_t)(random_source_u64(attempt->gate->parts.random) % (uint64_t)SLOT_POLL_US);
    bool ok;

    gate_key_lock(key);
    key->slot_waiters++;
    gate_key_unlock(key);
    ok = sleep_until(attempt, now_of(attempt->gate) + SLOT_POLL_US + chance_us, err);
    gate_key_lock(key);
    key->slot_waiters--;
    gate_key_unlock(key);
    return ok;
}

/* What we know of the row is too old for a permit of that instant. */
static bool must_look(struct gate_key *key, const struct gate_permit *permit)
{
    bool must;

    gate_key_lock(key);
    must = !permit->is_alone && permit->due_us - key->seen_at_us > GATE_LOOK_AGE_US;
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
    if (!must_look(key, &attempt->permit) || call_store(attempt->gate, call_look, key, err))
        return true;
    if (err->level != ERROR_TRANSIENT)
        return false;
    gate_key_lock(key);
    alone_begin(key, &attempt->target->limit, now_of(attempt->gate));
    attempt->permit.due_us = INT64_MIN / 2; /* who knows what was said meanwhile: it is lost */
    gate_key_unlock(key);
    return true;
}

/* Now, if it is still good. */
static bool use(struct attempt *attempt)
{
    struct gate_key *key = attempt->target->key;
    const struct gate_limit *limit = &attempt->target->limit;
    const struct gate_permit *permit = &attempt->permit;
    const int64_t now_us = now_of(attempt->gate);
    bool is_good;

    gate_key_lock(key);
    is_good = now_us >= gate_key_silence(key) && now_us < permit->due_us + limit->late_us;
    if (!is_good) {
        gate_key_lose(key, permit);
    } else {
        gate_key_count_use(key, now_us);
        key->flights++;
        if (permit->is_alone)
            alone_count(key, limit, permit->rank);
    }
    gate_key_unlock(key);
    return is_good;
}

static bool wait_and_use(struct attempt *attempt, bool *is_used, struct error *err)
{
    struct gate_key *key = attempt->target->key;

    *is_used = false;
    if (!look(attempt, err) ||
        (now_of(attempt->gate) < attempt->permit.due_us && /* else it may be silence already */
         !sleep_until(attempt, attempt->permit.due_us, err))) {
        gate_key_lock(key);
        if (attempt->permit.is_alone)
            gate_key_lose(key, &attempt->permit);
        else
            gate_key_push(key, &attempt->permit); /* somebody else may be in time for it */
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

static void refuse(const struct attempt *attempt, struct fetch_permit *permit)
{
    struct clock *clock = attempt->gate->parts.clock;
    const int64_t now_us = now_of(attempt->gate);

    permit->decision = attempt->may_wait ? RATE_REJECT : RATE_WAIT;
    if (attempt->at_us > now_us)
        permit->retry_at_us = clock_now_us(clock) + (attempt->at_us - now_us);
}

static void allow(struct attempt *attempt, struct fetch_permit *permit)
{
    struct gate *gate = attempt->gate;

    permit->decision = RATE_ALLOW;
    assert(gate->held_count < HELD_MAX);
    gate->held[gate->held_count++] = (struct held){ attempt->target->key, attempt->slot };
}

/* Until a permit is used (FOUND) or none can be had in time. */
static bool run(struct attempt *attempt, struct error *err)
{
    bool is_used = false;

    while (!is_used) {
        if (!find(attempt, err))
            return false;
        if (attempt->found == NO_SLOT &&
            (!attempt->may_wait || now_of(attempt->gate) >= attempt->deadline_us)) {
            attempt->found = NOT_IN_TIME;
            attempt->at_us = 0;
        }
        if (attempt->found == NOT_IN_TIME)
            return true;
        if (attempt->found == NO_SLOT ? !poll_slot(attempt, err)
                                      : !wait_and_use(attempt, &is_used, err))
            return false;
    }
    return true;
}

static bool acquire(struct fetch_gate *port, const struct fetch_permit_ask *ask,
                    struct fetch_permit *permit, struct error *err)
{
    struct gate *gate = (struct gate *)port;
    struct target *target = target_of(gate, ask->endpoint, err);
    struct attempt attempt = { .gate = gate, .target = target, .may_wait = ask->may_wait };
    bool ok;

    *permit = (struct fetch_permit){ 0 };
    if (target == NULL)
        return false;
    attempt.start_us = now_of(gate);
    attempt.deadline_us = attempt.start_us + (ask->may_wait ? wait_max_of(gate) : 0);
    ok = run(&attempt, err);
    permit->waited_us = now_of(gate) - attempt.start_us;
    permit->key = target->key->name;
    permit->cost = target->limit.cost / MICRO;
    permit->burst = target->limit.config.burst;
    gate_key_lock(target->key);
    permit->rate = target->key->rate;
    gate_key_unlock(target->key);
    if (ok && attempt.found == FOUND) {
        allow(&attempt, permit);
        return true;
    }
    if (attempt.has_slot)
        slot_release(gate, target, attempt.slot);
    slots_sweep(gate, target->key);
    if (ok)
        refuse(&attempt, permit);
    return ok;
}

/* ---- hearing ---- */

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

static int64_t park_until(const struct fetch_feedback *feedback)
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

/* Until when the source wants silence, by its own calendar; 0: it does not. */
static int64_t silence_of(const struct fetch_feedback *feedback)
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

static struct gate_news news_of(const struct gate *gate, const struct fetch_feedback *feedback)
{
    const bool is_bad = feedback->signal.outcome != BUCKET_OK || silence_of(feedback) != 0;
    struct gate_news news = { .is_any = true };

    if (feedback->is_quota) {
        news.park_until_us = park_until(feedback);
    } else if (is_bad) {
        news.has_bad = true;
        news.bad = feedback->signal;
    } else if (feedback->requests > 0) {
        news.has_ok = true;
        news.ok = feedback->signal;
    }
    news.used[quota_class_of(gate->task.operation)] = feedback->requests - 1;
    return news;
}

/* For all threads of the process, before the store knows. Under the lock. */
static void hear(struct gate *gate, struct gate_key *key, const struct fetch_feedback *feedback)
{
    const struct gate_news news = news_of(gate, feedback);
    const int64_t now_us = now_of(gate);
    const int64_t silence_us = silence_of(feedback);
    const int64_t until_us = now_us + (silence_us - feedback->signal.now_us);

    gate_key_hear(key, &news);
    if (silence_us != 0 && until_us > key->heard_until_us)
        key->heard_until_us = until_us;
    if (news.has_bad)
        alone_hear(key, &news.bad, now_us);
    key->flights--;
}

static bool must_tell(const struct gate_key *key, int64_t now_us)
{
    if (alone_is_on(key, now_us) || !key->news.is_any)
        return false;
    return key->news.has_bad || key->news.park_until_us != 0 ||
           now_us - key->told_at_us >= TELL_OK_US;
}

static void tell(struct gate *gate, const struct target *target)
{
    struct shared_ask ask = ask_of(gate, target);
    struct error failure; /* what could not be written is written later */

    if (call_store(gate, call_tell, &ask, &failure))
        return;
    gate_key_lock(target->key);
    if (failure.level == ERROR_TRANSIENT)
        alone_begin(target->key, &target->limit, now_of(gate));
    gate_key_unlock(target->key);
}

static void feedback(struct fetch_gate *port, const struct fetch_feedback *heard)
{
    struct gate *gate = (struct gate *)port;
    struct error ignored;
    struct target *target = target_of(gate, heard->endpoint, &ignored);
    struct gate_slot slot;
    bool is_due;

    assert(target != NULL);
    slot = held_slot(gate, target->key);
    gate_key_lock(target->key);
    hear(gate, target->key, heard);
    is_due = must_tell(target->key, now_of(gate));
    gate_key_unlock(target->key);
    if (is_due)
        tell(gate, target);
    if (slot.id != 0)
        slot_release(gate, target, slot);
}

/* ---- opening and closing ---- */

bool gate_open(struct gate **gate, const struct gate_parts *parts, struct error *err)
{
    struct gate *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory", "no memory for a gate");
    made->port = (struct fetch_gate){ acquire, feedback };
    made->parts = *parts;
    made->shared = (struct shared){ parts->store, parts->clock, parts->random, parts->owner };
    *gate = made;
    return true;
}

void gate_begin(struct gate *gate, const struct gate_task *task)
{
    assert(gate->held_count == 0);
    gate->task = *task;
    gate->target_count = 0;
}

struct fetch_gate *gate_port(struct gate *gate)
{
    return &gate->port;
}

void gate_close(struct gate *gate)
{
    if (gate == NULL)
        return;
    for (size_t i = 0; i < gate->held_count; i++)
        slot_return(gate, gate->held[i].slot.id);
    for (size_t i = 0; i < gate->target_count; i++) {
        struct gate_key *key = gate->targets[i].key;
        bool is_any;

        slots_sweep(gate, key);
        gate_key_lock(key);
        is_any = key->news.is_any && !key->is_alone;
        gate_key_unlock(key);
        if (is_any)
            tell(gate, &gate->targets[i]);
    }
    free(gate);
}
