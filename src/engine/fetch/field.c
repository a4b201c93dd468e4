/* Finds the values of a field. */
#include "engine/fetch/field.h"

#include <assert.h>

#include "base/list.h"

struct finding {
    const struct document_place *place;
    const struct field_reading *reading;
    struct field_values *values;
    struct error *err;
};

static bool is_settled(const struct finding *finding)
{
    return finding->values->misfit.data != NULL;
}

static bool add(struct finding *finding, const struct field_found *found)
{
    struct arena *arena = finding->place->arena;
    struct field_values *values = finding->values;
    const struct spec_field *field = finding->reading->field;
    struct field_value value, *slot;
    enum field_fit fit;

    if (is_settled(finding))
        return true;
    if (!field_value_read(finding->reading->response, field->type, found, arena, &value, &fit,
                          finding->err))
        return false;
    if (fit == FIELD_BLANK || (fit == FIELD_MISFIT && !field->is_list && values->count > 0))
        return true;
    if (fit == FIELD_MISFIT) {
        values->misfit = found->doc != NULL ? json_raw(found->doc, found->node) : found->text;
        return true;
    }
    slot = LIST_ADD(arena, values);
    if (slot == NULL)
        return arena_error(arena, finding->err);
    *slot = value;
    return true;
}

/* Whether an array is a value by itself: a list of numbers, or of such lists, is a date. */
static bool is_whole(const struct finding *finding, struct json_node node)
{
    const struct json_doc *doc = &finding->place->document->json;
    const enum field_type type = finding->reading->field->type;
    const enum json_type first = json_type(doc, json_at(doc, node, 0));

    return type == FIELD_JSON || ((type == FIELD_DATE || type == FIELD_INSTANT) &&
                                  (first == JSON_NUMBER || first == JSON_ARRAY));
}

static bool add_node(struct finding *finding, struct json_node node)
{
    const struct json_doc *doc = &finding->place->document->json;
    struct json_iter it;

    if (json_type(doc, node) <= JSON_NULL)
        return true;
    if (json_type(doc, node) != JSON_ARRAY || is_whole(finding, node))
        return add(finding, &(struct field_found){ .doc = doc, .node = node });
    finding->values->is_there |= finding->reading->field->is_list;
    for (it = json_each(doc, node); json_next(&it);) {
        if (json_type(doc, it.value) != JSON_NULL &&
            !add(finding, &(struct field_found){ .doc = doc, .node = it.value }))
            return false;
    }
    return true;
}

static bool find_json(struct finding *finding)
{
    const struct document_place *place = finding->place;
    const struct json_doc *doc = &place->document->json;
    const struct jsonpath *path = finding->reading->path->json;
    struct jsonpath_nodes nodes;

    if (jsonpath_is_singular(path))
        return add_node(finding, jsonpath_get(path, doc, place->node.json));
    if (!jsonpath_run(path, place->arena, (struct jsonpath_target){ doc, place->node.json, NULL },
                      &nodes, finding->err))
        return false;
    for (size_t i = 0; i < nodes.count; i++) {
        if (!add_node(finding, nodes.items[i]))
            return false;
    }
    return true;
}

static bool find_xml(struct finding *finding)
{
    const struct document_place *place = finding->place;
    struct xml_text_list found;

    if (!xml_texts(place->document->xml, finding->reading->path->xml, place->arena, place->node.xml,
                   &found, finding->err))
        return false;
    for (size_t i = 0; i < found.count; i++) {
        const struct str text = str_trim(found.texts[i]);

        if (text.len > 0 && !add(finding, &(struct field_found){ .text = text }))
            return false;
    }
    return true;
}

bool field_read(const struct document_place *place, const struct field_reading *reading,
                struct field_values *values, struct error *err)
{
    struct finding finding = { place, reading, values, err };

    assert(reading->field->type != FIELD_ANY);
    *values = (struct field_values){ 0 };
    if (place->document->format == RESPONSE_JSON ? !find_json(&finding) : !find_xml(&finding))
        return false;
    values->is_there |= values->count > 0;
    return true;
}

void field_write(const struct field_values *values, const struct spec_field *field,
                 struct json_writer *writer)
{
    assert(values->is_there);
    if (!field->is_list) {
        field_value_write(&values->items[0], writer);
        return;
    }
    json_write_array(writer);
    for (size_t i = 0; i < values->count; i++)
        field_value_write(&values->items[i], writer);
    json_write_end(writer);
}
