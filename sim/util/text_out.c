/* Escapes text for JSON and XML, and writes numbers. */
#include "sim/util/text_out.h"

#define REPLACEMENT STR("\ufffd")

/* Takes one character off the front. Text of a request need not be UTF-8: an invalid byte becomes
 * U+FFFD. */
static struct str take(struct str *rest, uint32_t *code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *c = (const unsigned char *)rest->data;
    const size_t len = c[0] < 0x80   ? 1
                       : c[0] < 0xC0 ? 0
                       : c[0] < 0xE0 ? 2
                       : c[0] < 0xF0 ? 3
                       : c[0] < 0xF8 ? 4
                                     : 0;
    struct str bytes = str_slice(*rest, 0, len);
    bool valid = len > 0 && bytes.len == len;

    *code = len == 1 ? c[0] : c[0] & (0x7FU >> len);
    for (size_t i = 1; valid && i < len; i++) {
        valid = (c[i] & 0xC0) == 0x80;
        *code = *code << 6 | (c[i] & 0x3FU);
    }
    valid = valid && *code >= least[len] && *code <= 0x10FFFF && (*code < 0xD800 || *code > 0xDFFF);
    if (!valid) {
        *code = 0xFFFD;
        bytes = REPLACEMENT;
    }
    *rest = str_slice(*rest, valid ? len : 1, rest->len);
    return bytes;
}

static void add_unit(struct buf *out, uint32_t unit)
{
    buf_printf(out, "\\u%04x", unit);
}

static void add_escaped(struct buf *out, struct str bytes, uint32_t code, int flags)
{
    if (code == '"' || code == '\\' || (code == '/' && (flags & JSON_SLASHES) != 0)) {
        buf_add_char(out, '\\');
        buf_add(out, bytes);
    } else if (code == '\n') {
        buf_add(out, STR("\\n"));
    } else if (code == '\t') {
        buf_add(out, STR("\\t"));
    } else if (code >= 0x20 && (code < 0x80 || (flags & JSON_ASCII) == 0)) {
        buf_add(out, bytes);
    } else if (code >= 0x10000) {
        add_unit(out, 0xD800 + ((code - 0x10000) >> 10));
        add_unit(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
        add_unit(out, code);
    }
}

void text_add_json(struct buf *out, struct str text, int flags)
{
    while (text.len > 0) {
        uint32_t code;
        const struct str bytes = take(&text, &code);

        add_escaped(out, bytes, code, flags);
    }
}

void text_add_json_string(struct buf *out, struct str text)
{
    buf_add_char(out, '"');
    text_add_json(out, text, JSON_PLAIN);
    buf_add_char(out, '"');
}

static bool is_xml_char(uint32_t code)
{
    return (code >= 0x20 || code == '\t' || code == '\n') && code != 0xFFFE && code != 0xFFFF;
}

void text_add_xml(struct buf *out, struct str text, bool references)
{
    while (text.len > 0) {
        uint32_t code;
        const struct str bytes = take(&text, &code);

        if (code == '&')
            buf_add(out, STR("&amp;"));
        else if (code == '<')
            buf_add(out, STR("&lt;"));
        else if (code == '>')
            buf_add(out, STR("&gt;"));
        else if (code == '"')
            buf_add(out, STR("&quot;"));
        else if (references && code >= 0x80)
            buf_printf(out, "&#x%x;", code);
        else
            buf_add(out, is_xml_char(code) ? bytes : REPLACEMENT);
    }
}

void text_add_number(struct buf *out, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    buf_add(out, (struct str){ digits + at, sizeof(digits) - at });
}

void text_add_padded(struct buf *out, uint64_t number, int digits)
{
    char text[20];

    for (int i = digits - 1; i >= 0; i--) {
        text[i] = (char)('0' + number % 10);
        number /= 10;
    }
    buf_add(out, (struct str){ text, (size_t)digits });
}
