/* The three formats of the standard, and the lenient reading of RFC 6265. */
#include "data/http_date.h"

#include <assert.h>
#include <stdio.h>

#include "base/instant.h"
#include "data/date_scan.h"

/* ---- the standard's three formats ---- */

static const char *const weekdays[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
                                        "Friday", "Saturday", "Sunday" };
static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

static bool scan_text(struct str *rest, struct str text)
{
    if (!str_starts(*rest, text))
        return false;
    *rest = str_slice(*rest, text.len, rest->len);
    return true;
}

static bool scan_weekday(struct str *rest, bool is_short)
{
    for (size_t i = 0; i < ARRAY_LEN(weekdays); i++) {
        const struct str name = str_of(weekdays[i]);

        if (scan_text(rest, str_slice(name, 0, is_short ? 3 : name.len)))
            return true;
    }
    return false;
}

static bool scan_month(struct str *rest, int *month)
{
    for (int i = 0; i < 12; i++) {
        if (scan_text(rest, str_of(months[i]))) {
            *month = i + 1;
            return true;
        }
    }
    return false;
}

static bool scan_clock(struct str *rest, struct civil *civil)
{
    return scan_digits(rest, 2, &civil->hour) && scan_char(rest, ':') &&
           scan_digits(rest, 2, &civil->minute) && scan_char(rest, ':') &&
           scan_digits(rest, 2, &civil->second);
}

static bool read_imf(struct str text, struct civil *civil)
{
    return scan_weekday(&text, true) && scan_text(&text, STR(", ")) &&
           scan_digits(&text, 2, &civil->day) && scan_char(&text, ' ') &&
           scan_month(&text, &civil->month) && scan_char(&text, ' ') &&
           scan_digits(&text, 4, &civil->year) && scan_char(&text, ' ') &&
           scan_clock(&text, civil) && str_eq(text, STR(" GMT"));
}

static bool read_rfc850(struct str text, int64_t now_us, struct civil *civil)
{
    const int this_year = instant_to_civil(now_us).year;

    if (!scan_weekday(&text, false) || !scan_text(&text, STR(", ")) ||
        !scan_digits(&text, 2, &civil->day) || !scan_char(&text, '-') ||
        !scan_month(&text, &civil->month) || !scan_char(&text, '-') ||
        !scan_digits(&text, 2, &civil->year) || !scan_char(&text, ' ') ||
        !scan_clock(&text, civil) || !str_eq(text, STR(" GMT")))
        return false;
    civil->year += this_year / 100 * 100;
    if (civil->year > this_year + 50)
        civil->year -= 100;
    return true;
}

static bool read_asctime(struct str text, struct civil *civil)
{
    return scan_weekday(&text, true) && scan_char(&text, ' ') && scan_month(&text, &civil->month) &&
           scan_char(&text, ' ') &&
           (scan_char(&text, ' ') ? scan_digits(&text, 1, &civil->day)
                                  : scan_digits(&text, 2, &civil->day)) &&
           scan_char(&text, ' ') && scan_clock(&text, civil) && scan_char(&text, ' ') &&
           scan_digits(&text, 4, &civil->year) && text.len == 0;
}

bool http_date_parse(struct str text, int64_t now_us, int64_t *at_us)
{
    struct civil civil = { 0 };
    struct date date;

    if (!read_imf(text, &civil) && !read_rfc850(text, now_us, &civil) &&
        !read_asctime(text, &civil))
        return false;
    if (!date_make(civil, 0, DATE_SECOND, &date))
        return false;
    *at_us = date.at_us;
    return true;
}

/* ---- RFC 6265 section 5.1.1 ---- */

struct found {
    bool time, day, month, year;
    struct civil civil;
};

static bool is_delimiter(char c)
{
    const unsigned char u = (unsigned char)c;

    return u == 0x09 || (u >= 0x20 && u <= 0x2F) || (u >= 0x3B && u <= 0x40) ||
           (u >= 0x5B && u <= 0x60) || (u >= 0x7B && u <= 0x7E);
}

/* The grammar lets anything but a digit follow a number, which is what scan_digits_between checks.
 */
static bool find_time(struct str token, struct civil *civil)
{
    return scan_digits_between(&token, 1, 2, &civil->hour) && scan_char(&token, ':') &&
           scan_digits_between(&token, 1, 2, &civil->minute) && scan_char(&token, ':') &&
           scan_digits_between(&token, 1, 2, &civil->second);
}

static bool find_month(struct str token, int *month)
{
    for (int i = 0; i < 12; i++) {
        if (str_eq_nocase(str_slice(token, 0, 3), str_of(months[i]))) {
            *month = i + 1;
            return true;
        }
    }
    return false;
}

/* Each production is tried in the RFC's order, and each is found at most once. */
static void take_token(struct str token, struct found *found)
{
    struct civil *civil = &found->civil;

    if (!found->time && find_time(token, civil))
        found->time = true;
    else if (!found->day && scan_digits_between(&token, 1, 2, &civil->day))
        found->day = true;
    else if (!found->month && find_month(token, &civil->month))
        found->month = true;
    else if (!found->year && scan_digits_between(&token, 2, 4, &civil->year))
        found->year = true;
}

bool http_date_parse_lenient(struct str text, int64_t *at_us)
{
    struct found found = { 0 };
    struct civil *civil = &found.civil;

    while (text.len > 0) {
        size_t len = 0;

        while (len < text.len && !is_delimiter(text.data[len]))
            len++;
        if (len > 0)
            take_token(str_slice(text, 0, len), &found);
        text = str_slice(text, len + 1, text.len);
    }
    if (!found.time || !found.day || !found.month || !found.year)
        return false;
    if (civil->year < 100)
        civil->year += civil->year >= 70 ? 1900 : 2000;
    if (civil->year < 1601 || !civil_is_valid(*civil))
        return false;
    *at_us = instant_from_civil(*civil);
    return true;
}

size_t http_date_format(int64_t at_us, char text[HTTP_DATE_TEXT_MAX])
{
    const struct civil c = instant_to_civil(at_us);
    const int len = snprintf(text, HTTP_DATE_TEXT_MAX, "%.3s, %02d %s %04d %02d:%02d:%02d GMT",
                             weekdays[instant_weekday(at_us)], c.day, months[c.month - 1], c.year,
                             c.hour, c.minute, c.second);

    assert(len == HTTP_DATE_TEXT_MAX - 1);
    return (size_t)len;
}
