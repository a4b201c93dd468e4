/* Parents and their fetches. */
#include "engine/update/children.h"

#include "port/store_child.h"

struct judging { /* most of a page was fetched by one expression */
    struct store *store;
    struct arena *arena;
    const struct children_order *order;
    struct str last_hash;
    bool was_current;
};

static bool is_current(struct judging *judging, struct str expr_hash, bool *current,
                       struct error *err)
{
    if (judging->last_hash.data == NULL || !str_eq(judging->last_hash, expr_hash)) {
        if (!current_queries_have(judging->order->current, judging->store, judging->arena,
                                  expr_hash, &judging->was_current, err))
            return false;
        judging->last_hash = expr_hash;
    }
    *current = judging->was_current;
    return true;
}

static bool judge(struct judging *judging, const struct child_fetch *fetch, enum child_due *due,
                  struct error *err)
{
    bool current = true;

    *due = CHILD_MISSING;
    if (!fetch->is_found)
        return true;
    if (judging->order->current != NULL && !is_current(judging, fetch->expr_hash, &current, err))
        return false;
    if (current)
        *due = fetch->fetched_us < judging->order->fetched_before_us ? CHILD_STALE : CHILD_FETCHED;
    return true;
}

bool children_find_due(struct store *store, struct arena *arena, const struct children_order *order,
                       const struct candidate_list *parents, enum child_due *due, struct error *err)
{
    const struct record_context context = { .source = order->source, .endpoint = order->endpoint };
    struct judging judging = { .store = store, .arena = arena, .order = order };
    struct child_fetch *fetches = ARENA_ARRAY(arena, struct child_fetch, parents->count);
    struct str *ids = ARENA_ARRAY(arena, struct str, parents->count);

    if (fetches == NULL || ids == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < parents->count; i++)
        ids[i] = parents->items[i].provider_id;
    if (!store_child_list(store, arena, &context, (struct record_ids){ ids, parents->count },
                          fetches, err))
        return false;
    for (size_t i = 0; i < parents->count; i++) {
        if (!judge(&judging, &fetches[i], &due[i], err))
            return false;
    }
    return true;
}
