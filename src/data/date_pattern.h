/* date_pattern: an instant written in the format that a provider's filter expects, in UTC.
 *
 *      yyyy-MM-dd'T'HH:mm:ss'Z'     yyyy/MM/dd     yyyyMMddHHmm     dd MMM yyyy
 *
 *      yyyy yy    year                    HH H    hour 0 to 23
 *      MM M       month as a number       mm m    minute
 *      MMM        its short English name  ss s    second
 *      dd d       day of the month        S ...   fraction, as many digits as letters (1 to 6)
 *      EEE        short weekday           X       the zone, which is always Z
 *
 * Doubled letters pad with a zero. Text between single quotes is literal, '' is a single quote,
 * and characters other than letters and quotes are literal too. Any other letter is a fault,
 * because its author may have meant a field.
 */
#ifndef PATRA_DATA_DATE_PATTERN_H
#define PATRA_DATA_DATE_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* "date.pattern" (L2) with the offset of the first fault. */
bool date_pattern_check(struct str pattern, struct error *err) MUST_CHECK;

/* The pattern must have been checked. */
void date_pattern_write(struct buf *out, struct str pattern, int64_t at_us);

#endif
