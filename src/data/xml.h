/* xml: a document as it was received, read by libxml2 with everything dangerous disabled.
 *
 *      if (!xml_open(xml, arena, &(struct xml_source){ .bytes = body }, &doc, err))
 *          return false;
 *      if (!xml_nodes(xml, items_path, arena, xml_root(doc), &items, err))
 *          ...
 *      for (size_t i = 0; i < items.count; i++)
 *          use(xml_raw(doc, items.nodes[i]));
 *      xml_close(xml, doc);
 *
 * Errors, all L2:
 * - "xml.syntax": the document is not well-formed (truncated or empty, for example); with line and
 *   column.
 * - "xml.charset": bytes are not in the declared charset, or the charset is unknown.
 * - "xml.entity": an entity is declared, or used and not one of XML's own five. So there is nothing
 *   to expand, and no text with a hole where an entity was.
 * - "xml.limit": more bytes, nesting or nodes than allowed.
 *
 * An external DTD named by a DOCTYPE is ignored: nothing is ever loaded, neither from the network
 * nor from a file. A prefix without a declaration is tolerated.
 *
 * The charset is that of a byte order mark, else the one that the caller passes (from
 * Content-Type), else that of the XML declaration, else UTF-8. A text that is not UTF-8 is
 * converted first.
 *
 * Raw bytes: the place of every element is known from the parser's position, so xml_raw() is a
 * slice of the text: exactly the bytes received or, when the document was not in UTF-8, their
 * conversion. A slice may use prefixes that are declared outside it; xml_alone() adds these.
 *
 * libxml2 brings ICU and a C++ runtime, so this is a module: `struct xml` is its table of
 * functions, loaded by base/module.h under the name "xml"; tests link it directly (&xml_module).
 *
 * The caller keeps the arena and the bytes as long as the doc. A doc and a compiled path may be
 * used by one thread at a time; different ones by different threads.
 */
#ifndef PATRA_DATA_XML_H
#define PATRA_DATA_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/module.h"
#include "base/str.h"

/* Defaults. libxml2 itself allows no more than 256 levels. */
enum {
    XML_BYTES_MAX = 256 << 20,
    XML_DEPTH_MAX = 200,
    XML_ATTRIBUTES_MAX = 4096,        /* of one element: their number counts by its square */
    XML_NODES_MAX = 10 * 1000 * 1000, /* elements, attributes, texts */
};

struct xml_source {
    struct str bytes;
    struct str charset; /* of the Content-Type header; empty when it has none */
    size_t bytes_max;   /* zeros take the defaults above */
    size_t depth_max;
    size_t nodes_max;
};

struct xml_doc;  /* opened by xml_open, ended by xml_close */
struct xml_path; /* a compiled XPath 1.0 expression, ended by xml_path_close */

struct xml_node { /* by value; belongs to its doc */
    void *node;
};

struct xml_node_list { /* in document order */
    const struct xml_node *nodes;
    size_t count;
};

struct xml_text_list {
    const struct str *texts;
    size_t count;
};

struct xml_namespace { /* which prefix of a path means which namespace */
    struct str prefix;
    struct str uri;
};

struct xml {
    struct module_head head;

    bool (*open)(struct arena *arena, const struct xml_source *source, struct xml_doc **doc,
                 struct error *err);
    void (*close)(struct xml_doc *doc);
    struct xml_node (*root)(const struct xml_doc *doc);
    struct str (*raw)(const struct xml_doc *doc, struct xml_node node);
    bool (*alone)(const struct xml_doc *doc, struct arena *arena, struct xml_node node,
                  struct str *text, struct error *err);

    bool (*path_compile)(struct str text, const struct xml_namespace *namespaces, size_t count,
                         struct xml_path **path, struct error *err);
    void (*path_close)(struct xml_path *path);
    bool (*nodes)(struct xml_path *path, struct arena *arena, struct xml_node from,
                  struct xml_node_list *nodes, struct error *err);
    bool (*texts)(struct xml_path *path, struct arena *arena, struct xml_node from,
                  struct xml_text_list *texts, struct error *err);
    bool (*test)(struct xml_path *path, struct xml_node from, bool *result, struct error *err);
};

/* ---- documents ---- */

static inline bool MUST_CHECK xml_open(const struct xml *xml, struct arena *arena,
                                       const struct xml_source *source, struct xml_doc **doc,
                                       struct error *err)
{
    return xml->open(arena, source, doc, err);
}

/* Accepts NULL. */
static inline void xml_close(const struct xml *xml, struct xml_doc *doc)
{
    xml->close(doc);
}

/* The document itself, above its first element: where absolute and relative paths start. */
static inline struct xml_node xml_root(const struct xml *xml, const struct xml_doc *doc)
{
    return xml->root(doc);
}

/* The element's bytes, from its < to its >; empty for attributes, texts and the document. */
static inline struct str xml_raw(const struct xml *xml, const struct xml_doc *doc,
                                 struct xml_node node)
{
    return xml->raw(doc, node);
}

/* The element as a document of its own: its bytes, and in its first tag the declarations of the
 * namespaces that it uses and that are declared around it. A view of the document where there are
 * none, else a copy in the arena; empty like xml_raw(). "xml.limit" (L2) for too many declarations.
 */
static inline bool MUST_CHECK xml_alone(const struct xml *xml, const struct xml_doc *doc,
                                        struct arena *arena, struct xml_node node, struct str *text,
                                        struct error *err)
{
    return xml->alone(doc, arena, node, text, err);
}

/* ---- paths ---- */

/* "xpath.syntax" (L2) with what is wrong: bad grammar, a prefix that is not among the namespaces, a
 * function that XPath 1.0 does not have, a variable. */
static inline bool MUST_CHECK xml_path_compile(const struct xml *xml, struct str text,
                                               const struct xml_namespace *namespaces, size_t count,
                                               struct xml_path **path, struct error *err)
{
    return xml->path_compile(text, namespaces, count, path, err);
}

/* Accepts NULL. */
static inline void xml_path_close(const struct xml *xml, struct xml_path *path)
{
    xml->path_close(path);
}

/* The elements (attributes, texts) that a path finds from a node. "xpath.type" (L2) when the
 * expression returns a text or a number instead of nodes; "xpath.limit" (L2) when it takes too
 * long. */
static inline bool MUST_CHECK xml_nodes(const struct xml *xml, struct xml_path *path,
                                        struct arena *arena, struct xml_node from,
                                        struct xml_node_list *nodes, struct error *err)
{
    return xml->nodes(path, arena, from, nodes, err);
}

/* The texts of the nodes found or, when the expression returns a text, number or boolean, that
 * value as XPath's string() writes it. */
static inline bool MUST_CHECK xml_texts(const struct xml *xml, struct xml_path *path,
                                        struct arena *arena, struct xml_node from,
                                        struct xml_text_list *texts, struct error *err)
{
    return xml->texts(path, arena, from, texts, err);
}

/* The first of these texts; text->data is NULL when the path finds nothing. */
static inline bool MUST_CHECK xml_text(const struct xml *xml, struct xml_path *path,
                                       struct arena *arena, struct xml_node from, struct str *text,
                                       struct error *err)
{
    struct xml_text_list list;

    if (!xml_texts(xml, path, arena, from, &list, err))
        return false;
    *text = list.count > 0 ? list.texts[0] : (struct str){ NULL, 0 };
    return true;
}

/* XPath's boolean(): whether anything was found, or whether the expression is true. */
static inline bool MUST_CHECK xml_test(const struct xml *xml, struct xml_path *path,
                                       struct xml_node from, bool *result, struct error *err)
{
    return xml->test(path, from, result, err);
}

extern const struct xml xml_module; /* for programs that link the module's code */

/* True for "xml.limit" and "xml.entity": another try at the same document would be refused too. */
static inline bool xml_error_is_limit(const struct error *err)
{
    return strcmp(err->code, "xml.limit") == 0 || strcmp(err->code, "xml.entity") == 0;
}

#endif
