/* Parses and writes the dates of literature APIs. */
#include "sim/util/api_date.h"

#include "base/instant.h"

/* Reads up to `digits_max` digits (at least one) from the front of `rest`. */
static bool take_number(struct str *rest, size_t digits_max, int *number)
{
    size_t n = 0;

    *number = 0;
    while (n < digits_max && n < rest->len && rest->data[n] >= '0' && rest->data[n] <= '9')
        *number = *number * 10 + (rest->data[n++] - '0');
    *rest = str_slice(*rest, n, rest->len);
    return n > 0;
}

static bool take_char(struct str *rest, char c)
{
    if (rest->len == 0 || rest->data[0] != c)
        return false;
    *rest = str_slice(*rest, 1, rest->len);
    return true;
}

/* Six digits count; further ones are dropped. */
static bool take_fraction(struct str *rest, int *microsecond)
{
    int scale = 100000;
    size_t n = 0;

    *microsecond = 0;
    for (; n < rest->len && rest->data[n] >= '0' && rest->data[n] <= '9'; n++) {
        *microsecond += (rest->data[n] - '0') * scale;
        scale /= 10;
    }
    *rest = str_slice(*rest, n, rest->len);
    return n > 0;
}

static bool take_time(struct str *rest, struct civil *civil, enum api_date_unit *unit)
{
    if (!take_char(rest, 'T') && !take_char(rest, ' '))
        return true;
    *unit = API_DATE_HOUR;
    if (!take_number(rest, 2, &civil->hour))
        return false;
    if (!take_char(rest, ':'))
        return true;
    *unit = API_DATE_MINUTE;
    if (!take_number(rest, 2, &civil->minute))
        return false;
    if (!take_char(rest, ':'))
        return true;
    *unit = API_DATE_SECOND;
    if (!take_number(rest, 2, &civil->second))
        return false;
    if (!take_char(rest, '.'))
        return true;
    *unit = API_DATE_FINER;
    return take_fraction(rest, &civil->microsecond);
}

static bool take_zone(struct str *rest, struct api_date *date, int64_t *offset_us)
{
    int sign, hours, minutes = 0;

    *offset_us = 0;
    date->zoned = rest->len > 0;
    if (rest->len == 0 || take_char(rest, 'Z'))
        return true;
    sign = take_char(rest, '+') ? 1 : take_char(rest, '-') ? -1 : 0;
    if (sign == 0 || !take_number(rest, 2, &hours))
        return false;
    (void)take_char(rest, ':');
    if (rest->len > 0 && !take_number(rest, 2, &minutes))
        return false;
    *offset_us = sign * (hours * US_PER_HOUR + minutes * US_PER_MINUTE);
    return true;
}

static int64_t end_of(struct civil civil, int64_t from_us, enum api_date_unit unit)
{
    switch (unit) {
    case API_DATE_YEAR:
        return instant_from_civil((struct civil){ .year = civil.year + 1, .month = 1, .day = 1 });
    case API_DATE_MONTH:
        return from_us + instant_days_in_month(civil.year, civil.month) * US_PER_DAY;
    case API_DATE_DAY:
        return from_us + US_PER_DAY;
    case API_DATE_HOUR:
        return from_us + US_PER_HOUR;
    case API_DATE_MINUTE:
        return from_us + US_PER_MINUTE;
    case API_DATE_SECOND:
        return from_us + US_PER_SECOND;
    case API_DATE_FINER:
        break;
    }
    return from_us + 1;
}

bool api_date_parse(struct str text, struct api_date *date)
{
    struct civil civil = { .month = 1, .day = 1 };
    struct str rest = str_trim(text);
    char separator = '-';
    int64_t offset_us = 0;

    *date = (struct api_date){ .unit = API_DATE_YEAR };
    if (rest.len < 4 || !take_number(&rest, 4, &civil.year) || civil.year > 9998)
        return false;
    if (rest.len > 0 && rest.data[0] == '/')
        separator = '/';
    if (take_char(&rest, separator)) {
        date->unit = API_DATE_MONTH;
        if (!take_number(&rest, 2, &civil.month))
            return false;
        if (take_char(&rest, separator)) {
            date->unit = API_DATE_DAY;
            if (!take_number(&rest, 2, &civil.day) || !take_time(&rest, &civil, &date->unit))
                return false;
        }
    }
    if (!take_zone(&rest, date, &offset_us) || rest.len > 0 || !civil_is_valid(civil))
        return false;
    date->from_us = instant_from_civil(civil);
    date->to_us = end_of(civil, date->from_us, date->unit) - offset_us;
    date->from_us -= offset_us;
    return true;
}

/* `digits` digits at `to`, with leading zeros. */
static char *put_number(char *to, int number, int digits)
{
    for (int i = digits - 1; i >= 0; i--) {
        to[i] = (char)('0' + number % 10);
        number /= 10;
    }
    return to + digits;
}

static char *put_date(char *to, struct civil civil, char separator)
{
    to = put_number(to, civil.year, 4);
    *to++ = separator;
    to = put_number(to, civil.month, 2);
    *to++ = separator;
    return put_number(to, civil.day, 2);
}

static char *put_clock(char *to, struct civil civil)
{
    to = put_number(to, civil.hour, 2);
    *to++ = ':';
    to = put_number(to, civil.minute, 2);
    *to++ = ':';
    return put_number(to, civil.second, 2);
}

void api_date_add_date(struct buf *out, int64_t at_us)
{
    char text[10];

    buf_add(out,
            (struct str){ text, (size_t)(put_date(text, instant_to_civil(at_us), '-') - text) });
}

void api_date_add_slashed(struct buf *out, int64_t at_us)
{
    char text[10];

    buf_add(out,
            (struct str){ text, (size_t)(put_date(text, instant_to_civil(at_us), '/') - text) });
}

void api_date_add_second(struct buf *out, int64_t at_us)
{
    const struct civil civil = instant_to_civil(at_us);
    char text[20];
    char *to = put_date(text, civil, '-');

    *to++ = 'T';
    to = put_clock(to, civil);
    *to++ = 'Z';
    buf_add(out, (struct str){ text, (size_t)(to - text) });
}

void api_date_add_micros(struct buf *out, int64_t at_us)
{
    const struct civil civil = instant_to_civil(at_us);
    char text[26];
    char *to = put_date(text, civil, '-');

    *to++ = 'T';
    to = put_clock(to, civil);
    *to++ = '.';
    to = put_number(to, civil.microsecond, 6);
    buf_add(out, (struct str){ text, (size_t)(to - text) });
}

void api_date_add_rfc822(struct buf *out, int64_t at_us)
{
    static const char days[] = "MonTueWedThuFriSatSun";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const struct civil civil = instant_to_civil(at_us);
    char text[8];

    buf_add(out, (struct str){ days + (size_t)3 * (size_t)instant_weekday(at_us), 3 });
    buf_add(out, STR(", "));
    buf_add_i64(out, civil.day);
    buf_add_char(out, ' ');
    buf_add(out, (struct str){ months + (size_t)3 * (size_t)(civil.month - 1), 3 });
    buf_add_char(out, ' ');
    buf_add_i64(out, civil.year);
    buf_add_char(out, ' ');
    buf_add(out, (struct str){ text, (size_t)(put_clock(text, civil) - text) });
    buf_add(out, STR(" GMT"));
}
