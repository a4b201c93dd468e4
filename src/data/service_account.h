/* service_account: the key file of a Google service account, and the assertion it signs.
 *
 * The account asks for a token with a JWT that it signed (RFC 7523, RS256). The file is JSON:
 *
 *      {"type": "service_account", "client_email": ..., "private_key_id": ..., "private_key": PEM,
 *       "token_uri": "https://oauth2.googleapis.com/token", ...}
 */
#ifndef PATRA_DATA_SERVICE_ACCOUNT_H
#define PATRA_DATA_SERVICE_ACCOUNT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct service_account { /* in the arena, or in the text */
    struct str email;
    struct str key_id;
    struct str private_key; /* PEM */
    struct str token_url;   /* https */
};

/* "auth.key" (L4) when it is not a key file. The error never quotes it. */
bool service_account_read(struct arena *arena, struct str text, struct service_account *account,
                          struct error *err) MUST_CHECK;

/* The form to POST to token_url: valid for an hour from now on. "auth.key" (L4) when the private
 * key is not an RSA key. What is left in the arena is secret: arena_wipe(). */
bool service_account_form(struct arena *arena, const struct service_account *account,
                          struct str scope, int64_t now_us, struct str *form,
                          struct error *err) MUST_CHECK;

#endif
