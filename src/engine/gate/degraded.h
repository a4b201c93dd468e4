/* alone: a process whose store is out of reach.
 *
 *      shared ── a call fails ──▶ failing ── GATE_DEGRADED_AFTER_US ──▶ alone
 *        ▲                          │ again every 100 ms               │ every second
 *        ╰──────────────────────────┴──── a call succeeds ─────────────╯
 *
 * Failing, it sends nothing: most troubles are over in a moment, and others may still reach the
 * store. Alone, it goes on with one GATE_DEGRADED_PARTS'th of the rate and the quota that were last
 * seen, from an empty bucket of a single request. All here is called under the key's lock.
 */
#ifndef PATRA_ENGINE_GATE_DEGRADED_H
#define PATRA_ENGINE_GATE_DEGRADED_H

#include "engine/gate/pool.h"
#include "engine/gate/shared.h"

/* The store did not answer. */
void degraded_note(struct gate_key *key, const struct gate_limit *limit, int64_t now_us);

/* The store is not to be asked now: somebody tried a moment ago. */
bool degraded_is_on(const struct gate_key *key, int64_t now_us);

void degraded_take(const struct shared_request *ask, int64_t now_us, struct shared_result *answer);

/* The permit was used: to be handed in later. */
void degraded_count(struct gate_key *key, const struct gate_limit *limit, enum quota_class rank);

/* What the source said, for the own bucket; `now_us` is the monotonic time. */
void degraded_hear(struct gate_key *key, const struct bucket_signal *signal, int64_t now_us);

#endif
