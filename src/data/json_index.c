/* The indexer: one pass from front to back, a state for what may come next.
 *
 *              ┌────────── , in an array ──────────┐
 *              v                                   │
 *      ──> VALUE ── scalar, or the end of ] } ──> AFTER ──> end of the text
 *            │ ^                                   │
 *          { │ └──── : ──── NAME <── , in an object┘
 *            └──────────────^
 *
 * While an object or array is open, its span has what closing it needs: `end` is its own offset,
 * `next` the span around it. So the spans are the stack, and depth needs no other memory.
 */
#include "data/json.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "data/json_scan.h"
#include "data/utf8.h"

enum { NO_SPAN = UINT32_MAX };

struct indexer {
    const char *begin;
    const char *end;
    struct json_span *spans;
    uint32_t count;
    uint32_t capacity;
    uint32_t open; /* the innermost open span, or NO_SPAN */
    uint32_t depth;
    uint32_t depth_max;
    struct arena *arena; /* NULL: only validate; a span is dropped when it closes */

    const char *fault_at; /* the place and the reason of the first fault */
    const char *fault;
    bool fault_is_limit;
};

static const char *refuse(struct indexer *x, const char *at, const char *what)
{
    x->fault_at = at;
    x->fault = what;
    return NULL;
}

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

static bool is_short_escape(char c)
{
    return c == '/' || c == '"' || c == '\\' || c == 'n' || c == 't' || c == 'r' || c == 'b' ||
           c == 'f';
}

static const char *pass_escape(struct indexer *x, const char *at)
{
    if (x->end - at < 2)
        return refuse(x, x->end, "expected the rest of an escape");
    if (is_short_escape(at[1]))
        return at + 2;
    if (at[1] != 'u')
        return refuse(x, at,
                      "unknown escape: one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t "
                      "\\uXXXX was expected");
    for (int i = 2; i < 6; i++) {
        if (at + i >= x->end || !hex_is_digit(at[i]))
            return refuse(x, at, "expected four hexadecimal digits after \\u");
    }
    return at + 6;
}

/* The place after a run of bytes above ASCII: texts in other scripts have long runs. */
static const char *pass_utf8(struct indexer *x, const char *at)
{
    while (at < x->end && (unsigned char)*at >= 0x80) {
        const size_t len = utf8_sequence(at, x->end);

        if (len == 0)
            return refuse(x, at, "not well-formed UTF-8");
        at += len;
    }
    return at;
}

/* The rest of a string, from its first byte that is not plain. */
static __attribute__((noinline)) const char *pass_special(struct indexer *x, const char *at)
{
    for (;;) {
        if (at == x->end)
            return refuse(x, at, "expected the closing \" of a string");
        if (*at == '"')
            return at + 1;
        if (*at == '\\')
            at = pass_escape(x, at);
        else if ((unsigned char)*at >= 0x80)
            at = pass_utf8(x, at);
        else
            return refuse(x, at, "a control character must be escaped inside a string");
        if (at == NULL)
            return NULL;
        at = json_scan_plain(at, x->end);
    }
}

/* `at` is after the opening quote; returns the place after the closing one. */
static inline const char *pass_string(struct indexer *x, const char *at)
{
    at = json_scan_plain(at, x->end);
    if (at < x->end && *at == '"')
        return at + 1;
    return pass_special(x, at);
}

static const char *pass_digits(struct indexer *x, const char *at)
{
    if (!is_digit(at, x->end))
        return refuse(x, at, "expected a digit");
    while (is_digit(at, x->end))
        at++;
    return at;
}

static const char *pass_number(struct indexer *x, const char *at)
{
    if (*at == '-')
        at++;
    if (is_digit(at, x->end) && *at == '0') {
        at++;
        if (is_digit(at, x->end))
            return refuse(x, at, "a number has no leading zeros");
    } else if ((at = pass_digits(x, at)) == NULL) {
        return NULL;
    }
    if (at < x->end && *at == '.' && (at = pass_digits(x, at + 1)) == NULL)
        return NULL;
    if (at < x->end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < x->end && (*at == '+' || *at == '-'))
            at++;
        return pass_digits(x, at);
    }
    return at;
}

static const char *pass_word(struct indexer *x, const char *at)
{
    static const struct str words[] = { STR_INIT("true"), STR_INIT("false"), STR_INIT("null") };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if ((size_t)(x->end - at) >= words[i].len && memcmp(at, words[i].data, words[i].len) == 0)
            return at + words[i].len;
    }
    return refuse(x, at, "expected a value: one of { [ \" a number true false null");
}

static bool more_spans(struct indexer *x)
{
    const uint32_t capacity = x->capacity * 2;
    struct json_span *spans;

    if (x->arena == NULL)
        return false;
    spans = arena_grow(x->arena, x->spans, x->capacity * sizeof(*spans),
                       (size_t)capacity * sizeof(*spans));
    if (spans == NULL)
        return false;
    x->spans = spans;
    x->capacity = capacity;
    return true;
}

static const char *push(struct indexer *x, const char *at)
{
    if (x->depth == x->depth_max) {
        x->fault_is_limit = true;
        return refuse(x, at, "nested deeper than allowed");
    }
    if (x->count == x->capacity && !more_spans(x)) {
        x->fault_is_limit = true;
        return refuse(x, at, "out of memory for more objects and arrays");
    }
    x->spans[x->count] = (struct json_span){ (uint32_t)(at - x->begin), x->open };
    x->open = x->count++;
    x->depth++;
    return at + 1;
}

/* `at` is at the bracket that closes the innermost span; returns what closes the one around it. */
static const char *pop(struct indexer *x, const char *at, char *closer)
{
    struct json_span *span = &x->spans[x->open];
    const uint32_t around = span->next;

    *span = (struct json_span){ (uint32_t)(at + 1 - x->begin), x->count };
    if (x->arena == NULL)
        x->count = x->open;
    x->open = around;
    x->depth--;
    /* '{' + 2 is '}', '[' + 2 is ']'. */
    *closer = around == NO_SPAN ? '\0' : (char)(x->begin[x->spans[around].end] + 2);
    return at + 1;
}

/* A member's name and the colon after it. */
static const char *pass_name(struct indexer *x, const char *at)
{
    at = json_scan_space(at, x->end);
    if (at == x->end || *at != '"')
        return refuse(x, at, "expected a name in double quotes");
    at = pass_string(x, at + 1);
    if (at == NULL)
        return NULL;
    at = json_scan_space(at, x->end);
    if (at == x->end || *at != ':')
        return refuse(x, at, "expected : after the name");
    return at + 1;
}

static const char *pass_scalar(struct indexer *x, const char *at)
{
    if (*at == '"')
        return pass_string(x, at + 1);
    if (*at == '-' || is_digit(at, x->end))
        return pass_number(x, at);
    return pass_word(x, at);
}

/* One whole value; returns the place after it. */
static const char *pass_value(struct indexer *x, const char *at)
{
    char closer = '\0'; /* what closes the innermost open span; NUL: none is open */

value:
    at = json_scan_space(at, x->end);
    if (at == x->end)
        return refuse(x, at, "expected a value");
    if (*at == '{' || *at == '[') {
        closer = (char)(*at + 2);
        at = push(x, at);
        if (at == NULL)
            return NULL;
        at = json_scan_space(at, x->end);
        if (at < x->end && *at == closer)
            at = pop(x, at, &closer);
        else if (closer == '}')
            goto name;
        else
            goto value;
    } else if ((at = pass_scalar(x, at)) == NULL) {
        return NULL;
    }
after:
    if (closer == '\0')
        return at;
    at = json_scan_space(at, x->end);
    if (at == x->end)
        return refuse(x, at, closer == '}' ? "expected , or }" : "expected , or ]");
    if (*at == closer) {
        at = pop(x, at, &closer);
        goto after;
    }
    if (*at != ',')
        return refuse(x, at, closer == '}' ? "expected , or }" : "expected , or ]");
    at++;
    if (closer == ']')
        goto value;
name:
    at = pass_name(x, at);
    if (at == NULL)
        return NULL;
    goto value;
}

/* The whole text; *root is the start of its value. */
static bool pass_text(struct indexer *x, struct str text, const char **root)
{
    const char *at = text.len > 0 ? text.data : "";

    x->begin = at;
    x->end = at + text.len;
    if (x->end - at >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    at = json_scan_space(at, x->end);
    *root = at;
    at = pass_value(x, at);
    if (at == NULL)
        return false;
    at = json_scan_space(at, x->end);
    if (at != x->end) {
        (void)refuse(x, at, "expected nothing after the value");
        return false;
    }
    assert(x->depth == 0);
    return true;
}

static bool fault_error(const struct indexer *x, struct error *err)
{
    size_t line = 1, column = 1;
    char found[16] = "the end";

    for (const char *at = x->begin; at < x->fault_at; at++) {
        column++;
        if (*at == '\n') {
            line++;
            column = 1;
        }
    }
    if (x->fault_at < x->end) {
        const unsigned char c = (unsigned char)*x->fault_at;

        if (c > 0x20 && c < 0x7F)
            (void)snprintf(found, sizeof(found), "'%c'", c);
        else
            (void)snprintf(found, sizeof(found), "byte 0x%02X", c);
    }
    return error_set(err, ERROR_REQUEST, x->fault_is_limit ? "json.limit" : "json.syntax",
                     "JSON: offset %zu (line %zu, column %zu): %s, found %s",
                     (size_t)(x->fault_at - x->begin), line, column, x->fault, found);
}

bool json_error_is_limit(const struct error *err)
{
    return strcmp(err->code, "json.limit") == 0;
}

bool json_parse_again(struct json_doc *doc, struct str text, struct error *err)
{
    struct indexer x = { .spans = doc->spans,
                         .capacity = doc->span_capacity,
                         .open = NO_SPAN,
                         .depth_max = doc->depth_max,
                         .arena = doc->arena };
    const char *root;
    bool ok;

    if (text.len > JSON_BYTES_MAX)
        return error_set(err, ERROR_REQUEST, "json.limit", "JSON: %zu bytes exceed the limit of %d",
                         text.len, JSON_BYTES_MAX);
    ok = pass_text(&x, text, &root);
    doc->text = text;
    doc->spans = x.spans;
    doc->span_count = x.count;
    doc->span_capacity = x.capacity;
    if (!ok && x.arena->failed && x.fault_is_limit)
        return arena_error(x.arena, err);
    if (!ok)
        return fault_error(&x, err);
    doc->root = (uint32_t)(root - x.begin);
    return true;
}

bool json_parse_depth(struct json_doc *doc, struct arena *arena, struct str text,
                      uint32_t depth_max, struct error *err)
{
    /* Pages of records have a span per 50 to 150 bytes; for denser ones the array grows. */
    const uint32_t capacity = (uint32_t)(text.len <= JSON_BYTES_MAX ? text.len / 64 : 0) + 16;

    assert(depth_max >= 1);
    assert(depth_max <= JSON_DEPTH_MAX);
    *doc = (struct json_doc){ .arena = arena, .depth_max = depth_max };
    doc->spans = ARENA_ARRAY(arena, struct json_span, capacity);
    if (doc->spans == NULL)
        return arena_error(arena, err);
    doc->span_capacity = capacity;
    return json_parse_again(doc, text, err);
}

bool json_parse(struct json_doc *doc, struct arena *arena, struct str text, struct error *err)
{
    return json_parse_depth(doc, arena, text, JSON_DEPTH_MAX, err);
}

bool json_is_valid(struct str text)
{
    struct json_span open[JSON_DEPTH_MAX];
    struct indexer x = {
        .spans = open, .capacity = JSON_DEPTH_MAX, .open = NO_SPAN, .depth_max = JSON_DEPTH_MAX
    };
    const char *root;

    return text.len <= JSON_BYTES_MAX && pass_text(&x, text, &root);
}
