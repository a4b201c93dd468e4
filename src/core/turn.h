/* turn: which partition of the queue (source, endpoint, operation) an executor takes its next task
 * from.
 *
 * The most urgent goes first: the smallest priority of a task that is due. Among equals they take
 * turns, the one that has waited longest before the others, so that a source with a million tasks
 * and a source with one are served alike. A partition that rests, or has as many tasks under way as
 * it may have, is passed over.
 */
#ifndef PATRA_CORE_TURN_H
#define PATRA_CORE_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turn {
    bool may_run; /* a task is due, nobody stopped it, the circuit is closed */
    int64_t priority;
    int64_t live;
    int64_t live_max;
    int64_t last; /* a count that grows with every turn taken; 0: never had one */
};

/* The place of the partition whose turn it is; `count` when it is nobody's. */
size_t turn_choose(const struct turn *turns, size_t count);

#endif
