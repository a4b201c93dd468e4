/* json_canonical: one text for one value, RFC 8785 (JCS).
 *
 * Two documents that mean the same get the same bytes, so their hashes can be compared: no white
 * space, names sorted by their UTF-16 code units, the fewest escapes, numbers in ECMAScript's form
 * (data/json_number.h).
 *
 *      { "b": 1.0, "a": "\u0041" }    becomes    {"a":"A","b":1}
 *
 * Numbers are doubles, by the RFC: integers beyond 2^53 lose their last digits. A value without a
 * canonical form is an error (L3, "json.canonical"): a name twice in one object, half of
 * a surrogate pair, a number beyond the largest double.
 */
#ifndef PATRA_DATA_JSON_CANONICAL_H
#define PATRA_DATA_JSON_CANONICAL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"
#include "data/json.h"

/* The whole document. out and all working memory are in the arena. */
bool json_canonical(struct arena *arena, const struct json_doc *doc, struct str *out,
                    struct error *err) MUST_CHECK;

/* One node of it. */
bool json_canonical_node(struct arena *arena, const struct json_doc *doc, struct json_node node,
                         struct str *out, struct error *err) MUST_CHECK;

/* Parses and canonicalises at once: for bytes that a json_writer wrote. */
bool json_canonical_text(struct arena *arena, struct str text, struct str *out,
                         struct error *err) MUST_CHECK;

/* True for "json.canonical": the value has no canonical form. */
bool json_error_is_canonical(const struct error *err);

/* Order of UTF-16 code units, of two well-formed UTF-8 strings: <0, 0, >0. */
int json_utf16_cmp(struct str a, struct str b);

#endif
