/* Paging: the decision on each response, as a table. */
#include <stdio.h>

#include "engine/fetch/page.h"
#include "random.h"
#include "test.h"

/* ---- one response ---- */

static const struct page_rules offset_rules = {
    .type = PAGINATION_OFFSET,
    .size = 10,
    .size_min = 1,
    .replayable = true,
};
static const struct page_rules fixed_rules = {
    .type = PAGINATION_OFFSET,
    .size = 10,
    .is_size_fixed = true,
    .replayable = true,
};
static const struct page_rules token_rules = {
    .type = PAGINATION_TOKEN,
    .size = 10,
    .replayable = true,
    .initial = STR_INIT("*"),
};
static const struct page_rules probing_rules = {
    .type = PAGINATION_TOKEN,
    .size = 10,
    .replayable = true,
    .tail_probe = true,
};
static const struct page_rules scroll_rules = {
    .type = PAGINATION_TOKEN,
    .size = 10,
    .same_token = SAME_TOKEN_CONTINUE,
};
static const struct page_rules strict_rules = {
    .type = PAGINATION_TOKEN,
    .size = 10,
    .replayable = true,
    .same_token = SAME_TOKEN_ERROR,
};
static const struct page_rules link_rules = {
    .type = PAGINATION_URL,
    .size = 10,
    .replayable = true,
};
static const struct page_rules few_pages_rules = {
    .type = PAGINATION_OFFSET,
    .size = 10,
    .replayable = true,
    .max_pages = 3,
};
static const struct page_rules capped_rules = {
    .type = PAGINATION_OFFSET,
    .size = 10,
    .replayable = true,
    .cap = 30,
};
static const struct page_rules single_rules = { .type = PAGINATION_SINGLE, .replayable = true };

/* Which page the response is: the third one, after 20 records; the same, requested once more, or
 * after a page shorter than the one before it; or the first, once or twice. */
enum place { THIRD, AGAIN, BEHIND_SHORT, FIRST, FIRST_AGAIN };

/* Braces that leave a row on few lines. */
#define SEEN(...)   \
    {               \
        __VA_ARGS__ \
    }

static const struct {
    const char *label;
    enum place place;
    const struct page_rules *rules;
    struct page_seen seen;
    enum page_step step;
    enum page_reason reason;
} cases[] = {
    /* counted pages */
    { "full, no total", THIRD, &offset_rules, SEEN(.items = 10, .fresh = 10), PAGE_GO_ON,
      PAGE_REASON_NONE },
    { "full, total not reached", THIRD, &offset_rules,
      SEEN(.items = 10, .fresh = 10, .has_total = true, .total = 31), PAGE_GO_ON,
      PAGE_REASON_NONE },
    { "full, total reached", THIRD, &offset_rules,
      SEEN(.items = 10, .fresh = 10, .has_total = true, .total = 30), PAGE_GO_ON,
      PAGE_REASON_NONE },
    { "more than the total", THIRD, &offset_rules,
      SEEN(.items = 10, .fresh = 10, .has_total = true, .total = 25), PAGE_GO_ON,
      PAGE_REASON_NONE },
    { "more than the total, short", THIRD, &offset_rules,
      SEEN(.items = 4, .fresh = 4, .has_total = true, .total = 20), PAGE_GO_ON, PAGE_REASON_NONE },
    { "total reached, has_more says more", THIRD, &offset_rules,
      SEEN(.items = 10, .fresh = 10, .has_total = true, .total = 30, .more = PAGE_MORE_YES),
      PAGE_GO_ON, PAGE_REASON_NONE },
    { "short, total reached", THIRD, &offset_rules,
      SEEN(.items = 4, .fresh = 4, .has_total = true, .total = 24), PAGE_END, PAGE_END_TOTAL },
    { "short, total not reached", THIRD, &offset_rules,
      SEEN(.items = 4, .fresh = 4, .has_total = true, .total = 90), PAGE_GO_ON, PAGE_REASON_NONE },
    { "short, nothing else known", THIRD, &offset_rules, SEEN(.items = 4, .fresh = 4), PAGE_GO_ON,
      PAGE_REASON_NONE },
    { "has_more is false", THIRD, &offset_rules, SEEN(.items = 4, .fresh = 4, .more = PAGE_MORE_NO),
      PAGE_END, PAGE_END_NO_MORE },
    { "has_more is false, and a full page", THIRD, &offset_rules,
      SEEN(.items = 10, .fresh = 10, .more = PAGE_MORE_NO), PAGE_GO_ON, PAGE_REASON_NONE },
    { "has_more is false, and the total is reached", THIRD, &offset_rules,
      SEEN(.items = 10, .fresh = 10, .more = PAGE_MORE_NO, .has_total = true, .total = 30),
      PAGE_END, PAGE_END_NO_MORE },
    { "has_more is false, and a token after a full page", THIRD, &token_rules,
      SEEN(.items = 10, .fresh = 10, .more = PAGE_MORE_NO, .next = STR_INIT("b")), PAGE_GO_ON,
      PAGE_REASON_NONE },
    { "has_more is false on a short first page", FIRST, &offset_rules,
      SEEN(.items = 4, .fresh = 4, .more = PAGE_MORE_NO), PAGE_GO_ON, PAGE_REASON_NONE },
    { "has_more is false on a short first page with a token", FIRST, &token_rules,
      SEEN(.items = 4, .fresh = 4, .more = PAGE_MORE_NO, .next = STR_INIT("b")), PAGE_GO_ON,
      PAGE_REASON_NONE },
    { "has_more is false on a short first page of a fixed size", FIRST, &fixed_rules,
      SEEN(.items = 4, .fresh = 4, .more = PAGE_MORE_NO), PAGE_END, PAGE_END_NO_MORE },
    { "has_more is false on a short first page, which is all", FIRST, &offset_rules,
      SEEN(.items = 4, .fresh = 4, .more = PAGE_MORE_NO, .has_total = true, .total = 4), PAGE_END,
      PAGE_END_NO_MORE },
    { "has_more is false, the total says more", THIRD, &offset_rules,
      SEEN(.items = 10, .fresh = 10, .more = PAGE_MORE_NO, .has_total = true, .total = 50),
      PAGE_GO_ON, PAGE_REASON_NONE },
    { "empty behind a short page", BEHIND_SHORT, &offset_rules, SEEN(0), PAGE_END, PAGE_END_EMPTY },
    { "empty behind a full page", THIRD, &offset_rules, SEEN(0), PAGE_REPEAT, PAGE_UNSURE_EMPTY },
    { "empty, asked again", AGAIN, &offset_rules, SEEN(0), PAGE_END, PAGE_END_EMPTY },
    { "empty, the total says more", BEHIND_SHORT, &offset_rules,
      SEEN(.has_total = true, .total = 50), PAGE_REPEAT, PAGE_UNSURE_EMPTY },
    { "empty, the total says all", THIRD, &offset_rules, SEEN(.has_total = true, .total = 20),
      PAGE_END, PAGE_END_EMPTY },
    { "empty first page, total 0", FIRST, &offset_rules, SEEN(.has_total = true), PAGE_END,
      PAGE_END_EMPTY },
    { "empty first page, no total", FIRST, &offset_rules, SEEN(0), PAGE_REPEAT, PAGE_UNSURE_EMPTY },
    { "empty by a rule of the source", FIRST, &offset_rules, SEEN(.is_declared_empty = true),
      PAGE_END, PAGE_END_EMPTY },
    { "all known", THIRD, &offset_rules, SEEN(.items = 10), PAGE_REPEAT, PAGE_UNSURE_REPEAT },
    { "all known, asked again", AGAIN, &offset_rules,
      SEEN(.items = 10, .has_total = true, .total = 90), PAGE_END, PAGE_CUT_LOOP },
    { "page limit", THIRD, &few_pages_rules,
      SEEN(.items = 10, .fresh = 10, .has_total = true, .total = 90), PAGE_END, PAGE_CUT_PAGES },
    { "page limit on the last page", THIRD, &few_pages_rules,
      SEEN(.items = 10, .fresh = 10, .has_total = true, .total = 30), PAGE_END, PAGE_END_TOTAL },
    { "cap", THIRD, &capped_rules, SEEN(.items = 10, .fresh = 10, .has_total = true, .total = 31),
      PAGE_END, PAGE_CUT_CAP },

    /* tokens */
    { "a new token", THIRD, &token_rules, SEEN(.items = 10, .fresh = 10, .next = STR_INIT("b")),
      PAGE_GO_ON, PAGE_REASON_NONE },
    { "no token", THIRD, &token_rules, SEEN(.items = 8, .fresh = 8), PAGE_END, PAGE_END_NO_NEXT },
    { "no token, and a full page", THIRD, &token_rules, SEEN(.items = 10, .fresh = 10), PAGE_REPEAT,
      PAGE_UNSURE_TAIL },
    { "no token, the total says more", THIRD, &token_rules,
      SEEN(.items = 10, .fresh = 10, .has_total = true, .total = 40), PAGE_REPEAT,
      PAGE_UNSURE_TAIL },
    { "no token again", AGAIN, &token_rules,
      SEEN(.items = 10, .fresh = 10, .has_total = true, .total = 40), PAGE_END, PAGE_END_NO_NEXT },
    { "no token, has_more says more", THIRD, &token_rules,
      SEEN(.items = 10, .fresh = 10, .more = PAGE_MORE_YES), PAGE_REPEAT, PAGE_UNSURE_TAIL },
    { "no token, tail probe", THIRD, &probing_rules, SEEN(.items = 3, .fresh = 3), PAGE_REPEAT,
      PAGE_UNSURE_TAIL },
    { "the token that was sent", THIRD, &token_rules,
      SEEN(.items = 3, .fresh = 3, .next = STR_INIT("a")), PAGE_REPEAT, PAGE_UNSURE_TAIL },
    { "the token that was sent, twice", AGAIN, &token_rules,
      SEEN(.items = 3, .fresh = 3, .next = STR_INIT("a")), PAGE_END, PAGE_END_SAME_TOKEN },
    { "the token that was sent, on a first page", FIRST, &token_rules,
      SEEN(.items = 3, .fresh = 3, .next = STR_INIT("a")), PAGE_REPEAT, PAGE_UNSURE_TAIL },
    { "the token that was sent, on a first page, twice", FIRST_AGAIN, &token_rules,
      SEEN(.items = 3, .fresh = 3, .next = STR_INIT("a")), PAGE_END, PAGE_END_BARE },
    { "the token that was sent, on a first page, twice, has_more says no", FIRST_AGAIN,
      &token_rules, SEEN(.items = 3, .fresh = 3, .next = STR_INIT("a"), .more = PAGE_MORE_NO),
      PAGE_END, PAGE_END_SAME_TOKEN },
    { "the token that was sent, and nothing", BEHIND_SHORT, &token_rules,
      SEEN(.items = 0, .next = STR_INIT("a")), PAGE_END, PAGE_END_SAME_TOKEN },
    { "the token that was sent, and records that are known", AGAIN, &token_rules,
      SEEN(.items = 10, .next = STR_INIT("a")), PAGE_END, PAGE_CUT_LOOP },
    { "the token that was sent, has_more says more", THIRD, &token_rules,
      SEEN(.items = 10, .fresh = 10, .next = STR_INIT("a"), .more = PAGE_MORE_YES), PAGE_REPEAT,
      PAGE_UNSURE_LOOP },
    { "the same, asked again, has_more says more", AGAIN, &token_rules,
      SEEN(.items = 10, .fresh = 10, .next = STR_INIT("a"), .more = PAGE_MORE_YES), PAGE_END,
      PAGE_CUT_LOOP },
    { "the token that was sent, the total says more", THIRD, &token_rules,
      SEEN(.items = 10, .fresh = 10, .next = STR_INIT("a"), .has_total = true, .total = 40),
      PAGE_REPEAT, PAGE_UNSURE_TAIL },
    { "the token that was sent, which is an error", THIRD, &strict_rules,
      SEEN(.items = 10, .fresh = 10, .next = STR_INIT("a")), PAGE_REPEAT, PAGE_UNSURE_LOOP },
    { "the same, asked again", AGAIN, &strict_rules,
      SEEN(.items = 10, .fresh = 10, .next = STR_INIT("a")), PAGE_END, PAGE_CUT_LOOP },
    { "a link to where it stands", THIRD, &link_rules,
      SEEN(.items = 10, .fresh = 10, .next = STR_INIT("a")), PAGE_REPEAT, PAGE_UNSURE_LOOP },
    { "a link to where it stands, asked again", AGAIN, &link_rules,
      SEEN(.items = 10, .fresh = 10, .next = STR_INIT("a")), PAGE_END, PAGE_CUT_LOOP },
    { "a link to where it stands, all have come", THIRD, &link_rules,
      SEEN(.items = 10, .fresh = 10, .next = STR_INIT("a"), .has_total = true, .total = 30),
      PAGE_END, PAGE_END_SAME_TOKEN },
    { "a token of long ago", THIRD, &token_rules,
      SEEN(.items = 10, .fresh = 10, .next = STR_INIT("x"), .next_is_known = true), PAGE_REPEAT,
      PAGE_UNSURE_LOOP },
    { "empty with a token", AGAIN, &token_rules, SEEN(.next = STR_INIT("b")), PAGE_GO_ON,
      PAGE_REASON_NONE },
    { "empty with a token, all here", THIRD, &token_rules,
      SEEN(.next = STR_INIT("b"), .has_total = true, .total = 20), PAGE_END, PAGE_END_EMPTY },
    { "short with a token, all here", THIRD, &token_rules,
      SEEN(.items = 4, .fresh = 4, .next = STR_INIT("b"), .has_total = true, .total = 24),
      PAGE_GO_ON, PAGE_REASON_NONE },
    { "no token at all, and a full page, twice", AGAIN, &token_rules,
      SEEN(.items = 10, .fresh = 10, .lacks_next = true), PAGE_END, PAGE_END_BARE },
    { "a link to other pages and none to a next, and a full page, twice", AGAIN, &token_rules,
      SEEN(.items = 10, .fresh = 10), PAGE_END, PAGE_END_NO_NEXT },
    { "more than the total, with a token", THIRD, &token_rules,
      SEEN(.items = 4, .fresh = 4, .next = STR_INIT("b"), .has_total = true, .total = 9),
      PAGE_GO_ON, PAGE_REASON_NONE },
    { "full with a token, all here", THIRD, &token_rules,
      SEEN(.items = 10, .fresh = 10, .next = STR_INIT("b"), .has_total = true, .total = 30),
      PAGE_GO_ON, PAGE_REASON_NONE },
    { "no records by a rule, behind the last page", THIRD, &token_rules,
      SEEN(.is_declared_empty = true), PAGE_END, PAGE_END_NO_NEXT },

    /* scrolls: the token stays, and nothing can be asked for twice */
    { "scroll goes on", THIRD, &scroll_rules,
      SEEN(.items = 10, .fresh = 10, .next = STR_INIT("a"), .has_total = true, .total = 99),
      PAGE_GO_ON, PAGE_REASON_NONE },
    { "scroll, short and all here", THIRD, &scroll_rules,
      SEEN(.items = 4, .fresh = 4, .next = STR_INIT("a"), .has_total = true, .total = 24), PAGE_END,
      PAGE_END_TOTAL },
    { "scroll, empty though the total says more", THIRD, &scroll_rules,
      SEEN(.next = STR_INIT("a"), .has_total = true, .total = 99), PAGE_END, PAGE_END_EMPTY },
    { "scroll, all known", THIRD, &scroll_rules, SEEN(.items = 10, .next = STR_INIT("a")), PAGE_END,
      PAGE_CUT_LOOP },

    { "single", FIRST, &single_rules, SEEN(.items = 7, .fresh = 7), PAGE_END, PAGE_END_SINGLE },
    { "the list has left the window", THIRD, &offset_rules,
      SEEN(.items = 10, .fresh = 10, .order = PAGE_ORDER_STEPS, .is_past = true), PAGE_END,
      PAGE_END_PAST },
    { "out of the window, in order within one step", THIRD, &offset_rules,
      SEEN(.items = 10, .fresh = 10, .order = PAGE_ORDER_FINE, .is_past = true), PAGE_END,
      PAGE_END_PAST },
    { "out of the window, within one step, partly the other way round", THIRD, &offset_rules,
      SEEN(.items = 10, .fresh = 10, .order = PAGE_ORDER_MIXED, .is_past = true), PAGE_GO_ON,
      PAGE_REASON_NONE },
    { "one date after the window, nothing to compare it with", THIRD, &offset_rules,
      SEEN(.items = 10, .fresh = 10, .is_past = true), PAGE_GO_ON, PAGE_REASON_NONE },
    { "out of the window, but out of order", THIRD, &offset_rules,
      SEEN(.items = 10, .fresh = 10, .order = PAGE_ORDER_STEPS, .is_past = true,
           .is_unsorted = true),
      PAGE_GO_ON, PAGE_REASON_NONE },
    { "out of the window on the first page, which may be pinned", FIRST, &offset_rules,
      SEEN(.items = 10, .fresh = 10, .order = PAGE_ORDER_STEPS, .is_past = true), PAGE_GO_ON,
      PAGE_REASON_NONE },
    { "out of the window on the first page, which is all", FIRST, &offset_rules,
      SEEN(.items = 4, .fresh = 4, .order = PAGE_ORDER_STEPS, .is_past = true, .has_total = true,
           .total = 4),
      PAGE_END, PAGE_END_TOTAL },
};

TEST(every_sign_leads_to_the_decision_of_the_table)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct page_state state = page_first(cases[i].rules, NULL, (struct window){ 0, 0 });
        const enum place place = cases[i].place;
        const struct page_facts facts = { .is_second = place == AGAIN || place == FIRST_AGAIN };
        struct page_decision decision;

        state.number = place == FIRST || place == FIRST_AGAIN ? 0 : 2;
        state.offset = state.number * 10;
        state.largest = state.number > 0 ? 10 : 0;
        state.was_short = place == BEHIND_SHORT;
        if (cases[i].rules->type == PAGINATION_TOKEN || cases[i].rules->type == PAGINATION_URL)
            state.token = STR("a");
        decision = page_decide(cases[i].rules, &state, &cases[i].seen, &facts);
        CHECK_EQ(decision.step, cases[i].step, cases[i].label);
        CHECK_STR(str_of(page_reason_name(decision.reason)),
                  str_of(page_reason_name(cases[i].reason)), cases[i].label);
    }
}

TEST(offsets_step_by_the_items_received)
{
    struct page_state state = page_first(&offset_rules, NULL, (struct window){ 0, 0 });
    const struct page_facts facts = { 0 };
    const struct page_seen seen = { .items = 3, .fresh = 3, .has_total = true, .total = 100 };

    for (int i = 1; i <= 5; i++) {
        const struct page_decision decision = page_decide(&offset_rules, &state, &seen, &facts);

        REQUIRE(decision.step == PAGE_GO_ON, "three of ten came, of a hundred");
        state = decision.next;
        CHECK_EQ(state.offset, 3 * i, "the next offset");
        CHECK_EQ(state.size, 10, "the size stays");
    }
}

TEST(a_probe_is_sent_only_without_other_signs)
{
    const struct page_facts facts = { 0 };
    const struct page_state state = page_first(&offset_rules, NULL, (struct window){ 0, 0 });
    struct page_seen seen = { .items = 3, .fresh = 3 };

    CHECK(page_decide(&offset_rules, &state, &seen, &facts).next.is_probe, "short, no total");
    seen.items = seen.fresh = 10;
    CHECK(!page_decide(&offset_rules, &state, &seen, &facts).next.is_probe, "full");
    seen = (struct page_seen){ .items = 3, .fresh = 3, .has_total = true, .total = 9 };
    CHECK(!page_decide(&offset_rules, &state, &seen, &facts).next.is_probe, "the total says more");
}

TEST(has_more_is_believed_on_a_page_shorter_than_another)
{
    const struct page_state first = page_first(&offset_rules, NULL, (struct window){ 0, 0 });
    struct page_seen seen = { .items = 4, .fresh = 4, .more = PAGE_MORE_NO };
    struct page_facts facts = { .largest = 5 }; /* of another list of the walk */
    struct page_decision decision = page_decide(&offset_rules, &first, &seen, &facts);

    CHECK_EQ(decision.reason, PAGE_END_NO_MORE, "the source gives five on a page");
    facts.largest = 4;
    decision = page_decide(&offset_rules, &first, &seen, &facts);
    REQUIRE(decision.step == PAGE_GO_ON, "it may give four at most");
    CHECK(decision.next.is_probe, "to see whether the list goes on");

    seen = (struct page_seen){ .more = PAGE_MORE_NO };
    CHECK_EQ(page_decide(&offset_rules, &decision.next, &seen, &facts).reason, PAGE_END_EMPTY,
             "nothing there: not requested twice");
    seen.more = PAGE_MORE_YES;
    CHECK_EQ(page_decide(&offset_rules, &decision.next, &seen, &facts).reason, PAGE_UNSURE_EMPTY,
             "unless has_more is true now");
    seen = (struct page_seen){ .items = 4, .more = PAGE_MORE_NO };
    CHECK_EQ(page_decide(&offset_rules, &decision.next, &seen, &facts).reason, PAGE_END_NO_MORE,
             "the last page once more: not requested twice");

    seen = (struct page_seen){ .items = 3, .fresh = 3, .more = PAGE_MORE_NO };
    for (int i = 0; i < 2; i++) {
        decision = page_decide(&offset_rules, &decision.next, &seen, &facts);
        REQUIRE(decision.step == PAGE_GO_ON, "records came after it, so it ends nothing any more");
    }
}

TEST(an_expected_slice_is_not_believed_to_be_empty_at_once)
{
    const struct page_state state = page_first(&offset_rules, NULL, (struct window){ 0, 0 });
    const struct page_seen seen = { .has_total = true };
    struct page_facts facts = { .is_expected = true };

    CHECK_EQ(page_decide(&offset_rules, &state, &seen, &facts).step, PAGE_REPEAT, "first");
    facts.is_second = true;
    CHECK_EQ(page_decide(&offset_rules, &state, &seen, &facts).step, PAGE_END, "then");
}

/* ---- slices by page ---- */

TEST(a_slice_by_page_ends_at_its_end)
{
    const struct page_range range = { 3, 5 };
    const struct page_facts facts = { .pages = &range };
    struct page_rules rules = offset_rules;
    struct page_state state;
    struct page_decision decision;
    struct page_seen seen = { .items = 7, .fresh = 7, .has_total = true, .total = 1000 };

    rules.base = 1;
    state = page_first(&rules, &range, (struct window){ 0, 0 });
    CHECK_EQ(state.offset, 20, "page 3 begins behind 20 records");
    decision = page_decide(&rules, &state, &seen, &facts);
    CHECK_EQ(decision.next.offset, 27, "7 came");
    decision = page_decide(&rules, &decision.next, &seen, &facts);
    CHECK_EQ(decision.next.size, 6, "34 of 40");
    seen.items = seen.fresh = 6;
    decision = page_decide(&rules, &decision.next, &seen, &facts);
    CHECK_EQ(decision.reason, PAGE_END_RANGE, "40 of 40");

    rules.type = PAGINATION_PAGE;
    state = page_first(&rules, &range, (struct window){ 0, 0 });
    CHECK_EQ(state.page_no, 3, "the first page");
    decision = page_decide(&rules, &state, &seen, &facts);
    CHECK_EQ(decision.next.page_no, 4, "the second page");
    decision = page_decide(&rules, &decision.next, &seen, &facts);
    CHECK_EQ(decision.reason, PAGE_END_RANGE, "and no third");
}

/* Nothing of the plan reads what comes after it: the slice must not count as done. */
TEST(the_last_slice_by_page_is_not_done_when_the_source_has_more)
{
    const struct page_range range = { 3, 5 };
    const struct page_facts facts = { .pages = &range };
    struct page_rules rules = offset_rules;
    struct page_state state;
    struct page_seen seen = { .items = 10, .fresh = 10, .has_total = true, .total = 1000 };

    rules.type = PAGINATION_PAGE;
    rules.base = 1;
    rules.max_pages = 4;
    state = page_first(&rules, &range, (struct window){ 0, 0 });
    state = page_decide(&rules, &state, &seen, &facts).next;
    CHECK_EQ(page_decide(&rules, &state, &seen, &facts).reason, PAGE_CUT_LAST, "40 of 1000");
    CHECK(page_is_dead_end(PAGE_CUT_LAST), "narrower slices would end there, too");
    rules.max_pages = 5;
    CHECK_EQ(page_decide(&rules, &state, &seen, &facts).reason, PAGE_END_RANGE, "not the last");
    rules.max_pages = 4;
    seen.total = 40;
    CHECK_EQ(page_decide(&rules, &state, &seen, &facts).reason, PAGE_END_RANGE, "40 of 40");
}

/* ---- smaller pages ---- */

TEST(pages_are_halved_where_that_is_possible)
{
    struct page_rules rules = { .type = PAGINATION_PAGE, .size = 8, .size_min = 3, .base = 1 };
    struct page_state state = { .number = 2, .offset = 16, .page_no = 3, .size = 8 };

    CHECK(page_shrink(&rules, &state), "8 to 4");
    CHECK_EQ(state.size, 4, "half");
    CHECK_EQ(state.page_no, 5, "16 records are four pages of 4");
    CHECK(!page_shrink(&rules, &state), "4 to 3 would not meet a page's border");

    state = (struct page_state){ .number = 2, .offset = 11, .page_no = 3, .size = 8 };
    CHECK(!page_shrink(&rules, &state), "the source's pages are not as large as asked for");

    rules.type = PAGINATION_OFFSET;
    state = (struct page_state){ .offset = 11, .size = 5 };
    CHECK(page_shrink(&rules, &state) && state.size == 3,
          "offsets can be anything; 3 is the least");
    CHECK(!page_shrink(&rules, &state), "not below the least");

    rules.type = PAGINATION_URL;
    state = (struct page_state){ .size = 8, .token = STR("https://x/?size=8") };
    CHECK(!page_shrink(&rules, &state), "the size stands in the URL");
    rules.type = PAGINATION_TOKEN;
    state = (struct page_state){ .size = 8, .number = 1, .token = STR("t") };
    CHECK(!page_shrink(&rules, &state), "a scroll");
    rules.replayable = true;
    CHECK(page_shrink(&rules, &state), "a cursor");
}

TEST(a_cap_is_seen_on_the_first_page)
{
    CHECK(page_is_over_cap(&capped_rules, 31), "31 of 30");
    CHECK(!page_is_over_cap(&capped_rules, 30), "30 of 30");
    CHECK(!page_is_over_cap(&offset_rules, 1000000), "no cap");
}

/* ---- walks that would never end ---- */

TEST(a_source_that_repeats_its_last_page_forever_is_a_loop)
{
    struct page_rules rules = { .type = PAGINATION_PAGE, .size = 10, .replayable = true };
    struct page_state state = { .number = 5, .page_no = 5, .offset = 50, .size = 10 };
    struct page_facts facts = { 0 };
    const struct page_seen seen = { .items = 10, .has_total = true, .total = 1000 };

    CHECK_EQ(page_decide(&rules, &state, &seen, &facts).step, PAGE_REPEAT, "once more");
    facts.is_second = true;
    CHECK_EQ(page_decide(&rules, &state, &seen, &facts).reason, PAGE_CUT_LOOP, "a loop");
}

TEST(empty_pages_with_tokens_do_not_go_on_forever)
{
    struct page_state state = page_first(&token_rules, NULL, (struct window){ 0, 0 });
    struct page_facts facts = { .is_second = true };
    struct page_decision decision = { 0 };
    char names[PAGE_EMPTY_MAX + 8][8];
    int pages;

    for (pages = 0; pages < PAGE_EMPTY_MAX + 4; pages++) {
        struct page_seen seen = { 0 };

        (void)snprintf(names[pages], sizeof(names[0]), "t%d", pages);
        seen.next = str_of(names[pages]);
        decision = page_decide(&token_rules, &state, &seen, &facts);
        if (decision.step == PAGE_END)
            break;
        state = decision.next;
    }
    CHECK_EQ(decision.reason, PAGE_CUT_VOID, "cut");
    CHECK_EQ(pages, PAGE_EMPTY_MAX, "behind as many as allowed");
}

TEST(by_time_a_record_without_an_id_does_not_keep_the_walk_going)
{
    const struct page_rules rules = { .type = PAGINATION_TIME,
                                      .size = 40,
                                      .size_max = 1000,
                                      .replayable = true,
                                      .granularity = GRANULARITY_MICROSECOND };
    const struct page_facts facts = { 0 };
    struct page_state state = page_first(&rules, NULL, (struct window){ 100, 200 });
    struct page_seen seen = { .items = 3,
                              .fresh = 3,
                              .unnamed = 1,
                              .has_dates = true,
                              .earliest_us = 110,
                              .latest_us = 150 };
    struct page_decision decision = page_decide(&rules, &state, &seen, &facts);

    REQUIRE(decision.step == PAGE_GO_ON, "the last instant is asked for again");
    state = decision.next;
    CHECK_EQ(state.rest.from_us, 150, "from there on");
    seen = (struct page_seen){ .items = 1,
                               .fresh = 1,
                               .unnamed = 1,
                               .has_dates = true,
                               .earliest_us = 150,
                               .latest_us = 150 };
    CHECK_EQ(page_decide(&rules, &state, &seen, &facts).step, PAGE_END,
             "the same request would bring the same, and never an id");
}

/* One page after the other, each as it would be received. */
static struct page_decision go_through(const struct page_rules *rules,
                                       const struct page_seen *pages, size_t count)
{
    const struct page_facts facts = { 0 };
    struct page_state state = page_first(rules, NULL, (struct window){ 100, 200 });
    struct page_decision decision = { 0 };

    for (size_t i = 0; i < count; i++) {
        decision = page_decide(rules, &state, &pages[i], &facts);
        if (decision.step != PAGE_GO_ON)
            break;
        state = decision.next;
    }
    return decision;
}

/* The source gives 5 records where 40 are requested; eight are of the instant 150. */
TEST(by_time_a_page_shorter_than_requested_is_not_believed_to_be_the_last)
{
    static const struct page_seen pages[] = {
        { .items = 5, .fresh = 5, .has_dates = true, .earliest_us = 110, .latest_us = 150 },
        { .items = 5, .fresh = 3, .has_dates = true, .earliest_us = 150, .latest_us = 150 },
        { .items = 5, .fresh = 0, .has_dates = true, .earliest_us = 150, .latest_us = 150 },
        { .items = 1, .fresh = 1, .has_dates = true, .earliest_us = 180, .latest_us = 180 },
        { .items = 1, .fresh = 0, .has_dates = true, .earliest_us = 180, .latest_us = 180 },
    };
    static const struct page_seen small[] = {
        /* a slice that is less than a page */
        { .items = 5, .fresh = 5, .has_dates = true, .earliest_us = 110, .latest_us = 150 },
        { .items = 5, .fresh = 0, .has_dates = true, .earliest_us = 150, .latest_us = 150 },
        { .is_declared_empty = true },
    };
    static const int64_t sizes[] = { 40, 0 };

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        const struct page_rules rules = { .type = PAGINATION_TIME,
                                          .size = sizes[i],
                                          .size_max = 1000,
                                          .replayable = true,
                                          .granularity = GRANULARITY_MICROSECOND };

        CHECK_EQ(go_through(&rules, pages, ARRAY_LEN(pages)).reason, PAGE_CUT_STUCK,
                 "three were not shown");
        CHECK_EQ(go_through(&rules, small, ARRAY_LEN(small)).reason, PAGE_END_INSTANT,
                 "these seem to be all");
    }
}

/* Eight records of one instant on pages of five: that the page is not all of them shows only in the
 * records after it. */
TEST(by_time_a_page_of_one_instant_is_compared_with_what_comes_after_it)
{
    static const struct page_seen clamped[] = {
        { .items = 5, .fresh = 5, .has_dates = true, .earliest_us = 150, .latest_us = 150 },
        { .items = 2, .fresh = 2, .has_dates = true, .earliest_us = 160, .latest_us = 170 },
        { .items = 5, .fresh = 0, .has_dates = true, .earliest_us = 150, .latest_us = 150 },
        { .items = 2, .fresh = 0, .has_dates = true, .earliest_us = 160, .latest_us = 170 },
    };
    static const struct page_seen late[] = {
        /* the two were added between the requests */
        { .items = 5, .fresh = 5, .has_dates = true, .earliest_us = 150, .latest_us = 150 },
        { .items = 2, .fresh = 2, .has_dates = true, .earliest_us = 160, .latest_us = 170 },
        { .items = 7, .fresh = 0, .has_dates = true, .earliest_us = 150, .latest_us = 170 },
        { .items = 1, .fresh = 0, .has_dates = true, .earliest_us = 170, .latest_us = 170 },
    };
    static const struct page_seen all[] = {
        { .items = 5, .fresh = 5, .has_dates = true, .earliest_us = 150, .latest_us = 150 },
        { .items = 0 },
    };
    static const struct page_seen coarse[] = {
        /* the source rounds what is requested down, and so shows the same again */
        { .items = 5, .fresh = 5, .has_dates = true, .earliest_us = 150, .latest_us = 150 },
        { .items = 5, .fresh = 0, .has_dates = true, .earliest_us = 150, .latest_us = 150 },
    };
    static const struct page_seen one[] = {
        { .items = 1, .fresh = 1, .has_dates = true, .earliest_us = 150, .latest_us = 150 },
        { .items = 0 },
    };
    const struct page_rules rules = { .type = PAGINATION_TIME,
                                      .size = 40,
                                      .size_max = 1000,
                                      .replayable = true,
                                      .granularity = GRANULARITY_MICROSECOND };
    struct page_decision decision = go_through(&rules, clamped, ARRAY_LEN(clamped));

    CHECK_EQ(decision.reason, PAGE_CUT_STUCK, "not complete");
    CHECK_EQ(decision.next.hole_us, 150, "from there on");
    CHECK_EQ(go_through(&rules, late, ARRAY_LEN(late)).reason, PAGE_END_EMPTY, "complete");
    CHECK_EQ(go_through(&rules, all, ARRAY_LEN(all)).reason, PAGE_END_INSTANT, "in doubt");
    CHECK_EQ(go_through(&rules, one, ARRAY_LEN(one)).reason, PAGE_END_EMPTY, "one more request");
    CHECK_EQ(go_through(&rules, coarse, ARRAY_LEN(coarse)).reason, PAGE_END_INSTANT,
             "nothing new from there on");
}

/* The source is inclusive. The only record of the border, 150, is changed after the first page. */
TEST(by_time_a_border_that_has_changed_meanwhile_is_not_an_error)
{
    static const struct page_seen pages[] = {
        { .items = 40, .fresh = 40, .has_dates = true, .earliest_us = 110, .latest_us = 150 },
        { .items = 11, .fresh = 11, .has_dates = true, .earliest_us = 160, .latest_us = 190 },
        { .items = 11, .fresh = 0, .has_dates = true, .earliest_us = 160, .latest_us = 190 },
        { .items = 40, .fresh = 0, .has_dates = true, .earliest_us = 110, .latest_us = 160 },
        { .items = 11, .fresh = 0, .has_dates = true, .earliest_us = 160, .latest_us = 190 },
    };
    static const struct page_seen near[] = {
        /* one step before the border are records, which shows that the source is inclusive */
        { .items = 40, .fresh = 40, .has_dates = true, .earliest_us = 110, .latest_us = 150 },
        { .items = 11, .fresh = 11, .has_dates = true, .earliest_us = 160, .latest_us = 190 },
        { .items = 40, .fresh = 0, .has_dates = true, .earliest_us = 149, .latest_us = 149 },
        { .items = 11, .fresh = 0, .has_dates = true, .earliest_us = 160, .latest_us = 190 },
    };
    const struct page_rules rules = { .type = PAGINATION_TIME,
                                      .size = 40,
                                      .size_max = 1000,
                                      .replayable = true,
                                      .granularity = GRANULARITY_MICROSECOND };

    CHECK_EQ(go_through(&rules, pages, ARRAY_LEN(pages)).reason, PAGE_END_EMPTY, "complete");
    CHECK_EQ(go_through(&rules, near, ARRAY_LEN(near)).reason, PAGE_END_EMPTY, "complete");
}

/* The newest first, with an end that leaves out one instant too many. */
TEST(by_time_an_exclusive_source_with_the_newest_first_is_requested_one_step_later)
{
    static const struct page_seen first = {
        .items = 40, .fresh = 40, .has_dates = true, .earliest_us = 150, .latest_us = 190
    };
    static const struct page_seen missed = {
        .items = 40, .fresh = 40, .has_dates = true, .earliest_us = 120, .latest_us = 140
    };
    static const struct page_seen shown = {
        .items = 40, .fresh = 2, .has_dates = true, .earliest_us = 125, .latest_us = 150
    };
    const struct page_rules rules = { .type = PAGINATION_TIME,
                                      .size = 40,
                                      .size_max = 1000,
                                      .replayable = true,
                                      .descending = true,
                                      .granularity = GRANULARITY_MICROSECOND };
    const struct page_facts facts = { 0 };
    struct page_state state = page_first(&rules, NULL, (struct window){ 100, 200 });

    state = page_decide(&rules, &state, &first, &facts).next;
    CHECK_EQ(page_window(&rules, &state).to_us, 151, "up to the border");
    state = page_decide(&rules, &state, &missed, &facts).next;
    CHECK_EQ(page_window(&rules, &state).to_us, 152, "one step later");
    state = page_decide(&rules, &state, &shown, &facts).next;
    CHECK_EQ(page_window(&rules, &state).to_us, 127, "and so with all that follow");
    CHECK_EQ(state.rest.to_us, 126, "what is left is as before");
}

TEST(by_time_a_page_that_is_out_of_order_is_no_end)
{
    static const struct page_seen pinned[] = {
        { .items = 40,
          .fresh = 40,
          .has_dates = true,
          .earliest_us = 110,
          .latest_us = 900,
          .is_unsorted = true },
    };
    static const struct page_seen back[] = {
        /* each page is sorted; the second begins earlier */
        { .items = 40, .fresh = 40, .has_dates = true, .earliest_us = 110, .latest_us = 150 },
        { .items = 40, .fresh = 40, .has_dates = true, .earliest_us = 120, .latest_us = 190 },
    };
    static const struct page_seen whole[] = {
        { .items = 4,
          .fresh = 4,
          .has_dates = true,
          .earliest_us = 110,
          .latest_us = 190,
          .is_unsorted = true,
          .has_total = true,
          .total = 4 },
    };
    static const struct page_seen beyond[] = {
        { .items = 40, .fresh = 40, .has_dates = true, .earliest_us = 110, .latest_us = 250 },
    };
    const struct page_rules rules = { .type = PAGINATION_TIME,
                                      .size = 40,
                                      .size_max = 1000,
                                      .replayable = true,
                                      .granularity = GRANULARITY_MICROSECOND };

    CHECK_EQ(go_through(&rules, pinned, 1).reason, PAGE_CUT_ORDER, "a record on top");
    CHECK_EQ(go_through(&rules, back, 2).reason, PAGE_CUT_ORDER, "across pages");
    CHECK_EQ(go_through(&rules, whole, 1).reason, PAGE_END_TOTAL, "the source says these are all");
    CHECK_EQ(go_through(&rules, beyond, 1).reason, PAGE_END_PAST, "in order, to after the window");
}

/* Two pages of a sorted list, after the window; what the first shows counts for the second. */
TEST(an_end_by_order_needs_two_dates_in_order)
{
    static const struct {
        const char *label;
        enum page_order first;
        enum page_order second;
        int64_t second_us; /* the date of the second page; that of the first is 250 */
        enum page_step step;
    } orders[] = {
        { "all of one date", PAGE_ORDER_UNKNOWN, PAGE_ORDER_UNKNOWN, 250, PAGE_GO_ON },
        { "the second page is later", PAGE_ORDER_UNKNOWN, PAGE_ORDER_UNKNOWN, 251, PAGE_END },
        { "the second page is earlier", PAGE_ORDER_UNKNOWN, PAGE_ORDER_UNKNOWN, 249, PAGE_GO_ON },
        { "the first is in order", PAGE_ORDER_FINE, PAGE_ORDER_UNKNOWN, 250, PAGE_END },
        { "the first is in order, the second not", PAGE_ORDER_FINE, PAGE_ORDER_MIXED, 250,
          PAGE_GO_ON },
        { "the second is in order, the first not", PAGE_ORDER_MIXED, PAGE_ORDER_FINE, 250,
          PAGE_GO_ON },
        { "steps outweigh what is within one", PAGE_ORDER_STEPS, PAGE_ORDER_MIXED, 250, PAGE_END },
    };
    struct page_rules rules = offset_rules;

    rules.is_sorted = true;
    rules.granularity = GRANULARITY_MICROSECOND;
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        const struct page_seen pages[] = {
            { .items = 10,
              .fresh = 10,
              .is_past = true,
              .has_dates = true,
              .earliest_us = 250,
              .latest_us = 250,
              .order = orders[i].first },
            { .items = 10,
              .fresh = 10,
              .is_past = true,
              .has_dates = true,
              .earliest_us = orders[i].second_us,
              .latest_us = orders[i].second_us,
              .order = orders[i].second },
        };
        const struct page_decision decision = go_through(&rules, pages, 2);

        CHECK_EQ(decision.step, orders[i].step, orders[i].label);
        CHECK_EQ(decision.reason, orders[i].step == PAGE_END ? PAGE_END_PAST : PAGE_REASON_NONE,
                 orders[i].label);
    }
}

/* A list with the newest first begins after the window as well. */
TEST(by_time_a_full_page_of_one_date_after_the_window_is_no_end)
{
    struct page_seen seen = {
        .items = 40, .fresh = 40, .has_dates = true, .earliest_us = 250, .latest_us = 250
    };
    struct page_rules rules = { .type = PAGINATION_TIME,
                                .size = 40,
                                .size_max = 100,
                                .replayable = true,
                                .granularity = GRANULARITY_MICROSECOND };
    const struct page_facts facts = { 0 };
    struct page_state state = page_first(&rules, NULL, (struct window){ 100, 200 });
    struct page_decision decision = page_decide(&rules, &state, &seen, &facts);

    CHECK_EQ(decision.step, PAGE_GO_ON, "once more");
    CHECK_EQ(decision.next.size, 100, "as large as possible");
    CHECK_EQ(decision.next.rest.from_us, 100, "the same window");
    seen.items = 100;
    seen.fresh = 60;
    CHECK_EQ(page_decide(&rules, &decision.next, &seen, &facts).reason, PAGE_CUT_ORDER, "full");
    seen.items = 50;
    seen.fresh = 10;
    CHECK_EQ(page_decide(&rules, &decision.next, &seen, &facts).reason, PAGE_END_PAST, "short");
    seen.items = 100;
    seen.fresh = 60;
    seen.latest_us = 260;
    seen.order = PAGE_ORDER_STEPS;
    CHECK_EQ(page_decide(&rules, &decision.next, &seen, &facts).reason, PAGE_END_PAST, "in order");

    rules.size_max = 40;
    seen = (struct page_seen){
        .items = 40, .fresh = 40, .has_dates = true, .earliest_us = 250, .latest_us = 250
    };
    CHECK_EQ(page_decide(&rules, &state, &seen, &facts).reason, PAGE_CUT_ORDER, "no larger one");
    seen.order = PAGE_ORDER_MIXED;
    CHECK_EQ(page_decide(&rules, &state, &seen, &facts).reason, PAGE_CUT_ORDER, "against it");
    seen.order = PAGE_ORDER_FINE;
    CHECK_EQ(page_decide(&rules, &state, &seen, &facts).reason, PAGE_END_PAST, "in order");
    seen.order = PAGE_ORDER_UNKNOWN;
    seen.has_total = true;
    seen.total = 40;
    CHECK_EQ(page_decide(&rules, &state, &seen, &facts).reason, PAGE_END_TOTAL, "these are all");
    seen = (struct page_seen){
        .items = 40, .fresh = 40, .has_dates = true, .earliest_us = 50, .latest_us = 50
    };
    rules.descending = true;
    CHECK_EQ(page_decide(&rules, &state, &seen, &facts).reason, PAGE_CUT_ORDER, "newest first");
}

TEST(a_full_page_without_a_token_is_requested_again_unless_a_sign_says_it_is_the_last)
{
    const struct page_rules rules = { .type = PAGINATION_TOKEN, .size = 10, .replayable = true };
    const struct page_state state = page_first(&rules, NULL, (struct window){ 0, 0 });
    const struct page_seen full = { .items = 10, .fresh = 10 };
    const struct page_seen shorter = { .items = 9, .fresh = 9 };
    const struct page_seen counted = { .items = 10, .fresh = 10, .has_total = true, .total = 10 };
    const struct page_seen told = { .items = 10, .fresh = 10, .more = PAGE_MORE_NO };

    CHECK_EQ(page_decide(&rules, &state, &full, &(struct page_facts){ 0 }).reason, PAGE_UNSURE_TAIL,
             "full");
    CHECK_EQ(page_decide(&rules, &state, &full, &(struct page_facts){ .is_second = true }).reason,
             PAGE_END_NO_NEXT, "full, and asked again");
    CHECK_EQ(page_decide(&rules, &state, &shorter, &(struct page_facts){ 0 }).reason,
             PAGE_END_NO_NEXT, "short");
    CHECK_EQ(page_decide(&rules, &state, &counted, &(struct page_facts){ 0 }).reason,
             PAGE_END_NO_NEXT, "the total says so");
    CHECK_EQ(page_decide(&rules, &state, &told, &(struct page_facts){ 0 }).reason, PAGE_END_NO_NEXT,
             "has_more says so");
}
