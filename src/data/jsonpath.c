/* Singular queries: names and indexes, evaluated without memory. */
#include "data/jsonpath.h"

#include <assert.h>

#include "base/buf.h"
#include "data/jsonpath_program.h"

bool jsonpath_is_singular(const struct jsonpath *path)
{
    return path->query.singular;
}

const char *jsonpath_warning(const struct jsonpath *path)
{
    return path->warning;
}

struct json_node jsonpath_get(const struct jsonpath *path, const struct json_doc *doc,
                              struct json_node root)
{
    struct json_node node = root;

    assert(path->query.singular);
    for (const struct path_segment *s = path->query.segments; s != NULL; s = s->next) {
        const struct path_selector *selector = s->selectors;
        int64_t index = selector->index;

        if (selector->kind == SELECT_NAME) {
            node = json_get(doc, node, selector->name);
            continue;
        }
        if (index < 0)
            index += (int64_t)json_count(doc, node);
        node = index < 0 ? JSON_NODE_NONE : json_at(doc, node, (size_t)index);
    }
    return node;
}

bool jsonpath_first(const struct jsonpath *path, struct arena *arena, struct jsonpath_target target,
                    struct json_node *out, struct error *err)
{
    struct jsonpath_nodes nodes;

    if (path->query.singular) {
        *out = jsonpath_get(path, target.doc, target.root);
        return true;
    }
    if (!jsonpath_run(path, arena, target, &nodes, err))
        return false;
    *out = nodes.count > 0 ? nodes.items[0] : JSON_NODE_NONE;
    return true;
}
