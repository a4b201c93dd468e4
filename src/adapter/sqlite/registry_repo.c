/* The reg_* tables have one shape (core/registry.h), so their statements are made from its
 * description, once per session. Names of tables and columns come from there; values are bound,
 * each to a parameter named like its column. */
#include <inttypes.h>
#include <stdio.h>

#include "adapter/sql/read.h"
#include "adapter/sql/registry_text.h"
#include "adapter/sqlite/sqlite.h"
#include "base/buf.h"
#include "port/store_registry.h"

enum { NAME_MAX = 64 };

static const char *select_of(struct sqlite_store *sqlite, enum registry_table_id id,
                             struct error *err)
{
    const struct registry_table *table = registry_table(id);
    struct buf sql;

    if (sqlite->registry_select[id] != NULL)
        return sqlite->registry_select[id];
    buf_init(&sql, &sqlite->texts, REGISTRY_STATEMENT_MAX);
    buf_add(&sql, STR("SELECT " REGISTRY_COLUMNS));
    registry_add_columns(&sql, table);
    buf_printf(&sql,
               " FROM %s WHERE provenance_code = :row_code AND effective_from <= :row_at"
               " AND (effective_to IS NULL OR effective_to > :row_at)"
               " ORDER BY endpoint_name, position, row_key",
               table->name);
    return sqlite->registry_select[id] = registry_statement(&sql, err);
}

static const char *insert_of(struct sqlite_store *sqlite, enum registry_table_id id,
                             struct error *err)
{
    const struct registry_table *table = registry_table(id);
    struct buf sql;

    if (sqlite->registry_insert[id] != NULL)
        return sqlite->registry_insert[id];
    buf_init(&sql, &sqlite->texts, REGISTRY_STATEMENT_MAX);
    buf_printf(&sql,
               "INSERT INTO %s (provenance_code, endpoint_name, row_key, position, version,"
               " effective_from",
               table->name);
    registry_add_columns(&sql, table);
    buf_add(&sql, STR(") VALUES (:row_code, :row_endpoint, :row_key, :row_position, :row_version,"
                      " :row_at"));
    for (size_t i = 0; i < table->column_count; i++)
        buf_printf(&sql, ", :%s", table->columns[i].name);
    buf_add(&sql, STR(") RETURNING id"));
    return sqlite->registry_insert[id] = registry_statement(&sql, err);
}

static const char *close_of(struct sqlite_store *sqlite, enum registry_table_id id,
                            struct error *err)
{
    struct buf sql;

    if (sqlite->registry_close[id] != NULL)
        return sqlite->registry_close[id];
    buf_init(&sql, &sqlite->texts, REGISTRY_STATEMENT_MAX);
    buf_printf(&sql,
               "UPDATE %s SET effective_to = :row_at WHERE id = :row_id AND effective_to IS NULL",
               registry_table(id)->name);
    return sqlite->registry_close[id] = registry_statement(&sql, err);
}

static const char *list_of(struct sqlite_store *sqlite, struct error *err)
{
    struct buf sql;

    if (sqlite->registry_list != NULL)
        return sqlite->registry_list;
    buf_init(&sql, &sqlite->texts, REGISTRY_STATEMENT_MAX);
    buf_add(&sql, STR("SELECT code, max(version), max(at) FROM ("));
    registry_add_changes(&sql);
    buf_add(&sql, STR(") WHERE at <= :row_at AND code IN (SELECT provenance_code FROM"
                      " reg_provenance WHERE effective_from <= :row_at"
                      " AND (effective_to IS NULL OR effective_to > :row_at))"
                      " GROUP BY code ORDER BY code"));
    return sqlite->registry_list = registry_statement(&sql, err);
}

static bool load_table(struct sqlite_store *sqlite, struct arena *arena, struct str code,
                       int64_t at_us, enum registry_table_id id, struct registry_row_list *rows,
                       struct error *err)
{
    const char *sql = select_of(sqlite, id, err);
    struct statement *st;

    if (sql == NULL)
        return false;
    st = statement_of(sqlite, sql);
    bind_text(st, ":row_code", code);
    bind_i64(st, ":row_at", at_us);
    return read_registry_rows(&st->rows, arena, id, rows, err) ||
           error_wrap(err, "%s", registry_table(id)->name);
}

static bool registry_load(struct store *store, struct arena *arena, struct str code, int64_t at_us,
                          struct registry_source *source, struct error *err)
{
    struct registry_row_list rows = { 0 };

    for (int id = 0; id < REGISTRY_TABLE_COUNT; id++) {
        if (!load_table(sqlite_store_of(store), arena, code, at_us, (enum registry_table_id)id,
                        &rows, err))
            return error_wrap(err, "load source %.*s", STR_ARG(code));
    }
    *source = (struct registry_source){ .rows = rows.items, .count = rows.count };
    source->code = arena_copy(arena, code);
    return source->code.data != NULL || arena_error(arena, err);
}

static void bind_value(struct statement *st, const struct registry_column *column,
                       const struct registry_value *value)
{
    char name[NAME_MAX];

    (void)snprintf(name, sizeof(name), ":%s", column->name);
    if (!value->is_set)
        return;
    switch (column->type) {
    case REGISTRY_TEXT:
    case REGISTRY_JSON:
        bind_text(st, name, value->text);
        break;
    case REGISTRY_REAL:
        bind_real(st, name, value->real);
        break;
    case REGISTRY_INT:
    case REGISTRY_BOOL:
    case REGISTRY_DURATION:
        bind_i64(st, name, value->number);
        break;
    }
}

static bool registry_insert(struct store *store, struct str code, const struct registry_row *row,
                            int64_t at_us, int64_t version, int64_t *id, struct error *err)
{
    const struct registry_table *table = registry_table(row->table);
    const char *sql = insert_of(sqlite_store_of(store), row->table, err);
    struct statement *st;

    if (sql == NULL)
        return false;
    st = statement_of(sqlite_store_of(store), sql);
    bind_text(st, ":row_code", code);
    bind_text(st, ":row_endpoint", row->endpoint);
    bind_text(st, ":row_key", row->key);
    bind_i64(st, ":row_position", row->position);
    bind_i64(st, ":row_version", version);
    bind_i64(st, ":row_at", at_us);
    for (size_t i = 0; i < table->column_count; i++)
        bind_value(st, &table->columns[i], &row->values[i]);
    return rows_only_i64(&st->rows, id, err) ||
           error_wrap(err, "insert into %s: %.*s/%.*s/%.*s", table->name, STR_ARG(code),
                      STR_ARG(row->endpoint), STR_ARG(row->key));
}

static bool registry_close(struct store *store, enum registry_table_id table, int64_t id,
                           int64_t at_us, struct error *err)
{
    const char *sql = close_of(sqlite_store_of(store), table, err);
    struct statement *st;

    if (sql == NULL)
        return false;
    st = statement_of(sqlite_store_of(store), sql);
    bind_i64(st, ":row_at", at_us);
    bind_i64(st, ":row_id", id);
    if (!statement_run(st, err))
        return error_wrap(err, "close %s %" PRId64, registry_table(table)->name, id);
    if (statement_changes(st) != 1)
        return error_set(err, ERROR_REQUEST, "store.value", "%s %" PRId64 " is not in force",
                         registry_table(table)->name, id);
    return true;
}

static bool registry_list(struct store *store, struct arena *arena, int64_t at_us,
                          struct registry_entry_list *list, struct error *err)
{
    const char *sql = list_of(sqlite_store_of(store), err);
    struct statement *st;

    if (sql == NULL)
        return false;
    st = statement_of(sqlite_store_of(store), sql);
    bind_i64(st, ":row_at", at_us);
    return read_registry_entries(&st->rows, arena, list, err) || error_wrap(err, "list sources");
}

const struct store_registry_ops SQLITE_REGISTRY = {
    .load = registry_load,
    .insert = registry_insert,
    .close = registry_close,
    .list = registry_list,
};
