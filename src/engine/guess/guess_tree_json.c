/* An answer in JSON. */
#include "data/json.h"
#include "engine/guess/guess_tree.h"

struct place {
    struct guess_node *parent;
    struct str name;
    int depth;
    bool in_element; /* of a list: lists below it are counted, not entered */
};

static bool is_usable(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if ((unsigned char)name.data[i] < ' ' || name.data[i] == 0x7F)
            return false;
    }
    return name.len > 0 && name.len <= GUESS_NAME_MAX;
}

static enum guess_shape shape_of(const struct json_doc *doc, struct json_node node)
{
    switch (json_type(doc, node)) {
    case JSON_BOOL:
        return SHAPE_BOOL;
    case JSON_NUMBER:
        return SHAPE_NUMBER;
    case JSON_STRING:
        return SHAPE_TEXT;
    case JSON_ARRAY:
        return SHAPE_LIST;
    case JSON_OBJECT:
        return SHAPE_OBJECT;
    default:
        return SHAPE_NULL;
    }
}

static bool add(struct guess_tree *tree, const struct json_doc *doc, struct json_node value,
                const struct place *place, struct error *err);

static bool add_elements(struct guess_tree *tree, const struct json_doc *doc,
                         struct json_node value, struct guess_node *list, const struct place *place,
                         struct error *err)
{
    const struct place below = { list, list->name, place->depth + 1, true };
    struct json_iter it = json_each(doc, value);

    while (json_next(&it)) {
        list->count++;
        if (list->kept == GUESS_SAMPLES_MAX || place->in_element)
            continue;
        if (!add(tree, doc, it.value, &below, err))
            return false;
        list->last->is_element = true;
        list->kept++;
    }
    return true;
}

static bool add_members(struct guess_tree *tree, const struct json_doc *doc, struct json_node value,
                        struct guess_node *object, const struct place *place, struct error *err)
{
    struct place below = { object, STR(""), place->depth + 1, place->in_element };
    struct json_iter it = json_each(doc, value);

    while (json_next(&it) && it.index < GUESS_SIBLINGS_MAX) {
        if (!json_string(doc, it.name, tree->arena, &below.name, err))
            return false;
        if (is_usable(below.name) && tree->nodes < GUESS_NODES_MAX &&
            !add(tree, doc, it.value, &below, err))
            return false;
    }
    return true;
}

static bool add(struct guess_tree *tree, const struct json_doc *doc, struct json_node value,
                const struct place *place, struct error *err)
{
    struct guess_node *node =
        guess_node_add(tree, place->parent, shape_of(doc, value), place->name);

    if (node == NULL)
        return arena_error(tree->arena, err);
    if (place->parent == NULL)
        tree->root = node;
    node->bytes = json_raw(doc, value).len;
    if (node->shape == SHAPE_TEXT)
        return json_string(doc, value, tree->arena, &node->text, err);
    if (guess_is_scalar(node)) {
        node->text = json_raw(doc, value);
        return true;
    }
    if (place->depth >= GUESS_DEPTH_MAX)
        return true;
    return node->shape == SHAPE_LIST ? add_elements(tree, doc, value, node, place, err)
                                     : add_members(tree, doc, value, node, place, err);
}

bool guess_tree_json(struct guess_tree *tree, struct str body, struct error *err)
{
    struct json_doc doc;

    return json_parse(&doc, tree->arena, body, err) &&
           add(tree, &doc, json_root(&doc), &(struct place){ .name = STR("") }, err);
}
