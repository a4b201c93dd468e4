/* virtual_clock: the clock port in virtual time.
 *
 * Time moves only when a test advances it or somebody sleeps. A sleep returns at once and moves the
 * clock to its end. Both of the port's clocks move together; setting the calendar moves only the
 * calendar. Several threads may use it; the clock is then where the longest sleep has brought it.
 */
#ifndef PATRA_TEST_SUPPORT_VIRTUAL_CLOCK_H
#define PATRA_TEST_SUPPORT_VIRTUAL_CLOCK_H

#include <stdatomic.h>

#include "port/clock.h"

struct virtual_clock {
    struct clock clock; /* first: hand out &virtual.clock */
    _Atomic int64_t monotonic_us;
    _Atomic int64_t offset_us; /* now = monotonic + offset */
    _Atomic int64_t slept_us;  /* by all sleeps together */
};

void virtual_clock_init(struct virtual_clock *clock, int64_t now_us);
void virtual_clock_advance(struct virtual_clock *clock, int64_t by_us); /* by_us >= 0 */
void virtual_clock_set(struct virtual_clock *clock, int64_t now_us);    /* only the calendar */

#endif
