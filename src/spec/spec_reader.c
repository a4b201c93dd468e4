#include "spec/spec_reader.h"

#include <limits.h>

bool spec_fail(struct spec_reader *reader, const char *where, const char *what)
{
    if (!reader->failed)
        (void)error_set(reader->err, ERROR_FATAL, "spec.unreadable", "snapshot: %s %s", where,
                        what);
    reader->failed = true;
    return false;
}

static bool no_memory(struct spec_reader *reader)
{
    if (!reader->failed)
        (void)arena_error(reader->arena, reader->err);
    reader->failed = true;
    return false;
}

static struct json_node member(struct spec_object object, const char *name)
{
    return json_get(object.reader->doc, object.node, str_of(name));
}

struct spec_object spec_object(struct spec_object parent, const char *name)
{
    const struct spec_object child = { parent.reader, member(parent, name), name };

    if (json_type(parent.reader->doc, child.node) != JSON_OBJECT)
        (void)spec_fail(parent.reader, name, "is not there");
    return child;
}

bool spec_has(struct spec_object object, const char *name)
{
    return json_exists(member(object, name));
}

struct str spec_string(struct spec_reader *reader, struct json_node node)
{
    struct str text = { 0 };
    struct error err;

    if (json_type(reader->doc, node) != JSON_STRING)
        (void)spec_fail(reader, "a text", "is something else");
    else if (!json_string(reader->doc, node, reader->arena, &text, &err))
        (void)no_memory(reader);
    return text;
}

struct str spec_text(struct spec_object object, const char *name)
{
    const struct json_node node = member(object, name);

    return json_exists(node) ? spec_string(object.reader, node) : (struct str){ 0 };
}

int64_t spec_number(struct spec_object object, const char *name)
{
    const struct json_node node = member(object, name);
    int64_t number = 0;

    if (json_exists(node) && !json_i64(object.reader->doc, node, &number))
        (void)spec_fail(object.reader, name, "is not a whole number");
    return number;
}

double spec_real(struct spec_object object, const char *name)
{
    const struct json_node node = member(object, name);
    double real = 0;

    if (json_exists(node) && !json_double(object.reader->doc, node, &real))
        (void)spec_fail(object.reader, name, "is not a number");
    return real;
}

bool spec_bool(struct spec_object object, const char *name)
{
    bool value = false;

    if (!json_bool(object.reader->doc, member(object, name), &value))
        (void)spec_fail(object.reader, name, "is neither true nor false");
    return value;
}

int spec_code(struct spec_object object, const char *name, const struct code_table *codes)
{
    const int value = code_find(codes, spec_text(object, name));

    if (value < 0)
        (void)spec_fail(object.reader, name, "is not a word of its dictionary");
    return value < 0 ? 0 : value;
}

void spec_template(struct spec_object object, const char *name, struct template *out)
{
    struct spec_reader *reader = object.reader;
    const struct str text = spec_text(object, name);
    struct template_faults faults;
    struct error err;

    if (reader->failed || template_compile(out, reader->arena, text, &faults, &err))
        return;
    (void)spec_fail(reader, name, err.text);
}

size_t spec_texts(struct spec_object object, const char *name, const struct str **items)
{
    const struct json_node list = member(object, name);
    const size_t count = json_count(object.reader->doc, list);
    struct str *texts = ARENA_ARRAY(object.reader->arena, struct str, count);
    struct json_iter it;

    *items = texts;
    if (texts == NULL) {
        (void)no_memory(object.reader);
        return 0;
    }
    for (it = json_each(object.reader->doc, list); json_next(&it);)
        texts[it.index] = spec_string(object.reader, it.value);
    return count;
}

size_t spec_statuses(struct spec_object object, const char *name, const int **items)
{
    const struct json_node list = member(object, name);
    const size_t count = json_count(object.reader->doc, list);
    int *statuses = ARENA_ARRAY(object.reader->arena, int, count);
    struct json_iter it;
    int64_t status;

    *items = statuses;
    if (statuses == NULL) {
        (void)no_memory(object.reader);
        return 0;
    }
    for (it = json_each(object.reader->doc, list); json_next(&it);) {
        if (!json_i64(object.reader->doc, it.value, &status) || status < 0 || status > INT_MAX)
            (void)spec_fail(object.reader, name, "has something that is no status");
        else
            statuses[it.index] = (int)status;
    }
    return count;
}

struct spec_path spec_path_of(struct spec_reader *reader, struct str text,
                              enum response_format format)
{
    struct spec_path path = { .text = text };
    struct error err;

    if (reader->failed || text.len == 0 || format != RESPONSE_JSON)
        return path;
    if (!jsonpath_compile(reader->arena, text, &path.json, NULL, &err))
        (void)spec_fail(reader, "a path", err.text);
    return path;
}

struct spec_path spec_path(struct spec_object object, const char *name, enum response_format format)
{
    return spec_path_of(object.reader, spec_text(object, name), format);
}
