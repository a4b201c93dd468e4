/* From rows to the file that a person would write: settings in the order of the table, one per
 * line; endpoints, operations and members of sets in the order of the file. The short form is used
 * where it is complete. What the source has from its template is left out. */
#include "spec/setting_value.h"
#include "spec/source.h"

struct writer {
    const struct source *source;
    struct buf *out;
};

struct where { /* as in reading: the level, and the row_key's star */
    enum setting_level level;
    struct str endpoint;
    struct str name;
    struct str path; /* of settings: "", "http", "query.*" */
    int indent;
};

static void indent(struct writer *writer, int columns)
{
    for (int i = 0; i < columns; i++)
        buf_add_char(writer->out, ' ');
}

/* Like setting_key(), for a comparison only. */
static bool has_key(const struct setting *setting, const struct where *where, struct str key)
{
    const struct str pattern = setting->key != NULL ? str_of(setting->key) : STR("");
    const size_t star = str_find_char(pattern, '*');

    if (where->level == AT_OPERATION)
        return str_eq(key, where->name);
    return str_eq(str_slice(key, 0, star), str_slice(pattern, 0, star)) &&
           str_eq(str_slice(key, star, key.len), star < pattern.len ? where->name : STR(""));
}

/* The value, whether it is the file's or its template's. */
static const struct registry_value *
any_value_at(const struct writer *writer, const struct setting *setting, const struct where *where)
{
    const struct registry_source *registry = &writer->source->registry;

    for (size_t i = 0; i < registry->count; i++) {
        const struct registry_row *row = &registry->rows[i];
        const struct registry_value *value;

        if (row->table != setting->table || !str_eq(row->endpoint, where->endpoint) ||
            !has_key(setting, where, row->key))
            continue;
        value = &row->values[setting_column(setting)];
        return value->is_set ? value : NULL;
    }
    return NULL;
}

static const struct registry_value *
value_at(const struct writer *writer, const struct setting *setting, const struct where *where)
{
    const struct registry_value *value = any_value_at(writer, setting, where);

    return value != NULL && !value->is_template ? value : NULL;
}

static bool has_own(const struct registry_row *row)
{
    for (size_t i = 0; i < registry_table(row->table)->column_count; i++) {
        if (row->values[i].is_set && !row->values[i].is_template)
            return true;
    }
    return false;
}

static bool has_template(const struct registry_row *row)
{
    for (size_t i = 0; i < registry_table(row->table)->column_count; i++) {
        if (row->values[i].is_template)
            return true;
    }
    return false;
}

/* The name of a row of a set; empty for the row '' of a table that has both. */
static struct str member_name(const struct registry_row *row, struct str prefix)
{
    return str_slice(row->key, prefix.len, row->key.len);
}

static struct str join_path(struct writer *writer, struct str path, struct str part)
{
    struct str both;

    if (path.len == 0)
        return part;
    both = arena_printf(writer->out->arena, "%.*s.%.*s", STR_ARG(path), STR_ARG(part));
    writer->out->failed |= both.data == NULL;
    return both.data != NULL ? both : STR("");
}

static bool write_map(struct writer *writer, const struct where *where);

static void write_leaf(struct writer *writer, const struct setting *setting,
                       const struct where *where, struct str name)
{
    indent(writer, where->indent);
    setting_print_text(name, writer->out);
    buf_add(writer->out, STR(": "));
    setting_print(setting, value_at(writer, setting, where), writer->out);
    buf_add_char(writer->out, '\n');
}

/* How many settings of the member are set, and whether the short form has all of them. A template's
 * settings of the member would be lost by the short form, which replaces the whole member. */
static size_t count_set(const struct writer *writer, const struct where *member,
                        const struct setting *shorthand, bool *is_short)
{
    const struct setting *setting = NULL;
    size_t set = 0, any = 0;
    bool has_short = false;
    struct str part;

    while ((setting = setting_next(member->level, member->path, setting, &part)) != NULL) {
        any += any_value_at(writer, setting, member) != NULL;
        if (value_at(writer, setting, member) == NULL)
            continue;
        set++;
        has_short |= setting == shorthand;
    }
    *is_short = has_short && any == 1;
    return set;
}

static void write_flow(struct writer *writer, const struct where *member)
{
    const struct setting *setting = NULL;
    const char *separator = "{ ";
    struct str part;

    while ((setting = setting_next(member->level, member->path, setting, &part)) != NULL) {
        const struct registry_value *value = value_at(writer, setting, member);

        if (value == NULL)
            continue;
        buf_printf(writer->out, "%s%.*s: ", separator, STR_ARG(part));
        setting_print(setting, value, writer->out);
        separator = ", ";
    }
    buf_add(writer->out, STR(" }\n"));
}

static void write_member(struct writer *writer, const struct where *member, bool is_list)
{
    const struct setting *shorthand = setting_short(member->level, member->path);
    bool is_short;
    const size_t set = count_set(writer, member, shorthand, &is_short);

    if (set == 0)
        return;
    indent(writer, member->indent);
    if (is_list)
        buf_add(writer->out, STR("- "));
    else {
        setting_print_text(member->name, writer->out);
        buf_add(writer->out, STR(": "));
    }
    if (is_short) {
        setting_print(shorthand, value_at(writer, shorthand, member), writer->out);
        buf_add_char(writer->out, '\n');
        return;
    }
    write_flow(writer, member);
}

static bool write_set(struct writer *writer, const struct where *where, struct str title)
{
    struct where member = *where;
    const struct registry_row *row = NULL;
    const struct setting *first;
    struct str prefix, part;
    bool is_empty = true;

    member.path = join_path(writer, where->path, STR("*"));
    member.indent += 2;
    first = setting_next(where->level, member.path, NULL, &part);
    if (first == NULL)
        return false;
    prefix = setting_key_prefix(first);
    while ((row = source_next(writer->source, first->table, where->endpoint, prefix, row)) !=
           NULL) {
        member.name = member_name(row, prefix);
        if (member.name.len == 0 || !has_own(row))
            continue;
        if (is_empty) {
            indent(writer, where->indent);
            buf_printf(writer->out, "%.*s:\n", STR_ARG(title));
        }
        is_empty = false;
        write_member(writer, &member, first->is_list);
    }
    return !is_empty;
}

/* Writes the group's title, and removes it again when the group is empty. */
static bool write_group(struct writer *writer, const struct where *where, struct str title)
{
    const size_t before = writer->out->len;
    struct where below = *where;

    indent(writer, where->indent);
    buf_printf(writer->out, "%.*s:\n", STR_ARG(title));
    below.indent += 2;
    if (write_map(writer, &below))
        return true;
    writer->out->len = before;
    return false;
}

static bool write_map(struct writer *writer, const struct where *where)
{
    const struct setting *setting = NULL;
    struct where child = *where;
    bool has_any = false;
    struct str part;

    while ((setting = setting_next(where->level, where->path, setting, &part)) != NULL) {
        child.path = join_path(writer, where->path, part);
        if (setting_find(where->level, child.path) == setting) {
            if (value_at(writer, setting, where) == NULL)
                continue;
            write_leaf(writer, setting, where, part);
            has_any = true;
        } else if (setting_is_set(where->level, child.path))
            has_any |= write_set(writer, &child, part);
        else
            has_any |= write_group(writer, &child, part);
    }
    return has_any;
}

static void write_levels(struct writer *writer, bool is_endpoint, const char *title)
{
    const struct registry_row *row = NULL;
    struct where where = { .level = is_endpoint ? AT_ENDPOINT : AT_OPERATION,
                           .endpoint = STR(""),
                           .name = STR(""),
                           .indent = 4 };
    bool is_first = true;

    while ((row = is_endpoint ? source_next_endpoint(writer->source, row)
                              : source_next_operation(writer->source, row)) != NULL) {
        const struct str name = is_endpoint ? row->endpoint : row->key;
        const size_t before = writer->out->len;

        if (is_first || is_endpoint)
            buf_add_char(writer->out, '\n');
        if (is_first)
            buf_printf(writer->out, "%s:\n", title);
        buf_printf(writer->out, "  %.*s:\n", STR_ARG(name));
        where.endpoint = row->endpoint;
        where.name = is_endpoint ? STR("") : row->key;
        if (write_map(writer, &where)) {
            is_first = false;
        } else if (has_template(row)) {
            writer->out->len = before; /* the template alone has it */
        } else {
            is_first = false;
            writer->out->len--;
            buf_add(writer->out, STR(" {}\n"));
        }
    }
}

void source_write(const struct source *source, struct buf *out)
{
    struct writer writer = { source, out };
    const struct where top = { .level = AT_SOURCE, .endpoint = STR(""), .name = STR("") };

    buf_add(out, STR("source: "));
    setting_print_text(source->registry.code, out);
    buf_add_char(out, '\n');
    (void)write_map(&writer, &top);
    write_levels(&writer, true, "endpoints");
    write_levels(&writer, false, "operations");
}
