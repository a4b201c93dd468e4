/* The stored form of a projection, and what people see of it. */
#include "spec/projection.h"

#include "base/list.h"
#include "data/json.h"
#include "data/json_write.h"
#include "spec/projection_setting.h"
#include "spec/setting_member.h"
#include "spec/setting_value.h"

/* ---- the stored form ---- */

struct writing {
    struct arena *arena;
    struct json_writer w;
};

/* The members of a level; the caller begins and ends the object. */
static void write_level(struct writing *writing, const struct projection_level *level,
                        const void *owner)
{
    struct setting_writer writer = { .arena = writing->arena, .w = &writing->w };

    for (size_t i = 0; i < level->count; i++)
        setting_writer_add(&writer, &level->rows[i], owner);
    setting_writer_end(&writer);
}

static void write_columns(struct writing *writing, const struct projection_column *columns,
                          size_t count)
{
    if (count == 0)
        return;
    json_write_name(&writing->w, STR("columns"));
    json_write_object(&writing->w);
    for (size_t i = 0; i < count; i++) {
        json_write_name(&writing->w, columns[i].name);
        json_write_object(&writing->w);
        write_level(writing, &PROJECTION_COLUMN, &columns[i]);
        json_write_end(&writing->w);
    }
    json_write_end(&writing->w);
}

static void write_indexes(struct writing *writing, const struct projection_index *indexes,
                          size_t count)
{
    if (count == 0)
        return;
    json_write_name(&writing->w, STR("indexes"));
    json_write_array(&writing->w);
    for (size_t i = 0; i < count; i++) {
        json_write_array(&writing->w);
        for (size_t k = 0; k < indexes[i].count; k++)
            json_write_str(&writing->w, indexes[i].columns[k]);
        json_write_end(&writing->w);
    }
    json_write_end(&writing->w);
}

static struct str text_of(const struct projection_value *value)
{
    return value->template.len > 0 ? value->template : value->path;
}

static bool is_same(const struct projection_value *a, const struct projection_value *b)
{
    return str_eq(a->path, b->path) && str_eq(a->template, b->template);
}

/* Those that are not the columns' own. */
static void write_values(struct writing *writing, const struct projection_column *columns,
                         size_t count, const struct projection_value *values)
{
    bool is_open = false;

    for (size_t i = 0; i < count; i++) {
        if (is_same(&values[i], &columns[i].value))
            continue;
        if (!is_open) {
            json_write_name(&writing->w, STR("columns"));
            json_write_object(&writing->w);
        }
        is_open = true;
        json_write_member_str(&writing->w, columns[i].name, text_of(&values[i]));
    }
    if (is_open)
        json_write_end(&writing->w);
}

static bool has_own(const struct projection_child *child,
                    const struct projection_child_source *source)
{
    bool has = !str_eq(child->each, source->each);

    for (size_t i = 0; i < child->column_count; i++)
        has |= !is_same(&child->columns[i].value, &source->values[i]);
    return has;
}

static void write_child_sources(struct writing *writing, const struct projection_table *table,
                                const struct projection_source *source)
{
    bool is_open = false;

    for (size_t i = 0; i < table->child_count; i++) {
        const struct projection_child *child = &table->children[i];
        const struct projection_child_source *own = &source->children[i];

        if (!has_own(child, own))
            continue;
        if (!is_open) {
            json_write_name(&writing->w, STR("children"));
            json_write_object(&writing->w);
        }
        is_open = true;
        json_write_name(&writing->w, child->name);
        json_write_object(&writing->w);
        if (!str_eq(child->each, own->each))
            json_write_member_str(&writing->w, STR("each"), own->each);
        write_values(writing, child->columns, child->column_count, own->values);
        json_write_end(&writing->w);
    }
    if (is_open)
        json_write_end(&writing->w);
}

static void write_sources(struct writing *writing, const struct projection_table *table)
{
    json_write_name(&writing->w, STR("from"));
    json_write_array(&writing->w);
    for (size_t i = 0; i < table->source_count; i++) {
        json_write_object(&writing->w);
        write_level(writing, &PROJECTION_SOURCE, &table->sources[i]);
        write_values(writing, table->columns, table->column_count, table->sources[i].values);
        write_child_sources(writing, table, &table->sources[i]);
        json_write_end(&writing->w);
    }
    json_write_end(&writing->w);
}

static void write_children(struct writing *writing, const struct projection_table *table)
{
    if (table->child_count == 0)
        return;
    json_write_name(&writing->w, STR("children"));
    json_write_object(&writing->w);
    for (size_t i = 0; i < table->child_count; i++) {
        const struct projection_child *child = &table->children[i];

        json_write_name(&writing->w, child->name);
        json_write_object(&writing->w);
        write_level(writing, &PROJECTION_CHILD, child);
        write_columns(writing, child->columns, child->column_count);
        write_indexes(writing, child->indexes, child->index_count);
        json_write_end(&writing->w);
    }
    json_write_end(&writing->w);
}

static void write_table(struct writing *writing, const struct projection_table *table)
{
    struct projection_table shown = *table;

    if (shown.type_column.len == 0)
        shown.type_column = PROJECTION_NO_TYPE;
    json_write_name(&writing->w, table->name);
    json_write_object(&writing->w);
    write_level(writing, &PROJECTION_TABLE, &shown);
    write_columns(writing, table->columns, table->column_count);
    write_indexes(writing, table->indexes, table->index_count);
    write_sources(writing, table);
    write_children(writing, table);
    json_write_end(&writing->w);
}

bool projection_compile(struct arena *arena, const struct projection_spec *spec,
                        struct projection_text *text, struct error *err)
{
    struct writing writing = { .arena = arena };
    struct hash_sum sum;
    struct buf out;

    buf_init(&out, arena, (size_t)4 * PROJECTION_FILE_BYTES_MAX);
    json_writer_init(&writing.w, &out);
    json_write_object(&writing.w);
    write_level(&writing, &PROJECTION_TOP, spec);
    json_write_name(&writing.w, STR("tables"));
    json_write_object(&writing.w);
    for (size_t i = 0; i < spec->table_count; i++)
        write_table(&writing, &spec->tables[i]);
    json_write_end(&writing.w);
    json_write_end(&writing.w);
    if (!buf_ok(&out, err))
        return false;
    json_writer_finish(&writing.w);
    text->json = buf_str(&out);
    if (!hash_of(text->json, &sum, err))
        return false;
    hash_hex(&sum, text->hash);
    return true;
}

bool projection_load(struct arena *arena, struct str json, struct projection_spec *spec,
                     struct error *err)
{
    struct projection_text again;
    struct fault_list faults;

    fault_list_init(&faults, arena);
    if (!projection_read(arena, json, &faults, spec)) {
        const struct str first = faults.count > 0 ? faults.items[0].message : STR("no reason");

        if (faults.failed)
            return arena_error(arena, err);
        return error_set(err, ERROR_FATAL, "projection.spec",
                         "the stored description of the projection is not valid: %.*s",
                         STR_ARG(first));
    }
    if (!projection_compile(arena, spec, &again, err))
        return false;
    return str_eq(again.json, json) ||
           error_set(err, ERROR_FATAL, "projection.spec",
                     "the stored description of the projection %.*s is not what patra writes: "
                     "apply its file again",
                     STR_ARG(spec->name));
}

/* ---- for people ---- */

struct leaf { /* a value of a stored form, with the way to it */
    struct str path;
    struct str value;
};

struct leaf_list {
    struct leaf *items;
    size_t count;
};

struct flattening {
    struct arena *arena;
    const struct json_doc *doc;
    struct leaf_list *list;
    struct error *err;
};

static bool is_inner(const struct flattening *flat, struct json_node node)
{
    const enum json_type type = json_type(flat->doc, node);

    return type == JSON_OBJECT ||
           (type == JSON_ARRAY && json_type(flat->doc, json_at(flat->doc, node, 0)) == JSON_OBJECT);
}

/* Lists of texts are leaves, lists of maps are not. The depth is that of a file. */
static bool flatten(const struct flattening *flat, struct str path, struct json_node node)
{
    struct leaf *leaf;

    if (is_inner(flat, node)) {
        for (struct json_iter it = json_each(flat->doc, node); json_next(&it);) {
            const struct str part =
                json_exists(it.name) ? json_string_raw(flat->doc, it.name) : STR("");
            const struct str deeper =
                json_exists(it.name)
                    ? arena_printf(flat->arena, "%.*s%s%.*s", STR_ARG(path),
                                   path.len > 0 ? "." : "", STR_ARG(part))
                    : arena_printf(flat->arena, "%.*s[%zu]", STR_ARG(path), it.index);

            if (deeper.data == NULL || !flatten(flat, deeper, it.value))
                return arena_error(flat->arena, flat->err);
        }
        return true;
    }
    leaf = LIST_ADD(flat->arena, flat->list);
    if (leaf == NULL)
        return arena_error(flat->arena, flat->err);
    leaf->path = path;
    leaf->value = json_raw(flat->doc, node);
    if (json_type(flat->doc, node) == JSON_STRING)
        return json_string(flat->doc, node, flat->arena, &leaf->value, flat->err);
    return true;
}

static bool leaves_of(struct arena *arena, struct str json, struct leaf_list *list,
                      struct error *err)
{
    struct json_doc doc;
    const struct flattening flat = { arena, &doc, list, err };

    *list = (struct leaf_list){ 0 };
    return json.len == 0 || (json_parse(&doc, arena, json, err) &&
                             flatten(&flat, (struct str){ 0 }, json_root(&doc)));
}

static const struct leaf *leaf_of(const struct leaf_list *list, struct str path)
{
    for (size_t i = 0; i < list->count; i++) {
        if (str_eq(list->items[i].path, path))
            return &list->items[i];
    }
    return NULL;
}

bool projection_diff(struct arena *arena, struct str old, struct str new, struct buf *out,
                     size_t *count, struct error *err)
{
    struct leaf_list before, after;

    *count = 0;
    if (!leaves_of(arena, old, &before, err) || !leaves_of(arena, new, &after, err))
        return false;
    for (size_t i = 0; i < before.count; i++) {
        if (leaf_of(&after, before.items[i].path) != NULL)
            continue;
        buf_printf(out, "- %.*s: %.*s\n", STR_ARG(before.items[i].path),
                   STR_ARG(before.items[i].value));
        (*count)++;
    }
    for (size_t i = 0; i < after.count; i++) {
        const struct leaf *was = leaf_of(&before, after.items[i].path);

        if (was != NULL && str_eq(was->value, after.items[i].value))
            continue;
        buf_printf(out, "%c %.*s: ", was != NULL ? '~' : '+', STR_ARG(after.items[i].path));
        if (was != NULL)
            buf_printf(out, "%.*s -> ", STR_ARG(was->value));
        buf_printf(out, "%.*s\n", STR_ARG(after.items[i].value));
        (*count)++;
    }
    return buf_ok(out, err);
}

struct printing {
    struct arena *arena;
    const struct json_doc *doc;
    struct buf *out;
    struct error *err;
};

static bool print_scalar(const struct printing *p, struct json_node node)
{
    struct str text = json_raw(p->doc, node);

    if (json_type(p->doc, node) != JSON_STRING) {
        buf_add(p->out, text); /* numbers, truth, and lists of texts are YAML as they are */
        return true;
    }
    if (!json_string(p->doc, node, p->arena, &text, p->err))
        return false;
    setting_print_text(text, p->out);
    return true;
}

static bool print_node(const struct printing *p, struct json_node node, int depth)
{
    const struct flattening flat = { p->arena, p->doc, NULL, p->err };
    bool is_item = json_type(p->doc, node) == JSON_ARRAY;

    for (struct json_iter it = json_each(p->doc, node); json_next(&it);) {
        if (is_item) {
            buf_printf(p->out, "%*s-\n", depth, "");
        } else {
            buf_printf(p->out, "%*s%.*s:", depth, "", STR_ARG(json_string_raw(p->doc, it.name)));
            buf_add_char(p->out, is_inner(&flat, it.value) ? '\n' : ' ');
        }
        if (is_inner(&flat, it.value)) {
            if (!print_node(p, it.value, depth + 2))
                return false;
        } else {
            if (!print_scalar(p, it.value))
                return false;
            buf_add_char(p->out, '\n');
        }
    }
    return true;
}

bool projection_print(struct arena *arena, struct str json, struct buf *out, struct error *err)
{
    struct json_doc doc;
    const struct printing p = { arena, &doc, out, err };

    return json_parse(&doc, arena, json, err) && print_node(&p, json_root(&doc), 0) &&
           buf_ok(out, err);
}
