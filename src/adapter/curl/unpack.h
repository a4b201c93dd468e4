/* unpack: decodes a body's content coding.
 *
 * It uses the library of each coding instead of libcurl, which neither limits the output nor
 * reports a coded body without an end. The packed body is complete in memory (its size is limited
 * already), so a gzip trailer or a zstd header can say how much room is needed.
 */
#ifndef PATRA_ADAPTER_CURL_UNPACK_H
#define PATRA_ADAPTER_CURL_UNPACK_H

#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

/* For the Accept-Encoding of requests. */
#define UNPACK_ACCEPTED "gzip, deflate, br, zstd"

/* Whether a Content-Encoding (or none: NULL) leaves the body as it is. */
bool unpack_is_identity(struct str coding);

/* Decodes into the arena, at most bytes_max bytes. Errors: "http.truncated" (L1: the coding has no
 * end), "http.encoding" (L1: it is broken, unknown, or more than one), "http.inflate_limit" (L2),
 * "memory.limit" (L2). An empty body is empty in every coding. */
struct packed_body {
    struct str coding; /* the value of Content-Encoding */
    struct str bytes;
    int64_t bytes_max; /* of what it unpacks to */
};
bool unpack(struct arena *arena, const struct packed_body *packed, struct str *body,
            struct error *err) MUST_CHECK;

#endif
