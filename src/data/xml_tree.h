/* xml_tree: what the parts of the XML module share. Internal to xml_*.c. */
#ifndef PATRA_DATA_XML_TREE_H
#define PATRA_DATA_XML_TREE_H

#include <libxml/tree.h>
#include <stdint.h>

#include "data/xml.h"

struct xml_span { /* of one element in doc.text */
    uint32_t from;
    uint32_t to;
};

struct xml_doc {
    struct str text; /* UTF-8, what the spans refer to */
    xmlDoc *tree;
    struct xml_span *spans; /* an element's _private points to its own */
    size_t span_count;
};

/* The document's text in UTF-8: the bytes themselves without their byte order mark, or a copy. */
bool xml_charset_convert(struct arena *arena, const struct xml_source *source, struct str *text,
                         struct error *err) MUST_CHECK;

bool xml_tree_open(struct arena *arena, const struct xml_source *source, struct xml_doc **doc,
                   struct error *err);
void xml_tree_close(struct xml_doc *doc);
struct xml_node xml_tree_root(const struct xml_doc *doc);
struct str xml_tree_raw(const struct xml_doc *doc, struct xml_node node);

bool xml_tree_alone(const struct xml_doc *doc, struct arena *arena, struct xml_node node,
                    struct str *text, struct error *err);

bool xml_path_check(struct str text, const struct xml_namespace *namespaces, size_t count,
                    struct error *err) MUST_CHECK;

bool xml_path_make(struct str text, const struct xml_namespace *namespaces, size_t count,
                   struct xml_path **path, struct error *err);
void xml_path_end(struct xml_path *path);
bool xml_path_nodes(struct xml_path *path, struct arena *arena, struct xml_node from,
                    struct xml_node_list *nodes, struct error *err);
bool xml_path_texts(struct xml_path *path, struct arena *arena, struct xml_node from,
                    struct xml_text_list *texts, struct error *err);
bool xml_path_test(struct xml_path *path, struct xml_node from, bool *result, struct error *err);

#define XML_TABLE                                                                           \
    {                                                                                       \
        .head = { PATRA_VERSION }, .open = xml_tree_open, .close = xml_tree_close,          \
        .root = xml_tree_root, .raw = xml_tree_raw, .alone = xml_tree_alone,                \
        .path_compile = xml_path_make, .path_close = xml_path_end, .nodes = xml_path_nodes, \
        .texts = xml_path_texts, .test = xml_path_test,                                     \
    }

#endif
