/* Decides about pages: where the next one begins, and whether there is one. */
#include "engine/fetch/page.h"

#include <assert.h>

#include "base/attr.h"
#include "engine/fetch/page_view.h"
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
    [PAGE_END_BARE] = "bare",
    [PAGE_END_INSTANT] = "one-instant",
    [PAGE_CUT_PAGES] = "max-pages",
    [PAGE_CUT_CAP] = "cap",
    [PAGE_CUT_LOOP] = "loop",
    [PAGE_CUT_STUCK] = "stuck",
    [PAGE_CUT_VOID] = "empty-pages",
    [PAGE_CUT_ORDER] = "order",
    [PAGE_CUT_LAST] = "last-page",
    [PAGE_CUT_NO_FORWARD] = "no-forward",
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
    return reason >= PAGE_CUT_PAGES && reason <= PAGE_CUT_NO_FORWARD;
}

bool page_is_dead_end(enum page_reason reason)
{
    return reason >= PAGE_CUT_LOOP && reason <= PAGE_CUT_NO_FORWARD;
}

/* ---- rules ---- */

static bool ends_in(struct str text, struct str word)
{
    return text.len >= word.len &&
           str_eq_nocase(str_slice(text, text.len - word.len, text.len), word);
}

/* "updated desc", "updated:desc", "-updated" */
static bool is_descending(struct str order_by)
{
    return str_starts(order_by, STR("-")) || ends_in(order_by, STR("desc"));
}

/* Whether the declared order is one of dates. By TIME the walk depends on it. Where the source
 * filters by the window, the order may be any; window.monotonic says that it is one of dates. */
static bool is_sorted(const struct spec *spec, const struct spec_page *page)
{
    const struct spec_window *window = &spec->endpoint.window;

    if (page->type == PAGINATION_TIME)
        return true;
    return page->order_by.len > 0 &&
           (!window->updated_since || window->monotonic || page->bridge_to_time);
}

struct page_rules page_rules_of(const struct spec *spec, const struct spec_endpoint *endpoint)
{
    const struct spec_page *page = &endpoint->page;

    return (struct page_rules){
        .type = page->type,
        .size = page->size,
        .size_min = page->size_fixed ? page->size : page->size_min,
        .size_max = page->size_fixed ? page->size : page->size_max,
        .max_pages = page->max_pages,
        .cap = page->cap,
        .base = page->base,
        .initial = page->has_initial ? page->initial : (struct str){ NULL, 0 },
        .is_size_fixed = page->size_fixed,
        .replayable = page->replayable,
        .tail_probe = page->tail_probe,
        .same_token = page->same_token,
        .granularity = spec->endpoint.window.granularity,
        .is_sorted = is_sorted(spec, page),
        .descending = is_descending(str_trim(page->order_by)),
    };
}

/* ---- beginning ---- */

struct page_state page_first(const struct page_rules *rules, const struct page_range *pages,
                             struct window window)
{
    struct page_state state = { .size = rules->size, .rest = window };

    state.first_us = rules->descending ? window.to_us : window.from_us;
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

/* ---- all of them ---- */

struct page_decision page_decide(const struct page_rules *rules, const struct page_state *state,
                                 const struct page_seen *seen, const struct page_facts *facts)
{
    const struct page_view view = page_view_of(rules, state, seen, facts);

    assert(seen->items >= 0 && seen->fresh >= 0 && seen->fresh <= seen->items);
    if (page_is_unsure_empty(&view))
        return page_repeat(PAGE_UNSURE_EMPTY);
    if (rules->type == PAGINATION_TIME)
        return page_decide_time(&view);
    if (page_is_past(&view))
        return page_end(PAGE_END_PAST);
    switch (rules->type) {
    case PAGINATION_OFFSET:
    case PAGINATION_PAGE:
        return page_decide_counted(&view);
    case PAGINATION_TOKEN:
    case PAGINATION_URL:
        return page_decide_next(&view);
    case PAGINATION_TIME: /* above */
    case PAGINATION_SINGLE:
        return page_end(PAGE_END_SINGLE);
    case PAGINATION_ID:
        return page_decide_id(&view);
    }
    assert(!"a type of the enum");
    return page_end(PAGE_END_SINGLE);
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
    case PAGINATION_ID:
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
