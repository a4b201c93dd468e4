/* statement: a prepared statement, kept for the life of the session.
 *
 *      struct statement *st = statement_of(sqlite, LIST);
 *
 *      bind_text(st, ":source", source);
 *      return read_pauses(&st->rows, arena, list, err);    // adapter/sql/rows.h
 *
 * The first failure (of preparing, binding, stepping, reading a column) is remembered, and told by
 * the end, rows_finish() or statement_run(), which must always come: it also makes the statement
 * ready for its next use. A text is known by its address, so it must be a constant or live as long
 * as the session.
 */
#ifndef PATRA_ADAPTER_SQLITE_STATEMENT_H
#define PATRA_ADAPTER_SQLITE_STATEMENT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "adapter/sql/rows.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "core/codes.h"
#include "core/id_range.h"
#include "core/window.h"
#include "port/store_lineage.h"

struct sqlite_store;

struct statement {
    struct rows rows; /* first: what it answers, and how that is read */
    struct sqlite_store *owner;
    const char *sql;
    sqlite3_stmt *stmt;
    int code;             /* SQLite's first failure */
    const char *bad_text; /* the parameter whose text no store can keep */
};

struct statement *statement_of(struct sqlite_store *owner, const char *sql);

void bind_i64(struct statement *st, const char *name, int64_t value);
void bind_bool(struct statement *st, const char *name, bool value);
void bind_real(struct statement *st, const char *name, double value);
void bind_text(struct statement *st, const char *name, struct str value);
void bind_bytes(struct statement *st, const char *name, struct str value);
void bind_code(struct statement *st, const char *name, const struct code_table *table, int value);
void bind_id(struct statement *st, const char *name, int64_t id); /* 0 is NULL */
void bind_window(struct statement *st, const char *from, const char *to, struct window window);
/* :schedule_instance, :plan, :slice, :task, :run, :batch */
void bind_lineage(struct statement *st, const struct lineage *lineage);
/* A parameter that is not bound is NULL, and so are both ends of a window that is not valid. */

/* Many rows by one statement cost half of what they cost one by one. Its text is a head, as many
 * "(?,?,...)" as there are rows, and a tail; places are filled in order, from the first. */
#define SQL_ROWS_10(row) row "," row "," row "," row "," row "," row "," row "," row "," row "," row
#define SQL_ROWS_50(row) \
    SQL_ROWS_10(row)     \
    "," SQL_ROWS_10(row) "," SQL_ROWS_10(row) "," SQL_ROWS_10(row) "," SQL_ROWS_10(row)
#define SQL_ROWS_100(row) SQL_ROWS_50(row) "," SQL_ROWS_50(row)

struct many { /* counts the places */
    struct statement *st;
    int place;
};
void many_i64(struct many *many, int64_t value);
void many_text(struct many *many, struct str value);
void many_code(struct many *many, const struct code_table *table, int value);
void many_id(struct many *many, int64_t id);                  /* 0 is NULL */
void many_window(struct many *many, struct window window);    /* two places */
void many_id_range(struct many *many, struct id_range range); /* likewise */

/* For statements without rows. */
bool statement_run(struct statement *st, struct error *err) MUST_CHECK;
int64_t statement_changes(const struct statement *st); /* rows the last run changed */
int64_t statement_last_id(const struct statement *st); /* of the row inserted last */

#endif
