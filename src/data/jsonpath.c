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

bool jsonpath_run(const struct jsonpath *path, struct arena *arena, const struct json_doc *doc,
                  struct json_node root, struct jsonpath_nodes *out, struct error *err)
{
    const struct jsonpath_target target = { doc, root };
    uint64_t steps = JSONPATH_STEPS_MAX;

    return jsonpath_run_steps(path, arena, target, &steps, out, err);
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

bool jsonpath_first(const struct jsonpath *path, struct arena *arena, const struct json_doc *doc,
                    struct json_node root, struct json_node *out, struct error *err)
{
    struct jsonpath_nodes nodes;

    if (path->query.singular) {
        *out = jsonpath_get(path, doc, root);
        return true;
    }
    if (!jsonpath_run(path, arena, doc, root, &nodes, err))
        return false;
    *out = nodes.count > 0 ? nodes.items[0] : JSON_NODE_NONE;
    return true;
}

/* ---- normalized paths, section 2.7 ---- */

static void add_name(struct buf *out, struct str name)
{
    static const char from[] = { '\b', '\t', '\n', '\f', '\r', '\'', '\\' };
    static const char to[] = { 'b', 't', 'n', 'f', 'r', '\'', '\\' };

    buf_add(out, STR("['"));
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.data[i];
        size_t k = 0;

        while (k < sizeof(from) && from[k] != c)
            k++;
        if (k < sizeof(from)) {
            buf_add_char(out, '\\');
            buf_add_char(out, to[k]);
        } else if ((unsigned char)c < 0x20) {
            buf_printf(out, "\\u%04x", (unsigned)c);
        } else {
            buf_add_char(out, c);
        }
    }
    buf_add(out, STR("']"));
}

/* The child of `parent` that holds the node: the last one that does not begin behind it. */
static struct json_iter child_around(const struct json_doc *doc, struct json_node parent,
                                     struct json_node node)
{
    struct json_iter it = json_each(doc, parent), found = it;
    bool any = false;

    while (json_next(&it) && it.value.at <= node.at) {
        found = it;
        any = true;
    }
    assert(any); /* the node is inside */
    return found;
}

bool jsonpath_of_node(struct arena *arena, const struct json_doc *doc, struct json_node root,
                      struct json_node node, struct str *out, struct error *err)
{
    struct json_node at = root;
    struct buf text;

    assert(json_exists(node));
    buf_init(&text, arena, SIZE_MAX);
    buf_add_char(&text, '$');
    while (!json_same(at, node)) {
        const struct json_iter child = child_around(doc, at, node);
        struct str name;

        if (json_exists(child.name)) {
            if (!json_string(doc, child.name, arena, &name, err))
                return false;
            add_name(&text, name);
        } else {
            buf_printf(&text, "[%zu]", child.index);
        }
        at = child.value;
    }
    *out = buf_str(&text);
    return buf_ok(&text, err);
}
