/* Decoding and encoding by the lead byte, with the bounds of table 3-7. */
#include "data/utf8.h"

#include <assert.h>
#include <stdbool.h>

static bool is_tail(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

size_t utf8_sequence(const char *at, const char *end)
{
    const size_t room = (size_t)(end - at);
    const unsigned char first = (unsigned char)at[0];
    unsigned char second;

    assert(at < end);
    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4 || room < 2 || !is_tail(at[1]))
        return 0;
    if (first < 0xE0)
        return 2;
    second = (unsigned char)at[1];
    if (room < 3 || !is_tail(at[2]))
        return 0;
    if (first < 0xF0) {
        if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F))
            return 0; /* overlong; a surrogate */
        return 3;
    }
    if (room < 4 || !is_tail(at[3]))
        return 0;
    if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F))
        return 0; /* overlong; beyond U+10FFFF */
    return 4;
}

uint32_t utf8_next(const char **at, const char *end)
{
    const unsigned char first = (unsigned char)**at;
    const size_t len = utf8_sequence(*at, end);
    uint32_t point;

    if (len <= 1) {
        (*at)++;
        return len == 1 ? first : UTF8_REPLACEMENT;
    }
    point = first & (0x7FU >> len);
    for (size_t i = 1; i < len; i++)
        point = (point << 6) | ((unsigned char)(*at)[i] & 0x3FU);
    *at += len;
    return point;
}

size_t utf8_encode(uint32_t point, char out[UTF8_BYTES_MAX])
{
    assert(point <= UTF8_POINT_MAX);
    if (point >= 0xD800 && point <= 0xDFFF)
        point = UTF8_REPLACEMENT;
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xC0 | (point >> 6));
        out[1] = (char)(0x80 | (point & 0x3F));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (char)(0xE0 | (point >> 12));
        out[1] = (char)(0x80 | ((point >> 6) & 0x3F));
        out[2] = (char)(0x80 | (point & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | (point >> 18));
    out[1] = (char)(0x80 | ((point >> 12) & 0x3F));
    out[2] = (char)(0x80 | ((point >> 6) & 0x3F));
    out[3] = (char)(0x80 | (point & 0x3F));
    return 4;
}
