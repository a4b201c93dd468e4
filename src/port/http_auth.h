/* http_auth: how a request is authenticated. This is a description without secrets: their values
 * are read when the request is sent (port/secret.h) and overwritten after it.
 *
 * A credential is added only when the request's scheme, host and port are those of base_url or of
 * one of origins, and over https unless plain HTTP is allowed. Otherwise the request fails with
 * "auth.origin" (L4), and nothing is sent.
 */
#ifndef PATRA_PORT_HTTP_AUTH_H
#define PATRA_PORT_HTTP_AUTH_H

#include "base/str.h"
#include "core/codes.h"

struct http_auth {
    enum auth_type type;
    enum auth_location location; /* of an API key */
    struct str name;             /* API key: the header's, parameter's or body member's name */
    struct str prefix;           /* API key in a header: text before the key */
    struct str secret;           /* reference: the key, the token, the signing key */
    struct str username;         /* BASIC: the user; CUSTOM: the key's id. Value or reference */
    struct str password;         /* BASIC: reference */
    bool optional; /* send without a credential where its reference leads to nothing */

    /* OAUTH2, client credentials */
    struct str token_url;
    struct str client_id; /* value or reference */
    struct str client_secret;
    struct str scope;
    int64_t token_ttl_us;      /* where the response has none; 0 is an hour */
    int64_t refresh_before_us; /* a token this near its end is replaced */

    struct str signing_hook; /* CUSTOM: a name in the table of data/signature.h */

    struct str base_url;
    const struct str *origins; /* "https://files.example.org" */
    size_t origin_count;
};

#endif
