/* Compares a reading with a mark. */
#include "core/clock_jump.h"

/* Of a host that has been up for a while, no calendar is that exact. */
enum { DRIFT_PART = 1000 };

int64_t clock_slow_us(int64_t from_us, int64_t passed_us, int64_t calendar_us)
{
    const int64_t slow_us = from_us + passed_us / 2;

    return calendar_us > slow_us ? calendar_us : slow_us;
}

struct clock_finding clock_jump_find(const struct clock_mark *mark,
                                     const struct clock_reading *reading)
{
    const int64_t passed_us = reading->up_us - mark->up_us;
    struct clock_finding finding = { CLOCK_STEADY, 0, reading->calendar_us };
    int64_t step_max_us = CLOCK_STEP_MAX_US;

    if (!mark->is_there)
        return finding;
    finding.by_us = reading->calendar_us - mark->seen_us;
    if (mark->is_same_boot && passed_us >= 0) {
        finding.by_us -= passed_us;
        step_max_us += passed_us / DRIFT_PART;
        if (finding.by_us > step_max_us)
            return (struct clock_finding){ CLOCK_AHEAD, finding.by_us, mark->seen_us + passed_us };
    }
    if (finding.by_us < -step_max_us)
        return (struct clock_finding){ CLOCK_BEHIND, -finding.by_us, reading->calendar_us };
    finding.by_us = 0;
    finding.now_us = clock_slow_us(
        mark->seen_us, mark->is_same_boot && passed_us > 0 ? passed_us : 0, reading->calendar_us);
    return finding;
}
