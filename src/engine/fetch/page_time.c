/* TIME: the next page begins at the last date of this one. The order of the list and its borders
 * are checked, because records would be missed where they are not as declared (page.h). */
#include "base/instant.h"
#include "engine/fetch/page_view.h"

/* The window that is left after this page. The last instant is requested again: it may have more
 * records than the page showed. */
static struct window rest_of(const struct page_view *view)
{
    const int64_t step_us = granularity_us(view->rules->granularity);
    struct window rest = view->state->rest;
    int64_t edge_us;

    if (view->rules->descending) {
        edge_us = instant_floor(view->seen->earliest_us, step_us) + step_us;
        if (edge_us < rest.to_us)
            rest.to_us = edge_us;
    } else {
        edge_us = instant_floor(view->seen->latest_us, step_us);
        if (edge_us > rest.from_us)
            rest.from_us = edge_us;
    }
    return rest;
}

/* The most items on a page of a source that gives fewer than requested, known once a page that
 * looked like the last was not. 0: unknown. */
static int64_t clamp_of(const struct page_view *view)
{
    const struct page_state *state = view->state;

    if (view->seen->fresh > view->seen->unnamed && state->looked_last > state->clamp)
        return state->looked_last;
    return state->clamp;
}

/* This page may be cut off there, too. */
static bool is_clamped(const struct page_view *view)
{
    return clamp_of(view) > 0 && view->seen->items >= clamp_of(view);
}

/* All that is requested lies after the list's dates, in its order: the window has been read. */
static bool has_left_window(const struct page_view *view)
{
    const struct window rest = view->state->rest;

    return view->rules->descending ? view->seen->earliest_us < rest.from_us
                                   : view->seen->latest_us >= rest.to_us;
}

/* A full page of one date, all of it outside of the window: a list that is sorted the other way
 * round begins like this, too. */
static bool is_past_unproved(const struct page_view *view)
{
    const struct window rest = view->state->rest;
    const bool is_outside = view->rules->descending ? view->seen->latest_us < rest.from_us
                                                    : view->seen->earliest_us >= rest.to_us;
    /* Requested once more, it has more items, and fewer than requested: it has the last one. */
    const bool is_last = view->is_short && view->seen->items > view->state->largest;

    return is_outside && view->is_full && !is_last && !view->state->is_head &&
           !page_shows_order(view);
}

/* The order of the list is not as declared, or unknown. */
static struct page_decision end_without_order(const struct page_view *view)
{
    const struct page_seen *seen = view->seen;

    return page_end(seen->has_total && seen->total <= seen->items ? PAGE_END_TOTAL
                                                                  : PAGE_CUT_ORDER);
}

/* A larger page may show a second date. */
static struct page_decision leave_window(const struct page_view *view,
                                         struct page_decision decision)
{
    const struct page_rules *rules = view->rules;

    if (!is_past_unproved(view))
        return page_end(PAGE_END_PAST);
    if (view->state->number > 0 || view->state->size >= rules->size_max ||
        page_limit(view) != PAGE_REASON_NONE)
        return end_without_order(view);
    decision.next.size = rules->size_max;
    return decision;
}

/* The rest without the instant that the page ended with. */
static struct window beyond_instant(const struct page_view *view, struct window rest)
{
    const int64_t step_us = granularity_us(view->rules->granularity);

    if (view->rules->descending)
        rest.to_us = instant_floor(view->seen->earliest_us, step_us);
    else
        rest.from_us = instant_floor(view->seen->latest_us, step_us) + step_us;
    return rest;
}

/* The instant has more records than a page shows. What comes after it is still read. */
static struct page_decision step_over(const struct page_view *view, struct page_decision decision)
{
    const struct window whole = rest_of(view);

    if (!decision.next.has_hole)
        decision.next.hole_us = view->rules->descending ? whole.to_us : whole.from_us;
    decision.next.has_hole = true;
    decision.next.rest = beyond_instant(view, view->state->rest);
    decision.next.size = view->rules->size;
    if (window_is_valid(decision.next.rest))
        return decision;
    decision.step = PAGE_END;
    decision.reason = PAGE_CUT_STUCK;
    return decision;
}

/* A page with room left, of one instant, and no page was larger: whether the source gives no more
 * is seen beyond that instant. */
static bool needs_probe(const struct page_view *view)
{
    const int64_t step_us = granularity_us(view->rules->granularity);

    return (view->state->size == 0 || view->is_short) && !is_clamped(view) &&
           view->seen->items >= view->state->largest &&
           instant_floor(view->seen->earliest_us, step_us) ==
               instant_floor(view->seen->latest_us, step_us) &&
           window_is_valid(beyond_instant(view, view->state->rest));
}

/* There are records after an instant whose page had room for them. Either they are new, and the
 * page shows them now, or the page is all that the source gives. */
static struct page_decision return_to_instant(const struct page_view *view,
                                              struct page_decision decision)
{
    const int64_t step_us = granularity_us(view->rules->granularity);
    const int64_t at_us = instant_floor(view->state->edge_us, step_us);

    decision.next.edge_us = view->state->edge_us;
    if (view->rules->descending)
        decision.next.rest.to_us = at_us + step_us;
    else
        decision.next.rest.from_us = at_us;
    return decision;
}

/* ---- the border, which is the last instant of the page before ---- */

struct window page_window(const struct page_rules *rules, const struct page_state *state)
{
    const int64_t step_us = granularity_us(rules->granularity);
    struct window window = state->rest;

    if (!state->is_exclusive)
        return window;
    if (rules->descending)
        window.to_us += step_us;
    else
        window.from_us -= step_us;
    return window;
}

static int64_t border_of(const struct page_view *view)
{
    return instant_floor(view->state->edge_us, granularity_us(view->rules->granularity));
}

/* The first instant of the page, in the order of the list. */
static int64_t begin_of(const struct page_view *view)
{
    return instant_floor(view->rules->descending ? view->seen->latest_us : view->seen->earliest_us,
                         granularity_us(view->rules->granularity));
}

/* The border was requested, and the page begins after it. */
static bool misses_border(const struct page_view *view)
{
    const struct page_state *state = view->state;
    const bool descending = view->rules->descending;

    if (!state->has_edge || state->is_probe || view->is_unsorted || view->facts->is_total_reached ||
        (descending ? border_of(view) >= state->rest.to_us : border_of(view) < state->rest.from_us))
        return false;
    if (view->seen->items == 0)
        return true;
    return view->seen->has_dates &&
           (descending ? begin_of(view) < border_of(view) : begin_of(view) > border_of(view));
}

/* The request began one step before the rest, and the page shows that step. */
static bool is_inclusive_after_all(const struct page_view *view)
{
    const struct window rest = view->state->rest;

    if (!view->state->is_exclusive || !view->seen->has_dates || view->is_unsorted)
        return false;
    return view->rules->descending ? begin_of(view) >= rest.to_us : begin_of(view) < rest.from_us;
}

/* Nothing is at the border any more: the walk continues there, and does not expect it again. */
static struct page_decision pass_border(const struct page_view *view)
{
    struct page_decision decision;

    if (page_limit(view) != PAGE_REASON_NONE)
        return page_end(page_limit(view));
    decision = page_go_on(view);
    decision.next.is_exclusive = false;
    decision.next.rest = rest_of(view);
    decision.next.edge_us =
        view->rules->descending ? view->seen->earliest_us : view->seen->latest_us;
    return decision;
}

/* Twice in vain, and the page that ended with the border still ends with it. */
static struct page_decision lose_border(const struct page_view *view)
{
    const int64_t step_us = granularity_us(view->rules->granularity);
    struct page_decision decision = page_end(PAGE_CUT_STUCK);

    decision.next.has_hole = true;
    decision.next.hole_us = border_of(view) + (view->rules->descending ? step_us : 0);
    if (view->state->has_hole)
        decision.next.hole_us = view->state->hole_us;
    return decision;
}

/* First the same with one step more, as for a source that leaves out the instant a request begins
 * with. Then the page before once more: its last record may have changed since. */
static struct page_decision step_back(const struct page_view *view)
{
    const struct page_state *state = view->state;
    struct page_decision decision;

    if (page_limit(view) != PAGE_REASON_NONE)
        return page_end(page_limit(view));
    decision = page_go_on(view);
    decision.next.edge_us = state->edge_us;
    decision.next.back_us = state->back_us;
    decision.next.misses = state->misses + 1;
    if (!state->is_exclusive) {
        decision.next.is_exclusive = true;
        return decision;
    }
    if (state->has_missed && state->missed_us == border_of(view))
        return lose_border(view);
    decision.next.has_missed = true;
    decision.next.missed_us = border_of(view);
    decision.next.has_edge = false;
    decision.next.is_exclusive = state->misses == 0; /* else it was only a guess */
    if (view->rules->descending)
        decision.next.rest.to_us = state->back_us;
    else
        decision.next.rest.from_us = state->back_us;
    return decision;
}

/* The source is exclusive, and the first request began with the window: the instant there was left
 * out. It is the last that is requested. */
static bool lacks_head(const struct page_view *view, const struct page_decision *decision)
{
    return decision->step == PAGE_END && !page_is_cut(decision->reason) &&
           view->state->is_exclusive && !view->state->is_head;
}

static struct page_decision request_head(const struct page_view *view)
{
    const int64_t step_us = granularity_us(view->rules->granularity);
    const int64_t first_us = view->state->first_us;
    struct page_decision decision;

    if (page_limit(view) != PAGE_REASON_NONE)
        return page_end(page_limit(view));
    decision = page_go_on(view);
    decision.next.is_head = true;
    decision.next.has_edge = false;
    decision.next.size = view->rules->size;
    decision.next.looked_last = 0;
    if (view->rules->descending)
        decision.next.rest = (struct window){ first_us - step_us, first_us };
    else
        decision.next.rest = (struct window){ first_us, first_us + step_us };
    return decision;
}

/* The page has dates, in order, all within the window. */
static struct page_decision decide_sorted(const struct page_view *view,
                                          struct page_decision decision)
{
    const struct page_rules *rules = view->rules;
    const struct page_state *state = view->state;
    const struct window rest = rest_of(view);
    const bool is_stuck = rest.from_us == state->rest.from_us && rest.to_us == state->rest.to_us;
    const bool has_room = state->size == 0 || view->is_short;

    if (needs_probe(view)) {
        decision.next.is_probe = true;
        decision.next.rest = beyond_instant(view, state->rest);
        return decision;
    }
    if (view->seen->fresh == 0 && view->is_short && !is_clamped(view))
        return page_end(PAGE_END_EMPTY);
    /* The next request would be the same. Items without an id may seem new each time, forever. */
    if (is_stuck && view->seen->fresh == view->seen->unnamed && has_room)
        return is_clamped(view) ? step_over(view, decision) : page_end(PAGE_END_EMPTY);
    if (is_stuck && !has_room) {
        if (state->size >= rules->size_max)
            return step_over(view, decision);
        decision.next.size = state->size * 2 < rules->size_max ? state->size * 2 : rules->size_max;
    }
    decision.next.rest = rest;
    return decision;
}

/* What was requested from beyond the instant on is the instant itself, and nothing new: the source
 * rounds what is requested. */
static bool is_rounded_probe(const struct page_view *view)
{
    const struct page_seen *seen = view->seen;

    if (!view->state->is_probe || seen->fresh > 0 || !seen->has_dates)
        return false;
    return view->rules->descending ? begin_of(view) >= border_of(view)
                                   : begin_of(view) <= border_of(view);
}

/* Nothing is there. After a probe that leaves a page of one instant; one record is all of it. */
static struct page_decision end_empty(const struct page_view *view)
{
    const bool is_in_doubt = view->state->is_probe && view->state->looked_last > 1;

    return page_end(is_in_doubt ? PAGE_END_INSTANT : PAGE_END_EMPTY);
}

/* has_more says that this page is the last. A total counts the rest of the window. Where the dates
 * do not say how to go on, a page with room left is enough. */
static bool ends_by_more(const struct page_view *view)
{
    const struct page_seen *seen = view->seen;

    if (seen->more != PAGE_MORE_NO)
        return false;
    if (seen->has_total)
        return seen->total <= seen->items;
    if (!seen->has_dates || view->is_unsorted)
        return !view->is_full;
    return page_is_told_last(view) || page_limit(view) != PAGE_REASON_NONE;
}

static struct page_decision decide_dates(const struct page_view *view)
{
    const struct page_seen *seen = view->seen;
    struct page_decision decision = page_go_on(view);

    decision.next.clamp = clamp_of(view);
    decision.next.looked_last = view->state->size == 0 || view->is_short ? seen->items : 0;
    if (seen->items == 0 || is_rounded_probe(view))
        return end_empty(view);
    if (view->state->is_probe)
        return return_to_instant(view, decision);
    if (ends_by_more(view))
        return page_end(PAGE_END_NO_MORE);
    if (!seen->has_dates)
        return page_end(PAGE_CUT_STUCK);
    if (view->is_unsorted)
        return end_without_order(view);
    if (has_left_window(view))
        return leave_window(view, decision);
    decision = decide_sorted(view, decision);
    if (decision.step == PAGE_GO_ON && page_limit(view) != PAGE_REASON_NONE)
        return page_end(page_limit(view));
    return decision;
}

static struct page_decision decide_by_border(const struct page_view *view)
{
    struct page_decision decision;

    if (misses_border(view))
        return step_back(view);
    if (is_inclusive_after_all(view))
        return pass_border(view);
    decision = page_is_past(view) ? page_end(PAGE_END_PAST) : decide_dates(view);
    return lacks_head(view, &decision) ? request_head(view) : decision;
}

/* However the walk ends: with a hole it is not complete. */
struct page_decision page_decide_time(const struct page_view *view)
{
    struct page_decision decision = decide_by_border(view);

    if (decision.step != PAGE_END)
        return decision;
    if (view->state->has_hole && !decision.next.has_hole) {
        decision.next.has_hole = true;
        decision.next.hole_us = view->state->hole_us;
    }
    if (decision.next.has_hole && !page_is_cut(decision.reason))
        decision.reason = PAGE_CUT_STUCK;
    return decision;
}
