/* Singular queries: names and indexes, evaluated without memory. */
#include "data/jsonpath.h"

#include <assert.h>

#include "base/buf.h"
#include "base/list.h"
#include "data/jsonpath_program.h"

bool jsonpath_is_singular(const struct jsonpath *path)
{
    return path->query.singular;
}

const char *jsonpath_warning(const struct jsonpath *path)
{
    return path->warning;
}

/* One name or index. */
static bool is_step(const struct path_segment *segment)
{
    const struct path_selector *selector = segment->selectors;

    return !segment->descendant && selector->next == NULL &&
           (selector->kind == SELECT_NAME || selector->kind == SELECT_INDEX);
}

struct json_node jsonpath_head(const struct jsonpath *path, const struct json_doc *doc,
                               struct json_node root)
{
    struct json_node node = root;

    for (const struct path_segment *s = path->query.segments; s != NULL && is_step(s);
         s = s->next) {
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

struct json_node jsonpath_get(const struct jsonpath *path, const struct json_doc *doc,
                              struct json_node root)
{
    assert(path->query.singular);
    return jsonpath_head(path, doc, root);
}

static bool has_twice(const struct json_doc *doc, struct json_node object, struct str name)
{
    size_t count = 0;

    if (json_type(doc, object) != JSON_OBJECT)
        return false;
    for (struct json_iter it = json_each(doc, object); json_next(&it);)
        count += json_string_is(doc, it.name, name);
    return count > 1;
}

bool jsonpath_is_ambiguous(const struct jsonpath *path, const struct json_doc *doc,
                           struct json_node root)
{
    struct json_node node = root;

    for (const struct path_segment *s = path->query.segments; s != NULL && is_step(s);
         s = s->next) {
        if (s->selectors->kind != SELECT_NAME)
            return false;
        if (has_twice(doc, node, s->selectors->name))
            return true;
        node = json_get(doc, node, s->selectors->name);
    }
    return false;
}

bool jsonpath_is_plain(const struct jsonpath *path)
{
    for (const struct path_segment *s = path->query.segments; s != NULL; s = s->next) {
        if (s->descendant || s->selectors->next != NULL ||
            (s->selectors->kind != SELECT_NAME && s->selectors->kind != SELECT_ALL))
            return false;
    }
    return true;
}

/* Adds what the selector finds in a node. *result: it finds something, or there may be nothing. */
static bool step_into(const struct path_selector *selector, struct arena *arena,
                      const struct json_doc *doc, struct json_node node,
                      struct jsonpath_nodes *next, bool *result)
{
    struct json_node *slot;

    if (selector->kind == SELECT_NAME) {
        node = json_get(doc, node, selector->name);
        *result = json_type(doc, node) != JSON_NONE;
        slot = LIST_ADD(arena, next);
        if (slot != NULL)
            *slot = node;
        return slot != NULL;
    }
    *result = json_type(doc, node) >= JSON_ARRAY;
    for (struct json_iter it = json_each(doc, node); *result && json_next(&it);) {
        slot = LIST_ADD(arena, next);
        if (slot == NULL)
            return false;
        *slot = it.value;
    }
    return true;
}

bool jsonpath_is_whole(const struct jsonpath *path, struct arena *arena,
                       struct jsonpath_target target, bool *result, struct error *err)
{
    struct jsonpath_nodes level = { .items = &target.root, .count = 1 };

    assert(jsonpath_is_plain(path));
    *result = true;
    for (const struct path_segment *s = path->query.segments; s != NULL && *result; s = s->next) {
        struct jsonpath_nodes next = { 0 };

        for (size_t i = 0; i < level.count && *result; i++) {
            if (!step_into(s->selectors, arena, target.doc, level.items[i], &next, result))
                return arena_error(arena, err);
        }
        level = next;
    }
    return true;
}

bool jsonpath_is_deep(const struct jsonpath *path)
{
    for (const struct path_segment *s = path->query.segments; s != NULL; s = s->next) {
        if (s->descendant)
            return true;
    }
    return false;
}

bool jsonpath_ends_in_name(const struct jsonpath *path)
{
    const struct path_segment *last = path->query.segments;

    while (last != NULL && last->next != NULL)
        last = last->next;
    return last != NULL && last->selectors->kind == SELECT_NAME && last->selectors->next == NULL;
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
