/* curl_http: the http port over libcurl, in a module of its own (patra-curl.so).
 *
 * Connections are kept and reused, with HTTP/2 where TLS negotiates it. Compressed bodies (gzip,
 * deflate, br, zstd) are decoded here, because only so are both sizes limited and the end of the
 * coding checked. TLS is verified, 1.2 or later. A proxy is used only where the request names one.
 * Redirects follow our own rules (data/http_redirect.h), never those of the library.
 *
 * Threads. http_send works in the caller's thread. The first http_start gives the handle a thread,
 * which ends with the handle. While requests are started, only that thread calls the library, and
 * http_send passes its request to it. The thread takes no signals.
 */
#ifndef PATRA_ADAPTER_CURL_CURL_HTTP_H
#define PATRA_ADAPTER_CURL_CURL_HTTP_H

#include "base/module.h"
#include "port/http.h"
#include "port/mail.h"

struct curl_http_options {
    struct str user_agent; /* of requests without one; empty: "patra/VERSION" */
};

/* What the module exports. */
struct curl_library {
    struct module_head head;
    bool (*open)(const struct curl_http_options *options, struct http **http, struct error *err);
    mail_send mail;
};

/* Loads the module if it is not loaded yet. options may be NULL. */
bool curl_http_open(const struct curl_http_options *options, struct http **http,
                    struct error *err) MUST_CHECK;

/* The same module sends mails. */
bool curl_http_mail(const struct mail *mail, struct error *err) MUST_CHECK;

#endif
