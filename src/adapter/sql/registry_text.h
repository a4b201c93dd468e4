/* registry_text: what the statements on the reg_* tables have in common. Made from the tables'
 * description (core/registry.h), so names of tables and columns come from there alone. */
#ifndef PATRA_ADAPTER_SQL_REGISTRY_TEXT_H
#define PATRA_ADAPTER_SQL_REGISTRY_TEXT_H

#include "base/buf.h"
#include "core/registry.h"

enum { REGISTRY_STATEMENT_MAX = 1 << 16 };

/* The table's own columns, each behind a comma. */
void registry_add_columns(struct buf *sql, const struct registry_table *table);

/* Every opening and closing of a row, of all tables: code, at, version (0: closed). */
void registry_add_changes(struct buf *sql);

/* Ends a text that was made: NULL with an error when it did not fit. */
const char *registry_statement(struct buf *sql, struct error *err);

#endif
