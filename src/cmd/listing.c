#include "cmd/listing.h"

#include <assert.h>
#include <inttypes.h>

#include "base/instant.h"

void listing_init(struct listing *listing, struct arena *arena, const char *const *heads,
                  size_t columns)
{
    assert(columns > 0 && columns <= LISTING_COLUMNS_MAX);
    *listing = (struct listing){ .arena = arena, .columns = columns };
    for (size_t i = 0; i < columns; i++)
        listing_cell(listing, str_of(heads[i]));
}

void listing_cell(struct listing *listing, struct str text)
{
    if (listing->failed)
        return;
    if (listing->count == listing->capacity) {
        const size_t capacity = listing->capacity > 0 ? listing->capacity * 2 : 64;
        struct str *cells =
            arena_grow(listing->arena, listing->cells, listing->capacity * sizeof(*cells),
                       capacity * sizeof(*cells));

        if (cells == NULL) {
            listing->failed = true;
            return;
        }
        listing->cells = cells;
        listing->capacity = capacity;
    }
    listing->cells[listing->count++] = text;
}

void listing_i64(struct listing *listing, int64_t value)
{
    listing_cell(listing, arena_printf(listing->arena, "%" PRId64, value));
}

void listing_instant(struct listing *listing, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];

    (void)instant_format(at_us, text);
    listing_cell(listing, arena_printf(listing->arena, "%s", text));
}

/* Columns are counted in characters, not bytes. */
static size_t width(struct str text)
{
    size_t characters = 0;

    for (size_t i = 0; i < text.len; i++)
        characters += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return characters;
}

bool listing_print(const struct listing *listing, FILE *out, struct error *err)
{
    size_t widths[LISTING_COLUMNS_MAX] = { 0 };

    if (listing->failed || listing->arena->failed)
        return arena_error(listing->arena, err);
    assert(listing->count % listing->columns == 0);
    if (listing->count == listing->columns) {
        fprintf(out, "(none)\n");
        return true;
    }
    for (size_t i = 0; i < listing->count; i++) {
        const size_t cell = width(listing->cells[i]);

        if (cell > widths[i % listing->columns])
            widths[i % listing->columns] = cell;
    }
    for (size_t i = 0; i < listing->count; i++) {
        const size_t column = i % listing->columns;
        const bool is_last = column + 1 == listing->columns;

        fprintf(out, "%.*s%*s%s", STR_ARG(listing->cells[i]),
                is_last ? 0 : (int)(widths[column] - width(listing->cells[i])), "",
                is_last ? "\n" : "  ");
    }
    return true;
}
