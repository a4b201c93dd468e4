/* Finds a source's own words about an error. */
#include "engine/fetch/provider_text.h"

#include "base/quote.h"

/* Deep enough for {"errors":[{"error":{"message":...}}]}. */
enum { DEPTH_MAX = 6 };

/* What JSON errors call their text, the most telling first. */
static const struct str names[] = {
    STR_INIT("message"), STR_INIT("detail"),      STR_INIT("error_description"),
    STR_INIT("error"),   STR_INIT("errors"),      STR_INIT("fault"),
    STR_INIT("reason"),  STR_INIT("description"), STR_INIT("errMsg"),
    STR_INIT("msg"),     STR_INIT("faultstring"), STR_INIT("title"),
};

/* A node that is text, or the first such node that is named like one. JSON_NODE_NONE: none. */
static struct json_node find_text(const struct json_doc *doc, struct json_node node, int depth)
{
    struct json_node found = JSON_NODE_NONE;

    if (json_type(doc, node) == JSON_STRING)
        return json_string_raw(doc, node).len > 0 ? node : JSON_NODE_NONE;
    if (depth == DEPTH_MAX)
        return JSON_NODE_NONE;
    if (json_type(doc, node) == JSON_ARRAY)
        return find_text(doc, json_at(doc, node, 0), depth + 1);
    if (json_type(doc, node) != JSON_OBJECT)
        return JSON_NODE_NONE;
    for (size_t i = 0; i < ARRAY_LEN(names) && !json_exists(found); i++)
        found = find_text(doc, json_get(doc, node, names[i]), depth + 1);
    return found;
}

/* data NULL: there is none. */
static struct str text_below(const struct json_doc *doc, struct json_node from, struct arena *arena)
{
    const struct json_node node = find_text(doc, from, 0);
    struct error ignored; /* an escape that is not text: the body is quoted instead */
    struct str text;

    if (json_exists(node) && json_string(doc, node, arena, &text, &ignored))
        return text;
    return (struct str){ NULL, 0 };
}

/* What the path of the rule leads to: a text, a text within an object, or its bytes. */
static struct str text_at(const struct provider_text_place *place, struct arena *arena)
{
    const struct document *document = place->document;
    const struct document_place root = { document, document_root(document), arena };
    struct error ignored;
    struct json_node node;
    struct str text;

    if (document->format == RESPONSE_JSON && document_node(&root, place->path, &node, &ignored) &&
        json_exists(node)) {
        text = text_below(&document->json, node, arena);
        if (text.data == NULL && (json_type(&document->json, node) == JSON_OBJECT ||
                                  json_type(&document->json, node) == JSON_ARRAY))
            text = json_raw(&document->json, node);
        return text; /* a flag or a number says nothing by itself */
    }
    if (document->format != RESPONSE_JSON && document_text(&root, place->path, &text, &ignored))
        return text;
    return (struct str){ NULL, 0 };
}

struct str provider_text(const struct provider_text_place *place, struct arena *arena)
{
    struct str text = place->header;

    if (text.len == 0 && place->document != NULL && place->path != NULL)
        text = str_trim(text_at(place, arena));
    if (text.len == 0 && place->document != NULL && place->document->format == RESPONSE_JSON)
        text =
            str_trim(text_below(&place->document->json, json_root(&place->document->json), arena));
    if (text.len == 0)
        text = str_trim(place->body);
    return quote_copy(arena, text, PROVIDER_TEXT_BYTES);
}
