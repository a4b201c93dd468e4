/* http_message: a request as it shall go out, and a reply as it came. Values only; port/http.h
 * sends them.
 *
 *      struct http_request request = {
 *          .url = STR("https://api.example.org/works?rows=100"),
 *          .secret_names = names, .secret_count = 1,
 *      };
 *
 * A member that is zero means its default, so a request names only what it cares about. All views
 * are borrowed: they must live until the reply is there.
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

/* Defaults, and the most that may be asked for. */
#define HTTP_CONNECT_TIMEOUT_US (10 * US_PER_SECOND)
#define HTTP_IDLE_TIMEOUT_US (30 * US_PER_SECOND)
#define HTTP_TOTAL_TIMEOUT_US (5 * US_PER_MINUTE)
#define HTTP_SILENCE_MAX_US (120 * US_PER_SECOND) /* of connect and idle */
#define HTTP_TOTAL_MAX_US US_PER_HOUR
#define HTTP_BODY_BYTES_MAX (INT64_C(64) << 20)
#define HTTP_HEADER_BYTES_MAX (INT64_C(64) << 10)
enum {
    HTTP_HEADERS_MAX = 128,
    HTTP_REDIRECTS_MAX = 3, /* what lies behind more is a loop or a login page */
    HTTP_URL_BYTES_MAX = 64 << 10,
};

struct http_header {
    struct str name;
    struct str value;
};

struct http_headers {
    struct http_header *items; /* in the order of the wire, repeated ones kept apart */
    size_t count;
};

struct http_timeouts {
    int64_t connect_us; /* name, connection and TLS together */
    int64_t idle_us;    /* without a byte going either way, the wait for the first one included */
    int64_t total_us;   /* from beginning to end, redirects included */
};

struct http_limits {
    int64_t body_bytes_max;     /* of the body as it comes over the line */
    int64_t inflated_bytes_max; /* ... and after its content coding is undone */
    int64_t header_bytes_max;   /* status line and headers */
    size_t headers_max;
};

struct http_auth; /* port/http_auth.h */

/* Who wants to know that a reply, however slow, is on its way. Embed it first. */
struct http_watch {
    void (*moved)(struct http_watch *watch); /* bytes have gone either way since the last call */
};

struct http_request {
    struct str method; /* empty is GET */
    struct str url;    /* absolute; without user or password, which belong into auth */
    const struct http_header *headers;
    size_t header_count;
    struct str body;
    struct http_timeouts timeouts;
    struct http_limits limits;

    /* Redirects are off. When they are on, they are followed for GET and HEAD, at most three, and
     * to the request's own scheme, host and port alone, or to an origin listed here
     * ("https://cdn.example.org"), which then gets no credential. */
    int redirects_max;
    const struct str *redirect_origins;
    size_t redirect_origin_count;

    bool allow_plain_http;
    bool no_compression;
    struct str proxy;   /* empty: none, whatever the environment says; "env": what it says; or
                         * http, https, socks5h://[user:password@]host:port */
    struct str ca_file; /* PEM; empty: the system's. There is no way to skip verification. */

    /* Headers and query parameters whose values are never told, and never sent to another origin;
     * besides those that are always meant (http_is_secret_name). */
    const struct str *secret_names;
    size_t secret_count;

    struct str correlation_id; /* X-Ingest-Correlation-Id */
    struct str traceparent;    /* W3C Trace Context */
    struct str tracestate;

    const struct http_auth *auth; /* NULL: none */
    struct http_watch *watch;     /* told by the thread that waits for the reply; NULL: nobody */
};

struct http_timings { /* since the beginning of the (last) request; 0 for what did not happen */
    int64_t name_us;
    int64_t connect_us;
    int64_t tls_us;
    int64_t first_byte_us;
    int64_t total_us;
};

struct http_reply {
    int status;  /* 0: none came */
    int version; /* 10, 11, 20, 30 */
    struct http_headers headers;
    struct str body;    /* its content coding undone */
    bool body_cut;      /* the body is not whole; only ever with a status other than 2xx */
    int64_t wire_bytes; /* of the body as it came over the line */
    struct str url;     /* where the reply came from, after redirects; secrets are *** */
    struct str address; /* "192.0.2.1:443": the server's, or the proxy's */
    int redirects;      /* that were followed */
    int attempts;       /* times it was put on the wire, redirects aside: 2 after a fresh token */
    bool reused;        /* over a connection that was there already */
    struct http_timings timings;
};

/* The first header of this name (case does not matter) behind `after`, or from the beginning when
 * after is NULL; NULL when there is none. */
const struct http_header *http_header_find(struct http_headers headers, struct str name,
                                           const struct http_header *after);
/* The value of the first one; data is NULL when there is none. */
struct str http_header_value(struct http_headers headers, struct str name);

bool http_is_token(struct str text);        /* what may name a method or a header (RFC 9110) */
bool http_is_header_value(struct str text); /* no CR, LF, NUL or other control but tab */

/* True for the names that hold secrets wherever they occur (Authorization, Cookie, api_key, ...)
 * and for the request's own. */
bool http_is_secret_name(const struct http_request *request, struct str name);

/* The request's URL, or another that belongs to it, as it may be told. Cutting secrets can make it
 * longer: "***" for an empty value. */
#define HTTP_TOLD_URL_BYTES_MAX ((size_t)4 * HTTP_URL_BYTES_MAX)
void http_redact_url(struct buf *out, const struct http_request *request, struct str url);
/* "GET https://host/path?api_key=***", cut to fit: what error texts begin with. */
enum { HTTP_TITLE_MAX = 400 };
struct http_title {
    char text[HTTP_TITLE_MAX];
};
struct http_title http_title(const struct http_request *request, struct str url);

/* What an adapter asks first. L2: "http.url" (not http or https, too long, or with a user in it),
 * "http.plain" (not https, and that was not allowed), "http.header" and "http.method" (characters
 * that could change the message), "http.limit" (a timeout or limit beyond its maximum). Fills in
 * the defaults. */
bool http_request_check(struct http_request *request, struct error *err) MUST_CHECK;

/* A copy with all it looks at in the arena, but for auth, which stays the caller's. */
bool http_request_copy(struct arena *arena, const struct http_request *request,
                       struct http_request *copy, struct error *err) MUST_CHECK;

#endif
