/* Patterns are read token by token: to check them, and to write an instant. */
#include "data/date_pattern.h"

#include <assert.h>

#include "base/instant.h"
#include "base/quote.h"

static const char *const month_names[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
static const char *const weekday_names[] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };

enum field {
    YEAR,
    YEAR_SHORT,
    MONTH,
    MONTH_NAME,
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    FRACTION,
    WEEKDAY,
    ZONE
};

/* A run of one letter, `least` to `most` times, and the field it means. */
static const struct run {
    char letter;
    int least;
    int most;
    enum field field;
} runs[] = {
    { 'y', 4, 4, YEAR },       { 'y', 2, 2, YEAR_SHORT }, { 'M', 1, 2, MONTH },
    { 'M', 3, 3, MONTH_NAME }, { 'd', 1, 2, DAY },        { 'H', 1, 2, HOUR },
    { 'm', 1, 2, MINUTE },     { 's', 1, 2, SECOND },     { 'S', 1, 6, FRACTION },
    { 'E', 3, 3, WEEKDAY },    { 'X', 1, 1, ZONE },
};

struct token {
    struct str text;       /* of the pattern: a run, a quoted text with its quotes, one character */
    const struct run *run; /* NULL for text */
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const struct run *find_run(struct str text)
{
    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        if (runs[i].letter == text.data[0] && text.len >= (size_t)runs[i].least &&
            text.len <= (size_t)runs[i].most)
            return &runs[i];
    }
    return NULL;
}

/* Length of the quoted text at the front, with both quotes; a doubled quote does not end it. Zero
 * when the closing quote is missing. */
static size_t quoted_len(struct str rest)
{
    size_t i = 1;

    if (str_starts(rest, STR("''")))
        return 2;
    while (i < rest.len) {
        if (rest.data[i] != '\'')
            i++;
        else if (i + 1 < rest.len && rest.data[i + 1] == '\'')
            i += 2;
        else
            return i + 1;
    }
    return 0;
}

/* The token at the front of `rest`, which is not empty; false when there is none. */
static bool take_token(struct str *rest, struct token *token)
{
    const char first = rest->data[0];
    size_t len = 1;

    if (first == '\'') {
        len = quoted_len(*rest);
        if (len == 0)
            return false; /* the closing quote is missing */
    } else if (is_letter(first)) {
        while (len < rest->len && rest->data[len] == first)
            len++;
    }
    token->text = str_slice(*rest, 0, len);
    token->run = is_letter(first) ? find_run(token->text) : NULL;
    *rest = str_slice(*rest, len, rest->len);
    return token->run != NULL || !is_letter(first);
}

bool date_pattern_check(struct str pattern, struct error *err)
{
    struct str rest = pattern;
    struct token token;

    if (pattern.len == 0)
        return error_set(err, ERROR_REQUEST, "date.pattern", "the pattern is empty");
    while (rest.len > 0) {
        const size_t at = pattern.len - rest.len;

        if (!take_token(&rest, &token)) {
            return error_set(err, ERROR_REQUEST, "date.pattern", "pattern %s, offset %zu: %s",
                             QUOTE(pattern), at,
                             pattern.data[at] == '\''
                                 ? "a quote is not closed"
                                 : "unknown field; use yyyy yy MM M MMM dd d HH H mm m ss s "
                                   "S EEE X, and put other letters between single quotes");
        }
    }
    return true;
}

static void add_number(struct buf *out, int number, size_t width)
{
    buf_printf(out, "%0*d", (int)width, number);
}

static void add_fraction(struct buf *out, int microsecond, size_t digits)
{
    int divisor = 1;

    for (size_t i = digits; i < 6; i++)
        divisor *= 10;
    add_number(out, microsecond / divisor, digits);
}

static void add_field(struct buf *out, const struct token *token, int64_t at_us)
{
    const struct civil c = instant_to_civil(at_us);
    const size_t width = token->text.len;

    switch (token->run->field) {
    case YEAR:
        add_number(out, c.year, width);
        return;
    case YEAR_SHORT:
        add_number(out, c.year % 100, width);
        return;
    case MONTH:
        add_number(out, c.month, width);
        return;
    case MONTH_NAME:
        buf_add(out, str_of(month_names[c.month - 1]));
        return;
    case DAY:
        add_number(out, c.day, width);
        return;
    case HOUR:
        add_number(out, c.hour, width);
        return;
    case MINUTE:
        add_number(out, c.minute, width);
        return;
    case SECOND:
        add_number(out, c.second, width);
        return;
    case FRACTION:
        add_fraction(out, c.microsecond, width);
        return;
    case WEEKDAY:
        buf_add(out, str_of(weekday_names[instant_weekday(at_us)]));
        return;
    case ZONE:
        buf_add_char(out, 'Z');
        return;
    }
}

static void add_quoted(struct buf *out, struct str quoted)
{
    const struct str inner = str_slice(quoted, 1, quoted.len - 1);

    if (quoted.len == 2)
        buf_add_char(out, '\''); /* '' */
    for (size_t i = 0; i < inner.len; i++) {
        buf_add_char(out, inner.data[i]);
        i += inner.data[i] == '\''; /* the second of a doubled quote */
    }
}

void date_pattern_write(struct buf *out, struct str pattern, int64_t at_us)
{
    struct token token;

    assert(at_us >= INSTANT_MIN && at_us <= INSTANT_MAX);
    while (pattern.len > 0) {
        const bool taken = take_token(&pattern, &token);

        assert(taken);
        if (token.run != NULL)
            add_field(out, &token, at_us);
        else if (token.text.data[0] == '\'')
            add_quoted(out, token.text);
        else
            buf_add(out, token.text);
    }
}
