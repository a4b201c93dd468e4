/* clock: the simulator's virtual time.
 *
 * It starts at a given time, and then stands still (rate 0) or runs `rate` virtual seconds per real
 * second. Tests set and advance it. Shared by threads.
 */
#ifndef PATRA_SIM_UTIL_CLOCK_H
#define PATRA_SIM_UTIL_CLOCK_H

#include <pthread.h>
#include <stdint.h>

struct sim_clock {
    pthread_mutex_t lock;
    int64_t virtual_us; /* at real_us */
    int64_t real_us;
    int64_t rate;
};

void sim_clock_init(struct sim_clock *clock, int64_t start_us, int64_t rate);
void sim_clock_release(struct sim_clock *clock);
int64_t sim_clock_now(struct sim_clock *clock);
void sim_clock_set(struct sim_clock *clock, int64_t at_us);
int64_t sim_clock_advance(struct sim_clock *clock, int64_t by_us); /* returns the new time */
void sim_clock_set_rate(struct sim_clock *clock, int64_t rate);

/* The machine's monotonic clock: real time everywhere in the simulator. */
int64_t sim_clock_real(void);

#endif
