#include "adapter/memory/clock.h"

#include <assert.h>
#include <poll.h>
#include <stddef.h>

static struct memory_clock *memory_of(struct clock *clock)
{
    return (struct memory_clock *)clock;
}

static int64_t monotonic_us(struct clock *clock)
{
    return atomic_load(&memory_of(clock)->monotonic_us);
}

static int64_t now_us(struct clock *clock)
{
    return monotonic_us(clock) + atomic_load(&memory_of(clock)->offset_us);
}

static bool is_woken(int wake_fd)
{
    struct pollfd wake = { .fd = wake_fd, .events = POLLIN };

    return poll(&wake, 1, 0) > 0;
}

static bool sleep_until_us(struct clock *clock, int64_t until_us, int wake_fd)
{
    struct memory_clock *memory = memory_of(clock);
    int64_t at_us = atomic_load(&memory->monotonic_us);

    if (is_woken(wake_fd))
        return false;
    while (until_us > at_us) {
        if (atomic_compare_exchange_weak(&memory->monotonic_us, &at_us, until_us)) {
            atomic_fetch_add(&memory->slept_us, until_us - at_us);
            break;
        }
    }
    return true;
}

void memory_clock_init(struct memory_clock *clock, int64_t now)
{
    clock->clock = (struct clock){ now_us, monotonic_us, sleep_until_us };
    atomic_init(&clock->monotonic_us, 0);
    atomic_init(&clock->offset_us, now);
    atomic_init(&clock->slept_us, 0);
}

void memory_clock_advance(struct memory_clock *clock, int64_t by_us)
{
    assert(by_us >= 0);
    atomic_fetch_add(&clock->monotonic_us, by_us);
}

void memory_clock_set(struct memory_clock *clock, int64_t now)
{
    atomic_store(&clock->offset_us, now - atomic_load(&clock->monotonic_us));
}
