/* turn_clock: virtual time for several threads, of which one runs at a time.
 *
 * When all threads sleep, the one that wakes first goes on, and it is then that time, or a little
 * later: `late` says by how much, as a busy machine would. So a test of many threads is the same
 * each time it is run with the same seed, takes no time, and may stay inside virtual hours.
 *
 *      turn_clock_init(&clock, 3, NOW_US, seed);           for three threads, each of which
 *          turn_clock_enter(&clock); ... turn_clock_leave(&clock);
 */
#ifndef PATRA_TEST_SUPPORT_TURN_CLOCK_H
#define PATRA_TEST_SUPPORT_TURN_CLOCK_H

#include <pthread.h>

#include "port/clock.h"
#include "random.h"

enum { TURN_THREADS_MAX = 32 };

struct turn_clock {
    struct clock clock; /* first: hand out &turn.clock */
    pthread_mutex_t lock;
    pthread_cond_t turned;
    int threads;
    int asleep;
    struct {
        bool is_used;
        int64_t until_us;
    } sleepers[TURN_THREADS_MAX];
    int64_t monotonic_us;
    int64_t offset_us; /* now = monotonic + offset */
    uint64_t seed;
    int64_t late_max_us;  /* mostly less than this */
    int64_t later_max_us; /* one time in a hundred */
};

void turn_clock_init(struct turn_clock *clock, int threads, int64_t now_us, uint64_t seed);
void turn_clock_release(struct turn_clock *clock);
void turn_clock_enter(struct turn_clock *clock);
void turn_clock_leave(struct turn_clock *clock);

#endif
