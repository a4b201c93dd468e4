/* date_scan: pieces that readers of dates are made of. Internal to date*.c and http_date.c. Each
 * takes its piece from the front of `rest`, or takes nothing and returns false. */
#ifndef PATRA_DATA_DATE_SCAN_H
#define PATRA_DATA_DATE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/instant.h"
#include "base/str.h"
#include "data/date.h"

bool scan_char(struct str *rest, char c);
bool scan_char_nocase(struct str *rest, char lower); /* `lower` is a lower case ASCII letter */

/* Exactly `digits` ASCII digits; more may follow. */
bool scan_digits(struct str *rest, size_t digits, int *number);
/* At least `least` and at most `most` digits, and no further digit after them. */
bool scan_digits_between(struct str *rest, size_t least, size_t most, int *number);

/* Digits of a fraction (after the point), one or more, truncated after six. */
bool scan_fraction(struct str *rest, int *microsecond);

/* "Sep" or "September" in any case: 1 to 12. Letters may not follow. */
bool scan_month_name(struct str *rest, int *month);
bool scan_weekday_name(struct str *rest); /* "Mon" or "Monday" */

/* "YYYY-MM-DD" with the separator given; hour and below are left alone. Not yet validated. */
bool scan_day(struct str *rest, char separator, struct civil *civil);

/* "hh:mm[:ss[.fraction]]"; second may be 60. `precision` is set to the finest part. */
bool scan_time(struct str *rest, struct civil *civil, enum date_precision *precision);

/* Makes a date of the fields; second 60 is checked after the offset is applied. False when a field
 * is out of range, or the result is outside the years 0000 to 9999. */
bool date_make(struct civil civil, int64_t offset_us, enum date_precision precision,
               struct date *date);

#endif
