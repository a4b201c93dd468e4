/* Signing, and the key. */
#include "adapter/webhook/sign.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "data/base64.h"
#include "data/hash.h"

bool webhook_key_read(struct str secret, struct webhook_key *key, struct error *err)
{
    const struct str prefix = STR("whsec_");

    key->len = 0;
    if (str_starts(secret, prefix)) {
        if (!base64_decode(str_slice(secret, prefix.len, secret.len), key->bytes,
                           sizeof(key->bytes), &key->len))
            return error_set(err, ERROR_FATAL, "bus.auth",
                             "the signing key is not base64, or has more than %d bytes",
                             WEBHOOK_KEY_MAX);
    } else if (secret.len <= sizeof(key->bytes)) {
        memcpy(key->bytes, secret.data, secret.len);
        key->len = secret.len;
    }
    if (key->len >= WEBHOOK_KEY_MIN)
        return true;
    webhook_key_wipe(key);
    return error_set(err, ERROR_FATAL, "bus.auth", "the signing key must have %d to %d bytes",
                     WEBHOOK_KEY_MIN, WEBHOOK_KEY_MAX);
}

void webhook_key_wipe(struct webhook_key *key)
{
    explicit_bzero(key, sizeof(*key));
}

bool webhook_sign(struct arena *arena, const struct webhook_key *key,
                  const struct webhook_signed *message, struct str *signature, struct error *err)
{
    const size_t most = message->id.len + message->body.len + 32;
    struct buf text, out;
    struct hash_sum sum;

    buf_init(&text, arena, most);
    buf_printf(&text, "%.*s.%" PRId64 ".", STR_ARG(message->id), message->at_s);
    buf_add(&text, message->body);
    if (!buf_ok(&text, err) ||
        !hash_hmac((struct str){ key->bytes, key->len }, buf_str(&text), &sum, err))
        return false;
    buf_init(&out, arena, 64);
    buf_add(&out, STR("v1,"));
    base64_encode(&out, (struct str){ (const char *)sum.bytes, HASH_BYTES });
    *signature = buf_str(&out);
    return buf_ok(&out, err);
}
