/* expand: the text of a statement in one database's dialect. */
#ifndef PATRA_ADAPTER_SQL_EXPAND_H
#define PATRA_ADAPTER_SQL_EXPAND_H

#include "adapter/sql/dialect.h"
#include "adapter/sql/statement.h"
#include "base/buf.h"

/* Fills in the names of a statement's values and columns. */
void expand_names(const struct dialect *dialect, struct statement *st);

/* The text for `rows` rows at a time (with arrays: any number; 1 for a statement without rows),
 * with a NUL at its end. Values have the places 1 to V. The columns follow: with arrays, each has
 * one place; without, each cell of each row has one, and @place is the last cell of its row. `st`
 * must have its names, and a row of cells if the text has columns: their types are read. Returns
 * NULL with an error when the arena is full. */
const char *expand_text(struct arena *arena, const struct dialect *dialect,
                        const struct statement *st, int rows, struct error *err);

/* Whether the statement is an INSERT that can take several rows at a time. */
bool expand_is_insert(const struct statement *st);

#endif
