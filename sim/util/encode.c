/* Percent-encoding and base64, both ways. */
#include "sim/util/encode.h"

#include <string.h>

/* ---- percent-encoding ---- */

int decode_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool decode_percent(struct arena *arena, struct str raw, bool plus_is_space, struct str *text,
                    struct error *err)
{
    char *out = arena_alloc(arena, raw.len + 1);
    size_t len = 0;

    if (out == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < raw.len; i++) {
        if (raw.data[i] == '%') {
            const int high = i + 1 < raw.len ? decode_hex_digit(raw.data[i + 1]) : -1;
            const int low = i + 2 < raw.len ? decode_hex_digit(raw.data[i + 2]) : -1;

            if (high < 0 || low < 0)
                return error_set(err, ERROR_REQUEST, "escape.broken",
                                 "'%%' at offset %zu is not followed by two hex digits", i);
            out[len++] = (char)(high * 16 + low);
            i += 2;
        } else {
            out[len++] = plus_is_space && raw.data[i] == '+' ? ' ' : raw.data[i];
        }
    }
    *text = (struct str){ out, len };
    return true;
}

void encode_percent(struct buf *out, struct str text)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.data[i];

        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            (c != '\0' && strchr("-._~", c) != NULL)) {
            buf_add_char(out, (char)c);
        } else {
            buf_add_char(out, '%');
            buf_add_char(out, hex[c >> 4]);
            buf_add_char(out, hex[c & 15]);
        }
    }
}

/* ---- base64 ---- */

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char for_urls[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void encode_base64(struct buf *out, struct str bytes, enum base64 kind)
{
    const char *alphabet = kind == BASE64 ? standard : for_urls;

    for (size_t i = 0; i < bytes.len; i += 3) {
        const size_t left = bytes.len - i;
        const uint32_t group = (uint32_t)(unsigned char)bytes.data[i] << 16 |
                               (left > 1 ? (uint32_t)(unsigned char)bytes.data[i + 1] << 8 : 0) |
                               (left > 2 ? (uint32_t)(unsigned char)bytes.data[i + 2] : 0);

        buf_add_char(out, alphabet[group >> 18]);
        buf_add_char(out, alphabet[group >> 12 & 63]);
        if (left > 1)
            buf_add_char(out, alphabet[group >> 6 & 63]);
        else if (kind != BASE64_URL)
            buf_add_char(out, '=');
        if (left > 2)
            buf_add_char(out, alphabet[group & 63]);
        else if (kind != BASE64_URL)
            buf_add_char(out, '=');
    }
}

static int digit_of(char c)
{
    const char *at;

    if (c == '-')
        return 62;
    if (c == '_')
        return 63;
    at = c != '\0' ? strchr(standard, c) : NULL;
    return at != NULL ? (int)(at - standard) : -1;
}

bool decode_base64(struct arena *arena, struct str text, struct str *bytes)
{
    char *out = arena_alloc(arena, text.len + 1);
    uint32_t group = 0;
    int bits = 0;
    size_t len = 0;

    if (out == NULL)
        return false;
    while (text.len > 0 && text.data[text.len - 1] == '=')
        text.len--;
    for (size_t i = 0; i < text.len; i++) {
        const int digit = digit_of(text.data[i]);

        if (digit < 0)
            return false;
        group = group << 6 | (uint32_t)digit;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[len++] = (char)(group >> bits & 0xFF);
        }
    }
    *bytes = (struct str){ out, len };
    return true;
}
