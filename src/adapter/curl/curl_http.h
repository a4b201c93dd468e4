/* curl_http: the http port by libcurl, which lives in a module of its own (patra-curl.so).
 *
 * Connections are kept alive and used again, HTTP/2 where TLS agrees on it; compressed bodies
 * (gzip, deflate, br, zstd) are undone here, because only then are both sizes limited and the end
 * of the coding seen. TLS is verified, 1.2 or later. Proxies come from the request alone. Redirects
 * are followed by rules of our own (data/http_redirect.h), never by the library.
 *
 * Threads. http_send works in the caller's thread. The first http_start makes the handle a thread,
 * which ends with it; while requests are started it alone touches the library, and http_send hands
 * its request to it. That thread takes no signals.
 */
#ifndef PATRA_ADAPTER_CURL_CURL_HTTP_H
#define PATRA_ADAPTER_CURL_CURL_HTTP_H

#include "base/module.h"
#include "port/http.h"

struct curl_http_options {
    struct str user_agent; /* of requests that bring none; empty: "patra/VERSION" */
};

/* What the module exports. */
struct curl_library {
    struct module_head head;
    bool (*open)(const struct curl_http_options *options, struct http **http, struct error *err);
};

/* Loads the module where it was not loaded yet. `options` may be NULL. */
bool curl_http_open(const struct curl_http_options *options, struct http **http,
                    struct error *err) MUST_CHECK;

#endif
