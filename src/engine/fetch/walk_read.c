/* What a response says: judged, its items read as records, and what it lacks. Reading changes
 * nothing of the walk, so the response to a request that was sent ahead is read by the thread that
 * received it, while the batch before it is stored:
 *
 *      prefetch_start ─┬─ the caller stores the batch ─────────────────┬─ exchange_read_once
 *                      ╰─ http: receive, unpack ─ read_early ──────────╯
 *
 * Until exchange_read_once() the caller changes nothing that is read here: the phase is already
 * that of the next page, and the response has an arena of its own. This holds for JSON. XPath has
 * state, and the fields of the batch that is being stored are read by the same paths.
 */
#include "engine/fetch/walk.h"

#include <string.h>

#include "engine/fetch/absence.h"
#include "engine/fetch/lone.h"

static enum listing_order order_of(const struct phase *phase)
{
    if (!phase->rules.is_sorted)
        return LISTING_UNSORTED;
    return phase->rules.descending ? LISTING_NEWEST_FIRST : LISTING_OLDEST_FIRST;
}

/* A list must have what the source declares. A lookup by id has no further pages, and need have
 * nothing; the children of a parent are a list. */
static bool check_absence(const struct exchange_request *request, const struct exchange *exchange,
                          struct error *err)
{
    const struct phase *phase = request->phase;
    const struct proof_page page = walk_proof_page(&exchange->listing);
    const bool is_page = exchange_is_page(request);
    const bool is_of_parent = phase->endpoint->parent.len > 0;
    const struct lone_input lone = { &exchange->reply, &exchange->listing, is_of_parent };
    struct absence_input input = { .reader = &phase->reader,
                                   .response = &exchange->response,
                                   .listing = &exchange->listing,
                                   .is_first = !is_page || phase->state.number == 0 };

    if (!is_page && !is_of_parent)
        return true;
    if (phase->endpoint->page.type == PAGINATION_SINGLE && !lone_check(&lone, exchange->arena, err))
        return false;
    if (is_page && absence_needs_total(input.listing) &&
        !proof_is_reached(&phase->proof, &page, exchange->arena, &input.is_total_reached, err))
        return false;
    return absence_check(&input, exchange->arena, err);
}

static bool read_listing(const struct fetch *fetch, const struct exchange_request *request,
                         struct exchange *exchange, struct error *err)
{
    const struct phase *phase = request->phase;
    const struct listing_input input = {
        .reader = &phase->reader,
        .response = &exchange->response,
        .reply = &exchange->reply,
        .request_url =
            exchange->reply.url.len > 0 ? exchange->reply.url : phase->endpoint->http.base_url,
        .now_us = exchange->sent_us,
        .keep = walk_keep(fetch),
        .order = order_of(phase),
        .step_us = granularity_us(phase->rules.granularity),
        .ids_only = request->ids_only,
        .kinds = &phase->kinds,
        .seen = &phase->proof.ids,
        .feed = feed_type(fetch, phase),
    };
    struct listing *listing = &exchange->listing;

    if (!listing_read(listing, exchange->arena, &input, err) ||
        !check_absence(request, exchange, err)) {
        exchange->response.kind = RESPONSE_ERROR;
        return false;
    }
    if (phase->rules.type != PAGINATION_URL)
        return true;
    return (listing->next.data == NULL ||
            request_clean_url(&phase->form, exchange->arena, listing->next, &listing->next, err)) &&
           (listing->feed.sync_token.data == NULL ||
            request_clean_url(&phase->form, exchange->arena, listing->feed.sync_token,
                              &listing->feed.sync_token, err));
}

bool exchange_read(const struct fetch *fetch, const struct exchange_request *request,
                   struct exchange *exchange, struct error *err)
{
    const struct response_input input = {
        .reader = &request->phase->reader,
        .reply = &exchange->reply,
        .access = exchange->permit.endpoint,
        .now_us = clock_now_us(fetch->parts.clock),
        .ids_only = request->ids_only,
        .is_of_parent = request->id_count == 1 && request->phase->endpoint->parent.len > 0 &&
                        request->phase->state.number == 0,
    };

    return (response_read(&exchange->response, exchange->arena, &input, err) &&
            read_listing(fetch, request, exchange, err)) ||
           error_wrap(err, "%s", exchange->title.text);
}

/* ---- early ---- */

/* Where they are needed after all, they are there; a failure is met again then. */
static void hash_records(const struct reader *reader, struct exchange *exchange)
{
    const struct record_origin origin = { .reader = reader,
                                          .document = &exchange->response.document,
                                          .arena = exchange->arena };
    struct error ignored;

    for (size_t i = 0; i < exchange->listing.records.count; i++) {
        struct record *record = &exchange->listing.records.items[i];
        char *hex = arena_alloc_raw(exchange->arena, HASH_HEX_MAX);

        if (hex == NULL || !record_hash(&origin, record, hex, &ignored))
            return;
        record->hash = str_of(hex);
    }
}

static void read_early(struct http_taker *taker, const struct http_response *reply)
{
    struct prefetch *prefetch = (struct prefetch *)taker;
    struct exchange *exchange = &prefetch->begun;

    exchange->reply = *reply;
    prefetch->read_body = reply->body.data;
    prefetch->is_good =
        exchange_read(prefetch->fetch, &prefetch->request, exchange, &prefetch->err);
    if (prefetch->is_good && !prefetch->request.ids_only)
        hash_records(&prefetch->request.phase->reader, exchange);
}

static bool may_read_early(const struct exchange_request *request)
{
    return request->id_count == 0 && request->phase->rules.type != PAGINATION_URL &&
           request->phase->endpoint->response.format == RESPONSE_JSON;
}

struct http_taker *prefetch_taker(struct fetch *fetch, const struct exchange_request *request)
{
    struct prefetch *prefetch = &fetch->prefetch;

    prefetch->taker.take = read_early;
    prefetch->fetch = fetch;
    prefetch->request = *request;
    prefetch->read_body = NULL;
    return may_read_early(request) ? &prefetch->taker : NULL;
}

static bool is_same_request(const struct exchange_request *a, const struct exchange_request *b)
{
    return a->phase == b->phase && a->ids_only == b->ids_only && a->id_count == b->id_count;
}

bool exchange_read_once(struct fetch *fetch, const struct exchange_request *request,
                        struct exchange *exchange, struct error *err)
{
    struct prefetch *prefetch = &fetch->prefetch;
    const char *read_body = prefetch->read_body;

    prefetch->read_body = NULL;
    if (read_body == NULL)
        return exchange_read(fetch, request, exchange, err);
    if (read_body == exchange->reply.body.data && is_same_request(&prefetch->request, request)) {
        if (!prefetch->is_good)
            *err = prefetch->err;
        return prefetch->is_good;
    }
    response_close(&exchange->response); /* of another response, or read as another one */
    exchange->response = (struct response){ .kind = RESPONSE_ERROR };
    exchange->listing = (struct listing){ 0 };
    return exchange_read(fetch, request, exchange, err);
}
