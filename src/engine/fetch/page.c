/* Decides about pages: where the next one begins, and whether there is one. */
#include "engine/fetch/page.h"

#include <assert.h>

#include "base/attr.h"
#include "spec/spec.h"

/* ---- words ---- */

static const char *const reason_names[] = {
    [PAGE_REASON_NONE] = "",
    [PAGE_END_SINGLE] = "single",
    [PAGE_END_NO_MORE] = "no-more",
    [PAGE_END_NO_NEXT] = "no-next",
    [PAGE_END_SAME_TOKEN] = "same-token",
    [PAGE_END_TOTAL] = "total",
    [PAGE_END_EMPTY] = "empty",
    [PAGE_END_RANGE] = "range",
    [PAGE_END_PAST] = "past-window",
    [PAGE_CUT_PAGES] = "max-pages",
    [PAGE_CUT_CAP] = "cap",
    [PAGE_CUT_LOOP] = "loop",
    [PAGE_CUT_STUCK] = "stuck",
    [PAGE_CUT_VOID] = "empty-pages",
    [PAGE_UNSURE_EMPTY] = "doubt-empty",
    [PAGE_UNSURE_REPEAT] = "doubt-repeat",
    [PAGE_UNSURE_TAIL] = "doubt-tail",
    [PAGE_UNSURE_LOOP] = "doubt-loop",
};

const char *page_reason_name(enum page_reason reason)
{
    assert((size_t)reason < ARRAY_LEN(reason_names));
    return reason_names[reason];
}

bool page_is_cut(enum page_reason reason)
{
    return reason >= PAGE_CUT_PAGES && reason <= PAGE_CUT_VOID;
}

/* ---- rules ---- */

static bool ends_in(struct str text, struct str word)
{
    return text.len >= word.len &&
           str_eq_nocase(str_slice(text, text.len - word.len, text.len), word);
}

struct page_rules page_rules_of(const struct spec *spec, const struct spec_endpoint *endpoint)
{
    const struct spec_page *page = &endpoint->page;

    return (struct page_rules){
        .type = page->type,
        .size = page->size,
        .size_min = page->size_min,
        .size_max = page->size_max,
        .max_pages = page->max_pages,
        .cap = page->cap,
        .base = page->base,
        .initial = page->has_initial ? page->initial : (struct str){ NULL, 0 },
        .replayable = page->replayable,
        .tail_probe = page->tail_probe,
        .same_token = page->same_token,
        .granularity = spec->endpoint.window.granularity,
        .descending = ends_in(str_trim(page->order_by), STR("desc")),
    };
}

/* ---- beginning ---- */

struct page_state page_first(const struct page_rules *rules, const struct page_range *pages,
                             struct window window)
{
    struct page_state state = { .size = rules->size, .rest = window };

    state.page_no = rules->base;
    if (rules->type == PAGINATION_TOKEN)
        state.token = rules->initial;
    if (pages != NULL) {
        assert(rules->type == PAGINATION_PAGE || rules->type == PAGINATION_OFFSET);
        state.page_no = pages->from;
        state.offset = (pages->from - rules->base) * rules->size;
    }
    return state;
}

/* ---- what a page shows ---- */

struct view { /* one page, and what follows from it */
    const struct page_rules *rules;
    const struct page_state *state;
    const struct page_seen *seen;
    const struct page_facts *facts;
    int64_t position; /* records of the query up to the end of this page */
    bool is_short;    /* fewer than requested */
    bool is_all;      /* the total says that these were all */
    bool is_missing;  /* the total says that there are more */
};

static struct view view_of(const struct page_rules *rules, const struct page_state *state,
                           const struct page_seen *seen, const struct page_facts *facts)
{
    const int64_t position = state->offset + seen->items;

    return (struct view){
        .rules = rules,
        .state = state,
        .seen = seen,
        .facts = facts,
        .position = position,
        .is_short = state->size > 0 && seen->items < state->size,
        .is_all = seen->has_total && position >= seen->total,
        .is_missing = seen->has_total && position < seen->total,
    };
}

static struct page_decision go_on(const struct view *view)
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
    next->is_probe = false;
    return decision;
}

static struct page_decision end(enum page_reason reason)
{
    return (struct page_decision){ .step = PAGE_END, .reason = reason };
}

static struct page_decision repeat(enum page_reason reason)
{
    return (struct page_decision){ .step = PAGE_REPEAT, .reason = reason };
}

static bool may_repeat(const struct view *view)
{
    return view->rules->replayable && !view->facts->is_second;
}

/* Nothing on the page: is there nothing, or is something wrong? */
static bool is_unsure_empty(const struct view *view)
{
    if (view->seen->items > 0 || view->seen->is_declared_empty || !may_repeat(view))
        return false;
    if (view->rules->type == PAGINATION_TIME && view->state->number > 0)
        return true; /* the last record of the page before should be here again */
    if (view->seen->has_total)
        return view->is_missing || (view->state->number == 0 && view->facts->is_expected);
    return view->state->number == 0 || !view->state->was_short;
}

/* What ends a walk although the source has more. NONE: nothing. */
static enum page_reason limit_of(const struct view *view)
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

/* ---- OFFSET and PAGE ---- */

static bool is_range_done(const struct view *view)
{
    const struct page_range *pages = view->facts->pages;

    if (pages == NULL)
        return false;
    if (view->rules->type == PAGINATION_PAGE)
        return view->state->page_no + 1 >= pages->to;
    return view->position >= (pages->to - view->rules->base) * view->rules->size;
}

/* The last request of a slice by page is for no more than the slice has. */
static void clamp_to_range(const struct view *view, struct page_state *next)
{
    const struct page_range *pages = view->facts->pages;
    int64_t left;

    if (pages == NULL || view->rules->type != PAGINATION_OFFSET)
        return;
    left = (pages->to - view->rules->base) * view->rules->size - next->offset;
    if (left < next->size)
        next->size = left;
}

static struct page_decision decide_counted(const struct view *view)
{
    const bool is_known = view->seen->items > 0 && view->seen->fresh == 0;
    struct page_decision decision;

    if (view->seen->items == 0)
        return end(PAGE_END_EMPTY);
    if (is_known && may_repeat(view))
        return repeat(PAGE_UNSURE_REPEAT);
    if (view->seen->more == PAGE_MORE_NO && !view->is_missing)
        return end(PAGE_END_NO_MORE);
    if (view->is_all && view->seen->more != PAGE_MORE_YES)
        return end(PAGE_END_TOTAL);
    if (is_range_done(view))
        return end(PAGE_END_RANGE);
    if (is_known) /* DataCite repeats its last page forever */
        return end(view->state->is_probe ? PAGE_END_EMPTY : PAGE_CUT_LOOP);
    if (limit_of(view) != PAGE_REASON_NONE)
        return end(limit_of(view));
    decision = go_on(view);
    decision.next.page_no++;
    decision.next.is_probe =
        !view->seen->has_total && view->seen->more == PAGE_MORE_UNKNOWN && view->is_short;
    clamp_to_range(view, &decision.next);
    return decision;
}

/* ---- TOKEN and URL ---- */

/* There is no next page. Is that believed? */
static struct page_decision end_of_tokens(const struct view *view, enum page_reason reason)
{
    const bool is_bare = reason == PAGE_END_SAME_TOKEN && view->seen->items > 0 && !view->is_all;
    /* A full page, and no sign that it is the last: a token may have been forgotten. */
    const bool is_full = view->state->size > 0 && !view->is_short && !view->seen->has_total &&
                         view->seen->more == PAGE_MORE_UNKNOWN;
    const bool is_unsure = view->rules->tail_probe || view->is_missing || is_bare || is_full ||
                           view->seen->more == PAGE_MORE_YES;

    if (is_unsure && may_repeat(view))
        return repeat(PAGE_UNSURE_TAIL);
    return end(reason);
}

/* The token that was sent may be a sign of the end. The URL that was sent is not: a source that has
 * a URL for each page has lost one of them. */
static bool is_end_by_same(const struct view *view)
{
    return view->rules->same_token == SAME_TOKEN_END &&
           (view->rules->type == PAGINATION_TOKEN || view->is_all);
}

static struct page_decision decide_next(const struct view *view)
{
    const struct page_seen *seen = view->seen;
    const bool is_same = seen->next.data != NULL && view->state->token.data != NULL &&
                         str_eq(seen->next, view->state->token);
    const bool is_scroll = is_same && view->rules->same_token == SAME_TOKEN_CONTINUE;
    const bool is_known = seen->items > 0 && seen->fresh == 0;
    struct page_decision decision;

    if (is_known && may_repeat(view))
        return repeat(PAGE_UNSURE_REPEAT);
    if (seen->next.data == NULL)
        return end_of_tokens(view, PAGE_END_NO_NEXT);
    if (is_same && is_end_by_same(view))
        return end_of_tokens(view, PAGE_END_SAME_TOKEN);
    if ((is_same && !is_scroll) || (seen->next_is_known && !is_scroll))
        return may_repeat(view) ? repeat(PAGE_UNSURE_LOOP) : end(PAGE_CUT_LOOP);
    if (seen->items == 0 &&
        (seen->is_declared_empty || view->is_all || is_scroll || seen->more == PAGE_MORE_NO))
        return end(PAGE_END_EMPTY);
    if (seen->more == PAGE_MORE_NO && !view->is_missing)
        return end(PAGE_END_NO_MORE);
    if (view->is_all && view->is_short && seen->more != PAGE_MORE_YES)
        return end(PAGE_END_TOTAL);
    if (is_known && (view->state->was_repeat || is_scroll))
        return end(PAGE_CUT_LOOP);
    if (limit_of(view) != PAGE_REASON_NONE)
        return end(limit_of(view));
    decision = go_on(view);
    decision.next.token = seen->next;
    return decision;
}

/* ---- TIME ---- */

static int64_t floor_to(int64_t at_us, int64_t step_us)
{
    return at_us - ((at_us % step_us) + step_us) % step_us;
}

/* The window that is left after this page. The last instant is requested again: it may have more
 * records than the page showed. */
static struct window rest_of(const struct view *view)
{
    const int64_t step_us = granularity_us(view->rules->granularity);
    struct window rest = view->state->rest;
    int64_t edge_us;

    if (view->rules->descending) {
        edge_us = floor_to(view->seen->earliest_us, step_us) + step_us;
        if (edge_us < rest.to_us)
            rest.to_us = edge_us;
    } else {
        edge_us = floor_to(view->seen->latest_us, step_us);
        if (edge_us > rest.from_us)
            rest.from_us = edge_us;
    }
    return rest;
}

/* The most items on a page of a source that gives fewer than requested, known once a page that
 * looked like the last was not. 0: unknown. */
static int64_t clamp_of(const struct view *view)
{
    const struct page_state *state = view->state;

    if (view->seen->fresh > view->seen->unnamed && state->looked_last > state->clamp)
        return state->looked_last;
    return state->clamp;
}

/* This page may be cut off there, too. */
static bool is_clamped(const struct view *view)
{
    return clamp_of(view) > 0 && view->seen->items >= clamp_of(view);
}

static struct page_decision decide_time(const struct view *view)
{
    const struct page_rules *rules = view->rules;
    const struct page_state *state = view->state;
    struct page_decision decision = go_on(view);
    struct window rest;
    bool is_stuck;

    decision.next.clamp = clamp_of(view);
    decision.next.looked_last = state->size == 0 || view->is_short ? view->seen->items : 0;
    if (view->seen->items == 0 || (view->seen->fresh == 0 && view->is_short && !is_clamped(view)))
        return end(PAGE_END_EMPTY);
    if (view->seen->more == PAGE_MORE_NO)
        return end(PAGE_END_NO_MORE);
    if (!view->seen->has_dates)
        return end(PAGE_CUT_STUCK);
    rest = rest_of(view);
    is_stuck = rest.from_us == state->rest.from_us && rest.to_us == state->rest.to_us;
    /* The next request would be the same. Items without an id may seem new each time, forever. */
    if (is_stuck && view->seen->fresh == view->seen->unnamed &&
        (state->size == 0 || view->is_short))
        return end(is_clamped(view) ? PAGE_CUT_STUCK : PAGE_END_EMPTY);
    if (is_stuck && !view->is_short && state->size > 0) {
        if (state->size >= rules->size_max)
            return end(PAGE_CUT_STUCK);
        decision.next.size = state->size * 2 < rules->size_max ? state->size * 2 : rules->size_max;
    }
    if (limit_of(view) != PAGE_REASON_NONE)
        return end(limit_of(view));
    decision.next.rest = rest;
    return decision;
}

/* ---- all of them ---- */

struct page_decision page_decide(const struct page_rules *rules, const struct page_state *state,
                                 const struct page_seen *seen, const struct page_facts *facts)
{
    const struct view view = view_of(rules, state, seen, facts);

    assert(seen->items >= 0 && seen->fresh >= 0 && seen->fresh <= seen->items);
    if (is_unsure_empty(&view))
        return repeat(PAGE_UNSURE_EMPTY);
    if (seen->is_past)
        return end(PAGE_END_PAST);
    switch (rules->type) {
    case PAGINATION_OFFSET:
    case PAGINATION_PAGE:
        return decide_counted(&view);
    case PAGINATION_TOKEN:
    case PAGINATION_URL:
        return decide_next(&view);
    case PAGINATION_TIME:
        return decide_time(&view);
    case PAGINATION_SINGLE:
        return end(PAGE_END_SINGLE);
    }
    assert(!"a type of the enum");
    return end(PAGE_END_SINGLE);
}

/* ---- sizes ---- */

/* PAGE: page n of size s is pages 2n and 2n+1 of size s/2, if all pages so far had size s. */
static bool halve_page_number(const struct page_rules *rules, struct page_state *state)
{
    const int64_t before = state->page_no - rules->base;

    if (state->size % 2 != 0 || state->offset != before * state->size)
        return false;
    state->page_no = rules->base + before * 2;
    return true;
}

bool page_shrink(const struct page_rules *rules, struct page_state *state)
{
    const int64_t least = rules->size_min > 0 ? rules->size_min : 1;
    int64_t size = state->size / 2;

    if (state->size <= least)
        return false;
    if (size < least)
        size = least;
    switch (rules->type) {
    case PAGINATION_PAGE:
        if (size * 2 != state->size || !halve_page_number(rules, state))
            return false;
        break;
    case PAGINATION_URL:
        if (state->token.data != NULL)
            return false; /* the size is in the source's own URL */
        break;
    case PAGINATION_TOKEN:
        if (!rules->replayable && state->number > 0)
            return false; /* a scroll keeps the size it began with */
        break;
    case PAGINATION_OFFSET:
    case PAGINATION_TIME:
        break;
    case PAGINATION_SINGLE:
        return false;
    }
    state->size = size;
    return true;
}

bool page_is_over_cap(const struct page_rules *rules, int64_t total)
{
    return rules->cap > 0 && total > rules->cap;
}
