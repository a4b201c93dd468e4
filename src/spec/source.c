/* Lookups in the rows of a source, and the places of its values in the file. */
#include "spec/source.h"

#include <assert.h>

#include "base/known_names.h"

static const struct str PARAM_PREFIX = STR_INIT("PARAM:");

const struct registry_row *source_row(const struct source *source, enum registry_table_id table,
                                      struct str endpoint, struct str key)
{
    for (size_t i = 0; i < source->registry.count; i++) {
        const struct registry_row *row = &source->registry.rows[i];

        if (row->table == table && str_eq(row->endpoint, endpoint) && str_eq(row->key, key))
            return row;
    }
    return NULL;
}

const struct registry_value *source_value(const struct source *source,
                                          const struct setting *setting, struct str endpoint,
                                          struct str key)
{
    const struct registry_row *row = source_row(source, setting->table, endpoint, key);
    const struct registry_value *value;

    if (row == NULL)
        return NULL;
    value = &row->values[setting_column(setting)];
    return value->is_set ? value : NULL;
}

/* The order of rows in a set: that of the file; keys decide between equal positions. */
static int order(const struct registry_row *a, const struct registry_row *b)
{
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    if (!str_eq(a->key, b->key))
        return str_cmp(a->key, b->key);
    return str_cmp(a->endpoint, b->endpoint);
}

static const struct registry_row *next_row(const struct source *source,
                                           enum registry_table_id table, const struct str *endpoint,
                                           struct str prefix, const struct registry_row *after)
{
    const struct registry_row *best = NULL;

    for (size_t i = 0; i < source->registry.count; i++) {
        const struct registry_row *row = &source->registry.rows[i];

        if (row->table != table || (endpoint != NULL && !str_eq(row->endpoint, *endpoint)) ||
            !str_starts(row->key, prefix) || (after != NULL && order(row, after) <= 0))
            continue;
        if (best == NULL || order(row, best) < 0)
            best = row;
    }
    return best;
}

const struct registry_row *source_next(const struct source *source, enum registry_table_id table,
                                       struct str endpoint, struct str prefix,
                                       const struct registry_row *after)
{
    return next_row(source, table, &endpoint, prefix, after);
}

const struct registry_row *source_next_endpoint(const struct source *source,
                                                const struct registry_row *after)
{
    return next_row(source, REGISTRY_ENDPOINT, NULL, STR(""), after);
}

const struct registry_row *source_next_operation(const struct source *source,
                                                 const struct registry_row *after)
{
    return next_row(source, REGISTRY_OPERATION, NULL, STR(""), after);
}

static const struct source_mark *mark_row(const struct source *source,
                                          const struct registry_row *row)
{
    if (source->marks == NULL || row == NULL)
        return NULL;
    assert(row >= source->registry.rows);
    assert(row < source->registry.rows + source->registry.count);
    return &source->marks[row - source->registry.rows];
}

bool source_lacks_operation(const struct source *source, struct str name, struct error *err)
{
    const struct registry_row *row = NULL;
    struct known_names known = { .count = 0 };
    char all[KNOWN_NAMES_TEXT_MAX];
    const char *near;

    while ((row = source_next_operation(source, row)) != NULL)
        known_names_add(&known, row->key);
    near = known_names_near(&known, name);
    return error_set(err, ERROR_REQUEST, "source.operation",
                     "%.*s has no operation '%.*s'%s%s%s; its operations: %s",
                     STR_ARG(source->registry.code), STR_ARG(name),
                     near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                     near != NULL ? "?" : "", known_names_text(&known, all));
}

bool source_lacks_param(const struct source *source, struct str name, struct error *err)
{
    const struct registry_row *row = NULL;
    struct known_names known = { .count = 0 };
    char all[KNOWN_NAMES_TEXT_MAX];
    const char *near;

    while ((row = source_next(source, REGISTRY_PARAM, STR(""), PARAM_PREFIX, row)) != NULL)
        known_names_add(&known, str_slice(row->key, PARAM_PREFIX.len, row->key.len));
    near = known_names_near(&known, name);
    return error_set(err, ERROR_REQUEST, "spec.override",
                     "params.%.*s: %.*s has no parameter '%.*s'%s%s%s; its parameters: %s",
                     STR_ARG(name), STR_ARG(source->registry.code), STR_ARG(name),
                     near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                     near != NULL ? "?" : "", known_names_text(&known, all));
}

bool source_is_broken(const struct source *source, const struct registry_row *row, int column)
{
    const struct source_mark *mark = mark_row(source, row);

    return mark != NULL && mark->nodes[column] != NULL && !row->values[column].is_set;
}

struct mark source_mark_of(const struct source *source, const struct registry_row *row, int column)
{
    const struct source_mark *mark = mark_row(source, row);

    if (mark == NULL)
        return source->at;
    if (column >= 0 && mark->nodes[column] != NULL)
        return mark->nodes[column]->at;
    return mark->at;
}

struct mark source_mark_in(const struct source *source, const struct registry_row *row, int column,
                           size_t offset)
{
    const struct source_mark *mark = mark_row(source, row);

    if (mark == NULL || column < 0 || mark->nodes[column] == NULL)
        return source_mark_of(source, row, column);
    return node_mark(mark->nodes[column], source->file, offset);
}
