/* when: the dates that literature APIs let one write in a filter, and write themselves.
 *
 * A date of any precision is a half-open span: "2026-01" begins and ends with January, so that an
 * inclusive bound of any granularity is simply the span's end.
 */
#ifndef PATRA_SIM_UTIL_API_DATE_H
#define PATRA_SIM_UTIL_API_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum when_unit { WHEN_YEAR, WHEN_MONTH, WHEN_DAY, WHEN_HOUR, WHEN_MINUTE, WHEN_SECOND, WHEN_FINER };

struct when {
    int64_t from_us;
    int64_t to_us;
    enum when_unit unit;
    bool zoned; /* ended in Z or an offset */
};

/* "2026", "2026-01", "2026/1/2", "2026-01-02T15", "...T15:55:01.5Z", "+01:00"; a blank may stand
 * for the T. False on anything else. */
bool when_parse(struct str text, struct when *when);

void when_add_date(struct buf *out, int64_t at_us);    /* 2026-01-02 */
void when_add_second(struct buf *out, int64_t at_us);  /* 2026-01-02T03:04:05Z */
void when_add_micros(struct buf *out, int64_t at_us);  /* 2026-01-02T03:04:05.678901, no zone */
void when_add_slashed(struct buf *out, int64_t at_us); /* 2026/01/02 */
void when_add_rfc822(struct buf *out, int64_t at_us);  /* Mon, 22 Oct 2018 22:41:50 GMT */

#endif
