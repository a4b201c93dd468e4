/* quote: escaping and shortening bytes for error texts. */
#include "base/quote.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static size_t add_escaped(char *at, unsigned char c)
{
    static const struct {
        char byte;
        char letter;
    } names[] = { { '\n', 'n' }, { '\r', 'r' }, { '\t', 't' }, { '"', '"' }, { '\\', '\\' } };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if ((char)c == names[i].byte) {
            at[0] = '\\';
            at[1] = names[i].letter;
            return 2;
        }
    }
    return (size_t)snprintf(at, 5, "\\x%02x", c);
}

/* How many bytes from s.data[i] on can be printed unchanged: one whole character, or none. */
static size_t plain_len(struct str s, size_t i)
{
    const unsigned char first = (unsigned char)s.data[i];

    if (first < 0x80)
        return first >= 0x20 && first != 0x7F && first != '"' && first != '\\' ? 1 : 0;
    if (first == 0xC2 && i + 1 < s.len && (unsigned char)s.data[i + 1] < 0xA0)
        return 0; /* C1: controls, too */
    for (size_t len = 2; len <= 4 && i + len <= s.len; len++) {
        if (str_is_utf8(str_slice(s, i, i + len)))
            return len;
    }
    return 0;
}

/* `text` has room for 4 * bytes_max + 48 bytes. Returns the length. */
static size_t add_quoted(char *text, struct str s, size_t bytes_max)
{
    size_t len = 0;
    size_t i = 0;

    text[len++] = '"';
    while (i < s.len && i < bytes_max) {
        const size_t plain = plain_len(s, i);

        if (plain == 0) {
            len += add_escaped(text + len, (unsigned char)s.data[i++]);
            continue;
        }
        memcpy(text + len, s.data + i, plain);
        len += plain;
        i += plain;
    }
    if (i < s.len)
        len += (size_t)snprintf(text + len, 40, "... (%zu bytes)", s.len);
    else
        text[len++] = '"';
    return len;
}

struct quote quote_of(struct str s)
{
    struct quote quote;
    const size_t len = add_quoted(quote.text, s, QUOTE_BYTES_MAX);

    assert(len < sizeof(quote.text));
    quote.text[len] = '\0';
    return quote;
}

struct str quote_copy(struct arena *arena, struct str s, size_t bytes_max)
{
    const size_t most = s.len < bytes_max ? s.len : bytes_max;
    char *text = arena_alloc(arena, 4 * most + 48);

    if (text == NULL)
        return (struct str){ NULL, 0 };
    return (struct str){ text, add_quoted(text, s, bytes_max) };
}
