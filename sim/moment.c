#include "sim/moment.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/instant.h"

static const char DAYS[] = "MonTueWedThuFriSatSun";
static const char MONTHS[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

/* A text still to be read; a failed step makes all later ones fail. */
struct reader {
    struct str rest;
    bool ok;
};

static int digits(struct reader *reader, size_t count)
{
    int value = 0;

    for (size_t i = 0; reader->ok && i < count; i++) {
        if (i >= reader->rest.len || reader->rest.data[i] < '0' || reader->rest.data[i] > '9')
            reader->ok = false;
        else
            value = value * 10 + (reader->rest.data[i] - '0');
    }
    if (reader->ok)
        reader->rest = str_slice(reader->rest, count, reader->rest.len);
    return value;
}

static bool starts(const struct reader *reader, char c)
{
    return reader->ok && reader->rest.len > 0 && reader->rest.data[0] == c;
}

static bool take(struct reader *reader, char c)
{
    const bool there = starts(reader, c);

    if (there)
        reader->rest = str_slice(reader->rest, 1, reader->rest.len);
    return there;
}

static void need(struct reader *reader, char c)
{
    if (!take(reader, c))
        reader->ok = false;
}

static int fraction(struct reader *reader)
{
    int value = 0, scale = 100000;

    for (size_t i = 0; i < 9 && reader->rest.len > 0; i++, scale /= 10) {
        const char c = reader->rest.data[0];

        if (c < '0' || c > '9')
            break;
        value += (c - '0') * scale;
        reader->rest = str_slice(reader->rest, 1, reader->rest.len);
    }
    return value;
}

static int64_t zone(struct reader *reader)
{
    const bool east = starts(reader, '+');
    int64_t us;

    if (take(reader, 'Z') || reader->rest.len == 0)
        return 0;
    if (!take(reader, '+'))
        need(reader, '-');
    us = digits(reader, 2) * US_PER_HOUR;
    (void)take(reader, ':');
    us += digits(reader, 2) * US_PER_MINUTE;
    return east ? us : -us;
}

bool moment_parse(struct str text, int64_t *at_us)
{
    struct reader reader = { str_trim(text), true };
    struct civil civil = { 0 };
    int64_t zone_us = 0;

    if (str_find_char(str_slice(reader.rest, 1, reader.rest.len), '-') == reader.rest.len - 1)
        return str_to_i64(reader.rest, at_us);
    civil.year = digits(&reader, 4);
    need(&reader, '-');
    civil.month = digits(&reader, 2);
    need(&reader, '-');
    civil.day = digits(&reader, 2);
    if (take(&reader, 'T') || take(&reader, ' ')) {
        civil.hour = digits(&reader, 2);
        need(&reader, ':');
        civil.minute = digits(&reader, 2);
        if (take(&reader, ':'))
            civil.second = digits(&reader, 2);
        if (take(&reader, '.'))
            civil.microsecond = fraction(&reader);
        zone_us = zone(&reader);
    }
    if (!reader.ok || reader.rest.len > 0 || !civil_is_valid(civil))
        return false;
    *at_us = instant_from_civil(civil) - zone_us;
    return true;
}

bool moment_parse_duration(struct str text, int64_t *us)
{
    static const struct {
        struct str name;
        int64_t us;
    } units[] = {
        { STR_INIT("us"), 1 },
        { STR_INIT("ms"), US_PER_MS },
        { STR_INIT("s"), US_PER_SECOND },
        { STR_INIT("m"), US_PER_MINUTE },
        { STR_INIT("h"), US_PER_HOUR },
        { STR_INIT("d"), US_PER_DAY },
        { STR_INIT(""), US_PER_SECOND },
    };
    struct str unit = text, fractional, whole;
    int64_t value, part = 0;

    while (unit.len > 0 && memchr("+-.0123456789", unit.data[0], 13) != NULL)
        unit = str_slice(unit, 1, unit.len);
    fractional = str_slice(text, 0, text.len - unit.len);
    whole = str_cut(&fractional, '.');
    if (whole.len > 0 && whole.data[0] == '+')
        whole = str_slice(whole, 1, whole.len);
    if (fractional.len > 0) {
        struct reader reader = { fractional, true };

        part = fraction(&reader);
        if (reader.rest.len > 0)
            return false;
    }
    if (!str_to_i64(whole, &value))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (!str_eq(unit, units[i].name))
            continue;
        part = part * units[i].us / US_PER_SECOND;
        return !__builtin_mul_overflow(value, units[i].us, us) &&
               !__builtin_add_overflow(*us, whole.data[0] == '-' ? -part : part, us);
    }
    return false;
}

struct str moment_http(int64_t at_us, char text[MOMENT_HTTP_MAX])
{
    const struct civil civil = instant_to_civil(at_us);
    const int len =
        snprintf(text, MOMENT_HTTP_MAX, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                 DAYS + 3 * instant_weekday(at_us), civil.day, MONTHS + 3 * (civil.month - 1),
                 civil.year, civil.hour, civil.minute, civil.second);

    return (struct str){ text, (size_t)len };
}

static int month_named(struct str name)
{
    for (int i = 0; i < 12; i++) {
        if (str_eq(name, (struct str){ MONTHS + (size_t)i * 3, 3 }))
            return i + 1;
    }
    return 0;
}

bool moment_parse_http(struct str text, int64_t *at_us)
{
    struct reader reader = { str_trim(text), true };
    struct civil civil = { 0 };

    (void)str_cut(&reader.rest, ','); /* the weekday follows from the date */
    need(&reader, ' ');
    civil.day = digits(&reader, 2);
    need(&reader, ' ');
    civil.month = month_named(str_slice(reader.rest, 0, 3));
    reader.rest = str_slice(reader.rest, 3, reader.rest.len);
    need(&reader, ' ');
    civil.year = digits(&reader, 4);
    need(&reader, ' ');
    civil.hour = digits(&reader, 2);
    need(&reader, ':');
    civil.minute = digits(&reader, 2);
    need(&reader, ':');
    civil.second = digits(&reader, 2);
    if (!reader.ok || !str_eq(reader.rest, STR(" GMT")) || !civil_is_valid(civil))
        return false;
    *at_us = instant_from_civil(civil);
    return true;
}
