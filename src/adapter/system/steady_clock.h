/* steady_clock: the system's clock, whose calendar does not jump ahead, and takes no small step
 * back.
 *
 * now_us is the host's calendar while that is set ahead by no more than CLOCK_STEP_MAX_US at a
 * time, and when it is set back by more. Set back by less, now_us is slow until the calendar has
 * caught up (core/clock_jump.h). Set further ahead, now_us goes on as the host is up, until
 * clock_follow() says otherwise: engine/session/store_time.h does, by what the store has seen.
 *
 * After clock_follow_server() the host's calendar does not matter: now_us is the server's time, and
 * goes on as the host is up.
 */
#ifndef PATRA_ADAPTER_SYSTEM_STEADY_CLOCK_H
#define PATRA_ADAPTER_SYSTEM_STEADY_CLOCK_H

#include <pthread.h>

#include "port/clock.h"

struct steady_clock {
    struct clock clock; /* first */
    char boot[CLOCK_BOOT_MAX];
    pthread_mutex_t lock;
    int64_t began_us; /* when the host was started, by the calendar that is followed */
    bool has_server;  /* by a server's time */
    bool is_slow;     /* the calendar may be behind that */
    int64_t slow_us;  /* how long the host had been up when that began */
};

void steady_clock_init(struct steady_clock *steady);

#endif
