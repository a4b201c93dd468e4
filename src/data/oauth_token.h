/* oauth_token: what is asked of a token server, and what it answers (RFC 6749, client credentials).
 */
#ifndef PATRA_DATA_OAUTH_TOKEN_H
#define PATRA_DATA_OAUTH_TOKEN_H

#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* The form to be posted: the grant, and the scope where there is one. The client proves itself by
 * basic authorization, which every server must take (section 2.3.1). */
void oauth_token_form(struct buf *out, struct str scope);

/* The value of that Authorization header: id and secret are form-encoded first, as the RFC says. */
bool oauth_token_authorization(struct arena *arena, struct str client_id, struct str client_secret,
                               struct str *value, struct error *err) MUST_CHECK;

struct oauth_token {
    struct str value;    /* in the arena */
    int64_t lifetime_us; /* 0: the answer does not tell */
};

/* Reads a server's answer to status 200; "auth.token" (L4) when it is none, or the token is of
 * another type than bearer. The text never quotes the body. */
bool oauth_token_read(struct arena *arena, struct str body, struct oauth_token *token,
                      struct error *err) MUST_CHECK;

/* The word in a refusal's "error" member ("invalid_client"), for an error's text; empty when there
 * is none. Only the words of RFC 6749 are passed on: anything else could be an echo. */
struct str oauth_token_refusal(struct arena *arena, struct str body);

#endif
