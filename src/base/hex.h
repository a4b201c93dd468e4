/* hex: hexadecimal digits, read. buf_add_hex writes them (base/buf.h).
 *
 * Formats differ in the letters they allow: a URL has %2f and %2F, what patra writes itself has
 * only small letters. The caller chooses.
 */
#ifndef PATRA_BASE_HEX_H
#define PATRA_BASE_HEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* 0 to 15, with letters of either case; -1: not a digit. */
static inline int hex_digit(char c)
{
    const char small = (char)(c | 0x20);

    if (c >= '0' && c <= '9')
        return c - '0';
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

/* The same with small letters only. */
static inline int hex_small_digit(char c)
{
    return c >= 'A' && c <= 'F' ? -1 : hex_digit(c);
}

static inline bool hex_is_digit(char c)
{
    return hex_digit(c) >= 0;
}

/* Of up to eight digits that were judged before; of anything else it is some number. */
static inline uint32_t hex_number(struct str digits)
{
    uint32_t number = 0;

    for (size_t i = 0; i < digits.len; i++)
        number = number << 4 | ((uint32_t)hex_digit(digits.data[i]) & 0x0F);
    return number;
}

#endif
