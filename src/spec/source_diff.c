/* The difference between two sets of rows, and how it and the fields of a row are printed. */
#include "spec/source_diff.h"

#include <string.h>

#include "spec/setting_value.h"

static enum setting_level level_of(const struct registry_row *row)
{
    if (row->table == REGISTRY_OPERATION)
        return AT_OPERATION;
    return row->endpoint.len > 0 ? AT_ENDPOINT : AT_SOURCE;
}

/* The part of a row's key that the author chose, or false when the key is not of this pattern. */
static bool match_key(const struct setting *setting, const struct registry_row *row,
                      struct str *name)
{
    const struct str pattern = setting->key != NULL ? str_of(setting->key) : STR("");
    const size_t star = str_find_char(pattern, '*');

    *name = (struct str){ 0 };
    if (row->table == REGISTRY_OPERATION)
        *name = row->key;
    else if (star == pattern.len)
        return str_eq(row->key, pattern);
    else if (!str_starts(row->key, str_slice(pattern, 0, star)) || row->key.len == star)
        return false;
    else
        *name = str_slice(row->key, star, row->key.len);
    return true;
}

const struct setting *source_setting(const struct registry_row *row, int column)
{
    struct str name;

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting *setting = &SETTINGS[i];

        if (setting->table == row->table && (setting->at & level_of(row)) != 0 &&
            (column < 0 || setting_column(setting) == column) && match_key(setting, row, &name))
            return setting;
    }
    return NULL;
}

static void print_path(const struct setting *setting, struct str name, bool is_whole,
                       struct buf *out)
{
    struct str rest = str_of(setting->path);
    const char *dot = "";

    while (rest.len > 0) {
        const struct str part = str_cut(&rest, '.');

        if (rest.len == 0 && (setting->is_short || is_whole))
            return;
        if (str_eq(part, STR("*")) && setting->is_list)
            buf_printf(out, "[%.*s]", STR_ARG(name));
        else
            buf_printf(out, "%s%.*s", dot, STR_ARG(str_eq(part, STR("*")) ? name : part));
        dot = ".";
    }
}

void source_print_field(const struct registry_row *row, int column, struct buf *out)
{
    const struct setting *setting = source_setting(row, column);
    struct str name = { 0 };

    if (setting == NULL) {
        buf_printf(out, "%s.%.*s", registry_table(row->table)->name, STR_ARG(row->key));
        return;
    }
    (void)match_key(setting, row, &name);
    if (row->table == REGISTRY_OPERATION)
        buf_printf(out, "operations.%.*s", STR_ARG(row->key));
    else if (row->endpoint.len > 0)
        buf_printf(out, "endpoints.%.*s", STR_ARG(row->endpoint));
    else if (column < 0 && row->table == REGISTRY_PROVENANCE)
        buf_add(out, STR("source"));
    if (column < 0 && (row->table == REGISTRY_OPERATION || row->table == REGISTRY_ENDPOINT))
        return;
    if (row->table == REGISTRY_OPERATION || row->endpoint.len > 0)
        buf_add_char(out, '.');
    print_path(setting, name, column < 0, out);
}

static bool add(struct arena *arena, struct source_diff *diff, size_t *capacity,
                struct source_change change, struct error *err)
{
    if (diff->count == *capacity) {
        const size_t more = *capacity > 0 ? 2 * *capacity : 32;

        diff->items =
            arena_grow(arena, diff->items, *capacity * sizeof(change), more * sizeof(change));
        if (diff->items == NULL)
            return arena_error(arena, err);
        *capacity = more;
    }
    diff->items[diff->count++] = change;
    return true;
}

bool source_diff(struct arena *arena, const struct source *old, const struct source *new,
                 struct source_diff *diff, struct error *err)
{
    size_t capacity = 0;

    *diff = (struct source_diff){ 0 };
    for (size_t i = 0; i < old->registry.count; i++) {
        const struct registry_row *row = &old->registry.rows[i];
        const struct registry_row *twin = source_row(new, row->table, row->endpoint, row->key);

        if ((twin == NULL || !registry_row_eq(row, twin)) &&
            !add(arena, diff, &capacity, (struct source_change){ row, twin }, err))
            return false;
    }
    for (size_t i = 0; i < new->registry.count; i++) {
        const struct registry_row *row = &new->registry.rows[i];

        if (source_row(old, row->table, row->endpoint, row->key) == NULL &&
            !add(arena, diff, &capacity, (struct source_change){ NULL, row }, err))
            return false;
    }
    return true;
}

static void print_column(const struct source_change *change, int column, struct buf *out)
{
    static const struct registry_value nothing;
    const struct registry_row *row = change->new != NULL ? change->new : change->old;
    const struct registry_value *old =
        change->old != NULL ? &change->old->values[column] : &nothing;
    const struct registry_value *new =
        change->new != NULL ? &change->new->values[column] : &nothing;
    const struct setting *setting = source_setting(row, column);
    const enum registry_type type = registry_table(row->table)->columns[column].type;

    if (setting == NULL ||
        (registry_value_eq(type, old, new) && old->is_template == new->is_template))
        return;
    buf_printf(out, "%c ", !old->is_set ? '+' : !new->is_set ? '-' : '~');
    source_print_field(row, column, out);
    buf_add(out, STR(": "));
    if (old->is_set)
        setting_print(setting, old, out);
    if (old->is_set && new->is_set)
        buf_add(out, STR(" -> "));
    if (new->is_set)
        setting_print(setting, new, out);
    if (new->is_template || (new->is_set && old->is_template))
        buf_add(out, new->is_template ? STR(" (template)") : STR(" (was the template's)"));
    buf_add_char(out, '\n');
}

void source_diff_print(const struct source_diff *diff, struct buf *out)
{
    for (size_t i = 0; i < diff->count; i++) {
        const struct source_change *change = &diff->items[i];
        const struct registry_row *row = change->new != NULL ? change->new : change->old;
        const size_t before = out->len;

        for (size_t c = 0; c < registry_table(row->table)->column_count; c++)
            print_column(change, (int)c, out);
        if (out->len > before)
            continue;
        buf_printf(out, "%c ", change->old == NULL ? '+' : change->new == NULL ? '-' : '~');
        source_print_field(row, -1, out);
        buf_add(out, change->old != NULL && change->new != NULL ? STR(": moved\n") : STR("\n"));
    }
}
