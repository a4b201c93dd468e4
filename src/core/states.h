/* states: which state may follow which.
 *
 *      plan     DRAFT > SLICING > READY | PARTIAL | FAILED         PARTIAL > SLICING, when resumed
 *      slice    PENDING > READY > SUCCEEDED | PARTIAL | FAILED     PENDING > FAILED
 *      task     QUEUED > DISPATCHED > EXECUTING > SUCCEEDED | PARTIAL | FAILED
 *               DISPATCHED, EXECUTING > QUEUED, when a lease ran out or was given back
 *      run      PLANNED > RUNNING > SUCCEEDED | PARTIAL | FAILED
 *      batch    PLANNED > RUNNING > SUCCEEDED | FAILED             either > SKIPPED
 *
 * Everything but a batch may be CANCELLED until it has ended. A table, not code: callers of the
 * store are held to it by assertions, SQL says the same in its WHERE clauses. A state never follows
 * itself.
 */
#ifndef PATRA_CORE_STATES_H
#define PATRA_CORE_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/codes.h"

struct state_machine {
    const struct code_table *codes; /* its states, by enum value */
    const uint32_t *next;           /* by state: a bit for each that may follow */
    int first;                      /* the state of a new row */
};

extern const struct state_machine PLAN_STATES;
extern const struct state_machine SLICE_STATES;
extern const struct state_machine TASK_STATES;
extern const struct state_machine RUN_STATES;
extern const struct state_machine BATCH_STATES;

bool state_may_follow(const struct state_machine *machine, int from, int to);
bool state_is_final(const struct state_machine *machine, int state); /* nothing follows */

#endif
