/* Pages of a feed: each request has the highest id received, and its page the ids above it.
 *
 * The walk goes as far as the source goes. An end that is too early loses nothing: the cursor moves
 * to the last id that is stored, and the next harvest continues there. So an empty page is believed
 * when it was received twice (page.h). Where the source says that it has higher ids, the walk ends
 * there too, but is not complete (feed.c).
 *
 * What would lose records is a page that is not in the order of its ids, because the walk would go
 * on after the highest of them. That page, and one whose ids are not above those requested, is
 * requested once more; then the walk is cut short.
 */
#include "engine/fetch/page_view.h"

static struct page_decision doubt(const struct page_facts *facts, enum page_reason reason)
{
    if (!facts->is_second)
        return (struct page_decision){ .step = PAGE_REPEAT, .reason = PAGE_UNSURE_LOOP };
    return page_end(reason);
}

struct page_decision page_decide_id(const struct page_rules *rules, const struct page_state *state,
                                    const struct page_seen *seen, const struct page_facts *facts)
{
    struct page_decision decision = { .step = PAGE_GO_ON, .next = *state };
    struct page_state *next = &decision.next;

    /* A filter that includes the id it is given shows the last record again. */
    if (seen->items == 0 || seen->place == PAGE_PLACE_BORDER)
        return seen->is_below_latest && !facts->is_second ? page_repeat(PAGE_UNSURE_EMPTY)
                                                          : page_end(PAGE_END_EMPTY);
    if (seen->next.data == NULL)
        return doubt(facts, PAGE_CUT_STUCK);
    if (seen->place == PAGE_PLACE_BACK || seen->is_unordered)
        return doubt(facts, PAGE_CUT_NO_FORWARD);
    if (seen->more == PAGE_MORE_NO)
        return page_end(PAGE_END_NO_MORE);
    if (seen->is_latest)
        return page_end(PAGE_END_TOTAL);
    if (rules->max_pages > 0 && state->number + 1 >= rules->max_pages)
        return page_end(PAGE_CUT_PAGES);
    next->number++;
    next->offset += seen->items;
    next->empty_pages = 0;
    next->was_short = seen->items < state->largest;
    if (seen->items > next->largest)
        next->largest = seen->items;
    next->was_repeat = seen->fresh == 0;
    next->token = seen->next;
    return decision;
}
