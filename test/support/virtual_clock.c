/* Virtual time: two counters that a sleep moves forward. */
#include "virtual_clock.h"

#include <assert.h>
#include <poll.h>
#include <stddef.h>

static struct virtual_clock *virtual_of(struct clock *clock)
{
    return (struct virtual_clock *)clock;
}

static int64_t monotonic_us(struct clock *clock)
{
    return atomic_load(&virtual_of(clock)->monotonic_us);
}

static int64_t now_us(struct clock *clock)
{
    return monotonic_us(clock) + atomic_load(&virtual_of(clock)->offset_us);
}

static bool is_woken(int wake_fd)
{
    struct pollfd wake = { .fd = wake_fd, .events = POLLIN };

    return poll(&wake, 1, 0) > 0;
}

static bool sleep_until_us(struct clock *clock, int64_t until_us, int wake_fd)
{
    struct virtual_clock *virtual = virtual_of(clock);
    int64_t at_us = atomic_load(&virtual->monotonic_us);

    if (is_woken(wake_fd))
        return false;
    while (until_us > at_us) {
        if (atomic_compare_exchange_weak(&virtual->monotonic_us, &at_us, until_us)) {
            atomic_fetch_add(&virtual->slept_us, until_us - at_us);
            break;
        }
    }
    return true;
}

void virtual_clock_init(struct virtual_clock *clock, int64_t now)
{
    clock->clock = (struct clock){ .now_us = now_us,
                                   .monotonic_us = monotonic_us,
                                   .sleep_until_us = sleep_until_us };
    atomic_init(&clock->monotonic_us, 0);
    atomic_init(&clock->offset_us, now);
    atomic_init(&clock->slept_us, 0);
}

void virtual_clock_advance(struct virtual_clock *clock, int64_t by_us)
{
    assert(by_us >= 0);
    atomic_fetch_add(&clock->monotonic_us, by_us);
}

void virtual_clock_set(struct virtual_clock *clock, int64_t now)
{
    atomic_store(&clock->offset_us, now - atomic_load(&clock->monotonic_us));
}
