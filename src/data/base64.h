/* base64: RFC 4648 section 4, with padding, on one line. */
#ifndef PATRA_DATA_BASE64_H
#define PATRA_DATA_BASE64_H

#include "base/buf.h"

void base64_encode(struct buf *out, struct str bytes);

/* Into `out`, which holds `capacity` bytes. False for anything that encoding does not give (missing
 * padding included), and when there is no room. */
bool base64_decode(struct str text, char *out, size_t capacity, size_t *len) MUST_CHECK;

#endif
