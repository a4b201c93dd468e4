/* listing: what a page holds: its records, and what it says about the pages to come.
 *
 * Where the source says so (window.client_filter), records outside of the window are dropped, and
 * only when all that their date may mean is outside: a record of "2026-03-01" belongs to every
 * window that touches that day, and one without a date is never dropped.
 *
 * When all records of a page are bad for the same reason, the source has changed its shape:
 * "listing.schema" (L4).
 */
#ifndef PATRA_ENGINE_FETCH_LISTING_H
#define PATRA_ENGINE_FETCH_LISTING_H

#include "core/window.h"
#include "engine/fetch/id_kinds.h"
#include "engine/fetch/listing_feed.h"
#include "engine/fetch/page.h"
#include "engine/fetch/record.h"
#include "engine/fetch/response.h"

enum listing_order { LISTING_UNSORTED, LISTING_OLDEST_FIRST, LISTING_NEWEST_FIRST };

struct listing_input {
    const struct reader *reader;
    const struct response *response;
    const struct http_response *reply;
    struct str request_url;       /* as it was sent: the base of a relative next URL */
    int64_t now_us;               /* when the request was sent */
    struct window keep;           /* not valid: no filter */
    enum listing_order order;     /* as declared: a sorted walk may stop after the window */
    int64_t step_us;              /* the order within it says nothing; 0: a microsecond */
    bool ids_only;                /* phase one: the items are ids, not records */
    const struct id_kinds *kinds; /* of the ids of earlier pages; NULL: there are none */
    const struct id_set *seen;    /* those ids; NULL with kinds */
    enum cursor_type feed;        /* ID, TOKEN: a page of a feed; TIME: it is not */
};

struct listing_value { /* captured for phase two */
    struct str name;
    struct str value;
};

/* Whether what the source declares is in the response. Only a next can be EMPTY: null or an empty
 * text, which says that there is no further page. Where a total or has_more is null, it is ABSENT.
 * A Link header that has other pages (prev, first, last) and no next is EMPTY, too. */
enum listing_part { LISTING_UNDECLARED, LISTING_ABSENT, LISTING_EMPTY, LISTING_FOUND };

struct listing {
    struct {
        struct record *items;
        size_t count;
    } records;
    struct {
        struct record *items;
        size_t count;
    } bad;
    struct str *ids;  /* ids_only: in order, without those that could not be read */
    uint64_t *hashes; /* of every id on the page, in order; of a feed: of the ids that order it */
    size_t hash_count;
    struct id_kinds_page kinds;
    size_t unnamed; /* items without an id */
    size_t dropped; /* by the filter */
    size_t items;   /* all of them */

    enum listing_part total_part;
    enum listing_part more_part;
    enum listing_part next_part;
    bool ends_by_links; /* there are links to other pages, and none to a next one */
    bool has_total;
    int64_t total;
    enum page_more more;
    struct str next; /* token, or absolute URL of the source's own host; paging by id: the id that
                        the next page begins after; data NULL: none */
    bool has_dates;
    int64_t earliest_us;
    int64_t latest_us;
    int64_t earliest_end_us; /* the last instant that the earliest date may mean */
    int64_t last_us;         /* the date of the last item that has one, from */
    int64_t last_end_us;     /* ... to */
    enum page_order order;   /* what the dates say about the declared order */
    bool is_past;            /* sorted as declared, and all of it after the window */
    bool is_unsorted;        /* a date is out of the declared order */
    struct listing_feed feed;
    const struct listing_value *history;
    size_t history_count;
};

/* Errors: "page.next" (L2: the next URL is not a URL, or on another host; the Link header is not
 * well-formed), "listing.schema" (L4), "listing.history" (L1: a value to be captured is missing),
 * "answer.total", "answer.next", "answer.has_more" (L1: it is there, and of a wrong type), and
 * those of memory and paths. What is absent is for engine/fetch/absence.h to judge. */
bool listing_read(struct listing *listing, struct arena *arena, const struct listing_input *input,
                  struct error *err) MUST_CHECK;

/* True for "page.next" and "listing.schema". By their level a retry is of no use, but a second
 * response to the same request may be in order. */
bool listing_error_may_pass(const struct error *err);

/* Fewer bad records than this say nothing about the source. */
enum { LISTING_SCHEMA_MIN = 5 };

/* The end of what a date may mean: "2026-03" is any instant before April. */
int64_t listing_date_end_us(int64_t at_us, enum date_precision precision);

#endif
