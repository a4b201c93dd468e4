/* canon: separators, escapes and the forms of values. */
#include "core/canon.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/instant.h"

static void quoted(struct buf *out, struct str s)
{
    size_t plain = 0; /* start of what needs no escape */

    buf_add_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        const unsigned char c = (unsigned char)s.data[i];
        const char *found;

        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        buf_add(out, str_slice(s, plain, i));
        plain = i + 1;
        found = c != 0 ? strchr("\"\"\\\\\bb\ff\nn\rr\tt", c) : NULL;
        if (found != NULL)
            buf_printf(out, "\\%c", found[1]);
        else
            buf_printf(out, "\\u%04x", c);
    }
    buf_add(out, str_slice(s, plain, s.len));
    buf_add_char(out, '"');
}

/* Writes what precedes a value: the comma and, in an object, the key. */
static void lead(struct canon *canon, const char *key)
{
    const int level = canon->depth - 1;

    assert(level >= 0);
    assert(canon->levels[level].is_array == (key == NULL));
    if (canon->levels[level].has_items)
        buf_add_char(canon->out, ',');
    canon->levels[level].has_items = true;
    if (key == NULL)
        return;
    assert(canon->levels[level].last_key == NULL || strcmp(canon->levels[level].last_key, key) < 0);
    canon->levels[level].last_key = key;
    quoted(canon->out, str_of(key));
    buf_add_char(canon->out, ':');
}

static void open_level(struct canon *canon, bool is_array)
{
    assert(canon->depth < CANON_DEPTH_MAX);
    memset(&canon->levels[canon->depth], 0, sizeof(canon->levels[0]));
    canon->levels[canon->depth++].is_array = is_array;
    buf_add_char(canon->out, is_array ? '[' : '{');
}

struct canon canon_begin(struct buf *out)
{
    struct canon canon = { .out = out };

    open_level(&canon, false);
    return canon;
}

void canon_end(struct canon *canon)
{
    assert(canon->depth == 1);
    canon_close(canon);
}

void canon_object(struct canon *canon, const char *key)
{
    lead(canon, key);
    open_level(canon, false);
}

void canon_array(struct canon *canon, const char *key)
{
    lead(canon, key);
    open_level(canon, true);
}

void canon_close(struct canon *canon)
{
    assert(canon->depth > 0);
    canon->depth--;
    buf_add_char(canon->out, canon->levels[canon->depth].is_array ? ']' : '}');
}

void canon_str(struct canon *canon, const char *key, struct str value)
{
    lead(canon, key);
    quoted(canon->out, value);
}

void canon_i64(struct canon *canon, const char *key, int64_t value)
{
    assert(value >= -CANON_NUMBER_MAX);
    assert(value <= CANON_NUMBER_MAX);
    lead(canon, key);
    buf_add_i64(canon->out, value);
}

void canon_bool(struct canon *canon, const char *key, bool value)
{
    lead(canon, key);
    buf_add(canon->out, value ? STR("true") : STR("false"));
}

void canon_null(struct canon *canon, const char *key)
{
    lead(canon, key);
    buf_add(canon->out, STR("null"));
}

void canon_instant(struct canon *canon, const char *key, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX + 2] = "\"";
    const size_t len = instant_format(at_us, text + 1); /* contains nothing that needs an escape */

    text[len + 1] = '"';
    lead(canon, key);
    buf_add(canon->out, (struct str){ text, len + 2 });
}

void canon_duration(struct canon *canon, const char *key, int64_t duration_us)
{
    const int64_t seconds = duration_us / US_PER_SECOND % 60;
    int64_t fraction = duration_us % US_PER_SECOND;
    int digits = 6;

    assert(duration_us >= 0);
    lead(canon, key);
    buf_add(canon->out, STR("\"PT"));
    if (duration_us >= US_PER_HOUR)
        buf_printf(canon->out, "%" PRId64 "H", duration_us / US_PER_HOUR);
    if (duration_us / US_PER_MINUTE % 60 > 0)
        buf_printf(canon->out, "%" PRId64 "M", duration_us / US_PER_MINUTE % 60);
    if (seconds > 0 || fraction > 0 || duration_us == 0)
        buf_add_i64(canon->out, seconds);
    for (; fraction > 0 && fraction % 10 == 0; digits--)
        fraction /= 10;
    if (fraction > 0)
        buf_printf(canon->out, ".%0*" PRId64, digits, fraction);
    if (seconds > 0 || fraction > 0 || duration_us == 0)
        buf_add_char(canon->out, 'S');
    buf_add_char(canon->out, '"');
}

void canon_code(struct canon *canon, const char *key, const struct code_table *table, int value)
{
    canon_str(canon, key, code_of(table, value));
}

void canon_id(struct canon *canon, const char *key, int64_t value)
{
    lead(canon, key);
    buf_printf(canon->out, "\"%" PRId64 "\"", value);
}
