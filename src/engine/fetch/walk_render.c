/* The request of an exchange: from the source's form and where the walk is. */
#include <inttypes.h>

#include "engine/fetch/request_kept.h"
#include "engine/fetch/walk.h"

/* "00-TRACE-SPAN-01": the order's trace, and a random span for each request. */
enum { TRACEPARENT_LEN = 55, SPAN_AT = 36, FLAGS_AT = 52 };

static struct str traceparent_of(const struct fetch *fetch, struct arena *arena)
{
    const struct str given = fetch->order.traceparent;

    if (given.len != TRACEPARENT_LEN)
        return given;
    return arena_printf(arena, "%.*s%016" PRIx64 "%.*s", STR_ARG(str_slice(given, 0, SPAN_AT)),
                        random_source_u64(fetch->parts.random) | 1,
                        STR_ARG(str_slice(given, FLAGS_AT, given.len)));
}

/* The ids of a request as they are sent. */
static bool ids_to_send(const struct exchange_request *request, struct arena *arena,
                        const struct str **ids, struct error *err)
{
    const struct spec_endpoint *endpoint = request->phase->endpoint;
    struct str *sent;

    *ids = request->ids;
    if (endpoint->response.id_count < 2 || request->id_count == 0 || endpoint->parent.len > 0)
        return true;
    sent = ARENA_ARRAY(arena, struct str, request->id_count);
    if (sent == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < request->id_count; i++) {
        if (!record_id_sent(endpoint, arena, request->ids[i], &sent[i], err))
            return false;
    }
    *ids = sent;
    return true;
}

/* For whoever makes the same request later. */
static bool keep_input(struct fetch *fetch, const struct exchange_request *request,
                       const struct request_input *input, struct arena *arena, struct error *err)
{
    const struct page_state *state = input->state;

    fetch->request_kept =
        request_kept_write(&(struct request_kept){ .endpoint = request->phase->endpoint->name,
                                                   .ids_only = request->ids_only,
                                                   .is_child_page = request->is_child_page,
                                                   .is_stream = request->is_stream,
                                                   .number = state->number,
                                                   .page_no = state->page_no,
                                                   .offset = state->offset,
                                                   .size = state->size,
                                                   .token = state->token,
                                                   .window = input->window,
                                                   .has_since = input->has_since,
                                                   .since_us = input->since_us,
                                                   .after = input->after,
                                                   .ids = input->ids,
                                                   .id_count = input->id_count,
                                                   .history = input->history,
                                                   .history_count = input->history_count },
                           arena);
    return fetch->request_kept.data != NULL || arena_error(arena, err);
}

bool exchange_render(struct fetch *fetch, const struct exchange_request *request,
                     const struct permit *permit, int64_t batch_no, struct arena *arena,
                     struct error *err)
{
    const struct phase *phase = request->phase;
    struct request_input input = {
        .form = &phase->form,
        .access = permit->endpoint,
        .secrets = fetch->parts.secrets,
        .slice = fetch->order.slice,
        .plan_id = fetch->order.plan_id,
        .state = &phase->state,
        .window = phase->rules.type == PAGINATION_TIME ? page_window(&phase->rules, &phase->state)
                                                       : request_window(fetch->order.slice),
        .after = feed_after(fetch, phase),
        .has_since = fetch->feed.is_bridged,
        .since_us = fetch->order.slice->feed.bridge_us,
        .id_count = request->id_count,
        .history = fetch->history.values,
        .history_count = fetch->history.count,
        .correlation_id =
            arena_printf(arena, "ing-%" PRId64 "-%" PRId64, fetch->order.run_id, batch_no),
        .traceparent = traceparent_of(fetch, arena),
        .tracestate = fetch->order.tracestate,
        .now_us = clock_now_us(fetch->parts.clock),
    };
    const struct request_memory memory = { .scratch = &fetch->memory.scratch, .arena = arena };

    if (input.correlation_id.data == NULL)
        return arena_error(arena, err);
    if (!ids_to_send(request, arena, &input.ids, err) ||
        !request_render(&fetch->request, memory, &input, err) ||
        !keep_input(fetch, request, &input, arena, err))
        return false;
    fetch->request.http.watch = fetch->parts.watch;
    return true;
}

bool exchange_url_is_too_long(const struct fetch *fetch, const struct exchange_request *request)
{
    return request->id_count > 1 && request->phase->endpoint->method == HTTP_GET &&
           fetch->request.http.url.len > REQUEST_GET_URL_MAX;
}
