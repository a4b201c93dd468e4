/* auth_apply: puts a credential into a request. It uses no network. */
#ifndef PATRA_ADAPTER_AUTH_AUTH_APPLY_H
#define PATRA_ADAPTER_AUTH_AUTH_APPLY_H

#include "port/http.h"

/* Whether the credential may be sent to the request's URL. Error: "auth.origin" (L4). */
bool auth_check_origin(const struct http_request *request, struct error *err) MUST_CHECK;

struct auth_values {     /* of the references in the description */
    struct str secret;   /* API key, bearer or OAuth2 token, signing key, password */
    struct str username; /* BASIC, CUSTOM */
    int64_t now_us;
};

/* made becomes request, whose auth must not be NULL, with the credential in it: the credential is
 * named as secret, and made has no auth. New parts are in scratch, which holds secrets from then
 * on. Errors, all L4: "auth.place" (the body cannot hold the credential), "auth.value" (the value
 * cannot be in a header), "auth.hook" (unknown hook). */
bool auth_apply(struct arena *scratch, const struct http_request *request,
                const struct auth_values *values, struct http_request *made,
                struct error *err) MUST_CHECK;

#endif
