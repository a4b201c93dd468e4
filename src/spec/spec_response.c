#include <stddef.h>

#include "spec/spec_reader.h"

static void read_namespaces(struct spec_object object, struct spec_response *response)
{
    const struct spec_object map = spec_object(object, "namespaces");
    struct spec_reader *reader = object.reader;
    struct spec_namespace *items =
        ARENA_ARRAY(reader->arena, struct spec_namespace, json_count(reader->doc, map.node));
    struct json_iter it;

    response->namespaces = items;
    if (items == NULL) {
        (void)spec_fail(reader, "namespaces", "do not fit into memory");
        return;
    }
    for (it = json_each(reader->doc, map.node); json_next(&it); response->namespace_count++) {
        items[it.index].prefix = spec_string(reader, it.name);
        items[it.index].uri = spec_string(reader, it.value);
    }
}

/* One path, or a list of parts. */
static void read_id(struct spec_object object, struct spec_response *response)
{
    struct spec_reader *reader = object.reader;
    const struct json_node node = json_get(reader->doc, object.node, STR("id"));
    struct json_iter it;

    if (json_type(reader->doc, node) == JSON_STRING) {
        response->id[response->id_count++] =
            spec_path_of(reader, spec_string(reader, node), response->format);
        return;
    }
    for (it = json_each(reader->doc, node); json_next(&it);) {
        if (response->id_count == SPEC_ID_PARTS_MAX) {
            (void)spec_fail(reader, "response.id", "has too many parts");
            return;
        }
        response->id[response->id_count++] =
            spec_path_of(reader, spec_string(reader, it.value), response->format);
    }
}

static void read_date_formats(struct spec_object object, struct spec_response *response)
{
    struct spec_reader *reader = object.reader;
    const struct str *names;
    const size_t count = spec_texts(object, "date_formats", &names);
    const struct date_format **formats =
        (const struct date_format **)arena_alloc_array(reader->arena, count, sizeof(void *));

    response->date_formats = formats;
    response->date_format_count = count;
    for (size_t i = 0; formats != NULL && i < count; i++) {
        formats[i] = date_format_find(names[i]);
        if (formats[i] == NULL)
            (void)spec_fail(reader, "date_formats", "has a form that is not known");
    }
    if (formats == NULL)
        (void)spec_fail(reader, "date_formats", "do not fit into memory");
}

static struct spec_rule read_rule(struct spec_object object, enum response_format format,
                                  bool is_error)
{
    struct spec_rule rule = { .meaning = RULE_ERROR };

    rule.path = spec_path(object, "path", format);
    rule.has_equals = spec_has(object, "equals");
    rule.equals = spec_text(object, "equals");
    if (spec_has(object, "level"))
        rule.level = (enum error_level)spec_code(object, "level", &ERROR_LEVEL_CODES);
    if (!is_error)
        return rule;
    rule.status_count = spec_statuses(object, "status", &rule.statuses);
    rule.header = spec_text(object, "header");
    rule.contains = spec_text(object, "contains");
    rule.meaning = (enum rule_meaning)spec_code(object, "meaning", &RULE_MEANING_CODES);
    rule.code = spec_text(object, "code");
    return rule;
}

static void read_rules(struct spec_object object, const char *name, enum response_format format,
                       struct spec_rule_list *rules)
{
    struct spec_reader *reader = object.reader;
    const struct json_node list = json_get(reader->doc, object.node, str_of(name));
    struct spec_rule *items =
        ARENA_ARRAY(reader->arena, struct spec_rule, json_count(reader->doc, list));
    const bool is_error = str_eq(str_of(name), STR("error_when"));
    struct json_iter it;

    rules->items = items;
    if (items == NULL) {
        (void)spec_fail(reader, name, "does not fit into memory");
        return;
    }
    for (it = json_each(reader->doc, list); json_next(&it); rules->count++)
        items[it.index] =
            read_rule((struct spec_object){ reader, it.value, name }, format, is_error);
}

/* {"name":"path"} or {"name":{"path":...,"required":...}} */
static void read_fields(struct spec_object object, const char *name, enum response_format format,
                        struct spec_field_list *fields)
{
    struct spec_reader *reader = object.reader;
    const struct spec_object map = spec_object(object, name);
    struct spec_field *items =
        ARENA_ARRAY(reader->arena, struct spec_field, json_count(reader->doc, map.node));
    struct json_iter it;

    fields->items = items;
    if (items == NULL) {
        (void)spec_fail(reader, name, "does not fit into memory");
        return;
    }
    for (it = json_each(reader->doc, map.node); json_next(&it); fields->count++) {
        struct spec_field *field = &items[it.index];
        const struct spec_object one = { reader, it.value, name };

        field->name = spec_string(reader, it.name);
        if (json_type(reader->doc, it.value) == JSON_STRING) {
            field->path = spec_path_of(reader, spec_string(reader, it.value), format);
            continue;
        }
        field->path = spec_path(one, "path", format);
        field->is_required = spec_bool(one, "required");
    }
}

void spec_read_response(struct spec_object endpoint, struct spec_response *response)
{
    const struct spec_object object = spec_object(endpoint, "response");
    const enum response_format format =
        (enum response_format)spec_code(object, "format", &RESPONSE_FORMAT_CODES);
    const struct {
        const char *name;
        struct spec_path *path;
    } paths[] = {
        { "items", &response->items },
        { "updated_at", &response->updated_at },
        { "version", &response->version },
        { "total", &response->total },
        { "has_more", &response->has_more },
        { "deleted", &response->deleted },
        { "merged_into", &response->merged_into },
    };

    response->format = format;
    read_namespaces(object, response);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        *paths[i].path = spec_path(object, paths[i].name, format);
    read_id(object, response);
    response->id_separator = spec_text(object, "id_separator");
    response->id_case = (enum letter_case)spec_code(object, "id_case", &LETTER_CASE_CODES);
    read_date_formats(object, response);
    read_rules(object, "success_when", format, &response->success_when);
    read_rules(object, "error_when", format, &response->error_when);
    read_fields(object, "history", format, &response->history);
    read_fields(endpoint, "fields", format, &response->fields);
}
