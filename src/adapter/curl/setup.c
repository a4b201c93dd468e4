#include "adapter/curl/transfer.h"
#include "adapter/curl/unpack.h"
#include "data/url.h"

/* One read of the socket: with less, large bodies cost more calls than bytes. */
enum { RECEIVE_BYTES = 512 << 10 };

/* ---- headers ---- */

/* The list's nodes lie in the scratch arena, so that no copy of a credential outlives the wiping;
 * the library only reads them. */
static bool add_line(struct transfer *t, struct curl_slist ***end, struct str line,
                     struct error *err)
{
    struct curl_slist *node = ARENA_NEW(&t->scratch, struct curl_slist);

    if (node == NULL || line.data == NULL)
        return arena_error(&t->scratch, err);
    node->data = (char *)line.data;
    **end = node;
    *end = &node->next;
    return true;
}

static bool add_header(struct transfer *t, struct curl_slist ***end, struct str name,
                       struct str value, struct error *err)
{
    /* A name with a semicolon is how the library is told to send an empty value. */
    const struct str line =
        value.len > 0 ? arena_printf(&t->scratch, "%.*s: %.*s", STR_ARG(name), STR_ARG(value))
                      : arena_printf(&t->scratch, "%.*s;", STR_ARG(name));

    return add_line(t, end, line, err);
}

static bool has_header(const struct http_request *request, struct str name)
{
    const struct http_headers headers = { (struct http_header *)request->headers,
                                          request->header_count };

    return http_header_find(headers, name, NULL) != NULL;
}

/* What requests say of themselves besides their own headers; an empty value is not sent. */
static bool add_own(struct transfer *t, struct curl_slist ***end, struct error *err)
{
    const struct http_request *request = &t->hop;
    const struct http_header own[] = {
        { STR("User-Agent"), str_of(t->user_agent) },
        { STR("Accept-Encoding"), request->no_compression ? STR("") : STR(UNPACK_ACCEPTED) },
        { STR("X-Ingest-Correlation-Id"), request->correlation_id },
        { STR("traceparent"), request->traceparent },
        { STR("tracestate"), request->tracestate },
    };

    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        if (own[i].value.len > 0 && !has_header(request, own[i].name) &&
            !add_header(t, end, own[i].name, own[i].value, err))
            return false;
    }
    /* The library's own ideas: an Expect that costs a second, a form's type for every body. */
    if (!add_line(t, end, STR("Expect:"), err))
        return false;
    return has_header(request, STR("Content-Type")) || add_line(t, end, STR("Content-Type:"), err);
}

static bool make_lines(struct transfer *t, struct error *err)
{
    struct curl_slist **end = &t->lines;

    t->lines = NULL;
    for (size_t i = 0; i < t->hop.header_count; i++) {
        if (!add_header(t, &end, t->hop.headers[i].name, t->hop.headers[i].value, err))
            return false;
    }
    return add_own(t, &end, err);
}

/* ---- options ---- */

static bool set_method(struct transfer *t)
{
    const struct http_request *request = &t->hop;
    CURLcode result = CURLE_OK;

    if (str_eq(request->method, STR("GET")))
        return curl_easy_setopt(t->easy, CURLOPT_HTTPGET, 1L) == CURLE_OK;
    if (str_eq(request->method, STR("HEAD")))
        return curl_easy_setopt(t->easy, CURLOPT_NOBODY, 1L) == CURLE_OK;
    if (request->body.len > 0 || str_eq(request->method, STR("POST"))) {
        result |=
            curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        result |= curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS,
                                   request->body.len > 0 ? request->body.data : "");
    }
    result |= curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, request->method.data);
    return result == CURLE_OK;
}

/* Where it goes, and that it goes nowhere else. */
static bool set_way(struct transfer *t)
{
    const struct http_request *request = &t->hop;
    CURLcode result = CURLE_OK;

    result |= curl_easy_setopt(t->easy, CURLOPT_URL, request->url.data);
    result |= curl_easy_setopt(t->easy, CURLOPT_PATH_AS_IS, 1L); /* what is signed is sent */
    result |= curl_easy_setopt(t->easy, CURLOPT_PROTOCOLS_STR,
                               request->allow_plain_http ? "http,https" : "https");
    result |= curl_easy_setopt(t->easy, CURLOPT_FOLLOWLOCATION, 0L);
    if (!str_eq(request->proxy, STR("env"))) {
        result |= curl_easy_setopt(t->easy, CURLOPT_PROXY, request->proxy.data);
        result |= curl_easy_setopt(t->easy, CURLOPT_NOPROXY, "");
    }
    result |= curl_easy_setopt(t->easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    result |= curl_easy_setopt(t->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    result |= curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYPEER, 1L);
    result |= curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYHOST, 2L);
    if (request->ca_file.len > 0) {
        result |= curl_easy_setopt(t->easy, CURLOPT_CAINFO, request->ca_file.data);
        result |= curl_easy_setopt(t->easy, CURLOPT_CAPATH, NULL);
    }
    return result == CURLE_OK;
}

static bool set_transport(struct transfer *t)
{
    const int64_t connect_ms = (t->request.timeouts.connect_us + 999) / 1000;
    CURLcode result = CURLE_OK;

    result |= curl_easy_setopt(t->easy, CURLOPT_NOSIGNAL, 1L);
    result |= curl_easy_setopt(t->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    result |= curl_easy_setopt(t->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    result |= curl_easy_setopt(t->easy, CURLOPT_PIPEWAIT, 1L); /* one connection, many streams */
    result |= curl_easy_setopt(t->easy, CURLOPT_TCP_KEEPALIVE, 1L);
    result |= curl_easy_setopt(t->easy, CURLOPT_HTTP_CONTENT_DECODING, 0L); /* unpack.h */
    return result == CURLE_OK;
}

static bool set_callbacks(struct transfer *t)
{
    CURLcode result = CURLE_OK;

    result |= curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
    result |= curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->text);
    result |= curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->lines);
    result |= curl_easy_setopt(t->easy, CURLOPT_HEADERFUNCTION, transfer_on_header);
    result |= curl_easy_setopt(t->easy, CURLOPT_HEADERDATA, t);
    result |= curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, transfer_on_body);
    result |= curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
    result |= curl_easy_setopt(t->easy, CURLOPT_PREREQFUNCTION, transfer_on_connected);
    result |= curl_easy_setopt(t->easy, CURLOPT_PREREQDATA, t);
    if (t->hop.body.len > 0) { /* a long upload is no silence */
        result |= curl_easy_setopt(t->easy, CURLOPT_NOPROGRESS, 0L);
        result |= curl_easy_setopt(t->easy, CURLOPT_XFERINFOFUNCTION, transfer_on_progress);
        result |= curl_easy_setopt(t->easy, CURLOPT_XFERINFODATA, t);
    }
    return result == CURLE_OK;
}

/* A handle that served a stream of HTTP/2 may still hold that stream's buffer, and then refuses to
 * hear of its size again. Another handle costs little: the connections are the multi's. */
static bool make_blank(struct transfer *t)
{
    curl_easy_reset(t->easy);
    if (curl_easy_setopt(t->easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES) == CURLE_OK)
        return true;
    curl_easy_cleanup(t->easy);
    t->easy = curl_easy_init();
    return t->easy != NULL &&
           curl_easy_setopt(t->easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES) == CURLE_OK;
}

bool transfer_setup(struct transfer *t, struct error *err)
{
    if (!make_blank(t))
        return error_set(err, ERROR_TRANSIENT, "http.resource", "no memory for a request");
    t->text[0] = '\0';
    if (!make_lines(t, err))
        return false;
    if (set_method(t) && set_way(t) && set_transport(t) && set_callbacks(t))
        return true;
    return error_set(err, ERROR_FATAL, "http.module", "libcurl %s refuses an option",
                     curl_version_info(CURLVERSION_NOW)->version);
}
