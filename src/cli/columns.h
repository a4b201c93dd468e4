/* columns: a table for people. A column is as wide as its widest cell; the last one is not padded.
 *
 *      struct columns columns;
 *      columns_init(&columns, arena, (const char *[]){ "SOURCE", "VERSION" }, 2);
 *      columns_cell(&columns, code); columns_i64(&columns, version);   ... row by row ...
 *      if (!columns_print(&columns, out, err)) return false;
 *
 * Lists fit into 80 columns: a text without a bound, such as an error, is a note below its row.
 */
#ifndef PATRA_CLI_COLUMNS_H
#define PATRA_CLI_COLUMNS_H

#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/str.h"
#include "core/window.h"

enum { COLUMNS_MAX = 12, COLUMNS_WIDTH = 80 };

struct columns_note {
    size_t row; /* it is printed below this row; row 0 holds the heads */
    struct str text;
};

struct columns {
    struct arena *arena;
    struct str *cells; /* row by row, the heads first */
    size_t count;
    size_t capacity;
    size_t per_row;
    struct {
        struct columns_note *items;
        size_t count;
    } notes; /* by row */
    bool failed;
};

void columns_init(struct columns *columns, struct arena *arena, const char *const *heads,
                  size_t count);
void columns_cell(struct columns *columns, struct str text); /* borrowed */
void columns_i64(struct columns *columns, int64_t value);
void columns_instant(struct columns *columns, int64_t at_us);

/* To the minute, for lists: "2026-01-31" for the beginning of a day, else "2026-01-31 10:05", and
 * "01-31 10:05" in the year of now. */
void columns_brief(struct columns *columns, int64_t at_us, int64_t now_us);

/* Both ends in this form, or "-" twice for a window that is not valid. */
void columns_window(struct columns *columns, struct window window, int64_t now_us);

/* After a row's last cell: a text below the row, on lines of its own, broken between words. '' adds
 * nothing. Borrowed. */
void columns_note(struct columns *columns, struct str text);

/* A table without rows is printed as "(none)". False when memory ran out. */
bool columns_print(const struct columns *columns, FILE *out, struct error *err) MUST_CHECK;

#endif
