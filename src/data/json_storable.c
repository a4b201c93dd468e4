/* Searches valid JSON for what a database would refuse. */
#include "data/json_storable.h"

#include "base/buf.h"
#include "base/hex.h"

enum { NUMBER_BYTES_MAX = 400, EXPONENT_DIGITS_MAX = 3, ESCAPE_BYTES = 6 };

#define REPLACEMENT STR("\\ufffd")

bool json_number_is_storable(struct str number)
{
    size_t at = 0;

    while (at < number.len && (number.data[at] | 0x20) != 'e')
        at++;
    if (at < number.len)
        at++;
    if (at < number.len && (number.data[at] == '+' || number.data[at] == '-'))
        at++;
    while (at < number.len && number.data[at] == '0')
        at++;
    return number.len <= NUMBER_BYTES_MAX && number.len - at <= EXPONENT_DIGITS_MAX;
}

/* Where the search is in a text. */
struct scan {
    struct str json;
    size_t at;
    bool is_in_string;
};

struct refused {
    size_t at;
    size_t len;
    bool is_number;
};

static bool is_low(const struct scan *scan, size_t at)
{
    const struct str text = str_slice(scan->json, at, at + ESCAPE_BYTES);
    const uint32_t unit = text.len == ESCAPE_BYTES && str_starts(text, STR("\\u"))
                              ? hex_number(str_slice(text, 2, ESCAPE_BYTES))
                              : 0;

    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* At a backslash: steps over the escape. Returns whether it is refused. */
static bool take_escape(struct scan *scan)
{
    const size_t at = scan->at;
    uint32_t unit;

    scan->at += 2;
    if (scan->json.data[at + 1] != 'u')
        return false;
    unit = hex_number(str_slice(scan->json, at + 2, at + ESCAPE_BYTES));
    scan->at = at + ESCAPE_BYTES;
    if (unit >= 0xD800 && unit <= 0xDBFF && is_low(scan, scan->at)) {
        scan->at += ESCAPE_BYTES;
        return false;
    }
    return unit == 0 || (unit >= 0xD800 && unit <= 0xDFFF);
}

static bool is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* At the first character of a number: steps over it. */
static bool take_number(struct scan *scan)
{
    const size_t from = scan->at;

    while (scan->at < scan->json.len && is_of_number(scan->json.data[scan->at]))
        scan->at++;
    return !json_number_is_storable(str_slice(scan->json, from, scan->at));
}

static bool next_refused(struct scan *scan, struct refused *refused)
{
    while (scan->at < scan->json.len) {
        const char c = scan->json.data[scan->at];
        const bool is_number = !scan->is_in_string && ((c >= '0' && c <= '9') || c == '-');

        refused->at = scan->at;
        refused->is_number = is_number;
        if (is_number ? take_number(scan) : c == '\\' && take_escape(scan)) {
            refused->len = scan->at - refused->at;
            return true;
        }
        if (is_number || c == '\\')
            continue;
        scan->is_in_string ^= c == '"';
        scan->at++;
    }
    return false;
}

bool json_storable(struct arena *arena, struct str json, struct str *out, struct error *err)
{
    struct scan scan = { .json = json };
    struct refused refused;
    struct buf text;
    size_t done = 0;

    *out = json;
    buf_init(&text, arena, SIZE_MAX / 2);
    while (next_refused(&scan, &refused)) {
        const struct str bytes = str_slice(json, refused.at, refused.at + refused.len);

        buf_add(&text, str_slice(json, done, refused.at));
        if (refused.is_number)
            buf_printf(&text, "\"%.*s\"", STR_ARG(bytes));
        else
            buf_add(&text, REPLACEMENT);
        done = refused.at + refused.len;
    }
    if (done == 0)
        return true;
    buf_add(&text, str_slice(json, done, json.len));
    *out = buf_str(&text);
    return buf_ok(&text, err);
}
