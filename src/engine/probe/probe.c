/* Sends one request and reads its response the way a walk does. */
#include "engine/probe/probe.h"

#include <assert.h>
#include <string.h>

#include "engine/fetch/absence.h"

#define SCRATCH_BYTES_MAX (INT64_C(32) << 20)

static struct request_input request_input_of(const struct probe *probe)
{
    return (struct request_input){
        .form = &probe->form,
        .secrets = probe->input.secrets,
        .slice = probe->input.slice,
        .plan_id = STR("0"),
        .state = &probe->state,
        .window = probe->rules.type == PAGINATION_TIME ? page_window(&probe->rules, &probe->state)
                                                       : request_window(probe->input.slice),
        .after = probe->rules.type == PAGINATION_ID ? probe->state.token
                                                    : probe->input.slice->feed.after,
        .ids = probe->input.ids,
        .id_count = probe->input.id_count,
        .now_us = probe->input.now_us,
    };
}

/* The first page of a feed is requested by what the feed continues from. */
static bool begins_with_feed(const struct probe *probe)
{
    const struct slice *slice = probe->input.slice;
    const enum pagination_type type = probe->rules.type;

    if (slice->dimension != SLICE_FEED || slice->feed.after.data == NULL)
        return false;
    return type == PAGINATION_ID ||
           (slice->feed.type == CURSOR_TOKEN && !probe->form.uses_sync_token &&
            (type == PAGINATION_TOKEN || type == PAGINATION_URL));
}

bool probe_open(struct probe *probe, struct arena *arena, const struct probe_input *input,
                struct error *err)
{
    struct request_input request_input;

    *probe = (struct probe){ .input = *input, .arena = arena, .endpoint = &input->spec->endpoint };
    probe->lists_ids = input->spec->is_two_phase && input->slice->dimension != SLICE_ID;
    probe->rules = page_rules_of(input->spec, probe->endpoint);
    probe->state = page_first(&probe->rules, NULL, request_window(probe->input.slice));
    if (!reader_open(&probe->reader, arena, probe->endpoint, input->xml, err) ||
        !request_form_open(&probe->form, arena, input->spec, probe->endpoint, err))
        return false;
    if (begins_with_feed(probe))
        probe->state.token = input->slice->feed.after;
    request_input = request_input_of(probe);
    return request_show(&probe->shown, arena, &request_input, err);
}

/* What is shown must not repeat the secrets that the source was shown, nor personal data. */
static bool fail(const struct probe *probe, struct error *err)
{
    const struct request_mask mask = { &probe->form, probe->input.secrets, probe->http };

    err->text[request_mask_text(&mask, err->text, strlen(err->text))] = '\0';
    return false;
}

static bool is_of_file(const struct probe *probe)
{
    return probe->input.slice->dimension == SLICE_FILE;
}

bool probe_send(struct probe *probe, struct http *http, struct error *err)
{
    const struct request_input input = request_input_of(probe);
    struct request request;
    struct arena scratch;
    bool ok;

    probe->http = http;
    arena_init(&scratch, SCRATCH_BYTES_MAX);
    ok = request_render(&request, (struct request_memory){ &scratch, probe->arena }, &input, err) &&
         (is_of_file(probe) ? probe_send_file(probe, http, &request.http, err)
                            : http_send(http, probe->arena, &request.http, &probe->reply, err));
    arena_wipe(&scratch);
    arena_release(&scratch);
    return ok || fail(probe, err);
}

/* ---- reading ---- */

static bool check_absence(const struct probe *probe, struct error *err)
{
    const struct listing *listing = &probe->listing;
    const struct absence_input input = {
        .reader = &probe->reader,
        .response = &probe->response,
        .listing = listing,
        .is_first = probe->turned == 0,
        .is_total_reached =
            listing->has_total && listing->total == probe->received + (int64_t)listing->items,
    };

    return probe->input.slice->dimension == SLICE_ID || absence_check(&input, probe->arena, err);
}

static bool read_page(struct probe *probe, struct error *err)
{
    const struct spec *spec = probe->input.spec;
    const struct slice *slice = probe->input.slice;
    const bool is_filtered = spec->endpoint.window.client_filter && slice->dimension == SLICE_TIME;
    const struct listing_input input = {
        .reader = &probe->reader,
        .response = &probe->response,
        .reply = &probe->reply,
        .request_url = probe->reply.url.len > 0 ? probe->reply.url : probe->endpoint->http.base_url,
        .now_us = probe->input.now_us,
        .keep = is_filtered ? slice->query.keep : (struct window){ 0, 0 },
        .ids_only = probe->lists_ids,
        .feed = slice->dimension == SLICE_FEED ? slice->feed.type : CURSOR_TIME,
    };

    if (!listing_read(&probe->listing, probe->arena, &input, err) || !check_absence(probe, err))
        return false;
    if (probe->rules.type != PAGINATION_URL || probe->listing.next.data == NULL)
        return true;
    return request_clean_url(&probe->form, probe->arena, probe->listing.next, &probe->listing.next,
                             err);
}

static struct page_decision decide(const struct probe *probe)
{
    const struct listing *listing = &probe->listing;
    const struct page_seen seen = {
        .items = (int64_t)listing->items,
        .fresh = (int64_t)listing->items,
        .has_total = listing->has_total,
        .total = listing->total,
        .more = listing->more,
        .next = listing->next,
        .lacks_next = absence_is_end(listing),
        .is_declared_empty = probe->response.kind == RESPONSE_EMPTY,
        .has_dates = listing->has_dates,
        .earliest_us = listing->earliest_us,
        .latest_us = listing->latest_us,
    };

    return page_decide(&probe->rules, &probe->state, &seen,
                       &(struct page_facts){ .is_second = true,
                                             .is_total_reached = probe->has_total &&
                                                                 probe->received >= probe->total });
}

/* The children of one record were requested. */
static bool is_of_parent(const struct probe *probe)
{
    return probe->endpoint->parent.len > 0 && probe->input.id_count == 1;
}

bool probe_read(struct probe *probe, const struct http_response *reply, struct error *err)
{
    probe->reply = *reply;
    response_close(&probe->response);
    if (is_of_file(probe) && reply->status / 100 == 2 && !probe_cut_file(probe, err))
        return fail(probe, err);
    if (!response_read(&probe->response, probe->arena,
                       &(struct response_input){ .reader = &probe->reader,
                                                 .reply = &probe->reply,
                                                 .now_us = probe->input.now_us,
                                                 .ids_only = probe->lists_ids,
                                                 .is_of_parent = is_of_parent(probe) },
                       err) ||
        !read_page(probe, err) || (!probe->lists_ids && !probe_count_fields(probe, err)) ||
        !probe_count_paths(probe, err))
        return fail(probe, err);
    if (probe->listing.has_total) {
        probe->has_total = true;
        probe->total = probe->listing.total;
    }
    probe->decision = decide(probe);
    return true;
}

bool probe_turn(struct probe *probe, struct error *err)
{
    const struct page_state next = probe->decision.next;
    struct request_input input;

    assert(probe->decision.step == PAGE_GO_ON);
    probe->received += (int64_t)probe->listing.items;
    probe->turned++;
    probe->state = next;
    if (next.token.data != NULL) {
        probe->state.token = arena_copy(probe->arena, next.token);
        if (probe->state.token.data == NULL)
            return arena_error(probe->arena, err);
    }
    probe->listing = (struct listing){ 0 };
    input = request_input_of(probe);
    return request_show(&probe->shown, probe->arena, &input, err);
}

void probe_close(struct probe *probe)
{
    response_close(&probe->response);
    reader_close(&probe->reader);
}
