/* document: a reply's body as JSON or as XML, behind one set of questions.
 *
 *      struct document document;
 *
 *      if (!document_open(&document, arena, &source, err)) ...
 *      if (!document_items(&document, &paths->items, arena, &items, err)) ...
 *      for (size_t i = 0; i < items.count; i++)
 *          document_text(&document, &paths->id[0], items.nodes[i], arena, &id, err)
 *      document_close(&document);
 *
 * What a path finds:
 *
 *      text     JSON: a string decoded, a number or boolean as it is written; null, objects and
 *               arrays have none. XML: the string value, trimmed.
 *      is there JSON: anything but null. XML: any node, or a text that is not empty.
 *      is true  as there, and not false, 0, "", "0", "false", "no" or "n" (of any case).
 *      items    JSON: the elements of the array that a plain path leads to; the value itself when
 *               it is an object or scalar; all results of a path with wildcards. Null elements are
 *               left out (they stand for "no such record"). XML: the elements found.
 *
 * Texts and raw bytes are views of the body or live in the arena given; both must outlive the
 * document, the raw bytes also survive document_close(). One thread at a time.
 */
#ifndef PATRA_ENGINE_FETCH_DOCUMENT_H
#define PATRA_ENGINE_FETCH_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/str.h"
#include "data/json.h"
#include "data/json_write.h"
#include "data/jsonpath.h"
#include "data/xml.h"
#include "spec/spec.h"

/* ---- paths ---- */

struct document_path { /* both NULL: there is none */
    const struct jsonpath *json;
    struct xml_path *xml;
};

static inline bool document_has_path(const struct document_path *path)
{
    return path->json != NULL || path->xml != NULL;
}

/* ---- the document ---- */

struct document_source {
    enum response_format format;
    const struct xml *xml; /* XML: the module */
    struct str body;
    struct str charset; /* of Content-Type; empty: none */
};

struct document {
    enum response_format format;
    const struct xml *xml;
    struct json_doc json;
    struct xml_doc *tree;
};

/* The errors of data/json.h and data/xml.h: all L2. */
bool document_open(struct document *document, struct arena *arena,
                   const struct document_source *source, struct error *err) MUST_CHECK;
void document_close(struct document *document); /* accepts the zero value, and a closed one */

struct document_node {
    struct json_node json;
    struct xml_node xml;
};

struct document_node document_root(const struct document *document);

/* Its bytes as they came. */
struct str document_raw(const struct document *document, struct document_node node);

/* ---- what paths find ---- */

/* text->data is NULL when there is none. */
bool document_text(const struct document *document, const struct document_path *path,
                   struct document_node from, struct arena *arena, struct str *text,
                   struct error *err) MUST_CHECK;

bool document_is_there(const struct document *document, const struct document_path *path,
                       struct document_node from, struct arena *arena, bool *result,
                       struct error *err) MUST_CHECK;

bool document_is_true(const struct document *document, const struct document_path *path,
                      struct document_node from, struct arena *arena, bool *result,
                      struct error *err) MUST_CHECK;

struct document_items {
    bool is_there; /* JSON: the list is there, be it empty. XML: always */
    struct document_node *nodes;
    size_t count;
    size_t nulls; /* left out */
};

bool document_items(const struct document *document, const struct document_path *path,
                    struct arena *arena, struct document_items *items,
                    struct error *err) MUST_CHECK;

/* The first node found, JSON only (JSON_NODE_NONE: none): for values that are more than a text. */
bool document_node(const struct document *document, const struct document_path *path,
                   struct document_node from, struct arena *arena, struct json_node *node,
                   struct error *err) MUST_CHECK;

/* Writes what the path finds as one JSON value behind `name`: JSON as it is, XML as a text, several
 * results as a list. Nothing is written, and *is_there is false, where there is nothing. */
struct document_field {
    struct str name;
    const struct document_path *path;
    struct document_node from;
};
bool document_write_field(const struct document *document, const struct document_field *field,
                          struct arena *arena, struct json_writer *writer, bool *is_there,
                          struct error *err) MUST_CHECK;

#endif
