/* source_diff: the changes that turn the rows in force into the rows wanted.
 *
 * Nothing is written. `patra source diff` prints the changes, `apply` makes them: removed and
 * changed rows are closed, new and changed rows are opened, all others are left alone.
 */
#ifndef PATRA_SPEC_SOURCE_DIFF_H
#define PATRA_SPEC_SOURCE_DIFF_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "spec/source.h"

struct source_change {              /* one place (table, endpoint, key) */
    const struct registry_row *old; /* NULL: it is new */
    const struct registry_row *new; /* NULL: it was removed */
};

struct source_diff {
    struct source_change *items; /* in the order of the tables, removals before additions */
    size_t count;
};

bool source_diff(struct arena *arena, const struct source *old, const struct source *new,
                 struct source_diff *diff, struct error *err) MUST_CHECK;

/* A line per setting: "~ endpoints.works.page.size: 500 -> 1000", "+ operations.update.drive: id",
 * "- http.proxy: env:PROXY"; a value of the source's template ends with "(template)". A row of
 * which only the order changed is "~ endpoints.works.query.rows: moved". */
void source_diff_print(const struct source_diff *diff, struct buf *out);

/* The name of a value in messages: "endpoints.works.query.rows"; for a column that is not the short
 * one "endpoints.works.query.rows.required". column < 0: the row itself. */
void source_print_field(const struct registry_row *row, int column, struct buf *out);

/* The setting stored in this column of this row; NULL when no file could have made the row. */
const struct setting *source_setting(const struct registry_row *row, int column);

#endif
