/* clock: the time, and sleeping.
 *
 * Two clocks in one. now_us is the calendar: an instant (base/instant.h), which is stored, printed
 * and compared with other machines; it may be set back. monotonic_us never goes back and has no
 * known origin: durations and deadlines inside this process are measured with it.
 *
 * Threads. Any number of threads may use one clock, sleeping included.
 *
 * The adapter is adapter/system, the machine's clock. Tests run on test/support/virtual_clock.h,
 * where sleeping until noon makes it noon.
 */
#ifndef PATRA_PORT_CLOCK_H
#define PATRA_PORT_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* What this host says, whatever now_us makes of it. */
enum { CLOCK_BOOT_MAX = 40 };
struct clock_host {
    char boot[CLOCK_BOOT_MAX]; /* names this start of this host; "": not known */
    int64_t up_us;             /* since then; sleep counts, and setting the calendar does not */
    int64_t calendar_us;       /* as it is set now */
};

struct clock {
    int64_t (*now_us)(struct clock *clock);
    int64_t (*monotonic_us)(struct clock *clock);
    bool (*sleep_until_us)(struct clock *clock, int64_t monotonic_us, int wake_fd);
    /* All NULL: now_us is what the host says. */
    void (*host)(struct clock *clock, struct clock_host *host);
    void (*follow)(struct clock *clock, int64_t began_us);
    void (*follow_server)(struct clock *clock, int64_t began_us);
};

/* The wake_fd of a sleep that nothing ends early. */
enum { CLOCK_NO_WAKE = -1 };

static inline int64_t clock_now_us(struct clock *clock)
{
    return clock->now_us(clock);
}

static inline void clock_host(struct clock *clock, struct clock_host *host)
{
    *host = (struct clock_host){ .calendar_us = clock->now_us(clock) };
    if (clock->host != NULL)
        clock->host(clock, host);
}

/* From now on now_us is began_us and as long as the host has been up. A host whose calendar is
 * set ahead by less than CLOCK_STEP_MAX_US (core/clock_jump.h), or back, is followed, slowly after
 * a small step back; one that is set further ahead is not, until this is called again. */
static inline void clock_follow(struct clock *clock, int64_t began_us)
{
    if (clock->follow != NULL)
        clock->follow(clock, began_us);
}

/* The same, by a server's time: this host's calendar is not followed at all, however it is set. */
static inline void clock_follow_server(struct clock *clock, int64_t began_us)
{
    if (clock->follow_server != NULL)
        clock->follow_server(clock, began_us);
}

static inline int64_t clock_monotonic_us(struct clock *clock)
{
    return clock->monotonic_us(clock);
}

/* Returns true when monotonic_us has been reached (at once when it is in the past), and false when
 * wake_fd became readable before that. A wake_fd that is readable when the sleep begins also gives
 * false, even if the sleep has no length: so a sleep of 0 checks whether to stop. Nothing is read
 * from wake_fd, so one eventfd wakes all threads that sleep on it, also those that begin later,
 * until its owner drains it. Signals do not end a sleep. */
static inline bool clock_sleep_until_us(struct clock *clock, int64_t monotonic_us, int wake_fd)
{
    return clock->sleep_until_us(clock, monotonic_us, wake_fd);
}

static inline bool clock_sleep_us(struct clock *clock, int64_t for_us, int wake_fd)
{
    return clock->sleep_until_us(clock, clock->monotonic_us(clock) + for_us, wake_fd);
}

#endif
