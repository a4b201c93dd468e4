/* SHA-256 and HMAC by OpenSSL's EVP interface. */
#include "data/hash.h"

#include <assert.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/hex.h"

static bool out_of_memory(struct error *err)
{
    return error_set(err, ERROR_TRANSIENT, "hash.memory", "out of memory for a SHA-256");
}

void hash_init(struct hash *hash)
{
    hash->context = EVP_MD_CTX_new();
    hash->failed =
        hash->context == NULL || EVP_DigestInit_ex(hash->context, EVP_sha256(), NULL) != 1;
}

void hash_add(struct hash *hash, struct str bytes)
{
    if (!hash->failed && bytes.len > 0)
        hash->failed = EVP_DigestUpdate(hash->context, bytes.data, bytes.len) != 1;
}

bool hash_end(struct hash *hash, struct hash_sum *sum, struct error *err)
{
    unsigned int len = 0;

    if (!hash->failed)
        hash->failed = EVP_DigestFinal_ex(hash->context, sum->bytes, &len) != 1;
    hash_release(hash);
    if (hash->failed)
        return out_of_memory(err);
    assert(len == HASH_BYTES);
    return true;
}

void hash_release(struct hash *hash)
{
    EVP_MD_CTX_free(hash->context);
    hash->context = NULL;
}

bool hash_of(struct str bytes, struct hash_sum *sum, struct error *err)
{
    struct hash hash;

    hash_init(&hash);
    hash_add(&hash, bytes);
    return hash_end(&hash, sum, err);
}

bool hash_of_next(struct hash *hash, struct str bytes, struct hash_sum *sum, struct error *err)
{
    unsigned int len = 0;

    if (hash->context == NULL)
        hash_init(hash);
    else /* the same algorithm from the start */
        hash->failed = EVP_DigestInit_ex(hash->context, NULL, NULL) != 1;
    hash_add(hash, bytes);
    if (!hash->failed)
        hash->failed = EVP_DigestFinal_ex(hash->context, sum->bytes, &len) != 1;
    if (hash->failed) {
        hash_release(hash);
        return out_of_memory(err);
    }
    assert(len == HASH_BYTES);
    return true;
}

bool hash_hmac(struct str key, struct str message, struct hash_sum *sum, struct error *err)
{
    unsigned int len = 0;

    if (key.len > INT_MAX)
        return error_set(err, ERROR_REQUEST, "hash.key", "a key of %zu bytes is too long", key.len);
    if (HMAC(EVP_sha256(), key.len > 0 ? key.data : "", (int)key.len,
             (const unsigned char *)(message.len > 0 ? message.data : ""), message.len, sum->bytes,
             &len) == NULL)
        return out_of_memory(err);
    assert(len == HASH_BYTES);
    return true;
}

void hash_hex(const struct hash_sum *sum, char hex[HASH_HEX_MAX])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < HASH_BYTES; i++) {
        hex[2 * i] = digits[sum->bytes[i] >> 4];
        hex[2 * i + 1] = digits[sum->bytes[i] & 0x0F];
    }
    hex[HASH_HEX_MAX - 1] = '\0';
}

void hash_of_hex(struct str hex, struct hash_sum *sum)
{
    assert(hex.len == 2 * HASH_BYTES);
    for (size_t i = 0; i < HASH_BYTES; i++)
        sum->bytes[i] = (unsigned char)hex_number((struct str){ hex.data + 2 * i, 2 });
}
