/* Reads a statement's text from left to right: names become numbered places, words become the
 * dialect's texts, which are expanded in turn. Quoted text is left alone. */
#include "adapter/sql/expand.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"

enum { TEXT_MAX = 1 << 20, DEPTH_MAX = 8 };

struct arguments { /* of a word */
    struct str table;
    struct str body;
    struct str order;
};

struct expansion {
    const struct dialect *dialect;
    struct statement
        *naming; /* the first pass: collects the names of `st`; NULL: writes the text */
    const struct statement *st;
    struct buf out;
    int rows;               /* of a statement without arrays */
    int row;                /* the one being written */
    struct arguments given; /* of the word being expanded */
};

static const char *const WORD_NAMES[WORD_COUNT] = {
#define DIALECT_NAME(id, name) name,
    DIALECT_WORDS(DIALECT_NAME)
#undef DIALECT_NAME
};

static void expand(struct expansion *x, struct str text, int depth);

static int name_find(const struct statement_names *names, struct str name)
{
    for (int i = 0; i < names->count; i++) {
        if (str_eq(names->items[i], name))
            return i;
    }
    return -1;
}

static int name_place(struct expansion *x, bool is_column, struct str name)
{
    const struct statement_names *names = is_column ? &x->st->columns : &x->st->values;
    const int found = name_find(names, name);

    if (found >= 0 || x->naming == NULL) {
        assert(found >= 0);
        return found;
    }
    struct statement_names *grown = is_column ? &x->naming->columns : &x->naming->values;

    assert(grown->count < STATEMENT_NAMES_MAX);
    grown->items[grown->count] = name;
    return grown->count++;
}

static void add_value(struct expansion *x, struct str name)
{
    const int place = name_place(x, false, name);

    buf_printf(&x->out, "%c%d", x->dialect->has_arrays ? '$' : '?', place + 1);
}

static void add_column(struct expansion *x, struct str name)
{
    const int width = x->st->columns.count + x->st->has_place;
    int place;

    if (str_eq(name, STR("place"))) {
        if (x->naming != NULL)
            x->naming->has_place = true;
        place = x->st->columns.count;
    } else {
        place = name_place(x, true, name);
    }
    if (x->dialect->has_arrays)
        buf_printf(&x->out, "r.%.*s", STR_ARG(name));
    else
        buf_printf(&x->out, "?%d", x->st->values.count + x->row * width + place + 1);
}

static void add_table(struct expansion *x, int depth)
{
    (void)depth;
    buf_add(&x->out, x->given.table);
}

/* After FOR UPDATE: the table whose rows are locked, where it was named. */
static void add_of(struct expansion *x, int depth)
{
    (void)depth;
    if (x->given.table.len > 0)
        buf_printf(&x->out, " OF %.*s", STR_ARG(x->given.table));
}

static void add_body(struct expansion *x, int depth)
{
    expand(x, x->given.body, depth + 1);
}

/* unnest($4, $5) AS r (position, provider_id) */
static void add_unnest(struct expansion *x, int depth)
{
    const struct statement_names *columns = &x->st->columns;

    (void)depth;
    buf_add(&x->out, STR("unnest("));
    for (int i = 0; i < columns->count; i++)
        buf_printf(&x->out, "%s$%d", i > 0 ? ", " : "", x->st->values.count + i + 1);
    buf_printf(&x->out, ")%s AS r (", x->st->has_place ? " WITH ORDINALITY" : "");
    for (int i = 0; i < columns->count; i++)
        buf_printf(&x->out, "%s%.*s", i > 0 ? ", " : "", STR_ARG(columns->items[i]));
    buf_printf(&x->out, "%s)", x->st->has_place ? ", place" : "");
}

/* Any order is right if all sessions use the same; by bytes is the fastest. */
static void add_order(struct expansion *x, int depth)
{
    struct str rest = x->given.order;

    for (bool is_first = true; rest.len > 0; is_first = false) {
        const struct str name = str_trim(str_cut(&rest, ','));
        const int column = name_find(&x->st->columns, name);

        assert(column >= 0);
        buf_printf(&x->out, "%s r.%.*s", is_first ? " ORDER BY" : ",", STR_ARG(name));
        if (x->st->cells[column].type == SQL_TEXT)
            expand(x, STR("{byte-order}"), depth + 1);
    }
}

static void add_tuples(struct expansion *x, int depth)
{
    for (x->row = 0; x->row < x->rows; x->row++) {
        buf_add(&x->out, x->row > 0 ? STR(",(") : STR("("));
        expand(x, x->given.body, depth + 1);
        buf_add_char(&x->out, ')');
    }
    x->row = 0;
}

/* Adds an argument of the statement's word to its text. False: `part` does not name one. */
static bool add_part(struct expansion *x, struct str part, int depth)
{
    static const struct {
        const char *name;
        void (*add)(struct expansion *x, int depth);
    } PARTS[] = {
        { "table", add_table },   { "of", add_of },       { "body", add_body },
        { "unnest", add_unnest }, { "order", add_order }, { "tuples", add_tuples },
    };

    for (size_t i = 0; i < ARRAY_LEN(PARTS); i++) {
        if (!str_eq(part, str_of(PARTS[i].name)))
            continue;
        if (x->naming == NULL) /* in the first pass, add_word() has already read it */
            PARTS[i].add(x, depth);
        return true;
    }
    return false;
}

static enum dialect_word word_find(struct str name)
{
    for (int i = 0; i < WORD_COUNT; i++) {
        if (str_eq(name, str_of(WORD_NAMES[i])))
            return (enum dialect_word)i;
    }
    assert(!"a word of the dialect");
    return WORD_COUNT;
}

/* "insert VALUES", "insert by COLUMNS: VALUES", "find TABLE: CONDITION", "each TABLE" */
static struct arguments read_arguments(enum dialect_word word, struct str rest)
{
    const struct str by = STR("by ");
    struct arguments given = { 0 };

    if (word != WORD_INSERT) {
        given.table = str_trim(str_cut(&rest, ':'));
    } else if (str_starts(rest, by)) {
        rest = str_slice(rest, by.len, rest.len);
        given.order = str_cut(&rest, ':');
    }
    given.body = str_trim(rest);
    return given;
}

static void add_word(struct expansion *x, struct str text, int depth)
{
    const struct arguments outer = x->given;
    struct str rest = text;
    const struct str name = str_cut(&rest, ' ');
    enum dialect_word word;

    if (add_part(x, name, depth))
        return;
    word = word_find(name);
    x->given = read_arguments(word, str_trim(rest));
    if (x->naming != NULL)
        expand(x, x->given.body, depth + 1);
    expand(x, str_of(x->dialect->words[word]), depth + 1);
    x->given = outer;
}

static size_t word_end(struct str text, size_t from)
{
    int depth = 1;
    size_t i = from;

    for (; i < text.len && depth > 0; i++)
        depth += text.data[i] == '{' ? 1 : text.data[i] == '}' ? -1 : 0;
    assert(depth == 0);
    return i - 1;
}

static bool is_name_char(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static size_t name_end(struct str text, size_t from)
{
    while (from < text.len && is_name_char(text.data[from]))
        from++;
    return from;
}

static size_t quote_end(struct str text, size_t from)
{
    const char quote = text.data[from++];

    while (from < text.len && text.data[from] != quote)
        from++;
    return from + 1;
}

static void expand(struct expansion *x, struct str text, int depth)
{
    size_t i = 0;

    assert(depth < DEPTH_MAX);
    while (i < text.len) {
        const char c = text.data[i];
        size_t end = i + 1;

        if (c == '\'' || c == '"') {
            end = quote_end(text, i);
            buf_add(&x->out, str_slice(text, i, end));
        } else if (c == ':' && end < text.len && text.data[end] == ':') {
            end++; /* a cast */
            buf_add(&x->out, STR("::"));
        } else if (c == '{') {
            end = word_end(text, i + 1);
            add_word(x, str_slice(text, i + 1, end), depth);
            end++;
        } else if ((c == ':' || c == '@') && end < text.len && is_name_char(text.data[end])) {
            end = name_end(text, end);
            if (c == ':')
                add_value(x, str_slice(text, i + 1, end));
            else
                add_column(x, str_slice(text, i + 1, end));
        } else {
            buf_add_char(&x->out, c);
        }
        i = end;
    }
}

void expand_names(const struct dialect *dialect, struct statement *st)
{
    struct arena arena;
    struct expansion x = { .dialect = dialect, .naming = st, .st = st, .rows = 1 };

    arena_init(&arena, TEXT_MAX);
    buf_init(&x.out, &arena, TEXT_MAX); /* the text of this pass is not used */
    expand(&x, str_of(st->sql), 0);
    arena_release(&arena);
}

const char *expand_text(struct arena *arena, const struct dialect *dialect,
                        const struct statement *st, int rows, struct error *err)
{
    struct expansion x = { .dialect = dialect, .st = st, .rows = rows };

    buf_init(&x.out, arena, TEXT_MAX);
    expand(&x, str_of(st->sql), 0);
    buf_add_char(&x.out, '\0');
    return buf_ok(&x.out, err) ? buf_str(&x.out).data : NULL;
}

bool expand_is_insert(const struct statement *st)
{
    return strstr(st->sql, "{insert ") != NULL;
}
