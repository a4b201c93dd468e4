/* Views from the rows of a source. */
#include "spec/source_views.h"

#include "base/list.h"
#include "spec/record_home.h"

#define OUTPUT_KEY STR("OUTPUT:")

struct str field_name(const struct registry_row *row)
{
    return str_slice(row->key, OUTPUT_KEY.len, row->key.len);
}

static const struct registry_value *value_of(const struct registry_row *row, struct str column)
{
    return &row->values[registry_column(row->table, column)];
}

enum field_type field_type_of(const struct registry_row *row)
{
    const struct registry_value *value = value_of(row, STR("type"));
    const int type = value->is_set ? code_find(&FIELD_TYPE_CODES, value->text) : FIELD_ANY;

    return type < 0 ? FIELD_ANY : (enum field_type)type;
}

bool field_is_list(const struct registry_row *row)
{
    return value_of(row, STR("list"))->number != 0;
}

static struct record_view *view_of(struct arena *arena, const struct source *source,
                                   struct str endpoint, struct record_view_list *views)
{
    struct record_view *view;

    for (size_t i = 0; i < views->count; i++) {
        if (str_eq(views->items[i].endpoint, endpoint))
            return &views->items[i];
    }
    view = LIST_ADD(arena, views);
    if (view != NULL)
        *view = (struct record_view){ .source = source->registry.code, .endpoint = endpoint };
    return view;
}

static bool has_column(const struct record_view *view, struct str name)
{
    for (size_t i = 0; i < view->count; i++) {
        if (str_eq(view->items[i].name, name))
            return true;
    }
    return false;
}

static bool add_field(struct arena *arena, struct record_view *view, const struct registry_row *row,
                      struct error *err)
{
    const struct str name = view_column_name(arena, field_name(row));
    struct view_column *column;

    if (name.data == NULL)
        return arena_error(arena, err);
    if (has_column(view, name))
        return true;
    column = LIST_ADD(arena, view);
    if (column == NULL)
        return arena_error(arena, err);
    *column = (struct view_column){ .name = name,
                                    .type = field_type_of(row),
                                    .is_list = field_is_list(row) };
    column->key = view_key(arena, field_name(row), column->type, column->is_list);
    return column->key.data != NULL || arena_error(arena, err);
}

/* By id come further records of an endpoint that has its fields already. */
static bool add_operations(struct arena *arena, const struct source *source, bool are_by_id,
                           struct record_view_list *views, struct error *err)
{
    const struct registry_row *operation = NULL;

    while ((operation = source_next_operation(source, operation)) != NULL) {
        const struct record_home home = record_home(source, operation);
        const struct registry_row *row = NULL;
        struct record_view *view;

        if (operation_is_by_id(operation) != are_by_id || home.endpoint.len == 0)
            continue;
        view = view_of(arena, source, home.endpoint, views);
        if (view == NULL)
            return arena_error(arena, err);
        while ((row = source_next(source, REGISTRY_FIELD, home.bearer, OUTPUT_KEY, row)) != NULL) {
            if (!add_field(arena, view, row, err))
                return false;
        }
    }
    return true;
}

bool source_views(struct arena *arena, const struct source *source, struct record_view_list *views,
                  struct error *err)
{
    *views = (struct record_view_list){ 0 };
    return add_operations(arena, source, false, views, err) &&
           add_operations(arena, source, true, views, err);
}
