/* Opening, closing, targets, and the calls to the store. */
#include "engine/gate/gate.h"

#include <assert.h>
#include <stdlib.h>

#include "engine/gate/degraded.h"
#include "engine/gate/worker.h"
#include "engine/source/rate_key.h"

/* Far more than a rate key has. */
enum { NAME_BYTES_MAX = 65536 };

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

struct shared_request worker_ask(const struct gate *gate, const struct target *target)
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

void worker_report(struct gate *gate, const struct target *target)
{
    struct shared_request ask = worker_ask(gate, target);
    struct error failure; /* feedback that could not be written is written later */

    if (worker_store(gate, call_report, &ask, &failure))
        return;
    gate_key_lock(target->key);
    if (failure.level == ERROR_TRANSIENT)
        degraded_note(target->key, &target->limit, worker_now(gate));
    gate_key_unlock(target->key);
}

/* ---- opening and closing ---- */

bool gate_open(struct gate **gate, const struct gate_parts *parts, struct error *err)
{
    struct gate *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory", "no memory for a gate");
    made->port = (struct permit_gate){ worker_acquire, worker_feedback };
    made->parts = *parts;
    made->retry = (struct store_retry){ .store = parts->store };
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

struct permit_gate *gate_port(struct gate *gate)
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

        slot_sweep(gate, key);
        gate_key_lock(key);
        is_any = key->feedback.is_any && !key->is_degraded;
        gate_key_unlock(key);
        if (is_any)
            worker_report(gate, &gate->targets[i]);
    }
    free(gate);
}
