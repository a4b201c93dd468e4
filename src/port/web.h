/* web: requests that come in over HTTP, and what is answered. The other side of port/http.h.
 *
 *      socket ─ server (adapter/microhttpd) ─ request ─▶ handler (serve/api.h) ─ response ─▶ socket
 *                  1 thread for all sockets        N seats: a thread each, and what belongs to it
 *
 * The promises of a server:
 *
 * Whole requests. The handler gets a request when all of it was received, within the limits below.
 * Whoever sends too much, or too slowly, is answered or cut off by the server.
 *
 * Seats. A request is handled by one of `seats` threads, whose number is given, so that a handler
 * may keep things that one thread alone may use (a store session) in an array. Never are two
 * requests handled at one seat at a time. When all seats are taken, requests wait, WEB_WAITING_MAX
 * of them; further ones are answered 503 by the server.
 *
 * Memory. Request and response live in the request's arena until the response was sent or given up.
 *
 * Streams. A response whose body is not known at once has a stream. The server asks it for more
 * when the client has taken what was there, at any seat, so that memory does not grow with the
 * body. One that has nothing at the moment is asked again WEB_PAUSE_US later, and takes no seat
 * meanwhile. It is closed exactly once, whatever becomes of the client.
 *
 * Stopping. web_server_stop() takes no further requests, lets those under way end, and closes.
 */
#ifndef PATRA_PORT_WEB_H
#define PATRA_PORT_WEB_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/module.h"
#include "base/str.h"

enum {
    WEB_SEATS_MAX = 16,
    WEB_WAITING_MAX = 256, /* requests for a seat: some seconds of work */
    WEB_HEADERS_MAX = 24,  /* of a response */
};

/* How long a stream that had nothing is left alone. */
#define WEB_PAUSE_US INT64_C(1000000)

/* A trigger may name ten thousand ids, and nothing else is nearly as large. */
#define WEB_BODY_BYTES_MAX ((size_t)1 << 20)
/* All headers of a request, the line before them, and what is being sent of the response. */
#define WEB_CONNECTION_BYTES_MAX ((size_t)64 << 10)
/* Of one request: its views and what is written of them. */
#define WEB_ARENA_BYTES_MAX ((size_t)128 << 20)
/* What a stream gives at a time. */
#define WEB_CHUNK_BYTES_MAX ((size_t)32 << 20)

/* The headers of a request that anything depends on; absent ones have data == NULL. */
struct web_request {
    struct str method; /* "GET" */
    struct str target; /* as received: "/v1/tasks?after=7" */
    struct str body;
    struct str host;
    struct str authorization;
    struct str content_type;
    struct str origin;
    struct str fetch_site; /* Sec-Fetch-Site */
    struct str if_none_match;
    struct str idempotency_key;
    struct str accept;
    struct str cookie;
    bool is_tls;
    bool is_forwarded; /* a proxy says so: the peer is not the client */
    struct str peer;   /* an address without a port: "127.0.0.1" */
    bool is_loopback;  /* the peer is on this machine */
};

struct web_header {
    struct str name;
    struct str value;
};

struct web_stream { /* embed it first */
    /* Adds what comes next to `out`, some kilobytes to WEB_CHUNK_BYTES_MAX; nothing more at
     * *is_end. Nothing added, and no end: there is nothing at the moment. A failure cuts the
     * connection off: the client sees that the body is not whole. */
    bool (*more)(struct web_stream *stream, int seat, struct buf *out, bool *is_end,
                 struct error *err);
    void (*close)(struct web_stream *stream);
};

struct web_response {
    int status;
    struct web_header headers[WEB_HEADERS_MAX];
    size_t header_count;
    struct str body;           /* in the request's arena, or constant */
    struct web_stream *stream; /* NULL: the body is all of it */
};

struct web_handler { /* embed it first */
    void (*handle)(struct web_handler *handler, int seat, struct arena *arena,
                   const struct web_request *request, struct web_response *response);
};

static inline void web_header_add(struct web_response *response, struct str name, struct str value)
{
    if (response->header_count < WEB_HEADERS_MAX)
        response->headers[response->header_count++] = (struct web_header){ name, value };
}

/* ---- a server ---- */

struct web_server;

struct web_settings {
    struct str address;     /* "127.0.0.1", "::1", "0.0.0.0" */
    int port;               /* 0: any that is free */
    struct str certificate; /* PEM; empty: no TLS */
    struct str key;
    int seats;
    int connections_max;
    int connections_per_peer_max;
    int64_t idle_us;    /* a connection on which nothing happens is closed after this */
    int64_t arrival_us; /* a request must have arrived within this */
    int64_t sending_us; /* a response must have been taken within this */
    struct web_handler *handler;
};

struct web_module {
    struct module_head head;
    bool (*start)(struct web_server **server, const struct web_settings *settings,
                  struct error *err);
    int (*port)(const struct web_server *server); /* that it listens on */
    void (*stop)(struct web_server *server);
};

#endif
