/* Slots: requests under way, over all processes. Threads of a process pass them on. */
#include "engine/gate/worker.h"
#include "port/store_rate.h"

/* A slot is handed on only when this much of its time is left. */
#define SLOT_REST_US (10 * US_PER_MINUTE)

bool slot_inherit(struct gate_key *key, int64_t now_us, struct gate_slot *slot)
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

void slot_return(struct gate *gate, int64_t id)
{
    struct error ignored;

    if (id != 0)
        (void)worker_store(gate, call_return, &id, &ignored);
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

void slot_sweep(struct gate *gate, struct gate_key *key)
{
    struct gate_slot slot = { 0 };

    gate_key_lock(key);
    if ((int64_t)key->slot_count > key->slot_waiters)
        slot = key->slots[--key->slot_count];
    gate_key_unlock(key);
    slot_return(gate, slot.id);
}
