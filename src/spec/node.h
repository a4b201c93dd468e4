/* node: a source file as a tree that keeps the place of everything.
 *
 * The reader accepts a plain subset of YAML: maps with text keys, lists, scalars in any style. It
 * assigns no types: `no`, `1e3` and `2026-01-01` are texts until a setting reads them, so YAML's
 * implicit types cannot surprise. It rejects, each with its place: anchors and aliases (a file of a
 * kilobyte could expand to gigabytes), tags, several documents, keys that are not text, duplicate
 * keys, and more bytes, nodes or levels than a person writes.
 */
#ifndef PATRA_SPEC_NODE_H
#define PATRA_SPEC_NODE_H

#include "base/arena.h"
#include "base/str.h"
#include "spec/fault.h"

/* The largest source would have a few thousand lines. */
enum { SOURCE_BYTES_MAX = 256 * 1024, SOURCE_NODES_MAX = 20000, SOURCE_DEPTH_MAX = 24 };

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

enum node_style { NODE_PLAIN, NODE_SINGLE_QUOTED, NODE_DOUBLE_QUOTED, NODE_BLOCK };

struct node_entry {
    struct str key; /* empty in a list */
    struct mark at; /* of the key; in a list of the value */
    struct node *value;
};

struct node {
    enum node_kind kind;
    enum node_style style; /* of a scalar */
    struct mark at;
    struct str text; /* of a scalar: its value */
    struct node_entry *entries;
    size_t count;
    bool is_broken;   /* has a fault already; not to be examined */
    bool is_template; /* of the source's template (source_template.h): `at` is not its own place */
};

/* The tree of the whole text. NULL, and at least one new error, when the text cannot be read to its
 * end or is empty. Other faults leave a tree that can be checked further. */
const struct node *node_read(struct arena *arena, struct str text, struct fault_list *faults);

/* The value under the key, or NULL. */
const struct node *node_get(const struct node *map, struct str key);

/* The place in the file of byte `offset` of the scalar's value: exact for scalars on one line, else
 * the start of the scalar. 0 is its start, quote included. `file` is the text that was read. */
struct mark node_mark(const struct node *scalar, struct str file, size_t offset);

#endif
