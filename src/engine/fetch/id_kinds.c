/* Numbers and texts among the ids of a walk. */
#include "engine/fetch/id_kinds.h"

#include <assert.h>

void id_kinds_init(struct id_kinds *kinds, struct arena *arena)
{
    *kinds = (struct id_kinds){ 0 };
    id_set_init(&kinds->odd, arena);
}

void id_kinds_clear(struct id_kinds *kinds)
{
    kinds->has_first = false;
    id_set_clear(&kinds->odd);
}

bool id_kinds_page_init(struct id_kinds_page *page, struct arena *arena, size_t most,
                        struct error *err)
{
    page->ids = arena_alloc(arena, sizeof(*page->ids) * (most + 1));
    page->count = 0;
    page->odd = 0;
    return page->ids != NULL || arena_error(arena, err);
}

/* The kind of the walk's first id; before any, of this one. */
static unsigned first_kind(const struct id_kinds_page *page, unsigned kind)
{
    if (page->kinds != NULL && page->kinds->has_first)
        return page->kinds->first;
    return page->count > 0 ? page->ids[0].kind : kind;
}

static bool is_on_page(const struct id_kinds_page *page, uint64_t hash, unsigned other_than)
{
    for (size_t i = 0; i < page->count; i++) {
        if (page->ids[i].hash == hash && page->ids[i].kind != other_than)
            return true;
    }
    return false;
}

/* An id of an earlier page has the first kind, or is in the set of the others. */
static bool is_on_earlier_page(const struct id_kinds_page *page, uint64_t hash, bool is_odd)
{
    if (page->kinds == NULL)
        return false;
    if (!is_odd)
        return page->kinds->odd.count > 0 && id_set_has(&page->kinds->odd, hash);
    return id_set_has(page->seen, hash) && !id_set_has(&page->kinds->odd, hash);
}

void id_kinds_page_add(struct id_kinds_page *page, uint64_t hash, unsigned kind, bool *is_ambiguous)
{
    const bool is_odd = kind != first_kind(page, kind);

    /* With one kind on the page there is nothing to look for. */
    *is_ambiguous = is_on_earlier_page(page, hash, is_odd) ||
                    ((is_odd || page->odd > 0) && is_on_page(page, hash, kind));
    if (*is_ambiguous)
        return;
    page->ids[page->count].hash = hash;
    page->ids[page->count++].kind = kind;
    page->odd += is_odd;
}

bool id_kinds_accept(struct id_kinds *kinds, const struct id_kinds_page *page, struct error *err)
{
    bool is_new;

    if (page->count == 0)
        return true;
    if (!kinds->has_first) {
        kinds->has_first = true;
        kinds->first = page->ids[0].kind;
    }
    for (size_t i = 0; i < page->count && page->odd > 0; i++) {
        if (page->ids[i].kind != kinds->first &&
            !id_set_add(&kinds->odd, page->ids[i].hash, &is_new, err))
            return false;
    }
    return true;
}
