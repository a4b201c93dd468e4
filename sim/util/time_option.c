#include "sim/util/time_option.h"

#include <stdio.h>

#include "base/duration.h"
#include "base/instant.h"
#include "sim/util/api_date.h"

static const char DAYS[] = "MonTueWedThuFriSatSun";
static const char MONTHS[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

bool moment_parse(struct str text, int64_t *at_us)
{
    struct when when;

    if (text.len > 4 && str_to_i64(text, at_us)) /* four digits are a year */
        return *at_us >= INSTANT_MIN && *at_us <= INSTANT_MAX;
    if (!when_parse(text, &when))
        return false;
    *at_us = when.from_us;
    return true;
}

bool moment_parse_duration(struct str text, int64_t *us)
{
    const bool back = str_starts(text, STR("-"));
    struct error err;
    int64_t seconds;

    if (str_to_i64(text, &seconds))
        return !__builtin_mul_overflow(seconds, US_PER_SECOND, us);
    if (back || str_starts(text, STR("+")))
        text = str_slice(text, 1, text.len);
    if (!duration_parse_us(text, us, &err))
        return false;
    *us = back ? -*us : *us;
    return true;
}

struct str moment_http(int64_t at_us, char text[MOMENT_HTTP_MAX])
{
    const struct civil civil = instant_to_civil(at_us);
    const int len = snprintf(text, MOMENT_HTTP_MAX, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                             DAYS + (size_t)instant_weekday(at_us) * 3, civil.day,
                             MONTHS + ((size_t)civil.month - 1) * 3, civil.year, civil.hour,
                             civil.minute, civil.second);

    return (struct str){ text, (size_t)len };
}

/* ---- reading HTTP's form, where every character has its place ---- */

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

bool moment_parse_http(struct str text, int64_t *at_us)
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
