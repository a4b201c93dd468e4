#include "cmd/columns.h"

#include <assert.h>
#include <inttypes.h>

#include "base/instant.h"

void columns_init(struct columns *columns, struct arena *arena, const char *const *heads,
                  size_t count)
{
    assert(count > 0 && count <= COLUMNS_MAX);
    *columns = (struct columns){ .arena = arena, .per_row = count };
    for (size_t i = 0; i < count; i++)
        columns_cell(columns, str_of(heads[i]));
}

void columns_cell(struct columns *columns, struct str text)
{
    if (columns->failed)
        return;
    if (columns->count == columns->capacity) {
        const size_t capacity = columns->capacity > 0 ? columns->capacity * 2 : 64;
        struct str *cells =
            arena_grow(columns->arena, columns->cells, columns->capacity * sizeof(*cells),
                       capacity * sizeof(*cells));

        if (cells == NULL) {
            columns->failed = true;
            return;
        }
        columns->cells = cells;
        columns->capacity = capacity;
    }
    columns->cells[columns->count++] = text;
}

void columns_i64(struct columns *columns, int64_t value)
{
    columns_cell(columns, arena_printf(columns->arena, "%" PRId64, value));
}

void columns_instant(struct columns *columns, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];

    (void)instant_format(at_us, text);
    columns_cell(columns, arena_printf(columns->arena, "%s", text));
}

/* A width is counted in characters, not bytes. */
static size_t width(struct str text)
{
    size_t characters = 0;

    for (size_t i = 0; i < text.len; i++)
        characters += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return characters;
}

bool columns_print(const struct columns *columns, FILE *out, struct error *err)
{
    size_t widths[COLUMNS_MAX] = { 0 };

    if (columns->failed || columns->arena->failed)
        return arena_error(columns->arena, err);
    assert(columns->count % columns->per_row == 0);
    if (columns->count == columns->per_row) {
        fprintf(out, "(none)\n");
        return true;
    }
    for (size_t i = 0; i < columns->count; i++) {
        const size_t cell = width(columns->cells[i]);

        if (cell > widths[i % columns->per_row])
            widths[i % columns->per_row] = cell;
    }
    for (size_t i = 0; i < columns->count; i++) {
        const size_t column = i % columns->per_row;
        const bool is_last = column + 1 == columns->per_row;

        fprintf(out, "%.*s%*s%s", STR_ARG(columns->cells[i]),
                is_last ? 0 : (int)(widths[column] - width(columns->cells[i])), "",
                is_last ? "\n" : "  ");
    }
    return true;
}
