/* The nodes of an answer: made, walked, and named by paths. */
#include "engine/guess/guess_tree.h"

#include <string.h>

struct guess_node *guess_node_add(struct guess_tree *tree, struct guess_node *parent,
                                  enum guess_shape shape, struct str name)
{
    struct guess_node *node = ARENA_NEW(tree->arena, struct guess_node);

    if (node == NULL)
        return NULL;
    tree->nodes++;
    *node = (struct guess_node){ .shape = shape, .name = name, .parent = parent };
    if (parent == NULL)
        return node;
    if (parent->last != NULL)
        parent->last->next = node;
    else
        parent->first = node;
    parent->last = node;
    return node;
}

struct guess_node *guess_tree_next(const struct guess_node *top, struct guess_node *node)
{
    if (node->first != NULL && !(node->shape == SHAPE_LIST && node->count > 1))
        return node->first;
    while (node != top && node->next == NULL)
        node = node->parent;
    return node == top ? NULL : node->next;
}

int guess_depth(const struct guess_node *node, const struct guess_node *from)
{
    int depth = 0;

    for (; node != NULL && node != from && node->parent != NULL; node = node->parent)
        depth += !node->is_element;
    return depth;
}

/* ---- paths ---- */

static bool is_plain_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.data[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

        if (!is_letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return name.len > 0;
}

static void add_json_name(struct buf *out, struct str name)
{
    if (is_plain_name(name)) {
        buf_printf(out, ".%.*s", STR_ARG(name));
        return;
    }
    buf_add(out, STR("['"));
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] == '\'' || name.data[i] == '\\')
            buf_add_char(out, '\\');
        buf_add_char(out, name.data[i]);
    }
    buf_add(out, STR("']"));
}

static void add_json_step(struct buf *out, const struct guess_node *node)
{
    if (node->is_element)
        buf_add(out, STR("[0]"));
    else
        add_json_name(out, node->name);
}

static struct str prefix_of(const struct guess *guess, struct str uri)
{
    for (size_t i = 0; i < guess->namespace_count; i++) {
        if (str_eq(guess->namespaces[i].uri, uri))
            return guess->namespaces[i].prefix;
    }
    return STR("");
}

static void add_xml_step(struct buf *out, const struct guess *guess, const struct guess_node *node)
{
    const struct str prefix = prefix_of(guess, node->uri);

    buf_printf(out, "%s%.*s%s%.*s", node->is_attribute ? "@" : "", STR_ARG(prefix),
               prefix.len > 0 ? ":" : "", STR_ARG(node->name));
}

struct str guess_path(struct guess_tree *tree, const struct guess_node *node,
                      const struct guess_node *from)
{
    const struct guess_node *steps[2 * GUESS_DEPTH_MAX + 2];
    const bool is_xml = tree->guess->is_xml;
    size_t count = 0;
    struct buf out;

    for (; node != from && node->parent != NULL; node = node->parent) {
        if (is_xml && node->is_element) /* its list is the step */
            continue;
        if (count == sizeof(steps) / sizeof(steps[0]))
            return STR("");
        steps[count++] = node;
    }
    buf_init(&out, tree->arena, (size_t)1 << 16);
    if (!is_xml)
        buf_add_char(&out, '$');
    else if (count == 0)
        buf_add_char(&out, '.');
    for (size_t i = count; i-- > 0;) {
        if (!is_xml) {
            add_json_step(&out, steps[i]);
            continue;
        }
        if (from == NULL || i + 1 < count)
            buf_add_char(&out, '/');
        add_xml_step(&out, tree->guess, steps[i]);
    }
    return out.failed ? STR("") : buf_str(&out);
}
