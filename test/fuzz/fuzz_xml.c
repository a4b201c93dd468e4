/* The first line is an XPath, the rest a document. Whatever is found has its bytes in the text. */
#include <assert.h>
#include <stdint.h>

#include "data/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const struct xml *xml = &xml_module;

static const struct xml_namespace namespaces[] = { { STR_INIT("a"), STR_INIT("u") } };

static void check_element(struct xml_doc *doc, struct xml_node node)
{
    const struct str raw = xml_raw(xml, doc, node);

    assert(raw.len >= 4 && raw.data[0] == '<' && raw.data[raw.len - 1] == '>');
}

static void walk(struct arena *arena, struct xml_doc *doc)
{
    struct xml_path *all;
    struct xml_node_list nodes;
    struct error err;

    assert(xml_path_compile(xml, STR("//*"), namespaces, 1, &all, &err));
    if (xml_nodes(xml, all, arena, xml_root(xml, doc), &nodes, &err)) {
        assert(nodes.count > 0);
        for (size_t i = 0; i < nodes.count && i < 20; i++)
            check_element(doc, nodes.nodes[i]);
    }
    xml_path_close(xml, all);
}

static void evaluate(struct arena *arena, struct xml_doc *doc, struct xml_path *path)
{
    struct xml_text_list texts;
    struct xml_node_list nodes;
    struct error err;
    bool result;

    (void)!xml_texts(xml, path, arena, xml_root(xml, doc), &texts, &err);
    (void)!xml_nodes(xml, path, arena, xml_root(xml, doc), &nodes, &err);
    (void)!xml_test(xml, path, xml_root(xml, doc), &result, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str rest = { (const char *)bytes, size };
    const struct str expression = str_cut(&rest, '\n');
    struct xml_path *path;
    struct xml_doc *doc;
    struct arena arena;
    struct error err;

    arena_init(&arena, 16 << 20);
    (void)!xml_path_compile(xml, expression, namespaces, 1, &path, &err);
    if (xml_open(xml, &arena, &(struct xml_source){ .bytes = rest, .nodes_max = 2000 }, &doc,
                 &err)) {
        walk(&arena, doc);
        if (path != NULL)
            evaluate(&arena, doc, path);
    } else {
        assert(doc == NULL && err.level != ERROR_NONE);
    }
    xml_close(xml, doc);
    xml_path_close(xml, path);
    arena_release(&arena);
    return 0;
}
