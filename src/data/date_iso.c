/* The numeric formats: RFC 3339, ISO 8601, NCBI's slashes, compact digits, epochs. */
#include "data/date_read.h"

#include <stdint.h>

#include "base/instant.h"
#include "data/date_scan.h"

/* "Z", "+hh:mm", "-hh:mm". */
static bool scan_offset(struct str *rest, int64_t *offset_us)
{
    struct str at = *rest;
    int hours, minutes;
    bool negative;

    if (scan_char_nocase(rest, 'z')) {
        *offset_us = 0;
        return true;
    }
    negative = scan_char(&at, '-');
    if (!negative && !scan_char(&at, '+'))
        return false;
    if (!scan_digits(&at, 2, &hours) || !scan_char(&at, ':') || !scan_digits(&at, 2, &minutes) ||
        hours > 23 || minutes > 59)
        return false;
    *offset_us = (negative ? -1 : 1) * (hours * US_PER_HOUR + minutes * US_PER_MINUTE);
    *rest = at;
    return true;
}

/* ISO 8601 also writes "+hhmm" and "+hh". */
static bool scan_loose_offset(struct str *rest, int64_t *offset_us)
{
    struct str at = *rest;
    int hours, minutes = 0;
    bool negative;

    if (scan_offset(rest, offset_us))
        return true;
    negative = scan_char(&at, '-');
    if (!negative && !scan_char(&at, '+'))
        return false;
    if (!scan_digits(&at, 2, &hours) || (at.len > 0 && !scan_digits(&at, 2, &minutes)) ||
        hours > 23 || minutes > 59)
        return false;
    *offset_us = (negative ? -1 : 1) * (hours * US_PER_HOUR + minutes * US_PER_MINUTE);
    *rest = at;
    return true;
}

bool date_read_rfc3339(struct str text, struct date *date)
{
    struct civil civil = { 0 };
    enum date_precision precision;
    int64_t offset_us;

    return scan_day(&text, '-', &civil) && scan_char_nocase(&text, 't') &&
           scan_time(&text, &civil, &precision) && precision >= DATE_SECOND &&
           scan_offset(&text, &offset_us) && text.len == 0 &&
           date_make(civil, offset_us, precision, date);
}

bool date_read_datetime(struct str text, struct date *date)
{
    struct civil civil = { 0 };
    enum date_precision precision;
    int64_t offset_us = 0;

    if (!scan_day(&text, '-', &civil) ||
        (!scan_char_nocase(&text, 't') && !scan_char(&text, ' ')) ||
        !scan_time(&text, &civil, &precision))
        return false;
    if (text.len > 0 && !scan_loose_offset(&text, &offset_us))
        return false;
    return text.len == 0 && date_make(civil, offset_us, precision, date);
}

static bool read_day(struct str text, char separator, struct date *date)
{
    struct civil civil = { 0 };

    return scan_day(&text, separator, &civil) && text.len == 0 &&
           date_make(civil, 0, DATE_DAY, date);
}

static bool read_month(struct str text, char separator, struct date *date)
{
    struct civil civil = { .day = 1 };

    return scan_digits(&text, 4, &civil.year) && scan_char(&text, separator) &&
           scan_digits(&text, 2, &civil.month) && text.len == 0 &&
           date_make(civil, 0, DATE_MONTH, date);
}

bool date_read_date(struct str text, struct date *date)
{
    return read_day(text, '-', date);
}

bool date_read_month(struct str text, struct date *date)
{
    return read_month(text, '-', date);
}

bool date_read_year(struct str text, struct date *date)
{
    struct civil civil = { .month = 1, .day = 1 };

    return scan_digits(&text, 4, &civil.year) && text.len == 0 &&
           date_make(civil, 0, DATE_YEAR, date);
}

bool date_read_partial(struct str text, struct date *date)
{
    return date_read_date(text, date) || date_read_month(text, date) || date_read_year(text, date);
}

bool date_read_ncbi(struct str text, struct date *date)
{
    struct civil civil = { 0 };
    enum date_precision precision;

    if (read_day(text, '/', date) || read_month(text, '/', date) || date_read_year(text, date))
        return true;
    return scan_day(&text, '/', &civil) && scan_char(&text, ' ') &&
           scan_time(&text, &civil, &precision) && precision <= DATE_SECOND && text.len == 0 &&
           date_make(civil, 0, precision, date);
}

bool date_read_compact(struct str text, struct date *date)
{
    struct civil civil = { 0 };
    enum date_precision precision = DATE_DAY;

    if (!scan_digits(&text, 4, &civil.year) || !scan_digits(&text, 2, &civil.month) ||
        !scan_digits(&text, 2, &civil.day))
        return false;
    (void)(text.len > 1 && scan_char(&text, 'T')); /* optional */
    if (scan_digits(&text, 2, &civil.hour)) {
        if (!scan_digits(&text, 2, &civil.minute))
            return false;
        precision = scan_digits(&text, 2, &civil.second) ? DATE_SECOND : DATE_MINUTE;
        (void)scan_char(&text, 'Z');
    }
    return text.len == 0 && date_make(civil, 0, precision, date);
}

static bool make_epoch(int64_t count, int64_t unit_us, int64_t more_us,
                       enum date_precision precision, struct date *date)
{
    int64_t at_us;

    if (__builtin_mul_overflow(count, unit_us, &at_us) ||
        __builtin_add_overflow(at_us, more_us, &at_us) || at_us < INSTANT_MIN ||
        at_us > INSTANT_MAX)
        return false;
    *date = (struct date){ at_us, precision };
    return true;
}

bool date_read_epoch_s(struct str text, struct date *date)
{
    const bool negative = text.len > 0 && text.data[0] == '-';
    struct str rest = text;
    const struct str whole = str_cut(&rest, '.');
    int64_t seconds;
    int microsecond = 0;

    if (whole.len == 0 || whole.data[0] == '+' || !str_to_i64(whole, &seconds))
        return false;
    if (whole.len < text.len && (!scan_fraction(&rest, &microsecond) || rest.len > 0))
        return false;
    return make_epoch(seconds, US_PER_SECOND, negative ? -microsecond : microsecond,
                      whole.len < text.len ? DATE_MICROSECOND : DATE_SECOND, date);
}

bool date_read_epoch_ms(struct str text, struct date *date)
{
    int64_t milliseconds;

    return text.len > 0 && text.data[0] != '+' && str_to_i64(text, &milliseconds) &&
           make_epoch(milliseconds, US_PER_MS, 0, DATE_MICROSECOND, date);
}

bool date_read_structured(struct str text, struct date *date)
{
    int64_t seconds;

    /* RFC 9651: an integer of at most 15 digits after the @. */
    return scan_char(&text, '@') && text.len > 0 && text.data[0] != '+' &&
           text.len <= (text.data[0] == '-' ? 16u : 15u) && str_to_i64(text, &seconds) &&
           make_epoch(seconds, US_PER_SECOND, 0, DATE_SECOND, date);
}
