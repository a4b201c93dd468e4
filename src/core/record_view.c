/* Names of views, columns and keys. */
#include "core/record_view.h"

#include <string.h>

/* The columns of every view; the adapter's SELECT has them in this order. */
static const struct str FIXED[] = {
    STR_INIT("id"),      STR_INIT("version"),    STR_INIT("updated_at"),
    STR_INIT("deleted"), STR_INIT("created_at"), STR_INIT("checked_at"),
};

enum { SUFFIX_BYTES = 8 };

struct str view_key(struct arena *arena, struct str field, enum field_type type, bool is_list)
{
    return arena_printf(arena, "%.*s%s:%.*s", STR_ARG(code_of(&FIELD_TYPE_CODES, (int)type)),
                        is_list ? "[]" : "", STR_ARG(field));
}

/* In lower case; what is neither a letter nor a digit becomes an underscore. */
static struct str plain(struct arena *arena, struct str name)
{
    char *out = arena_alloc_raw(arena, name.len + 1);

    if (out == NULL)
        return (struct str){ NULL, 0 };
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.data[i];
        const bool is_upper = c >= 'A' && c <= 'Z';

        out[i] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c
                 : is_upper                                       ? (char)(c - 'A' + 'a')
                                                                  : '_';
    }
    return (struct str){ out, name.len };
}

struct str view_column_name(struct arena *arena, struct str field)
{
    const struct str name = plain(arena, field);

    for (size_t i = 0; i < ARRAY_LEN(FIXED); i++) {
        if (name.data != NULL && str_eq(name, FIXED[i]))
            return arena_printf(arena, "field_%.*s", STR_ARG(name));
    }
    return name;
}

struct str view_name(struct arena *arena, const struct record_view *view, int number)
{
    const struct str whole =
        plain(arena, arena_printf(arena, "patra_%.*s_%.*s", STR_ARG(view->source),
                                  STR_ARG(view->endpoint)));

    if (number <= 1)
        return str_slice(whole, 0, SQL_NAME_MAX);
    return arena_printf(arena, "%.*s_%d", STR_ARG(str_slice(whole, 0, SQL_NAME_MAX - SUFFIX_BYTES)),
                        number);
}
