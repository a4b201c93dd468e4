/* suite: the tokenizer for public test suites. */
#include "suite.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct suite suite_of(struct str bytes)
{
    char *start = (char *)(uintptr_t)bytes.data;

    return (struct suite){ start, start + bytes.len };
}

static uint32_t hex4(const char *at)
{
    char digits[5] = { at[0], at[1], at[2], at[3], '\0' };

    return (uint32_t)strtoul(digits, NULL, 16);
}

static char *put_utf8(char *out, uint32_t point)
{
    if (point < 0x80) {
        *out++ = (char)point;
    } else if (point < 0x800) {
        *out++ = (char)(0xC0 | point >> 6);
        *out++ = (char)(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        *out++ = (char)(0xE0 | point >> 12);
        *out++ = (char)(0x80 | (point >> 6 & 0x3F));
        *out++ = (char)(0x80 | (point & 0x3F));
    } else {
        *out++ = (char)(0xF0 | point >> 18);
        *out++ = (char)(0x80 | (point >> 12 & 0x3F));
        *out++ = (char)(0x80 | (point >> 6 & 0x3F));
        *out++ = (char)(0x80 | (point & 0x3F));
    }
    return out;
}

static char *put_escape(struct suite *s, char *out)
{
    static const char letters[] = "bfnrt", values[] = "\b\f\n\r\t";
    const char c = *s->at++;
    const char *known = strchr(letters, c);
    uint32_t point;

    if (c != 'u') {
        *out++ = known != NULL ? values[known - letters] : c;
        return out;
    }
    point = hex4(s->at);
    s->at += 4;
    if (point >= 0xD800 && point < 0xDC00 && s->at[0] == '\\' && s->at[1] == 'u') {
        point = 0x10000 + ((point - 0xD800) << 10) + (hex4(s->at + 2) - 0xDC00);
        s->at += 6;
    }
    return put_utf8(out, point);
}

static struct str take_string(struct suite *s)
{
    char *start = s->at, *out = s->at;

    while (s->at < s->end && *s->at != '"') {
        if (*s->at != '\\') {
            *out++ = *s->at++;
            continue;
        }
        s->at++;
        out = put_escape(s, out);
    }
    s->at++;
    return (struct str){ start, (size_t)(out - start) };
}

static void skip_space(struct suite *s)
{
    while (s->at < s->end) {
        if (strchr(" \t\r\n", *s->at) != NULL)
            s->at++;
        else if (s->end - s->at >= 2 && s->at[0] == '/' && s->at[1] == '/')
            s->at += strcspn(s->at, "\n");
        else
            return;
    }
}

bool suite_next(struct suite *s, struct suite_token *token)
{
    skip_space(s);
    if (s->at >= s->end)
        return false;
    if (*s->at == '"') {
        s->at++;
        token->text = take_string(s);
        skip_space(s);
        token->type = s->at < s->end && *s->at == ':' ? SUITE_KEY : SUITE_STRING;
        s->at += token->type == SUITE_KEY;
        return true;
    }
    token->type = strchr("{}[],:", *s->at) != NULL ? SUITE_MARK : SUITE_WORD;
    token->text =
        (struct str){ s->at, token->type == SUITE_MARK ? 1 : strcspn(s->at, "{}[],: \t\r\n") };
    s->at += token->text.len;
    return true;
}

bool suite_is_key(const struct suite_token *token, const char *name)
{
    return token->type == SUITE_KEY && str_eq(token->text, str_of(name));
}

bool suite_is_word(const struct suite_token *token, const char *word)
{
    return token->type == SUITE_WORD && str_eq(token->text, str_of(word));
}
