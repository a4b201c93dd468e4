/* Headers, redaction, checks and copies of requests. */
#include "data/http_message.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/quote.h"
#include "data/url.h"

enum { SECRET_NAMES_MAX = 64, METHOD_BYTES_MAX = 16 };

/* ---- headers ---- */

const struct http_header *http_header_find(struct http_headers headers, struct str name,
                                           const struct http_header *after)
{
    const size_t from = after == NULL ? 0 : (size_t)(after - headers.items) + 1;

    for (size_t i = from; i < headers.count; i++) {
        if (str_eq_nocase(headers.items[i].name, name))
            return headers.items + i;
    }
    return NULL;
}

struct str http_header_value(struct http_headers headers, struct str name)
{
    const struct http_header *header = http_header_find(headers, name, NULL);

    return header != NULL ? header->value : (struct str){ NULL, 0 };
}

bool http_is_token(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!is_letter && !(c >= '0' && c <= '9') &&
            (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL))
            return false;
    }
    return text.len > 0;
}

bool http_is_header_value(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.data[i];

        if ((c < ' ' && c != '\t') || c == 0x7F)
            return false;
    }
    return true;
}

/* ---- secrets ---- */

static const struct str ALWAYS_SECRET[] = {
    STR_INIT("authorization"), STR_INIT("proxy-authorization"),
    STR_INIT("cookie"),        STR_INIT("set-cookie"),
    STR_INIT("x-api-key"),     STR_INIT("api_key"),
    STR_INIT("apikey"),        STR_INIT("api-key"),
    STR_INIT("access_token"),  STR_INIT("client_secret"),
    STR_INIT("password"),      STR_INIT("signature"),
};
static_assert(ARRAY_LEN(ALWAYS_SECRET) < SECRET_NAMES_MAX / 2, "a request may add as many");

bool http_is_secret_name(const struct http_request *request, struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(ALWAYS_SECRET); i++) {
        if (str_eq_nocase(ALWAYS_SECRET[i], name))
            return true;
    }
    for (size_t i = 0; i < request->secret_count; i++) {
        if (str_eq_nocase(request->secret_names[i], name))
            return true;
    }
    return false;
}

void http_redact_url(struct buf *out, const struct http_request *request, struct str url)
{
    struct str names[SECRET_NAMES_MAX];
    size_t count = ARRAY_LEN(ALWAYS_SECRET);

    memcpy(names, ALWAYS_SECRET, sizeof(ALWAYS_SECRET));
    for (size_t i = 0; i < request->secret_count && count < SECRET_NAMES_MAX; i++)
        names[count++] = request->secret_names[i];
    url_redact(out, url, names, count);
}

struct http_title http_title(const struct http_request *request, struct str url)
{
    const struct str method =
        request->method.len > 0 ? str_slice(request->method, 0, METHOD_BYTES_MAX) : STR("GET");
    struct http_title title;
    struct arena arena;
    struct buf text;

    arena_init(&arena, 2 * HTTP_TOLD_URL_BYTES_MAX);
    buf_init(&text, &arena, HTTP_TOLD_URL_BYTES_MAX);
    http_redact_url(&text, request, str_slice(url, 0, HTTP_URL_BYTES_MAX));
    if (text.failed)
        buf_clear(&text); /* better nothing than a secret */
    (void)snprintf(title.text, sizeof(title.text), "%.*s %.*s", STR_ARG(method),
                   STR_ARG(buf_str(&text)));
    arena_release(&arena);
    return title;
}

/* ---- checking ---- */

/* Headers that the transport writes. A second one could make two readers of the message disagree
 * about where it ends. */
static const struct str TRANSPORTS_OWN[] = {
    STR_INIT("connection"), STR_INIT("content-length"),    STR_INIT("expect"),
    STR_INIT("host"),       STR_INIT("keep-alive"),        STR_INIT("te"),
    STR_INIT("trailer"),    STR_INIT("transfer-encoding"), STR_INIT("upgrade"),
};

static bool check_url(const struct http_request *request, struct error *err)
{
    struct url url;
    struct error cause;

    if (request->url.len > HTTP_URL_BYTES_MAX)
        return error_set(err, ERROR_REQUEST, "http.url", "%s: the URL has more than %d bytes",
                         http_title(request, request->url).text, HTTP_URL_BYTES_MAX);
    if (!url_parse(request->url, &url, &cause)) /* its text quotes the whole URL */
        return error_set(err, ERROR_REQUEST, "http.url",
                         "%s: not a URL: no scheme and host, or "
                         "characters that must be encoded",
                         http_title(request, request->url).text);
    if (url.userinfo.data != NULL)
        return error_set(err, ERROR_REQUEST, "http.url",
                         "%s: user and password belong in auth, not in the URL",
                         http_title(request, request->url).text);
    if (str_eq_nocase(url.scheme, STR("https")))
        return true;
    if (!str_eq_nocase(url.scheme, STR("http")))
        return error_set(err, ERROR_REQUEST, "http.url", "%s: the scheme is neither https nor http",
                         http_title(request, request->url).text);
    if (!request->allow_plain_http)
        return error_set(err, ERROR_REQUEST, "http.plain",
                         "%s: plain HTTP is not allowed (set http.allow_plain_http to permit it)",
                         http_title(request, request->url).text);
    return true;
}

/* The message does not quote it: it may have a password. */
static bool check_proxy(const struct http_request *request, struct error *err)
{
    static const struct str schemes[] = { STR_INIT("http"), STR_INIT("https"), STR_INIT("socks5"),
                                          STR_INIT("socks5h") };
    struct url url;
    struct error cause;

    if (request->proxy.len == 0 || str_eq(request->proxy, STR("env")))
        return true;
    for (size_t i = 0; url_parse(request->proxy, &url, &cause) && i < ARRAY_LEN(schemes); i++) {
        if (str_eq_nocase(url.scheme, schemes[i]))
            return true;
    }
    return error_set(err, ERROR_REQUEST, "http.url",
                     "%s: the proxy is not a URL of http, https, socks5 or socks5h",
                     http_title(request, request->url).text);
}

static bool check_header(const struct http_request *request, struct http_header header,
                         struct error *err)
{
    if (!http_is_token(header.name))
        return error_set(err, ERROR_REQUEST, "http.header", "%s: %s is not a valid header name",
                         http_title(request, request->url).text, QUOTE(header.name));
    for (size_t i = 0; i < ARRAY_LEN(TRANSPORTS_OWN); i++) {
        if (str_eq_nocase(TRANSPORTS_OWN[i], header.name))
            return error_set(err, ERROR_REQUEST, "http.header",
                             "%s: the header %.*s is set by the transport; remove it",
                             http_title(request, request->url).text, STR_ARG(header.name));
    }
    if (!http_is_header_value(header.value))
        return error_set(err, ERROR_REQUEST, "http.header",
                         "%s: the value of header %.*s contains a line break or control character",
                         http_title(request, request->url).text, STR_ARG(header.name));
    return true;
}

static bool check_headers(const struct http_request *request, struct error *err)
{
    const struct http_header own[] = {
        { STR("X-Ingest-Correlation-Id"), request->correlation_id },
        { STR("traceparent"), request->traceparent },
        { STR("tracestate"), request->tracestate },
    };

    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        if (!check_header(request, own[i], err))
            return false;
    }
    for (size_t i = 0; i < request->header_count; i++) {
        if (!check_header(request, request->headers[i], err))
            return false;
    }
    return true;
}

static bool check_method(const struct http_request *request, struct error *err)
{
    const bool is_read =
        str_eq(request->method, STR("GET")) || str_eq(request->method, STR("HEAD"));

    if (!http_is_token(request->method) || request->method.len > METHOD_BYTES_MAX)
        return error_set(err, ERROR_REQUEST, "http.method", "%s is not a valid method",
                         QUOTE(request->method));
    if (is_read && request->body.len > 0)
        return error_set(err, ERROR_REQUEST, "http.method", "%s: a %.*s has no body",
                         http_title(request, request->url).text, STR_ARG(request->method));
    return true;
}

/* Zero means `usual`. */
static bool check_number(const char *name, int64_t *value, int64_t usual, int64_t max,
                         struct error *err)
{
    if (*value == 0)
        *value = usual;
    if (*value < 0 || *value > max)
        return error_set(err, ERROR_REQUEST, "http.limit", "%s is %lld; the range is 1 to %lld",
                         name, (long long)*value, (long long)max);
    return true;
}

static bool check_numbers(struct http_request *request, struct error *err)
{
    struct http_timeouts *timeouts = &request->timeouts;
    struct http_limits *limits = &request->limits;

    if (limits->headers_max == 0)
        limits->headers_max = HTTP_HEADERS_MAX;
    if (limits->headers_max > (size_t)10 * HTTP_HEADERS_MAX ||
        request->secret_count > SECRET_NAMES_MAX - ARRAY_LEN(ALWAYS_SECRET))
        return error_set(err, ERROR_REQUEST, "http.limit", "too many headers or secret names");
    if (request->redirects_max < 0 || request->redirects_max > HTTP_REDIRECTS_MAX)
        return error_set(err, ERROR_REQUEST, "http.limit",
                         "redirects_max is %d; the range is 0 to %d", request->redirects_max,
                         HTTP_REDIRECTS_MAX);
    return check_number("connect_us", &timeouts->connect_us, HTTP_CONNECT_TIMEOUT_US,
                        HTTP_SILENCE_MAX_US, err) &&
           check_number("idle_us", &timeouts->idle_us, HTTP_IDLE_TIMEOUT_US, HTTP_SILENCE_MAX_US,
                        err) &&
           check_number("total_us", &timeouts->total_us, HTTP_TOTAL_TIMEOUT_US, HTTP_TOTAL_MAX_US,
                        err) &&
           check_number("body_bytes_max", &limits->body_bytes_max, HTTP_BODY_BYTES_MAX,
                        HTTP_BODY_BYTES_MAX, err) &&
           check_number("inflated_bytes_max", &limits->inflated_bytes_max, HTTP_BODY_BYTES_MAX,
                        HTTP_BODY_BYTES_MAX, err) &&
           check_number("header_bytes_max", &limits->header_bytes_max, HTTP_HEADER_BYTES_MAX,
                        4 * HTTP_HEADER_BYTES_MAX, err);
}

bool http_request_check(struct http_request *request, struct error *err)
{
    if (request->method.len == 0)
        request->method = STR("GET");
    return check_method(request, err) && check_url(request, err) && check_proxy(request, err) &&
           check_headers(request, err) && check_numbers(request, err);
}

/* ---- copying ---- */

struct copier { /* keeps the first failure */
    struct arena *arena;
    bool is_full;
};

static struct str copy_str(struct copier *to, struct str text)
{
    const struct str copy = arena_copy(to->arena, text);

    to->is_full = to->is_full || copy.data == NULL;
    return copy;
}

static struct str *copy_names(struct copier *to, const struct str *names, size_t count)
{
    struct str *copy = ARENA_ARRAY(to->arena, struct str, count);

    to->is_full = to->is_full || copy == NULL;
    for (size_t i = 0; !to->is_full && i < count; i++)
        copy[i] = copy_str(to, names[i]);
    return copy;
}

static struct http_header *copy_headers(struct copier *to, const struct http_header *headers,
                                        size_t count)
{
    struct http_header *copy = ARENA_ARRAY(to->arena, struct http_header, count);

    to->is_full = to->is_full || copy == NULL;
    for (size_t i = 0; !to->is_full && i < count; i++) {
        copy[i].name = copy_str(to, headers[i].name);
        copy[i].value = copy_str(to, headers[i].value);
    }
    return copy;
}

bool http_request_copy(struct arena *arena, const struct http_request *request,
                       struct http_request *copy, struct error *err)
{
    struct copier to = { .arena = arena };

    *copy = *request;
    copy->method = copy_str(&to, request->method);
    copy->url = copy_str(&to, request->url);
    copy->headers = copy_headers(&to, request->headers, request->header_count);
    copy->body = copy_str(&to, request->body);
    copy->redirect_origins =
        copy_names(&to, request->redirect_origins, request->redirect_origin_count);
    copy->proxy = copy_str(&to, request->proxy);
    copy->ca_file = copy_str(&to, request->ca_file);
    copy->secret_names = copy_names(&to, request->secret_names, request->secret_count);
    copy->correlation_id = copy_str(&to, request->correlation_id);
    copy->traceparent = copy_str(&to, request->traceparent);
    copy->tracestate = copy_str(&to, request->tracestate);
    return !to.is_full || arena_error(arena, err);
}
