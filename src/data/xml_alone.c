/* An element as a document of its own:
 *
 *      <feed xmlns="u" xmlns:p="v"><entry><p:x/></entry></feed>
 *                                  <entry xmlns="u" xmlns:p="v"><p:x/></entry>
 *
 * Declarations of namespaces that are outside of the element are inserted after its name, and
 * nothing else changes. Only those that the element uses: by the names of elements and attributes,
 * and by texts and values that look like a name with a prefix (xsi:type="p:Book"). So the bytes do
 * not change when the surroundings declare something else. The order is that of the prefixes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "data/xml_tree.h"

/* In scope of one element. Real documents have a dozen. */
enum { NAMESPACES_MAX = 256 };

struct outer { /* declared outside, nearest first */
    struct {
        const xmlNs *ns;
        bool is_used;
    } items[NAMESPACES_MAX];
    size_t count;
    size_t used;
};

static struct str prefix_of(const xmlNs *ns)
{
    return ns->prefix != NULL ? str_of((const char *)ns->prefix) : STR("");
}

/* ---- what is declared outside ---- */

static bool is_declared(const xmlNs *list, struct str prefix)
{
    for (; list != NULL; list = list->next) {
        if (str_eq(prefix_of(list), prefix))
            return true;
    }
    return false;
}

static bool is_in(const struct outer *outer, struct str prefix)
{
    for (size_t i = 0; i < outer->count; i++) {
        if (str_eq(prefix_of(outer->items[i].ns), prefix))
            return true;
    }
    return false;
}

static bool collect(const xmlNode *element, struct outer *outer, struct error *err)
{
    for (const xmlNode *at = element->parent; at != NULL && at->type == XML_ELEMENT_NODE;
         at = at->parent) {
        for (const xmlNs *ns = at->nsDef; ns != NULL; ns = ns->next) {
            if (is_declared(element->nsDef, prefix_of(ns)) || is_in(outer, prefix_of(ns)))
                continue;
            if (outer->count == NAMESPACES_MAX)
                return error_set(err, ERROR_REQUEST, "xml.limit",
                                 "more than %d namespaces are declared around an element",
                                 NAMESPACES_MAX);
            outer->items[outer->count].ns = ns;
            outer->items[outer->count++].is_used = false;
        }
    }
    return true;
}

/* ---- what of it is used ---- */

static void use(struct outer *outer, size_t i)
{
    const xmlNs *ns = outer->items[i].ns;

    if (outer->items[i].is_used || ns->href == NULL || ns->href[0] == '\0')
        return; /* xmlns="" declares nothing */
    outer->items[i].is_used = true;
    outer->used++;
}

static void use_name(struct outer *outer, const xmlNs *ns)
{
    for (size_t i = 0; i < outer->count && ns != NULL; i++) {
        if (outer->items[i].ns == ns)
            use(outer, i);
    }
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || (unsigned char)c >= 0x80;
}

/* What is before a colon may be a prefix. */
static void use_text(struct outer *outer, const xmlChar *content)
{
    const char *const text = (const char *)content;
    const char *colon = text != NULL ? strchr(text, ':') : NULL;

    for (; colon != NULL; colon = strchr(colon + 1, ':')) {
        const char *from = colon;
        struct str prefix;

        while (from > text && is_name_byte(from[-1]))
            from--;
        prefix = (struct str){ from, (size_t)(colon - from) };
        for (size_t i = 0; i < outer->count && prefix.len > 0; i++) {
            if (str_eq(prefix_of(outer->items[i].ns), prefix))
                use(outer, i);
        }
    }
}

static void use_node(struct outer *outer, const xmlNode *node)
{
    if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE)
        use_text(outer, node->content);
    if (node->type != XML_ELEMENT_NODE)
        return;
    use_name(outer, node->ns);
    for (const xmlAttr *attribute = node->properties; attribute != NULL;
         attribute = attribute->next) {
        use_name(outer, attribute->ns);
        for (const xmlNode *part = attribute->children; part != NULL; part = part->next)
            use_text(outer, part->content);
    }
}

/* The node after this one in the document, within the element. */
static const xmlNode *next_node(const xmlNode *element, const xmlNode *node)
{
    if (node->type == XML_ELEMENT_NODE && node->children != NULL)
        return node->children;
    while (node != element && node->next == NULL)
        node = node->parent;
    return node == element ? NULL : node->next;
}

static void find_used(const xmlNode *element, struct outer *outer)
{
    for (const xmlNode *node = element; node != NULL && outer->used < outer->count;
         node = next_node(element, node))
        use_node(outer, node);
}

/* ---- writing ---- */

static int by_prefix(const void *a, const void *b)
{
    return str_cmp(prefix_of(*(const xmlNs *const *)a), prefix_of(*(const xmlNs *const *)b));
}

static void add_escaped(struct buf *out, const xmlChar *uri)
{
    for (const char *at = (const char *)uri; *at != '\0'; at++) {
        if (*at == '&')
            buf_add(out, STR("&amp;"));
        else if (*at == '<')
            buf_add(out, STR("&lt;"));
        else if (*at == '"')
            buf_add(out, STR("&quot;"));
        else if (*at == '\t' || *at == '\n' || *at == '\r')
            buf_printf(out, "&#%d;", *at);
        else
            buf_add_char(out, *at);
    }
}

static void add_declarations(struct buf *out, const struct outer *outer)
{
    const xmlNs *used[NAMESPACES_MAX] = { NULL };
    size_t count = 0;

    for (size_t i = 0; i < outer->count; i++) {
        if (outer->items[i].is_used)
            used[count++] = outer->items[i].ns;
    }
    qsort(used, count, sizeof(used[0]), by_prefix);
    for (size_t i = 0; i < count; i++) {
        const struct str prefix = prefix_of(used[i]);

        buf_printf(out, " xmlns%s%.*s=\"", prefix.len > 0 ? ":" : "", STR_ARG(prefix));
        add_escaped(out, used[i]->href);
        buf_add_char(out, '"');
    }
}

static size_t name_end(struct str raw)
{
    size_t at = 1;

    while (strchr(" \t\r\n/>", raw.data[at]) == NULL)
        at++;
    return at;
}

bool xml_tree_alone(const struct xml_doc *doc, struct arena *arena, struct xml_node node,
                    struct str *text, struct error *err)
{
    const struct str raw = xml_tree_raw(doc, node);
    struct outer outer;
    struct buf out;

    *text = raw;
    outer.count = 0;
    outer.used = 0;
    if (raw.len == 0)
        return true;
    if (!collect(node.node, &outer, err))
        return false;
    find_used(node.node, &outer);
    if (outer.used == 0)
        return true;
    buf_init(&out, arena, SIZE_MAX / 2);
    buf_add(&out, str_slice(raw, 0, name_end(raw)));
    add_declarations(&out, &outer);
    buf_add(&out, str_slice(raw, name_end(raw), raw.len));
    *text = buf_str(&out);
    return buf_ok(&out, err);
}
