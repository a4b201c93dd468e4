/* error: formatting, wrapping and truncating error texts. */
#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* Removes an incomplete UTF-8 character from the end of a truncated text: stores refuse it. */
static void trim_incomplete_char(char text[ERROR_TEXT_MAX])
{
    const size_t len = strlen(text);
    size_t first = len;
    size_t needed = 1;

    if (len < ERROR_TEXT_MAX - 1)
        return;
    do
        first--;
    while (first > 0 && len - first < 4 && ((unsigned char)text[first] & 0xC0) == 0x80);
    if ((unsigned char)text[first] >= 0xC0)
        needed = 2 + ((unsigned char)text[first] >= 0xE0) + ((unsigned char)text[first] >= 0xF0);
    if (len - first < needed)
        text[first] = '\0';
}

static size_t char_bytes(const char *text, size_t left)
{
    for (size_t n = 1; n <= 4 && n <= left; n++) {
        if (str_is_utf8((struct str){ text, n }))
            return n;
    }
    return 0;
}

/* What servers say is quoted in errors: stores refuse what is not UTF-8, terminals obey controls.
 */
static void clean(char text[ERROR_TEXT_MAX])
{
    const size_t len = strlen(text);

    for (size_t i = 0; i < len;) {
        const unsigned char c = (unsigned char)text[i];
        const size_t n = char_bytes(text + i, len - i);

        if (n == 0 || (c < ' ' && c != '\n' && c != '\t') || c == 0x7F)
            text[i] = '?';
        else if (c == 0xC2 && (unsigned char)text[i + 1] < 0xA0) /* C1: controls, too */
            memcpy(text + i, "??", 2);
        i += n > 0 ? n : 1;
    }
}

void error_set_at(struct error *err, enum error_level level, const char *code, const char *file,
                  int line, const char *format, ...)
{
    va_list args;

    assert(err != NULL);
    assert(level != ERROR_NONE);
    err->level = level;
    err->code = code;
    err->file = file;
    err->line = line;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    trim_incomplete_char(err->text);
    clean(err->text);
}

static void append(char text[ERROR_TEXT_MAX], size_t *len, const char *more)
{
    const size_t room = ERROR_TEXT_MAX - 1 - *len;
    const size_t count = strnlen(more, room);

    memcpy(text + *len, more, count);
    *len += count;
    text[*len] = '\0';
}

void error_wrap_with(struct error *err, const char *format, ...)
{
    char inner[ERROR_TEXT_MAX];
    va_list args;
    size_t len;

    assert(err != NULL);
    assert(err->level != ERROR_NONE);
    memcpy(inner, err->text, sizeof(inner));
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    trim_incomplete_char(err->text);
    clean(err->text);
    len = strlen(err->text);
    append(err->text, &len, ": ");
    append(err->text, &len, inner);
    trim_incomplete_char(err->text);
}

const char *error_level_name(enum error_level level)
{
    switch (level) {
    case ERROR_NONE:
        return "OK";
    case ERROR_TRANSIENT:
        return "L1";
    case ERROR_REQUEST:
        return "L2";
    case ERROR_DATA:
        return "L3";
    case ERROR_FATAL:
        return "L4";
    }
    return "L?";
}
