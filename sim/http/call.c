/* Reading a request's parameters and headers, and filling in the response. */
#include "sim/http/call.h"
#include "sim/util/encode.h"

#include <assert.h>

bool call_add_params(struct http_call *call, struct str raw, struct error *err)
{
    while (raw.len > 0) {
        struct str value = str_cut(&raw, '&');
        const struct str name = str_cut(&value, '=');
        struct key_value *pair = &call->params[call->param_count];

        if (name.len == 0 && value.len == 0)
            continue;
        if (call->param_count == CALL_PARAMS_MAX)
            return error_set(err, ERROR_REQUEST, "params.many", "more than %d parameters",
                             CALL_PARAMS_MAX);
        if (!decode_percent(call->arena, name, true, &pair->name, err))
            return false;
        if (!decode_percent(call->arena, value, true, &pair->value, err))
            return error_wrap(err, "parameter %.*s", STR_ARG(name));
        call->param_count++;
    }
    return true;
}

static const struct key_value *find_param(const struct http_call *call, struct str name)
{
    for (size_t i = 0; i < call->param_count; i++) {
        if (str_eq(call->params[i].name, name))
            return &call->params[i];
    }
    return NULL;
}

struct str call_param(const struct http_call *call, struct str name)
{
    const struct key_value *pair = find_param(call, name);

    return pair != NULL ? pair->value : STR("");
}

bool call_has_param(const struct http_call *call, struct str name)
{
    return find_param(call, name) != NULL;
}

static struct str find_header(const struct key_value *pairs, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq_nocase(pairs[i].name, name))
            return pairs[i].value;
    }
    return STR("");
}

struct str call_header(const struct http_call *call, struct str name)
{
    return find_header(call->headers, call->header_count, name);
}

struct str call_response_header(const struct http_call *call, struct str name)
{
    return find_header(call->response_headers, call->response_header_count, name);
}

void call_add_header(struct http_call *call, struct str name, struct str value)
{
    assert(call->response_header_count < CALL_HEADERS_MAX);
    call->response_headers[call->response_header_count++] = (struct key_value){ name, value };
}

struct str call_body(const struct http_call *call)
{
    return call->fixed.data != NULL ? call->fixed : buf_str(&call->response);
}

void call_respond(struct http_call *call, int status, struct str content_type, struct str body)
{
    call->status = status;
    call->content_type = content_type;
    call->fixed = (struct str){ NULL, 0 };
    buf_clear(&call->response);
    buf_add(&call->response, body);
}
