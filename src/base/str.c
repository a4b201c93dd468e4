/* str: comparing, searching, splitting and parsing views; UTF-8 validation. */
#include "base/str.h"

#include <string.h>

struct str str_of(const char *nul_terminated)
{
    if (nul_terminated == NULL)
        return (struct str){ NULL, 0 };
    return (struct str){ nul_terminated, strlen(nul_terminated) };
}

struct str str_slice(struct str s, size_t from, size_t to)
{
    if (to > s.len)
        to = s.len;
    if (from > to)
        from = to;
    return (struct str){ s.len > 0 ? s.data + from : s.data, to - from };
}

bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.data[i]) != lower(b.data[i]))
            return false;
    }
    return true;
}

int str_cmp(struct str a, struct str b)
{
    const size_t common = a.len < b.len ? a.len : b.len;
    const int order = common > 0 ? memcmp(a.data, b.data, common) : 0;

    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool str_starts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_eq(str_slice(s, 0, prefix.len), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.len >= suffix.len && str_eq(str_slice(s, s.len - suffix.len, s.len), suffix);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
    while (s.len > 0 && is_space(s.data[0])) {
        s.data++;
        s.len--;
    }
    while (s.len > 0 && is_space(s.data[s.len - 1]))
        s.len--;
    return s;
}

size_t str_find(struct str s, struct str needle)
{
    const char *hit;

    if (needle.len == 0)
        return 0;
    if (s.len < needle.len)
        return s.len;
    hit = memmem(s.data, s.len, needle.data, needle.len);
    return hit != NULL ? (size_t)(hit - s.data) : s.len;
}

size_t str_find_char(struct str s, char c)
{
    const char *hit = s.len > 0 ? memchr(s.data, c, s.len) : NULL;

    return hit != NULL ? (size_t)(hit - s.data) : s.len;
}

struct str str_cut(struct str *rest, char separator)
{
    const size_t at = str_find_char(*rest, separator);
    const struct str head = str_slice(*rest, 0, at);

    *rest = str_slice(*rest, at + 1, rest->len);
    return head;
}

bool str_to_i64(struct str s, int64_t *value)
{
    bool negative = false;
    int64_t sum = 0;
    size_t i = 0;

    if (s.len > 0 && (s.data[0] == '-' || s.data[0] == '+')) {
        negative = s.data[0] == '-';
        i = 1;
    }
    if (i == s.len)
        return false;
    for (; i < s.len; i++) {
        const int digit = s.data[i] - '0';

        if (digit < 0 || digit > 9)
            return false;
        /* Summed as a negative number: the negative range is larger by one. */
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_sub_overflow(sum, digit, &sum))
            return false;
    }
    if (!negative && sum == INT64_MIN)
        return false;
    *value = negative ? sum : -sum;
    return true;
}

/* The smallest code point that needs a sequence of this many bytes. */
static const uint32_t utf8_least[] = { 0, 0, 0x80, 0x800, 0x10000 };

static size_t utf8_sequence_len(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first < 0xE0)
        return 2;
    if (first >= 0xE0 && first < 0xF0)
        return 3;
    if (first >= 0xF0 && first < 0xF5)
        return 4;
    return 0;
}

/* How many ASCII bytes the text starts with, eight at a time: most texts have nothing else. */
static size_t ascii_run(struct str s)
{
    size_t i = 0;
    uint64_t word;

    for (; s.len - i >= sizeof(word); i += sizeof(word)) {
        memcpy(&word, s.data + i, sizeof(word));
        if ((word & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    return i;
}

bool str_is_utf8(struct str s)
{
    size_t i = 0;

    while (i < s.len) {
        const unsigned char first = (unsigned char)s.data[i];
        const size_t len = utf8_sequence_len(first);
        uint32_t point;

        if (len == 0 || len > s.len - i)
            return false;
        if (len == 1) {
            i += 1 + ascii_run(str_slice(s, i + 1, s.len));
            continue;
        }
        point = first & (0x7FU >> len);
        for (size_t k = 1; k < len; k++) {
            const unsigned char next = (unsigned char)s.data[i + k];

            if ((next & 0xC0) != 0x80)
                return false;
            point = (point << 6) | (next & 0x3FU);
        }
        if (point < utf8_least[len] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
            return false;
        i += len;
    }
    return true;
}
