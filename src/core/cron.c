/* cron: parsing a line, and finding its ticks. */
#include "core/cron.h"

#include <assert.h>

#include "base/instant.h"
#include "base/quote.h"
#include "core/align.h"
#include "core/limits.h"

/* ---- parsing ---- */

struct field {
    const char *name;
    int min, max;
    const char *names[12]; /* NULL: numbers only */
    int first;             /* the value of the first name */
};

enum { FIELD_MINUTE, FIELD_HOUR, FIELD_DAY, FIELD_MONTH, FIELD_WEEKDAY, FIELD_COUNT };

static const struct field FIELDS[FIELD_COUNT] = {
    [FIELD_MINUTE] = { "minute", 0, 59, { NULL }, 0 },
    [FIELD_HOUR] = { "hour", 0, 23, { NULL }, 0 },
    [FIELD_DAY] = { "day of month", 1, 31, { NULL }, 0 },
    [FIELD_MONTH] = { "month",
                      1,
                      12,
                      { "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV",
                        "DEC" },
                      1 },
    [FIELD_WEEKDAY] = { "day of week",
                        0,
                        7,
                        { "SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT" },
                        0 },
};

struct parser {
    struct str text;
    size_t at;
    size_t *fault_at;
    struct error *err;
};

static bool fault(struct parser *p, size_t at, const char *what, const char *hint)
{
    *p->fault_at = at;
    return error_set(p->err, ERROR_REQUEST, "cron.syntax", "cron line %s, offset %zu: %s; %s",
                     QUOTE(p->text), at, what, hint);
}

static bool field_fault(struct parser *p, const struct field *f, size_t at, const char *what)
{
    *p->fault_at = at;
    return error_set(p->err, ERROR_REQUEST, "cron.syntax",
                     "cron line %s, offset %zu: %s %s; values are %d..%d%s", QUOTE(p->text), at,
                     f->name, what, f->min, f->max,
                     f->names[0] != NULL ? " or names such as MON or JAN" : "");
}

static char peek(const struct parser *p)
{
    return p->at < p->text.len ? p->text.data[p->at] : '\0';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void skip_blanks(struct parser *p)
{
    while (is_blank(peek(p)))
        p->at++;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool parse_name(struct parser *p, const struct field *f, int *value)
{
    const size_t start = p->at;
    struct str word;

    while (is_letter(peek(p)))
        p->at++;
    word = str_slice(p->text, start, p->at);
    for (int i = 0; i < (int)ARRAY_LEN(f->names) && f->names[i] != NULL; i++) {
        if (str_eq_nocase(word, str_of(f->names[i]))) {
            *value = f->first + i;
            return true;
        }
    }
    return field_fault(p, f, start, "has an unknown name");
}

static bool parse_number(struct parser *p, const struct field *f, int *value)
{
    const size_t start = p->at;

    *value = 0;
    while (peek(p) >= '0' && peek(p) <= '9') {
        *value = *value * 10 + (peek(p) - '0');
        p->at++;
        if (p->at - start > 4)
            return field_fault(p, f, start, "is too large");
    }
    if (p->at == start)
        return field_fault(p, f, start, "lacks a value");
    return true;
}

static bool parse_value(struct parser *p, const struct field *f, int *value)
{
    const size_t start = p->at;

    if (is_letter(peek(p)))
        return parse_name(p, f, value);
    if (!parse_number(p, f, value))
        return false;
    if (*value < f->min || *value > f->max)
        return field_fault(p, f, start, "is out of range");
    return true;
}

/* "/n" after a range; without it every value matches. */
static bool parse_step(struct parser *p, const struct field *f, bool is_range, int *step)
{
    const size_t start = p->at;

    *step = 1;
    if (peek(p) != '/')
        return true;
    if (!is_range)
        return fault(p, start, "a step needs a range", "write 5-59/15 or */15, not 5/15");
    p->at++;
    if (!parse_number(p, f, step))
        return false;
    return *step > 0 || fault(p, start, "a step of 0", "a step is at least 1");
}

static bool parse_range(struct parser *p, const struct field *f, int *from, int *to, bool *is_range)
{
    const size_t start = p->at;

    *is_range = true;
    if (peek(p) == '*') {
        p->at++;
        *from = f->min;
        *to = f->max == 7 ? 6 : f->max;
        return true;
    }
    if (peek(p) == '?' || peek(p) == 'L' || peek(p) == '#')
        return fault(p, start, "not a cron field", "use *, numbers, ranges, lists and steps");
    if (!parse_value(p, f, from))
        return false;
    *to = *from;
    *is_range = peek(p) == '-';
    if (!*is_range)
        return true;
    p->at++;
    if (!parse_value(p, f, to))
        return false;
    if (f->max == 7 && *to == 0 && *from > 0)
        *to = 7; /* FRI-SUN: a week may end on Sunday */
    return *from <= *to ||
           fault(p, start, "a range that runs backwards", "write it as two, such as 22-23,0-4");
}

static bool parse_field(struct parser *p, const struct field *f, uint64_t *mask)
{
    *mask = 0;
    for (;;) {
        int from = 0, to = 0, step = 1;
        bool is_range = false;

        if (!parse_range(p, f, &from, &to, &is_range) || !parse_step(p, f, is_range, &step))
            return false;
        for (int value = from; value <= to; value += step)
            *mask |= UINT64_C(1) << value;
        if (peek(p) != ',')
            break;
        p->at++;
    }
    if (p->at < p->text.len && !is_blank(peek(p)))
        return field_fault(p, f, p->at, "is followed by something else");
    return true;
}

/* Whether any day of the calendar matches. */
static bool can_fire(const struct cron *cron)
{
    if (!cron->is_any_day && !cron->is_any_weekday)
        return true; /* either one matches, and every month has all weekdays */
    for (int month = 1; month <= 12; month++) {
        const int days = instant_days_in_month(2000, month); /* a leap year */

        if ((cron->months >> month & 1) != 0 && (cron->days & ((2u << days) - 2)) != 0)
            return true;
    }
    return false;
}

static bool parse_word(struct parser *p, struct cron *cron)
{
    static const struct {
        const char *word;
        const char *line;
    } words[] = {
        { "@yearly", "0 0 1 1 *" }, { "@annually", "0 0 1 1 *" }, { "@monthly", "0 0 1 * *" },
        { "@weekly", "0 0 * * 0" }, { "@daily", "0 0 * * *" },    { "@midnight", "0 0 * * *" },
        { "@hourly", "0 * * * *" },
    };
    const struct str word = str_trim(p->text);

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_eq_nocase(word, str_of(words[i].word)))
            return cron_parse(str_of(words[i].line), cron, p->fault_at, p->err);
    }
    return fault(p, p->at, "an unknown word",
                 "there are @yearly, @monthly, @weekly, @daily and @hourly");
}

bool cron_parse(struct str text, struct cron *cron, size_t *fault_at, struct error *err)
{
    struct parser parser = { .text = text, .fault_at = fault_at, .err = err };
    struct parser *p = &parser;
    uint64_t masks[FIELD_COUNT];
    bool is_any[FIELD_COUNT];

    if (text.len > CRON_TEXT_MAX)
        return fault(p, CRON_TEXT_MAX, "too long", "five short fields are enough");
    skip_blanks(p);
    if (peek(p) == '@')
        return parse_word(p, cron);
    for (int i = 0; i < FIELD_COUNT; i++) {
        skip_blanks(p);
        if (p->at == text.len)
            return fault(p, p->at, "too few fields",
                         "five are needed: minute, hour, day of month, month, day of week");
        is_any[i] = peek(p) == '*';
        if (!parse_field(p, &FIELDS[i], &masks[i]))
            return false;
    }
    skip_blanks(p);
    if (p->at < text.len)
        return fault(p, p->at, "too many fields", "there are five, and seconds are not among them");
    *cron = (struct cron){
        .minutes = masks[FIELD_MINUTE],
        .hours = (uint32_t)masks[FIELD_HOUR],
        .days = (uint32_t)masks[FIELD_DAY],
        .months = (uint32_t)masks[FIELD_MONTH],
        .weekdays = (uint32_t)((masks[FIELD_WEEKDAY] | masks[FIELD_WEEKDAY] >> 7) & 0x7f),
        .is_any_day = is_any[FIELD_DAY],
        .is_any_weekday = is_any[FIELD_WEEKDAY],
    };
    return can_fire(cron) ||
           fault(p, 0, "it would never fire", "no such day exists in the months given");
}

/* ---- finding ticks: whole days first, then the minute within the day ---- */

enum { MINUTES_PER_DAY = 24 * 60 };

/* The calendar repeats after 400 years: a line that does not match by then never will. */
#define SEARCH_MAX_US (146097 * US_PER_DAY)

static bool day_matches(const struct cron *cron, struct civil day, int64_t day_us)
{
    const int sunday_first = (instant_weekday(day_us) + 1) % 7;
    const bool by_day = (cron->days >> day.day & 1) != 0;
    const bool by_weekday = (cron->weekdays >> sunday_first & 1) != 0;

    if ((cron->months >> day.month & 1) == 0)
        return false;
    return cron->is_any_day || cron->is_any_weekday ? by_day && by_weekday : by_day || by_weekday;
}

static bool minute_matches(const struct cron *cron, int minute_of_day)
{
    return (cron->hours >> (minute_of_day / 60) & 1) != 0 &&
           (cron->minutes >> (minute_of_day % 60) & 1) != 0;
}

static int64_t day_of(int64_t at_us)
{
    return instant_day_number(at_us) * US_PER_DAY;
}

/* The first matching minute of a day from `minute` on, going up or down; -1 if there is none. */
static int minute_from(const struct cron *cron, int minute, int step)
{
    for (; minute >= 0 && minute < MINUTES_PER_DAY; minute += step) {
        if (minute_matches(cron, minute))
            return minute;
    }
    return -1;
}

/* The next (or previous) day, skipping the rest of a month that does not match. */
static int64_t step_day(const struct cron *cron, int64_t day_us, int step)
{
    const struct civil day = instant_to_civil(day_us);
    const int days = instant_days_in_month(day.year, day.month);

    if ((cron->months >> day.month & 1) != 0)
        return day_us + step * US_PER_DAY;
    return day_us + (step > 0 ? days - day.day + 1 : -day.day) * US_PER_DAY;
}

static bool find(const struct cron *cron, int64_t at_us, int step, int64_t *tick_us)
{
    const int64_t start_us = day_of(at_us);
    int64_t day_us = start_us;
    int minute = (int)((at_us - day_us) / US_PER_MINUTE);

    while (day_us >= INSTANT_MIN && day_us <= INSTANT_MAX &&
           (day_us - start_us) * step <= SEARCH_MAX_US) {
        const int found = day_matches(cron, instant_to_civil(day_us), day_us)
                              ? minute_from(cron, minute, step)
                              : -1;

        if (found >= 0) {
            *tick_us = day_us + found * US_PER_MINUTE;
            return true;
        }
        minute = step > 0 ? 0 : MINUTES_PER_DAY - 1;
        day_us = step_day(cron, day_us, step);
    }
    return false;
}

bool cron_next(const struct cron *cron, int64_t at_us, int64_t *tick_us)
{
    return find(cron, align_floor(at_us, ALIGN_MINUTE) + US_PER_MINUTE, +1, tick_us);
}

bool cron_last(const struct cron *cron, int64_t at_us, int64_t *tick_us)
{
    return find(cron, at_us, -1, tick_us);
}
