/* The mappings of a source that are in force. */
#include "engine/source/mapping.h"

const struct spec_endpoint *mapping_bearer(const struct spec *spec)
{
    return spec->is_two_phase ? &spec->detail : &spec->endpoint;
}

bool mappings_load(struct mappings *mappings, struct arena *arena, const struct source *source,
                   struct error *err)
{
    const struct registry_row *row = NULL;

    while ((row = source_next_operation(source, row)) != NULL) {
        const struct snapshot_request request = { .source = source, .operation = row->key };
        struct mapping *mapping = &mappings->items[mappings->count];

        if (mappings->count == MAPPINGS_MAX)
            return error_set(err, ERROR_REQUEST, "mapping.source",
                             "the source has more than %d operations", MAPPINGS_MAX);
        if (!snapshot_make(arena, &request, &mapping->snapshot, err) ||
            !spec_cache_hold(mappings->specs, mapping->snapshot.json, &mapping->spec, err))
            return false;
        mapping->endpoint = mapping_bearer(mapping->spec);
        mappings->count++;
    }
    return true;
}

void mappings_release(struct mappings *mappings)
{
    for (size_t i = 0; i < mappings->count; i++)
        spec_cache_release(mappings->specs, mappings->items[i].spec);
    mappings->count = 0;
}

const struct mapping *mapping_of(const struct mappings *mappings, struct str endpoint)
{
    for (size_t i = 0; i < mappings->count; i++) {
        if (str_eq(mappings->items[i].endpoint->name, endpoint))
            return &mappings->items[i];
    }
    return NULL;
}
