/* The reg_* tables have one shape (core/registry.h), so their statements are made from its
 * description, once per session. Names of tables and columns come from there; values are bound,
 * as text: the types of the columns are the tables' own. */
#include <inttypes.h>
#include <stdio.h>

#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"
#include "adapter/sql/registry_text.h"
#include "base/buf.h"
#include "port/store_registry.h"

enum { SELECT_CODE = 1, SELECT_AT };

static const char *select_of(struct postgres_store *postgres, enum registry_table_id id,
                             struct error *err)
{
    const struct registry_table *table = registry_table(id);
    struct buf sql;

    if (postgres->registry_select[id] != NULL)
        return postgres->registry_select[id];
    buf_init(&sql, &postgres->texts, REGISTRY_STATEMENT_MAX);
    buf_add(&sql, STR("SELECT " REGISTRY_COLUMNS));
    registry_add_columns(&sql, table);
    buf_printf(&sql,
               " FROM %s WHERE provenance_code = $1 AND effective_from <= $2"
               " AND (effective_to IS NULL OR effective_to > $2)"
               " ORDER BY endpoint_name COLLATE \"C\", position, row_key COLLATE \"C\"",
               table->name);
    return postgres->registry_select[id] = registry_statement(&sql, err);
}

enum {
    INSERT_CODE = 1,
    INSERT_ENDPOINT,
    INSERT_KEY,
    INSERT_POSITION,
    INSERT_VERSION,
    INSERT_AT,
    INSERT_VALUES, /* the table's columns from here on */
};

static const char *insert_of(struct postgres_store *postgres, enum registry_table_id id,
                             struct error *err)
{
    const struct registry_table *table = registry_table(id);
    struct buf sql;

    if (postgres->registry_insert[id] != NULL)
        return postgres->registry_insert[id];
    buf_init(&sql, &postgres->texts, REGISTRY_STATEMENT_MAX);
    buf_printf(&sql,
               "INSERT INTO %s (provenance_code, endpoint_name, row_key, position, version,"
               " effective_from",
               table->name);
    registry_add_columns(&sql, table);
    buf_add(&sql, STR(") VALUES ($1, $2, $3, $4, $5, $6"));
    for (size_t i = 0; i < table->column_count; i++)
        buf_printf(&sql, ", $%zu", INSERT_VALUES + i);
    buf_add(&sql, STR(") RETURNING id"));
    return postgres->registry_insert[id] = registry_statement(&sql, err);
}

enum { CLOSE_AT = 1, CLOSE_ID };

static const char *close_of(struct postgres_store *postgres, enum registry_table_id id,
                            struct error *err)
{
    struct buf sql;

    if (postgres->registry_close[id] != NULL)
        return postgres->registry_close[id];
    buf_init(&sql, &postgres->texts, REGISTRY_STATEMENT_MAX);
    buf_printf(&sql, "UPDATE %s SET effective_to = $1 WHERE id = $2 AND effective_to IS NULL",
               registry_table(id)->name);
    return postgres->registry_close[id] = registry_statement(&sql, err);
}

static const char *list_of(struct postgres_store *postgres, struct error *err)
{
    struct buf sql;

    if (postgres->registry_list != NULL)
        return postgres->registry_list;
    buf_init(&sql, &postgres->texts, REGISTRY_STATEMENT_MAX);
    buf_add(&sql, STR("SELECT code, max(version), max(at) FROM ("));
    registry_add_changes(&sql);
    buf_add(&sql, STR(") c WHERE at <= $1 AND code IN (SELECT provenance_code FROM"
                      " reg_provenance WHERE effective_from <= $1"
                      " AND (effective_to IS NULL OR effective_to > $1))"
                      " GROUP BY code ORDER BY code COLLATE \"C\""));
    return postgres->registry_list = registry_statement(&sql, err);
}
enum { LIST_AT = 1 };

static bool load_table(struct postgres_store *postgres, struct arena *arena, struct str code,
                       int64_t at_us, enum registry_table_id id, struct registry_row_list *rows,
                       struct error *err)
{
    const char *sql = select_of(postgres, id, err);
    struct query q;

    if (sql == NULL)
        return false;
    query_init(&q, postgres, sql);
    set_text(&q, SELECT_CODE, code);
    set_time(&q, SELECT_AT, at_us);
    return read_registry_rows(&q.rows, arena, id, rows, err) ||
           error_wrap(err, "%s", registry_table(id)->name);
}

static bool registry_load(struct store *store, struct arena *arena, struct str code, int64_t at_us,
                          struct registry_source *source, struct error *err)
{
    struct registry_row_list rows = { 0 };

    for (int id = 0; id < REGISTRY_TABLE_COUNT; id++) {
        if (!load_table(postgres_store_of(store), arena, code, at_us, (enum registry_table_id)id,
                        &rows, err))
            return error_wrap(err, "load source %.*s", STR_ARG(code));
    }
    *source = (struct registry_source){ .rows = rows.items, .count = rows.count };
    source->code = arena_copy(arena, code);
    return source->code.data != NULL || arena_error(arena, err);
}

static void set_value(struct query *q, int place, enum registry_type type,
                      const struct registry_value *value)
{
    char number[64] = "";

    switch (type) {
    case REGISTRY_TEXT:
    case REGISTRY_JSON:
        set_written(q, place, value->is_set, value->text);
        return;
    case REGISTRY_REAL:
        (void)snprintf(number, sizeof(number), "%.17g", value->real);
        break;
    case REGISTRY_INT:
    case REGISTRY_BOOL:
    case REGISTRY_DURATION:
        (void)snprintf(number, sizeof(number), "%" PRId64, value->number);
        break;
    }
    set_written(q, place, value->is_set, str_of(number));
}

static bool registry_insert(struct store *store, struct str code, const struct registry_row *row,
                            int64_t at_us, int64_t version, int64_t *id, struct error *err)
{
    const struct registry_table *table = registry_table(row->table);
    const char *sql = insert_of(postgres_store_of(store), row->table, err);
    struct query q;

    if (sql == NULL)
        return false;
    query_init(&q, postgres_store_of(store), sql);
    set_text(&q, INSERT_CODE, code);
    set_text(&q, INSERT_ENDPOINT, row->endpoint);
    set_text(&q, INSERT_KEY, row->key);
    set_i64(&q, INSERT_POSITION, row->position);
    set_i64(&q, INSERT_VERSION, version);
    set_time(&q, INSERT_AT, at_us);
    for (size_t i = 0; i < table->column_count; i++)
        set_value(&q, INSERT_VALUES + (int)i, table->columns[i].type, &row->values[i]);
    return rows_only_i64(&q.rows, id, err) ||
           error_wrap(err, "insert into %s: %.*s/%.*s/%.*s", table->name, STR_ARG(code),
                      STR_ARG(row->endpoint), STR_ARG(row->key));
}

static bool registry_close(struct store *store, enum registry_table_id table, int64_t id,
                           int64_t at_us, struct error *err)
{
    const char *sql = close_of(postgres_store_of(store), table, err);
    struct query q;
    int64_t changes;

    if (sql == NULL)
        return false;
    query_init(&q, postgres_store_of(store), sql);
    set_time(&q, CLOSE_AT, at_us);
    set_i64(&q, CLOSE_ID, id);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "close %s %" PRId64, registry_table(table)->name, id);
    if (changes != 1)
        return error_set(err, ERROR_REQUEST, "store.value", "%s %" PRId64 " is not in force",
                         registry_table(table)->name, id);
    return true;
}

static bool registry_list(struct store *store, struct arena *arena, int64_t at_us,
                          struct registry_entry_list *list, struct error *err)
{
    const char *sql = list_of(postgres_store_of(store), err);
    struct query q;

    if (sql == NULL)
        return false;
    query_init(&q, postgres_store_of(store), sql);
    set_time(&q, LIST_AT, at_us);
    return read_registry_entries(&q.rows, arena, list, err) || error_wrap(err, "list sources");
}

const struct store_registry_ops POSTGRES_REGISTRY = {
    .load = registry_load,
    .insert = registry_insert,
    .close = registry_close,
    .list = registry_list,
};
