/* http: requests to the world.
 *
 *      if (!http_send(http, arena, &(struct http_request){ .url = url }, &reply, err))
 *          return false;
 *
 * or, to have the next page on its way while this one is stored:
 *
 *      struct http_ticket *ticket;
 *
 *      if (!http_start(http, &arenas[next], &request, &ticket, err)) ...
 *      store the page in arenas[this]
 *      if (!http_wait(ticket, &reply, err)) ...
 *
 * The promises, kept by adapter/curl, adapter/memory and adapter/auth alike (test/contract):
 *
 * Success. A reply with any status is a success: what a status means is the caller's business. A
 * body that came whole is one whose length, chunks and content coding all say so. A status other
 * than 2xx is never lost to a broken body: it is returned with what came of it, and body_cut.
 *
 * Once. A request is put on the wire at most once per call, apart from redirects that were asked
 * for. No library's silent retry makes a second one out of a permit for one; whoever wants to try
 * again asks the rate gate first.
 *
 * Failure. The error's text begins with method and URL, its secrets cut, and its level says what
 * may help. reply holds what had arrived: status 0 when nothing had.
 *
 *      L1  http.timeout.connect  http.timeout.idle  http.timeout.total
 *          http.dns              the name is not known, or nobody could be asked
 *          http.connect          nobody listens, or no way there
 *          http.proxy            the same for the proxy
 *          http.reset            the connection ended before the reply did
 *          http.truncated        the body is shorter than announced, or its coding has no end
 *          http.encoding         the body's content coding is broken, or not one we asked for
 *          http.protocol         what came is no HTTP
 *          http.handshake        TLS could not be agreed upon
 *          http.cancelled        the handle was told to stop (http_interrupt)
 *          http.resource         this machine lacks memory, descriptors or threads
 *      L2  http.too_large        more than body_bytes_max
 *          http.inflate_limit    more than inflated_bytes_max
 *          http.header_limit     too many headers, or too long
 *          http.redirect_refused to another origin, for another method, in a circle, or too many
 *          http.url  http.plain  http.method  http.header  http.limit   the request is not sound
 *          memory.limit          the reply does not fit into the arena
 *      L4  http.tls              the certificate is not to be trusted, or the CA file not readable
 *          http.auth             the request wants a credential, and this handle gives none
 *          http.module           the adapter's library is not what it was built for
 *
 * Memory. All of the reply lives in the arena. The arena of a started request belongs to the
 * handle until http_wait or http_cancel has returned: two pages in turn need two arenas.
 *
 * Threads. A handle is used by one thread at a time, and keeps its connections from call to call; a
 * program has one handle per thread. http_interrupt may be called by any thread. What a started
 * request needs to go on by itself (adapter/curl: a thread of its own) is the handle's affair.
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

struct http_ops {
    bool (*send)(struct http *http, struct arena *arena, const struct http_request *request,
                 struct http_reply *reply, struct error *err);
    bool (*start)(struct http *http, struct arena *arena, const struct http_request *request,
                  struct http_ticket **ticket, struct error *err);
    bool (*wait)(struct http_ticket *ticket, struct http_reply *reply, struct error *err);
    void (*cancel)(struct http_ticket *ticket);
    void (*interrupt)(struct http *http);
    void (*close)(struct http *http);
};

struct http {
    const struct http_ops *ops;
};

static inline bool MUST_CHECK http_send(struct http *http, struct arena *arena,
                                        const struct http_request *request,
                                        struct http_reply *reply, struct error *err)
{
    *reply = (struct http_reply){ 0 };
    return http->ops->send(http, arena, request, reply, err);
}

/* Puts the request on its way. The request is copied: it need not outlive the call. More than
 * HTTP_TICKETS_MAX at a time are refused ("http.limit"). */
static inline bool MUST_CHECK http_start(struct http *http, struct arena *arena,
                                         const struct http_request *request,
                                         struct http_ticket **ticket, struct error *err)
{
    return http->ops->start(http, arena, request, ticket, err);
}

/* Waits for the end of a started request. The ticket is used up, whatever the result. */
static inline bool MUST_CHECK http_wait(struct http_ticket *ticket, struct http_reply *reply,
                                        struct error *err)
{
    *reply = (struct http_reply){ 0 };
    return ticket->http->ops->wait(ticket, reply, err);
}

/* Gives a started request up. When this returns, the arena is the caller's again. Accepts NULL. */
static inline void http_cancel(struct http_ticket *ticket)
{
    if (ticket != NULL)
        ticket->http->ops->cancel(ticket);
}

/* Ends what is under way, and all that is asked of the handle later, with "http.cancelled": for a
 * program that must stop now. Any thread. */
static inline void http_interrupt(struct http *http)
{
    http->ops->interrupt(http);
}

/* Cancels what is under way. Accepts NULL. */
static inline void http_close(struct http *http)
{
    if (http != NULL)
        http->ops->close(http);
}

#endif
