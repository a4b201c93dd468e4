/* OFFSET and PAGE: the next page is known by its number. */
#include "engine/fetch/page_view.h"

static bool is_range_done(const struct page_view *view)
{
    const struct page_range *pages = view->facts->pages;

    if (pages == NULL)
        return false;
    if (view->rules->type == PAGINATION_PAGE)
        return view->state->page_no + 1 >= pages->to;
    return view->position >= (pages->to - view->rules->base) * view->rules->size;
}

/* After this slice there is none: what the source has beyond page.max_pages is left unread. */
static bool is_last_range(const struct page_view *view)
{
    const struct page_rules *rules = view->rules;

    return rules->max_pages > 0 && view->facts->pages->to >= rules->base + rules->max_pages;
}

/* The total says so, or has_more on a page with room left. */
static bool ends_here(const struct page_view *view)
{
    return view->is_all || (view->seen->more == PAGE_MORE_NO && !view->is_full);
}

/* The last request of a slice by page is for no more than the slice has. */
static void clamp_to_range(const struct page_view *view, struct page_state *next)
{
    const struct page_range *pages = view->facts->pages;
    int64_t left;

    if (pages == NULL || view->rules->type != PAGINATION_OFFSET)
        return;
    left = (pages->to - view->rules->base) * view->rules->size - next->offset;
    if (left < next->size)
        next->size = left;
}

/* The next request is only to see whether the list goes on. */
static bool is_probe_next(const struct page_view *view)
{
    if (view->seen->more == PAGE_MORE_NO)
        return !view->is_missing;
    return view->seen->more == PAGE_MORE_UNKNOWN &&
           (view->is_all || (!view->has_total && view->is_short));
}

/* has_more says so, and nothing else says that all is here. */
static bool says_more(const struct page_view *view)
{
    return view->seen->more == PAGE_MORE_YES && !view->is_all && !view->facts->is_total_reached;
}

struct page_decision page_decide_counted(const struct page_view *view)
{
    const bool is_known = view->seen->items > 0 && view->seen->fresh == 0;
    struct page_decision decision;

    if (view->seen->items == 0)
        return page_end(says_more(view) ? PAGE_CUT_VOID : PAGE_END_EMPTY);
    if (page_confirms_total(view))
        return page_end(PAGE_END_TOTAL);
    if (page_confirms_more(view))
        return page_end(PAGE_END_NO_MORE);
    if (is_known && page_may_repeat(view))
        return page_repeat(PAGE_UNSURE_REPEAT);
    if (page_ends_by_more(view))
        return page_end(PAGE_END_NO_MORE);
    if (view->is_all && !view->is_full && view->seen->more != PAGE_MORE_YES)
        return page_end(PAGE_END_TOTAL);
    if (is_range_done(view))
        return page_end(is_last_range(view) && !ends_here(view) ? PAGE_CUT_LAST : PAGE_END_RANGE);
    if (is_known) /* DataCite repeats its last page forever */
        return page_end(view->state->is_probe ? PAGE_END_EMPTY : PAGE_CUT_LOOP);
    if (page_limit_or_total(view) != PAGE_REASON_NONE)
        return page_end(page_limit_or_total(view));
    decision = page_go_on(view);
    decision.next.page_no++;
    decision.next.is_probe = is_probe_next(view);
    clamp_to_range(view, &decision.next);
    return decision;
}
