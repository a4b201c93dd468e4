/* http: requests to servers.
 *
 *      if (!http_send(http, arena, &(struct http_request){ .url = url }, &reply, err))
 *          return false;
 *
 * or, to have the next page under way while this one is stored:
 *
 *      struct http_ticket *ticket;
 *
 *      if (!http_start(http, &arenas[next], &request, &ticket, err)) ...
 *      store the page in arenas[this]
 *      if (!http_wait(ticket, &reply, err)) ...
 *
 * or, for a file of any size, in constant memory:
 *
 *      struct http_stream *stream;
 *
 *      if (!http_open(http, arena, &request, &stream, &reply, err)) ...
 *      while (stream != NULL && http_read(stream, (struct http_room){ bytes, sizeof(bytes) }, &len,
 *                                         err) && len > 0) ...
 *      http_end(stream);
 *
 * The promises, which all adapters keep (test/contract):
 *
 * Success. A response with any status is a success: what a status means is for the caller to
 * decide. A body is complete when its length, its chunks and its content coding all say so. A
 * status other than 2xx is never lost because of a broken body: it is returned with the part of the
 * body that was received, and body_cut.
 *
 * Once. A request is sent at most once per call, apart from redirects that are allowed. No library
 * retries silently: one permit of the rate gate means one request, and a retry needs another.
 *
 * Failure. The error's text begins with method and URL, without secrets, and its level says what
 * may help. reply holds what was received: status 0 when nothing was.
 *
 *      L1  http.timeout.connect  http.timeout.idle  http.timeout.total
 *          http.dns              the name is unknown, or no name server responds
 *          http.connect          nothing listens there, or there is no route
 *          http.proxy            the proxy cannot be reached, or refuses
 *          http.reset            the connection ended before the response did
 *          http.truncated        the body is shorter than announced, or its coding has no end
 *          http.encoding         the body's content coding is broken, or was not requested
 *          http.protocol         the response is not HTTP, or a success has no clear length
 *          http.handshake        the TLS handshake failed
 *          http.cancelled        the handle was interrupted (http_interrupt)
 *          http.resource         this machine lacks memory, descriptors or threads
 *      L2  http.too_large        more than body_bytes_max
 *          http.inflate_limit    more than inflated_bytes_max
 *          http.header_limit     too many headers, or too long
 *          http.redirect_refused to another origin, for another method, in a loop, or too many
 *          http.url  http.plain  http.method  http.header  http.limit   the request is not valid
 *          memory.limit          the response does not fit into the arena
 *      L4  http.tls              the certificate is not trusted, or the CA file is not readable
 *          http.auth             the request needs a credential, and this handle has none
 *          http.module           the library is not the one that the adapter was built for
 *
 * Taking. request.taker of a started request is called with its response, of any status, before
 * http_wait returns, by the thread that received it. It may use the arena. So what a response says
 * can be read while the caller does something else; it must touch nothing that the caller uses. It
 * is not called when the request fails or is cancelled early enough, nor with a response that
 * http_wait does not return but for one that was refused and requested again with a new credential:
 * compare the bodies.
 *
 * Streams. http_open returns when the head of a response is there. A 2xx has a stream, from which
 * its body is read; any other response is complete as after http_send, and its stream is NULL. A
 * read returns at least one byte; none is the end, and then the body was complete. A body that is
 * gzip by its first bytes is unpacked, several members of it, too; one without its end is
 * "http.truncated". The limits of bodies and the total timeout do not apply; a read has the idle
 * timeout. Nothing is received while nobody reads, but for a small buffer. The handle has no other
 * request until http_end ("http.limit").
 *
 * Memory. All of the response lives in the arena. The arena of a started request belongs to the
 * handle until http_wait or http_cancel returns: two pages in turn need two arenas.
 *
 * Threads. A handle is used by one thread at a time, and keeps its connections from call to call; a
 * program has one handle per thread. http_interrupt may be called by any thread. The handle itself
 * keeps a started request going (adapter/curl: in a thread of its own).
 */
#ifndef PATRA_PORT_HTTP_H
#define PATRA_PORT_HTTP_H

#include <stddef.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "data/http_message.h"
#include "port/http_auth.h"

/* Requests of one handle under way at a time. */
enum { HTTP_TICKETS_MAX = 8 };

struct http;
struct http_ticket {
    struct http *http;
};

struct http_stream {
    struct http *http;
    bool is_packed;     /* after the first read: the body is gzip */
    int64_t wire_bytes; /* received so far, as transferred */
};

/* Where a read puts its bytes. */
struct http_room {
    char *data;
    size_t len;
};

struct http_ops {
    bool (*send)(struct http *http, struct arena *arena, const struct http_request *request,
                 struct http_response *reply, struct error *err);
    bool (*start)(struct http *http, struct arena *arena, const struct http_request *request,
                  struct http_ticket **ticket, struct error *err);
    bool (*wait)(struct http_ticket *ticket, struct http_response *reply, struct error *err);
    void (*cancel)(struct http_ticket *ticket);
    bool (*open)(struct http *http, struct arena *arena, const struct http_request *request,
                 struct http_stream **stream, struct http_response *reply, struct error *err);
    bool (*read)(struct http_stream *stream, struct http_room room, size_t *len, struct error *err);
    void (*end)(struct http_stream *stream);
    size_t (*redact)(struct http *http, char *text, size_t len); /* NULL: it has no secrets */
    /* NULL, both: it is always ready. */
    bool (*is_ready)(struct http *http, const struct http_request *request);
    bool (*make_ready)(struct http *http, const struct http_request *request, struct error *err);
    void (*interrupt)(struct http *http);
    void (*close)(struct http *http);
};

struct http {
    const struct http_ops *ops;
};

static inline bool MUST_CHECK http_send(struct http *http, struct arena *arena,
                                        const struct http_request *request,
                                        struct http_response *reply, struct error *err)
{
    *reply = (struct http_response){ 0 };
    return http->ops->send(http, arena, request, reply, err);
}

/* False when a request must be made before this one, for a token: http_make_ready() makes it, under
 * a permit of its own. Without that, http_send makes it too. */
static inline bool http_is_ready(struct http *http, const struct http_request *request)
{
    return http->ops->is_ready == NULL || http->ops->is_ready(http, request);
}

static inline bool MUST_CHECK http_make_ready(struct http *http, const struct http_request *request,
                                              struct error *err)
{
    return http->ops->make_ready == NULL || http->ops->make_ready(http, request, err);
}

/* Starts the request. The request is copied: it need not outlive the call. More than
 * HTTP_TICKETS_MAX at a time are refused ("http.limit"). */
static inline bool MUST_CHECK http_start(struct http *http, struct arena *arena,
                                         const struct http_request *request,
                                         struct http_ticket **ticket, struct error *err)
{
    return http->ops->start(http, arena, request, ticket, err);
}

/* Waits for the end of a started request. The ticket is used up in any case. */
static inline bool MUST_CHECK http_wait(struct http_ticket *ticket, struct http_response *reply,
                                        struct error *err)
{
    *reply = (struct http_response){ 0 };
    return ticket->http->ops->wait(ticket, reply, err);
}

/* Gives up a started request. When this returns, the arena is the caller's again. Accepts NULL. */
static inline void http_cancel(struct http_ticket *ticket)
{
    if (ticket != NULL)
        ticket->http->ops->cancel(ticket);
}

/* The arena must outlive the stream. */
static inline bool MUST_CHECK http_open(struct http *http, struct arena *arena,
                                        const struct http_request *request,
                                        struct http_stream **stream, struct http_response *reply,
                                        struct error *err)
{
    *reply = (struct http_response){ 0 };
    *stream = NULL;
    return http->ops->open(http, arena, request, stream, reply, err);
}

/* After a failure or the end only http_end is allowed. */
static inline bool MUST_CHECK http_read(struct http_stream *stream, struct http_room room,
                                        size_t *len, struct error *err)
{
    *len = 0;
    return stream->http->ops->read(stream, room, len, err);
}

/* Gives up what was not read. Accepts NULL. */
static inline void http_end(struct http_stream *stream)
{
    if (stream != NULL)
        stream->http->ops->end(stream);
}

/* Takes the secrets that only the handle knows (tokens that it requested) out of a text that a
 * server sent, in place. Returns the new length, which is no longer. Accepts NULL. */
static inline size_t http_redact(struct http *http, char *text, size_t len)
{
    return http != NULL && http->ops->redact != NULL ? http->ops->redact(http, text, len) : len;
}

/* Ends the requests under way, and all later ones of the handle, with "http.cancelled": for a
 * program that must stop now. Any thread. */
static inline void http_interrupt(struct http *http)
{
    http->ops->interrupt(http);
}

/* Cancels the requests under way. Accepts NULL. */
static inline void http_close(struct http *http)
{
    if (http != NULL)
        http->ops->close(http);
}

#endif
