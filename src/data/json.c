/* Walking a document that json_parse() accepted, and reading its values. */
#include "data/json.h"

#include <assert.h>
#include <string.h>

#include "base/hex.h"
#include "data/json_number.h"
#include "data/json_scan.h"
#include "data/utf8.h"

/* Everything below runs over text that json_parse accepted, and relies on it: a string has its
 * closing quote, a container its span, and what is neither is a number or a word. */

static const char *text_at(const struct json_doc *doc, uint32_t at)
{
    return doc->text.data + at;
}

static const char *text_end(const struct json_doc *doc)
{
    return doc->text.data + doc->text.len;
}

static uint32_t offset_of(const struct json_doc *doc, const char *at)
{
    return (uint32_t)(at - doc->text.data);
}

/* `at` is after the opening quote; the result is at the closing one. */
static const char *closing_quote(const char *at, const char *end)
{
    for (;;) {
        at = json_scan_quote(at, end);
        assert(at < end);
        if (*at == '"')
            return at;
        at += 2; /* the backslash and what it escapes; \uXXXX continues with plain digits */
    }
}

static const char *end_of_word(const char *at, const char *end)
{
    while (at < end && *at != ',' && *at != ']' && *at != '}' && !json_is_space(*at))
        at++;
    return at;
}

/* The place after the value at `at`; *span moves to the first span after it. */
static const char *end_of_value(const struct json_doc *doc, const char *at, uint32_t *span)
{
    if (*at == '"')
        return closing_quote(at + 1, text_end(doc)) + 1;
    if (*at == '{' || *at == '[') {
        const struct json_span here = doc->spans[*span];

        assert(*span < doc->span_count);
        *span = here.next;
        return text_at(doc, here.end);
    }
    return end_of_word(at, text_end(doc));
}

struct json_node json_root(const struct json_doc *doc)
{
    return (struct json_node){ doc->root, 0 };
}

bool json_exists(struct json_node node)
{
    return node.at != UINT32_MAX;
}

enum json_type json_type(const struct json_doc *doc, struct json_node node)
{
    if (!json_exists(node))
        return JSON_NONE;
    switch (*text_at(doc, node.at)) {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
    case 'f':
        return JSON_BOOL;
    case 'n':
        return JSON_NULL;
    default:
        return JSON_NUMBER;
    }
}

struct str json_raw(const struct json_doc *doc, struct json_node node)
{
    const char *begin;

    if (!json_exists(node))
        return (struct str){ NULL, 0 };
    begin = text_at(doc, node.at);
    return (struct str){ begin, (size_t)(end_of_value(doc, begin, &node.span) - begin) };
}

struct json_iter json_each(const struct json_doc *doc, struct json_node node)
{
    const enum json_type type = json_type(doc, node);

    /* An iterator that has no more values is at the end of the text. */
    if (type != JSON_OBJECT && type != JSON_ARRAY)
        return (struct json_iter){ .doc = doc, .at = (uint32_t)doc->text.len };
    return (struct json_iter){
        .doc = doc, .at = node.at + 1, .span = node.span + 1, .in_object = type == JSON_OBJECT
    };
}

/* From the closing quote of a name to the first byte of its value. */
static const char *after_colon(const char *quote, const char *end)
{
    const char *colon = json_scan_space(quote + 1, end);

    assert(*colon == ':');
    return json_scan_space(colon + 1, end);
}

bool json_next(struct json_iter *it)
{
    const struct json_doc *doc = it->doc;
    const char *const end = text_end(doc);
    const char *at = json_scan_space(text_at(doc, it->at), end);

    if (at == end || *at == '}' || *at == ']')
        return false;
    if (*at == ',') {
        at = json_scan_space(at + 1, end);
        it->index++;
    }
    it->name = JSON_NODE_NONE;
    if (it->in_object) {
        it->name = (struct json_node){ offset_of(doc, at), it->span };
        at = after_colon(closing_quote(at + 1, end), end);
    }
    it->value = (struct json_node){ offset_of(doc, at), it->span };
    it->at = offset_of(doc, end_of_value(doc, at, &it->span));
    return true;
}

size_t json_iter_bytes(const struct json_iter *it)
{
    const uint32_t begin = it->in_object ? it->name.at : it->value.at;
    const bool scalar = json_type(it->doc, it->value) < JSON_ARRAY;

    return (scalar ? it->at : it->value.at) - begin;
}

static uint32_t hex4(const char *at)
{
    return hex_number((struct str){ at, 4 });
}

/* One code point of an escape; *at moves past it. A pair of surrogates is two escapes. */
static uint32_t unescape_one(const char **at, const char *end)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    const char c = (*at)[1];
    uint32_t point, low;

    if (c != 'u') {
        *at += 2;
        return (uint32_t)to[strchr(from, c) - from];
    }
    point = hex4(*at + 2);
    *at += 6;
    if (point < 0xD800 || point > 0xDFFF)
        return point;
    if (point > 0xDBFF || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return UTF8_REPLACEMENT;
    low = hex4(*at + 2);
    if (low < 0xDC00 || low > 0xDFFF)
        return UTF8_REPLACEMENT;
    *at += 6;
    return 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
}

/* U+FFFD itself may be in a string, so the escapes are checked. */
static bool is_half(struct str escape, uint32_t point)
{
    return point == UTF8_REPLACEMENT && hex4(escape.data + 2) != UTF8_REPLACEMENT;
}

bool json_string_is_whole(const struct json_doc *doc, struct json_node node)
{
    const struct str raw = json_string_raw(doc, node);
    const char *at = raw.data;
    const char *const end = raw.data + raw.len;

    while (at < end && (at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
        const struct str escape = { at, (size_t)(end - at) };

        if (is_half(escape, unescape_one(&at, end)))
            return false;
    }
    return true;
}

size_t json_unescape(struct str raw, char *out)
{
    const char *at = raw.data;
    const char *const end = raw.data + raw.len;
    char *const begin = out;

    while (at < end) {
        const char *stop = memchr(at, '\\', (size_t)(end - at));

        if (stop == NULL)
            stop = end;
        memcpy(out, at, (size_t)(stop - at));
        out += stop - at;
        at = stop;
        if (at < end)
            out += utf8_encode(unescape_one(&at, end), out);
    }
    return (size_t)(out - begin);
}

/* Whether raw decodes to these bytes. */
static bool unescapes_to(struct str raw, struct str value)
{
    const char *at = raw.data;
    const char *const end = raw.data + raw.len;
    size_t done = 0;

    while (at < end) {
        char bytes[UTF8_BYTES_MAX];
        size_t len = 1;

        bytes[0] = *at;
        if (*at == '\\')
            len = utf8_encode(unescape_one(&at, end), bytes);
        else
            at++;
        if (value.len - done < len || memcmp(value.data + done, bytes, len) != 0)
            return false;
        done += len;
    }
    return done == value.len;
}

struct json_node json_get(const struct json_doc *doc, struct json_node object, struct str name)
{
    const char *const end = text_end(doc);
    uint32_t span = object.span + 1;
    const char *at;

    if (json_type(doc, object) != JSON_OBJECT)
        return JSON_NODE_NONE;
    at = json_scan_space(text_at(doc, object.at) + 1, end);
    while (*at == '"') {
        const char *const begin = at + 1;
        const char *quote = json_scan_quote(begin, end);
        bool found;

        if (*quote == '"') { /* no escape, the usual case */
            found = str_eq((struct str){ begin, (size_t)(quote - begin) }, name);
        } else {
            quote = closing_quote(quote, end);
            found = unescapes_to((struct str){ begin, (size_t)(quote - begin) }, name);
        }
        at = after_colon(quote, end);
        if (found)
            return (struct json_node){ offset_of(doc, at), span };
        at = json_scan_space(end_of_value(doc, at, &span), end);
        if (*at == ',')
            at = json_scan_space(at + 1, end);
    }
    return JSON_NODE_NONE;
}

struct json_node json_at(const struct json_doc *doc, struct json_node array, size_t index)
{
    struct json_iter it;

    if (json_type(doc, array) != JSON_ARRAY)
        return JSON_NODE_NONE;
    for (it = json_each(doc, array); json_next(&it);) {
        if (it.index == index)
            return it.value;
    }
    return JSON_NODE_NONE;
}

size_t json_count(const struct json_doc *doc, struct json_node node)
{
    struct json_iter it = json_each(doc, node);
    size_t count = 0;

    while (json_next(&it))
        count++;
    return count;
}

struct str json_string_raw(const struct json_doc *doc, struct json_node node)
{
    const char *begin;

    assert(json_type(doc, node) == JSON_STRING);
    begin = text_at(doc, node.at) + 1;
    return (struct str){ begin, (size_t)(closing_quote(begin, text_end(doc)) - begin) };
}

bool json_string(const struct json_doc *doc, struct json_node node, struct arena *arena,
                 struct str *value, struct error *err)
{
    const struct str raw = json_string_raw(doc, node);
    char *bytes;

    if (str_find_char(raw, '\\') == raw.len) {
        *value = raw;
        return true;
    }
    bytes = arena_alloc(arena, raw.len);
    if (bytes == NULL)
        return arena_error(arena, err);
    *value = (struct str){ bytes, json_unescape(raw, bytes) };
    return true;
}

bool json_string_is(const struct json_doc *doc, struct json_node node, struct str value)
{
    return json_type(doc, node) == JSON_STRING && unescapes_to(json_string_raw(doc, node), value);
}

bool json_i64(const struct json_doc *doc, struct json_node node, int64_t *value)
{
    return json_type(doc, node) == JSON_NUMBER && json_number_i64(json_raw(doc, node), value);
}

bool json_double(const struct json_doc *doc, struct json_node node, double *value)
{
    if (json_type(doc, node) != JSON_NUMBER)
        return false;
    *value = json_number_double(json_raw(doc, node));
    return true;
}

bool json_bool(const struct json_doc *doc, struct json_node node, bool *value)
{
    if (json_type(doc, node) != JSON_BOOL)
        return false;
    *value = *text_at(doc, node.at) == 't';
    return true;
}
