/* memory_clock: virtual time.
 *
 * It stands still until somebody sleeps or moves it: a sleep takes no time and makes it the time
 * slept for. Both of the port's clocks move together; setting the calendar back moves only that
 * one. Several threads may use it, and then the furthest sleeper leads.
 */
#ifndef PATRA_ADAPTER_MEMORY_CLOCK_H
#define PATRA_ADAPTER_MEMORY_CLOCK_H

#include <stdatomic.h>

#include "port/clock.h"

struct memory_clock {
    struct clock clock; /* first: hand out &memory.clock */
    _Atomic int64_t monotonic_us;
    _Atomic int64_t offset_us; /* now = monotonic + offset */
    _Atomic int64_t slept_us;  /* by all sleeps together */
};

void memory_clock_init(struct memory_clock *clock, int64_t now_us);
void memory_clock_advance(struct memory_clock *clock, int64_t by_us); /* by_us >= 0 */
void memory_clock_set(struct memory_clock *clock, int64_t now_us);    /* the calendar alone */

#endif
