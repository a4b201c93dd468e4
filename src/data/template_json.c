/* The function jsonPath(): a path is compiled and run over a JSON text. */
#include "data/template_json.h"

#include "data/jsonpath.h"

enum { CHECK_BYTES_MAX = 4 << 20 }; /* enough to compile any path once */

bool template_json_path_check(struct str literal, struct error *err)
{
    const struct jsonpath *path;
    struct arena arena;
    bool compiled;

    arena_init(&arena, CHECK_BYTES_MAX);
    compiled = jsonpath_compile(&arena, literal, &path, NULL, err);
    arena_release(&arena);
    return compiled;
}

static bool node_text(const struct json_doc *doc, struct json_node node, struct arena *arena,
                      struct str *text, struct error *err)
{
    if (json_type(doc, node) == JSON_STRING)
        return json_string(doc, node, arena, text, err);
    *text = json_raw(doc, node);
    return true;
}

static bool give_list(const struct json_doc *doc, const struct jsonpath_nodes *nodes,
                      struct arena *arena, struct template_value *value, struct error *err)
{
    struct str *items = ARENA_ARRAY(arena, struct str, nodes->count);

    if (items == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < nodes->count; i++) {
        if (!node_text(doc, nodes->items[i], arena, &items[i], err))
            return false;
    }
    *value =
        (struct template_value){ .type = TEMPLATE_LIST, .items = items, .count = nodes->count };
    return true;
}

static bool give_elements(const struct json_doc *doc, struct json_node array, struct arena *arena,
                          struct template_value *value, struct error *err)
{
    struct jsonpath_nodes nodes = { 0 };

    nodes.items = ARENA_ARRAY(arena, struct json_node, json_count(doc, array));
    if (nodes.items == NULL)
        return arena_error(arena, err);
    for (struct json_iter it = json_each(doc, array); json_next(&it);)
        nodes.items[nodes.count++] = it.value;
    return give_list(doc, &nodes, arena, value, err);
}

static bool give_one(const struct json_doc *doc, struct json_node node, struct arena *arena,
                     struct template_value *value, struct error *err)
{
    const enum json_type type = json_type(doc, node);

    *value = (struct template_value){ 0 };
    if (type == JSON_NONE || type == JSON_NULL)
        return true;
    if (type == JSON_ARRAY)
        return give_elements(doc, node, arena, value, err);
    if (type == JSON_NUMBER && json_i64(doc, node, &value->number)) {
        value->type = TEMPLATE_INT;
        return true;
    }
    value->type = TEMPLATE_TEXT;
    return node_text(doc, node, arena, &value->text, err);
}

bool template_json_path(const struct template_call *call, struct template_value *value,
                        struct error *err)
{
    const struct jsonpath *path;
    struct jsonpath_nodes nodes;
    struct json_doc doc;

    if (!jsonpath_compile(call->arena, call->arguments[1].text, &path, NULL, err) ||
        !json_parse(&doc, call->arena, call->arguments[0].text, err))
        return false;
    if (jsonpath_is_singular(path)) {
        return give_one(&doc, jsonpath_get(path, &doc, json_root(&doc)), call->arena, value, err);
    }
    if (!jsonpath_run(path, call->arena, (struct jsonpath_target){ &doc, json_root(&doc), NULL },
                      &nodes, err))
        return false;
    *value = (struct template_value){ 0 };
    return nodes.count == 0 || give_list(&doc, &nodes, call->arena, value, err);
}
