/* duration: a length of time as people write it.
 *
 *      15m  1d  2w  1h30m  500ms  1y2mo       number and unit, larger units first
 *      PT10M  P1D  P2W  P1Y2M  P4DT12H30M5S   ISO 8601, as defined in RFC 3339 appendix A
 *
 * Units are y, mo, w, d, h, m, s, ms, us. A day is 24 hours and a week seven days: patra works
 * in UTC, where that is true. Months and years have no fixed length, so they are kept separately,
 * and duration_parse_us() refuses them. Durations are never negative. A bare "0" is a duration; any
 * other number without a unit is not.
 */
#ifndef PATRA_BASE_DURATION_H
#define PATRA_BASE_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

/* 10,000 years: adding one to any instant patra can hold still fits in 64 bits. */
#define DURATION_MONTHS_MAX INT64_C(120000)
#define DURATION_US_MAX (INT64_C(3652425) * 24 * 60 * 60 * 1000000)

struct duration {
    int64_t months;
    int64_t us; /* added after the months */
};

/* Both fail with "duration.syntax" (L2), which has the value and a hint, or with "duration.range"
 * (L2) if the duration is well-formed but longer than the maximum. */
bool duration_parse(struct str text, struct duration *duration, struct error *err) MUST_CHECK;
/* ... of a fixed length: months and years are refused. */
bool duration_parse_us(struct str text, int64_t *us, struct error *err) MUST_CHECK;

/* The short form: "10m", "1d", "1h30m", "2w", "1y2mo", "0s". Parsing it gives the value back. */
enum { DURATION_TEXT_MAX = 64 };
size_t duration_format(struct duration duration, char text[DURATION_TEXT_MAX]);
size_t duration_format_us(int64_t us, char text[DURATION_TEXT_MAX]);

/* Adds the calendar months first (the 31st becomes the last day of a shorter month), then the rest.
 * False if the result is outside the years 0000 to 9999. */
bool duration_add(int64_t at_us, struct duration duration, int64_t *sum_us) MUST_CHECK;
bool duration_subtract(int64_t at_us, struct duration duration, int64_t *rest_us) MUST_CHECK;

#endif
