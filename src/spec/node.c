/* Places in the text of a source file. */
#include "spec/node.h"

#include "base/hex.h"

const struct node *node_get(const struct node *map, struct str key)
{
    for (size_t i = 0; map->kind == NODE_MAP && i < map->count; i++) {
        if (str_eq(map->entries[i].key, key))
            return map->entries[i].value;
    }
    return NULL;
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* The text of the file from the mark to the end of its line. */
static struct str line_from(struct str file, struct mark at)
{
    struct str line = { 0 };
    size_t skip = 0;

    if (str_starts(file, STR("\xEF\xBB\xBF")))
        file = str_slice(file, 3, file.len);
    for (uint32_t i = 0; i < at.line; i++)
        line = str_cut(&file, '\n');
    for (uint32_t column = 1; column < at.column && skip < line.len; column++) {
        do
            skip++;
        while (skip < line.len && is_continuation(line.data[skip]));
    }
    return str_slice(line, skip, line.len);
}

/* \x41, \u00e9, \U0001d11e: how many bytes of UTF-8 the digits encode. */
static size_t escaped_bytes(struct str digits)
{
    const uint32_t point = hex_number(digits);

    return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

/* How many bytes of the file, and how many of the value, the next piece of a scalar has. */
static void piece_at(enum node_style style, struct str rest, size_t *in_file, size_t *in_value)
{
    *in_file = *in_value = 1;
    if (style == NODE_SINGLE_QUOTED && str_starts(rest, STR("''")))
        *in_file = 2;
    if (style != NODE_DOUBLE_QUOTED || rest.data[0] != '\\' || rest.len < 2)
        return;
    *in_file = rest.data[1] == 'x' ? 4 : rest.data[1] == 'u' ? 6 : rest.data[1] == 'U' ? 10 : 2;
    if (*in_file > 2)
        *in_value = escaped_bytes(str_slice(rest, 2, *in_file));
}

struct mark node_mark(const struct node *scalar, struct str file, size_t offset)
{
    struct mark at = scalar->at;
    struct str rest;
    size_t in_file, in_value;

    if (offset == 0 || at.line == 0 || scalar->is_template || scalar->kind != NODE_SCALAR ||
        scalar->style == NODE_BLOCK)
        return at;
    rest = line_from(file, at);
    if (scalar->style != NODE_PLAIN) {
        rest = str_slice(rest, 1, rest.len);
        at.column++;
    }
    for (size_t done = 0; done < offset; done += in_value) {
        if (rest.len == 0)
            return scalar->at; /* continues in the next line */
        piece_at(scalar->style, rest, &in_file, &in_value);
        for (size_t i = 0; i < in_file && i < rest.len; i++)
            at.column += !is_continuation(rest.data[i]);
        rest = str_slice(rest, in_file, rest.len);
    }
    return at;
}
