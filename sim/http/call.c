#include "sim/http/call.h"

#include <assert.h>

int exchange_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool exchange_unescape(struct arena *arena, struct str raw, bool plus_is_space, struct str *text,
                       struct error *err)
{
    char *out = arena_alloc(arena, raw.len + 1);
    size_t len = 0;

    if (out == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < raw.len; i++) {
        if (raw.data[i] == '%') {
            const int high = i + 1 < raw.len ? exchange_hex_digit(raw.data[i + 1]) : -1;
            const int low = i + 2 < raw.len ? exchange_hex_digit(raw.data[i + 2]) : -1;

            if (high < 0 || low < 0)
                return error_set(err, ERROR_REQUEST, "escape.broken",
                                 "'%%' at offset %zu is not followed by two hex digits", i);
            out[len++] = (char)(high * 16 + low);
            i += 2;
        } else {
            out[len++] = plus_is_space && raw.data[i] == '+' ? ' ' : raw.data[i];
        }
    }
    *text = (struct str){ out, len };
    return true;
}

bool exchange_add_params(struct exchange *exchange, struct str raw, struct error *err)
{
    while (raw.len > 0) {
        struct str value = str_cut(&raw, '&');
        const struct str name = str_cut(&value, '=');
        struct exchange_pair *pair = &exchange->params[exchange->param_count];

        if (name.len == 0 && value.len == 0)
            continue;
        if (exchange->param_count == EXCHANGE_PARAMS_MAX)
            return error_set(err, ERROR_REQUEST, "params.many", "more than %d parameters",
                             EXCHANGE_PARAMS_MAX);
        if (!exchange_unescape(exchange->arena, name, true, &pair->name, err))
            return false;
        if (!exchange_unescape(exchange->arena, value, true, &pair->value, err))
            return error_wrap(err, "parameter %.*s", STR_ARG(name));
        exchange->param_count++;
    }
    return true;
}

static const struct exchange_pair *find_param(const struct exchange *exchange, struct str name)
{
    for (size_t i = 0; i < exchange->param_count; i++) {
        if (str_eq(exchange->params[i].name, name))
            return &exchange->params[i];
    }
    return NULL;
}

struct str exchange_param(const struct exchange *exchange, struct str name)
{
    const struct exchange_pair *pair = find_param(exchange, name);

    return pair != NULL ? pair->value : STR("");
}

bool exchange_has_param(const struct exchange *exchange, struct str name)
{
    return find_param(exchange, name) != NULL;
}

static struct str find_header(const struct exchange_pair *pairs, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq_nocase(pairs[i].name, name))
            return pairs[i].value;
    }
    return STR("");
}

struct str exchange_header(const struct exchange *exchange, struct str name)
{
    return find_header(exchange->headers, exchange->header_count, name);
}

struct str exchange_out_header(const struct exchange *exchange, struct str name)
{
    return find_header(exchange->out, exchange->out_count, name);
}

void exchange_out(struct exchange *exchange, struct str name, struct str value)
{
    assert(exchange->out_count < EXCHANGE_HEADERS_MAX);
    exchange->out[exchange->out_count++] = (struct exchange_pair){ name, value };
}

struct str exchange_body(const struct exchange *exchange)
{
    return exchange->fixed.data != NULL ? exchange->fixed : buf_str(&exchange->reply);
}

void exchange_answer(struct exchange *exchange, int status, struct str content_type,
                     struct str body)
{
    exchange->status = status;
    exchange->content_type = content_type;
    exchange->fixed = (struct str){ NULL, 0 };
    buf_clear(&exchange->reply);
    buf_add(&exchange->reply, body);
}
