/* E-mail addresses and phone numbers in a text, replaced by their ends. */
#include "base/mask.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

struct text {
    char *data;
    size_t len;
};

/* Puts `with` in place of count bytes; it is not longer than they are. */
static void replace(struct text *text, size_t at, size_t count, struct str with)
{
    memcpy(text->data + at, with.data, with.len);
    memmove(text->data + at + with.len, text->data + at + count, text->len - at - count);
    text->len -= count - with.len;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

static bool has_at(const struct text *text, size_t at, struct str part)
{
    return text->len - at >= part.len &&
           str_eq_nocase((struct str){ text->data + at, part.len }, part);
}

/* ---- e-mail addresses ---- */

/* The sign between name and domain, in the forms that texts, URLs, JSON and HTML have; 0: none. */
static size_t at_sign(const struct text *text, size_t at)
{
    static const struct str forms[] = { STR_INIT("@"), STR_INIT("%40"), STR_INIT("\\u0040"),
                                        STR_INIT("&#64;"), STR_INIT("&#x40;") };

    if (strchr("@%\\&", text->data[at]) == NULL)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (has_at(text, at, forms[i]))
            return forms[i].len;
    }
    return 0;
}

static bool is_local(char c)
{
    return is_word(c) || (c != '\0' && strchr(".+-_", c) != NULL);
}

static bool is_domain(char c)
{
    return is_word(c) || c == '.' || c == '-';
}

/* Whether a domain begins here. One without a dot is a host, unless the text was cut there. */
static bool begins_domain(const struct text *text, size_t from)
{
    for (size_t at = from; at < text->len; at++) {
        if (has_at(text, at, STR("... (")))
            return true;
        if (!is_domain(text->data[at]))
            return false;
        if (text->data[at] == '.' && at > from && at + 1 < text->len && is_word(text->data[at + 1]))
            return true;
    }
    return true;
}

/* Masks the name before the sign at this place. Returns where to continue. */
static size_t mask_address(struct text *text, size_t at, size_t sign)
{
    size_t from = at;
    size_t count;

    while (from > 0 && is_local(text->data[from - 1]))
        from--;
    count = at - from;
    if (count == 0 || !begins_domain(text, at + sign))
        return at + sign;
    if (count > 3 && (unsigned char)text->data[from] < 0x80) {
        replace(text, from + 1, count - 1, STR("***"));
        return from + 4 + sign;
    }
    replace(text, from, count, str_slice(STR("***"), 0, count));
    return from + (count < 3 ? count : 3) + sign;
}

/* ---- phone numbers ---- */

enum { PHONE_DIGITS_MIN = 8, TEL_DIGITS_MIN = 5, PHONE_DIGITS_MAX = 15 };

struct number {
    size_t end;    /* after the last digit */
    size_t digits; /* 0: it is not a number */
};

/* Digits with at most two separators between them. */
static struct number read_number(const struct text *text, size_t at)
{
    struct number number = { at, 0 };
    size_t gap = 0;

    for (size_t i = at; i < text->len && gap <= 2; i++) {
        const char c = text->data[i];

        if (is_digit(c)) {
            number.digits++;
            number.end = i + 1;
            gap = 0;
        } else if (c != '\0' && strchr(" -.()", c) != NULL)
            gap++;
        else
            break;
    }
    if (number.end < text->len && is_word(text->data[number.end]))
        number.digits = 0; /* a hash, a code */
    return number;
}

/* "+2026-01-31", "+12026-01-31": a date with a sign. */
static bool is_date(const struct text *text, size_t at, size_t end)
{
    return end - at >= 10 && text->data[end - 3] == '-' && text->data[end - 6] == '-' &&
           is_digit(text->data[end - 7]) && is_digit(text->data[end - 4]);
}

/* A "+" that begins a word: not one inside of a date, a number or an encoded text. */
static bool begins_number(const struct text *text, size_t at)
{
    const char before = at > 0 ? text->data[at - 1] : ' ';

    return text->data[at] == '+' && at + 1 < text->len && is_digit(text->data[at + 1]) &&
           text->data[at + 1] != '0' && !is_word(before) &&
           (before == '\0' || strchr("=,&%+_./-", before) == NULL);
}

static void mask_phone(struct text *text, size_t at)
{
    const struct number number = read_number(text, at + 1);
    size_t kept = at + 1;

    if (number.digits < PHONE_DIGITS_MIN || number.digits > PHONE_DIGITS_MAX ||
        is_date(text, at + 1, number.end))
        return;
    while (kept < at + 3 && is_digit(text->data[kept]))
        kept++;
    replace(text, kept, number.end - 2 - kept, STR("***"));
}

static void mask_tel(struct text *text, size_t at)
{
    size_t from = at + 4;
    struct number number;

    while (from < text->len && (text->data[from] == ' ' || text->data[from] == '+'))
        from++;
    number = read_number(text, from);
    if (number.digits >= TEL_DIGITS_MIN && number.digits <= PHONE_DIGITS_MAX)
        replace(text, from, number.end - 2 - from, STR("***"));
}

static bool begins_tel(const struct text *text, size_t at)
{
    return has_at(text, at, STR("tel:")) && (at == 0 || !is_word(text->data[at - 1]));
}

/* ---- the whole ---- */

static void mask_addresses(struct text *text)
{
    for (size_t at = 0; at < text->len; at++) {
        const size_t sign = at_sign(text, at);

        if (sign > 0)
            at = mask_address(text, at, sign) - 1;
    }
}

static void mask_numbers(struct text *text)
{
    for (size_t at = 0; at < text->len; at++) {
        if (begins_number(text, at))
            mask_phone(text, at);
        else if (begins_tel(text, at))
            mask_tel(text, at);
    }
}

size_t mask_personal(char *data, size_t len)
{
    struct text text = { data, len };

    mask_addresses(&text); /* first: digits before an @ are a part of the name */
    mask_numbers(&text);
    return text.len;
}

struct str mask_personal_copy(struct arena *arena, struct str text)
{
    char *copy = arena_alloc(arena, text.len > 0 ? text.len : 1);

    if (copy == NULL)
        return (struct str){ NULL, 0 };
    if (text.len > 0)
        memcpy(copy, text.data, text.len);
    return (struct str){ copy, mask_personal(copy, text.len) };
}
