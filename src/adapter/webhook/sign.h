/* sign: the signature of a message, by Standard Webhooks: HMAC-SHA256 over "id.timestamp.body".
 *
 * The key is what its secret holds: "whsec_" and base64, else the text itself.
 */
#ifndef PATRA_ADAPTER_WEBHOOK_SIGN_H
#define PATRA_ADAPTER_WEBHOOK_SIGN_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

enum { WEBHOOK_KEY_MIN = 16, WEBHOOK_KEY_MAX = 1024 };

struct webhook_key {
    size_t len;
    char bytes[WEBHOOK_KEY_MAX];
};

/* L4 "bus.auth" for base64 that is none, and for a key that is too short or too long. The caller
 * overwrites the key when it is done. */
bool webhook_key_read(struct str secret, struct webhook_key *key, struct error *err) MUST_CHECK;
void webhook_key_wipe(struct webhook_key *key);

struct webhook_signed {
    struct str id;
    int64_t at_s; /* seconds since 1970 */
    struct str body;
};

/* "v1,BASE64", in the arena. */
bool webhook_sign(struct arena *arena, const struct webhook_key *key,
                  const struct webhook_signed *message, struct str *signature,
                  struct error *err) MUST_CHECK;

#endif
