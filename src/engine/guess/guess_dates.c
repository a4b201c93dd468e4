/* Finds dates in a text and writes templates in their place. */
#include "engine/guess/guess_dates.h"

#include "base/attr.h"
#include "data/date.h"
#include "engine/guess/guess_words.h"

enum { PATTERN_MAX = 64 };

struct literal {
    size_t len;
    char pattern[PATTERN_MAX];
    enum granularity granularity;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take_char(struct str *rest, char c)
{
    if (rest->len == 0 || rest->data[0] != c)
        return false;
    *rest = str_slice(*rest, 1, rest->len);
    return true;
}

static bool take_digits(struct str *rest, size_t digits, int *number)
{
    *number = 0;
    for (size_t i = 0; i < digits; i++) {
        if (i >= rest->len || !is_digit(rest->data[i]))
            return false;
        *number = *number * 10 + (rest->data[i] - '0');
    }
    *rest = str_slice(*rest, digits, rest->len);
    return true;
}

static bool is_day(int year, int month, int day)
{
    struct date date;
    const int64_t parts[] = { year, month, day };
    struct error ignored;

    return year >= 1900 && year < 2100 && date_from_parts(parts, 3, &date, &ignored);
}

/* Thh:mm[:ss[.fff]][Z] */
static void scan_clock(struct str *rest, struct buf *pattern, enum granularity *granularity)
{
    struct str at = *rest;
    int ignored;
    size_t digits = 0;

    if (!take_char(&at, 'T') || !take_digits(&at, 2, &ignored) || !take_char(&at, ':') ||
        !take_digits(&at, 2, &ignored))
        return;
    buf_add(pattern, STR("'T'HH:mm"));
    *granularity = GRANULARITY_MINUTE;
    *rest = at;
    if (take_char(&at, ':') && take_digits(&at, 2, &ignored)) {
        buf_add(pattern, STR(":ss"));
        *granularity = GRANULARITY_SECOND;
        *rest = at;
        if (take_char(&at, '.')) {
            while (digits < at.len && digits < 6 && is_digit(at.data[digits]))
                digits++;
            if (digits > 0) {
                *granularity = digits > 3 ? GRANULARITY_MICROSECOND : GRANULARITY_MILLISECOND;
                buf_add(pattern, str_slice(STR(".SSSSSS"), 0, digits + 1));
                *rest = str_slice(at, digits, at.len);
            }
        }
    }
    if (take_char(rest, 'Z'))
        buf_add(pattern, STR("'Z'"));
}

static bool scan_separated(struct str *rest, char separator, struct buf *pattern,
                           enum granularity *granularity)
{
    struct str at = *rest;
    int year, month, day;

    if (!take_digits(&at, 4, &year) || !take_char(&at, separator) || !take_digits(&at, 2, &month) ||
        !take_char(&at, separator) || !take_digits(&at, 2, &day) || !is_day(year, month, day))
        return false;
    buf_printf(pattern, "yyyy%cMM%cdd", separator, separator);
    *granularity = GRANULARITY_DAY;
    *rest = at;
    if (separator == '-')
        scan_clock(rest, pattern, granularity);
    return true;
}

/* yyyyMMdd, with HHmm or HHmmss after it. */
static bool scan_compact(struct str *rest, struct buf *pattern, enum granularity *granularity)
{
    struct str at = *rest;
    size_t digits = 0;
    int year, month, day;

    while (digits < at.len && is_digit(at.data[digits]))
        digits++;
    if ((digits != 8 && digits != 12 && digits != 14) || !take_digits(&at, 4, &year) ||
        !take_digits(&at, 2, &month) || !take_digits(&at, 2, &day) || !is_day(year, month, day))
        return false;
    buf_add(pattern, str_slice(STR("yyyyMMddHHmmss"), 0, digits));
    *granularity = digits == 8    ? GRANULARITY_DAY
                   : digits == 12 ? GRANULARITY_MINUTE
                                  : GRANULARITY_SECOND;
    *rest = str_slice(*rest, digits, rest->len);
    return true;
}

static bool scan_literal(struct arena *arena, struct str text, bool in_path,
                         struct literal *literal)
{
    struct str rest = text;
    struct buf pattern;

    buf_init(&pattern, arena, PATTERN_MAX - 1);
    if (!scan_separated(&rest, '-', &pattern, &literal->granularity) &&
        (in_path || !scan_separated(&rest, '/', &pattern, &literal->granularity)) &&
        !scan_compact(&rest, &pattern, &literal->granularity))
        return false;
    if (pattern.failed || (rest.len > 0 && is_digit(rest.data[0])))
        return false;
    literal->len = text.len - rest.len;
    for (size_t i = 0; i < pattern.len; i++)
        literal->pattern[i] = pattern.data[i];
    literal->pattern[pattern.len] = '\0';
    return true;
}

/* Whether the words before a date name the end of a period. */
static bool is_end(struct str near)
{
    static const char *const ends[] = { "until", "to", "end", "before", "max", "lte", "lt" };
    struct guess_words words = { 0 };

    guess_words_add(&words, near);
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        if (guess_words_have(&words, ends[i]))
            return true;
    }
    return false;
}

static void write_literal(struct buf *out, const struct literal *literal, const char *variable)
{
    if (str_eq(str_of(literal->pattern), STR("yyyy-MM-dd")))
        buf_printf(out, "${date(window.%s)}", variable);
    else if (str_eq(str_of(literal->pattern), STR("yyyy-MM-dd'T'HH:mm:ss'Z'")))
        buf_printf(out, "${datetime(window.%s)}", variable);
    else
        buf_printf(out, "${formatDateTime(window.%s, \"%s\")}", variable, literal->pattern);
}

/* The text before a date, back to the last comma or bracket: what the date is called. */
static struct str near_of(const struct guess_dates_input *input, size_t at)
{
    size_t from = at;

    if (input->name.len == 0) /* the parts of a path have no names */
        return STR("");
    while (from > 0 && input->text.data[from - 1] != ',' && input->text.data[from - 1] != '&' &&
           input->text.data[from - 1] != ' ')
        from--;
    return from == at ? input->name : str_slice(input->text, from, at);
}

/* True when the date became an end of the window. */
static bool place(struct guess_date_text *window, struct arena *arena, struct str near, char after,
                  const struct literal *literal, struct buf *out)
{
    const bool is_first = window->pattern.len == 0;

    if (!is_first && window->has_end)
        return false;
    if (is_first) {
        window->pattern = arena_copy(arena, str_of(literal->pattern));
        window->granularity = literal->granularity;
        window->near = near;
        if (!is_end(near)) {
            write_literal(out, literal, "from");
            return true;
        }
    }
    window->has_end = true;
    window->shows_end = after == '}' || after == ']';
    write_literal(out, literal, after == '}' ? "to" : "last");
    return true;
}

struct str guess_dates(struct guess_date_text *window, struct arena *arena,
                       const struct guess_dates_input *input)
{
    const struct str text = input->text;
    struct literal literal;
    struct buf out;

    buf_init(&out, arena, (size_t)1 << 16);
    for (size_t at = 0; at < text.len;) {
        const struct str rest = str_slice(text, at, text.len);

        if (is_digit(text.data[at]) && (at == 0 || !is_digit(text.data[at - 1])) &&
            scan_literal(arena, rest, input->name.len == 0, &literal)) {
            const char after = literal.len < rest.len ? rest.data[literal.len] : '\0';

            if (place(window, arena, near_of(input, at), after, &literal, &out)) {
                at += literal.len;
                continue;
            }
        }
        if (str_starts(rest, STR("${")))
            buf_add_char(&out, '$');
        buf_add_char(&out, text.data[at++]);
    }
    return out.failed ? STR("") : buf_str(&out);
}
