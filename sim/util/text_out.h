/* text_out: text and numbers as JSON and XML want them.
 *
 * Text of a request need not be UTF-8: an invalid byte is written as U+FFFD.
 */
#ifndef PATRA_SIM_UTIL_TEXT_OUT_H
#define PATRA_SIM_UTIL_TEXT_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* How JSON text is escaped: always what must be, and more on request. */
enum {
    JSON_PLAIN = 0,
    JSON_SLASHES = 1, /* \/ */
    JSON_ASCII = 2,   /* \u00e9, \ud835\udefc */
};
void text_add_json(struct buf *out, struct str text, int flags); /* without quotes */
void text_add_json_string(struct buf *out, struct str text);     /* JSON_PLAIN, with quotes */

/* Escapes & < > and "; with `references` also writes what is not ASCII as &#x...; */
void text_add_xml(struct buf *out, struct str text, bool references);

/* Numbers without printf: a body holds many. */
void text_add_number(struct buf *out, uint64_t number);
void text_add_padded(struct buf *out, uint64_t number, int digits); /* leading zeros */

#endif
