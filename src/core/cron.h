/* cron: schedules written as five-field cron lines, in UTC.
 *
 *      minute 0-59   hour 0-23   day of month 1-31   month 1-12   day of week 0-7 (0, 7: Sunday)
 *
 *      0 * * * *            every hour             0,30 8-18 * * MON-FRI    working hours
 *      15 3 1 JAN,JUL *     twice a year           @daily                   the same as 0 0 * * *
 *
 * A field is a list of numbers, ranges a-b and steps (a-b/n, or * with /n); months and weekdays
 * have names, the first three letters in any case. If day of month and day of week are both
 * given, either may match; a field that begins with * counts as not given. All this is the usual
 * behaviour of cron. The words are @yearly (@annually), @monthly, @weekly, @daily (@midnight) and
 * @hourly. A line that would never fire (30 February) is refused.
 *
 * Ticks are whole minutes. UTC has no daylight saving time: no tick is skipped or doubled.
 */
#ifndef PATRA_CORE_CRON_H
#define PATRA_CORE_CRON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct cron { /* a bit for each value that matches */
    uint64_t minutes;
    uint32_t hours;
    uint32_t days;     /* bit 1 is the first of the month */
    uint32_t months;   /* bit 1 is January */
    uint32_t weekdays; /* bit 0 is Sunday; Sunday is never bit 7 */
    bool is_any_day;
    bool is_any_weekday;
};

/* "cron.syntax" (L2) with a hint in its text; *fault_at is the offset of the fault in `text`. */
bool cron_parse(struct str text, struct cron *cron, size_t *fault_at, struct error *err) MUST_CHECK;

/* The first tick after `at`, and the last one not after it. False if there is none between the
 * years 0000 and 9999. */
bool cron_next(const struct cron *cron, int64_t at_us, int64_t *tick_us);
bool cron_last(const struct cron *cron, int64_t at_us, int64_t *tick_us);

#endif
