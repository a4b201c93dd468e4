/* Builds and writes the trees of tree.h. */
#include "tree.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

/* ---- building ---- */

struct tree *tree_new(struct arena *arena, enum tree_kind kind)
{
    struct tree *tree = ARENA_NEW(arena, struct tree);

    REQUIRE(tree != NULL, "memory for a tree");
    *tree = (struct tree){ .kind = kind };
    return tree;
}

struct tree *tree_text(struct arena *arena, const char *format, ...)
{
    struct tree *tree = tree_new(arena, TREE_TEXT);
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    tree->text = arena_printf(arena, "%s", text);
    return tree;
}

struct tree *tree_bare(struct arena *arena, int64_t number)
{
    struct tree *tree = tree_new(arena, TREE_BARE);

    tree->text = arena_printf(arena, "%" PRId64, number);
    return tree;
}

struct tree *tree_bool(struct arena *arena, bool value)
{
    struct tree *tree = tree_new(arena, TREE_BARE);

    tree->text = value ? STR("true") : STR("false");
    return tree;
}

void tree_add(struct arena *arena, struct tree *list, struct tree *child)
{
    if (list->count == list->room) {
        const size_t room = list->room == 0 ? 8 : 2 * list->room;
        struct tree **items = ARENA_ARRAY(arena, struct tree *, room);

        REQUIRE(items != NULL, "memory for nodes");
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof(struct tree *));
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = child;
}

void tree_put(struct arena *arena, struct tree *object, const char *key, struct tree *child)
{
    child->key = str_of(key);
    tree_add(arena, object, child);
}

struct tree *tree_copy(struct arena *arena, const struct tree *tree)
{
    struct tree *copy = tree_new(arena, tree->kind);

    copy->key = tree->key;
    copy->text = tree->text;
    for (size_t i = 0; i < tree->count; i++)
        tree_add(arena, copy, tree_copy(arena, tree->items[i]));
    return copy;
}

struct tree *tree_get(const struct tree *object, const char *key)
{
    if (object == NULL || object->kind != TREE_OBJECT)
        return NULL;
    for (size_t i = 0; i < object->count; i++) {
        if (str_eq(object->items[i]->key, str_of(key)))
            return object->items[i];
    }
    return NULL;
}

void tree_remove(struct tree *parent, const struct tree *child)
{
    size_t kept = 0;

    for (size_t i = 0; i < parent->count; i++) {
        if (parent->items[i] != child)
            parent->items[kept++] = parent->items[i];
    }
    parent->count = kept;
}

void tree_become(struct tree *tree, const struct tree *other)
{
    const struct str key = tree->key;

    *tree = *other;
    tree->key = key;
}

/* ---- JSON ---- */

static void write_json_text(struct buf *out, struct str text)
{
    buf_add(out, STR("\""));
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\')
            buf_add(out, STR("\\"));
        buf_add(out, (struct str){ text.data + i, 1 });
    }
    buf_add(out, STR("\""));
}

void tree_write_json(struct buf *out, const struct tree *tree)
{
    const bool is_object = tree->kind == TREE_OBJECT;

    switch (tree->kind) {
    case TREE_NULL:
        buf_add(out, STR("null"));
        return;
    case TREE_BARE:
        buf_add(out, tree->text);
        return;
    case TREE_TEXT:
        write_json_text(out, tree->text);
        return;
    case TREE_LIST:
    case TREE_OBJECT:
        break;
    }
    buf_add(out, is_object ? STR("{") : STR("["));
    for (size_t i = 0; i < tree->count; i++) {
        buf_add(out, i > 0 ? STR(",") : STR(""));
        if (is_object) {
            write_json_text(out, tree->items[i]->key);
            buf_add(out, STR(":"));
        }
        tree_write_json(out, tree->items[i]);
    }
    buf_add(out, is_object ? STR("}") : STR("]"));
}

/* ---- XML ---- */

static void write_xml_text(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];

        buf_add(out, c == '&'   ? STR("&amp;")
                     : c == '<' ? STR("&lt;")
                     : c == '>' ? STR("&gt;")
                                : (struct str){ text.data + i, 1 });
    }
}

static void write_element(struct buf *out, const struct tree *tree, struct str name,
                          const char *space)
{
    buf_printf(out, "<%.*s", STR_ARG(name));
    if (space != NULL)
        buf_printf(out, " xmlns=\"%s\"", space);
    buf_add(out, STR(">"));
    if (tree->kind == TREE_TEXT || tree->kind == TREE_BARE)
        write_xml_text(out, tree->text);
    for (size_t i = 0; i < tree->count; i++) {
        const struct tree *child = tree->items[i];

        write_element(out, child, tree->kind == TREE_OBJECT ? child->key : STR("item"), NULL);
    }
    buf_printf(out, "</%.*s>", STR_ARG(name));
}

void tree_write_xml(struct buf *out, const struct tree *tree, const char *space)
{
    buf_add(out, STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
    write_element(out, tree, STR("reply"), space);
}
