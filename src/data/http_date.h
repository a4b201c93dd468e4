/* http_date: the date of HTTP headers.
 *
 * The standard (RFC 9110 section 5.6.7) has three formats, and servers send many more:
 *
 *      Sun, 06 Nov 1994 08:49:37 GMT      the preferred format
 *      Sunday, 06-Nov-94 08:49:37 GMT     RFC 850: a year of two digits
 *      Sun Nov  6 08:49:37 1994           C's asctime()
 */
#ifndef PATRA_DATA_HTTP_DATE_H
#define PATRA_DATA_HTTP_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

/* One of the three formats, exactly. A year of two digits that would be more than 50 years after
 * now is the one a century before, by the standard. */
bool http_date_parse(struct str text, int64_t now_us, int64_t *at_us) MUST_CHECK;

/* What browsers accept: RFC 6265 section 5.1.1, which picks a time, a day, a month's name and a
 * year from between any separators. It ignores time zones, so it is good enough for Retry-After
 * but not for a record's date. Years of two digits: 70 to 99 are 19.., others 20... */
bool http_date_parse_lenient(struct str text, int64_t *at_us) MUST_CHECK;

/* The first of the three formats, followed by a NUL. */
enum { HTTP_DATE_TEXT_MAX = 30 };
size_t http_date_format(int64_t at_us, char text[HTTP_DATE_TEXT_MAX]);

#endif
