/* A path, a line end, a document: compiled or refused with a place inside the path; run within its
 * budget; every result is inside the document, and its normalized path leads back to it. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "../normal_path.h"
#include "data/jsonpath.h"

enum { STEPS_MAX = 200000, CHECKED_MAX = 20 };

static void check_node(struct arena *arena, const struct json_doc *doc, struct json_node node)
{
    const struct jsonpath *path;
    struct jsonpath_nodes nodes;
    struct error err;
    struct str where;
    bool ok;

    assert(json_raw(doc, node).len > 0);
    if (!normal_path(arena, doc, json_root(doc), node, &where, &err) || where.len > 60000)
        return;
    ok = jsonpath_compile(arena, where, &path, NULL, &err) || arena->failed;
    assert(ok);
    if (arena->failed ||
        !jsonpath_run(path, arena, (struct jsonpath_target){ doc, json_root(doc), NULL }, &nodes,
                      &err))
        return;
    /* Of equal names the first is found, which may be another node. */
    assert(jsonpath_is_singular(path));
    assert(nodes.count <= 1);
}

static void run(struct arena *arena, const struct jsonpath *path, struct str text)
{
    struct jsonpath_nodes nodes;
    uint64_t steps = STEPS_MAX;
    struct json_doc doc;
    struct error err;

    if (!json_parse(&doc, arena, text, &err))
        return;
    if (!jsonpath_run(path, arena, (struct jsonpath_target){ &doc, json_root(&doc), &steps },
                      &nodes, &err)) {
        assert(arena->failed || strcmp(err.code, "jsonpath.limit") == 0 ||
               strcmp(err.code, "memory.limit") == 0);
        return;
    }
    if (jsonpath_is_singular(path)) {
        const struct json_node one = jsonpath_get(path, &doc, json_root(&doc));

        assert(nodes.count == (json_exists(one) ? 1 : 0));
        assert(nodes.count == 0 || one.at == nodes.items[0].at);
    }
    for (size_t i = 0; i < nodes.count && i < CHECKED_MAX; i++)
        check_node(arena, &doc, nodes.items[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };
    const struct str source = str_cut(&text, '\n');
    const struct jsonpath *path;
    size_t fault_at;
    struct arena arena;
    struct error err;

    arena_init(&arena, 32 << 20);
    if (jsonpath_compile(&arena, source, &path, &fault_at, &err))
        run(&arena, path, text);
    else
        assert(fault_at <= source.len);
    arena_release(&arena);
    return 0;
}
