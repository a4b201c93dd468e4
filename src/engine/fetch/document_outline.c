/* The names in a response, as a part of a sentence. */
#include "engine/fetch/document_outline.h"

#include "base/buf.h"
#include "base/quote.h"

/* Names that are shown, and bytes of each. Elements that are looked at. */
enum { NAMES_MAX = 8, NAME_MAX = 60, OUTLINE_MAX = 4096, ELEMENTS_MAX = 1000 };

static void add_name(struct buf *out, size_t index, struct str name)
{
    if (index == NAMES_MAX)
        buf_add(out, STR(", ..."));
    if (index < NAMES_MAX)
        buf_printf(out, "%s%s", index > 0 ? ", " : "", QUOTE(str_slice(name, 0, NAME_MAX)));
}

/* ---- JSON ---- */

static void outline_json(const struct json_doc *doc, struct arena *arena, struct buf *out)
{
    const struct json_node root = json_root(doc);
    struct error ignored;
    struct str name;
    size_t count = 0;

    if (json_type(doc, root) == JSON_ARRAY) {
        buf_printf(out, "it is a list of %zu", json_count(doc, root));
        return;
    }
    if (json_type(doc, root) != JSON_OBJECT) {
        buf_printf(out, "it is %s", QUOTE(json_raw(doc, root)));
        return;
    }
    buf_add(out, STR("it has "));
    for (struct json_iter it = json_each(doc, root); json_next(&it) && count <= NAMES_MAX;) {
        if (json_string(doc, it.name, arena, &name, &ignored))
            add_name(out, count++, name);
    }
    if (count == 0)
        buf_add(out, STR("no members"));
}

/* ---- XML ---- */

/* The text of an XPath, from a node; empty where it has none. */
static struct str text_of(const struct document *document, struct arena *arena, struct str path,
                          struct xml_node from)
{
    struct xml_path *compiled;
    struct str text = { NULL, 0 };
    struct error ignored;

    if (!xml_path_compile(document->xml, path, NULL, 0, &compiled, &ignored))
        return text;
    if (!xml_text(document->xml, compiled, arena, from, &text, &ignored))
        text = (struct str){ NULL, 0 };
    xml_path_close(document->xml, compiled);
    return text;
}

static void outline_children(const struct document *document, struct arena *arena, struct buf *out)
{
    const struct xml_node root = xml_root(document->xml, document->tree);
    struct xml_node_list children = { NULL, 0 };
    struct xml_path *path;
    struct error ignored;

    if (!xml_path_compile(document->xml, STR("/*/*"), NULL, 0, &path, &ignored))
        return;
    if (xml_nodes(document->xml, path, arena, root, &children, &ignored) && children.count > 0) {
        buf_add(out, STR(", with "));
        for (size_t i = 0; i < children.count && i <= NAMES_MAX; i++)
            add_name(out, i, text_of(document, arena, STR("name()"), children.nodes[i]));
    }
    xml_path_close(document->xml, path);
}

static void outline_xml(const struct document *document, struct arena *arena, struct buf *out)
{
    const struct xml_node root = xml_root(document->xml, document->tree);
    const struct str uri = text_of(document, arena, STR("namespace-uri(/*)"), root);

    buf_printf(out, "its root is %s", QUOTE(text_of(document, arena, STR("name(/*)"), root)));
    if (uri.len > 0)
        buf_printf(out, " of the namespace %s", QUOTE(uri));
    outline_children(document, arena, out);
}

/* After the names of one namespace. */
static void add_namespace(struct buf *out, struct str uri)
{
    if (uri.len == 0)
        buf_add(out, STR(" of no namespace"));
    else
        buf_printf(out, " of the namespace %s", QUOTE(uri));
}

static void outline_elements(const struct document *document, const struct xml_node_list *elements,
                             struct arena *arena, struct buf *out)
{
    struct str last_name = { NULL, 0 }, last_uri = { NULL, 0 };
    size_t count = 0;

    for (size_t i = 0; i < elements->count && i < ELEMENTS_MAX && count < NAMES_MAX; i++) {
        const struct str name = text_of(document, arena, STR("name()"), elements->nodes[i]);
        const struct str uri = text_of(document, arena, STR("namespace-uri()"), elements->nodes[i]);

        if (count > 0 && str_eq(name, last_name) && str_eq(uri, last_uri))
            continue;
        if (count > 0 && !str_eq(uri, last_uri))
            add_namespace(out, last_uri);
        add_name(out, count++, name);
        last_name = name;
        last_uri = uri;
    }
    if (count > 0)
        add_namespace(out, last_uri);
}

struct str document_outline_elements(const struct document *document,
                                     const struct document_path *path, struct arena *arena)
{
    struct xml_node_list found = { NULL, 0 };
    struct error ignored;
    struct buf out;

    buf_init(&out, arena, OUTLINE_MAX);
    if (path->xml != NULL && xml_nodes(document->xml, path->xml, arena,
                                       xml_root(document->xml, document->tree), &found, &ignored))
        outline_elements(document, &found, arena, &out);
    return buf_str(&out);
}

/* ---- both ---- */

struct str document_outline_lack(const struct document *document, const struct document_path *path,
                                 struct str text, struct arena *arena)
{
    const struct document_place place = { document, document_root(document), arena };
    enum document_kind kind = DOCUMENT_NOTHING;
    struct error ignored;

    if (document_has_path(path) && document_kind(&place, path, &kind, &ignored) &&
        kind == DOCUMENT_NULL)
        return arena_printf(arena, "%.*s is null", STR_ARG(text));
    return arena_printf(arena, "there is no %.*s", STR_ARG(text));
}

struct str document_outline(const struct document *document, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena, OUTLINE_MAX);
    if (document->format == RESPONSE_JSON)
        outline_json(&document->json, arena, &out);
    else
        outline_xml(document, arena, &out);
    return buf_str(&out);
}
