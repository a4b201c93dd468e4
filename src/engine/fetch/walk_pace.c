/* Pages that are large or slow: smaller ones are requested, or the rest of the slice is re-sliced.
 */
#include "engine/fetch/walk.h"

#include <inttypes.h>

/* Smaller pages are more requests: they are halved at most so often because they are slow. */
enum { SLOW_HALVINGS_MAX = 2 };

static bool is_large(const struct fetch *fetch)
{
    return fetch->current != NULL && (int64_t)fetch->current->reply.body.len > FETCH_LARGE_BYTES;
}

/* On average, over the pages since the size was changed. */
static bool is_slow(const struct walk_pace *pace)
{
    return pace->pages >= FETCH_SLOW_PAGES_MIN && pace->latency_us / pace->pages > FETCH_SLOW_US;
}

static bool shrink(struct fetch *fetch)
{
    struct phase *phase = fetch->list;

    if (fetch->order.slice->dimension == SLICE_PAGE || !page_shrink(&phase->rules, &phase->state))
        return false;
    fetch->counts.page_shrunk = true;
    fetch->pace.pages = 0;
    fetch->pace.latency_us = 0;
    return true;
}

/* The rest in pieces, where what was read need not be read again. */
static bool reslice(struct fetch *fetch, enum reslice_reason reason, const char *what)
{
    struct str text;

    if (!fetch->order.can_reslice || !walk_keeps_what_it_read(fetch))
        return false;
    text = arena_printf(&fetch->memory.own, "its pages are %s, and cannot be made smaller", what);
    walk_reslice(fetch, reason, text.data != NULL ? text : STR("its pages are too large or slow"));
    return true;
}

void walk_mind_pace(struct fetch *fetch, const struct fetch_batch *batch)
{
    struct walk_pace *pace = &fetch->pace;

    if (batch->kind == FETCH_DETAILS || fetch->current == NULL)
        return;
    pace->pages++;
    pace->latency_us += fetch->counts.latency_us;
    if (is_large(fetch) && !shrink(fetch) && reslice(fetch, RESLICE_OVERSIZED, "large"))
        return;
    if (!is_slow(pace))
        return;
    if (pace->halvings < SLOW_HALVINGS_MAX && shrink(fetch))
        pace->halvings++;
    else
        (void)reslice(fetch, RESLICE_SLOW, "slow");
}
