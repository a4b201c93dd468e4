/* json: a document as it was received, validated once and walked in place.
 *
 * json_parse() reads the bytes once, from front to back. It refuses whatever RFC 8259 refuses, and
 * remembers of each object and array only where it ends. Nothing is copied and no tree is
 * built: a node is a place in the caller's bytes, so any part of the document can be handed out as
 * it came (json_raw), and walking passes over a whole sub-document in one step:
 *
 *      {"items":[{"id":1,...},{"id":2,...}],"next":"x"}
 *      ^--------------------------------------------- ^    spans: 8 bytes per object or array,
 *               ^------------------------^                 about a tenth of the text or less
 *                ^---------^ ^----------^
 *
 * Why one of our own: no library in Debian 12 is fast, validates, and hands out raw slices of a
 * sub-document. jansson, json-c and cJSON make a tree of five times the text's size and must print
 * a record again to give its bytes; yajl does 0.3 GB/s by callbacks; simdjson and RapidJSON are
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
 * - The text must be UTF-8 (a byte order mark in front is passed over), every string well-formed
 *   UTF-8, every escape and number in RFC 8259's grammar, nothing behind the value but white space.
 * - Nesting and size are limited. No function here recurses, whatever the document's depth.
 * - A \u escape that is half of a surrogate pair without its other half is grammatical, hence
 *   accepted; decoding gives U+FFFD for it. \u0000 decodes to a NUL byte.
 * - Names that occur twice in an object are grammatical too: json_get takes the first one,
 *   json_each shows all, canonical form (data/json_canonical.h) refuses them.
 *
 * The caller's part: the text stays unchanged and alive as long as the doc is used; so does the
 * arena. A node belongs to the doc it came from. A doc is read by any number of threads.
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

/* Deep enough for any record that was ever meant to be read; JSON_BYTES_MAX keeps offsets in 32
 * bits with room to spare. Callers with less trust give limits of their own. */
enum { JSON_DEPTH_MAX = 512, JSON_BYTES_MAX = 1 << 30 };

enum json_type {
    JSON_NONE = 0, /* there is no such node */
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json_span { /* of one object or array, in the order of their opening */
    uint32_t end;  /* offset behind the closing bracket */
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
    uint32_t at;   /* offset of its first byte; UINT32_MAX: there is none */
    uint32_t span; /* the first span that opens at or behind it */
};

/* ---- parsing ---- */

/* On failure err is L2: "json.syntax" tells offset, line, column and what was expected there,
 * "json.limit" which limit was met. A failed doc must not be walked. */
bool json_parse(struct json_doc *doc, struct arena *arena, struct str text,
                struct error *err) MUST_CHECK;

/* The same with a depth of its own, 1 to JSON_DEPTH_MAX: [[]] has depth 2, a number depth 0. */
bool json_parse_depth(struct json_doc *doc, struct arena *arena, struct str text,
                      uint32_t depth_max, struct error *err) MUST_CHECK;

/* Another text with the memory of the last one, for a loop over pages: the arena given to
 * json_parse must not have been reset since. Nodes of the last text are gone. */
bool json_parse_again(struct json_doc *doc, struct str text, struct error *err) MUST_CHECK;

/* True when the text is one JSON value that json_parse would accept. Needs no memory. */
bool json_is_valid(struct str text);

/* ---- walking ---- */

/* What is not there is a node of type JSON_NONE, and every function below accepts it, so that a
 * chain of json_get needs one look at its end. */
#define JSON_NODE_NONE ((struct json_node){ UINT32_MAX, 0 })

struct json_node json_root(const struct json_doc *doc);
enum json_type json_type(const struct json_doc *doc, struct json_node node);
bool json_exists(struct json_node node);

/* The node's bytes as they stand in the text, strings with their quotes; empty for JSON_NONE. */
struct str json_raw(const struct json_doc *doc, struct json_node node);

/* The value of the first member with this (decoded) name, JSON_NONE where there is none or the node
 * is no object. Allocates nothing. */
struct json_node json_get(const struct json_doc *doc, struct json_node object, struct str name);

/* The element at this place; JSON_NONE when there are fewer or the node is no array. Walks. */
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

/* Bytes of text the last json_next had to read: the name and a scalar, but no object or array,
 * which are passed over. For those who count what they spend. */
size_t json_iter_bytes(const struct json_iter *it);

/* ---- values ---- */

/* A string's bytes, decoded: a view of the text when it has no escape, else a copy in the arena.
 * The node must be a string (assert). False only when the arena is full. */
bool json_string(const struct json_doc *doc, struct json_node node, struct arena *arena,
                 struct str *value, struct error *err) MUST_CHECK;

/* The string between its quotes with its escapes left as they are. The node must be a string. */
struct str json_string_raw(const struct json_doc *doc, struct json_node node);

/* True when the node is a string and its decoded bytes are these. Allocates nothing. */
bool json_string_is(const struct json_doc *doc, struct json_node node, struct str value);

/* True when the node is a number that is an integer and fits: 10, 10.0 and 1e1 are the same. */
bool json_i64(const struct json_doc *doc, struct json_node node, int64_t *value);

/* The nearest double of any number node, ±infinity when it is too large; false for others. */
bool json_double(const struct json_doc *doc, struct json_node node, double *value);

bool json_bool(const struct json_doc *doc, struct json_node node, bool *value);

/* Decodes what json_string_raw gave into out, which has room for raw.len bytes; returns how many
 * were written. */
size_t json_unescape(struct str raw, char *out);

#endif
