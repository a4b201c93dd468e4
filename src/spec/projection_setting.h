/* projection_setting: everything a projection file can say, one row per key, by level.
 *
 *      the file          projection, database, ...; tables
 *      tables.NAME       managed, key, on_delete, ...; columns, indexes, from, children
 *      columns.NAME      type, path, ...
 *      from[]            aggregates, events, ...; columns, children
 *      children.NAME     ordinal, each; columns, indexes
 */
#ifndef PATRA_SPEC_PROJECTION_SETTING_H
#define PATRA_SPEC_PROJECTION_SETTING_H

#include "core/projection_spec.h"
#include "spec/setting.h"

enum { PROJECTION_ROWS_MAX = 16 };

struct projection_level {
    const char *title; /* for the manual */
    const struct setting *rows;
    size_t count;
    const struct projection_part { /* a key with an inner form of its own */
        const char *name;
        const char *help;
    } * parts; /* up to one without a name */
};

extern const struct projection_level PROJECTION_TOP;    /* struct projection_spec */
extern const struct projection_level PROJECTION_TABLE;  /* struct projection_table */
extern const struct projection_level PROJECTION_COLUMN; /* struct projection_column */
extern const struct projection_level PROJECTION_SOURCE; /* struct projection_source */
extern const struct projection_level PROJECTION_CHILD;  /* struct projection_child */

/* `key: { type: none }`: the table has no column for the type. */
#define PROJECTION_NO_TYPE STR("none")

/* The row of this path ("retry.first"), or NULL. */
const struct setting *projection_setting_find(const struct projection_level *level,
                                              struct str path);

#endif
