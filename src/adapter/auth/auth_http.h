/* auth_http: an http port that adds credentials to requests, and passes them to one that sends.
 *
 *      engine → auth_http → curl
 *                  ├ secrets (port/secret.h)
 *                  └ tokens: one cache per process, shared by the handles of all threads
 *
 * Requests without auth are passed on as they are, but for a proxy that is a reference (env:NAME,
 * file:PATH), which is replaced by its value in all requests. For requests with auth the credential
 * is read, checked against the request's origin (port/http_auth.h), put in its place, sent, and
 * overwritten. The caller's own request never holds it, nor do reply.url and error texts.
 *
 * OAuth2: a token is requested when there is none, or when the cached one is within
 * refresh_before_us of its end (half of its life, if that is shorter). One thread requests it, the
 * others wait. While the token server fails (L1), the old token is used until its end. After a 401
 * with a cached token, a new token is requested and the request is sent a second time, once: the
 * one exception to the port's "Once", counted in reply.attempts for the rate gate.
 *
 * Errors, besides the port's: L4 auth.origin, auth.hook, auth.place, auth.value, secret.*;
 * auth.token (L4: refused, with the token server's reason; L1: the token server fails: 5xx, 429,
 * transport).
 */
#ifndef PATRA_ADAPTER_AUTH_AUTH_HTTP_H
#define PATRA_ADAPTER_AUTH_AUTH_HTTP_H

#include "port/clock.h"
#include "port/http.h"
#include "port/secret.h"

/* Tokens of this process. Any number of threads. */
struct auth_tokens;
bool auth_tokens_open(struct auth_tokens **tokens, struct error *err) MUST_CHECK;
void auth_tokens_close(struct auth_tokens *tokens); /* overwrites them; accepts NULL */

/* All must outlive the handle; closing the handle closes inner too. */
struct auth_http_parts {
    struct http *inner;
    struct auth_tokens *tokens;
    struct secret_source *secrets;
    struct clock *clock;
};

bool auth_http_open(const struct auth_http_parts *parts, struct http **http,
                    struct error *err) MUST_CHECK;

#endif
