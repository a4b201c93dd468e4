/* Pages of a feed: each request has the highest id received, and its page the ids above it.
 *
 * The walk goes as far as the source goes. An end that is too early loses nothing: the cursor moves
 * to the last id that is stored, and the next harvest continues there. But it must not be called
 * done, so no sign ends the walk by itself:
 *
 *      empty page          requested twice (page.h); where the source says that it has higher ids,
 *                          the walk ends there too, but is not complete (feed.c)
 *      ... has_more true   requested twice, then cut short
 *      ... a higher next   followed: the source skips what it does not show
 *      has_more false      an end on a page shorter than another one of the walk, unless latest is
 *                          above it; otherwise one more page is requested, as a probe
 *      latest reached      an end on a page shorter than those before it; otherwise a probe. Some
 *                          sources give the last id of the page there, and not of the source. One
 *                          that is below an id that came ends nothing (feed.c).
 *
 * What would lose records is a page that is not in the order of its ids, because the walk would go
 * on after the highest of them. That page, and one whose ids are not above those requested, is
 * requested once more; then the walk is cut short.
 */
#include "engine/fetch/page_view.h"

static struct page_decision doubt(const struct page_view *view, enum page_reason reason)
{
    if (!view->facts->is_second)
        return page_repeat(PAGE_UNSURE_LOOP);
    return page_end(reason);
}

static struct page_decision go_on(const struct page_view *view)
{
    const enum page_reason limit = page_limit(view);
    struct page_decision decision;

    if (limit != PAGE_REASON_NONE)
        return page_end(limit);
    decision = page_go_on(view);
    decision.next.token = view->seen->next;
    return decision;
}

/* Nothing new on the page. */
static struct page_decision decide_empty(const struct page_view *view)
{
    const struct page_seen *seen = view->seen;
    const bool is_unsure = seen->is_below_latest || seen->more == PAGE_MORE_YES;

    if (is_unsure && !view->facts->is_second)
        return page_repeat(PAGE_UNSURE_EMPTY);
    if (seen->items == 0 && seen->next.data != NULL && seen->place == PAGE_PLACE_FORWARD &&
        !seen->is_latest)
        return go_on(view);
    return page_end(seen->more == PAGE_MORE_YES ? PAGE_CUT_VOID : PAGE_END_EMPTY);
}

struct page_decision page_decide_id(const struct page_view *view)
{
    const struct page_seen *seen = view->seen;
    const bool is_no_more = seen->more == PAGE_MORE_NO && !seen->is_below_latest;
    const bool is_latest = seen->is_latest && seen->more != PAGE_MORE_YES;
    const bool is_limit = page_limit(view) != PAGE_REASON_NONE;
    struct page_decision decision;

    /* A filter that includes the id it is given shows the last record again. */
    if (seen->items == 0 || seen->place == PAGE_PLACE_BORDER)
        return decide_empty(view);
    if (seen->next.data == NULL)
        return doubt(view, PAGE_CUT_STUCK);
    if (seen->place == PAGE_PLACE_BACK || seen->is_unordered)
        return doubt(view, PAGE_CUT_NO_FORWARD);
    if (is_no_more && (page_is_told_last(view) || is_limit))
        return page_end(PAGE_END_NO_MORE);
    if (is_latest && ((!view->is_full && view->state->number > 0) || is_limit))
        return page_end(PAGE_END_TOTAL);
    decision = go_on(view);
    decision.next.is_probe = is_no_more || is_latest;
    return decision;
}
