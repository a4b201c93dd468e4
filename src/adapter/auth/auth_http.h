/* auth_http: an http port that proves who it is; it stands in front of one that only sends.
 *
 *      engine → auth_http → curl
 *                  ├ secrets (port/secret.h)
 *                  └ tokens: one cache per process, shared by the handles of all threads
 *
 * Requests without `auth` pass through; a proxy given as a reference (env:NAME, file:PATH) is
 * looked up for all. For the others the credential is fetched, checked against the request's origin
 * (port/http_auth.h), put where it belongs, sent, and overwritten; the request as its caller gave
 * it never holds one, nor do reply.url and error texts.
 *
 * OAuth2: a token is asked for when there is none or the one at hand is within refresh_before_us of
 * its end (half of its life, where it is shorter); one thread asks, the others wait for it. While
 * the token server is in trouble (L1) the old one is shown to its end. A 401 on a token that was
 * cached makes it be asked for anew, and the request be sent a second time, once: the one exception
 * to the port's «Once», counted in reply.attempts so that the rate gate can be told.
 *
 * Codes, besides the port's: L4 auth.origin, auth.hook, auth.place, auth.value, secret.*;
 * auth.token (L4: refused; the token server's word is in the text), L1 where its server is in
 * trouble (5xx, 429, transport).
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

/* All of these must outlive the handle; closing it closes `inner` too. */
struct auth_http_parts {
    struct http *inner;
    struct auth_tokens *tokens;
    struct secret_source *secrets;
    struct clock *clock;
};

bool auth_http_open(const struct auth_http_parts *parts, struct http **http,
                    struct error *err) MUST_CHECK;

#endif
