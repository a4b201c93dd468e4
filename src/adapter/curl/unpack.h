/* unpack: undoes a body's content coding.
 *
 * By the coding's own library and not by libcurl, which neither limits what comes out nor says when
 * a coded body has no end. The packed body is whole in memory (its size is limited already), so
 * that a gzip trailer or a zstd header can tell how much room is needed.
 */
#ifndef PATRA_ADAPTER_CURL_UNPACK_H
#define PATRA_ADAPTER_CURL_UNPACK_H

#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

/* What requests say they take. */
#define UNPACK_ACCEPTED "gzip, deflate, br, zstd"

/* The value of a Content-Encoding header, or NULL: does it leave the body as it is? */
bool unpack_is_identity(struct str coding);

/* The body goes into the arena, at most bytes_max of it. "http.truncated" (L1) when the coding has
 * no end, "http.encoding" (L1) when it is broken, unknown or more than one, "http.inflate_limit"
 * (L2), "memory.limit" (L2). An empty body is empty in every coding. */
bool unpack(struct arena *arena, struct str coding, struct str packed, int64_t bytes_max,
            struct str *body, struct error *err) MUST_CHECK;

#endif
