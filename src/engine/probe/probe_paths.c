/* Paths that find nothing in any record: usually a name that was mistyped, or that only some other
 * endpoint returns. Nothing is wrong with a single record that lacks a field. */
#include "base/list.h"
#include "engine/probe/probe.h"

static bool add(struct probe *probe, struct str name, struct str text,
                const struct document_path *path, struct error *err)
{
    struct probe_path *slot = LIST_ADD(probe->arena, &probe->paths);

    if (slot == NULL || name.data == NULL)
        return arena_error(probe->arena, err);
    *slot = (struct probe_path){ .name = name, .text = text, .path = path };
    return true;
}

/* Of a path with several alternatives, each is looked at: the others hide one that is wrong. */
static bool add_all(struct probe *probe, struct error *err)
{
    const struct spec_response *response = &probe->endpoint->response;
    const struct spec_field_list *fields = &response->fields;

    for (size_t i = 0; i < fields->count; i++) {
        const struct str name =
            arena_printf(probe->arena, "fields.%.*s", STR_ARG(fields->items[i].name));

        if (!add(probe, name, fields->items[i].path.text, &probe->reader.fields[i], err))
            return false;
    }
    for (size_t i = 0; response->updated_at_count > 1 && i < response->updated_at_count; i++) {
        if (!add(probe, STR("response.updated_at"), response->updated_at[i].text,
                 &probe->reader.updated_at[i], err))
            return false;
    }
    return response->version.text.len == 0 ||
           add(probe, STR("response.version"), response->version.text, &probe->reader.version, err);
}

bool probe_count_paths(struct probe *probe, struct error *err)
{
    const struct listing *listing = &probe->listing;

    if (probe->lists_ids)
        return true;
    if (probe->paths.count == 0 && !add_all(probe, err))
        return false;
    for (size_t i = 0; i < listing->records.count; i++) {
        const struct document_place place = { &probe->response.document,
                                              listing->records.items[i].node, probe->arena };

        if (listing->records.items[i].is_deleted) /* a tombstone has little but its id */
            continue;
        probe->paths.records++;
        for (size_t j = 0; j < probe->paths.count; j++) {
            bool is_there;

            if (!document_is_there(&place, probe->paths.items[j].path, &is_there, err))
                return false;
            probe->paths.items[j].found += is_there;
        }
    }
    return true;
}

bool probe_warn_paths(struct probe *probe, struct error *err)
{
    for (size_t i = 0; i < probe->paths.count && probe->paths.records > 0; i++) {
        const struct probe_path *path = &probe->paths.items[i];

        if (path->found == 0)
            probe_tell(probe, "%.*s (%.*s) finds nothing in any of the %zu records: is it right?",
                       STR_ARG(path->name), STR_ARG(path->text), probe->paths.records);
    }
    return !probe->arena->failed || arena_error(probe->arena, err);
}
