/* Builds or changes a response as its fault says. */
#include "sim/fault/fault_apply.h"

#include <string.h>

#include "base/instant.h"
#include "sim/fault/reshape.h"
#include "sim/http/http_date.h"
#include "sim/http/status.h"
#include "sim/util/hash.h"

static const char HTML[] = "<!DOCTYPE html>\n<html><head><title>%d %.*s</title></head>\n"
                           "<body><h1>%.*s</h1><p>A fault of the simulator.</p></body>"
                           "</html>\n";

static void add_retry_after(const struct fault *fault, struct http_call *call)
{
    char text[HTTP_DATE_TEXT_MAX];
    struct str value;

    if (fault->retry == RETRY_NONE)
        return;
    if (fault->retry == RETRY_SECONDS)
        value = arena_printf(call->arena, "%lld", (long long)(fault->retry_us / US_PER_SECOND));
    else
        value = arena_copy(call->arena, sim_http_date_write(call->now_us + fault->retry_us, text));
    call_add_header(call, STR("Retry-After"), value);
}

static void respond_status(const struct fault *fault, struct http_call *call)
{
    const int code = (int)fault->code;
    const struct str reason = fault->message.len > 0 ? fault->message : str_of(status_reason(code));
    struct arena *arena = call->arena;

    add_retry_after(fault, call);
    switch (fault->body) {
    case FAULT_BODY_JSON:
        call_respond(
            call, code, STR("application/json"),
            arena_printf(arena, "{\"error\":\"%.*s\",\"status\":%d}\n", STR_ARG(reason), code));
        break;
    case FAULT_BODY_HTML:
        call_respond(call, code, STR("text/html; charset=utf-8"),
                     arena_printf(arena, HTML, code, STR_ARG(reason), STR_ARG(reason)));
        break;
    case FAULT_BODY_TEXT:
        call_respond(call, code, STR("text/plain"), arena_printf(arena, "%.*s\n", STR_ARG(reason)));
        break;
    default:
        call_respond(call, code, STR(""), STR(""));
    }
}

static void respond_redirect(const struct fault *fault, struct http_call *call)
{
    struct str location = fault->location;

    if (location.len == 0)
        location = arena_printf(call->arena, "%.*s%.*s%s%.*s", STR_ARG(call->other_base),
                                STR_ARG(call->raw_path), call->query.len > 0 ? "?" : "",
                                STR_ARG(call->query));
    call_respond(call, (int)fault->code, STR("text/plain"), STR("moved\n"));
    call_add_header(call, STR("Location"), location);
}

bool fault_replaces_response(const struct fault *fault, struct http_call *call)
{
    switch (fault->kind) {
    case FAULT_STATUS:
        respond_status(fault, call);
        return true;
    case FAULT_REDIRECT:
        respond_redirect(fault, call);
        return true;
    case FAULT_RESET:
    case FAULT_CLOSE:
        call_respond(call, 0, STR(""), STR(""));
        return fault->at == FAULT_AT_BEFORE;
    default:
        return false;
    }
}

static void fill_garbage(const struct fault *fault, struct http_call *call)
{
    buf_clear(&call->response);
    for (int64_t i = 0; i < fault->bytes; i++)
        buf_add_char(&call->response, (char)hash_of(fault->random, 0, (uint64_t)i));
}

/* The code point at the start of well-formed UTF-8, with its length in *len. An invalid byte counts
 * as the code point of its value. */
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

static void change_charset(const struct fault *fault, struct http_call *call)
{
    struct str body = call_body(call);
    struct buf changed;
    size_t len;

    buf_init(&changed, call->arena, 2 * body.len + 2);
    if (fault->charset == CHARSET_UTF16)
        add_utf16(&changed, 0xFEFF);
    for (; body.len > 0; body = str_slice(body, len, body.len))
        add_code_point(&changed, (enum fault_charset)fault->charset, code_point(body, &len));
    call->fixed = buf_str(&changed);
}

void fault_change_response(const struct fault *fault, struct http_call *call)
{
    switch (fault->kind) {
    case FAULT_HTML:
        call_respond(call, 200,
                     fault->keep_type ? call->content_type : STR("text/html; charset=utf-8"),
                     arena_printf(call->arena, HTML, 200, STR_ARG(STR("Maintenance")),
                                  STR_ARG(STR("Back soon"))));
        break;
    case FAULT_EMPTY:
        call_respond(call, 200, call->content_type, STR(""));
        break;
    case FAULT_GARBAGE:
        call_respond(call, 200, call->content_type, STR(""));
        fill_garbage(fault, call);
        break;
    case FAULT_CHARSET:
        change_charset(fault, call);
        break;
    case FAULT_RESHAPE:
        call->fixed = reshape_body(call->arena, call_body(call),
                                   &(struct reshape){ fault->member, (enum reshape_as)fault->as });
        break;
    default:
        break;
    }
}
