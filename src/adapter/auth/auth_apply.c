/* Puts a credential into a header, the query or the body, or signs the request. */
#include "adapter/auth/auth_apply.h"

#include <string.h>

#include "base/quote.h"
#include "data/base64.h"
#include "data/json.h"
#include "data/json_write.h"
#include "data/media_type.h"
#include "data/signature.h"
#include "data/url.h"
#include "port/secret.h"

/* A secret in its longest form: each byte as \u0000, in base64 of a pair, or percent-encoded. */
enum { SECRET_TEXT_MAX = 8 * SECRET_BYTES_MAX, URL_BYTES_MAX = 2 * HTTP_URL_BYTES_MAX };

/* ---- where it may go ---- */

static bool is_origin(struct str text, const struct url *url)
{
    struct url origin;
    struct error ignored; /* what is not a URL has no origin */

    return url_parse(text, &origin, &ignored) && url_same_origin(&origin, url);
}

bool auth_check_origin(const struct http_request *request, struct error *err)
{
    const struct http_auth *auth = request->auth;
    struct url url;
    bool is_home;

    if (!url_parse(request->url, &url, err))
        return error_set(err, ERROR_REQUEST, "http.url", "%s: not a URL",
                         http_title(request, request->url).text);
    if (!str_eq_nocase(url.scheme, STR("https")) && !request->allow_plain_http)
        return error_set(err, ERROR_FATAL, "auth.origin",
                         "%s: a credential is only sent over https (or set http.allow_plain_http)",
                         http_title(request, request->url).text);
    is_home = is_origin(auth->base_url, &url);
    for (size_t i = 0; !is_home && i < auth->origin_count; i++)
        is_home = is_origin(auth->origins[i], &url);
    if (!is_home)
        return error_set(err, ERROR_FATAL, "auth.origin",
                         "%s: the credential is for %.*s and is not sent elsewhere",
                         http_title(request, request->url).text, STR_ARG(auth->base_url));
    return true;
}

/* ---- the places ---- */

/* Adds headers, each in place of one of the same name. */
static bool add_headers(struct arena *scratch, struct http_request *made,
                        const struct http_header *added, size_t count, struct error *err)
{
    struct http_header *headers =
        ARENA_ARRAY(scratch, struct http_header, made->header_count + count);
    size_t kept = 0;

    if (headers == NULL)
        return arena_error(scratch, err);
    for (size_t i = 0; i < made->header_count; i++) {
        const struct http_headers new = { (struct http_header *)added, count };

        if (http_header_find(new, made->headers[i].name, NULL) == NULL)
            headers[kept++] = made->headers[i];
    }
    memcpy(headers + kept, added, count * sizeof(*added));
    made->headers = headers;
    made->header_count = kept + count;
    return true;
}

/* header.value is in the scratch arena; data NULL: the arena is full. */
static bool add_header(struct arena *scratch, struct http_request *made, struct http_header header,
                       struct error *err)
{
    if (header.value.data == NULL)
        return arena_error(scratch, err);
    if (!http_is_header_value(header.value))
        return error_set(err, ERROR_FATAL, "auth.value",
                         "the credential for header %.*s has a line end or a control character",
                         STR_ARG(header.name));
    return add_headers(scratch, made, &header, 1, err);
}

static struct http_header authorization(struct arena *scratch, const char *scheme, struct str value)
{
    return (struct http_header){ STR("Authorization"),
                                 arena_printf(scratch, "%s %.*s", scheme, STR_ARG(value)) };
}

static bool add_query(struct arena *scratch, struct http_request *made, struct str name,
                      struct str value, struct error *err)
{
    const size_t fragment = str_find_char(made->url, '#');
    struct buf url;

    buf_init(&url, scratch, URL_BYTES_MAX);
    buf_add(&url, str_slice(made->url, 0, fragment));
    url_add(&url, name, value);
    made->url = buf_str(&url);
    return buf_ok(&url, err);
}

static bool add_to_form(struct arena *scratch, struct http_request *made, struct str name,
                        struct str value, struct error *err)
{
    struct buf body;

    buf_init(&body, scratch, made->body.len + SECRET_TEXT_MAX);
    buf_add(&body, made->body);
    if (made->body.len > 0)
        buf_add_char(&body, '&');
    url_encode(&body, name, URL_FORM);
    buf_add_char(&body, '=');
    url_encode(&body, value, URL_FORM);
    made->body = buf_str(&body);
    return buf_ok(&body, err);
}

static bool add_to_json(struct arena *scratch, struct http_request *made, struct str name,
                        struct str value, struct error *err)
{
    struct json_doc doc;
    struct json_writer writer;
    struct json_iter it;
    struct str member;
    struct buf body;

    if (!json_parse(&doc, scratch, made->body, err) ||
        json_type(&doc, json_root(&doc)) != JSON_OBJECT)
        return error_set(err, ERROR_FATAL, "auth.place",
                         "the body is not a JSON object, so it cannot hold the credential");
    buf_init(&body, scratch, 2 * made->body.len + SECRET_TEXT_MAX);
    json_writer_init(&writer, &body);
    json_write_object(&writer);
    json_write_name(&writer, name);
    json_write_str(&writer, value);
    for (it = json_each(&doc, json_root(&doc)); json_next(&it);) {
        if (!json_string(&doc, it.name, scratch, &member, err))
            return false;
        json_write_name(&writer, member);
        json_write_raw(&writer, json_raw(&doc, it.value));
    }
    json_write_end(&writer);
    json_writer_finish(&writer);
    made->body = buf_str(&body);
    return buf_ok(&body, err);
}

static bool add_to_body(struct arena *scratch, struct http_request *made, struct str name,
                        struct str value, struct error *err)
{
    const struct http_headers headers = { (struct http_header *)made->headers, made->header_count };
    struct media_type media;

    if (str_eq(made->method, STR("GET")) || str_eq(made->method, STR("HEAD")) ||
        made->method.len == 0)
        return error_set(err, ERROR_FATAL, "auth.place",
                         "a credential in the body needs a method with a body");
    (void)media_type_parse(http_header_value(headers, STR("Content-Type")), &media);
    if (media_type_kind(&media) == BODY_JSON)
        return add_to_json(scratch, made, name, value, err);
    if (str_eq_nocase(media.subtype, STR("x-www-form-urlencoded")))
        return add_to_form(scratch, made, name, value, err);
    return error_set(
        err, ERROR_FATAL, "auth.place",
        "a credential can be put into a body of JSON or of a form, and the Content-Type "
        "is neither");
}

/* ---- the kinds ---- */

static bool apply_key(struct arena *scratch, const struct http_auth *auth,
                      const struct auth_values *values, struct http_request *made,
                      struct error *err)
{
    struct str value = values->secret;
    struct str *names = ARENA_ARRAY(scratch, struct str, made->secret_count + 1);

    if (names == NULL)
        return arena_error(scratch, err);
    if (made->secret_count > 0)
        memcpy(names, made->secret_names, made->secret_count * sizeof(*names));
    names[made->secret_count] = auth->name;
    made->secret_names = names;
    made->secret_count++;
    switch (auth->location) {
    case AUTH_IN_QUERY:
        return add_query(scratch, made, auth->name, value, err);
    case AUTH_IN_BODY:
        return add_to_body(scratch, made, auth->name, value, err);
    case AUTH_IN_HEADER:
        break;
    }
    value = arena_printf(scratch, "%.*s%.*s", STR_ARG(auth->prefix), STR_ARG(value));
    if (value.data == NULL)
        return arena_error(scratch, err);
    return add_header(scratch, made, (struct http_header){ auth->name, value }, err);
}

static bool apply_basic(struct arena *scratch, const struct auth_values *values,
                        struct http_request *made, struct error *err)
{
    struct buf pair, coded;

    if (str_find_char(values->username, ':') < values->username.len)
        return error_set(err, ERROR_FATAL, "auth.value",
                         "a user's name with a colon is not possible in basic authentication");
    buf_init(&pair, scratch, SECRET_TEXT_MAX);
    buf_add(&pair, values->username);
    buf_add_char(&pair, ':');
    buf_add(&pair, values->secret);
    buf_init(&coded, scratch, SECRET_TEXT_MAX);
    base64_encode(&coded, buf_str(&pair));
    return buf_ok(&pair, err) && buf_ok(&coded, err) &&
           add_header(scratch, made, authorization(scratch, "Basic", buf_str(&coded)), err);
}

static bool apply_hook(struct arena *scratch, const struct http_auth *auth,
                       const struct auth_values *values, struct http_request *made,
                       struct error *err)
{
    const struct signature_hook *hook = signature_hook_find(auth->signing_hook);
    struct signature signature = { 0 };

    if (hook == NULL)
        return error_set(err, ERROR_FATAL, "auth.hook", "there is no signing hook %s",
                         QUOTE(auth->signing_hook));
    if (!hook->sign(scratch,
                    &(struct signature_input){ .request = made,
                                               .now_us = values->now_us,
                                               .key_id = values->username,
                                               .key = values->secret },
                    &signature, err))
        return false;
    for (size_t i = 0; i < signature.count; i++) {
        if (!http_is_header_value(signature.headers[i].value))
            return error_set(err, ERROR_FATAL, "auth.value",
                             "the key's id has a line end or a control character");
    }
    return add_headers(scratch, made, signature.headers, signature.count, err);
}

bool auth_apply(struct arena *scratch, const struct http_request *request,
                const struct auth_values *values, struct http_request *made, struct error *err)
{
    const struct http_auth *auth = request->auth;

    *made = *request;
    made->auth = NULL;
    switch (auth->type) {
    case AUTH_NONE:
        return true;
    case AUTH_API_KEY:
        return apply_key(scratch, auth, values, made, err);
    case AUTH_BASIC:
        return apply_basic(scratch, values, made, err);
    case AUTH_BEARER:
    case AUTH_OAUTH2:
        return add_header(scratch, made, authorization(scratch, "Bearer", values->secret), err);
    case AUTH_CUSTOM:
        return apply_hook(scratch, auth, values, made, err);
    }
    return false;
}
