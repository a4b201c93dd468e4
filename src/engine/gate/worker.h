/* worker: one worker's gate, as gate.c and acquire.c share it. */
#ifndef PATRA_ENGINE_GATE_WORKER_H
#define PATRA_ENGINE_GATE_WORKER_H

#include "engine/gate/gate.h"
#include "engine/gate/limit.h"
#include "engine/gate/pool.h"
#include "engine/gate/shared.h"
#include "engine/session/store_retry.h"

/* Endpoints of one task with each of their credentials, and requests under way: one, and one ahead
 * of time. */
enum { TARGETS_MAX = 4 * SPEC_CREDENTIALS_MAX, HELD_MAX = 8 };

struct target {                           /* an endpoint, and what it means here */
    const struct spec_endpoint *endpoint; /* identifies the target; it ends with its task */
    struct spec_rate rate; /* a copy: the last feedback is written after the task's end */
    struct gate_key *key;
    struct gate_limit limit;
    int64_t quota_gone_until_us; /* it had none left; not looked at again before this */
    int64_t quota_at_us;         /* when there is quota again, as the store said */
    int64_t refused_look_us;     /* when to see whether a person has readmitted it */
};

/* More slots than this are left to their end. */
enum { OWED_MAX = 64 };

struct held {
    struct gate_key *key;
    struct gate_slot slot;
};

struct gate {
    struct permit_gate port;
    struct gate_parts parts;
    struct shared shared;
    struct gate_task task;
    struct target targets[TARGETS_MAX];
    size_t target_count;
    struct held held[HELD_MAX];
    size_t held_count;
    struct held kept;          /* between two requests; without a slot: none */
    struct gate_key *last_key; /* of the last request, */
    int64_t last_us;           /* and when it ended */
    int64_t owed[OWED_MAX];    /* slots that could not be returned yet */
    size_t owed_count;
    struct store_retry retry;
    struct secret secret;
};

bool worker_acquire(struct permit_gate *port, const struct permit_request *request,
                    struct permit *permit, struct error *err);

static inline int64_t worker_now(const struct gate *gate)
{
    return clock_monotonic_us(gate->parts.clock);
}

/* What an endpoint means; lives until gate_begin(). */
struct target *worker_target(struct gate *gate, const struct spec_endpoint *endpoint,
                             struct error *err) MUST_CHECK;
struct shared_request worker_request(const struct gate *gate, const struct target *target);

/* ---- the session ---- */

typedef bool worker_call(struct gate *gate, void *argument, struct error *err);

/* Makes the call, and once more with a new session when the session was lost. */
bool worker_store(struct gate *gate, worker_call *call, void *argument, struct error *err);

/* Writes pending feedback. What cannot be written now is kept for later. */
void worker_report(struct gate *gate, struct shared_request *request);

/* ---- slots ---- */

/* A slot that another thread of the process no longer needs. Under the key's lock. */
bool slot_inherit(struct gate_key *key, int64_t now_us, struct gate_slot *slot);

/* After a request: keeps the slot for the next one where that is soon, and nobody waits for it. */
void slot_settle(struct gate *gate, const struct target *target, struct gate_slot slot);

/* The slot that was kept, if it is good for this target; any other is returned. False: none. */
bool slot_resume(struct gate *gate, const struct target *target, struct gate_slot *slot);

/* Passes the slot to a thread that waits, a limited number of times: other processes wait too. */
void slot_release(struct gate *gate, const struct target *target, struct gate_slot slot);

/* Remembers a slot that may be ours in the store, to return it as soon as that can be reached. */
void slot_owe(struct gate *gate, int64_t id);

/* Returns a slot that no thread waits for, and those that are owed. */
void slot_sweep(struct gate *gate, struct gate_key *key);

#endif
