/* record_view: the view of an endpoint's records for readers of SQL (docs/reading.md).
 *
 *      fields: { cited_by: { path: $.count, type: integer } }
 *
 *      kept as    {"INTEGER:cited_by":12}      a list: "INTEGER[]:cited_by"
 *      view       patra_crossref_works
 *      column     cited_by
 *
 * The type is a part of the key, so a view never meets a value that its column cannot hold: after a
 * change of the type, the column is NULL until the record is read again (engine/rederive).
 *
 * Names are in lower case, of letters, digits and underscores, so that no SQL needs to quote them.
 * A field with the name of a column that every view has is called field_NAME.
 */
#ifndef PATRA_CORE_RECORD_VIEW_H
#define PATRA_CORE_RECORD_VIEW_H

#include "base/arena.h"
#include "base/str.h"
#include "core/source_codes.h"

/* What PostgreSQL allows. */
enum { SQL_NAME_MAX = 63 };

struct view_column { /* of a field */
    struct str name;
    struct str key;
    enum field_type type;
    bool is_list;
};

struct record_view {
    struct str source;
    struct str endpoint; /* under which the records are stored */
    struct view_column *items;
    size_t count;
};

struct record_view_list {
    struct record_view *items;
    size_t count;
};

/* All three: data is NULL when the arena is full. */
struct str view_key(struct arena *arena, struct str field, enum field_type type, bool is_list);
struct str view_column_name(struct arena *arena, struct str field);

/* patra_SOURCE_ENDPOINT, at most SQL_NAME_MAX bytes; _2 and so on at the end where number > 1,
 * for one whose name is taken. */
struct str view_name(struct arena *arena, const struct record_view *view, int number);

#endif
