/* Values of references that select. */
#include "engine/source/source_select.h"

#include "base/list.h"

static const struct registry_value *value_in(const struct registry_row *row, const char *column)
{
    return &row->values[registry_column(row->table, str_of(column))];
}

static bool is_true(const struct registry_row *row, const char *column)
{
    const struct registry_value *value = value_in(row, column);

    return value->is_set && value->number != 0;
}

/* Without a value the default counts, as when a request is rendered. */
static bool hash_missing(const struct registry_row *row, struct selected *selected,
                         struct error *err)
{
    const struct registry_value *fallback = value_in(row, "default_value");
    const struct str text = fallback->text.len > 0 ? fallback->text : STR("");

    if (!fallback->is_set && is_true(row, "required"))
        return error_set(err, ERROR_REQUEST, "source.selects",
                         "params.%.*s selects records and has no value: set %.*s",
                         STR_ARG(selected->name), STR_ARG(value_in(row, "value")->text));
    return selected_hash(selected->name, fallback->is_set ? text : (struct str){ 0 },
                         selected->hash, err);
}

static bool hash_value(struct secret_source *secrets, const struct registry_row *row,
                       struct selected *selected, struct error *err)
{
    const struct str reference = value_in(row, "value")->text;
    struct secret secret;
    bool ok;

    if (secrets == NULL)
        return error_set(err, ERROR_REQUEST, "source.selects",
                         "params.%.*s selects records, and %.*s cannot be read here",
                         STR_ARG(selected->name), STR_ARG(reference));
    if (!secret_get(secrets, reference, &secret, err))
        return secret_error_is_missing(err) && hash_missing(row, selected, err);
    ok = selected_hash(selected->name, secret_str(&secret), selected->hash, err);
    secret_wipe(&secret);
    return ok;
}

bool source_select(struct arena *arena, struct secret_source *secrets, struct source *source,
                   struct error *err)
{
    const struct str prefix = STR("PARAM:");
    const struct registry_row *row = NULL;

    source->selected = (struct selected_list){ 0 };
    while ((row = source_next(source, REGISTRY_PARAM, STR(""), prefix, row)) != NULL) {
        struct selected *selected;

        if (!is_true(row, "selects") || !secret_is_reference(value_in(row, "value")->text))
            continue;
        selected = LIST_ADD(arena, &source->selected);
        if (selected == NULL)
            return arena_error(arena, err);
        *selected = (struct selected){ .name = str_slice(row->key, prefix.len, row->key.len) };
        if (!hash_value(secrets, row, selected, err))
            return false;
    }
    return true;
}
