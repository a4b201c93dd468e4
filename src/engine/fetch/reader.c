/* Opens and closes the paths of an endpoint. */
#include "engine/fetch/reader.h"

#include <assert.h>

#include "core/record_view.h"
#include "data/xml_container.h"

/* Paths beside those of rules and fields. */
enum { FIXED_PATHS = 13 + SPEC_ID_PARTS_MAX + SPEC_DATE_PATHS_MAX };

struct opening {
    struct reader *reader;
    struct arena *arena;
    const struct xml_namespace *namespaces;
    size_t namespace_count;
    struct error *err;
};

static bool open_path(struct opening *opening, const struct spec_path *spec,
                      struct document_path *path)
{
    struct reader *reader = opening->reader;

    *path = (struct document_path){ 0 };
    if (spec->text.len == 0)
        return true;
    if (reader->xml == NULL) {
        assert(spec->json != NULL);
        path->json = spec->json;
        return true;
    }
    if (!xml_path_compile(reader->xml, spec->text, opening->namespaces, opening->namespace_count,
                          &path->xml, opening->err)) {
        opening->err->level = ERROR_FATAL;
        return error_wrap(opening->err, "path %.*s", STR_ARG(spec->text));
    }
    reader->opened[reader->opened_count++] = path->xml;
    return true;
}

static bool open_rules(struct opening *opening, const struct spec_rule_list *rules,
                       struct document_path **paths)
{
    *paths = ARENA_ARRAY(opening->arena, struct document_path, rules->count);
    if (*paths == NULL)
        return arena_error(opening->arena, opening->err);
    for (size_t i = 0; i < rules->count; i++) {
        if (!open_path(opening, &rules->items[i].path, &(*paths)[i]))
            return false;
    }
    return true;
}

static bool open_fields(struct opening *opening, const struct spec_field_list *fields,
                        struct document_path **paths)
{
    *paths = ARENA_ARRAY(opening->arena, struct document_path, fields->count);
    if (*paths == NULL)
        return arena_error(opening->arena, opening->err);
    for (size_t i = 0; i < fields->count; i++) {
        if (!open_path(opening, &fields->items[i].path, &(*paths)[i]))
            return false;
    }
    return true;
}

static bool make_keys(struct opening *opening, const struct spec_field_list *fields)
{
    struct str *keys = ARENA_ARRAY(opening->arena, struct str, fields->count);

    for (size_t i = 0; keys != NULL && i < fields->count; i++)
        keys[i] = view_key(opening->arena, fields->items[i].name, fields->items[i].type,
                           fields->items[i].is_list);
    opening->reader->field_keys = keys;
    return !opening->arena->failed || arena_error(opening->arena, opening->err);
}

/* Where the items are searched. */
static bool open_container(struct opening *opening)
{
    struct reader *reader = opening->reader;
    struct xml_container container = { 0 };

    if (reader->xml != NULL && !xml_container(opening->arena, reader->endpoint->response.items.text,
                                              &container, opening->err))
        return false;
    return open_path(opening, &(struct spec_path){ .text = container.path }, &reader->container) &&
           open_path(opening, &(struct spec_path){ .text = container.elements },
                     &reader->elements) &&
           open_path(opening, &(struct spec_path){ .text = container.strangers },
                     &reader->strangers);
}

/* The lines of a file are the elements of an array (walk_bulk.c). */
static bool open_items(struct opening *opening)
{
    struct reader *reader = opening->reader;
    const struct spec_endpoint *endpoint = reader->endpoint;

    if (endpoint->role == ENDPOINT_BULK && endpoint->response.format == RESPONSE_JSON)
        return jsonpath_compile(opening->arena, STR("$"), &reader->items.json, NULL, opening->err);
    return open_path(opening, &endpoint->response.items, &reader->items);
}

static bool open_fixed(struct opening *opening)
{
    struct reader *reader = opening->reader;
    const struct spec_response *response = &reader->endpoint->response;
    const struct {
        const struct spec_path *spec;
        struct document_path *path;
    } paths[] = {
        { &response->version, &reader->version },
        { &response->total, &reader->total },
        { &response->has_more, &reader->has_more },
        { &response->sequence, &reader->sequence },
        { &response->latest, &reader->latest },
        { &response->sync_token, &reader->sync_token },
        { &response->deleted, &reader->deleted },
        { &response->merged_into, &reader->merged_into },
        { &reader->endpoint->page.next, &reader->next },
    };

    static_assert(ARRAY_LEN(paths) + 4 + SPEC_ID_PARTS_MAX + SPEC_DATE_PATHS_MAX <= FIXED_PATHS,
                  "all are counted");
    if (!open_items(opening))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        if (!open_path(opening, paths[i].spec, paths[i].path))
            return false;
    }
    for (size_t i = 0; i < response->id_count; i++) {
        if (!open_path(opening, &response->id[i], &reader->id[i]))
            return false;
    }
    for (size_t i = 0; i < response->updated_at_count; i++) {
        if (!open_path(opening, &response->updated_at[i], &reader->updated_at[i]))
            return false;
    }
    return open_container(opening);
}

/* What XML needs: the module, the namespaces, the list of paths to close. */
static bool open_xml(struct opening *opening, const struct xml *xml)
{
    struct reader *reader = opening->reader;
    const struct spec_response *response = &reader->endpoint->response;
    const size_t paths_max = FIXED_PATHS + response->success_when.count +
                             response->error_when.count + response->history.count +
                             response->fields.count;
    struct xml_namespace *namespaces =
        ARENA_ARRAY(opening->arena, struct xml_namespace, response->namespace_count);

    reader->opened =
        (struct xml_path **)arena_alloc_array(opening->arena, paths_max, sizeof(reader->opened[0]));
    if (namespaces == NULL || reader->opened == NULL)
        return arena_error(opening->arena, opening->err);
    for (size_t i = 0; i < response->namespace_count; i++)
        namespaces[i] =
            (struct xml_namespace){ response->namespaces[i].prefix, response->namespaces[i].uri };
    opening->namespaces = namespaces;
    opening->namespace_count = response->namespace_count;
    reader->xml = xml != NULL ? xml : module_load("xml", opening->err);
    return reader->xml != NULL;
}

bool reader_open(struct reader *reader, struct arena *arena, const struct spec_endpoint *endpoint,
                 const struct xml *xml, struct error *err)
{
    const struct spec_response *response = &endpoint->response;
    struct opening opening = { .reader = reader, .arena = arena, .err = err };

    *reader = (struct reader){ .endpoint = endpoint };
    if (response->format == RESPONSE_XML && !open_xml(&opening, xml))
        goto fail;
    if (!open_fixed(&opening) || !open_rules(&opening, &response->success_when, &reader->success) ||
        !open_rules(&opening, &response->error_when, &reader->errors) ||
        !open_fields(&opening, &response->history, &reader->history) ||
        !open_fields(&opening, &response->fields, &reader->fields) ||
        !make_keys(&opening, &response->fields))
        goto fail;
    return true;
fail:
    reader_close(reader);
    return error_wrap(err, "endpoint %.*s", STR_ARG(endpoint->name));
}

void reader_close(struct reader *reader)
{
    for (size_t i = 0; i < reader->opened_count; i++)
        xml_path_close(reader->xml, reader->opened[i]);
    *reader = (struct reader){ 0 };
}
