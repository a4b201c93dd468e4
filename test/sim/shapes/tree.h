/* tree: a response body before it is written, as JSON or XML.
 *
 * Made, changed and written by this code only, which shares nothing with patra's parsers.
 *
 *      {"total": 2, "items": [{"id": "a"}, {"id": "b"}]}
 *
 *      <reply><total>2</total><items><item><id>a</id></item><item><id>b</id></item></items></reply>
 *
 * In XML the elements of a list are called "item", null is an element without content.
 */
#ifndef PATRA_TEST_SIM_SHAPES_TREE_H
#define PATRA_TEST_SIM_SHAPES_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"

enum tree_kind { TREE_NULL, TREE_BARE, TREE_TEXT, TREE_LIST, TREE_OBJECT };

struct tree {
    enum tree_kind kind;
    struct str key;  /* as a member of an object */
    struct str text; /* BARE: a number, true, false; TEXT: without quotes */
    struct tree **items;
    size_t count;
    size_t room;
};

struct tree *tree_new(struct arena *arena, enum tree_kind kind);
struct tree *tree_text(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
struct tree *tree_bare(struct arena *arena, int64_t number);
struct tree *tree_bool(struct arena *arena, bool value);
struct tree *tree_copy(struct arena *arena, const struct tree *tree);

/* Appends; for an object with its key. A second member of the same key is allowed. */
void tree_add(struct arena *arena, struct tree *list, struct tree *child);
void tree_put(struct arena *arena, struct tree *object, const char *key, struct tree *child);

/* The member of an object; NULL: there is none, or it is not an object. */
struct tree *tree_get(const struct tree *object, const char *key);
void tree_remove(struct tree *parent, const struct tree *child);
/* Becomes this, under its own key. */
void tree_become(struct tree *tree, const struct tree *other);

void tree_write_json(struct buf *out, const struct tree *tree);
/* The whole document; space: the namespace of all elements, NULL for none. */
void tree_write_xml(struct buf *out, const struct tree *tree, const char *space);

#endif
