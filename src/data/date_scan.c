/* Pieces of dates, taken from the front of a text. */
#include "data/date_scan.h"

#include "base/attr.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static void skip(struct str *rest, size_t count)
{
    *rest = str_slice(*rest, count, rest->len);
}

bool scan_char(struct str *rest, char c)
{
    if (rest->len == 0 || rest->data[0] != c)
        return false;
    skip(rest, 1);
    return true;
}

bool scan_char_nocase(struct str *rest, char wanted)
{
    if (rest->len == 0 || lower(rest->data[0]) != wanted)
        return false;
    skip(rest, 1);
    return true;
}

static size_t digits_ahead(struct str rest)
{
    size_t count = 0;

    while (count < rest.len && is_digit(rest.data[count]))
        count++;
    return count;
}

bool scan_digits(struct str *rest, size_t digits, int *number)
{
    int sum = 0;

    if (digits_ahead(str_slice(*rest, 0, digits)) != digits)
        return false;
    for (size_t i = 0; i < digits; i++)
        sum = sum * 10 + (rest->data[i] - '0');
    skip(rest, digits);
    *number = sum;
    return true;
}

bool scan_digits_between(struct str *rest, size_t least, size_t most, int *number)
{
    const size_t digits = digits_ahead(*rest);

    return digits >= least && digits <= most && scan_digits(rest, digits, number);
}

bool scan_fraction(struct str *rest, int *microsecond)
{
    const size_t digits = digits_ahead(*rest);
    int sum = 0;

    if (digits == 0)
        return false;
    for (size_t i = 0; i < 6; i++)
        sum = sum * 10 + (i < digits ? rest->data[i] - '0' : 0);
    skip(rest, digits);
    *microsecond = sum;
    return true;
}

static size_t letters_ahead(struct str rest)
{
    size_t count = 0;

    while (count < rest.len && lower(rest.data[count]) >= 'a' && lower(rest.data[count]) <= 'z')
        count++;
    return count;
}

/* Position in `names` of the whole word ahead, in full or as its first three letters. */
static bool scan_name(struct str *rest, const char *const names[], size_t count, size_t *position)
{
    const struct str word = str_slice(*rest, 0, letters_ahead(*rest));

    for (size_t i = 0; i < count; i++) {
        const struct str name = str_of(names[i]);

        if (str_eq_nocase(word, name) || str_eq_nocase(word, str_slice(name, 0, 3))) {
            skip(rest, word.len);
            *position = i;
            return true;
        }
    }
    return false;
}

bool scan_month_name(struct str *rest, int *month)
{
    static const char *const names[] = { "January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December" };
    size_t position;

    if (!scan_name(rest, names, ARRAY_LEN(names), &position))
        return false;
    *month = (int)position + 1;
    return true;
}

bool scan_weekday_name(struct str *rest)
{
    static const char *const names[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
                                         "Friday", "Saturday", "Sunday" };
    size_t position;

    return scan_name(rest, names, ARRAY_LEN(names), &position);
}

bool scan_day(struct str *rest, char separator, struct civil *civil)
{
    struct str at = *rest;

    if (!scan_digits(&at, 4, &civil->year) || !scan_char(&at, separator) ||
        !scan_digits(&at, 2, &civil->month) || !scan_char(&at, separator) ||
        !scan_digits(&at, 2, &civil->day))
        return false;
    *rest = at;
    return true;
}

bool scan_time(struct str *rest, struct civil *civil, enum date_precision *precision)
{
    struct str at = *rest;

    if (!scan_digits(&at, 2, &civil->hour) || !scan_char(&at, ':') ||
        !scan_digits(&at, 2, &civil->minute))
        return false;
    *precision = DATE_MINUTE;
    if (scan_char(&at, ':')) {
        if (!scan_digits(&at, 2, &civil->second))
            return false;
        *precision = DATE_SECOND;
        if (scan_char(&at, '.')) {
            if (!scan_fraction(&at, &civil->microsecond))
                return false;
            *precision = DATE_MICROSECOND;
        }
    }
    *rest = at;
    return true;
}

/* The second before a leap second: the last of a month's last day, UTC. */
static bool leap_second_may_follow(int64_t at_us)
{
    const struct civil c = instant_to_civil(at_us);

    return c.hour == 23 && c.minute == 59 && c.day == instant_days_in_month(c.year, c.month);
}

bool date_make(struct civil civil, int64_t offset_us, enum date_precision precision,
               struct date *date)
{
    const bool leap = civil.second == 60;
    int64_t at_us;

    if (leap) {
        civil.second = 59;
        civil.microsecond = 999999;
    }
    if (!civil_is_valid(civil))
        return false;
    at_us = instant_from_civil(civil) - offset_us;
    if (at_us < INSTANT_MIN || at_us > INSTANT_MAX)
        return false;
    if (leap && !leap_second_may_follow(at_us))
        return false;
    *date = (struct date){ at_us, precision };
    return true;
}
