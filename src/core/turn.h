/* turn: which partition of the queue (source, endpoint, operation) an executor takes its next task
 * from.
 *
 * The most urgent partition goes first: the one with the smallest priority number among tasks that
 * are due. Equal partitions take turns, the one that has waited longest first, so that a source
 * with a million tasks and a source with one get the same service. A partition that is paused, or
 * already runs as many tasks as it may, is skipped.
 */
#ifndef PATRA_CORE_TURN_H
#define PATRA_CORE_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turn {
    bool may_run; /* a task is due, it is not stopped, the circuit is closed */
    int64_t priority;
    int64_t live;
    int64_t live_max;
    int64_t last; /* a count that grows with every turn taken; 0: never had one */
};

/* The index of the partition whose turn it is; `count` if none may run. */
size_t turn_choose(const struct turn *turns, size_t count);

#endif
