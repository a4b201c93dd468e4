/* date: the formats in which providers write dates and times, read into instants.
 *
 * A source names the format of its dates ("rfc3339", "epoch_ms", "medline"); date_formats lists
 * them with a sentence each, for the compiler of sources and the manual. A format is read exactly:
 * a text that does not match it is an error that quotes the value, never a guess. "auto" accepts
 * the formats that cannot be confused with another.
 *
 * A part that is not given is taken as its earliest: "2001" is 2001-01-01T00:00:00Z, and
 * `precision` says that only the year was given. A text without a time zone is UTC.
 *
 *   - Fractions of a second beyond six digits are truncated, not rounded.
 *   - 23:59:60Z is accepted where a leap second can be, at the end of a month in UTC, and becomes
 *     the last microsecond before midnight: it stays in its day, and sorts after the rest of it.
 *   - Results are within the years 0000 to 9999 (UTC), after the offset is applied.
 */
#ifndef PATRA_DATA_DATE_H
#define PATRA_DATA_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

enum date_precision { /* coarse to fine; compare with < */
                      DATE_YEAR,
                      DATE_QUARTER, /* a season */
                      DATE_MONTH,
                      DATE_DAY,
                      DATE_MINUTE,
                      DATE_SECOND,
                      DATE_MICROSECOND, /* any fraction of a second */
};

struct date {
    int64_t at_us;
    enum date_precision precision;
};

struct date_format {
    const char *name;
    const char *help;    /* one sentence */
    const char *example; /* a text of this format */
    bool (*read)(struct str text, struct date *date);
};

extern const struct date_format date_formats[];
extern const size_t date_formats_count;

/* NULL when there is no format of this name. */
const struct date_format *date_format_find(struct str name);

/* "date.syntax" (L3) when the text is not of this format. */
bool date_parse(const struct date_format *format, struct str text, struct date *date,
                struct error *err) MUST_CHECK;

/* Crossref's date-parts and PubMed's Year/Month/Day elements: one to three numbers. "date.syntax"
 * (L3) when they are not a day of the calendar. */
bool date_from_parts(const int64_t *parts, size_t count, struct date *date,
                     struct error *err) MUST_CHECK;

#endif
