/* page: where a walk over a source's pages is, and whether it goes on.
 *
 *      state --request--> response --page_seen--> page_decide() --> GO_ON with the next state
 *                                                                   REPEAT the same request
 *                                                                   END, with a reason
 *
 * Pure: nothing here knows HTTP, JSON or a clock. A state is a value; its token is a view that the
 * caller keeps alive.
 *
 * The seven ways of paging: what a request sends, and where the next one begins:
 *
 *      OFFSET   offset, size       offset + items received: sources clamp sizes silently
 *      PAGE     number, size       number + 1
 *      TOKEN    token              the response's token; none, or the same again: the end
 *      URL      the URL itself     the response's URL; none, or the same again: the end
 *      TIME     a window           from the date of the last record on, that instant included
 *      SINGLE   nothing            there is no other page
 *      ID       an id              the highest id received (page_id.c)
 *
 * No end is believed by one sign only. The signs are: has_more, no next token, the token that was
 * sent, an empty list, a list shorter than requested, the source's total. Where they agree, the
 * walk ends. Where one says "end" and another "more", the same page is requested once more (REPEAT,
 * only where the source is replayable). Only then is the end taken, with its reason, so that the
 * proof (engine/fetch/proof.h) can compare it with the total.
 *
 * A total is one sign among others, too. Where as many came as it says, but the page is full or
 * there is a next token, one more page is requested to see that the list ends (a probe). Where more
 * came than it says, it is wrong, and the pages alone decide.
 *
 *      list      total says    replayable   scroll (the token stays the same)
 *      empty     more          repeat       end; the proof will miss the rest
 *      empty     all here      end          end
 *      empty     nothing       repeat, but not after a page shorter than those before it
 *      short     more          go on        go on
 *      short     all here      end          end; with a next token: go on, as a probe
 *      full      all here      go on, as a probe
 *      full      nothing       has_more is false: go on, as a probe
 *      short     nothing       has_more is false: end, if a page of this walk was longer. If none
 *                              was, the source may clamp sizes: go on, as a probe
 *      short     nothing       go on, as a probe: what follows shows the end
 *      all known               repeat, then it is a loop
 *
 *      full      nothing       no token: repeat, it may have been forgotten. Where it is not there
 *                              again, this may be the last page: PAGE_END_BARE, which is doubtful
 *
 * A page is full when it has as many items as were requested, or, since sources clamp sizes, as
 * many as the largest page before it.
 *
 * Where records come after a page whose has_more was false, that has_more is wrong, and the walk
 * goes on to the end of the pages without it.
 *
 * A token that is the same as the one sent is an end where the list is empty or the total is
 * reached; with records and without a total the request is repeated first. Where no page of the
 * walk was longer, that end is doubtful, too: PAGE_END_BARE.
 *
 * Order. A list that is declared to be sorted by date may end the walk: its first page outside of
 * the window, and with TIME the first date outside of it, is an end by order. That is checked on
 * every page, within the page and against the pages before it. After the first violation the order
 * is not relied on: the walk ends where the pages end. TIME cannot go on from such a page, and ends
 * as cut short, unless the source says that this page was all.
 *
 * A list that is sorted the other way round begins outside of the window, too, and so does one with
 * pinned records on top. So an end by order needs evidence: two different dates in the declared
 * order, and a second page. TIME has no second page outside of the window. Where a full first page
 * of one date is outside, it is requested once more, as large as possible. If that shows no order
 * either, the walk ends as cut short.
 *
 * One instant. TIME steps over an instant of which a page shows only a part, reads the rest of the
 * window, and ends as cut short. That a page with room left is only a part is seen by requesting
 * what comes after its instant: if there are records, the page should have shown them. If there
 * are none, and no page was larger, the source may give no more: PAGE_END_INSTANT, which is
 * doubtful.
 *
 * The border. TIME requests the last instant of a page again, so the next page begins with it. A
 * page that does not may come from a source whose "since" is exclusive: it has left out the records
 * of that instant that did not fit the page before. The request is made again from one step of the
 * granularity earlier, and if that shows the border, the rest of the walk requests this way: one
 * request more in all, and one at the end for the first instant of the window, which the first
 * request left out. If it does not, the record at the border may have changed meanwhile, and the
 * page before is read again. If that still ends with the border, and the border is missed again,
 * the walk ends as stuck.
 */
#ifndef PATRA_ENGINE_FETCH_PAGE_H
#define PATRA_ENGINE_FETCH_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "core/codes.h"
#include "core/slice.h"
#include "core/source_codes.h"
#include "core/window.h"

struct spec;
struct spec_endpoint;

/* ---- the rules of a source ---- */

struct page_rules {
    enum pagination_type type;
    int64_t size; /* 0: the source decides */
    int64_t size_min;
    int64_t size_max;   /* 0: unknown */
    int64_t max_pages;  /* 0: no limit */
    int64_t cap;        /* the most records that one query hands out; 0: unknown */
    int base;           /* PAGE: the number of the first page */
    struct str initial; /* TOKEN: sent with the first request; data NULL: none */
    bool is_size_fixed; /* all pages have that size, except for the last one */
    bool replayable;    /* the same request gives the same page again */
    bool tail_probe;    /* request the last page once more before it is believed */
    enum same_token same_token;
    enum granularity granularity; /* the finest step of a window */
    bool is_sorted;               /* the list is declared to be in the order of its dates */
    bool descending;              /* ... the newest first */
};

struct page_rules page_rules_of(const struct spec *spec, const struct spec_endpoint *endpoint);

/* ---- the order ---- */

/* What dates say about the declared order. Of two of them, the greater is what both say. */
enum page_order {
    PAGE_ORDER_UNKNOWN, /* there are no two different dates */
    PAGE_ORDER_FINE,    /* as declared, within one step of the granularity */
    PAGE_ORDER_MIXED,   /* within one step, and some the other way round: the order is not shown */
    PAGE_ORDER_STEPS,   /* as declared, from one step to another */
};

/* ---- the state ---- */

struct page_state {
    int64_t number;     /* pages of this sweep before this one */
    int64_t offset;     /* records of the query before this page; OFFSET sends it */
    int64_t page_no;    /* PAGE sends it */
    int64_t size;       /* requested; 0: none */
    struct str token;   /* TOKEN, URL; ID: the highest id received; data NULL: the first request
                           has none */
    struct window rest; /* TIME: what is still to be requested */
    bool is_probe;      /* requested only to see whether the list goes on: 404 is an end, too */
    int empty_pages;    /* in a row, before this one */
    int64_t largest;    /* items on the largest page of this sweep before this one */
    bool was_short;  /* the page before had fewer items than the largest before it: near the end */
    bool was_repeat; /* the page before had nothing new */
    bool was_last;   /* has_more of the page before was false */
    bool is_more_wrong;  /* records came after a page whose has_more was false */
    int64_t looked_last; /* TIME: items on the page before, if that might have been the last */
    int64_t clamp;       /* TIME: the most items on a page that looked like the last and was not */
    bool has_edge;       /* a sorted list has shown dates */
    int64_t edge_us;     /* the latest of them; with the newest first, the earliest */
    bool is_unsorted;    /* a page was out of the declared order, which is not relied on since */
    int order;           /* enum page_order, of all pages before this one */
    bool has_hole;       /* TIME: an instant had more records than a page holds */
    int64_t hole_us;     /* where the first of those begins; with the newest first, where it ends */
    /* TIME: the border, which is the last instant of the page before. */
    bool is_exclusive; /* requests begin one step before the rest */
    int misses;        /* pages in a row that did not show the border */
    int64_t back_us;   /* where the rest of the page before began; with the newest first, ended */
    bool has_missed;   /* a page was read again because its border was missed */
    int64_t missed_us; /* that border */
    int64_t first_us;  /* where the window begins; with the newest first, where it ends */
    bool is_head;      /* only the first instant of the window is requested, at the end */
};

/* TIME: what a request sends. */
struct window page_window(const struct page_rules *rules, const struct page_state *state);

/* Where a slice begins. pages: of a slice by page, NULL for all others. window: for TIME. */
struct page_state page_first(const struct page_rules *rules, const struct page_range *pages,
                             struct window window);

/* ---- a response ---- */

enum page_more { PAGE_MORE_UNKNOWN, PAGE_MORE_YES, PAGE_MORE_NO };

/* ID: where the highest id of a page is, seen from the id that was requested. */
enum page_place { PAGE_PLACE_FORWARD, PAGE_PLACE_BORDER, PAGE_PLACE_BACK };

struct page_seen {
    int64_t items;   /* in the list, including unreadable ones */
    int64_t fresh;   /* whose id is new in this sweep, or that have none */
    int64_t unnamed; /* of these, without an id */
    bool has_total;
    int64_t total;
    enum page_more more;    /* by has_more */
    struct str next;        /* TOKEN, URL; ID: where the next page begins; data NULL: none */
    bool lacks_next;        /* and nothing else says that this is the end */
    enum page_place place;  /* ID */
    bool is_unordered;      /* ID: an id came after a higher one */
    bool is_latest;         /* ID: the source says that it has no higher id, and is believed */
    bool is_below_latest;   /* ID: the source says that it has higher ids */
    bool next_is_known;     /* it was given before in this sweep, and is not the one sent */
    bool is_declared_empty; /* by a rule of the source there are no records */
    bool is_past;           /* the page is sorted by date and outside of the window */
    bool is_unsorted;       /* its dates are out of the declared order */
    bool has_dates;         /* the dates below are of this page */
    enum page_order order;  /* of the dates of this page */
    int64_t earliest_us;
    int64_t latest_us;
};

/* What else counts. */
struct page_facts {
    const struct page_range *pages; /* of a slice by page; NULL */
    bool is_second;                 /* this is the second response to the same request */
    bool is_expected;               /* by its history the slice has records */
    bool is_total_reached;          /* by the distinct ids of the pages before this one */
    int64_t largest;                /* items on the largest page of this walk, of all its lists */
};

/* ---- the decision ---- */

enum page_step { PAGE_GO_ON, PAGE_REPEAT, PAGE_END };

/* The reasons of END: the first group by the signs of the source; the second by our own limits,
 * with pages left unread. The third has the reasons of REPEAT. Their names are in checkpoints and
 * digests and must never change. */
enum page_reason {
    PAGE_REASON_NONE,
    PAGE_END_SINGLE,
    PAGE_END_NO_MORE,    /* has_more is false */
    PAGE_END_NO_NEXT,    /* no next token or URL */
    PAGE_END_SAME_TOKEN, /* the one just sent */
    PAGE_END_TOTAL,      /* as many as the source says it has */
    PAGE_END_EMPTY,      /* nothing on the page, or nothing new */
    PAGE_END_RANGE,      /* the end of a slice by page */
    PAGE_END_PAST,       /* the list has left the window */
    PAGE_END_BARE,       /* no next is there after a full page, or the one just sent after a page
                            than which none was longer, or the request for a page after one whose
                            has_more is false fails; and nothing else shows the end */
    PAGE_END_INSTANT,    /* TIME: nothing after a short page of one instant, and no page shows how
                            many the source gives at most */

    PAGE_CUT_PAGES, /* max_pages */
    PAGE_CUT_CAP,   /* what the source hands out at most */
    PAGE_CUT_LOOP,  /* the same pages or tokens repeat */
    PAGE_CUT_STUCK, /* TIME: more records of one instant than a page holds, or none has a date; by
                       what was requested, or by what the source gives at most */
    PAGE_CUT_VOID,  /* more empty pages in a row than PAGE_EMPTY_MAX, or one where has_more is true
                       and the next request would be the same */
    PAGE_CUT_ORDER, /* TIME: the page is not sorted, so where the next one begins is unknown; or it
                       is outside of the window, and shows no order */
    PAGE_CUT_LAST, /* the last slice by page ends at max_pages, and the source does not end there */
    PAGE_CUT_NO_FORWARD, /* ID: the page has no id above the one requested, or is not in order */

    PAGE_UNSURE_EMPTY,  /* empty where records were expected */
    PAGE_UNSURE_REPEAT, /* no item is new */
    PAGE_UNSURE_TAIL,   /* the last page, and signs that there is more */
    PAGE_UNSURE_LOOP,   /* a token that was given before */
};
const char *page_reason_name(enum page_reason reason); /* "no-next"; "" for NONE */
bool page_is_cut(enum page_reason reason);             /* an end by our limits */
/* A cut that a narrower window would meet again: the source's pages lead nowhere. */
bool page_is_dead_end(enum page_reason reason);

struct page_decision {
    enum page_step step;
    enum page_reason reason;
    struct page_state next; /* GO_ON; of END, its hole only */
};

struct page_decision page_decide(const struct page_rules *rules, const struct page_state *state,
                                 const struct page_seen *seen, const struct page_facts *facts);

/* Empty pages in a row that are followed. ClinicalTrials.gov has empty pages with a token; no
 * source is known to have many. */
enum { PAGE_EMPTY_MAX = 64 };

/* ---- smaller pages ---- */

/* Halves the size, for responses that are too large or too slow. False where the way of paging does
 * not allow it, or the page is as small as it may be. Not for slices by page: it would change their
 * numbers. */
bool page_shrink(const struct page_rules *rules, struct page_state *state);

/* ---- the cap ---- */

/* True when a slice with that total cannot be walked to its end, and is better re-sliced before its
 * first record is stored. */
bool page_is_over_cap(const struct page_rules *rules, int64_t total);

#endif
