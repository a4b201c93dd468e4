/* The rules of a projection file: names, paths, templates, and what fits together. */
#include "spec/projection_check.h"

#include "data/jsonpath.h"
#include "data/template.h"
#include "spec/setting_value.h"

size_t projection_column_find(const struct projection_columns *columns, struct str name)
{
    size_t i = 0;

    while (i < columns->count && !str_eq(columns->items[i].name, name))
        i++;
    return i;
}

static bool is_own_column(const struct projection_table *table, struct str name)
{
    return name.len > 0 &&
           (str_eq(name, table->type_column) || str_eq(name, table->id_column) ||
            str_eq(name, table->version_column) || str_eq(name, table->deleted_column));
}

bool projection_has_column(const struct projection_columns *columns, struct str name)
{
    return projection_column_find(columns, name) < columns->count ||
           (columns->table != NULL && is_own_column(columns->table, name));
}

/* The node of a key, for its place; the map itself where it is not given. */
static struct mark mark_of(const struct node *map, const char *name)
{
    const struct node *node = map->kind == NODE_MAP ? node_get(map, str_of(name)) : NULL;

    return node != NULL ? node->at : map->at;
}

/* The place of a column. */
static struct mark column_mark(const struct node *map, struct str name)
{
    const struct node *columns = node_get(map, STR("columns"));

    for (size_t i = 0; columns != NULL && i < columns->count; i++) {
        if (str_eq(columns->entries[i].key, name))
            return columns->entries[i].at;
    }
    return map->at;
}

/* ---- names ---- */

static bool is_name(struct str name)
{
    bool ok = name.len > 0 && name.len <= PROJECTION_NAME_MAX &&
              !(name.data[0] >= '0' && name.data[0] <= '9') &&
              str_find(name, STR("__")) == name.len;

    for (size_t i = 0; ok && i < name.len; i++) {
        const char c = name.data[i];

        ok = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    }
    return ok;
}

void projection_check_name(struct projection_walk *walk, struct mark at, struct str what,
                           struct str name)
{
    if (is_name(name))
        return;
    fault_error(walk->faults, "projection.name", at,
                "the name of a %.*s is letters, digits and single _, at most %d of them, and does "
                "not begin with a digit",
                STR_ARG(what), PROJECTION_NAME_MAX);
}

/* ---- values ---- */

static bool compile_path(struct projection_walk *walk, const struct node *node, struct str field,
                         struct str text)
{
    const struct jsonpath *path;
    struct error err;
    size_t at = 0;

    if (jsonpath_compile(walk->arena, text, &path, &at, &err))
        return true;
    fault_error(walk->faults, "projection.path", node_mark(node, walk->file, at), "%.*s: %s",
                STR_ARG(field), err.text);
    return false;
}

void projection_check_path(struct projection_walk *walk, const struct node *node, struct str field,
                           struct str path)
{
    if (node->kind == NODE_SCALAR && !node->is_broken)
        (void)compile_path(walk, node, field, path);
    else if (!node->is_broken)
        fault_error(walk->faults, "projection.type", node->at, "%.*s.each must be a path",
                    STR_ARG(field));
}

static void check_use(struct projection_walk *walk, const struct node *node,
                      const struct projection_columns *columns, size_t column,
                      const struct template_use *use)
{
    const struct mark at = node_mark(node, walk->file, use->offset);
    const struct str name = columns->items[column].name;
    const size_t other = projection_column_find(columns, use->name);

    if (use->is_function) {
        if (str_eq(use->name, STR("now")))
            fault_error(walk->faults, "projection.template.now", at,
                        "column %.*s: an event must give the same row whenever it is read, so "
                        "there is no now()",
                        STR_ARG(name));
    } else if (use->scope != TEMPLATE_EVENT && use->scope != TEMPLATE_COLUMN) {
        fault_error(walk->faults, "projection.template.scope", at,
                    "column %.*s: a projection has event.NAME and column.NAME only", STR_ARG(name));
    } else if (use->scope == TEMPLATE_COLUMN && (other == columns->count || other == column)) {
        fault_error(walk->faults, "projection.template.column", at,
                    "column %.*s: column.%.*s is not another column of the row", STR_ARG(name),
                    STR_ARG(use->name));
    }
}

static void check_template(struct projection_walk *walk, const struct node *node,
                           const struct projection_columns *columns, size_t column, struct str text)
{
    struct template_faults faults;
    struct template template;
    struct error err;

    if (!template_compile(&template, walk->arena, text, &faults, &err)) {
        for (size_t i = 0; i < faults.count && i < TEMPLATE_FAULTS_MAX; i++) {
            fault_error(walk->faults, "projection.template.syntax",
                        node_mark(node, walk->file, faults.items[i].offset), "column %.*s: %.*s",
                        STR_ARG(columns->items[column].name), STR_ARG(faults.items[i].text));
            if (faults.items[i].hint.len > 0)
                fault_hint(walk->faults, "%.*s", STR_ARG(faults.items[i].hint));
        }
        walk->faults->failed |= faults.count == 0;
        return;
    }
    for (const struct template_use *use = template.uses; use != NULL; use = use->next)
        check_use(walk, node, columns, column, use);
}

void projection_check_value(struct projection_walk *walk, const struct node *node,
                            const struct projection_value *value,
                            const struct projection_columns *columns, size_t at)
{
    if (value->path.len > 0)
        (void)compile_path(walk, node, columns->items[at].name, value->path);
    if (value->template.len > 0) {
        check_template(walk, node, columns, at, value->template);
        if (columns->items[at].is_list)
            fault_error(walk->faults, "projection.list", node->at,
                        "column %.*s is a list: a template gives one value",
                        STR_ARG(columns->items[at].name));
    }
}

void projection_check_column(struct projection_walk *walk, struct str field,
                             const struct node *node, const struct projection_column *column)
{
    const struct node *type = node->kind == NODE_MAP ? node_get(node, STR("type")) : NULL;

    if (type != NULL && str_eq_nocase(type->text, STR("any"))) {
        fault_error(walk->faults, "projection.column.type", mark_of(node, "type"),
                    "%.*s.type: a column has one type", STR_ARG(field));
        fault_hint(walk->faults, "json takes any value");
    }
    if (column->value.path.len > 0 && column->value.template.len > 0)
        fault_error(walk->faults, "projection.column.both", mark_of(node, "value"),
                    "%.*s has a path and a value: one of them", STR_ARG(field));
}

/* The values that columns have of their own, once all columns are known. */
static void check_values(struct projection_walk *walk, const struct node *map,
                         const struct projection_columns *columns)
{
    const struct node *part = node_get(map, STR("columns"));

    for (size_t i = 0; part != NULL && part->kind == NODE_MAP && i < columns->count; i++) {
        const struct projection_value *value = &columns->items[i].value;
        const struct node *node = part->entries[i].value;
        const struct node *own =
            node->kind != NODE_MAP
                ? node
                : node_get(node, value->path.len > 0 ? STR("path") : STR("value"));

        if (own != NULL && !own->is_broken)
            projection_check_value(walk, own, value, columns, i);
    }
}

/* Nothing can be computed of what is computed itself: which would come first? */
static void check_order(struct projection_walk *walk, struct mark at,
                        const struct projection_columns *columns,
                        const struct projection_value *values)
{
    for (size_t i = 0; i < columns->count && values != NULL; i++) {
        struct template_faults faults;
        struct template template;
        struct error err;

        if (values[i].template.len == 0 ||
            !template_compile(&template, walk->arena, values[i].template, &faults, &err))
            continue;
        for (const struct template_use *use = template.uses; use != NULL; use = use->next) {
            const size_t other = use->is_function || use->scope != TEMPLATE_COLUMN
                                     ? columns->count
                                     : projection_column_find(columns, use->name);

            if (other < columns->count && values[other].path.len == 0)
                fault_error(walk->faults, "projection.template.order", at,
                            "column %.*s is computed of column.%.*s, which has no path here",
                            STR_ARG(columns->items[i].name), STR_ARG(use->name));
        }
    }
}

/* ---- sources of events ---- */

static void check_aggregates(struct projection_walk *walk, struct str field,
                             const struct node *node, const struct projection_source *source)
{
    const struct mark at = mark_of(node, "aggregates");

    for (size_t i = 0; i < source->aggregate_count; i++) {
        const size_t star = str_find_char(source->aggregates[i], '*');

        if (source->aggregates[i].len == 0 ||
            (star < source->aggregates[i].len && star + 1 != source->aggregates[i].len))
            fault_error(walk->faults, "projection.aggregates", at,
                        "%.*s.aggregates: a star stands at the end only", STR_ARG(field));
    }
}

static void check_where(struct projection_walk *walk, struct str field, const struct node *node,
                        const struct projection_source *source)
{
    const struct node *where = node_get(node, STR("where"));
    const struct jsonpath *path;
    struct error err;
    size_t at = 0;
    const struct str text = arena_printf(walk->arena, "$[?%.*s]", STR_ARG(source->where));

    if (where == NULL || where->is_broken || source->where.len == 0)
        return;
    if (text.data == NULL)
        walk->faults->failed = true;
    else if (!jsonpath_compile(walk->arena, text, &path, &at, &err)) {
        fault_error(walk->faults, "projection.where",
                    node_mark(where, walk->file, at >= 3 ? at - 3 : 0), "%.*s.where: %s",
                    STR_ARG(field), err.text);
        fault_hint(walk->faults, "@ is the event: @.fields.type == 'journal-article'");
    }
}

static bool has_own_values(const struct node *node)
{
    const struct node *columns = node_get(node, STR("columns"));

    return columns != NULL && columns->kind == NODE_MAP && columns->count > 0;
}

void projection_check_source(struct projection_walk *walk, struct str field,
                             const struct node *node, const struct projection_table *table,
                             const struct projection_source *source)
{
    const struct projection_columns columns = { table->columns, table->column_count, table, false };

    check_aggregates(walk, field, node, source);
    check_where(walk, field, node, source);
    check_order(walk, mark_of(node, "columns"), &columns, source->values);
    for (size_t i = 0; i < table->child_count && source->children != NULL; i++) {
        const struct projection_child *child = &table->children[i];
        const struct projection_columns own = { child->columns, child->column_count, NULL, true };

        check_order(walk, mark_of(node, "children"), &own, source->children[i].values);
    }
    if (source->effect == PROJECTION_DELETE && table->on_delete == PROJECTION_ERASE &&
        has_own_values(node))
        fault_error(walk->faults, "projection.delete", mark_of(node, "columns"),
                    "%.*s.columns: a deleted row is removed, so it has no columns", STR_ARG(field));
}

/* ---- tables ---- */

static void check_same(struct projection_walk *walk, const struct node *node, struct str field,
                       const struct projection_table *table,
                       const struct projection_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_own_column(table, columns[i].name))
            fault_error(walk->faults, "projection.column.taken", column_mark(node, columns[i].name),
                        "%.*s: %.*s is the name of its key, version or deletion", STR_ARG(field),
                        STR_ARG(columns[i].name));
    }
}

void projection_check_child(struct projection_walk *walk, struct str field, const struct node *node,
                            const struct projection_table *table,
                            const struct projection_child *child)
{
    const struct projection_columns columns = { child->columns, child->column_count, NULL, true };
    const struct node *each = node_get(node, STR("each"));

    projection_check_name(walk, mark_of(node, "ordinal"), STR("column"), child->ordinal);
    if (each != NULL && child->each.len > 0)
        projection_check_path(walk, each, field, child->each);
    check_values(walk, node, &columns);
    check_same(walk, node, field, table, child->columns, child->column_count);
    if (projection_column_find(&columns, child->ordinal) < columns.count ||
        is_own_column(table, child->ordinal))
        fault_error(walk->faults, "projection.column.taken", mark_of(node, "ordinal"),
                    "%.*s.ordinal: %.*s is another column", STR_ARG(field),
                    STR_ARG(child->ordinal));
}

/* A table without a column for the type shows one type. */
static void check_one_type(struct projection_walk *walk, struct str field, const struct node *node,
                           const struct projection_table *table)
{
    const struct str first = table->source_count > 0 && table->sources[0].aggregate_count > 0
                                 ? table->sources[0].aggregates[0]
                                 : (struct str){ 0 };

    for (size_t i = 0; i < table->source_count; i++) {
        for (size_t k = 0; k < table->sources[i].aggregate_count; k++) {
            const struct str aggregate = table->sources[i].aggregates[k];

            if (str_eq(aggregate, first) && str_find_char(aggregate, '*') == aggregate.len)
                continue;
            fault_error(walk->faults, "projection.key.type", mark_of(node, "key"),
                        "%.*s.key.type is none, but its events are of several aggregate types",
                        STR_ARG(field));
            return;
        }
    }
}

static void check_own_names(struct projection_walk *walk, struct str field, const struct node *node,
                            const struct projection_table *table)
{
    const struct str names[] = { table->type_column, table->id_column, table->version_column,
                                 table->deleted_column };
    static const char *const keys[] = { "key", "key", "version", "deleted" };

    for (size_t i = 0; i < 4; i++) {
        if (names[i].len > 0)
            projection_check_name(walk, mark_of(node, keys[i]), STR("column"), names[i]);
        for (size_t k = 0; k < i; k++) {
            if (names[i].len > 0 && str_eq(names[i], names[k]))
                fault_error(walk->faults, "projection.column.taken", mark_of(node, keys[i]),
                            "%.*s: %.*s is two of key, version and deletion", STR_ARG(field),
                            STR_ARG(names[i]));
        }
    }
}

/* A column that no source of events fills in. */
static void check_filled(struct projection_walk *walk, struct str field, const struct node *node,
                         const struct projection_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        bool is_filled = false;

        for (size_t k = 0; k < table->source_count; k++) {
            const struct projection_value *values = table->sources[k].values;

            is_filled |= values == NULL || values[i].path.len > 0 || values[i].template.len > 0;
        }
        if (is_filled || table->source_count == 0)
            continue;
        fault_error(walk->faults, "projection.column.empty",
                    column_mark(node, table->columns[i].name),
                    "%.*s.columns.%.*s has no path and no value", STR_ARG(field),
                    STR_ARG(table->columns[i].name));
        fault_hint(walk->faults, "write path: $.fields.%.*s", STR_ARG(table->columns[i].name));
    }
}

void projection_check_table(struct projection_walk *walk, struct str field, const struct node *node,
                            const struct projection_table *table)
{
    const struct projection_columns columns = { table->columns, table->column_count, table, false };

    check_own_names(walk, field, node, table);
    check_values(walk, node, &columns);
    check_same(walk, node, field, table, table->columns, table->column_count);
    check_filled(walk, field, node, table);
    if (table->type_column.len == 0)
        check_one_type(walk, field, node, table);
    if (table->on_delete == PROJECTION_ERASE && table->deleted_column.len > 0)
        fault_error(walk->faults, "projection.deleted", mark_of(node, "deleted"),
                    "%.*s.deleted is for on_delete: mark", STR_ARG(field));
    if (!table->is_managed && table->index_count > 0)
        fault_error(walk->faults, "projection.index", mark_of(node, "indexes"),
                    "%.*s.indexes: patra does not alter a table that is not managed",
                    STR_ARG(field));
}

void projection_check_tables(struct projection_walk *walk, const struct node *node,
                             const struct projection_spec *spec)
{
    struct str names[2 * PROJECTION_TABLES_MAX];
    size_t count = 0;

    for (size_t i = 0; i < spec->table_count; i++) {
        for (size_t k = 0; k <= spec->tables[i].child_count; k++) {
            if (count == PROJECTION_TABLES_MAX) {
                fault_error(walk->faults, "projection.limit", node->at,
                            "a projection has at most %d tables, children included",
                            PROJECTION_TABLES_MAX);
                return;
            }
            names[count] = k == 0 ? spec->tables[i].name : spec->tables[i].children[k - 1].name;
            for (size_t n = 0; n < count; n++) {
                if (str_eq_nocase(names[n], names[count]))
                    fault_error(walk->faults, "projection.table.twice", node->at,
                                "tables: %.*s is there twice", STR_ARG(names[count]));
            }
            count++;
        }
    }
}

/* ---- the file ---- */

void projection_check_top(struct projection_walk *walk, const struct node *node,
                          const struct projection_spec *spec)
{
    if (str_find(spec->database, STR("://")) < spec->database.len) {
        fault_error(walk->faults, "projection.database", mark_of(node, "database"),
                    "database must be store, env:NAME, file:PATH or the path of a SQLite file");
        fault_hint(walk->faults, "write the address into an environment variable or a file");
    }
    if (spec->schema.len > 0)
        projection_check_name(walk, mark_of(node, "schema"), STR("schema"), spec->schema);
    if (spec->retry_first_us > spec->retry_max_us)
        fault_error(walk->faults, "projection.retry", mark_of(node, "retry"),
                    "retry.first is longer than retry.max");
}
