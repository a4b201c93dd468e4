/* The request after this batch, sent while the caller stores the batch. */
#include "engine/fetch/walk.h"

#include <assert.h>

void prefetch_start(struct fetch *fetch, const struct exchange_request *request)
{
    const struct spec_endpoint *endpoint = request->phase->endpoint;
    const struct permit_request permit_request = { .endpoint = endpoint };
    struct arena *arena = &fetch->memory.pages[fetch->memory.turn ^ 1];
    struct prefetch *prefetch = &fetch->prefetch;
    struct exchange begun = { .response.kind = RESPONSE_ERROR };
    struct error ignored; /* what fails now fails again, and is reported, in the exchange itself */

    assert(prefetch->ticket == NULL);
    if (!permit_gate_acquire(fetch->parts.gate, &permit_request, &begun.permit, &ignored) ||
        begun.permit.decision != RATE_ALLOW)
        return;
    arena_reset(arena);
    /* The request belongs to the batch after those that this response is divided into. */
    if (exchange_render(fetch, request, fetch->handout.batch_no + fetch->handout.part_count, arena,
                        &ignored) &&
        !exchange_is_url_too_long(fetch, request) &&
        http_start(fetch->parts.http, arena, &fetch->request.http, &prefetch->ticket, &ignored)) {
        begun.title = http_title(&fetch->request.http, fetch->request.http.url);
        begun.request_digest = fetch->request.digest;
        begun.is_sent = true;
        begun.sent_us = clock_now_us(fetch->parts.clock);
        begun.started_us = clock_monotonic_us(fetch->parts.clock);
        prefetch->endpoint = endpoint;
        prefetch->begun = begun;
    } else {
        prefetch->ticket = NULL;
        exchange_feedback(fetch, endpoint, &begun, NULL);
    }
    arena_wipe(&fetch->memory.scratch);
}

bool prefetch_take(struct prefetch *prefetch, struct exchange *exchange, struct error *err)
{
    struct http_ticket *ticket = prefetch->ticket;

    prefetch->ticket = NULL;
    *exchange = prefetch->begun;
    return http_wait(ticket, &exchange->reply, err);
}

void prefetch_drop(struct fetch *fetch)
{
    struct prefetch *prefetch = &fetch->prefetch;

    if (prefetch->ticket == NULL)
        return;
    http_cancel(prefetch->ticket);
    prefetch->ticket = NULL;
    exchange_feedback(fetch, prefetch->endpoint, &prefetch->begun, NULL);
}
