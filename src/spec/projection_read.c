/* Reads a projection file: level by level into the spec, every fault with its place.
 *
 *      read_level()    settings of one map, by its table of rows
 *      read_columns()  ...and the parts that have a form of their own
 *
 * What a level says in itself is checked where it is read; projection_check.h looks at paths,
 * templates and names together. */
#include <string.h>

#include "base/suggest.h"
#include "spec/node.h"
#include "spec/projection.h"
#include "spec/projection_check.h"
#include "spec/projection_setting.h"
#include "spec/setting_member.h"
#include "spec/setting_value.h"

enum { NAMES_MAX = 64 };

/* ---- one level ---- */

static void report_unknown(struct projection_walk *walk, const struct projection_level *level,
                           const struct node_entry *entry, struct str field)
{
    const char *names[NAMES_MAX];
    const char *near;
    size_t count = 0;

    for (size_t i = 0; i < level->count; i++)
        names[count++] = level->rows[i].path;
    for (const struct projection_part *part = level->parts; part->name != NULL; part++)
        names[count++] = part->name;
    near = suggest(entry->key, names, count);
    fault_error(walk->faults, "projection.key.unknown", entry->at, "%.*s is not a known key",
                STR_ARG(field));
    if (near != NULL)
        fault_hint(walk->faults, "did you mean %s?", near);
    else
        fault_hint(walk->faults, "docs/projections.md lists all keys");
}

struct level_reading {
    struct projection_walk *walk;
    const struct projection_level *level;
    struct str field; /* "tables.works"; empty: the file */
    void *owner;
    bool is_given[PROJECTION_ROWS_MAX];
};

static struct str joined(struct arena *arena, struct str a, struct str b)
{
    return a.len == 0 ? b : arena_printf(arena, "%.*s.%.*s", STR_ARG(a), STR_ARG(b));
}

static void read_setting(struct level_reading *reading, const struct setting *row,
                         const struct node *node)
{
    struct projection_walk *walk = reading->walk;
    const struct value_reader reader = { walk->arena, walk->faults, walk->file,
                                         joined(walk->arena, reading->field, str_of(row->path)),
                                         row };
    struct registry_value value;

    reading->is_given[row - reading->level->rows] = true;
    if (setting_read(&reader, node, &value) &&
        !setting_put(walk->arena, row, &value, reading->owner))
        walk->faults->failed = true;
}

static bool is_group(const struct projection_level *level, struct str name)
{
    for (size_t i = 0; i < level->count; i++) {
        const struct str path = str_of(level->rows[i].path);

        if (path.len > name.len && path.data[name.len] == '.' && str_starts(path, name))
            return true;
    }
    return false;
}

static bool is_part(const struct projection_level *level, struct str name)
{
    for (const struct projection_part *part = level->parts; part->name != NULL; part++) {
        if (str_eq(str_of(part->name), name))
            return true;
    }
    return false;
}

static bool is_map(struct projection_walk *walk, const struct node *node, struct str field)
{
    if (node->is_broken)
        return false;
    if (node->kind == NODE_MAP)
        return true;
    fault_error(walk->faults, "projection.type", node->at, "%.*s must be a map",
                STR_ARG(field.len > 0 ? field : STR("a projection file")));
    return false;
}

static void read_entries(struct level_reading *reading, struct str group, const struct node *map)
{
    struct projection_walk *walk = reading->walk;

    for (size_t i = 0; i < map->count; i++) {
        const struct node_entry *entry = &map->entries[i];
        const struct str path = joined(walk->arena, group, entry->key);
        const struct str field = joined(walk->arena, reading->field, path);
        const struct setting *row = projection_setting_find(reading->level, path);

        if (field.data == NULL)
            walk->faults->failed = true;
        else if (row != NULL)
            read_setting(reading, row, entry->value);
        else if (group.len == 0 && is_group(reading->level, entry->key)) {
            if (is_map(walk, entry->value, field))
                read_entries(reading, entry->key, entry->value);
        } else if (group.len > 0 || !is_part(reading->level, entry->key))
            report_unknown(walk, reading->level, entry, field);
    }
}

static void fill_defaults(struct level_reading *reading, struct mark at)
{
    struct projection_walk *walk = reading->walk;

    for (size_t i = 0; i < reading->level->count; i++) {
        const struct setting *row = &reading->level->rows[i];
        struct registry_value value;

        if (reading->is_given[i])
            continue;
        if (row->is_required) {
            fault_error(walk->faults, "projection.required", at, "%.*s is missing",
                        STR_ARG(joined(walk->arena, reading->field, str_of(row->path))));
            fault_hint(walk->faults, "%s", row->help);
        } else if (!setting_builtin(walk->arena, row, &value) ||
                   !setting_put(walk->arena, row, &value, reading->owner)) {
            walk->faults->failed = true;
        }
    }
}

/* The settings of a map. False: it is not a map. */
static bool read_level(struct projection_walk *walk, const struct projection_level *level,
                       struct str field, const struct node *map, void *owner)
{
    struct level_reading reading = { walk, level, field, owner, { false } };

    if (!is_map(walk, map, field))
        return false;
    read_entries(&reading, (struct str){ 0 }, map);
    fill_defaults(&reading, map->at);
    return true;
}

/* A part of a level that must be a map of names; NULL: it is not there, or has a fault. */
static const struct node *part_map(struct projection_walk *walk, const struct node *map,
                                   const char *name, struct str field)
{
    const struct node *part = node_get(map, str_of(name));

    return part != NULL && is_map(walk, part, joined(walk->arena, field, str_of(name))) ? part
                                                                                        : NULL;
}

static void *list_of(struct projection_walk *walk, size_t count, size_t size)
{
    void *items = arena_alloc_array(walk->arena, count, size);

    if (items == NULL)
        walk->faults->failed = true;
    else if (count > 0)
        memset(items, 0, count * size);
    return items;
}

/* ---- columns ---- */

/* A path, or with "${" a template. */
static struct projection_value value_of(struct str text)
{
    return str_find(text, STR("${")) < text.len ? (struct projection_value){ .template = text }
                                                : (struct projection_value){ .path = text };
}

static void read_column(struct projection_walk *walk, struct str field, const struct node *node,
                        struct projection_column *column)
{
    if (node->kind == NODE_SCALAR && !node->is_broken) {
        column->type = FIELD_TEXT;
        column->value = value_of(node->text);
        return;
    }
    (void)read_level(walk, &PROJECTION_COLUMN, field, node, column);
}

static void read_columns(struct projection_walk *walk, struct str field, const struct node *map,
                         const struct projection_column **columns, size_t *count)
{
    const struct node *part = part_map(walk, map, "columns", field);
    struct projection_column *items;

    if (part == NULL)
        return;
    if (part->count > PROJECTION_COLUMNS_MAX) {
        fault_error(walk->faults, "projection.limit", part->at, "%.*s.columns has more than %d",
                    STR_ARG(field), PROJECTION_COLUMNS_MAX);
        return;
    }
    items = list_of(walk, part->count, sizeof(*items));
    if (items == NULL)
        return;
    for (size_t i = 0; i < part->count; i++) {
        const struct str name =
            joined(walk->arena, field,
                   arena_printf(walk->arena, "columns.%.*s", STR_ARG(part->entries[i].key)));

        items[i].name = part->entries[i].key;
        projection_check_name(walk, part->entries[i].at, STR("column"), items[i].name);
        read_column(walk, name, part->entries[i].value, &items[i]);
        projection_check_column(walk, name, part->entries[i].value, &items[i]);
    }
    *columns = items;
    *count = part->count;
}

/* The columns of a source of events: values by the name of a column. */
static const struct projection_value *read_values(struct projection_walk *walk, struct str field,
                                                  const struct node *map,
                                                  const struct projection_columns *columns)
{
    const struct node *part = map != NULL ? part_map(walk, map, "columns", field) : NULL;
    struct projection_value *values = list_of(walk, columns->count, sizeof(*values));

    if (values == NULL)
        return NULL;
    for (size_t i = 0; i < columns->count; i++)
        values[i] = columns->items[i].value;
    for (size_t i = 0; part != NULL && i < part->count; i++) {
        const struct node_entry *entry = &part->entries[i];
        const size_t at = projection_column_find(columns, entry->key);

        if (at == columns->count) {
            fault_error(walk->faults, "projection.column.unknown", entry->at,
                        "%.*s.columns.%.*s: the table has no such column", STR_ARG(field),
                        STR_ARG(entry->key));
        } else if (entry->value->kind != NODE_SCALAR) {
            fault_error(walk->faults, "projection.type", entry->value->at,
                        "%.*s.columns.%.*s must be a path or a template", STR_ARG(field),
                        STR_ARG(entry->key));
            fault_hint(walk->faults, "its type is that of the table's column");
        } else {
            values[at] = value_of(entry->value->text);
            projection_check_value(walk, entry->value, &values[at], columns, at);
        }
    }
    return values;
}

/* ---- indexes ---- */

static void read_index(struct projection_walk *walk, struct str field, const struct node *node,
                       const struct projection_columns *columns, struct projection_index *index)
{
    const size_t count = node->kind == NODE_LIST ? node->count : 1;
    struct str *names = list_of(walk, count, sizeof(*names));

    for (size_t i = 0; names != NULL && i < count; i++) {
        const struct node *item = node->kind == NODE_LIST ? node->entries[i].value : node;

        if (item->kind != NODE_SCALAR || !projection_has_column(columns, item->text)) {
            fault_error(walk->faults, "projection.index", item->at,
                        "%.*s.indexes: an item is a column of the table, or a list of them",
                        STR_ARG(field));
            return;
        }
        names[i] = item->text;
    }
    *index = (struct projection_index){ names, count };
}

static void read_indexes(struct projection_walk *walk, struct str field, const struct node *map,
                         const struct projection_columns *columns,
                         const struct projection_index **indexes, size_t *count)
{
    const struct node *part = node_get(map, STR("indexes"));
    struct projection_index *items;

    if (part == NULL || part->is_broken)
        return;
    if (part->kind != NODE_LIST) {
        fault_error(walk->faults, "projection.type", part->at, "%.*s.indexes must be a list",
                    STR_ARG(field));
        return;
    }
    items = list_of(walk, part->count, sizeof(*items));
    for (size_t i = 0; items != NULL && i < part->count; i++)
        read_index(walk, field, part->entries[i].value, columns, &items[i]);
    *indexes = items;
    *count = items != NULL ? part->count : 0;
}

/* ---- children ---- */

static void read_children(struct projection_walk *walk, struct str field, const struct node *map,
                          struct projection_table *table)
{
    const struct node *part = part_map(walk, map, "children", field);
    struct projection_child *items;

    if (part == NULL || (items = list_of(walk, part->count, sizeof(*items))) == NULL)
        return;
    for (size_t i = 0; i < part->count; i++) {
        const struct node_entry *entry = &part->entries[i];
        const struct str name =
            arena_printf(walk->arena, "%.*s.children.%.*s", STR_ARG(field), STR_ARG(entry->key));
        struct projection_columns columns = { .is_child = true };

        items[i].name = entry->key;
        projection_check_name(walk, entry->at, STR("table"), entry->key);
        if (!read_level(walk, &PROJECTION_CHILD, name, entry->value, &items[i]))
            continue;
        read_columns(walk, name, entry->value, &items[i].columns, &items[i].column_count);
        columns.items = items[i].columns;
        columns.count = items[i].column_count;
        read_indexes(walk, name, entry->value, &columns, &items[i].indexes, &items[i].index_count);
        projection_check_child(walk, name, entry->value, table, &items[i]);
    }
    table->children = items;
    table->child_count = part->count;
}

static void report_children(struct projection_walk *walk, struct str field, const struct node *part,
                            const struct projection_table *table)
{
    for (size_t i = 0; i < part->count; i++) {
        bool is_known = false;

        for (size_t k = 0; k < table->child_count; k++)
            is_known |= str_eq(table->children[k].name, part->entries[i].key);
        if (!is_known)
            fault_error(walk->faults, "projection.child.unknown", part->entries[i].at,
                        "%.*s.children.%.*s: the table has no such child", STR_ARG(field),
                        STR_ARG(part->entries[i].key));
    }
}

/* What a source of events says of the children of its table. */
static const struct projection_child_source *
read_child_sources(struct projection_walk *walk, struct str field, const struct node *map,
                   const struct projection_table *table)
{
    const struct node *part = part_map(walk, map, "children", field);
    struct projection_child_source *items = list_of(walk, table->child_count, sizeof(*items));

    for (size_t i = 0; items != NULL && i < table->child_count; i++) {
        const struct projection_child *child = &table->children[i];
        const struct projection_columns columns = { child->columns, child->column_count, NULL,
                                                    true };
        const struct str name =
            arena_printf(walk->arena, "%.*s.children.%.*s", STR_ARG(field), STR_ARG(child->name));
        const struct node *own = part != NULL ? node_get(part, child->name) : NULL;
        const struct node *each = NULL;

        if (own != NULL && !is_map(walk, own, name))
            own = NULL;
        if (own != NULL)
            each = node_get(own, STR("each"));
        items[i].each = each != NULL && each->kind == NODE_SCALAR ? each->text : child->each;
        if (each != NULL)
            projection_check_path(walk, each, name, items[i].each);
        items[i].values = read_values(walk, name, own, &columns);
        for (size_t k = 0; own != NULL && k < own->count; k++) {
            if (!str_eq(own->entries[k].key, STR("each")) &&
                !str_eq(own->entries[k].key, STR("columns")))
                fault_error(walk->faults, "projection.key.unknown", own->entries[k].at,
                            "%.*s.%.*s is not a known key: each and columns are", STR_ARG(name),
                            STR_ARG(own->entries[k].key));
        }
    }
    if (part != NULL)
        report_children(walk, field, part, table);
    return items;
}

/* ---- sources of events ---- */

static void read_sources(struct projection_walk *walk, struct str field, const struct node *map,
                         struct projection_table *table)
{
    const struct node *part = node_get(map, STR("from"));
    const struct projection_columns columns = { table->columns, table->column_count, table, false };
    struct projection_source *items;

    if (part == NULL || part->is_broken || part->kind != NODE_LIST || part->count == 0) {
        if (part == NULL || !part->is_broken) {
            fault_error(walk->faults, "projection.required", part == NULL ? map->at : part->at,
                        "%.*s.from must be a list: whose events the table shows", STR_ARG(field));
            fault_hint(walk->faults, "write from: [{ aggregates: [crossref/works] }]");
        }
        return;
    }
    items = list_of(walk, part->count, sizeof(*items));
    for (size_t i = 0; items != NULL && i < part->count; i++) {
        const struct node *node = part->entries[i].value;
        const struct str name = arena_printf(walk->arena, "%.*s.from[%zu]", STR_ARG(field), i);

        if (!read_level(walk, &PROJECTION_SOURCE, name, node, &items[i]))
            continue;
        items[i].values = read_values(walk, name, node, &columns);
        items[i].children = read_child_sources(walk, name, node, table);
        projection_check_source(walk, name, node, table, &items[i]);
    }
    table->sources = items;
    table->source_count = items != NULL ? part->count : 0;
}

/* ---- tables ---- */

static void read_table(struct projection_walk *walk, const struct node_entry *entry,
                       struct projection_table *table)
{
    const struct str field = joined(walk->arena, STR("tables"), entry->key);
    struct projection_columns columns = { .table = table };

    table->name = entry->key;
    projection_check_name(walk, entry->at, STR("table"), entry->key);
    if (!read_level(walk, &PROJECTION_TABLE, field, entry->value, table))
        return;
    if (str_eq(table->type_column, PROJECTION_NO_TYPE))
        table->type_column = (struct str){ 0 };
    if (table->on_delete == PROJECTION_MARK && table->deleted_column.len == 0)
        table->deleted_column = STR("deleted");
    read_columns(walk, field, entry->value, &table->columns, &table->column_count);
    columns.items = table->columns;
    columns.count = table->column_count;
    read_indexes(walk, field, entry->value, &columns, &table->indexes, &table->index_count);
    read_children(walk, field, entry->value, table);
    read_sources(walk, field, entry->value, table);
    projection_check_table(walk, field, entry->value, table);
}

static void read_tables(struct projection_walk *walk, const struct node *map,
                        struct projection_spec *spec)
{
    const struct node *part = part_map(walk, map, "tables", (struct str){ 0 });
    struct projection_table *tables;

    if (part == NULL || part->count == 0) {
        if (node_get(map, STR("tables")) == NULL || part != NULL)
            fault_error(walk->faults, "projection.required", map->at, "tables is missing");
        return;
    }
    if (part->count > PROJECTION_TABLES_MAX) {
        fault_error(walk->faults, "projection.limit", part->at,
                    "a projection has at most %d tables", PROJECTION_TABLES_MAX);
        return;
    }
    tables = list_of(walk, part->count, sizeof(*tables));
    for (size_t i = 0; tables != NULL && i < part->count; i++)
        read_table(walk, &part->entries[i], &tables[i]);
    spec->tables = tables;
    spec->table_count = tables != NULL ? part->count : 0;
    projection_check_tables(walk, part, spec);
}

bool projection_read(struct arena *arena, struct str file, struct fault_list *faults,
                     struct projection_spec *spec)
{
    struct projection_walk walk = { arena, faults, file };
    const size_t before = faults->errors;
    const struct node *tree;

    *spec = (struct projection_spec){ 0 };
    if (file.len > PROJECTION_FILE_BYTES_MAX) {
        fault_error(faults, "projection.limit", (struct mark){ 0 },
                    "a projection file has at most %d bytes", PROJECTION_FILE_BYTES_MAX);
        return false;
    }
    tree = node_read(arena, file, faults);
    if (tree == NULL || !read_level(&walk, &PROJECTION_TOP, (struct str){ 0 }, tree, spec))
        return false;
    projection_check_top(&walk, tree, spec);
    read_tables(&walk, tree, spec);
    return faults->errors == before && !faults->failed;
}
