/* http_redirect: whether a response is a redirect, and whether it is followed.
 *
 * It is followed only if the request allows it, for GET and HEAD, at most three times; only to the
 * origin (scheme, host, port) of the request or to one that it lists; to plain HTTP only if such
 * an origin is listed; and never with a secret to another origin.
 */
#ifndef PATRA_DATA_HTTP_REDIRECT_H
#define PATRA_DATA_HTTP_REDIRECT_H

#include "data/http_message.h"

struct http_hop {
    struct str url;     /* data is NULL: the response is not a redirect */
    bool leaves_origin; /* leave the secret headers out, now and for all further hops */
};

struct http_arrival { /* a response that may be a redirect */
    const struct http_request *request;
    struct str url; /* where the response came from */
    int followed;   /* redirects so far */
    const struct http_response *reply;
};

/* "http.redirect_refused" (L2) says why a redirect is not followed although redirects are on. */
bool http_redirect(struct arena *arena, const struct http_arrival *at, struct http_hop *hop,
                   struct error *err) MUST_CHECK;

/* The request for that hop: its URL, without the secret headers if it leads to another origin.
 * Everything else is shared with `request`. */
bool http_hop_request(struct arena *arena, const struct http_request *request,
                      const struct http_hop *hop, struct http_request *next,
                      struct error *err) MUST_CHECK;

#endif
