/* A table for people, kept as cells until its widths are known. */
#include "cli/columns.h"

#include <assert.h>
#include <inttypes.h>

#include "base/instant.h"
#include "base/list.h"

enum { NOTE_INDENT = 4 };

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

void columns_brief(struct columns *columns, int64_t at_us, int64_t now_us)
{
    const struct civil at = instant_to_civil(at_us);
    struct arena *arena = columns->arena;

    if (instant_day_number(at_us) * US_PER_DAY == at_us)
        columns_cell(columns, arena_printf(arena, "%04d-%02d-%02d", at.year, at.month, at.day));
    else if (at.year == instant_to_civil(now_us).year)
        columns_cell(columns, arena_printf(arena, "%02d-%02d %02d:%02d", at.month, at.day, at.hour,
                                           at.minute));
    else
        columns_cell(columns, arena_printf(arena, "%04d-%02d-%02d %02d:%02d", at.year, at.month,
                                           at.day, at.hour, at.minute));
}

void columns_window(struct columns *columns, struct window window, int64_t now_us)
{
    if (window_is_valid(window)) {
        columns_brief(columns, window.from_us, now_us);
        columns_brief(columns, window.to_us, now_us);
    } else {
        columns_cell(columns, STR("-"));
        columns_cell(columns, STR("-"));
    }
}

void columns_note(struct columns *columns, struct str text)
{
    struct columns_note *note;

    if (columns->failed || text.len == 0)
        return;
    assert(columns->count % columns->per_row == 0);
    note = LIST_ADD(columns->arena, &columns->notes);
    if (note == NULL)
        columns->failed = true;
    else
        *note = (struct columns_note){ columns->count / columns->per_row - 1, text };
}

/* In characters, not bytes. */
static size_t width(struct str text)
{
    size_t characters = 0;

    for (size_t i = 0; i < text.len; i++)
        characters += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return characters;
}

/* Breaks between words; a word longer than a line has a line of its own. */
static void print_note(struct str text, FILE *out)
{
    size_t at = 0;

    while (text.len > 0) {
        const struct str word = str_cut(&text, ' ');
        const size_t cell = width(word);

        if (at > 0 && at + 1 + cell > COLUMNS_WIDTH) {
            fprintf(out, "\n");
            at = 0;
        }
        fprintf(out, "%*s%.*s", at == 0 ? NOTE_INDENT : 1, "", STR_ARG(word));
        at += (at == 0 ? NOTE_INDENT : 1) + cell;
    }
    fprintf(out, "\n");
}

static void print_row(const struct columns *columns, const struct str *cells, const size_t *widths,
                      FILE *out)
{
    size_t last = columns->per_row - 1;

    while (last > 0 && cells[last].len == 0)
        last--;
    for (size_t i = 0; i < last; i++)
        fprintf(out, "%.*s%*s  ", STR_ARG(cells[i]), (int)(widths[i] - width(cells[i])), "");
    fprintf(out, "%.*s\n", STR_ARG(cells[last]));
}

bool columns_print(const struct columns *columns, FILE *out, struct error *err)
{
    size_t widths[COLUMNS_MAX] = { 0 };
    size_t note = 0;

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
    for (size_t row = 0; row * columns->per_row < columns->count; row++) {
        print_row(columns, columns->cells + row * columns->per_row, widths, out);
        for (; note < columns->notes.count && columns->notes.items[note].row == row; note++)
            print_note(columns->notes.items[note].text, out);
    }
    return true;
}
