/* document: a response's body as JSON or as XML, read by the same functions.
 *
 *      struct document document;
 *
 *      if (!document_open(&document, arena, &source, err)) ...
 *      if (!document_items(&document, &reader->items, arena, &items, err)) ...
 *      for (size_t i = 0; i < items.count; i++) {
 *          const struct document_place place = { &document, items.items[i], arena };
 *          document_text(&place, &reader->id[0], &id, err)
 *      }
 *      document_close(&document);
 *
 * What a path finds:
 *
 *      text     JSON: a string decoded, a number or boolean as it is written; null, objects and
 *               arrays have none. XML: the string value, trimmed.
 *      is there JSON: anything but null. XML: any node, or a text that is not empty.
 *      is true  is there, and is not false, 0, "", "0", "false", "no" or "n" (in any case).
 *      items    JSON: the elements of the array that a path without wildcards leads to; the value
 *               itself when it is an object or scalar (is_single); all results of a path with
 *               wildcards, and the elements of those results that are arrays where the path ends
 *               in a name ($.groups[*].items). In the response to a lookup a null element means
 *               "no such record" and is left out; elsewhere it is an item. XML: the elements found.
 *      no list  (is_broken) JSON: a text, number or boolean in place of the list, or of one of
 *               several lists; and an object with such members in place of the array of a last
 *               wildcard, because the members of an error are not ids. Of a lookup only the first.
 *      a list   is there, even without items, when the place is there where its path searches:
 *               JSON: what the names that the path begins with lead to, but for {}, and in every
 *               element of a wildcard those that follow. XML: its container
 *               (data/xml_container.h). Where the path does not show a place ($..items, //record),
 *               a list without items is not there. A lookup needs less: its missing records are
 *               counted.
 *
 * Texts and raw bytes are views of the body or live in the arena. Both must outlive the document;
 * raw bytes also survive document_close(). One thread at a time.
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
    struct str charset; /* from Content-Type; empty: none */
};

struct document {
    enum response_format format;
    const struct xml *xml;
    struct json_doc json;
    struct xml_doc *tree;
};

/* Errors: those of data/json.h and data/xml.h, all L2. */
bool document_open(struct document *document, struct arena *arena,
                   const struct document_source *source, struct error *err) MUST_CHECK;
void document_close(struct document *document); /* accepts the zero value, and a closed one */

struct document_node {
    struct json_node json;
    struct xml_node xml;
};

struct document_node document_root(const struct document *document);

/* Its bytes as received. */
struct str document_raw(const struct document *document, struct document_node node);

/* Its bytes as a document of their own: as received, and in XML with the declarations of the
 * namespaces that are declared around it. */
bool document_alone(const struct document *document, struct arena *arena, struct document_node node,
                    struct str *bytes, struct error *err) MUST_CHECK;

/* ---- what paths find ---- */

/* Where a path begins, and the arena for what it finds. */
struct document_place {
    const struct document *document;
    struct document_node node;
    struct arena *arena;
};

struct document_value {
    struct str text; /* as below */
    bool is_text;    /* false: a number, a boolean, or nothing */
    bool is_broken;  /* has half of a surrogate pair, for which the text has U+FFFD */
};

/* A text and what it was made of. The values of XML are texts. */
bool document_value(const struct document_place *place, const struct document_path *path,
                    struct document_value *value, struct error *err) MUST_CHECK;

/* text->data is NULL when there is none. */
bool document_text(const struct document_place *place, const struct document_path *path,
                   struct str *text, struct error *err) MUST_CHECK;

bool document_is_there(const struct document_place *place, const struct document_path *path,
                       bool *result, struct error *err) MUST_CHECK;

bool document_is_true(const struct document_place *place, const struct document_path *path,
                      bool *result, struct error *err) MUST_CHECK;

/* What kind of value a path finds. XML has texts only, and an empty one for an empty element. */
enum document_kind {
    DOCUMENT_NOTHING, /* no member, no node */
    DOCUMENT_NULL,
    DOCUMENT_TEXT, /* or a number */
    DOCUMENT_BOOL,
    DOCUMENT_TREE, /* an object or an array */
};
bool document_kind(const struct document_place *place, const struct document_path *path,
                   enum document_kind *kind, struct error *err) MUST_CHECK;

struct document_texts {
    struct str *items;
    size_t count;
};

/* The texts of all that the path finds: of an array, those of its elements; of an object, its JSON.
 * Null and empty texts of XML are left out. */
bool document_texts(const struct document_place *place, const struct document_path *path,
                    struct document_texts *texts, struct error *err) MUST_CHECK;

/* The first node found, of JSON only, for values that are more than a text. JSON_NODE_NONE: none.
 */
bool document_node(const struct document_place *place, const struct document_path *path,
                   struct json_node *node, struct error *err) MUST_CHECK;

/* Writes what the path finds: JSON as it is, XML as a text, several results as a list. Writes
 * nothing where there is nothing. */
bool document_write(const struct document_place *place, const struct document_path *path,
                    struct json_writer *writer, struct error *err) MUST_CHECK;

/* ---- the list of a page ---- */

struct document_list {
    const struct document_path *items;
    const struct document_path *container; /* XML; none: unknown */
    bool is_lookup; /* of ids: what is not found is a record that does not exist */
};

struct document_items {
    bool is_there;              /* there is a list, even if it is empty */
    bool is_single;             /* JSON: one value, which is not a list */
    bool is_broken;             /* JSON: something is where the list, or a part of it, should be */
    struct document_node wrong; /* is_broken: that */
    bool is_lookup;             /* of the list's paths */
    struct document_node *items;
    size_t count;
};

bool document_items(const struct document *document, const struct document_list *list,
                    struct arena *arena, struct document_items *items,
                    struct error *err) MUST_CHECK;

#endif
