/* http_redirect: whether a reply sends us elsewhere, and whether we go.
 *
 * Only where the request asked for it, for GET and HEAD, at most three times; only to the origin
 * (scheme, host, port) of the request or to one it lists; never back to plain HTTP unless that
 * origin was listed so; never with a secret to another origin.
 */
#ifndef PATRA_DATA_HTTP_REDIRECT_H
#define PATRA_DATA_HTTP_REDIRECT_H

#include "data/http_message.h"

struct http_hop {
    struct str url;     /* data is NULL: the reply is the answer, stay here */
    bool leaves_origin; /* the secret headers stay behind, now and for all further hops */
};

/* `url` is where the reply came from, `followed` how many redirects led there.
 * "http.redirect_refused" (L2) tells why a redirect that was asked for is not followed. */
bool http_redirect(struct arena *arena, const struct http_request *request, struct str url,
                   int followed, const struct http_reply *reply, struct http_hop *hop,
                   struct error *err) MUST_CHECK;

/* The request for that hop: its URL, and none of the secret headers once it has left the origin.
 * Everything else is shared with `request`. */
bool http_hop_request(struct arena *arena, const struct http_request *request,
                      const struct http_hop *hop, struct http_request *next,
                      struct error *err) MUST_CHECK;

#endif
