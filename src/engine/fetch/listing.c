/* What a page holds, and what it says about other pages. */
#include "engine/fetch/listing.h"

#include <string.h>

#include "base/instant.h"
#include "base/list.h"
#include "base/quote.h"
#include "core/cursor.h"
#include "data/link_header.h"
#include "data/url.h"
#include "engine/fetch/document_outline.h"
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

/* Whether a record is out of order among those before it. A date may mean a whole day or year, and
 * is out of order only when all of that is. */
static bool is_misplaced(const struct reading *reading, const struct record *record)
{
    const struct listing *listing = reading->listing;
    const int64_t step_us = reading->input->step_us > 0 ? reading->input->step_us : 1;
    const int64_t last_us = listing_date_end_us(record->updated_at_us, record->precision) - 1;

    if (!listing->has_dates)
        return false;
    if (reading->input->order == LISTING_OLDEST_FIRST)
        return instant_floor(last_us, step_us) < instant_floor(listing->latest_us, step_us);
    return reading->input->order == LISTING_NEWEST_FIRST &&
           instant_floor(record->updated_at_us, step_us) >
               instant_floor(listing->earliest_end_us, step_us);
}

/* What a record and the one before it say about the declared order. */
static enum page_order order_of(const struct reading *reading, const struct record *record)
{
    const struct listing *listing = reading->listing;
    const int64_t step_us = reading->input->step_us > 0 ? reading->input->step_us : 1;
    const int64_t from_us = record->updated_at_us;
    const int64_t to_us = listing_date_end_us(from_us, record->precision) - 1;
    const bool is_later = from_us > listing->last_end_us, is_earlier = to_us < listing->last_us;
    const bool is_newest_first = reading->input->order == LISTING_NEWEST_FIRST;

    if (!listing->has_dates || reading->input->order == LISTING_UNSORTED ||
        (!is_later && !is_earlier))
        return PAGE_ORDER_UNKNOWN;
    if (is_later == is_newest_first)
        return PAGE_ORDER_MIXED;
    if (is_later ? instant_floor(from_us, step_us) > instant_floor(listing->last_end_us, step_us)
                 : instant_floor(to_us, step_us) < instant_floor(listing->last_us, step_us))
        return PAGE_ORDER_STEPS;
    return PAGE_ORDER_FINE;
}

static void note_order(const struct reading *reading, const struct record *record)
{
    struct listing *listing = reading->listing;
    const enum page_order order = order_of(reading, record);

    if (order > listing->order)
        listing->order = order;
    listing->last_us = record->updated_at_us;
    listing->last_end_us = listing_date_end_us(record->updated_at_us, record->precision) - 1;
}

static void note_date(const struct reading *reading, const struct record *record)
{
    struct listing *listing = reading->listing;
    int64_t end_us;

    if (!record->has_updated_at)
        return;
    end_us = listing_date_end_us(record->updated_at_us, record->precision) - 1;
    listing->is_unsorted |= is_misplaced(reading, record);
    note_order(reading, record);
    if (!listing->has_dates || end_us < listing->earliest_end_us)
        listing->earliest_end_us = end_us;
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

    if (!listing->has_dates || !window_is_valid(keep) || listing->is_unsorted)
        return false;
    if (reading->input->order == LISTING_OLDEST_FIRST)
        return listing->earliest_us >= keep.to_us;
    return reading->input->order == LISTING_NEWEST_FIRST && listing->latest_us < keep.from_us &&
           listing->dropped == listing->items;
}

/* ---- items ---- */

/* `key` is what orders a feed; the id itself elsewhere. */
static void add_id(const struct reading *reading, struct str id, struct str key)
{
    struct listing *listing = reading->listing;

    if (id.data == NULL) {
        listing->unnamed++;
        return;
    }
    if (reading->input->ids_only)
        listing->ids[listing->hash_count] = id;
    listing->hashes[listing->hash_count++] = id_set_hash(key);
}

static struct listing_feed_input feed_of(const struct reading *reading)
{
    return (struct listing_feed_input){ reading->input->reader, reading->input->response,
                                        reading->arena, reading->input->feed };
}

static bool add_record(const struct reading *reading, const struct record *record)
{
    struct listing *listing = reading->listing;
    struct record *kept;

    if (record_is_good(record))
        note_date(reading, record);
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

static bool judge_item(const struct reading *reading, const struct record_origin *origin, size_t i,
                       struct record *record)
{
    const struct document_node node = reading->input->response->items.items[i];

    if (reading->input->ids_only) {
        *record = (struct record){ .position = i };
        if (!record_id(origin, node, record, reading->err))
            return false;
        if (record->provider_id.data != NULL)
            return true;
    }
    return record_judge(origin, node, i, record, reading->err); /* without an id, it is bad */
}

/* Refuses an id that is a value of another type in an earlier item. */
static bool check_kind(const struct reading *reading, const struct record_origin *origin,
                       struct record *record)
{
    bool is_ambiguous;

    if (record->provider_id.data == NULL)
        return true;
    id_kinds_page_add(&reading->listing->kinds, id_set_hash(record->provider_id), record->id_kinds,
                      &is_ambiguous);
    return !is_ambiguous || record_refuse_id(origin, record, reading->err);
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
    const struct listing_feed_input feed = feed_of(reading);
    struct str *sequences, key;
    struct record record;

    if (!listing_feed_sequences(&feed, &sequences, reading->err))
        return false;
    listing->kinds =
        (struct id_kinds_page){ .kinds = reading->input->kinds, .seen = reading->input->seen };
    listing->items = items->count;
    listing->hashes = ARENA_ARRAY(reading->arena, uint64_t, items->count);
    listing->ids = ARENA_ARRAY(reading->arena, struct str, ids_only ? items->count : 0);
    if (listing->hashes == NULL || listing->ids == NULL)
        return arena_error(reading->arena, reading->err);
    if (!id_kinds_page_init(&listing->kinds, reading->arena, items->count, reading->err))
        return false;
    for (size_t i = 0; i < items->count; i++) {
        if (!judge_item(reading, &origin, i, &record) || !check_kind(reading, &origin, &record) ||
            (!(ids_only && record.provider_id.data != NULL) && !add_record(reading, &record)))
            return false;
        key = sequences != NULL ? sequences[i] : record.provider_id;
        if (feed.type == CURSOR_ID && key.data != NULL &&
            !listing_feed_note(&listing->feed, key, reading->err))
            return false;
        add_id(reading, record.provider_id, key);
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
    struct document_place root = { .document = document_of(reading), .arena = reading->arena };
    struct document_value value;

    *text = (struct str){ NULL, 0 };
    if (!document_has_path(path) || !reading->input->response->is_open)
        return true;
    root.node = document_root(root.document);
    if (!document_value(&root, path, &value, reading->err))
        return false;
    if (value.is_broken) /* what would be sent back is not what was received */
        return error_set(reading->err, ERROR_REQUEST, "page.next",
                         "%s has half of a surrogate pair", QUOTE(value.text));
    *text = value.text;
    return true;
}

/* Something is at a path, and it cannot be what the path is for. */
static bool refuse_part(const struct reading *reading, const char *code,
                        const struct spec_path *path, const char *expected)
{
    const struct response *response = reading->input->response;
    const struct str outline = document_outline(&response->document, reading->arena);

    return error_set(reading->err, ERROR_TRANSIENT, code, "%.*s in the response is not %s: %.*s",
                     STR_ARG(path->text), expected, STR_ARG(outline));
}

/* What is at a path of the page. A response that is empty by a rule of the source may have anything
 * there. */
static bool page_kind(const struct reading *reading, const struct document_path *path,
                      enum document_kind *kind)
{
    *kind = DOCUMENT_NOTHING;
    return !reading->input->response->is_open ||
           document_kind(&(struct document_place){ document_of(reading),
                                                   document_root(document_of(reading)),
                                                   reading->arena },
                         path, kind, reading->err);
}

static bool is_declared_empty(const struct reading *reading)
{
    return reading->input->response->kind == RESPONSE_EMPTY;
}

/* XPath's number() of nothing is NaN. */
static bool is_blank(struct str text)
{
    return str_trim(text).len == 0 || str_eq(text, STR("NaN"));
}

/* "1234", or the end of "items 0-9/1234". "*" says that it is unknown. */
static bool read_total_header(const struct reading *reading, struct str name)
{
    const struct str value = http_header_value(reading->input->reply->headers, name);
    struct listing *listing = reading->listing;
    const size_t slash = str_find_char(value, '/');
    const struct str text =
        str_trim(slash < value.len ? str_slice(value, slash + 1, value.len) : value);

    listing->total_part = LISTING_ABSENT;
    if (text.len == 0 || str_eq(text, STR("*")))
        return true;
    if (!str_to_i64(text, &listing->total) || listing->total < 0)
        return is_declared_empty(reading) ||
               error_set(reading->err, ERROR_TRANSIENT, "answer.total",
                         "header %.*s in the response is not a whole number: %s", STR_ARG(name),
                         QUOTE(value));
    listing->has_total = true;
    listing->total_part = LISTING_FOUND;
    return true;
}

static bool read_total(const struct reading *reading)
{
    const struct document_path *path = &reading->input->reader->total;
    const struct str header = reading->input->reader->endpoint->response.total_header;
    struct listing *listing = reading->listing;
    enum document_kind kind;
    struct str text;

    if (header.len > 0)
        return read_total_header(reading, header);
    if (!document_has_path(path))
        return true;
    if (!page_kind(reading, path, &kind) || !page_text(reading, path, &text))
        return false;
    listing->total_part = LISTING_ABSENT;
    if (kind == DOCUMENT_NOTHING || kind == DOCUMENT_NULL ||
        (kind == DOCUMENT_TEXT && is_blank(text)))
        return true;
    if (kind == DOCUMENT_TEXT && str_to_i64(str_trim(text), &listing->total) &&
        listing->total >= 0) {
        listing->has_total = true;
        listing->total_part = LISTING_FOUND;
        return true;
    }
    return is_declared_empty(reading) ||
           refuse_part(reading, "answer.total", &reading->input->reader->endpoint->response.total,
                       "a whole number");
}

static bool read_more(const struct reading *reading)
{
    const struct document_path *path = &reading->input->reader->has_more;
    const struct document *document = document_of(reading);
    struct listing *listing = reading->listing;
    enum document_kind kind;
    struct str text;
    bool is_true;

    if (!document_has_path(path))
        return true;
    if (!page_kind(reading, path, &kind) || !page_text(reading, path, &text))
        return false;
    listing->more_part = LISTING_ABSENT;
    if (kind == DOCUMENT_NOTHING || kind == DOCUMENT_NULL ||
        (kind == DOCUMENT_TEXT && document->format == RESPONSE_JSON && str_trim(text).len == 0))
        return true; /* an empty element of XML says something by being there */
    if (kind == DOCUMENT_TREE)
        return is_declared_empty(reading) ||
               refuse_part(reading, "answer.has_more",
                           &reading->input->reader->endpoint->response.has_more, "true or false");
    if (!document_is_true(
            &(struct document_place){ document, document_root(document), reading->arena }, path,
            &is_true, reading->err))
        return false;
    listing->more = is_true ? PAGE_MORE_YES : PAGE_MORE_NO;
    listing->more_part = LISTING_FOUND;
    return true;
}

/* The link of a relation, in any of the Link headers. data NULL: there is none. */
static bool find_link(const struct reading *reading, struct str rel, struct str *target)
{
    const struct http_headers headers = reading->input->reply->headers;
    const struct http_header *header = NULL;

    *target = (struct str){ NULL, 0 };
    while (target->data == NULL &&
           (header = http_header_find(headers, STR("Link"), header)) != NULL) {
        if (!link_header_find(header->value, rel, target, reading->err)) {
            reading->err->code = "page.next";
            return error_wrap(reading->err, "header Link");
        }
    }
    return true;
}

/* The next link. Without one, links to other pages say that this page is the last: *next is then
 * an empty text, as it is for a link to nowhere. */
static bool link_of(const struct reading *reading, struct str *next)
{
    static const struct str others[] = { STR_INIT("prev"), STR_INIT("previous"), STR_INIT("first"),
                                         STR_INIT("last") };
    struct str other;

    if (!find_link(reading, STR("next"), next))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(others) && next->data == NULL; i++) {
        if (!find_link(reading, others[i], &other))
            return false;
        if (other.data == NULL)
            continue;
        reading->listing->ends_by_links = true;
        *next = STR("");
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

/* In the body. text->data is NULL where there is none. */
static bool next_in_body(const struct reading *reading, struct str *text)
{
    const struct document_path *path = &reading->input->reader->next;
    enum document_kind kind;

    if (!page_kind(reading, path, &kind) || !page_text(reading, path, text))
        return false;
    if (kind == DOCUMENT_NULL)
        *text = STR("");
    if (kind != DOCUMENT_BOOL && kind != DOCUMENT_TREE)
        return true;
    *text = (struct str){ NULL, 0 };
    return is_declared_empty(reading) ||
           refuse_part(reading, "answer.next", &reading->input->reader->endpoint->page.next,
                       "a text or a number");
}

/* The source's own, where it names one, or the highest on the page. */
static bool read_next_id(const struct reading *reading)
{
    struct listing *listing = reading->listing;
    struct str text;

    listing->next = listing->feed.highest;
    if (!document_has_path(&reading->input->reader->next))
        return true;
    if (!next_in_body(reading, &text))
        return false;
    if (text.len == 0)
        return true;
    if (!cursor_id_is_valid(text) ||
        (listing->feed.highest.data != NULL && cursor_id_compare(text, listing->feed.highest) < 0))
        return error_set(reading->err, ERROR_REQUEST, "page.next",
                         "the next id is %s, and the page has ids up to %.*s", QUOTE(text),
                         STR_ARG(listing->feed.highest));
    listing->next = cursor_id_normal(text);
    return true;
}

/* An object, a list or a boolean in place of the token that ends a sync is none. */
static bool check_sync_token(const struct reading *reading)
{
    const struct reader *reader = reading->input->reader;
    enum document_kind kind;

    if (!document_has_path(&reader->sync_token) || is_declared_empty(reading))
        return true;
    if (!page_kind(reading, &reader->sync_token, &kind))
        return false;
    return (kind != DOCUMENT_BOOL && kind != DOCUMENT_TREE) ||
           refuse_part(reading, "answer.sync_token", &reader->endpoint->response.sync_token,
                       "a text or a number");
}

/* The token that ends a sync may be a URL, which is followed like any other. */
static bool read_feed(const struct reading *reading)
{
    const struct listing_feed_input input = feed_of(reading);
    struct listing_feed *feed = &reading->listing->feed;

    if (!listing_feed_read(&input, feed, reading->err))
        return false;
    if (input.type == CURSOR_ID && document_has_path(&input.reader->latest) &&
        feed->latest.data == NULL && !is_declared_empty(reading))
        return refuse_part(reading, "answer.latest", &input.reader->endpoint->response.latest,
                           "a whole number");
    if (!check_sync_token(reading))
        return false;
    if (feed->sync_token.data == NULL ||
        reading->input->reader->endpoint->page.type != PAGINATION_URL)
        return true;
    return follow(reading, feed->sync_token, &feed->sync_token) &&
           listing_feed_fits(feed, reading->err);
}

static bool read_next(const struct reading *reading)
{
    const struct spec_page *page = &reading->input->reader->endpoint->page;
    struct listing *listing = reading->listing;
    struct str text = { NULL, 0 };

    if (page->type == PAGINATION_ID)
        return read_next_id(reading);
    if (page->type != PAGINATION_TOKEN && page->type != PAGINATION_URL)
        return true;
    if (page->next_header.len == 0) {
        if (!next_in_body(reading, &text))
            return false;
    } else if (str_eq_nocase(page->next_header, STR("Link"))) {
        if (!link_of(reading, &text))
            return false;
    } else
        text = http_header_value(reading->input->reply->headers, page->next_header);
    listing->next_part = text.data == NULL ? LISTING_ABSENT : LISTING_EMPTY;
    if (text.len == 0)
        return true;
    listing->next_part = LISTING_FOUND;
    if (page->type == PAGINATION_URL)
        return follow(reading, text, &listing->next);
    listing->next = text;
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
        !read_more(&reading) || !read_next(&reading) || !read_feed(&reading))
        return false;
    listing->is_past = is_past(&reading);
    return input->response->kind == RESPONSE_EMPTY || read_history(&reading);
}
