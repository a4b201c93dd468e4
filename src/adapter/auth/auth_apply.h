/* auth_apply: puts a credential into a request. No network: values come in, a request comes out. */
#ifndef PATRA_ADAPTER_AUTH_AUTH_APPLY_H
#define PATRA_ADAPTER_AUTH_AUTH_APPLY_H

#include "port/http.h"

/* Whether the request's URL may see this credential at all; "auth.origin" (L4). */
bool auth_check_origin(const struct http_request *request, struct error *err) MUST_CHECK;

struct auth_values {     /* what the description's references stand for */
    struct str secret;   /* API key, bearer or OAuth2 token, signing key, password */
    struct str username; /* BASIC, CUSTOM */
    int64_t now_us;
};

/* Makes `request`, whose auth must not be NULL, into `made`, which carries the credential, names it
 * as secret and has no auth any more. New parts lie in `scratch`, which holds secrets from then on.
 * "auth.place" (L4: a body that can not take it), "auth.value" (a value that fits no header),
 * "auth.hook" (no such hook). */
bool auth_apply(struct arena *scratch, const struct http_request *request,
                const struct auth_values *values, struct http_request *made,
                struct error *err) MUST_CHECK;

#endif
