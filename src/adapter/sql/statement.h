/* statement: a statement of any database, prepared once per session.
 *
 *      struct statement *st = statement_of(store, LIST);
 *
 *      bind_text(st, ":source", source);
 *      return read_pauses(&st->rows, arena, list, err);    // adapter/sql/rows.h
 *
 * Every value of the text must be bound in every use. The first failure (of memory, binding,
 * preparing, running, reading a column) is remembered and returned by the end, rows_finish() or
 * statement_run(), which must always be called: it also makes the statement ready for its next use.
 * A statement is in use once at a time. A text is known by its address, so it must be a constant or
 * live as long as the session. adapter/sql/dialect.h says how texts are written.
 *
 * A statement over many rows gets them cell by cell, each row in the order in which the text first
 * names its columns:
 *
 *      for (size_t i = 0; i < count; i++) {
 *          cell_i64(st, "@position", first + i);
 *          cell_text(st, "@provider_id", ids[i]);
 *      }
 *      return statement_run(st, &changes, err);            // of all rows; no rows: nothing to do
 */
#ifndef PATRA_ADAPTER_SQL_STATEMENT_H
#define PATRA_ADAPTER_SQL_STATEMENT_H

#include "adapter/sql/rows.h"
#include "adapter/sql/value.h"
#include "base/attr.h"
#include "core/codes.h"
#include "core/id_range.h"
#include "core/window.h"
#include "port/store.h"
#include "port/store_lineage.h"

struct sql_session;

enum { STATEMENT_NAMES_MAX = 63 }; /* a bit for each in a uint64_t */

/* The names in a text, in the order of their first use. */
struct statement_names {
    struct str items[STATEMENT_NAMES_MAX]; /* without ':' or '@' */
    int count;
};

struct statement {
    struct rows rows; /* first: what it returns, and how that is read */
    struct sql_session *session;
    const char *sql; /* as written; its address identifies the statement */
    int number;      /* within the session, from 0 */
    struct statement_names values;
    struct statement_names columns;
    bool has_place; /* the text uses @place */

    struct sql_value *bound; /* one per name of `values` */
    uint64_t is_bound;       /* a bit per value */
    int next_value;          /* where the search for the next name begins */

    struct sql_value *cells; /* row by row */
    size_t cell_count;
    size_t cell_room;

    bool has_no_memory;  /* for itself or all its cells: it has not what was given to it */
    struct str bad_text; /* the name whose value is not text; data NULL: none */
    enum statement_state {
        STATEMENT_IDLE,
        STATEMENT_STARTED, /* by the driver */
        STATEMENT_OVER,    /* without being started: it had nothing to do, or a bad value */
    } state;
    bool failed; /* session->failure has the reason */
    void *own;   /* belongs to the driver, as long as the session lives */
};

struct statement *statement_of(struct store *store, const char *sql);

void bind_i64(struct statement *st, const char *name, int64_t value);
void bind_i64_opt(struct statement *st, const char *name, bool is_set, int64_t value);
void bind_bool(struct statement *st, const char *name, bool value);
void bind_instant(struct statement *st, const char *name, int64_t value_us);
void bind_instant_opt(struct statement *st, const char *name, bool is_set, int64_t value_us);
void bind_text(struct statement *st, const char *name, struct str value);
void bind_text_opt(struct statement *st, const char *name, bool is_set, struct str value);
void bind_digits_opt(struct statement *st, const char *name, bool is_set, struct str value);
void bind_json(struct statement *st, const char *name, struct str value);
void bind_json_opt(struct statement *st, const char *name, bool is_set, struct str value);
void bind_bytes(struct statement *st, const char *name, struct str value);
void bind_bytes_opt(struct statement *st, const char *name, bool is_set, struct str value);
void bind_code(struct statement *st, const char *name, const struct code_table *table, int value);
void bind_code_opt(struct statement *st, const char *name, bool is_set,
                   const struct code_table *table, int value);
void bind_id(struct statement *st, const char *name, int64_t id); /* 0 is NULL */
/* Both NULL when the window is not valid. */
void bind_window(struct statement *st, const char *from, const char *to, struct window window);
/* :schedule_instance, :plan, :slice, :task, :run, :batch */
void bind_lineage(struct statement *st, const struct lineage *lineage);
/* For values whose type is known only at run time. */
void bind_value(struct statement *st, const char *name, struct sql_value value);

void cell_i64(struct statement *st, const char *name, int64_t value);
void cell_bool(struct statement *st, const char *name, bool value);
void cell_instant(struct statement *st, const char *name, int64_t value_us);
void cell_instant_opt(struct statement *st, const char *name, bool is_set, int64_t value_us);
void cell_text(struct statement *st, const char *name, struct str value);
void cell_json(struct statement *st, const char *name, struct str value);
void cell_uuid(struct statement *st, const char *name, struct str value);
void cell_bytes(struct statement *st, const char *name, struct str value);
void cell_hash(struct statement *st, const char *name, struct str hex); /* of data/hash.h, or '' */
void cell_code(struct statement *st, const char *name, const struct code_table *table, int value);
void cell_id(struct statement *st, const char *name, int64_t id); /* 0 is NULL */
void cell_window(struct statement *st, const char *from, const char *to, struct window window);
void cell_id_range(struct statement *st, const char *from, const char *to, struct id_range range);

/* For values whose type is known only at run time. */
void cell_value(struct statement *st, const char *name, struct sql_value value);

/* The row that was reached cannot be read: the rows end, and rows_finish() returns this. */
void statement_fail(struct statement *st, const struct error *err);

/* Whether the database runs it as one statement, whatever the number of its rows. */
bool statement_is_single(const struct statement *st);

/* Runs it to its end. *changes (may be NULL) counts the rows it added, changed or deleted. Many
 * rows are one transaction, the caller's or its own. */
bool statement_run(struct statement *st, int64_t *changes, struct error *err) MUST_CHECK;
/* The same for a statement that changes one row or none. */
bool statement_changed(struct statement *st, bool *changed, struct error *err) MUST_CHECK;

/* Runs it without waiting for the result, if the database can do that. `expected` is how many rows
 * it must change. `unique_key` (may be NULL) names a unique index whose violation is not a failure
 * but counts as an unexpected number of changes. statements_settle() must follow, also after a
 * failure. */
struct statement_send {
    int64_t expected;
    const char *unique_key;
};
bool statement_send(struct statement *st, const struct statement_send *send,
                    struct error *err) MUST_CHECK;

/* Waits for all statements that were sent. *as_expected is false when one changed an unexpected
 * number of rows; those sent after it may not have run. */
bool statements_settle(struct store *store, bool *as_expected, struct error *err) MUST_CHECK;

/* Begins it with the values that are bound and does not wait for its rows; does nothing where the
 * database cannot do that. Outside of a transaction. The next use of the statement has these rows,
 * whatever is bound then: who wants others drops them. Other statements may be used meanwhile. */
bool statement_begin_ahead(struct statement *st, struct error *err) MUST_CHECK;
void statement_drop_ahead(struct statement *st);

/* For drivers. How many rows of cells there are, and one cell. */
size_t statement_row_count(const struct statement *st);
const struct sql_value *statement_cell(const struct statement *st, size_t row, int column);

#endif
