/* columns: a table for people. Each is as wide as its widest cell; the last one is not padded.
 *
 *      struct columns columns;
 *      columns_init(&columns, arena, (const char *[]){ "SOURCE", "VERSION" }, 2);
 *      columns_cell(&columns, code); columns_i64(&columns, version);   ... row by row ...
 *      if (!columns_print(&columns, out, err)) return false;
 */
#ifndef PATRA_CMD_COLUMNS_H
#define PATRA_CMD_COLUMNS_H

#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/str.h"

enum { COLUMNS_MAX = 12 };

struct columns {
    struct arena *arena;
    struct str *cells; /* row by row, the heads first */
    size_t count;
    size_t capacity;
    size_t per_row;
    bool failed;
};

void columns_init(struct columns *columns, struct arena *arena, const char *const *heads,
                  size_t count);
void columns_cell(struct columns *columns, struct str text); /* borrowed */
void columns_i64(struct columns *columns, int64_t value);
void columns_instant(struct columns *columns, int64_t at_us);

/* Nothing but the heads is printed as "(none)". False when memory ran out on the way. */
bool columns_print(const struct columns *columns, FILE *out, struct error *err) MUST_CHECK;

#endif
