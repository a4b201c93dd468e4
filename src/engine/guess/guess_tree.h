/* guess_tree: an answer as a tree, in one form for JSON and XML.
 *
 *      JSON    {"messages":[{"total":"7"}],"collection":[{"doi":"a"},{"doi":"b"}]}
 *      XML     <feed><total>7</total><entry>..</entry><entry>..</entry></feed>
 *
 *      OBJECT ─┬─ LIST messages ──── OBJECT ── TEXT total           OBJECT ── OBJECT feed ─┬─ TEXT
 * total ╰─ LIST collection ─┬ OBJECT ── TEXT doi                                    ╰─ LIST entry
 * ─┬ .. ╰ OBJECT ── TEXT doi                                                   ╰ ..
 *
 * In XML, elements of one name beside each other are a list, and attributes are children. The tree
 * is a sample: the first elements of each list, and none of the lists within them. It has views of
 * the answer, and copies in the arena.
 */
#ifndef PATRA_ENGINE_GUESS_GUESS_TREE_H
#define PATRA_ENGINE_GUESS_GUESS_TREE_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/guess/guess.h"

enum guess_shape { SHAPE_NULL, SHAPE_BOOL, SHAPE_NUMBER, SHAPE_TEXT, SHAPE_OBJECT, SHAPE_LIST };

struct guess_node {
    enum guess_shape shape;
    struct str
        name;       /* of the member, element or attribute; of a list's element: that of the list */
    struct str uri; /* XML: the namespace of the name */
    bool is_attribute;
    bool is_element; /* of a list */
    struct str text; /* of a scalar */
    size_t bytes;    /* in the answer */
    size_t count;    /* of a list: all elements, also those that are not in the tree */
    size_t kept;     /* those that are */
    struct guess_node *parent, *first, *last, *next;
};

struct guess_tree {
    struct arena *arena;
    struct guess *guess; /* gets the namespaces */
    struct guess_node *root;
    size_t nodes;
};

enum {
    GUESS_SAMPLES_MAX = 30,    /* elements of a list that are in the tree */
    GUESS_DEPTH_MAX = 10,      /* deeper nodes are not in it */
    GUESS_NODES_MAX = 100000,  /* nor are more than these */
    GUESS_NAME_MAX = 100,      /* nor members with longer names, or names that are no names */
    GUESS_SIBLINGS_MAX = 2000, /* nor further children of one node */
};

bool guess_tree_json(struct guess_tree *tree, struct str body, struct error *err) MUST_CHECK;
bool guess_tree_xml(struct guess_tree *tree, const struct xml *xml, struct str body,
                    struct str charset, struct error *err) MUST_CHECK;

/* Adds a child at the end; NULL when the arena is full. */
struct guess_node *guess_node_add(struct guess_tree *tree, struct guess_node *parent,
                                  enum guess_shape shape, struct str name);

static inline bool guess_is_scalar(const struct guess_node *node)
{
    return node->shape != SHAPE_OBJECT && node->shape != SHAPE_LIST;
}

/* The next node of the tree below `top` in the order of the answer, without the elements of lists
 * that have more than one: begin with node == top; NULL at the end. Lists themselves are visited.
 */
struct guess_node *guess_tree_next(const struct guess_node *top, struct guess_node *node);

/* The path of a node from the root, or from `from`, an item. Empty: a name cannot be written. */
struct str guess_path(struct guess_tree *tree, const struct guess_node *node,
                      const struct guess_node *from);

/* How many steps the path has. */
int guess_depth(const struct guess_node *node, const struct guess_node *from);

#endif
