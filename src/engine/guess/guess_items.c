/* Which list of the answer has the records. */
#include "engine/guess/guess_parts.h"
#include "engine/guess/guess_words.h"

enum { POINTS_LEAST = 6, BYTES_POINTS = 10 };

static const struct guess_word NAMES[] = {
    { "items", 10 },    { "item", 9 },       { "results", 10 },   { "result", 9 },
    { "records", 10 },  { "record", 10 },    { "entries", 9 },    { "entry", 10 },
    { "data", 7 },      { "docs", 8 },       { "documents", 8 },  { "hits", 8 },
    { "rows", 6 },      { "collection", 8 }, { "objects", 6 },    { "elements", 6 },
    { "values", 5 },    { "value", 5 },      { "idlist", 8 },     { "ids", 8 },
    { "list", 2 },      { "page", 1 },       { "facets", -10 },   { "facet", -10 },
    { "errors", -10 },  { "error", -10 },    { "warnings", -10 }, { "warning", -10 },
    { "links", -6 },    { "link", -8 },      { "messages", -6 },  { "message", 0 },
    { "authors", -6 },  { "author", -6 },    { "sort", -6 },      { "filters", -6 },
    { "included", -8 }, { "suggest", -6 },   { "columns", -5 },   { "aggregations", -8 },
    { NULL, 0 },
};

struct candidate {
    struct guess_node *node;
    int points;
};

/* studies of /v2/studies, article of /articles. */
static bool is_in_path(const struct guess_tree *tree, struct str name)
{
    struct str rest = tree->guess->path;

    while (rest.len > 0) {
        const struct str part = str_cut(&rest, '/');
        const size_t len = part.len < name.len ? part.len : name.len;
        const size_t longer = part.len + name.len - len;

        if (len >= 4 && longer - len <= 1 &&
            str_eq_nocase(str_slice(part, 0, len), str_slice(name, 0, len)))
            return true;
    }
    return false;
}

static bool are_objects(const struct guess_node *list)
{
    for (const struct guess_node *at = list->first; at != NULL; at = at->next) {
        if (at->shape == SHAPE_OBJECT)
            return true;
    }
    return false;
}

/* How much of the answer a list has, in parts of `parts`. */
static size_t share_of(const struct guess_tree *tree, const struct guess_node *list, size_t parts)
{
    const struct guess_node *whole = tree->root;

    if (whole->bytes == 0 && whole->first != NULL) /* XML: the document has one element */
        whole = whole->first;
    return whole->bytes == 0 ? 0 : list->bytes * parts / whole->bytes;
}

static int points_of(struct guess_tree *tree, const struct guess_node *list)
{
    struct guess_words words = { 0 };
    int points;

    guess_words_add(&words, list->name);
    points = guess_words_points(&words, NAMES, NULL) -
             (guess_depth(list, NULL) - (tree->guess->is_xml ? 1 : 0));
    points += (int)share_of(tree, list, BYTES_POINTS);
    if (list == tree->root)
        points += 5;
    if (is_in_path(tree, list->name))
        points += 6;
    if (list->shape == SHAPE_LIST && list->count == 0)
        return points - 4;
    if (list->count > 1)
        points += 2;
    if (tree->guess->page.size > 0 && (int64_t)list->count == tree->guess->page.size)
        points += 4;
    if (list->shape != SHAPE_LIST || are_objects(list))
        return points + 3 + guess_fields_points(tree, list);
    if (guess_words_have(&words, "id"))
        return points + 8;
    return points - (guess_words_have(&words, "ids") || guess_words_have(&words, "idlist") ? 0 : 4);
}

/* In XML one element is a list of one, if its name says so. */
static bool may_be_list(const struct guess_tree *tree, const struct guess_node *node)
{
    struct guess_words words = { 0 };

    if (node->shape == SHAPE_LIST)
        return true;
    if (!tree->guess->is_xml || node->shape != SHAPE_OBJECT || node->parent == NULL ||
        node->is_element || guess_depth(node, NULL) < 2)
        return false;
    guess_words_add(&words, node->name);
    return words.count == 1 && guess_words_points(&words, NAMES, NULL) >= 9;
}

static void describe(struct guess_tree *tree, const struct candidate *best, int lead)
{
    struct guess *guess = tree->guess;
    const struct guess_node *list = best->node;

    guess->item_count = list->shape == SHAPE_LIST ? list->count : 1;
    guess->are_ids = list->shape == SHAPE_LIST && list->count > 0 && !are_objects(list);
    guess->items = (struct guess_found){
        .certainty = guess_certainty_of(best->points, lead),
        .path = guess_path(tree, list, NULL),
        .why = arena_printf(tree->arena, "%zu %s, %zu %% of the answer", guess->item_count,
                            guess->item_count == 1 ? "element" : "elements",
                            share_of(tree, list, 100)),
    };
}

struct guess_node *guess_items(struct guess_tree *tree)
{
    struct candidate best = { NULL, POINTS_LEAST - 1 };
    int second = 0;

    for (struct guess_node *at = tree->root; at != NULL; at = guess_tree_next(tree->root, at)) {
        int points;

        if (!may_be_list(tree, at))
            continue;
        points = points_of(tree, at);
        if (points > best.points) {
            second = best.points;
            best = (struct candidate){ at, points };
        } else if (points > second)
            second = points;
    }
    if (best.node == NULL)
        return NULL;
    describe(tree, &best, best.points - second);
    return tree->guess->items.path.len > 0 ? best.node : NULL;
}
