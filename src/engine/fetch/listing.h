/* listing: what a page holds: its records, and what it says about the pages to come.
 *
 * Records that the window does not want are dropped where the source asks for it
 * (window.client_filter), and only when their date, with all its uncertainty, lies outside: a
 * record of "2026-03-01" belongs to every window that touches that day, and one without a date is
 * never dropped.
 *
 * A page whose records can none of them be judged, for one and the same reason, is no page of bad
 * records but a source that has changed its shape: "listing.schema" (L4).
 */
#ifndef PATRA_ENGINE_FETCH_LISTING_H
#define PATRA_ENGINE_FETCH_LISTING_H

#include "core/window.h"
#include "engine/fetch/page.h"
#include "engine/fetch/record.h"
#include "engine/fetch/response.h"

enum listing_order { LISTING_UNSORTED, LISTING_OLDEST_FIRST, LISTING_NEWEST_FIRST };

struct listing_input {
    const struct reader *reader;
    const struct response *response;
    const struct http_reply *reply;
    struct str request_url;   /* as it was sent: what a relative next URL is relative to */
    struct window keep;       /* not valid: no filter */
    enum listing_order order; /* of the source, where the walk may stop behind the window */
    bool ids_only;            /* phase one: the items are ids, and are not judged */
};

struct listing_value { /* captured for phase two */
    struct str name;
    struct str value;
};

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
    uint64_t *hashes; /* of every id on the page, in order */
    size_t hash_count;
    size_t unnamed; /* items without an id */
    size_t dropped; /* by the filter */
    size_t items;   /* all of them */

    bool has_total;
    int64_t total;
    enum page_more more;
    struct str next; /* token, or absolute URL of the source's own host; data NULL: none */
    bool has_dates;
    int64_t earliest_us;
    int64_t latest_us;
    bool is_past; /* sorted, and wholly behind the window */
    const struct listing_value *history;
    size_t history_count;
};

/* Errors: "page.next" (L2: a next URL that is none, or of another host; a Link header that is not
 * well-formed), "listing.schema" (L4), "listing.history" (L1: a value to be captured is not there),
 * and those of memory and paths. */
bool listing_read(struct listing *listing, struct arena *arena, const struct listing_input *input,
                  struct error *err) MUST_CHECK;

/* True for "page.next" and "listing.schema": their level says that a retry is of no use, but a
 * second response to the same request may be in order. */
bool listing_error_may_pass(const struct error *err);

/* Fewer bad records than this are bad records, whatever their share. */
enum { LISTING_SCHEMA_MIN = 5 };

/* The end of what a date may mean: "2026-03" is any instant before April. */
int64_t listing_date_end_us(int64_t at_us, enum date_precision precision);

#endif
