/* json_scan: the inner loops of JSON, 16 bytes at a time.
 *
 * Most bytes of a page are inside strings and need no decision, so speed depends on how fast they
 * are skipped. Each loop exists twice with the same result: SSE2, which every x86-64 has, and
 * plain C, which compares eight bytes as one number. A test compares the two. None of them reads a
 * byte at or after `end`.
 *
 * For src/data/json*.c only.
 */
#ifndef PATRA_DATA_JSON_SCAN_H
#define PATRA_DATA_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(JSON_SCAN_PORTABLE)
#define JSON_SCAN_SSE2 1
#include <emmintrin.h>
#else
#define JSON_SCAN_SSE2 0
#endif

#define JSON_BYTES_OF(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Not 0 exactly when a byte is zero; the lowest bit set belongs to the first such byte. */
static inline uint64_t json_zero_bytes(uint64_t word)
{
    return (word - JSON_BYTES_OF(0x01)) & ~word & JSON_BYTES_OF(0x80);
}

static inline bool json_is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* The first byte that is not plain inside a string: a quote, a backslash, a control character, or
 * a byte of 0x80 and above; `end` when all are plain. */
static inline const char *json_scan_plain_portable(const char *at, const char *end)
{
    while (end - at >= 8) {
        uint64_t word, special;

        memcpy(&word, at, sizeof(word));
        special = json_zero_bytes(word ^ JSON_BYTES_OF('"'));
        special |= json_zero_bytes(word ^ JSON_BYTES_OF('\\'));
        special |= (word - JSON_BYTES_OF(0x20)) & JSON_BYTES_OF(0x80);
        special |= word & JSON_BYTES_OF(0x80);
        if (special != 0)
            break; /* one of these eight is special; the loop below finds which */
        at += 8;
    }
    while (at < end && json_is_plain(*at))
        at++;
    return at;
}

/* The first quote or backslash, or `end`: enough for strings that were validated before. */
static inline const char *json_scan_quote_portable(const char *at, const char *end)
{
    while (end - at >= 8) {
        uint64_t word;

        memcpy(&word, at, sizeof(word));
        if ((json_zero_bytes(word ^ JSON_BYTES_OF('"')) |
             json_zero_bytes(word ^ JSON_BYTES_OF('\\'))) != 0)
            break;
        at += 8;
    }
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

static inline bool json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The first byte that is not white space, or `end`. */
static inline const char *json_scan_space_portable(const char *at, const char *end)
{
    while (at < end && json_is_space(*at))
        at++;
    return at;
}

#if JSON_SCAN_SSE2
static inline const char *json_scan_plain_sse2(const char *at, const char *end)
{
    while (end - at >= 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)at);
        const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        /* Signed: 0x80 and above are negative, so one comparison finds them and the controls. */
        const __m128i odd = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
        const int found = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), odd));

        if (found != 0)
            return at + __builtin_ctz((unsigned)found);
        at += 16;
    }
    return json_scan_plain_portable(at, end);
}

static inline const char *json_scan_quote_sse2(const char *at, const char *end)
{
    while (end - at >= 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)at);
        const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        const int found = _mm_movemask_epi8(_mm_or_si128(quote, backslash));

        if (found != 0)
            return at + __builtin_ctz((unsigned)found);
        at += 16;
    }
    return json_scan_quote_portable(at, end);
}

static inline const char *json_scan_space_sse2(const char *at, const char *end)
{
    while (end - at >= 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)at);
        const __m128i blank = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')),
                                           _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
        const __m128i other = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r')),
                                           _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')));
        const int found = _mm_movemask_epi8(_mm_or_si128(blank, other));

        if (found != 0xFFFF)
            return at + __builtin_ctz(~(unsigned)found);
        at += 16;
    }
    return json_scan_space_portable(at, end);
}
#endif

static inline const char *json_scan_plain(const char *at, const char *end)
{
#if JSON_SCAN_SSE2
    return json_scan_plain_sse2(at, end);
#else
    return json_scan_plain_portable(at, end);
#endif
}

static inline const char *json_scan_quote(const char *at, const char *end)
{
#if JSON_SCAN_SSE2
    return json_scan_quote_sse2(at, end);
#else
    return json_scan_quote_portable(at, end);
#endif
}

/* Most often there is none, or one byte: the loop is for indented documents. */
static inline const char *json_scan_space(const char *at, const char *end)
{
    if (at == end || (unsigned char)*at > ' ')
        return at;
#if JSON_SCAN_SSE2
    return json_scan_space_sse2(at, end);
#else
    return json_scan_space_portable(at, end);
#endif
}

#endif
