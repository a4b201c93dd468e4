/* The formats with names: MEDLINE's partial dates and RFC 822. */
#include "data/date_read.h"

#include "base/attr.h"
#include "base/instant.h"
#include "data/date_scan.h"

/* The first month of each season. Winter spans two years and the text does not say which is meant,
 * so it is taken as its earliest, January. */
static const struct {
    struct str name;
    int month;
} seasons[] = {
    { STR_INIT("winter"), 1 }, { STR_INIT("spring"), 3 }, { STR_INIT("summer"), 6 },
    { STR_INIT("autumn"), 9 }, { STR_INIT("fall"), 9 },
};

static bool scan_season(struct str *rest, int *month)
{
    for (size_t i = 0; i < ARRAY_LEN(seasons); i++) {
        if (str_eq_nocase(str_slice(*rest, 0, seasons[i].name.len), seasons[i].name)) {
            *month = seasons[i].month;
            *rest = str_slice(*rest, seasons[i].name.len, rest->len);
            return true;
        }
    }
    return false;
}

/* A season, or a month with an optional day; the year was read before. */
static bool scan_in_year(struct str *rest, struct civil *civil, enum date_precision *precision)
{
    struct str at;

    civil->day = 1;
    if (scan_season(rest, &civil->month)) {
        *precision = DATE_QUARTER;
        return true;
    }
    if (!scan_month_name(rest, &civil->month))
        return false;
    *precision = DATE_MONTH;
    at = *rest;
    if (scan_char(&at, ' ') && scan_digits_between(&at, 1, 2, &civil->day)) {
        *precision = DATE_DAY;
        *rest = at;
    }
    return true;
}

/* "2001", "2001 Spring", "2001 Sep", "2001 Sep 15". */
static bool scan_point(struct str *rest, struct civil *civil, enum date_precision *precision)
{
    civil->month = 1;
    civil->day = 1;
    *precision = DATE_YEAR;
    if (!scan_digits_between(rest, 4, 4, &civil->year))
        return false;
    return !scan_char(rest, ' ') || scan_in_year(rest, civil, precision);
}

/* The end of a range, after the dash: a whole date, or only the part that differs. */
static bool scan_range_end(struct str *rest, struct civil *civil, enum date_precision precision)
{
    struct civil whole = *civil;
    enum date_precision whole_precision;
    struct str at = *rest;

    if (scan_point(&at, &whole, &whole_precision)) {
        *civil = whole;
        *rest = at;
        return true;
    }
    if (precision == DATE_DAY && scan_digits_between(rest, 1, 2, &civil->day))
        return true;
    return precision > DATE_YEAR && scan_in_year(rest, civil, &precision);
}

/* "Sep-Oct", sometimes "Sep - Oct". */
static bool scan_dash(struct str *rest)
{
    const bool spaced = scan_char(rest, ' ');

    return scan_char(rest, '-') && (!spaced || scan_char(rest, ' '));
}

bool date_read_medline(struct str text, struct date *date)
{
    struct civil civil = { 0 };
    enum date_precision precision;
    struct date end;

    if (!scan_point(&text, &civil, &precision) || !date_make(civil, 0, precision, date))
        return false;
    if (text.len == 0)
        return true;
    if (!scan_dash(&text))
        return false;
    /* The end of a range is not kept, but a range whose end is before its start is not a date. */
    return scan_range_end(&text, &civil, precision) && text.len == 0 &&
           date_make(civil, 0, precision, &end) && end.at_us >= date->at_us;
}

static bool scan_zone(struct str *rest, int64_t *offset_us)
{
    static const struct {
        struct str name;
        int hours;
    } zones[] = {
        { STR_INIT("GMT"), 0 },  { STR_INIT("UTC"), 0 },  { STR_INIT("UT"), 0 },
        { STR_INIT("Z"), 0 },    { STR_INIT("EST"), -5 }, { STR_INIT("EDT"), -4 },
        { STR_INIT("CST"), -6 }, { STR_INIT("CDT"), -5 }, { STR_INIT("MST"), -7 },
        { STR_INIT("MDT"), -6 }, { STR_INIT("PST"), -8 }, { STR_INIT("PDT"), -7 },
    };
    const bool negative = scan_char(rest, '-');
    int hours, minutes;

    if (negative || scan_char(rest, '+')) {
        if (!scan_digits(rest, 2, &hours) || !scan_digits(rest, 2, &minutes) || hours > 23 ||
            minutes > 59)
            return false;
        *offset_us = (negative ? -1 : 1) * (hours * US_PER_HOUR + minutes * US_PER_MINUTE);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(zones); i++) {
        if (str_eq(*rest, zones[i].name)) {
            *offset_us = zones[i].hours * US_PER_HOUR;
            *rest = STR("");
            return true;
        }
    }
    return false;
}

/* Years of two digits by RFC 2822: 00 to 49 are in this century, 50 to 99 in the last. */
static bool scan_mail_year(struct str *rest, int *year)
{
    if (scan_digits_between(rest, 4, 4, year))
        return true;
    if (!scan_digits_between(rest, 2, 2, year))
        return false;
    *year += *year < 50 ? 2000 : 1900;
    return true;
}

bool date_read_rfc822(struct str text, struct date *date)
{
    struct civil civil = { 0 };
    enum date_precision precision;
    int64_t offset_us;

    if (scan_weekday_name(&text) && (!scan_char(&text, ',') || !scan_char(&text, ' ')))
        return false;
    return scan_digits_between(&text, 1, 2, &civil.day) && scan_char(&text, ' ') &&
           scan_month_name(&text, &civil.month) && scan_char(&text, ' ') &&
           scan_mail_year(&text, &civil.year) && scan_char(&text, ' ') &&
           scan_time(&text, &civil, &precision) && precision <= DATE_SECOND &&
           scan_char(&text, ' ') && scan_zone(&text, &offset_us) && text.len == 0 &&
           date_make(civil, offset_us, precision, date);
}
