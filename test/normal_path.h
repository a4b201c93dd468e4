/* normal_path: the position of a node in its document as a normalized path (RFC 9535, 2.7):
 * $['items'][0]['id']. Public suites give the positions of results this way, and the path leads
 * back to its node. */
#ifndef PATRA_TEST_NORMAL_PATH_H
#define PATRA_TEST_NORMAL_PATH_H

#include <assert.h>

#include "base/buf.h"
#include "data/json.h"

static inline void normal_path_add_name(struct buf *out, struct str name)
{
    static const char from[] = { '\b', '\t', '\n', '\f', '\r', '\'', '\\' };
    static const char to[] = { 'b', 't', 'n', 'f', 'r', '\'', '\\' };

    buf_add(out, STR("['"));
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.data[i];
        size_t k = 0;

        while (k < sizeof(from) && from[k] != c)
            k++;
        if (k < sizeof(from)) {
            buf_add_char(out, '\\');
            buf_add_char(out, to[k]);
        } else if ((unsigned char)c < 0x20) {
            buf_printf(out, "\\u%04x", (unsigned)c);
        } else {
            buf_add_char(out, c);
        }
    }
    buf_add(out, STR("']"));
}

/* The child of `parent` that holds the node: the last one that does not begin after it. */
static inline struct json_iter normal_path_child(const struct json_doc *doc,
                                                 struct json_node parent, struct json_node node)
{
    struct json_iter it = json_each(doc, parent), found = it;
    bool any = false;

    while (json_next(&it) && it.value.at <= node.at) {
        found = it;
        any = true;
    }
    assert(any); /* the node is inside */
    return found;
}

static inline bool normal_path(struct arena *arena, const struct json_doc *doc,
                               struct json_node root, struct json_node node, struct str *out,
                               struct error *err)
{
    struct json_node at = root;
    struct buf text;

    assert(json_exists(node));
    buf_init(&text, arena, SIZE_MAX);
    buf_add_char(&text, '$');
    while (at.at != node.at) {
        const struct json_iter child = normal_path_child(doc, at, node);
        struct str name;

        if (json_exists(child.name)) {
            if (!json_string(doc, child.name, arena, &name, err))
                return false;
            normal_path_add_name(&text, name);
        } else {
            buf_printf(&text, "[%zu]", child.index);
        }
        at = child.value;
    }
    *out = buf_str(&text);
    return buf_ok(&text, err);
}

#endif
