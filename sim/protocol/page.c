#include "sim/protocol/page.h"

#include <string.h>

struct buf *answer_begin(struct exchange *exchange, struct str content_type)
{
    exchange->status = 200;
    exchange->content_type = content_type;
    return &exchange->reply;
}

void answer_reserve(struct exchange *exchange, size_t bytes)
{
    struct buf *reply = &exchange->reply;
    char *data;

    if (bytes <= reply->capacity || bytes > reply->limit)
        return;
    data = arena_grow(reply->arena, reply->data, reply->capacity, bytes);
    if (data == NULL)
        return; /* the appends will tell */
    reply->data = data;
    reply->capacity = bytes;
}

bool answer_number(const struct exchange *exchange, struct str name, size_t *value)
{
    int64_t number;

    if (!exchange_has_param(exchange, name))
        return true;
    if (!str_to_i64(exchange_param(exchange, name), &number) || number < 0)
        return false;
    *value = (size_t)number;
    return true;
}

size_t answer_skip(const struct exchange *exchange, size_t skip, size_t size)
{
    switch (exchange->twist) {
    case TWIST_REPEAT_PAGE:
        return skip > size ? skip - size : 0;
    case TWIST_SHIFT_PAGE:
        return skip > 0 ? skip - 1 : 1;
    default:
        return skip;
    }
}

size_t answer_total(const struct exchange *exchange, size_t total)
{
    return exchange->twist == TWIST_MOVING_TOTAL ? total + 1 + exchange->roll % 97 : total;
}

size_t answer_count(const struct exchange *exchange, size_t count)
{
    return exchange->twist == TWIST_EMPTY_PAGE ? 0 : count;
}

enum body_flaw answer_flaw(const struct exchange *exchange, size_t i, size_t count)
{
    if (count == 0 || i != exchange->roll % count)
        return FLAW_NONE;
    switch (exchange->twist) {
    case TWIST_RECORD_NO_ID:
        return FLAW_NO_ID;
    case TWIST_RECORD_NO_DATE:
        return FLAW_NO_DATE;
    case TWIST_RECORD_BAD_DATE:
        return FLAW_BAD_DATE;
    default:
        return FLAW_NONE;
    }
}

bool answer_omits(const struct exchange *exchange, size_t i)
{
    return exchange->twist == TWIST_MISSING_DETAILS && (i + exchange->roll) % 3 == 0;
}

void answer_add_base(struct exchange *exchange, struct buf *out)
{
    if (exchange->twist == TWIST_NEXT_ELSEWHERE) {
        buf_add(out, exchange->other_base);
        return;
    }
    buf_add(out, exchange->scheme);
    buf_add(out, STR("://"));
    buf_add(out, exchange->host);
}

void answer_records(struct sim_world *world, struct exchange *exchange,
                    const struct body_form *form, const struct world_page *page, struct str between)
{
    const size_t count = answer_count(exchange, page->count);

    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add(&exchange->reply, between);
        body_write(form, world, &exchange->reply, page->hits[i].version,
                   answer_flaw(exchange, i, count));
    }
}

void answer_add_escaped(struct buf *out, struct str text)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.data[i];

        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            (c != '\0' && strchr("-._~", c) != NULL)) {
            buf_add_char(out, (char)c);
        } else {
            buf_add_char(out, '%');
            buf_add_char(out, hex[c >> 4]);
            buf_add_char(out, hex[c & 15]);
        }
    }
}

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char for_urls[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void answer_add_base64(struct buf *out, struct str bytes, enum base64 kind)
{
    const char *alphabet = kind == BASE64 ? standard : for_urls;

    for (size_t i = 0; i < bytes.len; i += 3) {
        const size_t left = bytes.len - i;
        const uint32_t group = (uint32_t)(unsigned char)bytes.data[i] << 16 |
                               (left > 1 ? (uint32_t)(unsigned char)bytes.data[i + 1] << 8 : 0) |
                               (left > 2 ? (uint32_t)(unsigned char)bytes.data[i + 2] : 0);

        buf_add_char(out, alphabet[group >> 18]);
        buf_add_char(out, alphabet[group >> 12 & 63]);
        if (left > 1)
            buf_add_char(out, alphabet[group >> 6 & 63]);
        else if (kind != BASE64_URL)
            buf_add_char(out, '=');
        if (left > 2)
            buf_add_char(out, alphabet[group & 63]);
        else if (kind != BASE64_URL)
            buf_add_char(out, '=');
    }
}

static int digit_of(char c)
{
    const char *at;

    if (c == '-')
        return 62;
    if (c == '_')
        return 63;
    at = c != '\0' ? strchr(standard, c) : NULL;
    return at != NULL ? (int)(at - standard) : -1;
}

bool answer_decode_base64(struct arena *arena, struct str text, struct str *bytes)
{
    char *out = arena_alloc(arena, text.len + 1);
    uint32_t group = 0;
    int bits = 0;
    size_t len = 0;

    if (out == NULL)
        return false;
    while (text.len > 0 && text.data[text.len - 1] == '=')
        text.len--;
    for (size_t i = 0; i < text.len; i++) {
        const int digit = digit_of(text.data[i]);

        if (digit < 0)
            return false;
        group = group << 6 | (uint32_t)digit;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[len++] = (char)(group >> bits & 0xFF);
        }
    }
    *bytes = (struct str){ out, len };
    return true;
}
