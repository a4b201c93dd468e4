/* source_diff: what must happen to the rows in force so that they become the rows wanted.
 *
 * Pure: nothing is written. `patra source diff` prints it, `apply` carries it out: rows that went
 * or changed are closed, rows that came or changed are opened, all others stay untouched.
 */
#ifndef PATRA_SPEC_SOURCE_DIFF_H
#define PATRA_SPEC_SOURCE_DIFF_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "spec/source.h"

struct source_change {              /* one place (table, endpoint, key) */
    const struct registry_row *old; /* NULL: it came */
    const struct registry_row *new; /* NULL: it went */
};

struct source_diff {
    struct source_change *items; /* in the order of the tables, what goes before what comes */
    size_t count;
};

bool source_diff(struct arena *arena, const struct source *old, const struct source *new,
                 struct source_diff *diff, struct error *err) MUST_CHECK;

/* A line per setting: "~ endpoints.works.page.size: 500 -> 1000", "+ operations.update.drive: id",
 * "- http.proxy: env:PROXY". A place whose order alone changed is "~ endpoints.works.query.rows:
 * moved". */
void source_diff_print(const struct source_diff *diff, struct buf *out);

/* What people call a value: "endpoints.works.query.rows"; for a column that is not the short one
 * "endpoints.works.query.rows.required". column < 0: the row itself. */
void source_print_field(const struct registry_row *row, int column, struct buf *out);

/* The setting kept in this column of this row; NULL when the row is none that a file could make. */
const struct setting *source_setting(const struct registry_row *row, int column);

#endif
