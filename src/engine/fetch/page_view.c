/* What a page shows, and the decisions that do not depend on the way of paging. */
#include "engine/fetch/page_view.h"

#include "base/instant.h"

static bool is_by_date(const struct page_rules *rules)
{
    return rules->is_sorted || rules->type == PAGINATION_TIME;
}

static bool is_unsorted(const struct page_rules *rules, const struct page_state *state,
                        const struct page_seen *seen)
{
    const int64_t step_us = granularity_us(rules->granularity);
    const int64_t edge_us = instant_floor(state->edge_us, step_us);
    const int64_t slack_us = state->is_exclusive ? step_us : 0;

    if (state->is_unsorted || seen->is_unsorted)
        return true;
    if (!state->has_edge || !seen->has_dates)
        return false;
    return rules->descending ? instant_floor(seen->latest_us, step_us) > edge_us + slack_us
                             : instant_floor(seen->earliest_us, step_us) < edge_us - slack_us;
}

/* The page is after those before it by a step at least. */
static bool is_step_further(const struct page_rules *rules, const struct page_state *state,
                            const struct page_seen *seen)
{
    const int64_t step_us = granularity_us(rules->granularity);
    const int64_t edge_us = instant_floor(state->edge_us, step_us);

    if (!state->has_edge || !seen->has_dates)
        return false;
    return rules->descending ? instant_floor(seen->latest_us, step_us) < edge_us
                             : instant_floor(seen->earliest_us, step_us) > edge_us;
}

static enum page_order order_of(const struct page_rules *rules, const struct page_state *state,
                                const struct page_seen *seen)
{
    if (is_step_further(rules, state, seen))
        return PAGE_ORDER_STEPS;
    return (int)seen->order > state->order ? seen->order : (enum page_order)state->order;
}

struct page_view page_view_of(const struct page_rules *rules, const struct page_state *state,
                              const struct page_seen *seen, const struct page_facts *facts)
{
    const int64_t position = state->offset + seen->items;
    const bool is_short = state->size > 0 && seen->items < state->size;
    const bool is_largest = state->number > 0 && seen->items >= state->largest;

    return (struct page_view){
        .rules = rules,
        .state = state,
        .seen = seen,
        .facts = facts,
        .position = position,
        .largest = state->largest > facts->largest ? state->largest : facts->largest,
        .is_short = is_short,
        .is_full = seen->items > 0 && ((state->size > 0 && !is_short) || is_largest),
        .has_total = seen->has_total && position <= seen->total,
        .is_all = seen->has_total && position == seen->total,
        .is_missing = seen->has_total && position < seen->total,
        .is_more_wrong = state->is_more_wrong || (state->was_last && seen->fresh > 0),
        .is_unsorted = is_unsorted(rules, state, seen),
        .order = order_of(rules, state, seen),
    };
}

/* What the page shows of the list's order. */
static void move_edge(const struct page_view *view, struct page_state *next)
{
    const struct page_seen *seen = view->seen;
    const int64_t last_us = view->rules->descending ? seen->earliest_us : seen->latest_us;
    const bool is_further =
        view->rules->descending ? last_us < next->edge_us : last_us > next->edge_us;

    next->is_unsorted = view->is_unsorted;
    next->order = view->order;
    if (!seen->has_dates || !is_by_date(view->rules) || (next->has_edge && !is_further))
        return;
    next->has_edge = true;
    next->edge_us = last_us;
}

struct page_decision page_go_on(const struct page_view *view)
{
    struct page_decision decision = { .step = PAGE_GO_ON, .next = *view->state };
    struct page_state *next = &decision.next;

    next->number++;
    next->offset = view->position;
    next->empty_pages = view->seen->items == 0 ? view->state->empty_pages + 1 : 0;
    /* A page shorter than requested says nothing: sources clamp. One shorter than their own pages
     * does. */
    next->was_short = view->seen->items < view->state->largest;
    if (view->seen->items > next->largest)
        next->largest = view->seen->items;
    next->was_repeat = view->seen->items > 0 && view->seen->fresh == 0;
    next->was_last = view->seen->more == PAGE_MORE_NO;
    next->is_more_wrong = view->is_more_wrong;
    next->is_probe = false;
    next->misses = 0;
    next->back_us = view->rules->descending ? next->rest.to_us : next->rest.from_us;
    move_edge(view, next);
    return decision;
}

struct page_decision page_end(enum page_reason reason)
{
    return (struct page_decision){ .step = PAGE_END, .reason = reason };
}

struct page_decision page_repeat(enum page_reason reason)
{
    return (struct page_decision){ .step = PAGE_REPEAT, .reason = reason };
}

bool page_may_repeat(const struct page_view *view)
{
    return view->rules->replayable && !view->facts->is_second;
}

bool page_is_unsure_empty(const struct page_view *view)
{
    if (view->seen->items > 0 || view->seen->is_declared_empty || !page_may_repeat(view) ||
        view->facts->is_total_reached)
        return false;
    if (view->rules->type == PAGINATION_TIME && view->state->is_probe)
        return false; /* after all that was seen */
    if (view->rules->type == PAGINATION_TIME && view->state->number > 0 && !view->state->has_hole)
        return true; /* the last record of the page before should be here again */
    if (view->has_total)
        return view->is_missing || (view->state->number == 0 && view->facts->is_expected);
    if (page_confirms_more(view))
        return false;
    return view->state->number == 0 || !view->state->was_short;
}

enum page_reason page_limit(const struct page_view *view)
{
    const struct page_rules *rules = view->rules;

    if (rules->cap > 0 && view->position >= rules->cap)
        return PAGE_CUT_CAP;
    if (rules->max_pages > 0 && view->state->number + 1 >= rules->max_pages)
        return PAGE_CUT_PAGES;
    if (view->state->empty_pages + (view->seen->items == 0) > PAGE_EMPTY_MAX)
        return PAGE_CUT_VOID;
    return PAGE_REASON_NONE;
}

enum page_reason page_limit_or_total(const struct page_view *view)
{
    const enum page_reason limit = page_limit(view);

    return limit != PAGE_REASON_NONE && view->is_all ? PAGE_END_TOTAL : limit;
}

/* A page after the one that reached the total shows nothing new: the total was right. */
bool page_confirms_total(const struct page_view *view)
{
    return view->facts->is_total_reached && view->seen->fresh == 0 &&
           view->seen->more != PAGE_MORE_YES;
}

bool page_is_told_last(const struct page_view *view)
{
    return view->seen->more == PAGE_MORE_NO && !view->is_full && !view->is_more_wrong &&
           (view->seen->items < view->largest || (view->rules->is_size_fixed && view->is_short));
}

bool page_confirms_more(const struct page_view *view)
{
    return view->state->was_last && !view->is_more_wrong && view->seen->fresh == 0 &&
           view->seen->more != PAGE_MORE_YES && !view->is_missing;
}

/* has_more says that this page is the last. Where nothing else shows the end, one more page is
 * requested. */
bool page_ends_by_more(const struct page_view *view)
{
    return view->seen->more == PAGE_MORE_NO && !view->is_missing &&
           (view->has_total || page_is_told_last(view) || page_limit(view) != PAGE_REASON_NONE);
}

bool page_shows_order(const struct page_view *view)
{
    return view->order == PAGE_ORDER_FINE || view->order == PAGE_ORDER_STEPS;
}

/* The first page may have pinned records only. The next one shows that. */
bool page_is_past(const struct page_view *view)
{
    return view->seen->is_past && !view->is_unsorted && view->state->number > 0 &&
           page_shows_order(view);
}
