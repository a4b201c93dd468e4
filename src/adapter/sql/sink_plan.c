/* Compares the tables of a projection with the catalogue of the database, and makes them fit.
 *
 * Nothing that holds data is lost: a table is made where it is missing or empty, columns are added,
 * types widened. Everything else is refused, with the statement that a person would have to run. */
#include "adapter/sql/sink_plan.h"

#include <assert.h>
#include <string.h>

enum { INDEX_NAMES_MAX = 1000 };

struct there { /* a column of a table as it is */
    struct str name;
    struct str type;
    bool not_null;
};

struct there_list {
    struct there *items;
    size_t count;
};

struct index_part { /* a column of an index, in order */
    struct str index;
    bool is_unique;
    struct str column;
};

struct index_part_list {
    struct index_part *items;
    size_t count;
};

struct planning {
    struct store *sink;
    struct arena *arena;
    const struct dialect *dialect;
    const struct projection_spec *spec;
    const struct sink_object *object;
    struct str name; /* of the table */
    struct sink_plan *plan;
    struct error *err;
};

/* ---- the catalogue ---- */

static const char COLUMNS[] = "{table-columns}";
static const char INDEXES[] = "{table-indexes}";
static const char NAMED[] = "{table-named}";
static const char SCHEMA[] = "{schema-named}";

static bool load_columns(const struct planning *p, struct there_list *list)
{
    struct statement *st = statement_of(p->sink, COLUMNS);
    struct there *there;

    *list = (struct there_list){ 0 };
    bind_text(st, ":schema", p->spec->schema);
    bind_text(st, ":table", p->name);
    while ((there = ROWS_NEXT(&st->rows, p->arena, list)) != NULL) {
        there->name = rows_text(&st->rows, p->arena);
        there->type = rows_text(&st->rows, p->arena);
        there->not_null = rows_bool(&st->rows);
    }
    return rows_finish(&st->rows, p->err);
}

static bool load_indexes(const struct planning *p, struct index_part_list *list)
{
    struct statement *st = statement_of(p->sink, INDEXES);
    struct index_part *part;

    *list = (struct index_part_list){ 0 };
    bind_text(st, ":schema", p->spec->schema);
    bind_text(st, ":table", p->name);
    while ((part = ROWS_NEXT(&st->rows, p->arena, list)) != NULL) {
        part->index = rows_text(&st->rows, p->arena);
        part->is_unique = rows_bool(&st->rows);
        part->column = rows_text(&st->rows, p->arena);
    }
    return rows_finish(&st->rows, p->err);
}

bool sink_has_table(struct store *sink, const struct projection_spec *spec, struct str name,
                    bool *found, struct error *err)
{
    struct statement *st = statement_of(sink, NAMED);
    int64_t count = 0;

    bind_text(st, ":schema", spec->schema);
    bind_text(st, ":table", name);
    if (!rows_only_i64(&st->rows, &count, err))
        return false;
    *found = count > 0;
    return true;
}

static bool has_schema(const struct planning *p, bool *found)
{
    struct statement *st;
    int64_t count = 0;

    *found = true;
    if (p->spec->schema.len == 0)
        return true;
    st = statement_of(p->sink, SCHEMA);
    bind_text(st, ":schema", p->spec->schema);
    if (!rows_only_i64(&st->rows, &count, p->err))
        return false;
    *found = count > 0;
    return true;
}

/* The statement is made for this table, and the session keeps it: one that sets up tables is short.
 */
static bool is_empty(const struct planning *p, bool *empty)
{
    struct sql_session *session = sql_session_of(p->sink);
    struct statement *st;
    int64_t count = 0;
    struct buf text;

    buf_init(&text, &session->texts, SINK_TEXT_MAX);
    buf_add(&text, STR("SELECT count(*) FROM (SELECT 1 FROM "));
    sink_put_name(&text, p->spec, p->name);
    buf_add(&text, STR(" LIMIT 1) AS t"));
    buf_add_char(&text, '\0');
    if (!buf_ok(&text, p->err))
        return false;
    st = statement_of(p->sink, buf_str(&text).data);
    if (!rows_only_i64(&st->rows, &count, p->err))
        return false;
    *empty = count == 0;
    return true;
}

/* ---- steps ---- */

static void begin(const struct planning *p, struct buf *sql)
{
    buf_init(sql, p->arena, SINK_TEXT_MAX);
}

static bool add_step(const struct planning *p, enum sink_step_kind kind, struct str text,
                     const struct buf *sql)
{
    struct sink_plan_step *step = LIST_ADD(p->arena, p->plan);

    if (step == NULL || text.data == NULL)
        return arena_error(p->arena, p->err);
    *step = (struct sink_plan_step){ kind, p->name, text,
                                     sql != NULL ? buf_str(sql) : (struct str){ 0 } };
    p->plan->refused += kind == SINK_STEP_REFUSED;
    return sql == NULL || buf_ok(sql, p->err);
}

#define REFUSE(p, sql, ...) \
    add_step((p), SINK_STEP_REFUSED, arena_printf((p)->arena, __VA_ARGS__), (sql))

static void put_alter(const struct planning *p, struct buf *sql)
{
    begin(p, sql);
    buf_add(sql, STR("ALTER TABLE "));
    sink_put_name(sql, p->spec, p->name);
}

/* ---- indexes ---- */

static bool index_is(const struct index_part_list *list, size_t from, const struct str *columns,
                     size_t count)
{
    size_t i = 0;

    for (; from + i < list->count && str_eq(list->items[from + i].index, list->items[from].index);
         i++) {
        if (i >= count || !str_eq(list->items[from + i].column, columns[i]))
            return false;
    }
    return i == count;
}

/* An index of exactly these columns, in this order. */
static bool has_index(const struct index_part_list *list, const struct str *columns, size_t count,
                      bool must_be_unique)
{
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0 && str_eq(list->items[i].index, list->items[i - 1].index))
            continue;
        if (index_is(list, i, columns, count) && (!must_be_unique || list->items[i].is_unique))
            return true;
    }
    return false;
}

static bool choose_index_name(const struct planning *p, struct str *name)
{
    bool taken = true;

    for (int number = 1; taken; number++) {
        if (number > INDEX_NAMES_MAX)
            return error_set(p->err, ERROR_REQUEST, "sink.index", "%d indexes of %.*s have names",
                             INDEX_NAMES_MAX, STR_ARG(p->name));
        *name = arena_printf(p->arena, "idx%d_%.*s", number,
                             STR_ARG(str_slice(p->name, 0, PROJECTION_NAME_MAX)));
        if (name->data == NULL)
            return arena_error(p->arena, p->err);
        if (!sink_has_table(p->sink, p->spec, *name, &taken, p->err))
            return false;
        for (size_t i = 0; i < p->plan->count && !taken; i++)
            taken = str_find(p->plan->items[i].sql, *name) < p->plan->items[i].sql.len;
    }
    return true;
}

static bool add_index(const struct planning *p, const struct projection_index *index)
{
    struct buf sql, columns;
    struct str name;

    if (!choose_index_name(p, &name))
        return false;
    begin(p, &sql);
    begin(p, &columns);
    for (size_t i = 0; i < index->count; i++)
        buf_printf(&columns, "%s\"%.*s\"", i > 0 ? ", " : "", STR_ARG(index->columns[i]));
    buf_printf(&sql, "CREATE INDEX \"%.*s\" ON ", STR_ARG(name));
    sink_put_name(&sql, p->spec, p->name);
    buf_printf(&sql, " (%.*s)", STR_ARG(buf_str(&columns)));
    return add_step(p, SINK_STEP_INDEX,
                    arena_printf(p->arena, "an index of %.*s", STR_ARG(buf_str(&columns))), &sql);
}

static void indexes_of(const struct sink_object *object, const struct projection_index **indexes,
                       size_t *count)
{
    *indexes = object->child != NULL ? object->child->indexes : object->table->indexes;
    *count = object->is_gone         ? 0
             : object->child != NULL ? object->child->index_count
                                     : object->table->index_count;
}

static bool plan_indexes(const struct planning *p, const struct index_part_list *there)
{
    const struct projection_index *indexes;
    size_t count;

    indexes_of(p->object, &indexes, &count);
    for (size_t i = 0; i < count; i++) {
        if (!has_index(there, indexes[i].columns, indexes[i].count, false) &&
            !add_index(p, &indexes[i]))
            return false;
    }
    return true;
}

/* ---- columns ---- */

static const struct there *find(const struct there_list *list, struct str name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (str_eq(list->items[i].name, name))
            return &list->items[i];
    }
    return NULL;
}

static const struct sink_widening *widening_of(const struct planning *p, struct str type,
                                               const struct sink_column *column)
{
    for (const struct sink_widening *w = p->dialect->sink_widenings; w->value != NULL; w++) {
        if (str_eq(type, str_of(p->dialect->sink_types[w->from])) && !column->is_list &&
            w->to == column->type)
            return w;
    }
    return NULL;
}

static void put_widened(struct buf *out, const char *value, struct str column)
{
    struct str rest = str_of(value);
    const struct str mark = STR("{column}");
    size_t at;

    while ((at = str_find(rest, mark)) < rest.len) {
        buf_add(out, str_slice(rest, 0, at));
        buf_printf(out, "\"%.*s\"", STR_ARG(column));
        rest = str_slice(rest, at + mark.len, rest.len);
    }
    buf_add(out, rest);
}

static bool plan_missing(const struct planning *p, const struct sink_column *column)
{
    struct buf sql;

    if (column->is_key || column->is_version || (column->not_null && !column->is_deleted))
        return REFUSE(p, NULL, "column %.*s is new and may not be NULL, and there are rows",
                      STR_ARG(column->name));
    put_alter(p, &sql);
    buf_printf(&sql, " ADD COLUMN \"%.*s\" %s%s", STR_ARG(column->name),
               sink_column_type(p->dialect, column),
               column->is_deleted ? " NOT NULL DEFAULT FALSE" : "");
    return add_step(p, SINK_STEP_COLUMN,
                    arena_printf(p->arena, "a column %.*s %s", STR_ARG(column->name),
                                 sink_column_type(p->dialect, column)),
                    &sql);
}

/* What of a table without ALTER is changed by copying it. */
struct column_changes {
    bool is_any;
    const struct sink_widening *widened[SINK_COLUMNS_MAX];
};

static bool plan_type(const struct planning *p, const struct sink_column *column, size_t number,
                      const struct there *there, struct column_changes *changes)
{
    const char *wanted = sink_column_type(p->dialect, column);
    const struct sink_widening *widening = widening_of(p, there->type, column);
    struct buf sql;

    if (str_eq(there->type, str_of(wanted)))
        return true;
    if (widening == NULL) {
        put_alter(p, &sql);
        buf_printf(&sql, " DROP COLUMN \"%.*s\"", STR_ARG(column->name));
        return REFUSE(p, &sql, "column %.*s: %.*s cannot become %s without loss",
                      STR_ARG(column->name), STR_ARG(there->type), wanted);
    }
    changes->is_any = true;
    changes->widened[number] = widening;
    if (!p->dialect->sink_can_alter)
        return true;
    put_alter(p, &sql);
    buf_printf(&sql, " ALTER COLUMN \"%.*s\" TYPE %s USING ", STR_ARG(column->name), wanted);
    put_widened(&sql, widening->value, column->name);
    return add_step(p, SINK_STEP_WIDEN,
                    arena_printf(p->arena, "column %.*s: %.*s becomes %s", STR_ARG(column->name),
                                 STR_ARG(there->type), wanted),
                    &sql);
}

static bool plan_null(const struct planning *p, const struct sink_column *column,
                      const struct there *there, struct column_changes *changes)
{
    struct buf sql;

    if (column->not_null == there->not_null)
        return true;
    if (column->not_null)
        return REFUSE(p, NULL, "column %.*s may not be NULL any more, and there are rows",
                      STR_ARG(column->name));
    changes->is_any = true;
    if (!p->dialect->sink_can_alter)
        return true;
    put_alter(p, &sql);
    buf_printf(&sql, " ALTER COLUMN \"%.*s\" DROP NOT NULL", STR_ARG(column->name));
    return add_step(p, SINK_STEP_WIDEN,
                    arena_printf(p->arena, "column %.*s may be NULL", STR_ARG(column->name)), &sql);
}

/* What is there and not in the file. */
static bool plan_extra(const struct planning *p, const struct sink_column columns[], size_t count,
                       const struct there_list *there)
{
    for (size_t i = 0; i < there->count; i++) {
        bool is_wanted = false;
        struct buf sql;

        for (size_t k = 0; k < count && !is_wanted; k++)
            is_wanted = str_eq(columns[k].name, there->items[i].name);
        if (is_wanted)
            continue;
        put_alter(p, &sql);
        buf_printf(&sql, " DROP COLUMN \"%.*s\"", STR_ARG(there->items[i].name));
        if (!REFUSE(p, &sql, "column %.*s is not in the file: it would be lost",
                    STR_ARG(there->items[i].name)))
            return false;
    }
    return true;
}

/* ---- tables ---- */

static bool plan_new(const struct planning *p, bool is_again)
{
    const struct index_part_list none = { 0 };
    bool schema_found;
    struct buf sql;

    if (!has_schema(p, &schema_found))
        return false;
    begin(p, &sql);
    if (is_again) {
        buf_add(&sql, STR("DROP TABLE "));
        sink_put_name(&sql, p->spec, p->name);
        buf_add(&sql, STR("; "));
    }
    if (!schema_found)
        buf_printf(&sql, "CREATE SCHEMA IF NOT EXISTS \"%.*s\"; ", STR_ARG(p->spec->schema));
    sink_put_create(&sql, p->dialect, p->spec, p->object, p->name);
    return add_step(p, SINK_STEP_TABLE,
                    is_again ? STR("made again: it is empty") : STR("a new table"), &sql) &&
           plan_indexes(p, &none);
}

/* SQLite changes no type: the rows move to a table of the new form. Its indexes go with the old
 * one. */
static bool plan_moved(const struct planning *p, const struct sink_column columns[], size_t count,
                       const struct there_list *there, const struct column_changes *changes)
{
    const struct index_part_list none = { 0 };
    const struct str moved = arena_printf(p->arena, "%.*s__wide", STR_ARG(p->name));
    struct buf sql, names, values;

    begin(p, &sql);
    begin(p, &names);
    begin(p, &values);
    for (size_t i = 0; i < count; i++) {
        if (find(there, columns[i].name) == NULL)
            continue; /* new: NULL in every row */
        buf_printf(&names, "%s\"%.*s\"", names.len > 0 ? ", " : "", STR_ARG(columns[i].name));
        buf_add(&values, values.len > 0 ? STR(", ") : STR(""));
        put_widened(&values, changes->widened[i] != NULL ? changes->widened[i]->value : "{column}",
                    columns[i].name);
    }
    sink_put_create(&sql, p->dialect, p->spec, p->object, moved);
    buf_printf(&sql,
               "; INSERT INTO \"%.*s\" (%.*s) SELECT %.*s FROM \"%.*s\"; DROP TABLE \"%.*s\";"
               " ALTER TABLE \"%.*s\" RENAME TO \"%.*s\"",
               STR_ARG(moved), STR_ARG(buf_str(&names)), STR_ARG(buf_str(&values)),
               STR_ARG(p->name), STR_ARG(p->name), STR_ARG(moved), STR_ARG(p->name));
    return add_step(p, SINK_STEP_WIDEN, STR("columns with wider types"), &sql) &&
           plan_indexes(p, &none);
}

static bool plan_changes(const struct planning *p, const struct there_list *there,
                         const struct index_part_list *indexes)
{
    struct sink_column columns[SINK_COLUMNS_MAX];
    const size_t count = sink_columns(p->object, columns);
    struct column_changes changes = { 0 };

    for (size_t i = 0; i < count; i++) {
        const struct there *old = find(there, columns[i].name);

        if (old == NULL ? !plan_missing(p, &columns[i])
                        : !plan_type(p, &columns[i], i, old, &changes) ||
                              !plan_null(p, &columns[i], old, &changes))
            return false;
    }
    if (!plan_extra(p, columns, count, there))
        return false;
    if (changes.is_any && !p->dialect->sink_can_alter)
        return plan_moved(p, columns, count, there, &changes);
    return plan_indexes(p, indexes);
}

/* Whether nothing has to be done but indexes. */
static bool fits(const struct planning *p, const struct there_list *there)
{
    struct sink_column columns[SINK_COLUMNS_MAX];
    const size_t count = sink_columns(p->object, columns);

    for (size_t i = 0; i < count; i++) {
        const struct there *old = find(there, columns[i].name);

        if (old == NULL || old->not_null != columns[i].not_null ||
            !str_eq(old->type, str_of(sink_column_type(p->dialect, &columns[i]))))
            return false;
    }
    return there->count == count;
}

static bool plan_managed(const struct planning *p, const struct there_list *there)
{
    struct index_part_list indexes;
    bool empty = false;

    if (there->count == 0)
        return plan_new(p, false);
    if (!load_indexes(p, &indexes))
        return false;
    if (fits(p, there))
        return plan_indexes(p, &indexes);
    if (!is_empty(p, &empty))
        return false;
    return empty ? plan_new(p, true) : plan_changes(p, there, &indexes);
}

/* ---- the user's own tables ---- */

/* "character varying(80)" is one of "text, character varying". */
static bool accepts(const char *list, struct str type)
{
    struct str rest = list != NULL ? str_of(list) : (struct str){ 0 };
    const struct str plain = str_trim(str_slice(type, 0, str_find_char(type, '(')));

    while (rest.len > 0) {
        if (str_eq(str_trim(str_cut(&rest, ',')), plain))
            return true;
    }
    return list == NULL;
}

static bool check_own_key(const struct planning *p)
{
    struct sink_column columns[SINK_COLUMNS_MAX];
    const size_t count = sink_columns(p->object, columns);
    struct str key[3];
    struct index_part_list indexes;
    size_t key_count = 0;

    for (size_t i = 0; i < count; i++) {
        if (columns[i].is_key)
            key[key_count++] = columns[i].name;
    }
    if (!load_indexes(p, &indexes))
        return false;
    return has_index(&indexes, key, key_count, true) ||
           REFUSE(p, NULL, "it needs a primary key, or a unique index, of exactly its key columns");
}

static bool plan_own(const struct planning *p, const struct there_list *there)
{
    struct sink_column columns[SINK_COLUMNS_MAX];
    const size_t count = sink_columns(p->object, columns);

    if (there->count == 0)
        return REFUSE(p, NULL, "there is no such table, and it is not managed");
    for (size_t i = 0; i < count; i++) {
        const struct there *old = find(there, columns[i].name);
        const char *list =
            p->dialect->sink_accepts[columns[i].is_list ? FIELD_JSON : columns[i].type];

        if (old == NULL ? !REFUSE(p, NULL, "it has no column %.*s", STR_ARG(columns[i].name))
                        : !accepts(list, old->type) &&
                              !REFUSE(p, NULL, "column %.*s is %.*s, and must be one of: %s",
                                      STR_ARG(columns[i].name), STR_ARG(old->type), list))
            return false;
    }
    return check_own_key(p);
}

/* ---- the whole ---- */

bool sink_plan(struct store *sink, struct arena *arena, const struct projection_spec *spec,
               struct sink_plan *plan, struct error *err)
{
    struct sink_object objects[SINK_OBJECTS_MAX];
    const size_t count = sink_objects(spec, objects);
    const struct dialect *dialect = sql_session_of(sink)->driver->dialect;

    *plan = (struct sink_plan){ 0 };
    for (size_t i = 0; i < count; i++) {
        const struct planning p = { sink,        arena,
                                    dialect,     spec,
                                    &objects[i], sink_object_name(arena, &objects[i], SINK_LIVE),
                                    plan,        err };
        struct there_list there;

        if (p.name.data == NULL)
            return arena_error(arena, err);
        if (!dialect->sink_can_alter && spec->schema.len > 0)
            return REFUSE(&p, NULL, "a SQLite file has no schemas: leave `schema` out");
        if (!load_columns(&p, &there) ||
            !(objects[i].table->is_managed || objects[i].is_gone ? plan_managed(&p, &there)
                                                                 : plan_own(&p, &there)))
            return error_wrap(err, "table %.*s", STR_ARG(p.name));
    }
    return true;
}

bool sink_run(struct store *sink, struct buf *script, struct error *err)
{
    struct sql_session *session = sql_session_of(sink);

    buf_add_char(script, '\0');
    return buf_ok(script, err) && session->driver->run_script(session, buf_str(script).data, err);
}

static const char REMEMBER[] =
    "INSERT INTO ing_projection (name, spec, spec_hash, applied_by, applied_at)"
    " VALUES (:name, :spec, :hash, :by, :now)"
    " ON CONFLICT (name) DO UPDATE SET spec = excluded.spec, spec_hash = excluded.spec_hash,"
    " applied_by = excluded.applied_by, applied_at = excluded.applied_at";

static bool remember(struct store *sink, const struct sink_set_up *set_up, struct error *err)
{
    struct statement *st = statement_of(sink, REMEMBER);

    bind_text(st, ":name", set_up->spec->name);
    bind_text(st, ":spec", set_up->json);
    bind_text(st, ":hash", set_up->hash);
    bind_text(st, ":by", set_up->applied_by);
    bind_instant(st, ":now", set_up->now_us);
    return statement_run(st, NULL, err);
}

static bool set_up_within(struct store *sink, struct arena *arena, const struct sink_set_up *set_up,
                          struct sink_plan *done, struct error *err)
{
    if (!store_lock(sink, STR("projection"), err) ||
        !sink_plan(sink, arena, set_up->spec, done, err))
        return false;
    if (done->refused > 0)
        return error_set(err, ERROR_REQUEST, "sink.refused",
                         "%zu of the changes to tables cannot be made without loss", done->refused);
    for (size_t i = 0; i < done->count; i++) {
        struct buf script;

        buf_init(&script, arena, SINK_TEXT_MAX);
        buf_add(&script, done->items[i].sql);
        if (!sink_run(sink, &script, err))
            return error_wrap(err, "table %.*s", STR_ARG(done->items[i].table));
    }
    return remember(sink, set_up, err);
}

bool sink_set_up(struct store *sink, struct arena *arena, const struct sink_set_up *set_up,
                 struct sink_plan *done, struct error *err)
{
    bool owns_transaction, ok;

    *done = (struct sink_plan){ 0 };
    ok = store_begin_if_idle(sink, &owns_transaction, err) &&
         set_up_within(sink, arena, set_up, done, err);
    return store_end_if_owned(sink, owns_transaction, ok, err);
}

bool sink_put_indexes(struct store *sink, struct arena *arena, const struct projection_spec *spec,
                      const struct sink_object *object, struct str name, struct buf *out,
                      struct error *err)
{
    const struct index_part_list none = { 0 };
    struct sink_plan plan = { 0 };
    const struct planning p = { sink,  arena,  sql_session_of(sink)->driver->dialect,
                                spec,  object, name,
                                &plan, err };

    if (!plan_indexes(&p, &none))
        return false;
    for (size_t i = 0; i < plan.count; i++) {
        buf_add(out, plan.items[i].sql);
        buf_add(out, STR("; "));
    }
    return true;
}
