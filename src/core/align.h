/* align: calendar boundaries in UTC.
 *
 * A boundary is the first instant of a minute, an hour, a day, an ISO week (they begin on Monday),
 * a month, a quarter or a year. With ALIGN_NONE every microsecond is one. There is no daylight
 * saving time and no leap second: only the length of months and years varies.
 *
 *      floor <= at < next            floor <= at <= ceil
 *
 * `at_us` is between INSTANT_MIN and INSTANT_MAX, and so are all results: a boundary that would be
 * outside is replaced by the end of the range.
 */
#ifndef PATRA_CORE_ALIGN_H
#define PATRA_CORE_ALIGN_H

#include <stdint.h>

#include "core/codes.h"

int64_t align_floor(int64_t at_us, enum align_unit unit); /* the last boundary not after `at` */
int64_t align_ceil(int64_t at_us, enum align_unit unit);  /* the first boundary not before `at` */
int64_t align_next(int64_t at_us, enum align_unit unit);  /* the first boundary after `at` */

/* The shortest distance between two boundaries: 28 days for months, 1 for ALIGN_NONE. */
int64_t align_length_min_us(enum align_unit unit);

#endif
