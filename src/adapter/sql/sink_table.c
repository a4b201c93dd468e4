/* Makes the statements of a projection's tables. */
#include "adapter/sql/sink_table.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "adapter/sql/key_digest.h"

/* ---- names ---- */

size_t sink_objects(const struct projection_spec *spec, struct sink_object objects[])
{
    size_t count = 0;

    for (size_t i = 0; i < spec->table_count; i++) {
        const struct projection_table *table = &spec->tables[i];

        assert(count + 2 + table->child_count <= SINK_OBJECTS_MAX);
        objects[count++] = (struct sink_object){ .table = table };
        if (projection_has_gone(table))
            objects[count++] = (struct sink_object){ .table = table, .is_gone = true };
        for (size_t k = 0; k < table->child_count; k++)
            objects[count++] = (struct sink_object){ .table = table, .child = &table->children[k] };
    }
    return count;
}

struct str sink_object_name(struct arena *arena, const struct sink_object *object,
                            enum sink_side side)
{
    static const char *const SUFFIXES[] = {
        [SINK_LIVE] = "", [SINK_NEW] = "__new", [SINK_OLD] = "__old"
    };
    const struct str name = object->child != NULL ? object->child->name : object->table->name;

    return arena_printf(arena, "%.*s%s%s", STR_ARG(name), object->is_gone ? "__gone" : "",
                        SUFFIXES[side]);
}

void sink_put_name(struct buf *out, const struct projection_spec *spec, struct str name)
{
    if (spec->schema.len > 0)
        buf_printf(out, "\"%.*s\".", STR_ARG(spec->schema));
    buf_printf(out, "\"%.*s\"", STR_ARG(name));
}

/* ---- columns ---- */

static void add_column(struct sink_column columns[], size_t *count, struct sink_column column)
{
    assert(*count < SINK_COLUMNS_MAX);
    columns[(*count)++] = column;
}

size_t sink_columns(const struct sink_object *object, struct sink_column columns[])
{
    const struct projection_table *table = object->table;
    const struct projection_child *child = object->child;
    const struct projection_column *own = child != NULL ? child->columns : table->columns;
    const size_t own_count = child != NULL ? child->column_count : table->column_count;
    size_t count = 0;

    if (table->type_column.len > 0)
        add_column(columns, &count,
                   (struct sink_column){
                       .name = table->type_column, FIELD_TEXT, .is_key = true, .not_null = true });
    add_column(columns, &count,
               (struct sink_column){
                   .name = table->id_column, FIELD_TEXT, .is_key = true, .not_null = true });
    add_column(columns, &count,
               (struct sink_column){ .name = child != NULL ? child->ordinal : table->version_column,
                                     FIELD_INTEGER,
                                     .is_key = child != NULL,
                                     .is_version = true,
                                     .not_null = true });
    if (object->is_gone)
        return count;
    if (child == NULL && table->deleted_column.len > 0)
        add_column(columns, &count,
                   (struct sink_column){ .name = table->deleted_column,
                                         FIELD_BOOLEAN,
                                         .is_deleted = true,
                                         .not_null = true });
    for (size_t i = 0; i < own_count; i++)
        add_column(columns, &count,
                   (struct sink_column){ .name = own[i].name,
                                         .type = own[i].type,
                                         .is_list = own[i].is_list,
                                         .not_null = own[i].not_null });
    return count;
}

const char *sink_column_type(const struct dialect *dialect, const struct sink_column *column)
{
    return dialect->sink_types[column->is_list ? FIELD_JSON : column->type];
}

void sink_put_create(struct buf *out, const struct dialect *dialect,
                     const struct projection_spec *spec, const struct sink_object *object,
                     struct str name)
{
    struct sink_column columns[SINK_COLUMNS_MAX];
    const size_t count = sink_columns(object, columns);
    bool is_first = true;

    buf_add(out, STR("CREATE TABLE "));
    sink_put_name(out, spec, name);
    buf_add(out, STR(" ("));
    for (size_t i = 0; i < count; i++) {
        const struct sink_column *column = &columns[i];
        const bool is_text_key = column->is_key && column->type == FIELD_TEXT;

        buf_printf(out, "\"%.*s\" %s%s%s%s, ", STR_ARG(column->name),
                   sink_column_type(dialect, column), is_text_key ? dialect->sink_key : "",
                   column->not_null ? " NOT NULL" : "", column->is_deleted ? " DEFAULT FALSE" : "");
    }
    buf_add(out, STR("PRIMARY KEY ("));
    for (size_t i = 0; i < count; i++) {
        if (!columns[i].is_key)
            continue;
        buf_printf(out, "%s\"%.*s\"", is_first ? "" : ", ", STR_ARG(columns[i].name));
        is_first = false;
    }
    buf_printf(out, "))%s", dialect->sink_options);
}

/* ---- statements ---- */

struct making {
    struct sql_session *session;
    const struct projection_spec *spec;
    const struct projection_table *table;
    struct str name; /* as SQL names it */
    struct str gone;
    struct error *err;
};

static void begin(struct buf *out, const struct making *making)
{
    buf_init(out, &making->session->texts, SINK_TEXT_MAX);
}

static bool end(struct buf *out, const struct making *making, const char **text)
{
    buf_add_char(out, '\0');
    *text = buf_str(out).data;
    return buf_ok(out, making->err);
}

/* "aggregate_type", "aggregate_id" */
static void put_key(struct buf *out, const struct projection_table *table, const char *prefix)
{
    if (table->type_column.len > 0)
        buf_printf(out, "%s\"%.*s\", ", prefix, STR_ARG(table->type_column));
    buf_printf(out, "%s\"%.*s\"", prefix, STR_ARG(table->id_column));
}

static void put_key_values(struct buf *out, const struct projection_table *table)
{
    buf_add(out, table->type_column.len > 0 ? STR("@type, @id") : STR("@id"));
}

/* "aggregate_type" = @type AND "aggregate_id" = @id; `mark` is @ or : */
static void put_is_key(struct buf *out, const struct projection_table *table, const char *prefix,
                       char mark)
{
    if (table->type_column.len > 0)
        buf_printf(out, "%s\"%.*s\" = %ctype AND ", prefix, STR_ARG(table->type_column), mark);
    buf_printf(out, "%s\"%.*s\" = %cid", prefix, STR_ARG(table->id_column), mark);
}

/* The bound value as the column's type. */
static void put_cell(struct buf *out, const struct making *making,
                     const struct projection_column *column, size_t number)
{
    const struct dialect *dialect = making->session->driver->dialect;
    const char *cast = column->is_list ? NULL : dialect->sink_casts[column->type];

    if (cast != NULL)
        buf_printf(out, "CAST(@c%zu AS %s)", number, cast);
    else
        buf_printf(out, "@c%zu", number);
}

static void put_version(struct buf *out, const struct making *making)
{
    buf_printf(out, "\"%.*s\"", STR_ARG(making->table->version_column));
}

/* The key was not remembered with this version or a later one. A scalar, not EXISTS, which the
 * server would make a join of and read the whole table for it. */
static void put_not_gone(struct buf *out, const struct making *making)
{
    buf_printf(out, " {rows} WHERE coalesce((SELECT g.\"%.*s\" FROM %.*s AS g WHERE ",
               STR_ARG(making->table->version_column), STR_ARG(making->gone));
    put_is_key(out, making->table, "g.", '@');
    buf_add(out, STR(" LIMIT 1), 0) < @version"));
}

/* INSERT INTO t (...) with all columns, up to its ON CONFLICT (key). */
static void put_insert(struct buf *out, const struct making *making, const char *deleted)
{
    const struct projection_table *table = making->table;
    const bool has_gone = projection_has_gone(table);

    buf_printf(out, "INSERT INTO %.*s AS t (", STR_ARG(making->name));
    put_key(out, table, "");
    buf_add(out, STR(", "));
    put_version(out, making);
    if (table->deleted_column.len > 0)
        buf_printf(out, ", \"%.*s\"", STR_ARG(table->deleted_column));
    for (size_t i = 0; i < table->column_count; i++)
        buf_printf(out, ", \"%.*s\"", STR_ARG(table->columns[i].name));
    buf_add(out, has_gone ? STR(") SELECT ") : STR(") {insert "));
    put_key_values(out, table);
    buf_add(out, STR(", @version"));
    if (table->deleted_column.len > 0)
        buf_printf(out, ", %s", deleted);
    for (size_t i = 0; i < table->column_count; i++) {
        buf_add(out, STR(", "));
        put_cell(out, making, &table->columns[i], i);
    }
    if (has_gone)
        put_not_gone(out, making);
    else
        buf_add_char(out, '}');
    buf_add(out, STR(" ON CONFLICT ("));
    put_key(out, table, "");
    buf_add(out, STR(") DO "));
}

static void put_returning(struct buf *out, const struct projection_table *table)
{
    buf_add(out, STR(" RETURNING "));
    put_key(out, table, "{returned}");
}

static bool make_replace(const struct making *making, const char **text)
{
    const struct projection_table *table = making->table;
    struct buf out;

    begin(&out, making);
    put_insert(&out, making, "FALSE");
    buf_add(&out, STR("UPDATE SET "));
    put_version(&out, making);
    buf_add(&out, STR(" = excluded."));
    put_version(&out, making);
    if (table->deleted_column.len > 0)
        buf_printf(&out, ", \"%.*s\" = FALSE", STR_ARG(table->deleted_column));
    for (size_t i = 0; i < table->column_count; i++)
        buf_printf(&out, ", \"%.*s\" = excluded.\"%.*s\"", STR_ARG(table->columns[i].name),
                   STR_ARG(table->columns[i].name));
    buf_add(&out, STR(" WHERE t."));
    put_version(&out, making);
    buf_add(&out, STR(" < excluded."));
    put_version(&out, making);
    if (table->child_count > 0)
        put_returning(&out, table);
    return end(&out, making, text);
}

static bool make_insert(const struct making *making, const char **text)
{
    struct buf out;

    begin(&out, making);
    put_insert(&out, making, "@deleted");
    buf_add(&out, STR("NOTHING"));
    put_returning(&out, making->table);
    return end(&out, making, text);
}

static bool make_update(const struct making *making, const char **text)
{
    const struct projection_table *table = making->table;
    struct buf out;

    begin(&out, making);
    buf_printf(&out, "UPDATE %.*s AS t SET ", STR_ARG(making->name));
    put_version(&out, making);
    buf_add(&out, STR(" = @version"));
    if (table->deleted_column.len > 0)
        buf_printf(&out, ", \"%.*s\" = @deleted", STR_ARG(table->deleted_column));
    for (size_t i = 0; i < table->column_count; i++) {
        const struct str name = table->columns[i].name;

        buf_printf(&out, ", \"%.*s\" = CASE WHEN (@given & %" PRId64 ") <> 0 THEN ", STR_ARG(name),
                   INT64_C(1) << i);
        put_cell(&out, making, &table->columns[i], i);
        buf_printf(&out, " ELSE t.\"%.*s\" END", STR_ARG(name));
    }
    buf_printf(&out, " {keyed %.*s: ", STR_ARG(making->name));
    put_is_key(&out, table, "", '@');
    buf_add(&out, STR("} AND t."));
    put_version(&out, making);
    buf_add(&out, STR(" < @version"));
    put_returning(&out, table);
    return end(&out, making, text);
}

/* DELETE FROM t, by key */
static void put_delete(struct buf *out, const struct making *making, struct str name)
{
    buf_printf(out, "DELETE FROM %.*s AS t {keyed-using %.*s: ", STR_ARG(name), STR_ARG(name));
    put_is_key(out, making->table, "", '@');
    buf_add_char(out, '}');
}

static bool make_erase(const struct making *making, struct str name, bool returns,
                       const char **text)
{
    struct buf out;

    begin(&out, making);
    put_delete(&out, making, name);
    buf_add(&out, STR(" AND t."));
    put_version(&out, making);
    buf_add(&out, STR(" < @version"));
    if (returns)
        put_returning(&out, making->table);
    return end(&out, making, text);
}

static bool make_gone_add(const struct making *making, const char **text)
{
    const struct projection_table *table = making->table;
    struct buf out;

    begin(&out, making);
    buf_printf(&out, "INSERT INTO %.*s AS g (", STR_ARG(making->gone));
    put_key(&out, table, "");
    buf_add(&out, STR(", "));
    put_version(&out, making);
    buf_add(&out, STR(") SELECT "));
    put_key_values(&out, table);
    buf_printf(&out, ", @version {rows} WHERE coalesce((SELECT t.\"%.*s\" FROM %.*s AS t WHERE ",
               STR_ARG(table->version_column), STR_ARG(making->name));
    put_is_key(&out, table, "t.", '@');
    buf_add(&out, STR(" LIMIT 1), 0) < @version ON CONFLICT ("));
    put_key(&out, table, "");
    buf_add(&out, STR(") DO UPDATE SET "));
    put_version(&out, making);
    buf_add(&out, STR(" = excluded."));
    put_version(&out, making);
    buf_add(&out, STR(" WHERE g."));
    put_version(&out, making);
    buf_add(&out, STR(" < excluded."));
    put_version(&out, making);
    return end(&out, making, text);
}

/* Whether there is no row, or a marked one; and from where. */
static void put_gone(struct buf *out, const struct making *making, bool is_gone)
{
    if (is_gone)
        buf_add(out, STR("TRUE"));
    else if (making->table->deleted_column.len > 0)
        buf_printf(out, "\"%.*s\"", STR_ARG(making->table->deleted_column));
    else
        buf_add(out, STR("FALSE"));
    buf_printf(out, " AS gone FROM %.*s", STR_ARG(is_gone ? making->gone : making->name));
}

static bool make_row(const struct making *making, const char **text)
{
    struct buf out;

    begin(&out, making);
    for (int is_gone = 0; is_gone <= projection_has_gone(making->table); is_gone++) {
        buf_add(&out, is_gone ? STR(" UNION ALL SELECT ") : STR("SELECT "));
        put_version(&out, making);
        buf_add(&out, STR(", "));
        put_gone(&out, making, is_gone);
        buf_add(&out, STR(" WHERE "));
        put_is_key(&out, making->table, "", ':');
    }
    return end(&out, making, text);
}

/* The states of a table and of its keys without a row, AS u: type, id, version, gone, state. */
static void put_states(struct buf *out, const struct making *making)
{
    const struct projection_table *table = making->table;

    buf_add(out, STR("(SELECT *, " KEY_STATE("s.type", "s.id", "s.version",
                                             "s.gone") " AS state FROM ("));
    for (int is_gone = 0; is_gone <= projection_has_gone(table); is_gone++) {
        buf_add(out, is_gone ? STR(" UNION ALL SELECT ") : STR("SELECT "));
        if (table->type_column.len > 0)
            buf_printf(out, "\"%.*s\" AS type, ", STR_ARG(table->type_column));
        else
            buf_add(out, STR("CAST(:type AS text) AS type, "));
        buf_printf(out, "\"%.*s\" AS id, ", STR_ARG(table->id_column));
        put_version(out, making);
        buf_add(out, STR(" AS version, "));
        put_gone(out, making, is_gone);
    }
    buf_add(out, STR(") AS s) AS u"));
}

static bool make_digest(const struct making *making, const char **text)
{
    struct buf out;

    begin(&out, making);
    buf_add(&out, STR(KEY_DIGESTS "(SELECT u.type, {key-hash} AS h FROM "));
    put_states(&out, making);
    buf_add(&out, STR(" {once}) AS k" KEY_DIGESTS_BY));
    return end(&out, making, text);
}

static bool make_pick(const struct making *making, const char **text)
{
    struct buf out;

    begin(&out, making);
    buf_printf(&out, "SELECT %su.id, u.version, u.gone FROM ",
               making->table->type_column.len > 0 ? "u.type, " : "");
    put_states(&out, making);
    buf_add(&out, STR(" WHERE " KEY_IS_PICKED));
    return end(&out, making, text);
}

static bool make_child(const struct making *making, const struct projection_child *child,
                       struct str name, struct sink_child_texts *texts)
{
    struct buf out;

    texts->child = child;
    begin(&out, making);
    buf_printf(&out, "DELETE FROM %.*s AS t {keyed-only %.*s: ", STR_ARG(name), STR_ARG(name));
    put_is_key(&out, making->table, "", '@');
    buf_add_char(&out, '}');
    if (!end(&out, making, &texts->clear))
        return false;
    begin(&out, making);
    buf_printf(&out, "INSERT INTO %.*s (", STR_ARG(name));
    put_key(&out, making->table, "");
    buf_printf(&out, ", \"%.*s\"", STR_ARG(child->ordinal));
    for (size_t i = 0; i < child->column_count; i++)
        buf_printf(&out, ", \"%.*s\"", STR_ARG(child->columns[i].name));
    buf_add(&out, STR(") {insert "));
    put_key_values(&out, making->table);
    buf_add(&out, STR(", @ordinal"));
    for (size_t i = 0; i < child->column_count; i++) {
        buf_add(&out, STR(", "));
        put_cell(&out, making, &child->columns[i], i);
    }
    buf_add_char(&out, '}');
    return end(&out, making, &texts->add);
}

/* As SQL names it. */
static struct str quoted(const struct making *making, const struct sink_object *object,
                         enum sink_side side)
{
    struct arena *arena = &making->session->texts;
    struct buf out;

    buf_init(&out, arena, SINK_TEXT_MAX);
    sink_put_name(&out, making->spec, sink_object_name(arena, object, side));
    return buf_str(&out);
}

static bool make_texts(struct making *making, enum sink_side side, struct sink_texts *texts)
{
    const struct projection_table *table = making->table;
    struct arena *arena = &making->session->texts;

    *texts = (struct sink_texts){ .table = table, .has_gone = projection_has_gone(table) };
    making->name = quoted(making, &(struct sink_object){ .table = table }, side);
    making->gone = quoted(making, &(struct sink_object){ .table = table, .is_gone = true }, side);
    texts->children = ARENA_ARRAY(arena, struct sink_child_texts, table->child_count);
    if (texts->children == NULL)
        return arena_error(arena, making->err);
    for (size_t i = 0; i < table->child_count; i++) {
        const struct projection_child *child = &table->children[i];
        const struct sink_object object = { .table = table, .child = child };

        if (!make_child(making, child, quoted(making, &object, side), &texts->children[i]))
            return false;
    }
    return make_replace(making, &texts->replace) && make_update(making, &texts->update) &&
           make_insert(making, &texts->insert) &&
           make_erase(making, making->name, table->child_count > 0, &texts->erase) &&
           (!texts->has_gone || (make_gone_add(making, &texts->gone_add) &&
                                 make_erase(making, making->gone, false, &texts->gone_forget))) &&
           make_row(making, &texts->row) && make_digest(making, &texts->digest) &&
           make_pick(making, &texts->pick);
}

bool sink_tables_make(struct store *sink, const struct projection_spec *spec, enum sink_side side,
                      const struct sink_tables **tables, struct error *err)
{
    struct sql_session *session = sql_session_of(sink);
    struct sink_tables *made = ARENA_NEW(&session->texts, struct sink_tables);

    if (made == NULL)
        return arena_error(&session->texts, err);
    made->spec = spec;
    made->items = ARENA_ARRAY(&session->texts, struct sink_texts, spec->table_count);
    if (made->items == NULL)
        return arena_error(&session->texts, err);
    for (size_t i = 0; i < spec->table_count; i++) {
        struct making making = { session, spec, &spec->tables[i], { 0 }, { 0 }, err };

        if (!make_texts(&making, side, &made->items[i]))
            return error_wrap(err, "table %.*s", STR_ARG(spec->tables[i].name));
    }
    *tables = made;
    return true;
}
