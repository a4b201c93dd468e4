/* auth: who may ask, and how they must prove it.
 *
 * Rules are lines (line.h); the longest path that a request's path begins with decides:
 *
 *      path=/openalex type=api_key in=query name=api_key value=K1     in=header as well
 *      path=/basic    type=basic user=U password=P
 *      path=/bearer   type=bearer token=T
 *      path=/oauth2   type=oauth2 client_id=I client_secret=S expires=3600
 *      path=/signed   type=hmac key_id=I secret=S
 *      path=/open     type=none
 *
 * tls_only on a rule means that its credential must never travel over plain HTTP: the audit looks.
 *
 * OAuth2: POST /oauth/token or /_sim/oauth/token with grant_type=client_credentials and the
 * client's id and secret, as form fields or as basic authorization. Tokens die `expires` seconds
 * later in the request's virtual time, or all at once by revocation.
 *
 * HMAC: Authorization: PATRA-HMAC-SHA256 KeyId=I, Signature=HEX, where HEX is HMAC-SHA256 with the
 * secret over these lines, joined by "\n":
 *      METHOD
 *      the path as sent, before '?'
 *      the query's raw name=value pairs, sorted bytewise, joined by '&'
 *      the value of the Date header (IMF-fixdate, at most 5 minutes from the request's virtual
 * time) the body's SHA-256 in hex
 */
#ifndef PATRA_SIM_AUTH_AUTH_H
#define PATRA_SIM_AUTH_AUTH_H

#include "sim/http/call.h"

struct auth;

bool auth_open(struct auth **auth, struct error *err) MUST_CHECK;
void auth_close(struct auth *auth);

/* Before serving starts. The line must outlive the auth. */
bool auth_add(struct auth *auth, struct str line, struct error *err) MUST_CHECK;

/* True when the request may pass; else the answer (401 or 403) is filled in. Any thread. */
bool auth_check(struct auth *auth, struct http_call *call);

/* The token endpoint: fills in the answer. Any thread. */
void auth_token(struct auth *auth, struct http_call *call);
void auth_revoke_all(struct auth *auth);

/* Whether the request carries a credential: an Authorization header, or any secret that a rule
 * knows or that was issued, wherever it stands. Any thread. */
bool auth_carries_secret(struct auth *auth, const struct http_call *call);

/* Whether credentials for this path must go over TLS. */
bool auth_is_tls_only(const struct auth *auth, struct str path);

#endif
