/* A clock whose threads take turns: the one that wakes first runs. */
#include "turn_clock.h"

#include "test.h"

static struct turn_clock *turn_of(struct clock *clock)
{
    return (struct turn_clock *)clock;
}

static int64_t monotonic_us(struct clock *clock)
{
    struct turn_clock *turn = turn_of(clock);
    int64_t at_us;

    (void)pthread_mutex_lock(&turn->lock);
    at_us = turn->monotonic_us;
    (void)pthread_mutex_unlock(&turn->lock);
    return at_us;
}

static int64_t now_us(struct clock *clock)
{
    return monotonic_us(clock) + turn_of(clock)->offset_us;
}

/* The first to wake, when all sleep. Those of one instant go in the order of their places. */
static void next_turn(struct turn_clock *turn)
{
    int first = -1;

    if (turn->threads == 0 || turn->asleep < turn->threads)
        return;
    for (int i = 0; i < TURN_THREADS_MAX; i++) {
        if (turn->sleepers[i].is_used &&
            (first < 0 || turn->sleepers[i].until_us < turn->sleepers[first].until_us))
            first = i;
    }
    if (turn->sleepers[first].until_us > turn->monotonic_us)
        turn->monotonic_us = turn->sleepers[first].until_us;
    turn->sleepers[first].is_used = false;
    turn->asleep--;
    (void)pthread_cond_broadcast(&turn->turned);
}

static int64_t lateness(struct turn_clock *turn)
{
    struct random random = { turn->seed++ };
    const int64_t max_us = random_chance(&random, 1) ? turn->later_max_us : turn->late_max_us;

    return max_us > 0 ? random_between(&random, 0, max_us) : 0;
}

static void wait_turn(struct turn_clock *turn, int64_t until_us)
{
    int place = 0;

    while (turn->sleepers[place].is_used)
        place++;
    turn->sleepers[place].is_used = true;
    turn->sleepers[place].until_us = until_us;
    turn->asleep++;
    next_turn(turn);
    while (turn->sleepers[place].is_used)
        (void)pthread_cond_wait(&turn->turned, &turn->lock);
}

static bool sleep_until_us(struct clock *clock, int64_t until_us, int wake_fd)
{
    struct turn_clock *turn = turn_of(clock);

    (void)wake_fd;
    (void)pthread_mutex_lock(&turn->lock);
    if (until_us > turn->monotonic_us)
        wait_turn(turn, until_us + lateness(turn));
    (void)pthread_mutex_unlock(&turn->lock);
    return true;
}

void turn_clock_init(struct turn_clock *clock, int threads, int64_t now, uint64_t seed)
{
    REQUIRE(threads <= TURN_THREADS_MAX, "room for all threads");
    *clock = (struct turn_clock){ .clock = { .now_us = now_us,
                                             .monotonic_us = monotonic_us,
                                             .sleep_until_us = sleep_until_us },
                                  .threads = threads,
                                  .offset_us = now,
                                  .seed = seed << 20 };
    (void)pthread_mutex_init(&clock->lock, NULL);
    (void)pthread_cond_init(&clock->turned, NULL);
}

void turn_clock_release(struct turn_clock *clock)
{
    (void)pthread_cond_destroy(&clock->turned);
    (void)pthread_mutex_destroy(&clock->lock);
}

void turn_clock_enter(struct turn_clock *clock)
{
    (void)pthread_mutex_lock(&clock->lock);
    wait_turn(clock, clock->monotonic_us);
    (void)pthread_mutex_unlock(&clock->lock);
}

void turn_clock_leave(struct turn_clock *clock)
{
    (void)pthread_mutex_lock(&clock->lock);
    clock->threads--;
    next_turn(clock);
    (void)pthread_mutex_unlock(&clock->lock);
}
