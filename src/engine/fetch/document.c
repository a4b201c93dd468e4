/* The same questions of a JSON and of an XML body. */
#include "engine/fetch/document.h"

#include <assert.h>

#include "base/list.h"

bool document_open(struct document *document, struct arena *arena,
                   const struct document_source *source, struct error *err)
{
    *document = (struct document){ .format = source->format, .xml = source->xml };
    if (source->format == RESPONSE_JSON)
        return json_parse(&document->json, arena, source->body, err);
    assert(source->xml != NULL);
    return xml_open(source->xml, arena,
                    &(struct xml_source){ .bytes = source->body, .charset = source->charset },
                    &document->tree, err);
}

void document_close(struct document *document)
{
    if (document->tree != NULL)
        xml_close(document->xml, document->tree);
    document->tree = NULL;
}

struct document_node document_root(const struct document *document)
{
    if (document->format == RESPONSE_JSON)
        return (struct document_node){ .json = json_root(&document->json) };
    return (struct document_node){ .xml = xml_root(document->xml, document->tree) };
}

struct str document_raw(const struct document *document, struct document_node node)
{
    if (document->format == RESPONSE_JSON)
        return json_raw(&document->json, node.json);
    return xml_raw(document->xml, document->tree, node.xml);
}

bool document_alone(const struct document *document, struct arena *arena, struct document_node node,
                    struct str *bytes, struct error *err)
{
    if (document->format == RESPONSE_XML)
        return xml_alone(document->xml, document->tree, arena, node.xml, bytes, err);
    *bytes = document_raw(document, node);
    return true;
}

/* ---- JSON ---- */

bool document_node(const struct document_place *place, const struct document_path *path,
                   struct json_node *node, struct error *err)
{
    const struct json_doc *doc = &place->document->json;

    assert(place->document->format == RESPONSE_JSON);
    if (jsonpath_is_singular(path->json)) {
        *node = jsonpath_get(path->json, doc, place->node.json);
        return true;
    }
    return jsonpath_first(path->json, place->arena,
                          (struct jsonpath_target){ doc, place->node.json, NULL }, node, err);
}

static bool json_text(const struct json_doc *doc, struct json_node node, struct arena *arena,
                      struct str *text, struct error *err)
{
    *text = (struct str){ NULL, 0 };
    switch (json_type(doc, node)) {
    case JSON_STRING:
        if (!json_string(doc, node, arena, text, err))
            return false;
        if (text->data == NULL)
            *text = STR(""); /* an empty text, not a missing one */
        return true;
    case JSON_NUMBER:
    case JSON_BOOL:
        *text = json_raw(doc, node);
        return true;
    case JSON_NONE:
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT:
        return true;
    }
    return true;
}

/* ---- both ---- */

static bool json_value(const struct document_place *place, const struct document_path *path,
                       struct document_value *value, struct error *err)
{
    const struct json_doc *doc = &place->document->json;
    struct json_node node;

    if (!document_node(place, path, &node, err) ||
        !json_text(doc, node, place->arena, &value->text, err))
        return false;
    value->is_text = json_type(doc, node) == JSON_STRING;
    value->is_broken = value->is_text && !json_string_is_whole(doc, node);
    return true;
}

bool document_value(const struct document_place *place, const struct document_path *path,
                    struct document_value *value, struct error *err)
{
    const struct document *document = place->document;
    struct str text;

    *value = (struct document_value){ 0 };
    if (document->format == RESPONSE_JSON)
        return json_value(place, path, value, err);
    if (!xml_text(document->xml, path->xml, place->arena, place->node.xml, &text, err))
        return false;
    if (text.data == NULL)
        return true;
    text = str_trim(text);
    value->text = text.len > 0 ? text : STR("");
    value->is_text = true;
    return true;
}

bool document_text(const struct document_place *place, const struct document_path *path,
                   struct str *text, struct error *err)
{
    struct document_value value;

    if (!document_value(place, path, &value, err))
        return false;
    *text = value.text;
    return true;
}

bool document_is_there(const struct document_place *place, const struct document_path *path,
                       bool *result, struct error *err)
{
    const struct document *document = place->document;
    struct json_node node;

    if (document->format == RESPONSE_XML)
        return xml_test(document->xml, path->xml, place->node.xml, result, err);
    if (!document_node(place, path, &node, err))
        return false;
    *result = json_type(&document->json, node) > JSON_NULL;
    return true;
}

static enum document_kind kind_of(enum json_type type)
{
    switch (type) {
    case JSON_NONE:
        break;
    case JSON_NULL:
        return DOCUMENT_NULL;
    case JSON_BOOL:
        return DOCUMENT_BOOL;
    case JSON_NUMBER:
    case JSON_STRING:
        return DOCUMENT_TEXT;
    case JSON_ARRAY:
    case JSON_OBJECT:
        return DOCUMENT_TREE;
    }
    return DOCUMENT_NOTHING;
}

bool document_kind(const struct document_place *place, const struct document_path *path,
                   enum document_kind *kind, struct error *err)
{
    struct json_node node;
    struct str text;

    if (place->document->format == RESPONSE_JSON) {
        if (!document_node(place, path, &node, err))
            return false;
        *kind = kind_of(json_type(&place->document->json, node));
        return true;
    }
    if (!document_text(place, path, &text, err))
        return false;
    *kind = text.data != NULL ? DOCUMENT_TEXT : DOCUMENT_NOTHING;
    return true;
}

static bool is_false_word(struct str text)
{
    static const struct str words[] = { STR_INIT(""), STR_INIT("0"), STR_INIT("false"),
                                        STR_INIT("no"), STR_INIT("n") };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_eq_nocase(text, words[i]))
            return true;
    }
    return false;
}

static bool json_is_true(const struct json_doc *doc, struct json_node node, struct arena *arena,
                         bool *result, struct error *err)
{
    double number;
    struct str text;

    switch (json_type(doc, node)) {
    case JSON_NONE:
    case JSON_NULL:
        *result = false;
        return true;
    case JSON_ARRAY:
    case JSON_OBJECT:
        *result = true;
        return true;
    case JSON_NUMBER:
        *result = json_double(doc, node, &number) && number != 0;
        return true;
    case JSON_BOOL:
    case JSON_STRING:
        break;
    }
    if (!json_text(doc, node, arena, &text, err))
        return false;
    *result = !is_false_word(text);
    return true;
}

bool document_is_true(const struct document_place *place, const struct document_path *path,
                      bool *result, struct error *err)
{
    struct json_node node;
    struct str text;

    if (place->document->format == RESPONSE_JSON)
        return document_node(place, path, &node, err) &&
               json_is_true(&place->document->json, node, place->arena, result, err);
    if (!document_is_there(place, path, result, err) || !document_text(place, path, &text, err))
        return false;
    /* An empty element is true: it says so by being there. */
    *result = *result && (text.len == 0 || !is_false_word(text));
    return true;
}

/* ---- all texts ---- */

static bool add_text(struct document_texts *texts, struct arena *arena, struct str text,
                     struct error *err)
{
    struct str *slot = LIST_ADD(arena, texts);

    if (slot == NULL)
        return arena_error(arena, err);
    *slot = text;
    return true;
}

static bool add_json_text(const struct document_place *place, struct json_node node,
                          struct document_texts *texts, struct error *err)
{
    const struct json_doc *doc = &place->document->json;
    struct str text;

    if (json_type(doc, node) <= JSON_NULL)
        return true;
    if (json_type(doc, node) == JSON_ARRAY || json_type(doc, node) == JSON_OBJECT)
        return add_text(texts, place->arena, json_raw(doc, node), err);
    return json_text(doc, node, place->arena, &text, err) &&
           add_text(texts, place->arena, text, err);
}

static bool json_texts(const struct document_place *place, const struct document_path *path,
                       struct document_texts *texts, struct error *err)
{
    const struct json_doc *doc = &place->document->json;
    struct jsonpath_nodes found;

    if (!jsonpath_run(path->json, place->arena,
                      (struct jsonpath_target){ doc, place->node.json, NULL }, &found, err))
        return false;
    for (size_t i = 0; i < found.count; i++) {
        if (json_type(doc, found.items[i]) != JSON_ARRAY) {
            if (!add_json_text(place, found.items[i], texts, err))
                return false;
            continue;
        }
        for (struct json_iter it = json_each(doc, found.items[i]); json_next(&it);) {
            if (!add_json_text(place, it.value, texts, err))
                return false;
        }
    }
    return true;
}

bool document_texts(const struct document_place *place, const struct document_path *path,
                    struct document_texts *texts, struct error *err)
{
    struct xml_text_list found;

    *texts = (struct document_texts){ 0 };
    if (place->document->format == RESPONSE_JSON)
        return json_texts(place, path, texts, err);
    if (!xml_texts(place->document->xml, path->xml, place->arena, place->node.xml, &found, err))
        return false;
    for (size_t i = 0; i < found.count; i++) {
        const struct str text = str_trim(found.texts[i]);

        if (text.len > 0 && !add_text(texts, place->arena, text, err))
            return false;
    }
    return true;
}

/* ---- items ---- */

static bool add_item(struct document_items *items, struct arena *arena, struct document_node node,
                     struct error *err)
{
    struct document_node *slot = LIST_ADD(arena, items);

    if (slot == NULL)
        return arena_error(arena, err);
    *slot = node;
    return true;
}

static bool add_json(const struct json_doc *doc, struct document_items *items, struct arena *arena,
                     struct json_node node, struct error *err)
{
    return (json_type(doc, node) == JSON_NULL && items->is_lookup) ||
           add_item(items, arena, (struct document_node){ .json = node }, err);
}

static bool add_elements(const struct json_doc *doc, struct document_items *items,
                         struct arena *arena, struct json_node list, struct error *err)
{
    for (struct json_iter it = json_each(doc, list); json_next(&it);) {
        if (!add_json(doc, items, arena, it.value, err))
            return false;
    }
    return true;
}

static bool is_scalar(const struct json_doc *doc, struct json_node node)
{
    return json_type(doc, node) > JSON_NULL && json_type(doc, node) < JSON_ARRAY;
}

static void note_break(const struct json_doc *doc, struct document_items *items,
                       struct json_node wrong)
{
    items->is_broken = json_type(doc, wrong) != JSON_NONE;
    items->wrong.json = wrong;
}

/* Whether there is a list where a path with wildcards searches: its head is one, or an object with
 * members, because {} is also what a response says that lacks everything; and where each of its
 * elements should lead to a result, all of them do, or of a lookup at least one. */
static bool find_lists(const struct json_doc *doc, const struct jsonpath *path, struct arena *arena,
                       size_t found, struct document_items *items, struct error *err)
{
    const struct json_node head = jsonpath_head(path, doc, json_root(doc));

    items->is_there = json_type(doc, head) >= JSON_ARRAY;
    if (is_scalar(doc, head))
        note_break(doc, items, head);
    if (!items->is_there)
        return true;
    if (items->is_lookup) {
        items->is_there = found > 0 || json_count(doc, head) == 0 || !jsonpath_is_plain(path);
        return true;
    }
    if (jsonpath_is_deep(path))
        items->is_there = found > 0;
    if (!jsonpath_is_plain(path))
        return true;
    if (json_type(doc, head) == JSON_OBJECT && json_count(doc, head) == 0) {
        items->is_there = false;
        return true;
    }
    return jsonpath_is_whole(path, arena, (struct jsonpath_target){ doc, json_root(doc), NULL },
                             &items->is_there, err);
}

/* The first text or number among results that must be lists or records. JSON_NONE: there is none.
 */
static struct json_node find_scalar(const struct json_doc *doc, const struct jsonpath_nodes *found)
{
    for (size_t i = 0; i < found->count; i++) {
        if (is_scalar(doc, found->items[i]))
            return found->items[i];
    }
    return JSON_NODE_NONE;
}

static bool has_list(const struct json_doc *doc, const struct jsonpath_nodes *found)
{
    for (size_t i = 0; i < found->count; i++) {
        if (json_type(doc, found->items[i]) == JSON_ARRAY)
            return true;
    }
    return false;
}

/* The results are the members of one object: $.ids[*] of {"ids": {"error": "busy"}}. A filter, such
 * as $.ids[?@ != ""], says that an object is meant. */
static bool are_members(const struct json_doc *doc, const struct jsonpath *path,
                        const struct jsonpath_nodes *found)
{
    const struct json_node head = jsonpath_head(path, doc, json_root(doc));
    struct json_iter it = json_each(doc, head);

    return found->count > 0 && jsonpath_is_plain(path) && json_type(doc, head) == JSON_OBJECT &&
           json_next(&it) && it.value.at == found->items[0].at;
}

static bool add_results(const struct json_doc *doc, const struct jsonpath *path,
                        struct arena *arena, struct document_items *items, struct error *err)
{
    const bool are_lists = jsonpath_ends_in_name(path);
    struct jsonpath_nodes found;

    if (!jsonpath_run(path, arena, (struct jsonpath_target){ doc, json_root(doc), NULL }, &found,
                      err) ||
        !find_lists(doc, path, arena, found.count, items, err))
        return false;
    if (!items->is_lookup && (are_lists ? has_list(doc, &found) : are_members(doc, path, &found)))
        note_break(doc, items, find_scalar(doc, &found));
    for (size_t i = 0; i < found.count; i++) {
        const bool is_list = are_lists && json_type(doc, found.items[i]) == JSON_ARRAY;

        if (are_lists && json_type(doc, found.items[i]) == JSON_NULL) {
            items->is_there &= items->is_lookup;
            continue;
        }
        if (is_list ? !add_elements(doc, items, arena, found.items[i], err)
                    : !add_json(doc, items, arena, found.items[i], err))
            return false;
    }
    return true;
}

static bool json_items(const struct json_doc *doc, const struct jsonpath *path, struct arena *arena,
                       struct document_items *items, struct error *err)
{
    struct json_node list;

    if (jsonpath_is_ambiguous(path, doc, json_root(doc)))
        return error_set(err, ERROR_TRANSIENT, "answer.twice",
                         "the response has a member on the way to its items twice");
    if (!jsonpath_is_singular(path))
        return add_results(doc, path, arena, items, err);
    list = jsonpath_get(path, doc, json_root(doc));
    items->is_there = json_type(doc, list) > JSON_NULL;
    if (json_type(doc, list) == JSON_ARRAY)
        return add_elements(doc, items, arena, list, err);
    items->is_single = items->is_there;
    if (is_scalar(doc, list))
        note_break(doc, items, list);
    return !items->is_there || add_json(doc, items, arena, list, err);
}

static bool xml_items(const struct document *document, const struct document_list *list,
                      struct arena *arena, struct document_items *items, struct error *err)
{
    const struct xml_node root = xml_root(document->xml, document->tree);
    struct xml_node_list found;

    if (!xml_nodes(document->xml, list->items->xml, arena, root, &found, err))
        return false;
    for (size_t i = 0; i < found.count; i++) {
        if (!add_item(items, arena, (struct document_node){ .xml = found.nodes[i] }, err))
            return false;
    }
    items->is_there = found.count > 0 || list->is_lookup;
    return found.count > 0 || !document_has_path(list->container) ||
           xml_test(document->xml, list->container->xml, root, &items->is_there, err);
}

bool document_items(const struct document *document, const struct document_list *list,
                    struct arena *arena, struct document_items *items, struct error *err)
{
    *items = (struct document_items){ .is_lookup = list->is_lookup };
    if (document->format == RESPONSE_JSON)
        return json_items(&document->json, list->items->json, arena, items, err);
    return xml_items(document, list, arena, items, err);
}

/* ---- fields ---- */

static bool write_json(const struct document_place *place, const struct jsonpath *path,
                       struct json_writer *writer, struct error *err)
{
    const struct json_doc *doc = &place->document->json;
    struct jsonpath_nodes found = { 0 };
    struct json_node single;

    if (jsonpath_is_singular(path)) {
        single = jsonpath_get(path, doc, place->node.json);
        if (json_type(doc, single) > JSON_NULL)
            json_write_node(writer, doc, single);
        return true;
    }
    if (!jsonpath_run(path, place->arena, (struct jsonpath_target){ doc, place->node.json, NULL },
                      &found, err))
        return false;
    if (found.count == 0)
        return true;
    json_write_array(writer);
    for (size_t i = 0; i < found.count; i++)
        json_write_node(writer, doc, found.items[i]);
    json_write_end(writer);
    return true;
}

static bool write_xml(const struct document_place *place, struct xml_path *path,
                      struct json_writer *writer, struct error *err)
{
    struct xml_text_list found;

    if (!xml_texts(place->document->xml, path, place->arena, place->node.xml, &found, err))
        return false;
    if (found.count == 0 || (found.count == 1 && str_trim(found.texts[0]).len == 0))
        return true;
    if (found.count == 1) {
        json_write_str(writer, str_trim(found.texts[0]));
        return true;
    }
    json_write_array(writer);
    for (size_t i = 0; i < found.count; i++)
        json_write_str(writer, str_trim(found.texts[i]));
    json_write_end(writer);
    return true;
}

bool document_write(const struct document_place *place, const struct document_path *path,
                    struct json_writer *writer, struct error *err)
{
    if (place->document->format == RESPONSE_JSON)
        return write_json(place, path->json, writer, err);
    return write_xml(place, path->xml, writer, err);
}
