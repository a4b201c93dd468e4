/* The Registry. core/registry.h describes all reg_* tables, so their statements are built from that
 * description, once per session. Names of tables and columns come from there; values are bound,
 * each to a parameter named like its column. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "adapter/sql/session.h"
#include "base/buf.h"
#include "port/store_registry.h"

#define REGISTRY_COLUMNS \
    "id, endpoint_name, row_key, position, version, effective_from, template_columns"

enum { TEMPLATE_COLUMNS_MAX = 1024 };

struct registry_row_list {
    struct registry_row *items;
    size_t count;
};

static struct registry_value read_value(struct rows *rows, struct arena *arena,
                                        enum registry_type type)
{
    struct registry_value value = { .is_set = !rows_is_null(rows) };

    if (!value.is_set) {
        rows_skip(rows, 1);
        return value;
    }
    switch (type) {
    case REGISTRY_TEXT:
    case REGISTRY_JSON:
        value.text = rows_text(rows, arena);
        break;
    case REGISTRY_REAL:
        value.real = rows_real(rows);
        break;
    case REGISTRY_INT:
    case REGISTRY_BOOL:
    case REGISTRY_DURATION:
        value.number = rows_i64(rows);
        break;
    }
    return value;
}

/* "page_size,type": the columns whose values came from the template. A name that is not known, or
 * has no value any more, is of another version of the program. */
static void mark_template(struct registry_row *row, struct str names)
{
    while (names.len > 0) {
        const int column = registry_column(row->table, str_cut(&names, ','));

        if (column >= 0)
            row->values[column].is_template = row->values[column].is_set;
    }
}

/* Such names, as long as all columns of a table together. */
static struct str template_columns_of(const struct registry_row *row,
                                      char text[TEMPLATE_COLUMNS_MAX])
{
    const struct registry_table *table = registry_table(row->table);
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < table->column_count; i++) {
        if (!row->values[i].is_template)
            continue;
        len += (size_t)snprintf(text + len, TEMPLATE_COLUMNS_MAX - len, "%s%s", len > 0 ? "," : "",
                                table->columns[i].name);
        assert(len < TEMPLATE_COLUMNS_MAX);
    }
    return (struct str){ text, len };
}

static void read_row(struct rows *rows, struct arena *arena, enum registry_table_id id,
                     struct registry_row *row)
{
    const struct registry_table *table = registry_table(id);
    struct str template_columns;

    row->table = id;
    row->id = rows_i64(rows);
    row->endpoint = rows_text(rows, arena);
    row->key = rows_text(rows, arena);
    row->position = (int32_t)rows_i64(rows);
    row->version = rows_i64(rows);
    row->effective_from_us = rows_i64(rows);
    template_columns = rows_text(rows, arena);
    row->values = ARENA_ARRAY(arena, struct registry_value, table->column_count);
    if (row->values == NULL) {
        rows->full = arena;
        return;
    }
    for (size_t i = 0; i < table->column_count; i++)
        row->values[i] = read_value(rows, arena, table->columns[i].type);
    mark_template(row, template_columns);
}

static bool read_registry_rows(struct rows *rows, struct arena *arena, enum registry_table_id id,
                               struct registry_row_list *list, struct error *err)
{
    struct registry_row *row;

    while ((row = ROWS_NEXT(rows, arena, list)) != NULL)
        read_row(rows, arena, id, row);
    return rows_finish(rows, err);
}

static bool read_registry_entries(struct rows *rows, struct arena *arena,
                                  struct registry_entry_list *list, struct error *err)
{
    struct registry_entry *entry;

    *list = (struct registry_entry_list){ 0 };
    while ((entry = ROWS_NEXT(rows, arena, list)) != NULL) {
        entry->code = rows_text(rows, arena);
        entry->version = rows_i64(rows);
        entry->changed_us = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

enum { NAME_MAX = 64, REGISTRY_STATEMENT_MAX = 1 << 16 };

static void add_columns(struct buf *sql, const struct registry_table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        buf_printf(sql, ", \"%s\"", table->columns[i].name);
}

static void add_changes(struct buf *sql)
{
    for (int id = 0; id < REGISTRY_TABLE_COUNT; id++) {
        const char *name = registry_table((enum registry_table_id)id)->name;

        buf_printf(sql,
                   "%sSELECT provenance_code AS code, effective_from AS at, version FROM %s"
                   " UNION ALL SELECT provenance_code, effective_to, 0 FROM %s"
                   " WHERE effective_to IS NOT NULL",
                   id > 0 ? " UNION ALL " : "", name, name);
    }
}

static const char *end_text(struct buf *sql, struct error *err)
{
    buf_add_char(sql, '\0');
    return buf_ok(sql, err) ? buf_str(sql).data : NULL;
}

static const char *select_of(struct store *store, enum registry_table_id id, struct error *err)
{
    struct sql_session *session = sql_session_of(store);
    const struct registry_table *table = registry_table(id);
    struct buf sql;

    if (session->registry.select[id] != NULL)
        return session->registry.select[id];
    buf_init(&sql, &session->texts, REGISTRY_STATEMENT_MAX);
    buf_add(&sql, STR("SELECT " REGISTRY_COLUMNS));
    add_columns(&sql, table);
    buf_printf(&sql,
               " FROM %s WHERE provenance_code = :row_code AND effective_from <= :row_at"
               " AND (effective_to IS NULL OR effective_to > :row_at)"
               " ORDER BY endpoint_name{byte-order}, position, row_key{byte-order}",
               table->name);
    return session->registry.select[id] = end_text(&sql, err);
}

static const char *insert_of(struct store *store, enum registry_table_id id, struct error *err)
{
    struct sql_session *session = sql_session_of(store);
    const struct registry_table *table = registry_table(id);
    struct buf sql;

    if (session->registry.insert[id] != NULL)
        return session->registry.insert[id];
    buf_init(&sql, &session->texts, REGISTRY_STATEMENT_MAX);
    buf_printf(&sql,
               "INSERT INTO %s (provenance_code, endpoint_name, row_key, position, version,"
               " effective_from, template_columns",
               table->name);
    add_columns(&sql, table);
    buf_add(&sql, STR(") VALUES (:row_code, :row_endpoint, :row_key, :row_position, :row_version,"
                      " :row_at, :row_template"));
    for (size_t i = 0; i < table->column_count; i++)
        buf_printf(&sql, ", :%s", table->columns[i].name);
    buf_add(&sql, STR(") RETURNING id"));
    return session->registry.insert[id] = end_text(&sql, err);
}

static const char *close_of(struct store *store, enum registry_table_id id, struct error *err)
{
    struct sql_session *session = sql_session_of(store);
    struct buf sql;

    if (session->registry.close[id] != NULL)
        return session->registry.close[id];
    buf_init(&sql, &session->texts, REGISTRY_STATEMENT_MAX);
    buf_printf(&sql,
               "UPDATE %s SET effective_to = :row_at WHERE id = :row_id AND effective_to IS NULL",
               registry_table(id)->name);
    return session->registry.close[id] = end_text(&sql, err);
}

static const char *list_of(struct store *store, struct error *err)
{
    struct sql_session *session = sql_session_of(store);
    struct buf sql;

    if (session->registry.list != NULL)
        return session->registry.list;
    buf_init(&sql, &session->texts, REGISTRY_STATEMENT_MAX);
    buf_add(&sql, STR("SELECT code, max(version), max(at) FROM ("));
    add_changes(&sql);
    buf_add(&sql, STR(") AS c WHERE at <= :row_at AND code IN (SELECT provenance_code FROM"
                      " reg_provenance WHERE effective_from <= :row_at"
                      " AND (effective_to IS NULL OR effective_to > :row_at))"
                      " GROUP BY code ORDER BY code{byte-order}"));
    return session->registry.list = end_text(&sql, err);
}

static const char *version_of(struct store *store, struct error *err)
{
    struct sql_session *session = sql_session_of(store);
    struct buf sql;

    if (session->registry.version != NULL)
        return session->registry.version;
    buf_init(&sql, &session->texts, REGISTRY_STATEMENT_MAX);
    buf_add(&sql, STR("SELECT coalesce(max(version), 0) FROM ("));
    add_changes(&sql);
    buf_add(&sql, STR(") AS c WHERE code = :row_code"));
    return session->registry.version = end_text(&sql, err);
}

struct table_query {
    enum registry_table_id table;
    struct str code;
    int64_t at_us;
};

static bool load_table(struct store *store, struct arena *arena, const struct table_query *query,
                       struct registry_row_list *rows, struct error *err)
{
    const char *sql = select_of(store, query->table, err);
    struct statement *st;

    if (sql == NULL)
        return false;
    st = statement_of(store, sql);
    bind_text(st, ":row_code", query->code);
    bind_instant(st, ":row_at", query->at_us);
    return read_registry_rows(&st->rows, arena, query->table, rows, err) ||
           error_wrap(err, "%s", registry_table(query->table)->name);
}

static bool registry_load(struct store *store, struct arena *arena, struct str code, int64_t at_us,
                          struct registry_source *source, struct error *err)
{
    struct registry_row_list rows = { 0 };

    for (int id = 0; id < REGISTRY_TABLE_COUNT; id++) {
        const struct table_query query = { (enum registry_table_id)id, code, at_us };

        if (!load_table(store, arena, &query, &rows, err))
            return error_wrap(err, "load source %.*s", STR_ARG(code));
    }
    *source = (struct registry_source){ .rows = rows.items, .count = rows.count };
    source->code = arena_copy(arena, code);
    return source->code.data != NULL || arena_error(arena, err);
}

static void bind_column(struct statement *st, const struct registry_column *column,
                        const struct registry_value *value)
{
    static const enum sql_type TYPES[] = {
        [REGISTRY_TEXT] = SQL_TEXT, [REGISTRY_JSON] = SQL_TEXT, [REGISTRY_REAL] = SQL_REAL,
        [REGISTRY_INT] = SQL_I64,   [REGISTRY_BOOL] = SQL_BOOL, [REGISTRY_DURATION] = SQL_I64,
    };
    char name[NAME_MAX];

    (void)snprintf(name, sizeof(name), ":%s", column->name);
    bind_value(st, name,
               (struct sql_value){
                   .type = TYPES[column->type],
                   .is_set = value->is_set,
                   .i64 = value->number,
                   .real = value->real,
                   .text = value->text,
               });
}

static bool registry_insert(struct store *store, const struct registry_insert *insert, int64_t *id,
                            struct error *err)
{
    const struct registry_row *row = insert->row;
    const struct registry_table *table = registry_table(row->table);
    const char *sql = insert_of(store, row->table, err);
    char template_columns[TEMPLATE_COLUMNS_MAX];
    struct statement *st;

    if (sql == NULL)
        return false;
    st = statement_of(store, sql);
    bind_text(st, ":row_code", insert->code);
    bind_text(st, ":row_endpoint", row->endpoint);
    bind_text(st, ":row_key", row->key);
    bind_i64(st, ":row_position", row->position);
    bind_i64(st, ":row_version", insert->version);
    bind_instant(st, ":row_at", insert->at_us);
    bind_text(st, ":row_template", template_columns_of(row, template_columns));
    for (size_t i = 0; i < table->column_count; i++)
        bind_column(st, &table->columns[i], &row->values[i]);
    return rows_only_i64(&st->rows, id, err) ||
           error_wrap(err, "insert into %s: %.*s/%.*s/%.*s", table->name, STR_ARG(insert->code),
                      STR_ARG(row->endpoint), STR_ARG(row->key));
}

static bool registry_close(struct store *store, enum registry_table_id table, int64_t id,
                           int64_t at_us, struct error *err)
{
    const char *sql = close_of(store, table, err);
    struct statement *st;
    bool closed;

    if (sql == NULL)
        return false;
    st = statement_of(store, sql);
    bind_instant(st, ":row_at", at_us);
    bind_i64(st, ":row_id", id);
    if (!statement_changed(st, &closed, err))
        return error_wrap(err, "close %s %" PRId64, registry_table(table)->name, id);
    if (!closed)
        return error_set(err, ERROR_REQUEST, "store.value", "%s %" PRId64 " is not in force",
                         registry_table(table)->name, id);
    return true;
}

static bool registry_list(struct store *store, struct arena *arena, int64_t at_us,
                          struct registry_entry_list *list, struct error *err)
{
    const char *sql = list_of(store, err);
    struct statement *st;

    if (sql == NULL)
        return false;
    st = statement_of(store, sql);
    bind_instant(st, ":row_at", at_us);
    return read_registry_entries(&st->rows, arena, list, err) || error_wrap(err, "list sources");
}

static bool registry_version(struct store *store, struct str code, int64_t *version,
                             struct error *err)
{
    const char *sql = version_of(store, err);
    struct statement *st;

    if (sql == NULL)
        return false;
    st = statement_of(store, sql);
    bind_text(st, ":row_code", code);
    return rows_only_i64(&st->rows, version, err) ||
           error_wrap(err, "version of source %.*s", STR_ARG(code));
}

const struct store_registry_ops SQL_REGISTRY = {
    .load = registry_load,
    .insert = registry_insert,
    .close = registry_close,
    .list = registry_list,
    .version = registry_version,
};
