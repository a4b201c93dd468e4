/* What one page shows about a source besides its records. Each of these has lost somebody data. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/list.h"
#include "core/reslice.h"
#include "engine/fetch/document_outline.h"
#include "engine/probe/probe.h"

/* A page above this part of the limit may be too large one day. */
enum { LARGE_PARTS = 2, WARNING_MAX = 512 };

void probe_tell(struct probe *probe, const char *format, ...)
{
    char text[WARNING_MAX];
    struct str *slot;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (size_t i = 0; i < probe->warnings.count; i++) {
        if (str_eq(probe->warnings.items[i], str_of(text)))
            return;
    }
    slot = LIST_ADD(probe->arena, &probe->warnings);
    if (slot != NULL)
        *slot = arena_copy(probe->arena, str_of(text));
}

static bool is_listing(const struct probe *probe)
{
    return probe->input.slice->dimension != SLICE_ID && probe->input.slice->dimension != SLICE_FILE;
}

/* Whether the source declares one. */
static bool has_total(const struct probe *probe)
{
    const struct spec_response *response = &probe->endpoint->response;

    return response->total.text.len > 0 || response->total_header.len > 0;
}

static void warn_total(struct probe *probe)
{
    const struct listing *listing = &probe->listing;

    if (!is_listing(probe) || probe->response.kind == RESPONSE_EMPTY)
        return;
    if (!has_total(probe))
        probe_tell(probe,
                   "the source gives no total (response.total): completeness cannot be proven");
    else if (!listing->has_total)
        probe_tell(probe, "%s leads to nothing in this response, as response.may_be_absent allows",
                   probe->endpoint->response.total_header.len > 0 ? "response.total_header"
                                                                  : "response.total");
    else if (listing->total < (int64_t)listing->items)
        probe_tell(probe, "the total, %" PRId64 ", is less than the page itself has",
                   listing->total);
    if (listing->has_total && probe->decision.step == PAGE_END &&
        listing->total > (int64_t)listing->items && !page_is_cut(probe->decision.reason))
        probe_tell(probe,
                   "the total is %" PRId64
                   ", %zu came, and there is no next page: is page.next right?",
                   listing->total, listing->items);
}

/* A path that finds nothing where something is. */
static void warn_empty(struct probe *probe)
{
    struct str elements;

    if (probe->endpoint->response.format != RESPONSE_XML ||
        probe->response.kind == RESPONSE_EMPTY || probe->response.items.count > 0)
        return;
    elements =
        document_outline_elements(&probe->response.document, &probe->reader.elements, probe->arena);
    if (elements.len > 0)
        probe_tell(
            probe,
            "is response.items right? It finds nothing, and the place where it searches has %.*s",
            STR_ARG(elements));
}

/* More than the source hands out: what a harvest will do. */
static void warn_cap(struct probe *probe)
{
    const struct listing *listing = &probe->listing;
    const struct spec *spec = probe->input.spec;
    const int64_t cap = probe->endpoint->page.cap;
    struct reslice out = { 0 };

    if (!is_listing(probe) || !listing->has_total ||
        !page_is_over_cap(&probe->rules, listing->total))
        return;
    if (!id_range_is_valid(probe->input.slice->part) && !spec_is_open_ended(spec))
        reslice_time(&(struct reslice_request){ .window = probe->input.slice->window,
                                                .cut = { .max_us = spec->endpoint.window.max_us,
                                                         .min_us = spec->endpoint.window.min_us,
                                                         .align = spec->endpoint.window.align,
                                                         .granularity =
                                                             spec->endpoint.window.granularity } },
                     &out);
    if (out.count > 0)
        probe_tell(probe,
                   "the total, %" PRId64 ", is above page.cap: the window will be cut by time",
                   listing->total);
    else if (probe->endpoint->page.id_max > 0)
        probe_tell(probe,
                   "the total, %" PRId64
                   ", is above page.cap, and the window cannot be shorter: it "
                   "will be cut by ids",
                   listing->total);
    else
        probe_tell(probe,
                   "the total, %" PRId64
                   ", is above page.cap, and the window cannot be shorter: %" PRId64
                   " of its records come, and the cursor stays before it (see page.id_max)",
                   listing->total, cap);
}

/* How the list ends, where this page shows it. */
static void warn_end(struct probe *probe)
{
    const struct spec_response *response = &probe->endpoint->response;
    const struct listing *listing = &probe->listing;
    const bool has_other_sign = has_total(probe) || response->has_more.text.len > 0;

    if (!is_listing(probe) || listing->items == 0)
        return;
    if (probe->decision.reason == PAGE_END_BARE)
        probe_tell(probe,
                   "the page is full and has no next, and there is no total: a full last page "
                   "looks like one that lost its next");
    if (listing->next_part == LISTING_FOUND && !has_other_sign &&
        !response->may_be_absent[RESPONSE_PART_NEXT])
        probe_tell(probe,
                   "this page does not show how the list ends: a last page without a next is "
                   "broken unless response.may_be_absent has next");
    if (listing->more_part == LISTING_ABSENT)
        probe_tell(probe, "response.has_more leads to nothing in this response, as "
                          "response.may_be_absent allows");
    if (listing->has_total && listing->next_part == LISTING_FOUND &&
        listing->total == (int64_t)listing->items)
        probe_tell(probe,
                   "the total, %" PRId64 ", is what the page itself has, and there is a next: is "
                   "response.total the number of all matches?",
                   listing->total);
}

static struct str id_at(const struct probe *probe, size_t i)
{
    return probe->lists_ids ? probe->listing.ids[i] : probe->listing.records.items[i].provider_id;
}

/* A range of ids that is requested with wrong ends loses the records at its ends. */
static void warn_range(struct probe *probe)
{
    const struct spec_page *page = &probe->endpoint->page;
    const struct id_range part = probe->input.slice->part;
    const bool is_part = id_range_is_valid(part);
    const struct id_range within =
        is_part ? part : (struct id_range){ page->id_min, page->id_max + 1 };
    const size_t count =
        probe->lists_ids ? probe->listing.hash_count : probe->listing.records.count;
    int64_t id;

    if (!is_listing(probe) || page->id_max == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (!str_to_i64(id_at(probe, i), &id) || id_range_has(within, id))
            continue;
        probe_tell(
            probe,
            is_part ? "%.*s came, which is outside of the ids that were requested: does the source "
                      "take ${slice.from} and ${slice.last}?"
                    : "%.*s came, which is not between page.id_min and page.id_max: what is above "
                      "the cap could not be cut by ids",
            STR_ARG(id_at(probe, i)));
        return;
    }
    if (is_part && count == 0)
        probe_tell(probe, "none of the requested ids came: are there any in this window, and "
                          "does the source's range include both ends?");
}

static void warn_size(struct probe *probe)
{
    const struct spec_http *http = &probe->endpoint->http;
    const int64_t requested = probe->state.size;
    const size_t items = probe->listing.items;

    if (requested > 0 && items > 0 && (int64_t)items < requested &&
        probe->decision.step == PAGE_GO_ON)
        probe_tell(probe,
                   "%zu items came where %" PRId64 " were requested, and there are more: is "
                   "page.size above what the source gives?",
                   items, requested);
    if (requested > 0 && (int64_t)items > requested)
        probe_tell(probe,
                   "%zu items came where %" PRId64 " were requested: the source ignores "
                   "page.size",
                   items, requested);
    if ((int64_t)probe->reply.body.len > http->inflated_max_bytes / LARGE_PARTS ||
        probe->reply.wire_bytes > http->body_max_bytes / LARGE_PARTS)
        probe_tell(probe,
                   "a response of %zu bytes is more than half of http.body_max: request smaller "
                   "pages",
                   probe->reply.body.len);
}

static void warn_dates(struct probe *probe)
{
    const struct listing *listing = &probe->listing;
    const struct window window = probe->input.slice->query.window;
    size_t coarse = 0, outside = 0, dated = 0, future = 0;

    if (listing->records.count == 0)
        return;
    for (size_t i = 0; i < listing->records.count; i++) {
        const struct record *record = &listing->records.items[i];

        future += record->is_future;
        if (!record->has_updated_at)
            continue;
        dated++;
        coarse += record->precision <= DATE_DAY;
        outside += record->updated_at_us >= window.to_us ||
                   listing_date_end_us(record->updated_at_us, record->precision) <= window.from_us;
    }
    if (probe->endpoint->response.updated_at_count == 0)
        probe_tell(probe,
                   "there is no updated_at: the content decides whether a record has changed");
    else if (dated + future == 0)
        probe_tell(probe, "no record has a date (response.updated_at)");
    else if (dated > 0 && coarse == dated)
        probe_tell(probe, "dates are of day precision or coarser: of two changes on one day only "
                          "response.version, or the last request, shows which is newer");
    if (future > 0)
        probe_tell(
            probe,
            "%zu of %zu records have a date in the future (response.future_tolerance): it is not "
            "believed, and their content decides whether they have changed",
            future, listing->records.count);
    if (is_listing(probe) && outside > 0 && !probe->input.spec->endpoint.window.client_filter)
        probe_tell(probe,
                   "%zu of %zu records are dated outside of the window that was requested: does "
                   "the filter work, and on this date?",
                   outside, dated);
}

static bool has_upper(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] >= 'A' && text.data[i] <= 'Z')
            return true;
    }
    return false;
}

static bool is_repeated(const struct listing *listing, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (listing->hashes[i] == listing->hashes[at])
            return true;
    }
    return false;
}

static void warn_ids(struct probe *probe)
{
    const struct listing *listing = &probe->listing;
    size_t upper = 0, repeated = 0;

    for (size_t i = 0; i < listing->records.count; i++)
        upper += has_upper(listing->records.items[i].provider_id);
    for (size_t i = 0; i < listing->hash_count; i++)
        repeated += is_repeated(listing, i);
    if (upper > 0 && upper < listing->records.count &&
        probe->endpoint->response.id_case == LETTER_CASE_KEEP)
        probe_tell(probe,
                   "some ids have capitals and some do not: where the source treats both as the "
                   "same (DOIs), set id_case: lower");
    if (listing->kinds.odd > 0)
        probe_tell(probe,
                   "some ids are numbers and some are texts: 1 and \"1\" are the same id, and the "
                   "later one of the two in a walk is quarantined");
    if (repeated > 0)
        probe_tell(probe, "%zu ids come twice on the page: is response.id the whole id?", repeated);
}

/* Dates that go up and down where the walk relies on their order. */
static bool is_out_of_order(const struct probe *probe)
{
    const struct listing *listing = &probe->listing;
    int64_t last_us = 0;
    bool has_last = false;

    for (size_t i = 0; i < listing->records.count; i++) {
        const struct record *record = &listing->records.items[i];

        if (!record->has_updated_at)
            continue;
        if (has_last && (probe->rules.descending ? record->updated_at_us > last_us
                                                 : record->updated_at_us < last_us))
            return true;
        last_us = record->updated_at_us;
        has_last = true;
    }
    return false;
}

static void warn_order(struct probe *probe)
{
    const bool is_counted =
        probe->rules.type == PAGINATION_OFFSET || probe->rules.type == PAGINATION_PAGE;
    const bool needs_order =
        probe->rules.type == PAGINATION_TIME || !probe->input.spec->endpoint.window.updated_since;

    if (!is_listing(probe))
        return;
    if (is_counted && probe->endpoint->page.order_by.len == 0)
        probe_tell(probe,
                   "pages by number in no stable order (page.order_by): a record that is changed "
                   "during a walk moves others across pages; such slices are read again");
    if (needs_order && is_out_of_order(probe))
        probe_tell(probe,
                   "records are not in the order of their dates, and this way of paging relies "
                   "on it");
}

static void warn_rate(struct probe *probe)
{
    const int64_t allowed = probe->response.hints.provider_rate;
    const double requested = probe->endpoint->rate.limit.per_second;

    if (allowed > 0 && requested * 1e6 > (double)allowed)
        probe_tell(probe, "the source allows %.3g requests per second; rate.per_second is %g",
                   (double)allowed / 1e6, requested);
}

bool probe_warn(struct probe *probe, struct error *err)
{
    warn_total(probe);
    warn_empty(probe);
    warn_end(probe);
    warn_cap(probe);
    warn_range(probe);
    warn_size(probe);
    warn_dates(probe);
    warn_ids(probe);
    warn_order(probe);
    warn_rate(probe);
    return !probe->arena->failed || arena_error(probe->arena, err);
}
