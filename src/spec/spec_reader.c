/* Values of a snapshot, by the kind of the member that receives them. */
#include "spec/spec_reader.h"

#include <limits.h>

void spec_fail(struct spec_reader *reader, const char *what)
{
    if (!reader->failed)
        (void)error_set(reader->err, ERROR_FATAL, "spec.unreadable", "snapshot: %s%s %s",
                        reader->is_detail ? "detail." : "", reader->path, what);
    reader->failed = true;
}

void spec_fail_memory(struct spec_reader *reader)
{
    if (!reader->failed)
        (void)arena_error(reader->arena, reader->err);
    reader->failed = true;
}

struct str spec_string(struct spec_reader *reader, struct json_node node)
{
    struct str text = { 0 };
    struct error err;

    if (json_type(reader->doc, node) != JSON_STRING)
        spec_fail(reader, "is not a text");
    else if (!json_string(reader->doc, node, reader->arena, &text, &err))
        spec_fail_memory(reader);
    return text;
}

static struct str text_of(struct spec_reader *reader, struct json_node node)
{
    return json_exists(node) ? spec_string(reader, node) : (struct str){ 0 };
}

static int64_t number_of(struct spec_reader *reader, struct json_node node)
{
    int64_t number = 0;

    if (json_exists(node) && !json_i64(reader->doc, node, &number))
        spec_fail(reader, "is not a whole number");
    return number;
}

static int int_of(struct spec_reader *reader, struct json_node node)
{
    const int64_t number = number_of(reader, node);

    if (number >= INT_MIN && number <= INT_MAX)
        return (int)number;
    spec_fail(reader, "is out of range");
    return 0;
}

static double real_of(struct spec_reader *reader, struct json_node node)
{
    double real = 0;

    if (json_exists(node) && !json_double(reader->doc, node, &real))
        spec_fail(reader, "is not a number");
    return real;
}

static bool bool_of(struct spec_reader *reader, struct json_node node)
{
    bool value = false;

    if (json_exists(node) && !json_bool(reader->doc, node, &value))
        spec_fail(reader, "is neither true nor false");
    return value;
}

static unsigned word_of(struct spec_reader *reader, struct json_node node,
                        const struct code_table *codes)
{
    const int value = code_find(codes, text_of(reader, node));

    if (value >= 0)
        return (unsigned)value;
    spec_fail(reader, "is not a word of its dictionary");
    return 0;
}

static int64_t instant_of(struct spec_reader *reader, struct json_node node)
{
    struct date date = { 0 };
    struct error err;

    if (json_exists(node) &&
        !date_parse(date_format_find(STR("rfc3339")), text_of(reader, node), &date, &err))
        spec_fail(reader, "is not a date");
    return date.at_us;
}

static void read_template(struct spec_reader *reader, struct json_node node, struct template *out)
{
    const struct str text = text_of(reader, node);
    struct template_faults faults;
    struct error err;

    if (!reader->failed && !template_compile(out, reader->arena, text, &faults, &err))
        spec_fail(reader, err.text);
}

struct spec_path spec_path(struct spec_reader *reader, struct str text)
{
    struct spec_path path = { .text = text };
    struct error err;

    if (reader->failed || text.len == 0 || reader->format != RESPONSE_JSON)
        return path;
    if (!jsonpath_compile(reader->arena, text, &path.json, NULL, &err))
        spec_fail(reader, err.text);
    return path;
}

static void read_member(struct spec_reader *reader, const struct setting *setting,
                        struct json_node node, void *member)
{
    switch (setting->into.kind) {
    case SPEC_BOOL:
        *(bool *)member = bool_of(reader, node);
        break;
    case SPEC_INT:
        *(int *)member = int_of(reader, node);
        break;
    case SPEC_I64:
        *(int64_t *)member =
            setting->type == SETTING_INSTANT ? instant_of(reader, node) : number_of(reader, node);
        break;
    case SPEC_DOUBLE:
        *(double *)member = real_of(reader, node);
        break;
    case SPEC_WORD:
        *(unsigned *)member = word_of(reader, node, setting->codes);
        break;
    case SPEC_STR:
        *(struct str *)member =
            setting->type == SETTING_BODY ? json_raw(reader->doc, node) : text_of(reader, node);
        break;
    case SPEC_TEMPLATE:
        read_template(reader, node, member);
        break;
    case SPEC_PATH:
        *(struct spec_path *)member = spec_path(reader, text_of(reader, node));
        break;
    case SPEC_NOWHERE:
    case SPEC_TEXTS:
    case SPEC_STATUSES:
    case SPEC_DATE_FORMATS:
    case SPEC_NAMESPACES:
        break;
    }
}

void spec_read_value(struct spec_reader *reader, const struct setting *setting,
                     struct json_node node, void *owner)
{
    const struct spec_target *into = &setting->into;
    void *member = (char *)owner + into->offset;

    reader->path = setting->path;
    if (into->has_offset > 0)
        *(bool *)(void *)((char *)owner + into->has_offset) = json_exists(node);
    if (into->read != NULL)
        into->read(reader, node, owner);
    else if (into->kind >= SPEC_TEXTS)
        spec_read_list(reader, into, node, owner);
    else if (json_exists(node) || !setting->is_optional)
        read_member(reader, setting, node, member);
}
