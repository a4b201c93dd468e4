/* dialect: how the SQL of one database differs from that of the others.
 *
 * A statement is written once. Its text has names for its values and for what differs:
 *
 *      :now                      a value; the same name is the same value everywhere in the text
 *      {greatest}                a word of the dialect
 *
 * A statement over many rows also has the columns of these rows, and words that say where the rows
 * are needed:
 *
 *      @id                       the row's value of this column
 *      @place                    the number of the row, from 1
 *      {insert :plan, @id}       the values of an INSERT
 *      {insert by id: ..., @id}  the same, sorted by @id: two writers that add the same rows then
 *                                lock them in the same order, and cannot deadlock
 *      {rows}                    the rows as the FROM of an UPDATE
 *      {using-rows}              the rows as the USING of a DELETE
 *      {join-rows}               the rows beside the tables of a FROM
 *      {each TABLE}              the rows as the FROM of an UPDATE, each with the row t of TABLE
 *                                whose id is @id; it ends with a WHERE, so that AND may follow
 *      {each-free TABLE}         the same without rows that another transaction has locked
 *      {find TABLE: CONDITION}   in a FROM: for each row, at most one row t of TABLE
 *      {range TABLE: CONDITION}  the same for any number of rows t
 *      {keyed TABLE: CONDITION}  the rows as the FROM of an UPDATE of TABLE AS t, each with those
 *                                of its rows that meet the condition; AND may follow
 *      {keyed-using TABLE: ...}  the same as the USING of a DELETE
 *      {keyed-only TABLE: ...}   the same for a DELETE that needs nothing else of the rows
 *
 * With arrays (PostgreSQL), all rows are sent in one statement, as an array per column. Without,
 * the statement runs once for each row; an {insert} also for INSERT_ROWS rows at a time.
 */
#ifndef PATRA_ADAPTER_SQL_DIALECT_H
#define PATRA_ADAPTER_SQL_DIALECT_H

#include <stdbool.h>

#include "core/migration.h"
#include "core/source_codes.h"

/* Rows that are inserted many at a time cost SQLite half of what they cost one by one. */
enum { INSERT_ROWS = 100 };

/* Each difference has one row here and one text per database. A text is expanded like a statement;
 * {table}, {of}, {body}, {unnest}, {order} and {tuples} in it are replaced by what the statement
 * gave. */
#define DIALECT_WORDS(WORD)                                                                       \
    WORD(GREATEST, "greatest")               /* the greater of two values */                      \
    WORD(BYTE_ORDER, "byte-order")           /* after a text: compared by bytes */                \
    WORD(LOCK, "lock")                       /* locks the rows of a SELECT; {lock t}: of t */     \
    WORD(LOCK_FREE, "lock-free")             /* the same, without rows that are locked */         \
    WORD(INSTANT, "instant")                 /* the type of an instant, for CAST */               \
    WORD(TOKEN, "token")                     /* around a page token: the form its index has */    \
    WORD(CLOCK, "clock")                     /* the clock that all sessions share, or NULL */     \
    WORD(MIGRATION_TABLE, "migration-table") /* creates it unless it exists */                    \
    WORD(HAS_MIGRATIONS, "has-migrations")   /* whether that table exists */                      \
    WORD(VIEW_EXISTS, "view-exists")         /* how many views have the name :name */             \
    WORD(BYTES, "bytes")                     /* the function that counts the bytes of bytes */    \
    WORD(NEW_RECORD_ID, "new-record-id")     /* the id of the i-th new record */                  \
    WORD(OUTBOX_LAST_ID, "outbox-last-id")   /* the highest id given out */                       \
    WORD(OUTBOX_WRITERS, "outbox-writers")   /* who may commit events with ids up to it */        \
    WORD(STREAM_IDS, "stream-ids")           /* ids of the outbox in the stream, in order */      \
    WORD(STREAM_COLUMNS, "stream-columns")   /* of ing_stream, and their values: */               \
    WORD(STREAM_VALUES, "stream-values")                                                          \
    WORD(STREAM_GROUP, "stream-group") /* a row per event, or one per lane */                     \
    WORD(STREAM_TOLD, "stream-told")   /* tells sessions that the stream has grown */             \
    WORD(STREAM_FIRST, "stream-first") /* the first position of l.lane that is there */           \
    WORD(STREAM_SINCE, "stream-since") /* its first position that came at :at or later */         \
    WORD(STREAM_PLACE, "stream-place") /* the position of ing_outbox AS t, or NULL */             \
    WORD(STREAM_DUE, "stream-due")     /* lane, position, id of what may be removed */            \
    WORD(STREAM_POS, "stream-pos")     /* that position's column */                               \
    WORD(STREAM_OLD, "stream-old")     /* how many events entered before :before */               \
    WORD(STREAM_AFTER, "stream-after") /* up to :many events of the stream after @pos */          \
    /* of @lane: AS s (lane, pos, sequenced_at), with ing_outbox AS o */                          \
    WORD(EVENT_PLACE, "event-place") /* the position s of ing_outbox AS o: a LEFT JOIN */         \
    WORD(EVENT_JOINS,                                                                             \
         "event-joins") /* of ing_outbox AS o: record k, endpoint e, batch b, plan p */           \
    WORD(STREAM_NEXT, "stream-next")   /* when the event after o.stream_pos came */               \
    WORD(STREAM_BODY, "stream-body")   /* o.body, NULL where :bytes are exceeded */               \
    WORD(IN_ORDER, "in-order")         /* until the transaction ends: sort by indexes */          \
    WORD(ROW_BY_ROW, "row-by-row")     /* the same, and joined row by row */                      \
    WORD(READ_ONCE, "read-once")       /* for the session: little is kept of what is read */      \
    WORD(HOLD_BRIEFLY, "hold-briefly") /* until the transaction ends: wait little for locks */    \
    WORD(KEY_HASH, "key-hash")         /* of the text u.state: 60 bits of its SHA-256 */          \
    WORD(ONCE, "once")                 /* ends a subquery whose columns are computed once */      \
    WORD(INSERT, "insert")                                                                        \
    WORD(ROWS, "rows")                                                                            \
    WORD(USING_ROWS, "using-rows")                                                                \
    WORD(JOIN_ROWS, "join-rows")                                                                  \
    WORD(EACH, "each")                                                                            \
    WORD(EACH_FREE, "each-free")                                                                  \
    WORD(FIND, "find")                                                                            \
    WORD(RANGE, "range")                                                                          \
    WORD(KEYED, "keyed")                                                                          \
    WORD(RETURNED, "returned") /* before a column of t after RETURNING */                         \
    WORD(KEYED_USING, "keyed-using")                                                              \
    WORD(KEYED_ONLY, "keyed-only")                                                                \
    WORD(TABLE_COLUMNS, "table-columns") /* of :table of :schema: name, type, whether NOT NULL */ \
    WORD(TABLE_INDEXES, "table-indexes") /* name, whether unique, and column of each place */     \
    WORD(TABLE_NAMED, "table-named")     /* how many tables or indexes are called :table */       \
    WORD(SCHEMA_NAMED, "schema-named")   /* how many schemas are called :schema */                \
    WORD(DATABASE_FAULTS, "database-faults")           /* a text for each thing that is broken */ \
    WORD(DATABASE_DEEP_FAULTS, "database-deep-faults") /* the same, by a longer look */           \
    WORD(INDEX_NAMES, "index-names")                   /* of all indexes */                       \
    WORD(LONG_TRANSACTIONS, "long-transactions")       /* a text for each since before :before */ \
    WORD(DATABASE_PLACE, "database-place")             /* port/store.h, store_place() */

enum dialect_word {
#define DIALECT_ENUM(id, name) WORD_##id,
    DIALECT_WORDS(DIALECT_ENUM)
#undef DIALECT_ENUM
        WORD_COUNT
};

struct dialect {
    const char *words[WORD_COUNT]; /* none is NULL */
    bool has_arrays;
    const struct migration_set *migrations;
    const struct migration_set *sink_migrations; /* of a database with projections only */

    /* Tables of projections (sink_table.h). */
    const char *sink_types[FIELD_TYPES];   /* of columns, as the catalogue prints them */
    const char *sink_casts[FIELD_TYPES];   /* what a bound text is cast to; NULL: it is not */
    const char *sink_accepts[FIELD_TYPES]; /* what a user's own column may be; NULL: anything */
    const char *sink_key;                  /* after the type of a text that is part of a key */
    const char *sink_options;              /* after the columns of a table */
    bool sink_can_alter;                   /* the type of a column can be changed */
    const char *sink_swap_begin; /* a script: renaming leaves other people's views alone, and gives
                                    up before a reader would have to */
    const char *sink_swap_lock;  /* a script: nobody else reads {tables}, from {first} to {last};
                                    {reversed} are the same */
    const char *sink_swap_end;
    const char *sink_grant;      /* a script: who may use {from} may use {to} */
    const struct sink_widening { /* types that hold all values of another */
        enum field_type from;
        enum field_type to;
        const char *value; /* of {column} */
    } * sink_widenings;    /* up to one without a value */

    /* Views of records (view_repo.c). The fields of ing_record_fields AS f are read by a key of
     * core/record_view.h, {key}; ing_record_state AS r has the instant {column}. */
    const char *view_columns[FIELD_TYPES][2]; /* by type; of one value, and of a list */
    const char *view_instant;
    const char *view_replace; /* a script that makes the view {name} of {select} */
};

#endif
