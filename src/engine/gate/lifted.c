/* A silence that a person has lifted, as the processes that keep it hear of it. */
#include "engine/gate/worker.h"

static bool call_look(struct gate *gate, void *argument, struct error *err)
{
    return shared_look(&gate->shared, argument, err);
}

/* What the source demanded is in the row, once it was written: a row that is read before that says
 * nothing about it. Under the lock. */
static bool is_written(const struct gate_key *key)
{
    return !gate_key_is_untold(key) && key->turns_open == 0 && !key->is_degraded;
}

static bool is_silent(struct gate_key *key, int64_t now_us, int64_t *turns)
{
    bool silent;

    gate_key_lock(key);
    silent = gate_key_silence(key) > now_us && is_written(key);
    *turns = key->turns;
    gate_key_unlock(key);
    return silent;
}

/* `turns` is from before the row was read. */
static bool forget_silence(struct gate_key *key, int64_t now_us, int64_t turns)
{
    bool is_lifted;

    gate_key_lock(key);
    is_lifted = key->silent_until_us <= now_us && is_written(key) && key->turns == turns;
    if (is_lifted) {
        key->received_until_us = 0;
        key->parked_until_us = 0;
    }
    gate_key_unlock(key);
    return is_lifted;
}

bool gate_hear_lifted(struct gate *gate)
{
    bool any = false;
    struct error ignored; /* the silence lasts */

    for (struct gate_key *key = gate_pool_first(gate->parts.pool); key != NULL; key = key->next) {
        const int64_t now_us = worker_now(gate);
        int64_t turns;

        if (is_silent(key, now_us, &turns) && worker_store(gate, call_look, key, &ignored))
            any = forget_silence(key, now_us, turns) || any;
    }
    return any;
}
