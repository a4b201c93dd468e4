/* duration: parsing both notations, formatting, and calendar arithmetic. */
#include "base/duration.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/instant.h"
#include "base/quote.h"

struct unit {
    struct str name;
    int64_t months;
    int64_t us;
};

/* Largest first, the order in which a duration must name them. */
static const struct unit short_units[] = {
    { STR_INIT("y"), 12, 0 },
    { STR_INIT("mo"), 1, 0 },
    { STR_INIT("w"), 0, 7 * US_PER_DAY },
    { STR_INIT("d"), 0, US_PER_DAY },
    { STR_INIT("h"), 0, US_PER_HOUR },
    { STR_INIT("m"), 0, US_PER_MINUTE },
    { STR_INIT("s"), 0, US_PER_SECOND },
    { STR_INIT("ms"), 0, US_PER_MS },
    { STR_INIT("us"), 0, 1 },
};
static const struct unit iso_date_units[] = {
    { STR_INIT("Y"), 12, 0 },
    { STR_INIT("M"), 1, 0 },
    { STR_INIT("D"), 0, US_PER_DAY },
};
static const struct unit iso_time_units[] = {
    { STR_INIT("H"), 0, US_PER_HOUR },
    { STR_INIT("M"), 0, US_PER_MINUTE },
    { STR_INIT("S"), 0, US_PER_SECOND },
};
static const struct unit iso_week_units[] = { { STR_INIT("W"), 0, 7 * US_PER_DAY } };

static const char NO_NUMBER[] = "each unit needs a number before it, as in 1h30m";
static const char NO_UNIT[] = "a number needs a unit: y, mo, w, d, h, m, s, ms, us, as in 1h30m";
static const char BAD_ORDER[] = "larger units come first and each at most once, as in 1h30m";
static const char BAD_ISO[] =
    "an ISO duration names its units in order and without a gap, as in P1DT12H or P1Y2M3D";

/* The state of parsing; `fault` is NULL as long as the text is well-formed. A number that is too
 * large is remembered separately: it is reported only if nothing else is wrong with the text. */
struct parse {
    struct str rest;
    struct duration sum;
    bool too_long;
    const char *fault;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take_number(struct parse *p, int64_t *number)
{
    size_t digits = 0;

    while (digits < p->rest.len && is_digit(p->rest.data[digits]))
        digits++;
    if (digits == 0) {
        p->fault = NO_NUMBER;
        return false;
    }
    if (!str_to_i64(str_slice(p->rest, 0, digits), number))
        *number = INT64_MAX;
    p->rest = str_slice(p->rest, digits, p->rest.len);
    return true;
}

static void add_part(struct parse *p, int64_t number, const struct unit *unit)
{
    int64_t months, us;

    if (__builtin_mul_overflow(number, unit->months, &months) ||
        __builtin_mul_overflow(number, unit->us, &us) ||
        __builtin_add_overflow(months, p->sum.months, &months) ||
        __builtin_add_overflow(us, p->sum.us, &us) || months > DURATION_MONTHS_MAX ||
        us > DURATION_US_MAX)
        p->too_long = true;
    else
        p->sum = (struct duration){ months, us };
}

static struct str take_letters(struct parse *p)
{
    struct str name;
    size_t len = 0;

    while (len < p->rest.len && !is_digit(p->rest.data[len]))
        len++;
    name = str_slice(p->rest, 0, len);
    p->rest = str_slice(p->rest, len, p->rest.len);
    return name;
}

static void parse_short(struct parse *p)
{
    size_t next = 0; /* the largest unit still allowed */

    do {
        int64_t number;
        struct str name;
        size_t i = 0;

        if (!take_number(p, &number))
            return;
        name = take_letters(p);
        while (i < ARRAY_LEN(short_units) && !str_eq(short_units[i].name, name))
            i++;
        if (i == ARRAY_LEN(short_units) || i < next) {
            p->fault = i < next ? BAD_ORDER : NO_UNIT;
            return;
        }
        add_part(p, number, &short_units[i]);
        next = i + 1;
    } while (p->rest.len > 0);
}

/* One or more units that follow each other without a gap, as the RFC's grammar nests them. */
static void parse_iso_run(struct parse *p, const struct unit *units, size_t count)
{
    size_t next = count;

    do {
        int64_t number;
        size_t i = next == count ? 0 : next;

        if (!take_number(p, &number))
            return;
        while (next == count && i < count && !str_starts(p->rest, units[i].name))
            i++;
        if (i == count || !str_starts(p->rest, units[i].name)) {
            p->fault = BAD_ISO;
            return;
        }
        p->rest = str_slice(p->rest, units[i].name.len, p->rest.len);
        add_part(p, number, &units[i]);
        next = i + 1;
    } while (next < count && p->rest.len > 0 && p->rest.data[0] != 'T');
}

static void parse_iso(struct parse *p)
{
    p->rest = str_slice(p->rest, 1, p->rest.len); /* the P */
    if (str_ends(p->rest, STR("W")))
        parse_iso_run(p, iso_week_units, ARRAY_LEN(iso_week_units));
    else if (!str_starts(p->rest, STR("T")))
        parse_iso_run(p, iso_date_units, ARRAY_LEN(iso_date_units));
    if (p->fault == NULL && str_starts(p->rest, STR("T"))) {
        p->rest = str_slice(p->rest, 1, p->rest.len);
        parse_iso_run(p, iso_time_units, ARRAY_LEN(iso_time_units));
    }
    if (p->fault == NULL && p->rest.len > 0)
        p->fault = BAD_ISO;
    if (p->fault == NO_NUMBER)
        p->fault = BAD_ISO;
}

bool duration_parse(struct str text, struct duration *duration, struct error *err)
{
    struct parse p = { .rest = text };

    if (str_starts(text, STR("P")))
        parse_iso(&p);
    else if (!str_eq(text, STR("0")))
        parse_short(&p);
    if (p.fault != NULL) {
        return error_set(err, ERROR_REQUEST, "duration.syntax", "not a duration: %s: %s",
                         QUOTE(text), p.fault);
    }
    if (p.too_long) {
        return error_set(err, ERROR_REQUEST, "duration.range",
                         "duration too long: %s: at most 10000 years are allowed", QUOTE(text));
    }
    *duration = p.sum;
    return true;
}

bool duration_parse_us(struct str text, int64_t *us, struct error *err)
{
    struct duration duration = { 0 };

    if (!duration_parse(text, &duration, err))
        return false;
    if (duration.months != 0) {
        return error_set(err, ERROR_REQUEST, "duration.syntax",
                         "not a fixed length: %s: months and years differ in length; "
                         "write days or weeks",
                         QUOTE(text));
    }
    *us = duration.us;
    return true;
}

static void add_units(struct duration *left, size_t from, char text[DURATION_TEXT_MAX], size_t *len)
{
    for (size_t i = from; i < ARRAY_LEN(short_units); i++) {
        const struct unit *unit = &short_units[i];
        const int64_t number = unit->months > 0 ? left->months / unit->months : left->us / unit->us;

        /* Weeks are only written if nothing else is left: 10d reads better than 1w3d. */
        if (number == 0 || (unit->us == 7 * US_PER_DAY && left->us % unit->us != 0))
            continue;
        left->months -= number * unit->months;
        left->us -= number * unit->us;
        *len += (size_t)snprintf(text + *len, DURATION_TEXT_MAX - *len, "%" PRId64 "%.*s", number,
                                 STR_ARG(unit->name));
        assert(*len < DURATION_TEXT_MAX);
    }
}

size_t duration_format(struct duration duration, char text[DURATION_TEXT_MAX])
{
    size_t len = 0;

    assert(duration.months >= 0 && duration.months <= DURATION_MONTHS_MAX);
    assert(duration.us >= 0 && duration.us <= DURATION_US_MAX);
    add_units(&duration, 0, text, &len);
    if (len == 0)
        len = (size_t)snprintf(text, DURATION_TEXT_MAX, "0s");
    return len;
}

size_t duration_format_us(int64_t us, char text[DURATION_TEXT_MAX])
{
    return duration_format((struct duration){ 0, us }, text);
}

static bool is_instant(int64_t at_us)
{
    return at_us >= INSTANT_MIN && at_us <= INSTANT_MAX;
}

static bool add_signed(int64_t at_us, struct duration d, int sign, int64_t *sum_us)
{
    struct civil civil;
    int64_t months;
    int days;

    assert(is_instant(at_us));
    civil = instant_to_civil(at_us);
    months = civil.year * INT64_C(12) + (civil.month - 1) + sign * d.months;
    if (months < 0 || months > 9999 * INT64_C(12) + 11)
        return false;
    civil.year = (int)(months / 12);
    civil.month = (int)(months % 12) + 1;
    days = instant_days_in_month(civil.year, civil.month);
    if (civil.day > days)
        civil.day = days;
    *sum_us = instant_from_civil(civil) + sign * d.us;
    return is_instant(*sum_us);
}

bool duration_add(int64_t at_us, struct duration duration, int64_t *sum_us)
{
    return add_signed(at_us, duration, 1, sum_us);
}

bool duration_subtract(int64_t at_us, struct duration duration, int64_t *rest_us)
{
    return add_signed(at_us, duration, -1, rest_us);
}
