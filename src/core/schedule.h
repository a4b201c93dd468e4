/* schedule: when an operation is triggered automatically.
 *
 * Either `every` so often, or by a cron line. Ticks are instants of the calendar, not of a process:
 * `every: 15m` ticks at :00, :15, :30 and :45 (whole multiples since 1970), so that all servers
 * agree on them, a restart does not move them, and each tick has an identity under which it can be
 * fired only once.
 *
 *      ticks      |     |     |     |     |     |
 *      fired      x     x                    x          no server ran at the third and fourth
 *                       last                 ^ now      the fifth fires once, for all of them
 *
 * The caller keeps the last tick fired, calls schedule_due() regularly, and writes the tick under
 * its identity (a unique key) before acting on it. A process that loses that race does nothing.
 */
#ifndef PATRA_CORE_SCHEDULE_H
#define PATRA_CORE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cron.h"

enum schedule_kind { SCHEDULE_EVERY, SCHEDULE_CRON };

struct schedule {
    enum schedule_kind kind;
    int64_t every_us; /* within SCHEDULE_EVERY_MIN_US and _MAX_US */
    struct cron cron;
};

/* The first tick after `at`, for showing and for sleeping. */
bool schedule_next(const struct schedule *schedule, int64_t at_us, int64_t *tick_us);

/* True if a tick has passed since the last one fired; returns the latest one not after now. All
 * ticks missed in between collapse into it. For a schedule that never fired, pass the instant at
 * which it came into force. */
bool schedule_due(const struct schedule *schedule, int64_t last_tick_us, int64_t now_us,
                  int64_t *tick_us);

#endif
