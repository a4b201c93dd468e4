/* states: the allowed transitions between states.
 *
 *      plan     DRAFT > SLICING > READY | PARTIAL | FAILED         PARTIAL > SLICING, when resumed
 *      task     QUEUED > DISPATCHED > EXECUTING > SUCCEEDED | PARTIAL | FAILED
 *               DISPATCHED, EXECUTING > QUEUED, when a lease expired or was returned
 *      run      PLANNED > RUNNING > SUCCEEDED | PARTIAL | FAILED
 *
 * All may be CANCELLED until they have ended. Assertions in the store's callers check the table,
 * and the WHERE clauses of the SQL say the same. A state never follows itself. Slices and batches
 * need no table: the state of a slice follows from its task, and a batch is written when it has
 * ended.
 */
#ifndef PATRA_CORE_STATES_H
#define PATRA_CORE_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/codes.h"

struct state_machine {
    const struct code_table *codes; /* its states, by enum value */
    const uint32_t *next;           /* by state: a bit for each state that may follow */
    int first;                      /* the state of a new row */
};

extern const struct state_machine PLAN_STATES;
extern const struct state_machine TASK_STATES;
extern const struct state_machine RUN_STATES;

bool state_may_follow(const struct state_machine *machine, int from, int to);
bool state_is_final(const struct state_machine *machine, int state); /* nothing follows */

#endif
