/* encode: percent-encoding and base64, as URLs and headers need them. */
#ifndef PATRA_SIM_UTIL_ENCODE_H
#define PATRA_SIM_UTIL_ENCODE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* Percent-encodes all but unreserved characters. */
void encode_percent(struct buf *out, struct str text);

/* "%41+b" -> "A+b", or "A b" where plus_is_space. False when an escape is broken. */
bool decode_percent(struct arena *arena, struct str raw, bool plus_is_space, struct str *text,
                    struct error *err) MUST_CHECK;
int decode_hex_digit(char c); /* 0..15, or -1 */

enum base64 {
    BASE64,            /* + and /, padded */
    BASE64_URL,        /* - and _, not padded */
    BASE64_URL_PADDED, /* - and _, padded */
};
void encode_base64(struct buf *out, struct str bytes, enum base64 kind);

/* Accepts either alphabet, with or without padding. False when the text is not base64. */
bool decode_base64(struct arena *arena, struct str text, struct str *bytes);

#endif
