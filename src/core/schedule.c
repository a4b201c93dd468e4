/* schedule: ticks of fixed intervals and of cron lines. */
#include "core/schedule.h"

#include <assert.h>

#include "base/instant.h"
#include "core/limits.h"

static int64_t last_multiple(int64_t at_us, int64_t every_us)
{
    const int64_t rest_us = at_us % every_us;

    assert(every_us >= SCHEDULE_EVERY_MIN_US);
    assert(every_us <= SCHEDULE_EVERY_MAX_US);
    return at_us - (rest_us < 0 ? rest_us + every_us : rest_us);
}

bool schedule_next(const struct schedule *schedule, int64_t at_us, int64_t *tick_us)
{
    if (schedule->kind == SCHEDULE_CRON)
        return cron_next(&schedule->cron, at_us, tick_us);
    *tick_us = last_multiple(at_us, schedule->every_us) + schedule->every_us;
    return *tick_us <= INSTANT_MAX;
}

bool schedule_due(const struct schedule *schedule, int64_t last_tick_us, int64_t now_us,
                  int64_t *tick_us)
{
    if (schedule->kind == SCHEDULE_EVERY)
        *tick_us = last_multiple(now_us, schedule->every_us);
    else if (!cron_last(&schedule->cron, now_us, tick_us))
        return false;
    return *tick_us > last_tick_us;
}
