/* From text to segments and selectors; filters are in jsonpath_filter.c. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/hex.h"
#include "data/jsonpath_program.h"
#include "data/utf8.h"

/* RFC 9535 limits integers to what a double represents exactly. */
#define INTEGER_MAX INT64_C(9007199254740991)

bool path_fault(struct path_parser *p, const char *at, const char *what)
{
    char found[16] = "the end";

    if (at < p->end) {
        const unsigned char c = (unsigned char)*at;

        if (c > 0x20 && c < 0x7F)
            (void)snprintf(found, sizeof(found), "'%c'", c);
        else
            (void)snprintf(found, sizeof(found), "byte 0x%02X", c);
    }
    p->fault_at = (size_t)(at - p->begin);
    return error_set(p->err, ERROR_REQUEST, "jsonpath.syntax",
                     "JSONPath %.*s: offset %zu: %s, found %s",
                     (int)(p->end - p->begin < 200 ? p->end - p->begin : 200), p->begin,
                     p->fault_at, what, found);
}

bool path_no_memory(struct path_parser *p)
{
    return arena_error(p->arena, p->err);
}

static bool is_blank(const struct path_parser *p)
{
    return p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r');
}

void path_skip_space(struct path_parser *p)
{
    while (is_blank(p))
        p->at++;
}

bool path_is_at(const struct path_parser *p, struct str text)
{
    return str_starts((struct str){ p->at, (size_t)(p->end - p->at) }, text);
}

bool path_take(struct path_parser *p, struct str text)
{
    if (!path_is_at(p, text))
        return false;
    p->at += text.len;
    return true;
}

bool path_enter(struct path_parser *p)
{
    if (p->nest == JSONPATH_NEST_MAX)
        return path_fault(p, p->at, "filters, parentheses and functions are nested too deeply");
    p->nest++;
    return true;
}

void path_leave(struct path_parser *p)
{
    assert(p->nest > 0);
    p->nest--;
}

/* ---- strings ---- */

static bool read_hex4(struct path_parser *p, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        const int digit = p->at < p->end ? hex_digit(*p->at) : -1;

        if (digit < 0)
            return path_fault(p, p->at, "expected four hexadecimal digits after \\u");
        *value = *value << 4 | (uint32_t)digit;
    }
    return true;
}

/* After "\u": a code point, of one escape or two. */
static bool read_unicode(struct path_parser *p, uint32_t *point)
{
    const char *const start = p->at - 2;
    uint32_t low;

    if (!read_hex4(p, point))
        return false;
    if (*point < 0xD800 || *point > 0xDFFF)
        return true;
    if (*point > 0xDBFF || !path_take(p, STR("\\u")))
        return path_fault(p, start, "half of a surrogate pair");
    if (!read_hex4(p, &low))
        return false;
    if (low < 0xDC00 || low > 0xDFFF)
        return path_fault(p, start, "half of a surrogate pair");
    *point = 0x10000 + ((*point - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

/* After a backslash, inside quotes of this kind. */
static bool read_escape(struct path_parser *p, char quote, uint32_t *point)
{
    static const char from[] = "\\/bfnrt";
    static const char to[] = "\\/\b\f\n\r\t";
    const char *const start = p->at - 1;
    const char *hit;

    if (p->at == p->end)
        return path_fault(p, p->at, "expected the rest of an escape");
    if (*p->at == quote) {
        *point = (unsigned char)quote;
        p->at++;
        return true;
    }
    if (path_take(p, STR("u")))
        return read_unicode(p, point);
    hit = *p->at != '\0' ? strchr(from, *p->at) : NULL;
    if (hit == NULL)
        return path_fault(p, start,
                          "unknown escape; use \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX and the "
                          "quote itself");
    *point = (unsigned char)to[hit - from];
    p->at++;
    return true;
}

bool path_read_string(struct path_parser *p, struct str *out)
{
    const char quote = *p->at++;
    struct buf text;

    buf_init(&text, p->arena, JSONPATH_BYTES_MAX);
    for (;;) {
        char bytes[UTF8_BYTES_MAX];
        uint32_t point;

        if (p->at == p->end)
            return path_fault(p, p->at,
                              quote == '"' ? "expected the closing \"" : "expected the closing '");
        if ((unsigned char)*p->at < 0x20)
            return path_fault(p, p->at, "a control character must be escaped");
        point = utf8_next(&p->at, p->end);
        if (point == (unsigned char)quote)
            break;
        if (point == '\\' && !read_escape(p, quote, &point))
            return false;
        buf_add(&text, (struct str){ bytes, utf8_encode(point, bytes) });
    }
    *out = buf_str(&text);
    return buf_ok(&text, p->err);
}

/* ---- selectors ---- */

static bool is_name_first(const struct path_parser *p)
{
    const unsigned char c = p->at < p->end ? (unsigned char)*p->at : 0;

    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static bool is_digit(const struct path_parser *p)
{
    return p->at < p->end && *p->at >= '0' && *p->at <= '9';
}

/* After a dot: name-first *name-char. */
static bool read_shorthand(struct path_parser *p, struct path_selector *selector)
{
    const char *const start = p->at;

    if (!is_name_first(p))
        return path_fault(p, p->at,
                          "expected a name or * after the dot; other names are written "
                          "['like-this']");
    while (is_name_first(p) || is_digit(p))
        p->at++;
    if (p->at < p->end && *p->at == '-')
        return path_fault(p, p->at, "a name with - in it is written ['like-this']");
    selector->kind = SELECT_NAME;
    selector->name = (struct str){ start, (size_t)(p->at - start) };
    return true;
}

static bool read_integer(struct path_parser *p, int64_t *value)
{
    const char *const start = p->at;
    const bool negative = path_take(p, STR("-"));
    const char *const digits = p->at;

    *value = 0;
    while (is_digit(p)) {
        *value = *value * 10 + (*p->at - '0');
        if (*value > INTEGER_MAX)
            return path_fault(p, start, "an integer beyond 2^53 - 1");
        p->at++;
    }
    if (p->at == digits)
        return path_fault(p, p->at, "expected a digit");
    if (*digits == '0' && (negative || p->at - digits > 1))
        return path_fault(p, start, "an integer has no leading zeros, and no -0");
    if (negative)
        *value = -*value;
    return true;
}

static bool is_integer(const struct path_parser *p)
{
    return is_digit(p) || path_is_at(p, STR("-"));
}

/* An index, or a slice: start, end and step are each optional; the colon makes it a slice. */
static bool read_index_or_slice(struct path_parser *p, struct path_selector *selector)
{
    const char *after;

    selector->kind = SELECT_INDEX;
    if (is_integer(p)) {
        if (!read_integer(p, &selector->index))
            return false;
        selector->has_start = true;
    }
    after = p->at;
    path_skip_space(p);
    if (!path_take(p, STR(":"))) {
        p->at = after;
        return true;
    }
    selector->kind = SELECT_SLICE;
    selector->step = 1;
    path_skip_space(p);
    if (is_integer(p)) {
        if (!read_integer(p, &selector->end))
            return false;
        selector->has_end = true;
        path_skip_space(p);
    }
    if (path_take(p, STR(":"))) {
        path_skip_space(p);
        if (is_integer(p) && !read_integer(p, &selector->step))
            return false;
    }
    return true;
}

static bool read_selector(struct path_parser *p, struct path_selector *selector)
{
    struct path_expr *filter;

    if (p->at < p->end && (*p->at == '\'' || *p->at == '"')) {
        selector->kind = SELECT_NAME;
        return path_read_string(p, &selector->name);
    }
    if (path_take(p, STR("*"))) {
        selector->kind = SELECT_ALL;
        return true;
    }
    if (path_take(p, STR("?"))) {
        selector->kind = SELECT_FILTER;
        if (!path_read_filter(p, &filter))
            return false;
        selector->filter = filter;
        return true;
    }
    if (is_integer(p) || path_is_at(p, STR(":")))
        return read_index_or_slice(p, selector);
    if (is_name_first(p))
        return path_fault(p, p->at, "a name inside [] needs quotes: ['name']");
    return path_fault(p, p->at, "expected a selector: 'name', *, an index, a slice or ?filter");
}

static struct path_selector *new_selector(struct path_parser *p)
{
    struct path_selector *selector = ARENA_NEW(p->arena, struct path_selector);

    if (selector == NULL)
        (void)path_no_memory(p);
    return selector;
}

/* After "[". */
static bool read_bracketed(struct path_parser *p, struct path_segment *segment)
{
    struct path_selector **last = &segment->selectors;

    do {
        segment->blanks = segment->blanks || is_blank(p);
        path_skip_space(p);
        *last = new_selector(p);
        if (*last == NULL || !read_selector(p, *last))
            return false;
        last = &(*last)->next;
        segment->blanks = segment->blanks || is_blank(p);
        path_skip_space(p);
    } while (path_take(p, STR(",")));
    if (!path_take(p, STR("]")))
        return path_fault(p, p->at, "expected , or ]");
    return true;
}

/* ---- segments ---- */

/* At ".", ".." or "[". */
static bool read_segment(struct path_parser *p, struct path_segment *segment)
{
    bool dot = false;

    segment->descendant = path_take(p, STR(".."));
    if (!segment->descendant)
        dot = path_take(p, STR("."));
    if (!dot && path_take(p, STR("[")))
        return read_bracketed(p, segment);
    segment->selectors = new_selector(p);
    if (segment->selectors == NULL)
        return false;
    if (path_take(p, STR("*"))) {
        segment->selectors->kind = SELECT_ALL;
        return true;
    }
    return read_shorthand(p, segment->selectors);
}

static bool is_singular(const struct path_segment *segment)
{
    return !segment->descendant && segment->selectors->next == NULL &&
           (segment->selectors->kind == SELECT_NAME || segment->selectors->kind == SELECT_INDEX);
}

bool path_read_query(struct path_parser *p, struct path_query *query)
{
    struct path_segment **last = &query->segments;

    *query = (struct path_query){ .relative = *p->at == '@', .singular = true };
    p->at++;
    for (;;) {
        const char *const after = p->at;

        path_skip_space(p);
        if (!path_is_at(p, STR(".")) && !path_is_at(p, STR("["))) {
            p->at = after; /* white space belongs to the path only between segments */
            return true;
        }
        *last = ARENA_NEW(p->arena, struct path_segment);
        if (*last == NULL)
            return path_no_memory(p);
        if (!read_segment(p, *last))
            return false;
        query->singular = query->singular && is_singular(*last);
        query->blanks = query->blanks || (*last)->blanks;
        last = &(*last)->next;
    }
}

static bool read_whole(struct path_parser *p, struct jsonpath *path)
{
    if (p->end - p->begin > JSONPATH_BYTES_MAX)
        return path_fault(p, p->begin, "the path is too long");
    if (!str_is_utf8(path->text))
        return path_fault(p, p->begin, "the path is not UTF-8");
    if (!path_is_at(p, STR("$")))
        return path_fault(p, p->at, "a path starts with $");
    if (!path_read_query(p, &path->query))
        return false;
    if (p->at < p->end)
        return path_fault(p, p->at, "expected ., .., [ or the end");
    return true;
}

bool jsonpath_compile(struct arena *arena, struct str text, const struct jsonpath **out,
                      size_t *fault_at, struct error *err)
{
    struct path_parser p = { .arena = arena, .err = err };
    struct jsonpath *path = ARENA_NEW(arena, struct jsonpath);

    if (fault_at != NULL)
        *fault_at = 0;
    if (path == NULL)
        return arena_error(arena, err);
    path->text = arena_copy(arena, text);
    if (path->text.data == NULL)
        return arena_error(arena, err);
    p.begin = p.at = path->text.data;
    p.end = p.begin + path->text.len;
    if (!read_whole(&p, path)) {
        if (fault_at != NULL)
            *fault_at = p.fault_at;
        return false;
    }
    path->warning = p.warning;
    *out = path;
    return true;
}
