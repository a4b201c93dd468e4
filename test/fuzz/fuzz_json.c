/* Any bytes: parsed or refused, and what was parsed can be walked through every function. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "data/json.h"

static void check_value(const struct json_doc *doc, struct json_node node, struct arena *arena)
{
    const struct str raw = json_raw(doc, node);
    struct error err;
    struct str text;
    int64_t integer;
    double number;

    assert(raw.len > 0 && json_is_valid(raw)); /* any part of a document is one */
    if (json_type(doc, node) == JSON_STRING) {
        if (!json_string(doc, node, arena, &text, &err))
            return;
        assert(str_is_utf8(text));
        assert(json_string_is(doc, node, text));
    }
    if (json_i64(doc, node, &integer))
        assert(json_double(doc, node, &number) && number == (double)integer);
}

static void walk(const struct json_doc *doc, struct arena *arena)
{
    static struct json_iter stack[JSON_DEPTH_MAX + 1];
    size_t depth = 0, spans = 0;

    check_value(doc, json_root(doc), arena);
    spans += json_type(doc, json_root(doc)) >= JSON_ARRAY;
    stack[depth++] = json_each(doc, json_root(doc));
    while (depth > 0) {
        struct json_iter *it = &stack[depth - 1];

        if (!json_next(it)) {
            depth--;
            continue;
        }
        if (json_exists(it->name))
            check_value(doc, it->name, arena);
        if (depth < 8) /* every level is read again at each level around it */
            check_value(doc, it->value, arena);
        spans += json_type(doc, it->value) >= JSON_ARRAY;
        stack[depth++] = json_each(doc, it->value);
    }
    assert(spans == doc->span_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes, size };
    struct json_doc doc;
    struct arena arena;
    struct error err;

    arena_init(&arena, 1 << 20);
    if (json_parse(&doc, &arena, text, &err)) {
        assert(json_is_valid(text));
        walk(&doc, &arena);
    } else {
        assert(err.level == ERROR_REQUEST);
        assert(!json_is_valid(text) || strcmp(err.code, "memory.limit") == 0);
    }
    arena_release(&arena);
    return 0;
}
