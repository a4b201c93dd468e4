/* The endpoints of a cursor: its own, those of the source, those of the store. */
#include "engine/cursor/cursor_members.h"

#include "base/list.h"
#include "core/cursor.h"

static bool add(struct arena *arena, struct str endpoint, struct endpoint_list *members,
                struct error *err)
{
    struct str *slot;

    for (size_t i = 0; i < members->count; i++) {
        if (str_eq(members->items[i], endpoint))
            return true;
    }
    slot = LIST_ADD(arena, members);
    if (slot == NULL)
        return arena_error(arena, err);
    *slot = endpoint;
    return true;
}

bool cursor_members(struct store *store, struct arena *arena, const struct coverage_namespace *of,
                    struct cursor_sharing sharing, struct endpoint_list *members, struct error *err)
{
    struct endpoint_list planned;

    *members = (struct endpoint_list){ 0 };
    if (of->endpoint.len > 0 && !add(arena, of->endpoint, members, err))
        return false;
    if (!cursor_key_is_shared(of->cursor_key))
        return true;
    for (size_t i = 0; i < sharing.count; i++) {
        if (!add(arena, sharing.with[i], members, err))
            return false;
    }
    if (sharing.is_current)
        return true;
    if (!store_coverage_endpoints(store, arena, of, &planned, err))
        return false;
    for (size_t i = 0; i < planned.count; i++) {
        if (!add(arena, planned.items[i], members, err))
            return false;
    }
    return true;
}
