/* What a page holds, and what it says about other pages. */
#include "engine/fetch/listing.h"

#include <string.h>

#include "base/instant.h"
#include "base/list.h"
#include "base/quote.h"
#include "data/link_header.h"
#include "data/url.h"
#include "engine/fetch/id_set.h"

struct reading {
    const struct listing_input *input;
    struct arena *arena;
    struct listing *listing;
    struct error *err;
};

static const struct document *document_of(const struct reading *reading)
{
    return &reading->input->response->document;
}

/* ---- dates ---- */

int64_t listing_date_end_us(int64_t at_us, enum date_precision precision)
{
    static const int64_t lengths[] = {
        [DATE_YEAR] = 366 * US_PER_DAY,
        [DATE_QUARTER] = 92 * US_PER_DAY,
        [DATE_MONTH] = 31 * US_PER_DAY,
        [DATE_DAY] = US_PER_DAY,
        [DATE_MINUTE] = 60 * US_PER_SECOND,
        [DATE_SECOND] = US_PER_SECOND,
        [DATE_MICROSECOND] = 1,
    };

    return at_us + lengths[precision];
}

static bool is_wanted(const struct reading *reading, const struct record *record)
{
    const struct window keep = reading->input->keep;

    if (!window_is_valid(keep) || !record->has_updated_at)
        return true;
    return record->updated_at_us < keep.to_us &&
           listing_date_end_us(record->updated_at_us, record->precision) > keep.from_us;
}

static void note_date(struct listing *listing, const struct record *record)
{
    if (!record->has_updated_at)
        return;
    if (!listing->has_dates || record->updated_at_us < listing->earliest_us)
        listing->earliest_us = record->updated_at_us;
    if (!listing->has_dates || record->updated_at_us > listing->latest_us)
        listing->latest_us = record->updated_at_us;
    listing->has_dates = true;
}

/* All records of a sorted list after this page are outside of the window. */
static bool is_past(const struct reading *reading)
{
    const struct listing *listing = reading->listing;
    const struct window keep = reading->input->keep;

    if (!listing->has_dates || !window_is_valid(keep))
        return false;
    if (reading->input->order == LISTING_OLDEST_FIRST)
        return listing->earliest_us >= keep.to_us;
    return reading->input->order == LISTING_NEWEST_FIRST && listing->latest_us < keep.from_us &&
           listing->dropped == listing->items;
}

/* ---- items ---- */

static void add_id(const struct reading *reading, struct str id)
{
    struct listing *listing = reading->listing;

    if (id.data == NULL) {
        listing->unnamed++;
        return;
    }
    if (reading->input->ids_only)
        listing->ids[listing->hash_count] = id;
    listing->hashes[listing->hash_count++] = id_set_hash(id);
}

static bool add_record(const struct reading *reading, const struct record *record)
{
    struct listing *listing = reading->listing;
    struct record *kept;

    if (record_is_good(record))
        note_date(listing, record);
    if (record_is_good(record) && !is_wanted(reading, record)) {
        listing->dropped++;
        return true;
    }
    kept = record_is_good(record) ? LIST_ADD(reading->arena, &listing->records)
                                  : LIST_ADD(reading->arena, &listing->bad);
    if (kept == NULL)
        return arena_error(reading->arena, reading->err);
    *kept = *record;
    return true;
}

static bool read_items(const struct reading *reading)
{
    const struct record_origin origin = { .reader = reading->input->reader,
                                          .document = document_of(reading),
                                          .arena = reading->arena,
                                          .now_us = reading->input->now_us };
    const struct document_items *items = &reading->input->response->items;
    const bool ids_only = reading->input->ids_only;
    struct listing *listing = reading->listing;
    struct record record;

    listing->items = items->count;
    listing->hashes = ARENA_ARRAY(reading->arena, uint64_t, items->count);
    listing->ids = ARENA_ARRAY(reading->arena, struct str, ids_only ? items->count : 0);
    if (listing->hashes == NULL || listing->ids == NULL)
        return arena_error(reading->arena, reading->err);
    for (size_t i = 0; i < items->count; i++) {
        if (ids_only) {
            record = (struct record){ .position = i };
            if (!record_id(&origin, items->items[i], &record, reading->err))
                return false;
        } else {
            if (!record_judge(&origin, items->items[i], i, &record, reading->err) ||
                !add_record(reading, &record))
                return false;
        }
        add_id(reading, record.provider_id);
    }
    return true;
}

static bool check_schema(const struct reading *reading)
{
    const struct listing *listing = reading->listing;
    const struct record *first = listing->bad.items;

    if (reading->input->ids_only && listing->unnamed == listing->items &&
        listing->items >= LISTING_SCHEMA_MIN)
        return error_set(reading->err, ERROR_FATAL, "listing.schema",
                         "none of the %zu items of the page has an id at %.*s: has the source "
                         "changed?",
                         listing->items,
                         STR_ARG(reading->input->reader->endpoint->response.id[0].text));
    if (listing->bad.count < LISTING_SCHEMA_MIN || listing->bad.count < listing->items)
        return true;
    for (size_t i = 1; i < listing->bad.count; i++) {
        if (strcmp(listing->bad.items[i].reason, first->reason) != 0)
            return true;
    }
    return error_set(reading->err, ERROR_FATAL, "listing.schema",
                     "all %zu records of the page are bad (%s, %.*s): has the source changed?",
                     listing->items, first->reason, STR_ARG(first->detail));
}

/* ---- what it says about other pages ---- */

static bool page_text(const struct reading *reading, const struct document_path *path,
                      struct str *text)
{
    *text = (struct str){ NULL, 0 };
    return !document_has_path(path) || !reading->input->response->is_open ||
           document_text(&(struct document_place){ document_of(reading),
                                                   document_root(document_of(reading)),
                                                   reading->arena },
                         path, text, reading->err);
}

static bool read_total(const struct reading *reading)
{
    struct listing *listing = reading->listing;
    struct str text;

    if (!page_text(reading, &reading->input->reader->total, &text))
        return false;
    listing->has_total = text.len > 0 && str_to_i64(text, &listing->total) && listing->total >= 0;
    return true;
}

static bool read_more(const struct reading *reading)
{
    const struct document_path *path = &reading->input->reader->has_more;
    const struct document *document = document_of(reading);
    struct document_place root = { .document = document, .arena = reading->arena };
    bool is_there, is_true;

    if (!document_has_path(path) || !reading->input->response->is_open)
        return true;
    root.node = document_root(document);
    if (!document_is_there(&root, path, &is_there, reading->err) ||
        !document_is_true(&root, path, &is_true, reading->err))
        return false;
    if (is_there)
        reading->listing->more = is_true ? PAGE_MORE_YES : PAGE_MORE_NO;
    return true;
}

static bool link_of(const struct reading *reading, struct str *next)
{
    const struct http_headers headers = reading->input->reply->headers;
    const struct http_header *header = NULL;

    *next = (struct str){ NULL, 0 };
    while (next->data == NULL &&
           (header = http_header_find(headers, STR("Link"), header)) != NULL) {
        if (!link_header_find(header->value, STR("next"), next, reading->err)) {
            reading->err->code = "page.next";
            return error_wrap(reading->err, "header Link");
        }
    }
    return true;
}

/* A URL that may be followed: absolute, and of the source's own origin. */
static bool follow(const struct reading *reading, struct str reference, struct str *next)
{
    const struct str base_url = reading->input->reader->endpoint->http.base_url;
    struct url ours, theirs;
    struct error *err = reading->err;

    if (!url_resolve(reading->arena, reading->input->request_url, reference, next, err) ||
        !url_parse(*next, &theirs, err)) {
        err->code = "page.next";
        return error_wrap(err, "next URL %s", QUOTE(reference));
    }
    if (!url_parse(base_url, &ours, err))
        return false;
    if (!url_same_origin(&ours, &theirs))
        return error_set(err, ERROR_REQUEST, "page.next",
                         "the next URL is on %.*s, not on the source's host %.*s",
                         STR_ARG(theirs.host), STR_ARG(ours.host));
    return true;
}

static bool read_next(const struct reading *reading)
{
    const struct spec_page *page = &reading->input->reader->endpoint->page;
    struct str text = { NULL, 0 };

    if (page->type != PAGINATION_TOKEN && page->type != PAGINATION_URL)
        return true;
    if (page->next_header.len == 0) {
        if (!page_text(reading, &reading->input->reader->next, &text))
            return false;
    } else if (str_eq_nocase(page->next_header, STR("Link"))) {
        if (!link_of(reading, &text))
            return false;
    } else
        text = http_header_value(reading->input->reply->headers, page->next_header);
    if (text.len == 0)
        return true;
    if (page->type == PAGINATION_URL)
        return follow(reading, text, &reading->listing->next);
    reading->listing->next = text;
    return true;
}

static bool read_history(const struct reading *reading)
{
    const struct spec_field_list *fields = &reading->input->reader->endpoint->response.history;
    struct listing_value *values = ARENA_ARRAY(reading->arena, struct listing_value, fields->count);

    if (values == NULL)
        return arena_error(reading->arena, reading->err);
    for (size_t i = 0; i < fields->count; i++) {
        values[i].name = fields->items[i].name;
        if (!page_text(reading, &reading->input->reader->history[i], &values[i].value))
            return false;
        if (values[i].value.len == 0)
            return error_set(reading->err, ERROR_TRANSIENT, "listing.history",
                             "there is no %.*s in the response; phase two needs it",
                             STR_ARG(fields->items[i].path.text));
    }
    reading->listing->history = values;
    reading->listing->history_count = fields->count;
    return true;
}

bool listing_error_may_pass(const struct error *err)
{
    return strcmp(err->code, "page.next") == 0 || strcmp(err->code, "listing.schema") == 0;
}

bool listing_read(struct listing *listing, struct arena *arena, const struct listing_input *input,
                  struct error *err)
{
    const struct reading reading = {
        .input = input, .arena = arena, .listing = listing, .err = err
    };

    *listing = (struct listing){ 0 };
    if (!read_items(&reading) || !check_schema(&reading) || !read_total(&reading) ||
        !read_more(&reading) || !read_next(&reading))
        return false;
    listing->is_past = is_past(&reading);
    return input->response->kind == RESPONSE_EMPTY || read_history(&reading);
}
