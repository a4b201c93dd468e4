/* TOKEN and URL: the source names the next page, or says nothing. */
#include "engine/fetch/page_view.h"

/* There is no next page. Is that believed? */
static struct page_decision end_of_tokens(const struct page_view *view, enum page_reason reason)
{
    const bool is_same = reason == PAGE_END_SAME_TOKEN && view->seen->items > 0 && !view->is_all;
    const bool has_no_sign = !view->has_total && view->seen->more == PAGE_MORE_UNKNOWN;
    /* A full page, and no sign that it is the last: a token may have been forgotten. */
    const bool is_bare = view->is_full && has_no_sign;
    /* With the token that was sent, a page is the last by a second sign if another was longer. */
    const bool is_stuck = is_same && has_no_sign && view->seen->items >= view->largest;
    const bool is_unsure = view->rules->tail_probe || view->is_missing || is_same || is_bare ||
                           view->seen->more == PAGE_MORE_YES;

    if (is_unsure && page_may_repeat(view))
        return page_repeat(PAGE_UNSURE_TAIL);
    if (is_stuck || (is_bare && (view->seen->lacks_next || is_same)))
        return page_end(PAGE_END_BARE);
    return page_end(reason);
}

/* The token of a scroll says nothing about further pages: there, a short page and the total are
 * enough. */
static bool is_end_by_total(const struct page_view *view)
{
    return view->is_all && view->is_short && view->rules->same_token == SAME_TOKEN_CONTINUE &&
           view->seen->more != PAGE_MORE_YES;
}

/* The token that was sent may be a sign of the end, unless it came with an earlier page: then the
 * source ignores tokens. Nor is it one where has_more is true. The URL that was sent is none: a
 * source that has a URL for each page has lost one of them. */
static bool is_end_by_same(const struct page_view *view)
{
    const bool is_known = view->seen->items > 0 && view->seen->fresh == 0;

    return view->rules->same_token == SAME_TOKEN_END &&
           ((view->rules->type == PAGINATION_TOKEN && !is_known &&
             view->seen->more != PAGE_MORE_YES) ||
            view->is_all);
}

struct page_decision page_decide_next(const struct page_view *view)
{
    const struct page_seen *seen = view->seen;
    const bool is_same = seen->next.data != NULL && view->state->token.data != NULL &&
                         str_eq(seen->next, view->state->token);
    const bool is_scroll = is_same && view->rules->same_token == SAME_TOKEN_CONTINUE;
    const bool is_known = seen->items > 0 && seen->fresh == 0;
    struct page_decision decision;

    if (seen->items > 0 && page_confirms_total(view))
        return page_end(PAGE_END_TOTAL);
    if (seen->items > 0 && page_confirms_more(view))
        return page_end(PAGE_END_NO_MORE);
    if (is_known && page_may_repeat(view))
        return page_repeat(PAGE_UNSURE_REPEAT);
    if (seen->next.data == NULL)
        return end_of_tokens(view, PAGE_END_NO_NEXT);
    if (is_same && is_end_by_same(view))
        return end_of_tokens(view, PAGE_END_SAME_TOKEN);
    if ((is_same && !is_scroll) || (seen->next_is_known && !is_scroll))
        return page_may_repeat(view) ? page_repeat(PAGE_UNSURE_LOOP) : page_end(PAGE_CUT_LOOP);
    if (seen->items == 0 && (seen->is_declared_empty || view->is_all || page_confirms_total(view) ||
                             is_scroll || seen->more == PAGE_MORE_NO))
        return page_end(PAGE_END_EMPTY);
    if (page_ends_by_more(view))
        return page_end(PAGE_END_NO_MORE);
    if (is_end_by_total(view))
        return page_end(PAGE_END_TOTAL);
    if (is_known && (view->state->was_repeat || is_scroll))
        return page_end(PAGE_CUT_LOOP);
    if (page_limit_or_total(view) != PAGE_REASON_NONE)
        return page_end(page_limit_or_total(view));
    decision = page_go_on(view);
    decision.next.is_probe = view->is_all || view->seen->more == PAGE_MORE_NO;
    decision.next.token = seen->next;
    return decision;
}
