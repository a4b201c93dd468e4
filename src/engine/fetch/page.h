/* page: where a walk over a source's pages is, and whether it goes on.
 *
 *      state --request--> response --page_seen--> page_decide() --> GO_ON with the next state
 *                                                                   REPEAT the same request
 *                                                                   END, with a reason
 *
 * Pure: nothing here knows HTTP, JSON or a clock. A state is a value; its token is a view that the
 * caller keeps alive.
 *
 * The six ways of paging: what a request sends, and where the next one begins:
 *
 *      OFFSET   offset, size       offset + items received: sources clamp sizes silently
 *      PAGE     number, size       number + 1
 *      TOKEN    token              the response's token; none, or the same again: the end
 *      URL      the URL itself     the response's URL; none, or the same again: the end
 *      TIME     a window           from the date of the last record on, that instant included
 *      SINGLE   nothing            there is no other page
 *
 * No end is believed by one sign only. The signs are: has_more, no next token, the token that was
 * sent, an empty list, a list shorter than requested, the source's total. Where they agree, the
 * walk ends. Where one says "end" and another "more", the same page is requested once more (REPEAT,
 * only where the source is replayable). Only then is the end taken, with its reason, so that the
 * proof (engine/fetch/proof.h) can compare it with the total.
 *
 *      list      total says    replayable   scroll (the token stays the same)
 *      empty     more          repeat       end; the proof will miss the rest
 *      empty     all here      end          end
 *      empty     nothing       repeat, but not after a page shorter than those before it
 *      short     more          go on        go on
 *      short     all here      end          end
 *      short     nothing       go on, as a probe: what follows shows the end
 *      all known               repeat, then it is a loop
 *
 *      full      nothing       no token: repeat, it may have been forgotten
 *
 * A token that is the same as the one sent is an end where the list is empty or the total is
 * reached; with records and without a total the request is repeated first.
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
    bool replayable;    /* the same request gives the same page again */
    bool tail_probe;    /* request the last page once more before it is believed */
    enum same_token same_token;
    enum granularity granularity; /* TIME: the finest step of a window */
    bool descending;              /* TIME: the newest records come first */
};

struct page_rules page_rules_of(const struct spec *spec, const struct spec_endpoint *endpoint);

/* ---- the state ---- */

struct page_state {
    int64_t number;     /* pages of this sweep before this one */
    int64_t offset;     /* records of the query before this page; OFFSET sends it */
    int64_t page_no;    /* PAGE sends it */
    int64_t size;       /* requested; 0: none */
    struct str token;   /* TOKEN, URL; data NULL: the first request has none */
    struct window rest; /* TIME: what is still to be requested */
    bool is_probe;      /* requested only to see whether the list goes on: 404 is an end, too */
    int empty_pages;    /* in a row, before this one */
    int64_t largest;    /* items on the largest page of this sweep before this one */
    bool was_short;  /* the page before had fewer items than the largest before it: near the end */
    bool was_repeat; /* the page before had nothing new */
    int64_t looked_last; /* TIME: items on the page before, if that might have been the last */
    int64_t clamp;       /* TIME: the most items on a page that looked like the last and was not */
};

/* Where a slice begins. pages: of a slice by page, NULL for all others. window: for TIME. */
struct page_state page_first(const struct page_rules *rules, const struct page_range *pages,
                             struct window window);

/* ---- a response ---- */

enum page_more { PAGE_MORE_UNKNOWN, PAGE_MORE_YES, PAGE_MORE_NO };

struct page_seen {
    int64_t items;   /* in the list, including unreadable ones */
    int64_t fresh;   /* whose id is new in this sweep, or that have none */
    int64_t unnamed; /* of these, without an id */
    bool has_total;
    int64_t total;
    enum page_more more;    /* by has_more */
    struct str next;        /* TOKEN, URL; data NULL: none */
    bool next_is_known;     /* it was given before in this sweep, and is not the one sent */
    bool is_declared_empty; /* by a rule of the source there are no records */
    bool is_past;           /* the list is sorted by date and has left the window */
    bool has_dates;         /* TIME: the dates below are of this page */
    int64_t earliest_us;
    int64_t latest_us;
};

/* What else counts. */
struct page_facts {
    const struct page_range *pages; /* of a slice by page; NULL */
    bool is_second;                 /* this is the second response to the same request */
    bool is_expected;               /* by its history the slice has records */
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

    PAGE_CUT_PAGES, /* max_pages */
    PAGE_CUT_CAP,   /* what the source hands out at most */
    PAGE_CUT_LOOP,  /* the same pages or tokens repeat */
    PAGE_CUT_STUCK, /* TIME: more records of one instant than a page holds, or none has a date; by
                       what was requested, or by what the source gives at most */
    PAGE_CUT_VOID,  /* more empty pages in a row than PAGE_EMPTY_MAX */

    PAGE_UNSURE_EMPTY,  /* empty where records were expected */
    PAGE_UNSURE_REPEAT, /* no item is new */
    PAGE_UNSURE_TAIL,   /* the last page, and signs that there is more */
    PAGE_UNSURE_LOOP,   /* a token that was given before */
};
const char *page_reason_name(enum page_reason reason); /* "no-next"; "" for NONE */
bool page_is_cut(enum page_reason reason);             /* an end by our limits */

struct page_decision {
    enum page_step step;
    enum page_reason reason;
    struct page_state next; /* GO_ON */
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
