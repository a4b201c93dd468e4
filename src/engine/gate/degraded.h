/* degraded: a process whose store is out of reach.
 *
 *      shared ── a call fails ──▶ failing ── GATE_DEGRADED_AFTER_US ──▶ degraded
 *        ▲                          │ again every 100 ms                   │ every second
 *        ╰──────────────────────────┴──── a call succeeds ─────────────────╯
 *
 * While failing, it sends nothing: most failures are over in a moment, and other processes may
 * still reach the store. Degraded, it uses one GATE_DEGRADED_PARTS'th of the rate and the quota
 * last seen, from an empty bucket of a single request. All calls are made under the key's lock.
 */
#ifndef PATRA_ENGINE_GATE_DEGRADED_H
#define PATRA_ENGINE_GATE_DEGRADED_H

#include "engine/gate/pool.h"
#include "engine/gate/shared.h"

/* A call to the store failed. */
void degraded_note(struct gate_key *key, const struct gate_limit *limit, int64_t now_us);

/* Another thread tried the store a moment ago: do not call it now. */
bool degraded_is_on(const struct gate_key *key, int64_t now_us);

void degraded_take(const struct shared_request *request, int64_t now_us,
                   struct shared_result *result);

/* The permit was used: it is counted in the store later. */
void degraded_count(struct gate_key *key, const struct gate_limit *limit, enum quota_class rank);

/* The source's signal, for the process's own bucket; `now_us` is monotonic. */
void degraded_feedback(struct gate_key *key, const struct bucket_signal *signal, int64_t now_us);

#endif
