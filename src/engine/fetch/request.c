/* One request: its URL, headers and body, and the digest of them. */
#include "engine/fetch/request_internal.h"

#include <string.h>

#include "base/list.h"
#include "data/hash.h"
#include "data/json_write.h"
#include "data/url.h"

/* The texts of a request, as it is sent or redacted. */
struct rendering {
    struct request_values values;
    struct arena *arena;
    struct buf url;
    struct buf body;
    struct {
        struct http_header *items;
        size_t count;
    } headers;
    struct json_writer *query; /* redacted: gets the query's values; NULL: nothing does */
    struct error *err;
};

static const struct spec_endpoint *endpoint_of(const struct rendering *r)
{
    return r->values.input->form->endpoint;
}

/* The request is for a URL that the source gave. */
static bool is_followed(const struct request_input *input)
{
    return input->form->endpoint->page.type == PAGINATION_URL && input->state->token.data != NULL;
}

/* ---- parameters ---- */

/* The value of a parameter, encoded for its place. result->is_omitted: it has none. */
static bool render_param(struct rendering *r, const struct spec_param *param, const char *group,
                         enum template_place place, struct template_result *result)
{
    const struct str name = arena_printf(r->arena, "%s.%.*s", group, STR_ARG(param->name));
    struct buf encoded;

    if (name.data == NULL)
        return arena_error(r->arena, r->err);
    if (!request_values_render(&r->values, r->arena,
                               &(struct request_text){ &param->value, name, place }, result,
                               r->err))
        return false;
    if (!result->is_omitted)
        return true;
    if (param->is_required && !param->has_default)
        return error_set(r->err, ERROR_REQUEST, "request.required", "%.*s has no value",
                         STR_ARG(name));
    if (!param->has_default)
        return true;
    buf_init(&encoded, r->arena, REQUEST_BYTES_MAX);
    if (place == TEMPLATE_QUERY)
        url_encode(&encoded, param->default_value, URL_QUERY);
    else if (place == TEMPLATE_FORM)
        url_encode(&encoded, param->default_value, URL_FORM);
    else
        buf_add(&encoded, param->default_value);
    *result = (struct template_result){ .text = buf_str(&encoded) };
    return buf_ok(&encoded, r->err);
}

/* The digest has values, not their encoding. */
static bool digest_param(struct rendering *r, const struct spec_param *param)
{
    struct template_result raw;

    if (r->query == NULL)
        return true;
    if (!request_values_render(&r->values, r->arena,
                               &(struct request_text){ &param->value, param->name, TEMPLATE_RAW },
                               &raw, r->err))
        return false;
    json_write_member_str(r->query, param->name, raw.is_omitted ? param->default_value : raw.text);
    return true;
}

static bool render_query(struct rendering *r)
{
    const struct spec_param_list *query = &endpoint_of(r)->query;
    const bool only_secrets = is_followed(r->values.input);
    struct template_result result;

    for (size_t i = 0; i < query->count; i++) {
        const struct spec_param *param = &query->items[i];

        if (only_secrets && !request_is_secret_name(r->values.input->form, param->name))
            continue; /* the source's URL has it */
        if (!render_param(r, param, "query", TEMPLATE_QUERY, &result))
            return false;
        if (result.is_omitted)
            continue;
        url_add_encoded(&r->url, param->name, result.text);
        if (!digest_param(r, param))
            return false;
    }
    return true;
}

static bool render_url(struct rendering *r)
{
    const struct request_input *input = r->values.input;
    struct template_result path;

    buf_init(&r->url, r->arena, REQUEST_BYTES_MAX);
    if (is_followed(input))
        buf_add(&r->url, input->state->token);
    else {
        if (!request_values_render(
                &r->values, r->arena,
                &(struct request_text){ &endpoint_of(r)->path, STR("path"), TEMPLATE_PATH }, &path,
                r->err))
            return false;
        if (path.is_omitted)
            return error_set(r->err, ERROR_REQUEST, "request.required", "path has no value");
        url_begin(&r->url, endpoint_of(r)->http.base_url, path.text);
    }
    return render_query(r) && buf_ok(&r->url, r->err);
}

/* ---- headers and body ---- */

static bool add_header(struct rendering *r, struct str name, struct str value)
{
    struct http_header *header = LIST_ADD(r->arena, &r->headers);

    if (header == NULL)
        return arena_error(r->arena, r->err);
    *header = (struct http_header){ name, value };
    return true;
}

static bool render_headers(struct rendering *r)
{
    const struct spec_param_list *headers = &endpoint_of(r)->headers;
    struct template_result result;

    if (!request_values_render(&r->values, r->arena,
                               &(struct request_text){ &endpoint_of(r)->http.user_agent,
                                                       STR("user_agent"), TEMPLATE_HEADER },
                               &result, r->err))
        return false;
    if (!result.is_omitted && result.text.len > 0 && !add_header(r, STR("User-Agent"), result.text))
        return false;
    for (size_t i = 0; i < headers->count; i++) {
        if (!render_param(r, &headers->items[i], "headers", TEMPLATE_HEADER, &result))
            return false;
        if (!result.is_omitted && !add_header(r, headers->items[i].name, result.text))
            return false;
    }
    return true;
}

static bool render_form(struct rendering *r)
{
    const struct spec_param_list *form = &endpoint_of(r)->form;
    struct template_result result;

    for (size_t i = 0; i < form->count; i++) {
        if (!render_param(r, &form->items[i], "form", TEMPLATE_FORM, &result))
            return false;
        if (result.is_omitted)
            continue;
        if (r->body.len > 0)
            buf_add_char(&r->body, '&');
        url_encode(&r->body, form->items[i].name, URL_FORM);
        buf_add_char(&r->body, '=');
        buf_add(&r->body, result.text);
    }
    return true;
}

static bool render_body(struct rendering *r)
{
    buf_init(&r->body, r->arena, (size_t)4 * REQUEST_BYTES_MAX);
    if (endpoint_of(r)->form.count > 0)
        return render_form(r) &&
               add_header(r, STR("Content-Type"), STR("application/x-www-form-urlencoded")) &&
               buf_ok(&r->body, r->err);
    if (endpoint_of(r)->json.len > 0)
        return request_body_write(&r->values, r->arena, &r->body, r->err) &&
               add_header(r, STR("Content-Type"), STR("application/json"));
    return true;
}

static bool render(struct rendering *r, const struct request_input *input, bool redacted)
{
    request_values_init(&r->values, input, redacted);
    return render_url(r) && render_headers(r) && render_body(r);
}

/* ---- the digest ---- */

static void write_headers(struct json_writer *w, const struct rendering *r)
{
    const struct request_form *form = r->values.input->form;

    json_write_name(w, STR("headers"));
    json_write_array(w);
    for (size_t i = 0; i < r->headers.count; i++) {
        const struct http_header *header = &r->headers.items[i];
        const struct str value =
            request_is_secret_name(form, header->name) ? STR("***") : header->value;
        const struct str line =
            arena_printf(r->arena, "%.*s: %.*s", STR_ARG(header->name), STR_ARG(value));

        json_write_str(w, line);
    }
    json_write_end(w);
}

static bool write_body_hash(struct json_writer *w, struct str body, struct error *err)
{
    char text[8 + HASH_HEX_MAX] = "sha256:";
    struct hash_sum sum;

    if (body.len == 0)
        return true;
    if (!hash_of(body, &sum, err))
        return false;
    hash_hex(&sum, text + strlen(text));
    json_write_member_str(w, STR("bodyHash"), str_of(text));
    return true;
}

static bool write_url(struct json_writer *w, struct rendering *r)
{
    const struct request_form *form = r->values.input->form;
    const struct http_request names = { .secret_names = form->secret_names,
                                        .secret_count = form->secret_count };
    struct buf url;

    if (!is_followed(r->values.input))
        return true;
    buf_init(&url, r->arena, REQUEST_BYTES_MAX);
    http_redact_url(&url, &names, buf_str(&r->url));
    json_write_member_str(w, STR("url"), buf_str(&url));
    return buf_ok(&url, r->err);
}

/* Only where the path is a template, which does not show the ids or the like. */
static void write_path(struct json_writer *w, const struct rendering *r)
{
    const struct spec_endpoint *endpoint = endpoint_of(r);
    const struct str url = buf_str(&r->url);

    if (!is_followed(r->values.input) &&
        str_find(endpoint->path.text, STR("${")) < endpoint->path.text.len)
        json_write_member_str(w, STR("path"),
                              str_slice(url, endpoint->http.base_url.len, str_find_char(url, '?')));
}

static bool render_digest(struct request *request, struct arena *arena,
                          const struct request_input *input, struct error *err)
{
    const struct spec_endpoint *endpoint = input->form->endpoint;
    struct rendering r = { .arena = arena, .err = err };
    struct buf out, template;
    struct json_writer w;

    buf_init(&out, arena, (size_t)4 * REQUEST_BYTES_MAX);
    buf_init(&template, arena, REQUEST_BYTES_MAX);
    url_begin(&template, endpoint->http.base_url, endpoint->path.text);
    json_writer_init(&w, &out);
    json_write_object(&w);
    json_write_member_str(&w, STR("method"), code_of(&HTTP_METHOD_CODES, (int)endpoint->method));
    json_write_member_str(&w, STR("urlTemplate"), buf_str(&template));
    if (input->access != NULL && input->access->credential.len > 0)
        json_write_member_str(&w, STR("credential"), input->access->credential);
    if (!is_followed(input)) {
        json_write_name(&w, STR("query"));
        json_write_object(&w);
        r.query = &w;
    }
    request_values_init(&r.values, input, true);
    if (!render_url(&r))
        return false;
    if (!is_followed(input))
        json_write_end(&w);
    write_path(&w, &r);
    if (!write_url(&w, &r) || !render_headers(&r) || !render_body(&r))
        return false;
    write_headers(&w, &r);
    if (!write_body_hash(&w, buf_str(&r.body), err))
        return false;
    json_write_end(&w);
    request->digest = buf_str(&out);
    return buf_ok(&template, err) && buf_ok(&out, err);
}

/* ---- the whole ---- */

static void describe_auth(struct request *request, const struct spec_endpoint *endpoint)
{
    const struct spec_auth *auth = &endpoint->auth;

    request->auth = (struct http_auth){
        .type = auth->type,
        .location = auth->location,
        .name = auth->name,
        .prefix = auth->prefix,
        .secret = auth->secret,
        .username = auth->username,
        .password = auth->password,
        .optional = auth->is_optional,
        .token_url = auth->token_url,
        .client_id = auth->client_id,
        .client_secret = auth->client_secret,
        .scope = auth->scope,
        .token_ttl_us = auth->token_ttl_us,
        .refresh_before_us = auth->refresh_before_us,
        .signing_hook = auth->signing_hook,
        .base_url = endpoint->http.base_url,
    };
}

static void set_transport(struct http_request *http, const struct spec_http *spec)
{
    http->timeouts = (struct http_timeouts){ spec->connect_timeout_us, spec->read_timeout_us,
                                             spec->total_timeout_us };
    http->limits = (struct http_limits){ .body_bytes_max = spec->body_max_bytes,
                                         .inflated_bytes_max = spec->inflated_max_bytes };
    http->redirects_max = spec->redirects;
    http->allow_plain_http = spec->allow_plain_http;
    http->no_compression = !spec->compression;
}

static bool set_proxy(struct request *request, struct arena *arena,
                      const struct request_input *input, struct error *err)
{
    const struct str setting = input->form->endpoint->http.proxy;
    struct secret secret;
    struct buf proxy;

    request->http.proxy = setting;
    if (!secret_is_reference(setting))
        return true;
    if (!secret_get(input->secrets, setting, &secret, err))
        return error_wrap(err, "http.proxy");
    buf_init(&proxy, arena, SECRET_BYTES_MAX);
    buf_add(&proxy, secret_str(&secret)); /* it may have a password in it */
    secret_wipe(&secret);
    request->http.proxy = buf_str(&proxy);
    return buf_ok(&proxy, err);
}

bool request_render(struct request *request, struct request_memory memory,
                    const struct request_input *input, struct error *err)
{
    const struct spec_endpoint *endpoint = input->form->endpoint;
    struct rendering r = { .arena = memory.scratch, .err = err };

    *request = (struct request){ 0 };
    if (!render_digest(request, memory.arena, input, err) || !render(&r, input, false))
        return error_wrap(err, "endpoint %.*s", STR_ARG(endpoint->name));
    request->http.method = code_of(&HTTP_METHOD_CODES, (int)endpoint->method);
    request->http.url = buf_str(&r.url);
    request->http.body = buf_str(&r.body);
    request->http.headers = r.headers.items;
    request->http.header_count = r.headers.count;
    request->http.secret_names = input->form->secret_names;
    request->http.secret_count = input->form->secret_count;
    request->http.correlation_id = input->correlation_id;
    request->http.traceparent = input->traceparent;
    request->http.tracestate = input->tracestate;
    set_transport(&request->http, &endpoint->http);
    describe_auth(request, input->access != NULL ? input->access : endpoint);
    if (endpoint->auth.type != AUTH_NONE && !input->form->uses_credential)
        request->http.auth = &request->auth;
    return set_proxy(request, memory.scratch, input, err);
}

bool request_show(struct request_shown *shown, struct arena *arena,
                  const struct request_input *input, struct error *err)
{
    const struct request_form *form = input->form;
    const struct http_request names = { .secret_names = form->secret_names,
                                        .secret_count = form->secret_count };
    struct rendering r = { .arena = arena, .err = err };
    struct buf url;

    *shown = (struct request_shown){ 0 };
    if (!render(&r, input, true))
        return error_wrap(err, "endpoint %.*s", STR_ARG(form->endpoint->name));
    buf_init(&url, arena, HTTP_TOLD_URL_BYTES_MAX);
    http_redact_url(&url, &names, buf_str(&r.url));
    for (size_t i = 0; i < r.headers.count; i++) {
        if (request_is_secret_name(form, r.headers.items[i].name))
            r.headers.items[i].value = STR("***");
    }
    shown->method = code_of(&HTTP_METHOD_CODES, (int)form->endpoint->method);
    shown->url = buf_str(&url);
    shown->headers = r.headers.items;
    shown->header_count = r.headers.count;
    shown->body = buf_str(&r.body);
    return buf_ok(&url, err);
}
