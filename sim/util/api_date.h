/* api_date: dates as literature APIs write them, and accept them in filters.
 *
 * A date of any precision is a half-open range: "2026-01" begins and ends with January, so an
 * inclusive upper bound of any precision is the end of its range.
 */
#ifndef PATRA_SIM_UTIL_API_DATE_H
#define PATRA_SIM_UTIL_API_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum api_date_unit {
    API_DATE_YEAR,
    API_DATE_MONTH,
    API_DATE_DAY,
    API_DATE_HOUR,
    API_DATE_MINUTE,
    API_DATE_SECOND,
    API_DATE_FINER
};

struct api_date {
    int64_t from_us;
    int64_t to_us;
    enum api_date_unit unit;
    bool zoned; /* ends with Z or an offset */
};

/* "2026", "2026-01", "2026/1/2", "2026-01-02T15", "...T15:55:01.5Z", "+01:00"; a blank may replace
 * the T. False on anything else. */
bool api_date_parse(struct str text, struct api_date *date);

void api_date_add_date(struct buf *out, int64_t at_us);    /* 2026-01-02 */
void api_date_add_second(struct buf *out, int64_t at_us);  /* 2026-01-02T03:04:05Z */
void api_date_add_micros(struct buf *out, int64_t at_us);  /* 2026-01-02T03:04:05.678901, no zone */
void api_date_add_slashed(struct buf *out, int64_t at_us); /* 2026/01/02 */
void api_date_add_rfc822(struct buf *out, int64_t at_us);  /* Mon, 22 Oct 2018 22:41:50 GMT */

#endif
