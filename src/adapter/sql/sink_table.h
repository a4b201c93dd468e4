/* sink_table: the statements of a projection's tables, made of its spec in one place.
 *
 * Names of tables and columns are letters, digits and _ (spec/projection.h), and always quoted.
 * Values are bound: @type, @id and @version of the row, @c0, @c1 ... of its columns.
 */
#ifndef PATRA_ADAPTER_SQL_SINK_TABLE_H
#define PATRA_ADAPTER_SQL_SINK_TABLE_H

#include "adapter/sql/session.h"
#include "base/buf.h"
#include "port/store_sink.h"

enum { SINK_TEXT_MAX = 256 << 10 };

struct sink_child_texts {
    const struct projection_child *child;
    const char *clear; /* removes all of a key */
    const char *add;
};

struct sink_texts { /* of a table */
    const struct projection_table *table;
    bool has_gone;
    const char *replace;
    const char *update; /* partial: a row that is there */
    const char *insert; /* partial: a row that is not */
    const char *erase;
    const char *gone_add;    /* remembers a key without a row */
    const char *gone_forget; /* the key has a row again */
    const char *row;
    const char *digest;
    const char *pick;
    struct sink_child_texts *children;
};

struct sink_tables {
    const struct projection_spec *spec;
    struct sink_texts *items;
};

bool sink_tables_make(struct store *sink, const struct projection_spec *spec, enum sink_side side,
                      const struct sink_tables **tables, struct error *err) MUST_CHECK;

/* A table that patra knows of: a projection's, a child's, or that of keys without a row. */
struct sink_object {
    const struct projection_table *table; /* it, its parent, or whose keys they are */
    const struct projection_child *child; /* NULL: not a child */
    bool is_gone;
};

enum { SINK_OBJECTS_MAX = 2 * PROJECTION_TABLES_MAX };

/* Tables before their children. Returns how many. */
size_t sink_objects(const struct projection_spec *spec, struct sink_object objects[]);

/* "works", "works__gone", "works__new": without quotes. */
struct str sink_object_name(struct arena *arena, const struct sink_object *object,
                            enum sink_side side);

/* "schema"."works__new", as SQL names it. */
void sink_put_name(struct buf *out, const struct projection_spec *spec, struct str name);

/* A column that a table must have, in order. */
struct sink_column {
    struct str name;
    enum field_type type; /* of a value of a column */
    bool is_list;
    bool is_key;
    bool is_version; /* or an ordinal */
    bool is_deleted;
    bool not_null;
};

enum { SINK_COLUMNS_MAX = PROJECTION_COLUMNS_MAX + 4 };

size_t sink_columns(const struct sink_object *object, struct sink_column columns[]);

/* Its type in this database, as its catalogue prints it. */
const char *sink_column_type(const struct dialect *dialect, const struct sink_column *column);

/* CREATE TABLE, as a statement of this database. */
void sink_put_create(struct buf *out, const struct dialect *dialect,
                     const struct projection_spec *spec, const struct sink_object *object,
                     struct str name);

#endif
