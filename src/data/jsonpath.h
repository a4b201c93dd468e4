/* jsonpath: queries of RFC 9535, compiled once, run over documents of data/json.h.
 *
 *      const struct jsonpath *items, *id;
 *
 *      if (!jsonpath_compile(arena, STR("$.message.items[*]"), &items, NULL, err) ||
 *          !jsonpath_compile(arena, STR("$.DOI"), &id, NULL, err))
 *          return false;
 *      ...
 *      if (!jsonpath_run(items, arena, (struct jsonpath_target){ &doc, json_root(&doc), NULL },
 *                        &nodes, err))
 *          return false;
 *      for (size_t i = 0; i < nodes.count; i++)
 *          use(&doc, jsonpath_get(id, &doc, nodes.items[i]));
 *
 * `$` is the node that the caller passes, so a path may be written for a record and run on each
 * record of a page. The whole RFC is supported:
 * names, wildcards, indexes, slices, descendants, filters with comparisons
 * and the functions length, count, match, search, value; patterns are I-Regexp (data/iregexp.h).
 *
 * The promises:
 * - Results are in the order of the text, duplicates kept.
 * - Time is bounded: every node, member and character visited costs a step, and a query that
 * takes more steps than allowed is an error (L2 "jsonpath.limit"), not a hang.
 * - Depth of the document costs no stack. Nesting in the path is limited to JSONPATH_NEST_MAX.
 * - Numbers compare as integers where both are and fit 64 bits, else as doubles; strings by code
 *   points; objects by members in any order. Of equal names in an object the first counts.
 * - A singular query ($.a['b'][0]: names and indexes only) runs without memory, by jsonpath_get.
 *
 * A compiled path is immutable and lives in its arena; any number of threads may run it.
 */
#ifndef PATRA_DATA_JSONPATH_H
#define PATRA_DATA_JSONPATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"
#include "data/json.h"

enum {
    JSONPATH_NEST_MAX = 32,        /* parentheses, filters and functions inside one another */
    JSONPATH_BYTES_MAX = 64 << 10, /* of a path's text */
    JSONPATH_STEPS_MAX =
        50000000, /* about a second; a plain $..x over a 5 MB page takes 1 % of it */
};

struct jsonpath;

/* Copies the text. On failure err is L2 "jsonpath.syntax" (what was expected, what was found, a
 * hint for common mistakes), and *fault_at, unless NULL, is the byte offset of the fault. */
bool jsonpath_compile(struct arena *arena, struct str text, const struct jsonpath **out,
                      size_t *fault_at, struct error *err) MUST_CHECK;

/* True when the query can only return one node or none: names and indexes, no filters or `..`. */
bool jsonpath_is_singular(const struct jsonpath *path);

/* A warning about something legal that cannot be intended: a match() or search() whose pattern is
 * not an I-Regexp and hence never matches. A sentence for the author, or NULL. */
const char *jsonpath_warning(const struct jsonpath *path);

/* ---- running ---- */

struct jsonpath_nodes {
    struct json_node *items;
    size_t count;
};

struct jsonpath_target {
    const struct json_doc *doc;
    struct json_node root; /* what `$` means */
    uint64_t *steps;       /* the steps allowed, and afterwards what is left; NULL: the maximum */
};

/* All results, in the arena. */
bool jsonpath_run(const struct jsonpath *path, struct arena *arena, struct jsonpath_target target,
                  struct jsonpath_nodes *out, struct error *err) MUST_CHECK;

/* The first result, or JSON_NONE. */
bool jsonpath_first(const struct jsonpath *path, struct arena *arena, struct jsonpath_target target,
                    struct json_node *out, struct error *err) MUST_CHECK;

/* The result of a singular query (assert), or JSON_NONE. Allocates nothing, cannot fail. */
struct json_node jsonpath_get(const struct jsonpath *path, const struct json_doc *doc,
                              struct json_node root);

/* The result of the names and indexes that any query begins with: $.a.b of $.a.b[*].c. For a query
 * that returns nothing, it says whether the place where it searches exists. */
struct json_node jsonpath_head(const struct jsonpath *path, const struct json_doc *doc,
                               struct json_node root);

/* True when a name on the way to jsonpath_head() is twice in its object: it is unknown which of the
 * two members is meant. */
bool jsonpath_is_ambiguous(const struct jsonpath *path, const struct json_doc *doc,
                           struct json_node root);

/* True when the query has only names and wildcards, such as $.groups[*].items: where its head has
 * elements, each of them leads to a result. */
bool jsonpath_is_plain(const struct jsonpath *path);

/* Whether they all do: each name of a plain query (assert) finds a member in every object on its
 * way, each wildcard an array or an object. */
bool jsonpath_is_whole(const struct jsonpath *path, struct arena *arena,
                       struct jsonpath_target target, bool *result, struct error *err) MUST_CHECK;

/* True for a query with `..`: it does not say where it searches. */
bool jsonpath_is_deep(const struct jsonpath *path);

/* True for $.a and $..a, false for $, $.a[0] and $.a[*]: what it finds may be lists of its own. */
bool jsonpath_ends_in_name(const struct jsonpath *path);

#endif
