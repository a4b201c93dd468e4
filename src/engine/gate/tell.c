/* What a source demanded and could not be written at once. */
#include "engine/gate/degraded.h"
#include "engine/gate/worker.h"

/* Whether to try now: not while another thread does, nor a moment after one has failed. */
static bool take_untold(struct gate *gate, struct gate_key *key, struct gate_limit *limit,
                        struct spec_rate *rate)
{
    bool is_due;

    gate_key_lock(key);
    is_due =
        gate_key_is_untold(key) && key->turns_open == 0 && !degraded_is_on(key, worker_now(gate));
    *limit = key->limit;
    *rate = key->settings;
    gate_key_unlock(key);
    return is_due;
}

void gate_tell(struct gate *gate)
{
    struct gate_limit limit;
    struct spec_rate rate;

    for (struct gate_key *key = gate_pool_first(gate->parts.pool); key != NULL; key = key->next) {
        if (take_untold(gate, key, &limit, &rate))
            worker_report(gate, &(struct shared_request){
                                    .key = key,
                                    .limit = &limit,
                                    .rate = &rate,
                                    .operation = gate->task.operation,
                                    .count = 1,
                                });
    }
}
