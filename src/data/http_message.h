/* http_message: a request to send, and a response as it was received. Values only; port/http.h
 * sends them.
 *
 *      struct http_request request = {
 *          .url = STR("https://api.example.org/works?rows=100"),
 *          .secret_names = names, .secret_count = 1,
 *      };
 *
 * A member that is zero means its default. All views are borrowed: they must live until the
 * response is received.
 */
#ifndef PATRA_DATA_HTTP_MESSAGE_H
#define PATRA_DATA_HTTP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/instant.h"
#include "base/str.h"

/* Defaults, and the largest values allowed. */
#define HTTP_CONNECT_TIMEOUT_US (10 * US_PER_SECOND)
#define HTTP_IDLE_TIMEOUT_US (30 * US_PER_SECOND)
#define HTTP_TOTAL_TIMEOUT_US (5 * US_PER_MINUTE)
#define HTTP_SILENCE_MAX_US (120 * US_PER_SECOND) /* of connect and idle */
#define HTTP_TOTAL_MAX_US US_PER_HOUR
#define HTTP_BODY_BYTES_MAX (INT64_C(64) << 20)
#define HTTP_HEADER_BYTES_MAX (INT64_C(64) << 10)
enum {
    HTTP_HEADERS_MAX = 128,
    HTTP_REDIRECTS_MAX = 3, /* more of them is a loop or a login page */
    HTTP_URL_BYTES_MAX = 64 << 10,
};

struct http_header {
    struct str name;
    struct str value;
};

struct http_headers {
    struct http_header *items; /* in the order received, repeated ones separate */
    size_t count;
};

struct http_timeouts {
    int64_t connect_us; /* name, connection and TLS together */
    int64_t idle_us;    /* without a byte in either direction, before the first one too */
    int64_t total_us;   /* for the whole request, redirects included */
};

struct http_limits {
    int64_t body_bytes_max;     /* of the body as transferred */
    int64_t inflated_bytes_max; /* of the body after decoding */
    int64_t header_bytes_max;   /* status line and headers */
    size_t headers_max;
};

struct http_auth; /* port/http_auth.h */

/* Called while a response is waited for, whether bytes come or not: that waiting has an end is for
 * the timeouts. Embed it as the first member. */
#define HTTP_WATCH_US (200 * US_PER_MS) /* the longest time between two calls */
struct http_watch {
    void (*waits)(struct http_watch *watch);
};

struct http_response;

/* Takes a response as soon as it is complete. Embed it as the first member. */
struct http_taker {
    void (*take)(struct http_taker *taker, const struct http_response *reply);
};

struct http_request {
    struct str method; /* empty is GET */
    struct str url;    /* absolute; user and password belong in auth */
    const struct http_header *headers;
    size_t header_count;
    struct str body;
    struct http_timeouts timeouts;
    struct http_limits limits;

    /* Redirects are off by default. When they are on, they are followed for GET and HEAD, at most
     * three, and only to the request's own scheme, host and port, or to an origin listed here
     * ("https://cdn.example.org"), which then receives no credential. */
    int redirects_max;
    const struct str *redirect_origins;
    size_t redirect_origin_count;

    bool allow_plain_http;
    bool no_compression;
    struct str proxy; /* empty: none, whatever the environment has; "env": that of the environment;
                       * or http, https, socks5h://[user:password@]host:port */
    struct str ca_file; /* PEM; empty: the system's. There is no way to skip verification. */

    /* Headers and query parameters whose values are never shown and never sent to another origin,
     * in addition to the known ones (http_is_secret_name). */
    const struct str *secret_names;
    size_t secret_count;

    struct str correlation_id; /* X-Ingest-Correlation-Id */
    struct str traceparent;    /* W3C Trace Context */
    struct str tracestate;

    const struct http_auth *auth; /* NULL: none */
    struct http_watch *watch;     /* called by the thread that waits for the response; NULL: none */
    struct http_taker *taker;     /* of a started request (port/http.h); NULL: none */
};

struct http_timings { /* since the start of the (last) request; 0 for what did not happen */
    int64_t name_us;
    int64_t connect_us;
    int64_t tls_us;
    int64_t first_byte_us;
    int64_t total_us;
};

struct http_response {
    int status;  /* 0: none was received */
    int version; /* 10, 11, 20, 30 */
    struct http_headers headers;
    struct str body;    /* decoded */
    bool body_cut;      /* the body is incomplete; only with a status other than 2xx */
    int64_t wire_bytes; /* of the body as transferred */
    struct str url;     /* where the response came from, after redirects; secrets are *** */
    struct str address; /* "192.0.2.1:443": the server's, or the proxy's */
    int redirects;      /* followed */
    int attempts;       /* how often it was sent, not counting redirects: 2 after a new token */
    bool reused;        /* over an existing connection */
    struct http_timings timings;
};

/* The next header of this name (case does not matter) after `after`, or the first when after is
 * NULL; NULL when there is none. */
const struct http_header *http_header_find(struct http_headers headers, struct str name,
                                           const struct http_header *after);
/* The value of the first header of this name; data is NULL when there is none. */
struct str http_header_value(struct http_headers headers, struct str name);

bool http_is_token(struct str text);        /* valid as a method or a header name (RFC 9110) */
bool http_is_header_value(struct str text); /* no control characters except tab */

/* True for names that always have secrets (Authorization, Cookie, api_key, ...) and for the
 * request's own. */
bool http_is_secret_name(const struct http_request *request, struct str name);

/* The request's URL, or another that belongs to it, with its secrets redacted. That can make it
 * longer: "***" for an empty value. */
#define HTTP_TOLD_URL_BYTES_MAX ((size_t)4 * HTTP_URL_BYTES_MAX)
void http_redact_url(struct buf *out, const struct http_request *request, struct str url);
/* "GET https://host/path?api_key=***", truncated to fit: the start of error texts. */
enum { HTTP_TITLE_MAX = 400 };
struct http_title {
    char text[HTTP_TITLE_MAX];
};
struct http_title http_title(const struct http_request *request, struct str url);

/* Checks a request before it is sent, and fills in the defaults. L2: "http.url" (not http or https,
 * too long, or with a user in it), "http.plain" (not https, and plain HTTP is not allowed),
 * "http.header" and "http.method" (characters that could change the message), "http.limit" (a
 * timeout or limit beyond its maximum). */
bool http_request_check(struct http_request *request, struct error *err) MUST_CHECK;

/* A deep copy in the arena, except for auth, which stays the caller's. */
bool http_request_copy(struct arena *arena, const struct http_request *request,
                       struct http_request *copy, struct error *err) MUST_CHECK;

#endif
