/* In groups of three bytes. */
#include "data/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct buf *out, struct str bytes)
{
    const unsigned char *in = (const unsigned char *)bytes.data;

    for (size_t i = 0; i < bytes.len; i += 3) {
        const size_t left = bytes.len - i;
        const uint32_t group = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
                               (left > 2 ? in[i + 2] : 0);
        const char four[4] = { digits[group >> 18], digits[group >> 12 & 63],
                               left > 1 ? digits[group >> 6 & 63] : '=',
                               left > 2 ? digits[group & 63] : '=' };

        buf_add(out, (struct str){ four, sizeof(four) });
    }
}

static bool value_of(char c, uint32_t *value)
{
    const char *at = c != '\0' ? strchr(digits, c) : NULL;

    if (at == NULL)
        return false;
    *value = (uint32_t)(at - digits);
    return true;
}

bool base64_decode(struct str text, char *out, size_t capacity, size_t *len)
{
    *len = 0;
    if (text.len % 4 != 0)
        return false;
    for (size_t i = 0; i < text.len; i += 4) {
        const char *four = text.data + i;
        const bool is_last = i + 4 == text.len;
        const size_t padding = !is_last ? 0 : (size_t)(four[3] == '=') + (four[2] == '=');
        uint32_t group = 0;

        for (size_t c = 0; c < 4; c++) {
            uint32_t value = 0;

            if (c < 4 - padding && !value_of(four[c], &value))
                return false;
            group = group << 6 | value;
        }
        if ((four[2] == '=' && four[3] != '=') || capacity - *len < 3 - padding ||
            (group & (padding == 2   ? 0xFFFF
                      : padding == 1 ? 0xFF
                                     : 0)) != 0)
            return false;
        for (size_t b = 0; b < 3 - padding; b++)
            out[(*len)++] = (char)(group >> (16 - 8 * b));
    }
    return true;
}
