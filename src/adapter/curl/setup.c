/* Sets the options of an easy handle for one request. */
#include <stdlib.h>
#include <string.h>

#include "adapter/curl/transfer.h"
#include "adapter/curl/unpack.h"

/* For one read of the socket. With less, large bodies take too many calls. */
enum { RECEIVE_BYTES = 512 << 10 };

/* A server that has moved must be found by the next retries. Connections are kept, so that names
 * are looked up rarely all the same. */
enum { NAME_KEPT_SECONDS = 2 };

/* ---- headers ---- */

/* The nodes of the list are in the scratch arena, so that no copy of a credential outlives its
 * wipe. The library only reads them. */
static bool add_line(struct transfer *t, struct curl_slist ***end, const char *line,
                     struct error *err)
{
    struct curl_slist *node = ARENA_NEW(&t->scratch, struct curl_slist);

    if (node == NULL)
        return arena_error(&t->scratch, err);
    node->data = (char *)line;
    **end = node;
    *end = &node->next;
    return true;
}

/* "Name: value", or "Name;" for an empty value, as the library wants it. */
static bool add_header(struct transfer *t, struct curl_slist ***end, struct str name,
                       struct str value, struct error *err)
{
    const struct str between = value.len > 0 ? STR(": ") : STR(";");
    char *line = arena_alloc(&t->scratch, name.len + between.len + value.len + 1);

    if (line == NULL)
        return arena_error(&t->scratch, err);
    memcpy(line, name.data, name.len);
    memcpy(line + name.len, between.data, between.len);
    if (value.len > 0)
        memcpy(line + name.len + between.len, value.data, value.len);
    return add_line(t, end, line, err);
}

static bool has_header(const struct http_request *request, struct str name)
{
    const struct http_headers headers = { (struct http_header *)request->headers,
                                          request->header_count };

    return http_header_find(headers, name, NULL) != NULL;
}

/* Headers that requests have besides their own; an empty value is not sent. */
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
    /* What the library would add: an Expect that costs a second, the type of a form for every body.
     */
    if (!add_line(t, end, "Expect:", err))
        return false;
    return has_header(request, STR("Content-Type")) || add_line(t, end, "Content-Type:", err);
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

/* ---- options that stay ---- */

static bool set_transport(struct transfer *t)
{
    CURLcode result = CURLE_OK;

    result |= curl_easy_setopt(t->easy, CURLOPT_NOSIGNAL, 1L);
    /* A thread of the library looks names up. A request that is given up must not wait for it: the
     * resolver's own timeout is longer than any of ours. */
    result |= curl_easy_setopt(t->easy, CURLOPT_QUICK_EXIT, 1L);
    result |= curl_easy_setopt(t->easy, CURLOPT_DNS_CACHE_TIMEOUT, (long)NAME_KEPT_SECONDS);
    result |=
        curl_easy_setopt(t->easy, CURLOPT_PATH_AS_IS, 1L); /* the path is sent as it was signed */
    result |= curl_easy_setopt(t->easy, CURLOPT_FOLLOWLOCATION, 0L);
    result |= curl_easy_setopt(t->easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    result |= curl_easy_setopt(t->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    result |= curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYPEER, 1L);
    result |= curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYHOST, 2L);
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
    result |= curl_easy_setopt(t->easy, CURLOPT_HEADERFUNCTION, transfer_on_header);
    result |= curl_easy_setopt(t->easy, CURLOPT_HEADERDATA, t);
    result |= curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, transfer_on_body);
    result |= curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
    result |= curl_easy_setopt(t->easy, CURLOPT_PREREQFUNCTION, transfer_on_connected);
    result |= curl_easy_setopt(t->easy, CURLOPT_PREREQDATA, t);
    result |= curl_easy_setopt(t->easy, CURLOPT_XFERINFOFUNCTION, transfer_on_progress);
    result |= curl_easy_setopt(t->easy, CURLOPT_XFERINFODATA, t);
    return result == CURLE_OK;
}

/* ---- the way: options that stay while the source does ---- */

static bool is_same_way(const struct transfer *t)
{
    return t->way.is_set && t->way.allow_plain_http == t->hop.allow_plain_http &&
           str_eq(str_of(t->way.proxy), t->hop.proxy) &&
           str_eq(str_of(t->way.ca_file), t->hop.ca_file);
}

static bool set_way(struct transfer *t)
{
    const struct http_request *request = &t->hop;
    CURLcode result = CURLE_OK;

    result |= curl_easy_setopt(t->easy, CURLOPT_PROTOCOLS_STR,
                               request->allow_plain_http ? "http,https" : "https");
    if (!str_eq(request->proxy, STR("env"))) {
        result |= curl_easy_setopt(t->easy, CURLOPT_PROXY, request->proxy.data);
        result |= curl_easy_setopt(t->easy, CURLOPT_NOPROXY, "");
    }
    if (request->ca_file.len > 0) {
        result |= curl_easy_setopt(t->easy, CURLOPT_CAINFO, request->ca_file.data);
        result |= curl_easy_setopt(t->easy, CURLOPT_CAPATH, NULL);
    }
    return result == CURLE_OK;
}

void transfer_forget_way(struct transfer *t)
{
    if (t->way.proxy != NULL)
        explicit_bzero(t->way.proxy, strlen(t->way.proxy)); /* it may have a password in it */
    free(t->way.proxy);
    free(t->way.ca_file);
    memset(&t->way, 0, sizeof(t->way));
}

static bool remember_way(struct transfer *t)
{
    t->way.proxy = strdup(t->hop.proxy.data);
    t->way.ca_file = strdup(t->hop.ca_file.data);
    t->way.allow_plain_http = t->hop.allow_plain_http;
    t->way.is_set = t->way.proxy != NULL && t->way.ca_file != NULL;
    return t->way.is_set;
}

/* An easy handle as new. One that served an HTTP/2 stream may still hold that stream's buffer and
 * then refuses a new size. Another one costs little: the connections belong to the multi. */
static bool make_blank(struct transfer *t)
{
    transfer_forget_way(t);
    curl_easy_reset(t->easy);
    if (curl_easy_setopt(t->easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES) != CURLE_OK) {
        curl_easy_cleanup(t->easy);
        t->easy = curl_easy_init();
        if (t->easy == NULL)
            return false;
        (void)curl_easy_setopt(t->easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES);
    }
    return set_transport(t) && set_callbacks(t) && set_way(t) && remember_way(t);
}

/* ---- the request: options of this one, each set every time ---- */

static bool set_method(struct transfer *t)
{
    const struct http_request *request = &t->hop;
    const bool is_get = str_eq(request->method, STR("GET"));
    const bool is_head = str_eq(request->method, STR("HEAD"));
    CURLcode result = CURLE_OK;

    /* GET first: it undoes what the last request set. */
    result |= curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, NULL);
    result |= curl_easy_setopt(t->easy, CURLOPT_HTTPGET, 1L);
    result |= curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST,
                               is_get || is_head ? NULL : request->method.data);
    if (is_head)
        result |= curl_easy_setopt(t->easy, CURLOPT_NOBODY, 1L);
    if (request->body.len > 0 || str_eq(request->method, STR("POST"))) {
        result |=
            curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        result |= curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS,
                                   request->body.len > 0 ? request->body.data : "");
    }
    return result == CURLE_OK;
}

static bool set_request(struct transfer *t)
{
    const int64_t connect_ms = (t->request.timeouts.connect_us + 999) / 1000;
    CURLcode result = CURLE_OK;

    result |= curl_easy_setopt(t->easy, CURLOPT_URL, t->hop.url.data);
    result |= curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->lines);
    result |= curl_easy_setopt(t->easy, CURLOPT_FORBID_REUSE, 0L);
    result |= curl_easy_setopt(t->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    /* A long upload is not silence: its progress must be counted. */
    result |= curl_easy_setopt(t->easy, CURLOPT_NOPROGRESS, t->hop.body.len > 0 ? 0L : 1L);
    return result == CURLE_OK && set_method(t);
}

bool transfer_setup(struct transfer *t, struct error *err)
{
    t->text[0] = '\0';
    if (!make_lines(t, err))
        return false;
    if ((is_same_way(t) || make_blank(t)) && set_request(t))
        return true;
    if (t->easy == NULL)
        return error_set(err, ERROR_TRANSIENT, "http.resource", "no memory for a request");
    return error_set(err, ERROR_FATAL, "http.module", "libcurl %s refuses an option",
                     curl_version_info(CURLVERSION_NOW)->version);
}
