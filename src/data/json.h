/* json: a document as it was received, validated once and walked in place.
 *
 * json_parse() reads the bytes once, from front to back. It rejects what RFC 8259 rejects, and
 * stores only the end of each object and array. Nothing is copied and no tree is built: a node is
 * a place in the caller's bytes, so any part of the document can be returned as received
 * (json_raw), and walking skips a whole sub-document in one step:
 *
 *      {"items":[{"id":1,...},{"id":2,...}],"next":"x"}
 *      ^--------------------------------------------- ^    spans: 8 bytes per object or array,
 *               ^------------------------^                 about a tenth of the text or less
 *                ^---------^ ^----------^
 *
 * Why not a library: none in Debian 12 is fast, validates, and returns raw slices of a
 * sub-document. jansson, json-c and cJSON make a tree of five times the text's size and must print
 * a record again to return its bytes; yajl does 0.3 GB/s by callbacks; simdjson and RapidJSON are
 * C++. This one does more than 1 GB/s (bench/bench_json.c).
 *
 *      struct json_doc doc;
 *
 *      if (!json_parse(&doc, arena, body, err))
 *          return false;
 *      items = json_get(&doc, json_get(&doc, json_root(&doc), STR("message")), STR("items"));
 *      for (it = json_each(&doc, items); json_next(&it);)
 *          use(json_raw(&doc, it.value));
 *
 * The promises:
 * - The text must be UTF-8 (a leading byte order mark is skipped), every string well-formed
 *   UTF-8, every escape and number in RFC 8259's grammar, nothing after the value but white space.
 * - Nesting and size are limited. No function here recurses, whatever the document's depth.
 * - Half of a surrogate pair in a \u escape is grammatical, hence accepted; it decodes to U+FFFD.
 *   \u0000 decodes to a NUL byte.
 * - Names that occur twice in an object are grammatical too: json_get takes the first one,
 *   json_each returns all, canonical form (data/json_canonical.h) rejects them.
 *
 * The caller keeps the text unchanged and alive as long as the doc is used, and the arena too. A
 * node belongs to the doc it came from. Any number of threads may read a doc.
 */
#ifndef PATRA_DATA_JSON_H
#define PATRA_DATA_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

/* Deep enough for any real record; JSON_BYTES_MAX keeps offsets well within 32 bits. Callers with
 * less trust pass limits of their own. */
enum { JSON_DEPTH_MAX = 512, JSON_BYTES_MAX = 1 << 30 };

enum json_type {
    JSON_NONE = 0, /* no node */
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json_span { /* of one object or array, in the order of their opening */
    uint32_t end;  /* offset after the closing bracket */
    uint32_t next; /* the first span that is not inside this one */
};

struct json_doc {
    struct str text;
    struct json_span *spans;
    uint32_t span_count;
    uint32_t span_capacity;
    uint32_t root;
    uint32_t depth_max;
    struct arena *arena;
};

/* By value; the same `at` is the same node. */
struct json_node {
    uint32_t at;   /* offset of its first byte; UINT32_MAX: no node */
    uint32_t span; /* the first span that opens at or after it */
};

/* ---- parsing ---- */

/* On failure err is L2: "json.syntax" has offset, line, column and what was expected there,
 * "json.limit" the limit that was exceeded. A failed doc must not be walked. */
bool json_parse(struct json_doc *doc, struct arena *arena, struct str text,
                struct error *err) MUST_CHECK;

/* True for "json.limit": the text may be well-formed, but it is too long or nested too deep. */
bool json_error_is_limit(const struct error *err);

/* The same with its own limit of depth, 1 to JSON_DEPTH_MAX: [[]] has depth 2, a number depth 0. */
bool json_parse_depth(struct json_doc *doc, struct arena *arena, struct str text,
                      uint32_t depth_max, struct error *err) MUST_CHECK;

/* Parses another text with the memory of the last one, for a loop over pages: the arena given to
 * json_parse must not have been reset since. Nodes of the last text become invalid. */
bool json_parse_again(struct json_doc *doc, struct str text, struct error *err) MUST_CHECK;

/* True when the text is one JSON value that json_parse would accept. Needs no memory. */
bool json_is_valid(struct str text);

/* ---- walking ---- */

/* What does not exist is a node of type JSON_NONE. Every function below accepts it, so a chain of
 * json_get needs one check, at its end. */
#define JSON_NODE_NONE ((struct json_node){ UINT32_MAX, 0 })

struct json_node json_root(const struct json_doc *doc);
enum json_type json_type(const struct json_doc *doc, struct json_node node);
bool json_exists(struct json_node node);

/* The node's bytes as in the text, strings with their quotes; empty for JSON_NONE. */
struct str json_raw(const struct json_doc *doc, struct json_node node);

/* The value of the first member with this (decoded) name, JSON_NONE when there is none or the node
 * is not an object. Allocates nothing. */
struct json_node json_get(const struct json_doc *doc, struct json_node object, struct str name);

/* The element at this place; JSON_NONE when there are fewer or the node is not an array. Walks. */
struct json_node json_at(const struct json_doc *doc, struct json_node array, size_t index);

/* Members of an object or elements of an array; 0 for everything else. Walks. */
size_t json_count(const struct json_doc *doc, struct json_node node);

/* All members or elements in the order of the text; nothing when the node is a scalar or none. */
struct json_iter {
    struct json_node name; /* the member's name, a string node; JSON_NONE in an array */
    struct json_node value;
    size_t index; /* 0 for the first */
    /* private */
    const struct json_doc *doc;
    uint32_t at;
    uint32_t span;
    bool in_object;
};

struct json_iter json_each(const struct json_doc *doc, struct json_node node);
bool json_next(struct json_iter *it);

/* Bytes of text that the last json_next read: the name and a scalar, but not an object or array,
 * which are skipped. For callers that count their steps. */
size_t json_iter_bytes(const struct json_iter *it);

/* ---- values ---- */

/* A string's bytes, decoded: a view of the text when it has no escape, else a copy in the arena.
 * The node must be a string (assert). False only when the arena is full. */
bool json_string(const struct json_doc *doc, struct json_node node, struct arena *arena,
                 struct str *value, struct error *err) MUST_CHECK;

/* The string between its quotes, with its escapes. The node must be a string. */
struct str json_string_raw(const struct json_doc *doc, struct json_node node);

/* False when the string has half of a surrogate pair, which decodes to U+FFFD like any other half.
 * The node must be a string. */
bool json_string_is_whole(const struct json_doc *doc, struct json_node node);

/* True when the node is a string and its decoded bytes are these. Allocates nothing. */
bool json_string_is(const struct json_doc *doc, struct json_node node, struct str value);

/* True when the node is a number that is an integer and fits: 10, 10.0 and 1e1 are the same. */
bool json_i64(const struct json_doc *doc, struct json_node node, int64_t *value);

/* The nearest double of any number node, ±infinity when it is too large; false for others. */
bool json_double(const struct json_doc *doc, struct json_node node, double *value);

bool json_bool(const struct json_doc *doc, struct json_node node, bool *value);

/* Decodes what json_string_raw returned into out, which has room for raw.len bytes. Returns the
 * number of bytes written. */
size_t json_unescape(struct str raw, char *out);

#endif
