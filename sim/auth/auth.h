/* auth: which credential each path requires.
 *
 * Rules are lines (util/key_values.h); the longest path that a request's path begins with applies:
 *
 *      path=/openalex type=api_key in=query name=api_key value=K1     (or in=header)
 *      path=/basic    type=basic user=U password=P
 *      path=/bearer   type=bearer token=T
 *      path=/oauth2   type=oauth2 client_id=I client_secret=S expires=3600
 *      path=/signed   type=hmac key_id=I secret=S
 *      path=/open     type=none
 *
 * Several API keys may be given for one path, a rule each: any of them is right. quota=N
 * per=SECONDS allows N requests with the key in each such span of virtual time; more get 429 with
 * Retry-After until the next span.
 *
 * With tls_only, the credential must never be sent over plain HTTP: the audit checks that.
 *
 * OAuth2: POST /oauth/token or /_sim/oauth/token with grant_type=client_credentials and the
 * client's id and secret, as form fields or as basic authorization. A token expires `expires`
 * seconds later in the request's virtual time; auth_revoke_all() ends all tokens.
 *
 * HMAC: Authorization: PATRA-HMAC-SHA256 KeyId=I, Signature=HEX, where HEX is HMAC-SHA256 with the
 * secret over these lines, joined by "\n":
 *      METHOD
 *      the path as sent, before '?'
 *      the query's raw name=value pairs, sorted bytewise, joined by '&'
 *      the Date header (IMF-fixdate, at most 5 minutes from the request's virtual time)
 *      the body's SHA-256 in hex
 */
#ifndef PATRA_SIM_AUTH_AUTH_H
#define PATRA_SIM_AUTH_AUTH_H

#include "sim/http/call.h"

struct auth;

bool auth_open(struct auth **auth, struct error *err) MUST_CHECK;
void auth_close(struct auth *auth);

/* Before serving starts. The line must outlive the auth. */
bool auth_add(struct auth *auth, struct str line, struct error *err) MUST_CHECK;

/* True when the credential is right; else the response (401 or 403) is filled in. Any thread. */
bool auth_check(struct auth *auth, struct http_call *call);

/* The token endpoint: fills in the response. Any thread. */
void auth_token(struct auth *auth, struct http_call *call);
void auth_revoke_all(struct auth *auth);

/* Whether the request carries a credential: an Authorization header, or any secret of a rule
 * or issued token, anywhere in the request. Any thread. */
bool auth_carries_secret(struct auth *auth, const struct http_call *call);

/* For each rule: its path, its name, and how many requests it was right for and beyond its quota.
 */
void auth_write_json(struct auth *auth, struct buf *out);

/* Whether credentials for this path must go over TLS. */
bool auth_is_tls_only(const struct auth *auth, struct str path);

#endif
