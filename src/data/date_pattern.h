/* date_pattern: an instant written the way a provider's filter wants it, in UTC.
 *
 *      yyyy-MM-dd'T'HH:mm:ss'Z'     yyyy/MM/dd     yyyyMMddHHmm     dd MMM yyyy
 *
 *      yyyy yy    year                    HH H    hour 0 to 23
 *      MM M       month as a number       mm m    minute
 *      MMM        its short English name  ss s    second
 *      dd d       day of the month        S ...   fraction, as many digits as letters (1 to 6)
 *      EEE        short weekday           X       the zone, which is always Z
 *
 * Doubled letters pad with a zero. Text between single quotes stands for itself, '' is a single
 * quote, and what is neither a letter nor a quote stands for itself too. Any other letter is a
 * fault: nothing is passed through that somebody might have meant as a field.
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
