/* page_view: what the ways of paging share when they decide about a page (page.h).
 *
 *      page.c ── page_view_of() ──▶ page_counted.c   OFFSET, PAGE
 *                                   page_token.c     TOKEN, URL
 *                                   page_time.c      TIME
 *                                   page_id.c        ID
 */
#ifndef PATRA_ENGINE_FETCH_PAGE_VIEW_H
#define PATRA_ENGINE_FETCH_PAGE_VIEW_H

#include "engine/fetch/page.h"

struct page_view { /* one page, and what follows from it */
    const struct page_rules *rules;
    const struct page_state *state;
    const struct page_seen *seen;
    const struct page_facts *facts;
    int64_t position;      /* records of the query up to the end of this page */
    int64_t largest;       /* items on the largest page before, of all lists of the walk */
    bool is_short;         /* fewer than requested */
    bool is_full;          /* as many as requested, or as the largest page before */
    bool has_total;        /* and not more came than it says */
    bool is_all;           /* the total says that these were all */
    bool is_missing;       /* the total says that there are more */
    bool is_more_wrong;    /* records are after a page whose has_more was false */
    bool is_unsorted;      /* this page, or one before it, is out of the declared order */
    enum page_order order; /* of this page and those before it */
};

struct page_view page_view_of(const struct page_rules *rules, const struct page_state *state,
                              const struct page_seen *seen, const struct page_facts *facts);

/* ---- decisions ---- */

struct page_decision page_go_on(const struct page_view *view);
struct page_decision page_end(enum page_reason reason);
struct page_decision page_repeat(enum page_reason reason);

struct page_decision page_decide_counted(const struct page_view *view);
struct page_decision page_decide_next(const struct page_view *view);
struct page_decision page_decide_time(const struct page_view *view);
struct page_decision page_decide_id(const struct page_view *view);

/* ---- signs ---- */

bool page_may_repeat(const struct page_view *view);

/* Nothing on the page: is there nothing, or is something wrong? */
bool page_is_unsure_empty(const struct page_view *view);

/* What ends a walk although the source has more. NONE: nothing. */
enum page_reason page_limit(const struct page_view *view);

/* The same; where the total says that all is here, that is the reason. */
enum page_reason page_limit_or_total(const struct page_view *view);

bool page_confirms_total(const struct page_view *view);
/* has_more is false, and the page is shorter than another one of this walk, or than every page. */
bool page_is_told_last(const struct page_view *view);
/* The page before was the last by has_more, and this one shows nothing new. */
bool page_confirms_more(const struct page_view *view);
bool page_ends_by_more(const struct page_view *view);
/* There are two different dates, in the declared order. */
bool page_shows_order(const struct page_view *view);
bool page_is_past(const struct page_view *view);

#endif
