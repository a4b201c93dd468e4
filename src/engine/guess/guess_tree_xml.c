/* An answer in XML. The module of libxml2 has paths and no tree, so the tree is read by paths. */
#include "base/list.h"
#include "data/xml.h"
#include "engine/guess/guess_tree.h"

enum paths { CHILDREN, ATTRIBUTES, NAME, URI, STRING, PATHS };

struct reader {
    struct guess_tree *tree;
    const struct xml *xml;
    struct xml_doc *doc;
    struct xml_path *paths[PATHS];
};

struct element { /* a child of an element */
    struct xml_node node;
    struct str name, uri;
    size_t group; /* the first one of this name */
    size_t count; /* of a first one: how many there are */
};

struct element_list {
    struct element *items;
    size_t count;
};

struct place {
    struct guess_node *parent;
    int depth;
    bool in_element;
};

static bool open_paths(struct reader *reader, struct error *err)
{
    static const char *const texts[PATHS] = { [CHILDREN] = "*",
                                              [ATTRIBUTES] = "@*",
                                              [NAME] = "local-name()",
                                              [URI] = "namespace-uri()",
                                              [STRING] = "string()" };

    for (int i = 0; i < PATHS; i++) {
        if (!xml_path_compile(reader->xml, str_of(texts[i]), NULL, 0, &reader->paths[i], err))
            return false;
    }
    return true;
}

/* A name that can be written in an XPath: without the colon of a prefix that is not declared. */
static bool is_usable(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.data[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

        if (!is_letter && !(i > 0 && ((c >= '0' && c <= '9') || c == '-' || c == '.')))
            return false;
    }
    return name.len > 0 && name.len <= GUESS_NAME_MAX;
}

/* The letter that the element's name begins with, or that and a number. */
static bool declare(struct guess_tree *tree, struct str uri, struct str name)
{
    struct guess *guess = tree->guess;
    const char letter = (char)(name.data[0] | 0x20);
    struct guess_namespace *slot;
    size_t same = 0;

    for (size_t i = 0; i < guess->namespace_count; i++) {
        if (str_eq(guess->namespaces[i].uri, uri))
            return true;
        same += guess->namespaces[i].prefix.data[0] == letter;
    }
    if (guess->namespace_count == GUESS_NAMESPACES_MAX || letter < 'a' || letter > 'z' ||
        uri.len > GUESS_NAME_MAX)
        return false;
    slot = &guess->namespaces[guess->namespace_count];
    slot->uri = uri;
    slot->prefix = same == 0 ? arena_printf(tree->arena, "%c", letter)
                             : arena_printf(tree->arena, "%c%zu", letter, same + 1);
    if (slot->prefix.data == NULL)
        return false;
    guess->namespace_count++;
    return true;
}

static bool read_names(struct reader *reader, struct xml_node node, struct element *element,
                       struct error *err)
{
    element->node = node;
    return xml_text(reader->xml, reader->paths[NAME], reader->tree->arena, node, &element->name,
                    err) &&
           xml_text(reader->xml, reader->paths[URI], reader->tree->arena, node, &element->uri, err);
}

/* Those that have a name and a namespace that can be written, grouped by name. */
static bool read_children(struct reader *reader, struct xml_node from, enum paths path,
                          struct element_list *list, struct error *err)
{
    struct xml_node_list nodes;
    struct element one = { 0 };

    *list = (struct element_list){ 0 };
    if (!xml_nodes(reader->xml, reader->paths[path], reader->tree->arena, from, &nodes, err))
        return false;
    for (size_t i = 0; i < nodes.count && i < GUESS_SIBLINGS_MAX; i++) {
        struct element *slot;

        if (!read_names(reader, nodes.nodes[i], &one, err))
            return false;
        if (!is_usable(one.name) || (one.uri.len > 0 && !declare(reader->tree, one.uri, one.name)))
            continue;
        slot = LIST_ADD(reader->tree->arena, list);
        if (slot == NULL)
            return arena_error(reader->tree->arena, err);
        *slot = one;
        slot->group = list->count - 1;
        for (size_t j = list->count - 1; j-- > 0;) { /* the last one is often of the same name */
            if (!str_eq(list->items[j].name, one.name) || !str_eq(list->items[j].uri, one.uri))
                continue;
            slot->group = list->items[j].group;
            break;
        }
        list->items[slot->group].count++;
    }
    return true;
}

static bool add_attributes(struct reader *reader, struct xml_node from, struct guess_node *node,
                           struct error *err)
{
    struct element_list list;

    if (!read_children(reader, from, ATTRIBUTES, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        struct guess_node *child =
            guess_node_add(reader->tree, node, SHAPE_TEXT, list.items[i].name);

        if (child == NULL)
            return arena_error(reader->tree->arena, err);
        child->uri = list.items[i].uri;
        child->is_attribute = true;
        if (!xml_text(reader->xml, reader->paths[STRING], reader->tree->arena, list.items[i].node,
                      &child->text, err))
            return false;
    }
    return true;
}

static bool add(struct reader *reader, const struct element *element, const struct place *place,
                struct error *err);

/* The list that an element of a group belongs to: made for the first one. */
static struct guess_node *list_of(struct reader *reader, const struct element *element,
                                  size_t count, struct guess_node *parent)
{
    struct guess_node *list = parent->first;

    while (list != NULL && !(list->shape == SHAPE_LIST && str_eq(list->name, element->name) &&
                             str_eq(list->uri, element->uri)))
        list = list->next;
    if (list != NULL)
        return list;
    list = guess_node_add(reader->tree, parent, SHAPE_LIST, element->name);
    if (list == NULL)
        return NULL;
    list->uri = element->uri;
    list->count = count;
    return list;
}

static bool add_children(struct reader *reader, const struct element_list *list,
                         struct guess_node *node, const struct place *place, struct error *err)
{
    for (size_t i = 0; i < list->count && reader->tree->nodes < GUESS_NODES_MAX; i++) {
        const struct element *child = &list->items[i];
        const size_t count = list->items[child->group].count;
        struct place below = { node, place->depth + 1, place->in_element };

        if (count > 1) {
            below.parent = list_of(reader, child, count, node);
            below.in_element = true;
            if (below.parent == NULL)
                return arena_error(reader->tree->arena, err);
            below.parent->bytes += xml_raw(reader->xml, reader->doc, child->node).len;
            if (place->in_element || below.parent->kept == GUESS_SAMPLES_MAX)
                continue;
            below.parent->kept++;
        }
        if (!add(reader, child, &below, err))
            return false;
        if (count > 1)
            below.parent->last->is_element = true;
    }
    return true;
}

static bool add(struct reader *reader, const struct element *element, const struct place *place,
                struct error *err)
{
    struct guess_node *node =
        guess_node_add(reader->tree, place->parent, SHAPE_TEXT, element->name);
    struct element_list children;

    if (node == NULL)
        return arena_error(reader->tree->arena, err);
    node->uri = element->uri;
    node->bytes = xml_raw(reader->xml, reader->doc, element->node).len;
    if (!add_attributes(reader, element->node, node, err) ||
        !read_children(reader, element->node, CHILDREN, &children, err))
        return false;
    if (children.count == 0)
        return xml_text(reader->xml, reader->paths[STRING], reader->tree->arena, element->node,
                        &node->text, err);
    node->shape = SHAPE_OBJECT;
    return place->depth >= GUESS_DEPTH_MAX || add_children(reader, &children, node, place, err);
}

static bool read_root(struct reader *reader, struct error *err)
{
    const struct xml_node root = xml_root(reader->xml, reader->doc);
    struct guess_tree *tree = reader->tree;
    struct element_list list;

    tree->root = guess_node_add(tree, NULL, SHAPE_OBJECT, STR(""));
    if (tree->root == NULL)
        return arena_error(tree->arena, err);
    if (!open_paths(reader, err) || !read_children(reader, root, CHILDREN, &list, err))
        return false;
    return list.count == 0 ||
           add(reader, &list.items[0], &(struct place){ .parent = tree->root }, err);
}

bool guess_tree_xml(struct guess_tree *tree, const struct xml *xml, struct str body,
                    struct str charset, struct error *err)
{
    struct reader reader = { .tree = tree, .xml = xml };
    bool ok = xml_open(xml, tree->arena, &(struct xml_source){ .bytes = body, .charset = charset },
                       &reader.doc, err);

    ok = ok && read_root(&reader, err);
    for (int i = 0; i < PATHS; i++)
        xml_path_close(xml, reader.paths[i]);
    xml_close(xml, reader.doc);
    return ok;
}
