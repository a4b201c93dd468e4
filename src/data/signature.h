/* signature: the named hooks that sign requests (auth type CUSTOM).
 *
 * A hook receives the request as it will be sent and adds headers to it. A provider's own way of
 * signing is one more row of the table.
 *
 * hmac-sha256:
 *
 *      Date: Sun, 06 Nov 1994 08:49:37 GMT
 *      Authorization: PATRA-HMAC-SHA256 KeyId=ID, Signature=HEX
 *
 * where HEX is HMAC-SHA256 with the key over five lines joined by "\n":
 *
 *      the method
 *      the path as sent, up to the question mark
 *      the query's name=value pairs as sent, sorted bytewise, joined by "&"
 *      the value of the Date header
 *      the SHA-256 of the body, in lower case hex
 */
#ifndef PATRA_DATA_SIGNATURE_H
#define PATRA_DATA_SIGNATURE_H

#include "data/http_message.h"

struct signature_input {
    const struct http_request *request;
    int64_t now_us;
    struct str key_id;
    struct str key;
};

enum { SIGNATURE_HEADERS_MAX = 4 };

struct signature {
    struct http_header headers[SIGNATURE_HEADERS_MAX];
    size_t count;
};

struct signature_hook {
    const char *name;
    const char *help;
    /* The headers are in the arena. "auth.hook" (L4) when the request cannot be signed. */
    bool (*sign)(struct arena *arena, const struct signature_input *input,
                 struct signature *signature, struct error *err);
};

extern const struct signature_hook signature_hooks[];
extern const size_t signature_hooks_count;

/* NULL when there is no hook of this name. */
const struct signature_hook *signature_hook_find(struct str name);

#endif
