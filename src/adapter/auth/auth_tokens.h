/* auth_tokens: the OAuth2 tokens of this process, and when they are requested. See auth_http.h. */
#ifndef PATRA_ADAPTER_AUTH_AUTH_TOKENS_H
#define PATRA_ADAPTER_AUTH_AUTH_TOKENS_H

#include "adapter/auth/auth_http.h"

struct auth_token {
    struct secret value;
    uint64_t number; /* of this client's tokens: names the one that was refused */
    bool is_new;     /* it was requested just now */
};

/* A token for request, whose auth is OAUTH2: the cached one, or a new one where there is none, it
 * is near its end, or its number is not above refused (0: none was refused). */
bool auth_tokens_get(const struct auth_http_parts *parts, const struct http_request *request,
                     uint64_t refused, struct auth_token *token, struct error *err) MUST_CHECK;

/* Whether auth_tokens_get() would make no request now. */
bool auth_tokens_is_fresh(const struct auth_http_parts *parts, const struct http_request *request);

/* Takes the tokens of all clients out of a text (data/redact.h): those in use, and those before
 * them, which a response may still repeat. Returns the new length. */
size_t auth_tokens_redact(struct auth_tokens *tokens, char *text, size_t len);

/* The value of a setting: the setting itself, or what its reference leads to. */
bool auth_value(struct secret_source *secrets, struct str setting, struct secret *value,
                struct error *err) MUST_CHECK;

#endif
