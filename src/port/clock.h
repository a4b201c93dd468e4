/* clock: what time it is, and letting it pass.
 *
 * Two clocks in one. now_us is the calendar's: an instant (base/instant.h), what is stored, printed
 * and compared with other machines; it may be set back. monotonic_us only ever goes forward, from
 * an origin nobody knows: what durations and deadlines inside this process are measured with.
 *
 * Threads. Any number of threads may use one clock, sleeping included.
 *
 * The adapter is adapter/system, the machine's clock. Tests run on test/support/virtual_clock.h,
 * where sleeping until noon makes it noon.
 */
#ifndef PATRA_PORT_CLOCK_H
#define PATRA_PORT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct clock {
    int64_t (*now_us)(struct clock *clock);
    int64_t (*monotonic_us)(struct clock *clock);
    bool (*sleep_until_us)(struct clock *clock, int64_t monotonic_us, int wake_fd);
};

/* For sleeps that nothing shall end early. */
enum { CLOCK_NO_WAKE = -1 };

static inline int64_t clock_now_us(struct clock *clock)
{
    return clock->now_us(clock);
}

static inline int64_t clock_monotonic_us(struct clock *clock)
{
    return clock->monotonic_us(clock);
}

/* Returns true when monotonic_us has come (at once when it is past), false when wake_fd became
 * readable before, or is readable when the sleep begins, however short it is: so a sleep until now
 * asks whether one was told to stop. Nothing is read from wake_fd, so one eventfd wakes all who
 * sleep on it, those who come later included, until its owner drains it. Signals do not end a
 * sleep. */
static inline bool clock_sleep_until_us(struct clock *clock, int64_t monotonic_us, int wake_fd)
{
    return clock->sleep_until_us(clock, monotonic_us, wake_fd);
}

static inline bool clock_sleep_us(struct clock *clock, int64_t for_us, int wake_fd)
{
    return clock->sleep_until_us(clock, clock->monotonic_us(clock) + for_us, wake_fd);
}

#endif
