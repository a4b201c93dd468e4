/* Ids that a cut by ids would not find. */
#include "engine/fetch/walk.h"

static struct str id_at(const struct fetch *fetch, const struct listing *listing, size_t i)
{
    return fetch->mode == WALK_PAGES ? listing->records.items[i].provider_id : listing->ids[i];
}

static size_t id_count(const struct fetch *fetch, const struct listing *listing)
{
    return fetch->mode == WALK_PAGES ? listing->records.count : listing->hash_count;
}

/* The first id of the page outside of the range. Ids that are no numbers say nothing: the source
 * may filter by others than it shows. */
static bool find_stray(const struct fetch *fetch, const struct listing *listing,
                       struct id_range within, struct str *stray)
{
    int64_t id;

    for (size_t i = 0; i < id_count(fetch, listing); i++) {
        *stray = id_at(fetch, listing, i);
        if (str_to_i64(*stray, &id) && !id_range_has(within, id))
            return true;
    }
    return false;
}

bool walk_ends_astray(struct fetch *fetch, const struct listing *listing, bool is_over)
{
    const struct spec_page *page = &fetch->spec->endpoint.page;
    const struct id_range part = fetch->order.slice->part;
    char asked[ID_RANGE_TEXT_MAX];
    struct str stray, reason;

    if (id_range_is_valid(part) && find_stray(fetch, listing, part, &stray)) {
        id_range_text(part, asked);
        reason = arena_printf(&fetch->own,
                              "asked for %s, the source gave %.*s: it does not keep to "
                              "${slice.from} and ${slice.last}",
                              asked, STR_ARG(stray));
    } else if (is_over && fetch->order.by_ids &&
               find_stray(fetch, listing, (struct id_range){ page->id_min, page->id_max + 1 },
                          &stray))
        reason = arena_printf(&fetch->own,
                              "above the cap, and not to be cut by ids: %.*s is not between "
                              "page.id_min and page.id_max",
                              STR_ARG(stray));
    else
        return false;
    fetch->list->end = PAGE_CUT_CAP;
    walk_end(fetch, FETCH_CUT_SHORT, reason);
    return true;
}
