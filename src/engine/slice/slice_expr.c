/* Members of a slice's expression, read back. */
#include "engine/slice/slice_expr.h"

#include "data/json.h"

bool slice_expr_ids(struct arena *arena, struct str expr_snapshot, struct str_list *ids,
                    struct error *err)
{
    struct json_doc doc;
    struct json_node list;
    struct json_iter it;

    if (!json_parse(&doc, arena, expr_snapshot, err))
        return error_wrap(err, "read the ids of a slice");
    list = json_get(&doc, json_root(&doc), STR("ids"));
    *ids = (struct str_list){ ARENA_ARRAY(arena, struct str, json_count(&doc, list) + 1), 0 };
    if (ids->items == NULL)
        return arena_error(arena, err);
    it = json_each(&doc, list);
    while (json_next(&it)) {
        if (json_type(&doc, it.value) != JSON_STRING)
            return error_set(err, ERROR_FATAL, "plan.slice", "an id of a slice is not a text");
        if (!json_string(&doc, it.value, arena, &ids->items[ids->count++], err))
            return false;
    }
    return true;
}

bool slice_expr_target(struct arena *arena, struct str expr_snapshot, struct str *target,
                       struct error *err)
{
    struct json_doc doc;
    struct json_node node;

    if (!json_parse(&doc, arena, expr_snapshot, err))
        return error_wrap(err, "read the expression of a slice");
    node = json_get(&doc, json_root(&doc), STR("records"));
    return json_type(&doc, node) != JSON_STRING || json_string(&doc, node, arena, target, err);
}
