/* WALK_HISTORY: a search whose result the source keeps. One request of phase one searches and
 * captures what leads to the result (a key, a token); the pages of phase two list its records.
 */
#include "engine/fetch/walk.h"

static bool finds_nothing(const struct exchange *search)
{
    return search->response.kind == RESPONSE_EMPTY ||
           (search->listing.has_total && search->listing.total == 0);
}

bool history_search(struct fetch *fetch, struct exchange **found, struct error *err)
{
    const struct exchange_request request = { .phase = fetch->list, .ids_only = true };
    struct exchange *second;

    if (!walk_run_checked(fetch, &request, found, err))
        return false;
    if (!finds_nothing(*found) || (*found)->response.kind == RESPONSE_EMPTY ||
        !walk_expects_records(fetch))
        return true;
    if (!walk_repeat(fetch, &request, found, &second, err))
        return false;
    *found = second;
    return true;
}

/* Copies what the search captured: it outlives the page. */
static bool capture(struct search_history *history, struct arena *arena,
                    const struct listing *listing, struct error *err)
{
    struct listing_value *values = ARENA_ARRAY(arena, struct listing_value, listing->history_count);

    if (values == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < listing->history_count; i++) {
        values[i].name = listing->history[i].name; /* the spec's */
        values[i].value = arena_copy(arena, listing->history[i].value);
        if (values[i].value.data == NULL)
            return arena_error(arena, err);
    }
    *history = (struct search_history){ .values = values,
                                        .count = listing->history_count,
                                        .has_total = listing->has_total,
                                        .total = listing->total };
    return true;
}

bool history_enter(struct fetch *fetch, const struct exchange *search, struct error *err)
{
    struct phase *pages = &fetch->phases[1];

    if (!capture(&fetch->history, &fetch->memory.own, &search->listing, err))
        return false;
    fetch->phases[0].is_done = true;
    fetch->phases[0].end = PAGE_END_SINGLE;
    fetch->list = pages;
    if (finds_nothing(search)) {
        pages->proof.has_total = search->listing.has_total;
        pages->is_done = true;
        pages->end = PAGE_END_EMPTY;
    }
    return true;
}
