/* The simulator's clock: a pair of times and a rate, behind a mutex. */
#include "sim/util/clock.h"

#include <time.h>

#include "base/instant.h"

int64_t sim_clock_real(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

void sim_clock_init(struct sim_clock *clock, int64_t start_us, int64_t rate)
{
    *clock =
        (struct sim_clock){ .virtual_us = start_us, .real_us = sim_clock_real(), .rate = rate };
    (void)pthread_mutex_init(&clock->lock, NULL);
}

void sim_clock_release(struct sim_clock *clock)
{
    (void)pthread_mutex_destroy(&clock->lock);
}

/* Moves the pair of times to now, before any change. The caller holds the lock. */
static int64_t settle(struct sim_clock *clock)
{
    const int64_t real_us = sim_clock_real();

    clock->virtual_us += (real_us - clock->real_us) * clock->rate;
    clock->real_us = real_us;
    return clock->virtual_us;
}

int64_t sim_clock_now(struct sim_clock *clock)
{
    int64_t now_us;

    (void)pthread_mutex_lock(&clock->lock);
    now_us = settle(clock);
    (void)pthread_mutex_unlock(&clock->lock);
    return now_us;
}

void sim_clock_set(struct sim_clock *clock, int64_t at_us)
{
    (void)pthread_mutex_lock(&clock->lock);
    (void)settle(clock);
    clock->virtual_us = at_us;
    (void)pthread_mutex_unlock(&clock->lock);
}

int64_t sim_clock_advance(struct sim_clock *clock, int64_t by_us)
{
    int64_t now_us;

    (void)pthread_mutex_lock(&clock->lock);
    now_us = settle(clock) + by_us;
    clock->virtual_us = now_us;
    (void)pthread_mutex_unlock(&clock->lock);
    return now_us;
}

void sim_clock_set_rate(struct sim_clock *clock, int64_t rate)
{
    (void)pthread_mutex_lock(&clock->lock);
    (void)settle(clock);
    clock->rate = rate;
    (void)pthread_mutex_unlock(&clock->lock);
}
