/* clock_jump: whether the calendar of a host agrees with what a store has seen before.
 *
 * A store keeps a mark: the latest time it has seen, and how long the host had been up then. A
 * host that is still up since then must be later by as much as it has been up longer. Any other
 * host, and one that was started again, can only be found to be too early.
 *
 *      mark    seen 12:00, up 3 h           now: up 5 h
 *      12:00 ... 14:00                      steady: 14:00, a few minutes more or less
 *                2 days later               ahead: the calendar was set, then or now
 *                11:00                      behind: what was written at 12:00 is in the future
 *
 * The earlier of two times is the safe one: a window that ends too early is read on by the next
 * harvest, and one that ends in the future hides what comes until then. So a host that is ahead is
 * not believed, and the time goes on from the mark. One that is behind needs a person, because
 * either now is wrong, or whatever was written since.
 *
 * Steps of up to CLOCK_STEP_MAX_US need nobody. One ahead is followed at once. One back is not:
 * what was written a moment ago would be in the future, a source unknown and a task not due, for as
 * long as the step. The time goes on at half its speed until the calendar has caught up:
 *
 *      mark    seen 12:00, up 3 h           then the calendar is set back by 2 minutes
 *              up 3 h 2 min                 12:01 (the calendar: 12:00)
 *              up 3 h 4 min                 12:02 (the calendar: 12:02)
 */
#ifndef PATRA_CORE_CLOCK_JUMP_H
#define PATRA_CORE_CLOCK_JUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/instant.h"

/* Clocks are set by seconds now and then, by NTP and by people. That moves no window much. */
#define CLOCK_STEP_MAX_US (5 * US_PER_MINUTE)

struct clock_mark {
    bool is_there;
    int64_t seen_us;
    bool is_same_boot; /* of the reading that it is compared with */
    int64_t up_us;
};

struct clock_reading {
    int64_t calendar_us;
    int64_t up_us;
};

enum clock_jump { CLOCK_STEADY, CLOCK_AHEAD, CLOCK_BEHIND };

struct clock_finding {
    enum clock_jump jump;
    int64_t by_us;  /* how far ahead or behind */
    int64_t now_us; /* the time to go by; BEHIND: what the calendar says */
};

/* The time of a calendar that was set back a little at `from_us`, and how long the host has been up
 * since. */
int64_t clock_slow_us(int64_t from_us, int64_t passed_us, int64_t calendar_us);

struct clock_finding clock_jump_find(const struct clock_mark *mark,
                                     const struct clock_reading *reading);

#endif
