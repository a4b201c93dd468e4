/* hash: SHA-256 and HMAC-SHA-256, by OpenSSL.
 *
 *      struct hash hash;
 *      hash_init(&hash);
 *      hash_add(&hash, head);
 *      hash_add(&hash, body);
 *      if (!hash_end(&hash, &sum, err)) ...
 *
 * hash_add keeps the first failure (only lack of memory causes one), so the caller checks once, at
 * the end. hash_end releases what hash_init took; a caller that leaves before it calls
 * hash_release, which accepts the zero value and an ended hash.
 */
#ifndef PATRA_DATA_HASH_H
#define PATRA_DATA_HASH_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

enum { HASH_BYTES = 32, HASH_HEX_MAX = 2 * HASH_BYTES + 1 };

struct hash_sum {
    unsigned char bytes[HASH_BYTES];
};

struct hash {
    void *context; /* OpenSSL's; NULL when it could not be made */
    bool failed;
};

void hash_init(struct hash *hash);
void hash_add(struct hash *hash, struct str bytes);
bool hash_end(struct hash *hash, struct hash_sum *sum, struct error *err) MUST_CHECK;
void hash_release(struct hash *hash);

bool hash_of(struct str bytes, struct hash_sum *sum, struct error *err) MUST_CHECK;
bool hash_hmac(struct str key, struct str message, struct hash_sum *sum,
               struct error *err) MUST_CHECK;

/* As hash_of, with a hash that is kept for many texts: for a short text, making one is most of the
 * cost. It starts as the zero value and is released by hash_release. */
bool hash_of_next(struct hash *hash, struct str bytes, struct hash_sum *sum,
                  struct error *err) MUST_CHECK;

/* Lower case, followed by a NUL. */
void hash_hex(const struct hash_sum *sum, char hex[HASH_HEX_MAX]);
/* Back again: 64 digits of either case. */
void hash_of_hex(struct str hex, struct hash_sum *sum);

#endif
