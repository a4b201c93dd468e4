/* The clocks of the system; a sleep that a file descriptor can end. */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <time.h>

#include "adapter/system/system.h"
#include "base/instant.h"

static int64_t read_clock(clockid_t id)
{
    struct timespec at;
    const int failed = clock_gettime(id, &at);

    assert(failed == 0);
    return at.tv_sec * US_PER_SECOND + at.tv_nsec / 1000;
}

static int64_t now_us(struct clock *clock)
{
    (void)clock;
    return read_clock(CLOCK_REALTIME);
}

static int64_t monotonic_us(struct clock *clock)
{
    (void)clock;
    return read_clock(CLOCK_MONOTONIC);
}

static bool sleep_until_us(struct clock *clock, int64_t until_us, int wake_fd)
{
    struct pollfd wake = { .fd = wake_fd, .events = POLLIN }; /* poll ignores a negative fd */
    int64_t left_us;

    do {
        struct timespec left = { 0 };
        int ready;

        left_us = until_us - monotonic_us(clock);
        if (left_us > 0)
            left = (struct timespec){ left_us / US_PER_SECOND, left_us % US_PER_SECOND * 1000 };
        ready = ppoll(&wake, 1, &left, NULL);
        assert(ready >= 0 || errno == EINTR);
        if (ready > 0)
            return false;
    } while (left_us > 0);
    return true;
}

struct clock system_clock(void)
{
    return (struct clock){ .now_us = now_us,
                           .monotonic_us = monotonic_us,
                           .sleep_until_us = sleep_until_us };
}
