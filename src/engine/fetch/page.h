/* page: where a walk over a source's pages stands, and whether it goes on.
 *
 *      state --request--> reply --page_seen--> page_decide() --> GO_ON with the next state
 *                                                                ASK_AGAIN for the same page
 *                                                                END, and why
 *
 * Pure: nothing here knows HTTP, JSON or a clock. A state is a value; its token is a view that
 * somebody else keeps alive.
 *
 * The six ways of paging. What a request sends, and where the next one begins:
 *
 *      OFFSET   offset, size       offset + items received: sizes are clamped without a word
 *      PAGE     number, size       number + 1
 *      TOKEN    token              the reply's token; none, or the same again: the end
 *      URL      the URL itself     the reply's URL, likewise
 *      TIME     a window           from the date of the last record on, that instant included
 *      SINGLE   nothing            there is no other page
 *
 * No end is believed on one sign alone. The signs are: has_more, no next token, the token that was
 * sent, an empty list, a list shorter than asked for, the source's total. Where they agree the walk
 * ends; where one says "end" and another "more", the same page is asked for once more (ASK_AGAIN,
 * only where the source is replayable), and only then is the end taken, and told (`why`), so that
 * the proof (engine/fetch/proof.h) can hold it against the total.
 *
 *      list      total says    replayable   scroll (the token stays the same)
 *      empty     more          ask again    end; the proof will miss the rest
 *      empty     all here      end          end
 *      empty     nothing       ask again, but not behind a page shorter than those before it
 *      short     more          go on        go on
 *      short     all here      end          end
 *      short     nothing       go on, as a probe: what follows shows the end
 *      all known               ask again, then it is a loop
 *
 *      full      nothing       no token: ask again, one may have been forgotten
 *
 * A token that comes back as it was sent is an end where the list is empty or the total is reached;
 * with records and no total it is asked for again first.
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
    int64_t size; /* 0: pages have whatever size the source gives */
    int64_t size_min;
    int64_t size_max;   /* 0: not known */
    int64_t max_pages;  /* 0: no limit */
    int64_t cap;        /* the most records one query hands out; 0: none is known */
    int base;           /* PAGE: the number of the first page */
    struct str initial; /* TOKEN: sent with the first request; data NULL: none is */
    bool replayable;    /* the same request gives the same page again */
    bool tail_probe;    /* ask for the last page once more before believing it */
    enum same_token same_token;
    enum granularity granularity; /* TIME: the finest step that can be asked for */
    bool descending;              /* TIME: the newest records come first */
};

struct page_rules page_rules_of(const struct spec *spec, const struct spec_endpoint *endpoint);

/* ---- the state ---- */

struct page_state {
    int64_t number;      /* pages of this sweep before this one */
    int64_t offset;      /* records of the query before this page; OFFSET sends it */
    int64_t page_no;     /* PAGE sends it */
    int64_t size;        /* asked for; 0: none */
    struct str token;    /* TOKEN, URL: data NULL: the first request, which has none */
    struct window rest;  /* TIME: what is still to be asked for */
    bool is_probe;       /* asked only to see whether the list goes on: 404 is an end, too */
    int empty_pages;     /* in a row, before this one */
    int64_t largest;     /* items on the largest page of this sweep before this one */
    bool was_short;      /* the page before had fewer than the largest before it: near the end */
    bool was_repeat;     /* the page before had nothing new */
    int64_t looked_last; /* TIME: items on the page before, where that might have been the last */
    int64_t clamp;       /* TIME: the most items on a page that looked like the last and was not */
};

/* Where a slice begins: its first page for slices by page (`pages`, NULL for all others), and its
 * window for TIME. */
struct page_state page_first(const struct page_rules *rules, const struct page_range *pages,
                             struct window window);

/* ---- a reply ---- */

enum page_more { PAGE_MORE_UNKNOWN, PAGE_MORE_YES, PAGE_MORE_NO };

struct page_seen {
    int64_t items;   /* in the list, those that could not be read included */
    int64_t fresh;   /* those whose id did not occur in this sweep before, or that have none */
    int64_t unnamed; /* of these, those that have none */
    bool has_total;
    int64_t total;
    enum page_more more; /* what has_more says */
    struct str next;     /* TOKEN, URL; data NULL: none */
    bool next_is_known;  /* the same next was given before in this sweep, and is not the one sent */
    bool is_declared_empty; /* a rule of the source says that there are no records */
    bool is_past;           /* the list is sorted by date, and has left the window */
    bool has_dates;         /* TIME: the earliest and the latest date on the page */
    int64_t earliest_us;
    int64_t latest_us;
};

/* What else decides. */
struct page_facts {
    const struct page_range *pages; /* of a slice by page; NULL */
    bool is_second;                 /* this is the second answer to one and the same request */
    bool is_expected;               /* history says that this slice has records */
};

/* ---- the decision ---- */

enum page_step { PAGE_GO_ON, PAGE_REPEAT, PAGE_END };

/* Of END: the first group is an end by the source's own signs, the second one by ours, with pages
 * left that nobody has seen. Of ASK_AGAIN: what is doubtful. The words stand in checkpoints and
 * digests: never renamed. */
enum page_reason {
    PAGE_REASON_NONE,
    PAGE_END_SINGLE,
    PAGE_END_NO_MORE,    /* has_more is false */
    PAGE_END_NO_NEXT,    /* no next token or URL */
    PAGE_END_SAME_TOKEN, /* the one just sent */
    PAGE_END_TOTAL,      /* as many as the source says it has */
    PAGE_END_EMPTY,      /* nothing, or nothing new, on the page */
    PAGE_END_RANGE,      /* the end of a slice by page */
    PAGE_END_PAST,       /* the list has left the window */

    PAGE_CUT_PAGES, /* max_pages */
    PAGE_CUT_CAP,   /* the source hands out no more */
    PAGE_CUT_LOOP,  /* the same pages or tokens again and again */
    PAGE_CUT_STUCK, /* TIME: more records of one instant than a page holds, or none has a date; by
                       what was asked for, or by what the source gives at most */
    PAGE_CUT_VOID,  /* more empty pages in a row than anybody has */

    PAGE_UNSURE_EMPTY,  /* empty where records were expected */
    PAGE_UNSURE_REPEAT, /* all known already */
    PAGE_UNSURE_TAIL,   /* the last page, and signs that there is more */
    PAGE_UNSURE_LOOP,   /* a token that was given before */
};
const char *page_reason_name(enum page_reason reason); /* "no-next"; "" for NONE */
bool page_is_cut(enum page_reason reason);             /* an end by us, not by the source */

struct page_decision {
    enum page_step step;
    enum page_reason reason;
    struct page_state next; /* GO_ON */
};

struct page_decision page_decide(const struct page_rules *rules, const struct page_state *state,
                                 const struct page_seen *seen, const struct page_facts *facts);

/* Empty pages in a row that are followed. ClinicalTrials.gov has empty pages with a token; nobody
 * was seen to have many. */
enum { PAGE_EMPTY_MAX = 64 };

/* ---- smaller pages ---- */

/* Asks for half the records, for replies that are too large or come too late. False when the way of
 * paging does not allow it here, or the page is as small as it may be. Not for slices by page,
 * whose numbers it would change. */
bool page_shrink(const struct page_rules *rules, struct page_state *state);

/* ---- the cap ---- */

/* True when a slice of that total can not be walked to its end: better cut it before the first
 * record is stored. */
bool page_is_over_cap(const struct page_rules *rules, int64_t total);

#endif
