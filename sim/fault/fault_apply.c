#include "sim/fault/fault_apply.h"

#include <string.h>

#include "base/instant.h"
#include "sim/http/status.h"
#include "sim/util/hash.h"
#include "sim/util/time_option.h"

static const char HTML[] = "<!DOCTYPE html>\n<html><head><title>%d %s</title></head>\n"
                           "<body><h1>%s</h1><p>The simulator was told to say this.</p></body>"
                           "</html>\n";

static void add_retry_after(const struct fault *fault, struct exchange *exchange)
{
    char text[MOMENT_HTTP_MAX];
    struct str value;

    if (fault->retry == RETRY_NONE)
        return;
    if (fault->retry == RETRY_SECONDS)
        value = arena_printf(exchange->arena, "%lld", (long long)(fault->retry_us / US_PER_SECOND));
    else
        value = arena_copy(exchange->arena, moment_http(exchange->now_us + fault->retry_us, text));
    exchange_out(exchange, STR("Retry-After"), value);
}

static void answer_status(const struct fault *fault, struct exchange *exchange)
{
    const int code = (int)fault->code;
    const char *reason = status_reason(code);
    struct arena *arena = exchange->arena;

    add_retry_after(fault, exchange);
    switch (fault->body) {
    case FAULT_BODY_JSON:
        exchange_answer(exchange, code, STR("application/json"),
                        arena_printf(arena, "{\"error\":\"%s\",\"status\":%d}\n", reason, code));
        break;
    case FAULT_BODY_HTML:
        exchange_answer(exchange, code, STR("text/html; charset=utf-8"),
                        arena_printf(arena, HTML, code, reason, reason));
        break;
    case FAULT_BODY_TEXT:
        exchange_answer(exchange, code, STR("text/plain"), arena_printf(arena, "%s\n", reason));
        break;
    default:
        exchange_answer(exchange, code, STR(""), STR(""));
    }
}

static void answer_redirect(const struct fault *fault, struct exchange *exchange)
{
    struct str location = fault->location;

    if (location.len == 0)
        location = arena_printf(exchange->arena, "%.*s%.*s%s%.*s", STR_ARG(exchange->other_base),
                                STR_ARG(exchange->raw_path), exchange->query.len > 0 ? "?" : "",
                                STR_ARG(exchange->query));
    exchange_answer(exchange, (int)fault->code, STR("text/plain"), STR("moved\n"));
    exchange_out(exchange, STR("Location"), location);
}

bool spoil_replaces(const struct fault *fault, struct exchange *exchange)
{
    switch (fault->kind) {
    case FAULT_STATUS:
        answer_status(fault, exchange);
        return true;
    case FAULT_REDIRECT:
        answer_redirect(fault, exchange);
        return true;
    case FAULT_RESET:
    case FAULT_CLOSE:
        exchange_answer(exchange, 0, STR(""), STR(""));
        return fault->at == FAULT_AT_BEFORE;
    default:
        return false;
    }
}

static void fill_garbage(const struct fault *fault, struct exchange *exchange)
{
    buf_clear(&exchange->reply);
    for (int64_t i = 0; i < fault->bytes; i++)
        buf_add_char(&exchange->reply, (char)dice_roll(fault->roll, 0, (uint64_t)i));
}

/* The code point at the beginning of well-formed UTF-8, whose length goes to *len; a stray byte is
 * taken for itself. */
static uint32_t code_point(struct str text, size_t *len)
{
    const unsigned char first = (unsigned char)text.data[0];
    uint32_t code;

    *len = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (*len == 1 || *len > text.len) {
        *len = 1;
        return first;
    }
    code = first & (0xFFU >> (*len + 1));
    for (size_t i = 1; i < *len; i++)
        code = code << 6 | ((unsigned char)text.data[i] & 0x3FU);
    return code;
}

static void add_utf16(struct buf *out, uint32_t unit)
{
    buf_add_char(out, (char)(unit & 0xFF));
    buf_add_char(out, (char)(unit >> 8 & 0xFF));
}

static void add_code_point(struct buf *out, enum fault_charset charset, uint32_t code)
{
    if (charset == CHARSET_LATIN1) {
        buf_add_char(out, code < 0x100 ? (char)code : '?');
    } else if (code < 0x10000) {
        add_utf16(out, code);
    } else {
        add_utf16(out, 0xD800 + ((code - 0x10000) >> 10));
        add_utf16(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
    }
}

static void change_charset(const struct fault *fault, struct exchange *exchange)
{
    struct str body = exchange_body(exchange);
    struct buf changed;
    size_t len;

    buf_init(&changed, exchange->arena, 2 * body.len + 2);
    if (fault->charset == CHARSET_UTF16)
        add_utf16(&changed, 0xFEFF);
    for (; body.len > 0; body = str_slice(body, len, body.len))
        add_code_point(&changed, (enum fault_charset)fault->charset, code_point(body, &len));
    exchange->fixed = buf_str(&changed);
}

void spoil_answer(const struct fault *fault, struct exchange *exchange)
{
    switch (fault->kind) {
    case FAULT_HTML:
        exchange_answer(exchange, 200,
                        fault->keep_type ? exchange->content_type : STR("text/html; charset=utf-8"),
                        arena_printf(exchange->arena, HTML, 200, "Maintenance", "Back soon"));
        break;
    case FAULT_EMPTY:
        exchange_answer(exchange, 200, exchange->content_type, STR(""));
        break;
    case FAULT_GARBAGE:
        exchange_answer(exchange, 200, exchange->content_type, STR(""));
        fill_garbage(fault, exchange);
        break;
    case FAULT_CHARSET:
        change_charset(fault, exchange);
        break;
    default:
        break;
    }
}
