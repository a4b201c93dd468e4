/* projection_spec: what a projection file says, as values: which events become rows of which
 * tables, where these are, and how they change.
 *
 *      events of the stream ──▶ source of a table (the first that takes the event) ──▶ row,
 * children
 *
 * A projection is a subscription of kind PROJECTION (port/store_subscription.h) whose spec is the
 * stored form of this (spec/projection.h reads it). Paths and templates are texts here;
 * engine/project/project.h compiles them once and makes rows of events. Tables are made, changed
 * and written by port/store_sink.h. It contains no secret, only a reference to an address.
 *
 * A row has the key of its aggregate (type and id) and the version of the event it shows. What is
 * optional and not given is an empty text.
 */
#ifndef PATRA_CORE_PROJECTION_SPEC_H
#define PATRA_CORE_PROJECTION_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "core/codes.h"
#include "core/source_codes.h"

/* The tables are in the store's own database. */
#define PROJECTION_OWN_DATABASE STR("store")

/* What a record's deletion is called: a delete, unless a source of events names its types. */
#define PROJECTION_DELETED STR("RecordDeleted")

/* Limits of a file. A statement has a place for each column (adapter/sql/statement.h), and a
 * partial row a bit for each. */
enum {
    PROJECTION_TABLES_MAX = 16,  /* children included */
    PROJECTION_COLUMNS_MAX = 50, /* of a table, beside its key, version and deletion */
    PROJECTION_NAME_MAX = 48,    /* of a table or column: suffixes fit the 63 bytes of PostgreSQL */
};

enum projection_effect {
    PROJECTION_REPLACE, /* the event has the whole state: what it lacks is NULL */
    PROJECTION_PARTIAL, /* it has what changed: what it lacks stays, what is null becomes NULL */
    PROJECTION_DELETE,
};
extern const struct code_table PROJECTION_EFFECT_CODES;

enum projection_on_delete {
    PROJECTION_MARK,  /* the row stays, with its deletion marked and its version */
    PROJECTION_ERASE, /* the row goes; its key and version stay beside the table ("NAME__gone") */
};
extern const struct code_table PROJECTION_ON_DELETE_CODES;

enum projection_start { PROJECTION_EARLIEST, PROJECTION_LATEST };
extern const struct code_table PROJECTION_START_CODES;

/* Where the value of a column comes from: a path, a template, or (both empty) nowhere. */
struct projection_value {
    struct str path;     /* JSONPath into the event's JSON; in a child: into the element */
    struct str template; /* "${lower(column.doi)}" */
};

struct projection_column {
    struct str name;
    enum field_type type; /* never ANY */
    bool is_list;         /* all that the path finds, as a JSON array; else the first */
    bool not_null;
    struct projection_value value; /* for sources of events that do not have their own */
};

struct projection_index {
    const struct str *columns;
    size_t count;
};

/* Rows that belong to a row of a table, replaced as a set with it. Their key is the row's and an
 * ordinal, from 1. */
struct projection_child {
    struct str name;    /* of the table */
    struct str ordinal; /* of the column */
    struct str each;    /* the path of the elements; for sources without their own */
    const struct projection_column *columns;
    size_t column_count;
    const struct projection_index *indexes;
    size_t index_count;
};

struct projection_child_source {           /* what a source of events has of its own */
    struct str each;                       /* empty: it has no such rows */
    const struct projection_value *values; /* one per column of the child */
};

struct projection_source {
    const struct str *aggregates; /* "crossref/works", "crossref/" followed by a star, "video" */
    size_t aggregate_count;
    const struct str *types; /* of events; none: all */
    size_t type_count;
    enum projection_effect effect;
    struct str where; /* a JSONPath filter expression, "@.fields.type == 'book'"; empty: all */
    const struct projection_value *values;          /* one per column of the table */
    const struct projection_child_source *children; /* one per child of the table */
};

struct projection_table {
    struct str name;
    bool is_managed;        /* made and changed by patra; else the user's own */
    struct str type_column; /* empty: the table has aggregates of one type only */
    struct str id_column;
    struct str version_column;
    struct str deleted_column; /* MARK only; else empty */
    enum projection_on_delete on_delete;
    const struct projection_column *columns;
    size_t column_count;
    const struct projection_index *indexes;
    size_t index_count;
    const struct projection_source *sources; /* the first that takes an event counts */
    size_t source_count;
    const struct projection_child *children;
    size_t child_count;
};

struct projection_spec {
    struct str name;
    struct str description;
    struct str database; /* "store", env:NAME, file:PATH, or the path of a SQLite file */
    struct str schema;   /* PostgreSQL: where the tables are; empty: the search path says */
    enum projection_start start;
    enum subscription_policy on_failure;
    int64_t retry_first_us; /* of a key whose event could not be applied */
    int64_t retry_max_us;
    int64_t attempts_max; /* then the event is a dead letter, and its key goes on; 0: it waits */
    int64_t batch_events;
    int64_t batch_bytes;
    const struct projection_table *tables;
    size_t table_count;
};

/* The source of events that takes this one, or NULL: the table does not show it. */
const struct projection_source *projection_source_of(const struct projection_table *table,
                                                     struct str aggregate_type,
                                                     struct str event_type);

/* Whether the source takes events of this aggregate type, whatever their own type. */
bool projection_source_has(const struct projection_source *source, struct str aggregate_type);

/* Whether a table of the projection takes events of aggregates of this type. */
bool projection_has(const struct projection_spec *spec, struct str aggregate_type);

/* What an event of this type does to a table by a source that takes it. */
enum projection_effect projection_effect_of(const struct projection_source *source,
                                            struct str event_type);

/* Whether keys without a row are remembered with their version: those that were erased, those that
 * a filter keeps out, and those that were deleted before they had a row to mark, where a row of
 * NULLs is not possible. */
bool projection_has_gone(const struct projection_table *table);

/* The type of the aggregates of a table without a column for it. */
struct str projection_only_type(const struct projection_table *table);

#endif
