/* Operations whose query or mapping a new version of a source changes. */
#include "spec/source_effect.h"

#include <string.h>

#include "base/list.h"
#include "core/source_codes.h"
#include "spec/snapshot.h"

static bool changes_of(struct arena *arena, const struct source *old, const struct source *new,
                       struct source_effect *effect, struct error *err)
{
    struct snapshot before, after;

    if (!snapshot_make(arena,
                       &(struct snapshot_request){ .source = old, .operation = effect->operation },
                       &before, err) ||
        !snapshot_make(arena,
                       &(struct snapshot_request){ .source = new, .operation = effect->operation },
                       &after, err))
        return false;
    effect->query_changed = strcmp(before.query_hash, after.query_hash) != 0;
    effect->mapping_changed = strcmp(before.mapping_hash, after.mapping_hash) != 0;
    return true;
}

static bool describe(struct arena *arena, const struct source *new, const struct registry_row *row,
                     struct source_effect *effect, struct error *err)
{
    const int endpoint = registry_column(row->table, STR("target_endpoint"));
    struct resolution in;

    if (!resolve(arena,
                 &(struct resolve_request){
                     .source = new, .endpoint = row->values[endpoint].text, .operation = row },
                 &in, err))
        return false;
    effect->keeps_cursor = resolution_code(&in, "namespace") == NAMESPACE_GLOBAL;
    effect->is_by_id = resolution_code(&in, "drive") == UPDATE_BY_ID;
    return true;
}

bool source_effects(struct arena *arena, const struct source *old, const struct source *new,
                    struct source_effect_list *list, struct error *err)
{
    const struct registry_row *row = NULL;

    *list = (struct source_effect_list){ 0 };
    while ((row = source_next_operation(new, row)) != NULL) {
        struct source_effect effect = { .operation = row->key };
        struct source_effect *slot;

        if (source_row(old, REGISTRY_OPERATION, STR(""), row->key) == NULL)
            continue;
        if (!changes_of(arena, old, new, &effect, err))
            return false;
        if (!effect.query_changed && !effect.mapping_changed)
            continue;
        if (!describe(arena, new, row, &effect, err))
            return false;
        slot = LIST_ADD(arena, list);
        if (slot == NULL)
            return arena_error(arena, err);
        *slot = effect;
    }
    return true;
}

static const char *query_text(const struct source_effect *effect)
{
    if (effect->is_by_id)
        return "it requests the stored records again";
    if (effect->keeps_cursor)
        return "its cursor stays (namespace: global), so windows before it keep what the old query "
               "fetched; patra cursor reset or a backfill fetches them again";
    return "it starts again from the beginning; what the old query fetched is kept and does not "
           "count as covered. harvest --from DATE starts it later";
}

void source_effects_print(const struct source_effect_list *list, struct str source, struct buf *out)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct source_effect *effect = &list->items[i];

        if (effect->query_changed)
            buf_printf(out, "%.*s: the query changed: %s\n", STR_ARG(effect->operation),
                       query_text(effect));
        if (effect->mapping_changed)
            buf_printf(out,
                       "%.*s: the mapping changed: stored records keep the old fields until patra "
                       "rederive %.*s, or an update, reads them again without requests\n",
                       STR_ARG(effect->operation), STR_ARG(source));
    }
}
