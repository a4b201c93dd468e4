/* gunzip: the bytes of a file as they come, unpacked where they are gzip.
 *
 * What a file is shows in its first two bytes: servers send a .gz as it is, with any media type, or
 * with a Content-Encoding. A gzip file may have several members; zeros that follow the last one
 * are padding, and anything else is an error.
 */
#ifndef PATRA_ADAPTER_CURL_GUNZIP_H
#define PATRA_ADAPTER_CURL_GUNZIP_H

#include <zlib.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"
#include "port/http.h"

struct gunzip { /* starts as the zero value */
    bool is_known;
    bool is_packed;
    bool is_whole; /* the last member has its end */
    bool is_over;  /* only padding follows */
    z_stream stream;
};

/* Takes what it can of *in and fills the room. is_all: nothing comes after *in. *len 0: there are
 * not enough bytes yet. Errors: "http.encoding", "http.resource" (L1). */
bool gunzip_take(struct gunzip *gunzip, struct str *in, bool is_all, struct http_room room,
                 size_t *len, struct error *err) MUST_CHECK;

/* After the last byte: "http.truncated" (L1) where a member has no end. */
bool gunzip_end(const struct gunzip *gunzip, struct error *err) MUST_CHECK;

void gunzip_release(struct gunzip *gunzip); /* accepts the zero value */

#endif
