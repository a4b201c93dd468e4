/* Writes and reads the date of HTTP headers. */
#include "sim/http/http_date.h"

#include <stdio.h>

#include "base/instant.h"

static const char DAYS[] = "MonTueWedThuFriSatSun";
static const char MONTHS[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

struct str sim_http_date_write(int64_t at_us, char text[HTTP_DATE_TEXT_MAX])
{
    const struct civil civil = instant_to_civil(at_us);
    const int len = snprintf(text, HTTP_DATE_TEXT_MAX, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                             DAYS + (size_t)instant_weekday(at_us) * 3, civil.day,
                             MONTHS + ((size_t)civil.month - 1) * 3, civil.year, civil.hour,
                             civil.minute, civil.second);

    return (struct str){ text, (size_t)len };
}

/* ---- parsing: every character has a fixed position ---- */

static bool number_at(struct str text, size_t from, size_t to, int *number)
{
    *number = 0;
    for (size_t i = from; i < to; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *number = *number * 10 + (text.data[i] - '0');
    }
    return true;
}

static bool month_at(struct str text, size_t from, int *month)
{
    for (*month = 1; *month <= 12; (*month)++) {
        if (str_eq(str_slice(text, from, from + 3),
                   (struct str){ MONTHS + ((size_t)*month - 1) * 3, 3 }))
            return true;
    }
    return false;
}

bool sim_http_date_parse(struct str text, int64_t *at_us)
{
    static const struct str FORM = STR_INIT("Fri, 02 Jan 2026 03:04:05 GMT");
    struct civil civil = { 0 };

    text = str_trim(text);
    if (text.len != FORM.len || !number_at(text, 5, 7, &civil.day) ||
        !month_at(text, 8, &civil.month) || !number_at(text, 12, 16, &civil.year) ||
        !number_at(text, 17, 19, &civil.hour) || !number_at(text, 20, 22, &civil.minute) ||
        !number_at(text, 23, 25, &civil.second) || !str_ends(text, STR(" GMT")) ||
        !civil_is_valid(civil))
        return false;
    *at_us = instant_from_civil(civil);
    return true;
}
