/* source: the rows of one source, and where in its file each came from.
 *
 *      sources/x.yaml --source_read--> rows + places --check--> faults
 *                                        |
 *      store ------------ rows ----------+--> diff, export, resolve, snapshot
 *
 * Whoever works on rows need not know which of the two they came from: a place that is not known
 * (rows of a store) is line 0, and texts name the field in either case.
 */
#ifndef PATRA_SPEC_SOURCE_H
#define PATRA_SPEC_SOURCE_H

#include "base/arena.h"
#include "base/attr.h"
#include "core/registry.h"
#include "spec/edit.h"
#include "spec/fault.h"
#include "spec/node.h"
#include "spec/setting.h"

/* Far beyond any source: a row per parameter, path and rule of each endpoint. */
enum { SOURCE_ROWS_MAX = 4000 };

struct source_mark {           /* of one row */
    struct mark at;            /* of the key that began it */
    const struct node **nodes; /* one per column; NULL where the file says nothing. A node without
                                  a value in the row: it could not be read, and a fault was told. */
};

struct source {
    struct registry_source registry;
    struct mark at;            /* of its code */
    struct source_mark *marks; /* one per row; NULL when the rows came from a store */
    struct str file;           /* the text that was read */
};

struct source_text {
    struct str file;
    struct edit_list edits; /* changes to what the file says */
};

/* Reads a file and checks what can be seen in each value alone. False when there are errors: the
 * rows are then those that could be read, and may still be checked further, provided the code of
 * the source was found (registry.code is not empty). */
bool source_read(struct arena *arena, const struct source_text *text, struct fault_list *faults,
                 struct source *source) MUST_CHECK;

/* Writes the file that says what the rows say, without comments. Reading it gives rows equal to
 * these, and writing those gives the same text. */
void source_write(const struct source *source, struct buf *out);

/* ---- asking ---- */

/* NULL when there is no such row. */
const struct registry_row *source_row(const struct source *source, enum registry_table_id table,
                                      struct str endpoint, struct str key);

/* What is said at this very place, not what is in effect there. NULL: nothing. */
const struct registry_value *source_value(const struct source *source,
                                          const struct setting *setting, struct str endpoint,
                                          struct str key);

/* Rows of a table and endpoint whose key begins with `prefix`, in their order: begin with
 * after == NULL, NULL at the end. */
const struct registry_row *source_next(const struct source *source, enum registry_table_id table,
                                       struct str endpoint, struct str prefix,
                                       const struct registry_row *after);

/* The same for endpoints and operations. */
const struct registry_row *source_next_endpoint(const struct source *source,
                                                const struct registry_row *after);
const struct registry_row *source_next_operation(const struct source *source,
                                                 const struct registry_row *after);

/* Returns false: "source.operation", with the operations that there are. */
bool source_lacks_operation(const struct source *source, struct str name, struct error *err);

/* True when the file says something there that could not be read. */
bool source_is_broken(const struct source *source, const struct registry_row *row, int column);

/* ---- places ---- */

/* Of the value when it is there, else of the row, else of the source. */
struct mark source_mark_of(const struct source *source, const struct registry_row *row, int column);

/* Of byte `offset` within the value. */
struct mark source_mark_in(const struct source *source, const struct registry_row *row, int column,
                           size_t offset);

#endif
