/* oauth_token: a token request and its response (RFC 6749, client credentials).
 */
#ifndef PATRA_DATA_OAUTH_TOKEN_H
#define PATRA_DATA_OAUTH_TOKEN_H

#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* The form to POST: the grant, and the scope if there is one. The client authenticates by basic
 * authorization, which every server must accept (section 2.3.1). */
void oauth_token_form(struct buf *out, struct str scope);

/* The value of that Authorization header: id and secret are form-encoded first, as the RFC
 * requires. */
bool oauth_token_authorization(struct arena *arena, struct str client_id, struct str client_secret,
                               struct str *value, struct error *err) MUST_CHECK;

struct oauth_token {
    struct str value;    /* in the arena */
    int64_t lifetime_us; /* 0: the response does not say */
};

/* Reads a response with status 200; "auth.token" (L4) when it has no token, or the token is not a
 * bearer token. The error never quotes the body. */
bool oauth_token_read(struct arena *arena, struct str body, struct oauth_token *token,
                      struct error *err) MUST_CHECK;

/* The word in the "error" member of a refusal ("invalid_client"), for an error text; empty when
 * there is none. Only the words of RFC 6749 are returned: anything else could echo a secret. */
struct str oauth_token_refusal(struct arena *arena, struct str body);

#endif
