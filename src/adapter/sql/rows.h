/* rows: the rows that a statement returns, read in the same way for every database.
 *
 *      struct pause *pause;
 *
 *      while ((pause = ROWS_NEXT(rows, arena, list)) != NULL) {
 *          pause->source = rows_text(rows, arena);
 *          pause->created_us = rows_i64(rows);
 *      }
 *      return rows_finish(rows, err);
 *
 * Each reader reads the next column, from the first on. So a row is read in the order in which its
 * SELECT names the columns, and to the last of them, which is asserted. A failure (of the database,
 * a full arena, an unknown code) is remembered, ends the rows and is returned by rows_finish(),
 * which must always be called.
 *
 * A statement embeds `struct rows` as its first member and fills in `ops`; before each use it sets
 * all other members to zero.
 */
#ifndef PATRA_ADAPTER_SQL_ROWS_H
#define PATRA_ADAPTER_SQL_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/list.h"
#include "base/str.h"
#include "core/codes.h"
#include "core/id_range.h"
#include "core/window.h"
#include "port/store_lineage.h"

struct rows;

struct rows_ops {
    bool (*next)(struct rows *rows);
    bool (*finish)(struct rows *rows, struct error *err);
    int (*width)(const struct rows *rows); /* how many columns */
    const char *(*name)(const struct rows *rows, int column);
    bool (*is_null)(const struct rows *rows, int column);
    int64_t (*i64)(const struct rows *rows, int column);
    double (*real)(const struct rows *rows, int column);
    struct str (*view)(struct rows *rows, int column); /* lives until the next call */
};

struct rows {
    const struct rows_ops *ops;
    int column;            /* the next to be read */
    struct arena *full;    /* the arena that is full; NULL: none */
    const char *bad_value; /* the column that holds an unknown code; NULL: none */
};

bool rows_next(struct rows *rows); /* true: there is a row */
bool rows_finish(struct rows *rows, struct error *err) MUST_CHECK;

/* For `finish`: false, with the error, when a column could not be read. */
bool rows_ok(const struct rows *rows, struct error *err) MUST_CHECK;

/* The next row's place in a list; NULL after the last row, and when the arena is full. */
#define ROWS_NEXT(rows, arena, list) \
    (rows_next(rows) ? rows_placed((rows), (arena), LIST_ADD((arena), (list))) : NULL)
void *rows_placed(struct rows *rows, struct arena *arena, void *place);

/* For a statement that returns one number or no row, which leaves `value` as it is. Ends the rows.
 */
bool rows_only_i64(struct rows *rows, int64_t *value, struct error *err) MUST_CHECK;

bool rows_is_null(const struct rows *rows); /* the next column, which stays the next */
void rows_skip(struct rows *rows, int columns);
int64_t rows_i64(struct rows *rows); /* numbers, truth values, instants; NULL reads as 0 */
bool rows_bool(struct rows *rows);
double rows_real(struct rows *rows);
struct str rows_text(struct rows *rows, struct arena *arena); /* text, bytes, JSON, UUIDs */
struct str rows_hash(struct rows *rows,
                     struct arena *arena); /* of cell_hash(): its digits, or '' */
struct str rows_view(struct rows *rows);   /* not copied: valid until the next column is read */
int rows_code(struct rows *rows, const struct code_table *table);
/* As rows_code(), for a column that may be NULL: then *is_set is false. */
int rows_code_opt(struct rows *rows, const struct code_table *table, bool *is_set);
struct window rows_window(struct rows *rows);     /* two columns */
struct id_range rows_id_range(struct rows *rows); /* two columns */
struct lineage rows_lineage(struct rows *rows);   /* six columns */

#endif
