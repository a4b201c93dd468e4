/* base64: RFC 4648 section 4, with padding, on one line. */
#ifndef PATRA_DATA_BASE64_H
#define PATRA_DATA_BASE64_H

#include "base/buf.h"

void base64_encode(struct buf *out, struct str bytes);

#endif
