/* source: the rows of one source, and the place in its file of each.
 *
 *      sources/x.yaml --source_read--> rows + places --check--> faults
 *                                        |
 *      store ------------ rows ----------+--> diff, export, resolve, snapshot
 *
 * Code that works on rows need not know where they came from: rows of a store have no place (line
 * 0), and messages name the field in either case.
 */
#ifndef PATRA_SPEC_SOURCE_H
#define PATRA_SPEC_SOURCE_H

#include "base/arena.h"
#include "base/attr.h"
#include "core/registry.h"
#include "spec/edit.h"
#include "spec/fault.h"
#include "spec/node.h"
#include "spec/selected.h"
#include "spec/setting.h"

/* Far more than any source has: a row per parameter, path and rule of each endpoint. */
enum { SOURCE_ROWS_MAX = 4000 };

struct source_mark {           /* of one row */
    struct mark at;            /* of the key that began it */
    const struct node **nodes; /* one per column; NULL where the file has nothing. A node without
                                  a value in the row could not be read, and has a fault. */
};

struct source {
    struct registry_source registry;
    struct mark at;                /* of its code */
    struct source_mark *marks;     /* one per row; NULL when the rows came from a store */
    struct str file;               /* the text that was read */
    struct selected_list selected; /* values of references that select; empty where none was read */
};

struct source_text {
    struct str file;
    struct edit_list edits; /* changes made before it is read */
};

/* Reads a file and checks each value by itself. False when there are errors: the source then has
 * the rows that could be read, and may still be checked further if its code was found
 * (registry.code is not empty). */
bool source_read(struct arena *arena, const struct source_text *text, struct fault_list *faults,
                 struct source *source) MUST_CHECK;

/* Writes a file from the rows, without comments. Reading it returns equal rows, and writing those
 * returns the same text. */
void source_write(const struct source *source, struct buf *out);

/* ---- lookups ---- */

/* NULL when the row does not exist. */
const struct registry_row *source_row(const struct source *source, enum registry_table_id table,
                                      struct str endpoint, struct str key);

/* The value set at this place, which need not be the one in effect. NULL: none. */
const struct registry_value *source_value(const struct source *source,
                                          const struct setting *setting, struct str endpoint,
                                          struct str key);

/* Rows of a table and endpoint whose key starts with `prefix`, in their order. Start with after ==
 * NULL; NULL ends the walk. */
const struct registry_row *source_next(const struct source *source, enum registry_table_id table,
                                       struct str endpoint, struct str prefix,
                                       const struct registry_row *after);

/* The same for endpoints and operations. */
const struct registry_row *source_next_endpoint(const struct source *source,
                                                const struct registry_row *after);
const struct registry_row *source_next_operation(const struct source *source,
                                                 const struct registry_row *after);

/* Sets "source.operation", with the names of the operations. Returns false. */
bool source_lacks_operation(const struct source *source, struct str name, struct error *err);

/* Sets "spec.override", with the names of the parameters. Returns false. */
bool source_lacks_param(const struct source *source, struct str name, struct error *err);

/* True when the file has something there that could not be read. */
bool source_is_broken(const struct source *source, const struct registry_row *row, int column);

/* ---- places ---- */

/* Of the value if it is known, else of the row, else of the source. */
struct mark source_mark_of(const struct source *source, const struct registry_row *row, int column);

/* Of byte `offset` within the value. */
struct mark source_mark_in(const struct source *source, const struct registry_row *row, int column,
                           size_t offset);

#endif
