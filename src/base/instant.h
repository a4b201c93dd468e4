/* instant: a moment in UTC, signed 64-bit microseconds since 1970-01-01T00:00:00Z.
 *
 * Every moment in patra is a number of this kind, named ..._us. Days have 86,400 seconds;
 * the calendar is the proleptic Gregorian one. Nothing here reads a clock or a time zone.
 */
#ifndef PATRA_BASE_INSTANT_H
#define PATRA_BASE_INSTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define US_PER_MS INT64_C(1000)
#define US_PER_SECOND INT64_C(1000000)
#define US_PER_MINUTE (60 * US_PER_SECOND)
#define US_PER_HOUR (60 * US_PER_MINUTE)
#define US_PER_DAY (24 * US_PER_HOUR)

/* Years 0000 to 9999: four digits. */
#define INSTANT_MIN INT64_C(-62167219200000000)
#define INSTANT_MAX INT64_C(253402300799999999)

struct civil { /* a moment as a calendar and a clock show it, UTC */
    int year;
    int month;       /* 1..12 */
    int day;         /* 1..31 */
    int hour;        /* 0..23 */
    int minute;      /* 0..59 */
    int second;      /* 0..59 */
    int microsecond; /* 0..999999 */
};

struct civil instant_to_civil(int64_t at_us);
int64_t instant_from_civil(struct civil civil); /* the fields must be in range */
bool civil_is_valid(struct civil civil);        /* leap years included */

int instant_weekday(int64_t at_us); /* 0 = Monday ... 6 = Sunday */
int instant_days_in_month(int year, int month);

/* Days since 1970-01-01, rounded towards minus infinity. */
int64_t instant_day_number(int64_t at_us);

/* The last multiple of a step that is not after an instant. */
int64_t instant_floor(int64_t at_us, int64_t step_us);

/* "2026-01-02T03:04:05Z", with ".678901" only if the microseconds are not zero. */
enum { INSTANT_TEXT_MAX = 32 };
size_t instant_format(int64_t at_us, char text[INSTANT_TEXT_MAX]);

/* An instant, or none. */
struct maybe_instant {
    bool is_set;
    int64_t at_us;
};

/* The later of the two. */
static inline void maybe_instant_raise(struct maybe_instant *instant, int64_t at_us)
{
    if (!instant->is_set || at_us > instant->at_us)
        *instant = (struct maybe_instant){ true, at_us };
}

#endif
