/* Compiles the paths and templates of a spec. */
#include "engine/project/projector.h"

struct compiling {
    struct arena *arena;
    struct error *err;
};

static bool compile_path(const struct compiling *c, struct str text, const struct jsonpath **path)
{
    *path = NULL;
    return text.len == 0 || jsonpath_compile(c->arena, text, path, NULL, c->err);
}

static bool compile_template(const struct compiling *c, struct str text,
                             const struct template **out)
{
    struct template_faults faults;
    struct template *template;

    *out = NULL;
    if (text.len == 0)
        return true;
    template = ARENA_NEW(c->arena, struct template);
    if (template == NULL)
        return arena_error(c->arena, c->err);
    *out = template;
    return template_compile(template, c->arena, text, &faults, c->err);
}

static bool compile_values(const struct compiling *c, const struct projection_value *values,
                           size_t count, const struct projector_value **out)
{
    struct projector_value *items = ARENA_ARRAY(c->arena, struct projector_value, count);

    if (items == NULL)
        return arena_error(c->arena, c->err);
    for (size_t i = 0; i < count; i++) {
        if (!compile_path(c, values[i].path, &items[i].path) ||
            !compile_template(c, values[i].template, &items[i].template))
            return false;
    }
    *out = items;
    return true;
}

static bool compile_children(const struct compiling *c, const struct projection_table *table,
                             const struct projection_source *source,
                             const struct projector_child **out)
{
    struct projector_child *items =
        ARENA_ARRAY(c->arena, struct projector_child, table->child_count);

    if (items == NULL)
        return arena_error(c->arena, c->err);
    for (size_t i = 0; i < table->child_count; i++) {
        items[i].texts = source->children[i].values;
        if (!compile_path(c, source->children[i].each, &items[i].each) ||
            !compile_values(c, source->children[i].values, table->children[i].column_count,
                            &items[i].values))
            return false;
    }
    *out = items;
    return true;
}

static bool compile_source(const struct compiling *c, const struct projection_table *table,
                           const struct projection_source *source, struct projector_source *out)
{
    struct str where = { 0 };

    if (source->where.len > 0)
        where = arena_printf(c->arena, "$[?%.*s]", STR_ARG(source->where));
    if (source->where.len > 0 && where.data == NULL)
        return arena_error(c->arena, c->err);
    out->texts = source->values;
    return compile_path(c, where, &out->where) &&
           compile_values(c, source->values, table->column_count, &out->values) &&
           compile_children(c, table, source, &out->children);
}

static bool compile_table(const struct compiling *c, const struct projection_table *table,
                          struct projector_table *out)
{
    struct projector_source *sources =
        ARENA_ARRAY(c->arena, struct projector_source, table->source_count);

    if (sources == NULL)
        return arena_error(c->arena, c->err);
    for (size_t i = 0; i < table->source_count; i++) {
        if (!compile_source(c, table, &table->sources[i], &sources[i]))
            return error_wrap(c->err, "table %.*s", STR_ARG(table->name));
    }
    *out = (struct projector_table){ table, sources };
    return true;
}

bool project_compile(struct arena *arena, const struct projection_spec *spec,
                     const struct projector **projector, struct error *err)
{
    const struct compiling c = { arena, err };
    struct projector *made = ARENA_NEW(arena, struct projector);
    struct projector_table *tables = ARENA_ARRAY(arena, struct projector_table, spec->table_count);

    if (made == NULL || tables == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < spec->table_count; i++) {
        if (!compile_table(&c, &spec->tables[i], &tables[i]))
            return error_wrap(err, "projection %.*s", STR_ARG(spec->name));
    }
    *made = (struct projector){ spec, tables };
    *projector = made;
    return true;
}
