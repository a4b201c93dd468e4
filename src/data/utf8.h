/* utf8: one code point at a time, over arbitrary bytes.
 *
 *      0xxxxxxx                               U+0000..U+007F
 *      110xxxxx 10xxxxxx                      U+0080..U+07FF
 *      1110xxxx 10xxxxxx 10xxxxxx             U+0800..U+FFFF without U+D800..U+DFFF
 *      11110xxx 10xxxxxx 10xxxxxx 10xxxxxx    U+10000..U+10FFFF
 *
 * Well-formed is defined by Unicode's table 3-7: the shortest form only, and no surrogates.
 */
#ifndef PATRA_DATA_UTF8_H
#define PATRA_DATA_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { UTF8_BYTES_MAX = 4, UTF8_REPLACEMENT = 0xFFFD, UTF8_POINT_MAX = 0x10FFFF };

/* Length of the well-formed sequence at `at`, not reading past `end`; 0 when there is none.
 * Requires at < end. */
size_t utf8_sequence(const char *at, const char *end);

/* The code point at *at, which moves past it. Malformed bytes return UTF8_REPLACEMENT and move by
 * one, so the walk always ends. Requires *at < end. */
uint32_t utf8_next(const char **at, const char *end);

/* Writes the point's sequence, returns its length. A surrogate is written as UTF8_REPLACEMENT. */
size_t utf8_encode(uint32_t point, char out[UTF8_BYTES_MAX]);

#endif
